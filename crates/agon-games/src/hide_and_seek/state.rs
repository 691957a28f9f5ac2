//! State of a game: whose turn it is, what each player knows, and the end of the game.

use agon_core::{FastRng, Fault, IllegalAnswer, Reply, Seat};

use super::answer::Answer;
use super::cells::{Cell, CellSet, Direction};
use super::map::{GameStart, Map};
use super::vision::{field_of_view, see_each_other};

/// Seat of the seeker.
pub const SEEKER: Seat = Seat(0);
/// Seat of the hider.
pub const HIDER: Seat = Seat(1);
/// Number of cells in a trail.
pub const TRAIL_CELLS: usize = 12;

/// Seat of the other player.
pub const fn enemy(seat: Seat) -> Seat {
    if seat.0 == SEEKER.0 { HIDER } else { SEEKER }
}

/// A player's knowledge of its enemy before its last move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EnemySighting {
    /// Whether the enemy was visible.
    pub enemy_is_visible: bool,
    /// Position of the enemy if visible, else its last known position.
    pub enemy_pos: Cell,
    /// Step in which the enemy was there; 0 for the spawn.
    pub since: u32,
}

/// End of a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// Both players stand on the same cell.
    Caught,
    /// The hider was not caught in all steps.
    Escaped,
    /// The clock ran out. This seat has the least weighted thinking time and wins.
    TimeOver(Seat),
}

/// The last turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LastTurn {
    /// Seat that moved.
    pub seat: Seat,
    /// Step of the turn.
    pub step: u32,
    /// Cell before the move.
    pub from: Cell,
    /// Cell after the move.
    pub to: Cell,
    /// Set when it stayed because of a fault.
    pub fault: Option<Fault>,
}

/// The last cells a player stood on, the newest first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trail([Option<Cell>; TRAIL_CELLS]);

impl Trail {
    fn push(&mut self, cell: Cell) {
        self.0.rotate_right(1);
        self.0[0] = Some(cell);
    }

    /// The cells, the newest first.
    pub fn iter(&self) -> impl Iterator<Item = Cell> + '_ {
        self.0.iter().flatten().copied()
    }
}

/// State of a game.
#[derive(Clone, Debug)]
pub struct State {
    /// Map, spawn cells and their seeds.
    pub(crate) start: GameStart,
    /// Positions of seeker and hider.
    pub(crate) cells: [Cell; 2],
    /// Each player's knowledge of its enemy.
    pub(crate) enemy_sightings: [EnemySighting; 2],
    /// Current step, from 1.
    pub(crate) step: u32,
    /// Seat to move.
    pub(crate) turn: Seat,
    pub(crate) ending: Option<Ending>,
    pub(crate) last: Option<LastTurn>,
    pub(crate) trails: [Trail; 2],
    /// Statistics: turns taken, turns with the enemy visible, and cells walked.
    pub(crate) turns: [u32; 2],
    pub(crate) visible_turns: [u32; 2],
    pub(crate) walked: [u32; 2],
}

impl State {
    /// State at the first step, with the seeker to move.
    pub fn new(start: GameStart) -> Self {
        let [seeker, hider] = start.spawns;
        let visible = see_each_other(&start.map, seeker, hider);
        let sight = |enemy_pos| EnemySighting { enemy_is_visible: visible, enemy_pos, since: 0 };
        let mut state = Self {
            start,
            cells: start.spawns,
            enemy_sightings: [sight(hider), sight(seeker)],
            step: 1,
            turn: SEEKER,
            ending: None,
            last: None,
            trails: [Trail([None; TRAIL_CELLS]); 2],
            turns: [0; 2],
            visible_turns: [0; 2],
            walked: [0; 2],
        };
        state.pass_to(SEEKER);
        state
    }

    /// The map.
    #[inline]
    pub const fn map(&self) -> &Map {
        &self.start.map
    }

    /// Position of this seat.
    #[inline]
    pub const fn cell(&self, seat: Seat) -> Cell {
        self.cells[seat.index() & 1]
    }

    /// This seat's knowledge of its enemy before its last move.
    #[inline]
    pub const fn enemy_sighting(&self, seat: Seat) -> EnemySighting {
        self.enemy_sightings[seat.index() & 1]
    }

    /// Whether the players see each other now.
    pub fn see_each_other(&self) -> bool {
        see_each_other(self.map(), self.cells[0], self.cells[1])
    }

    /// Target cell of an answer. The error lists all reasons why it is illegal.
    pub fn target(&self, seat: Seat, answer: Answer) -> Result<Cell, IllegalAnswer> {
        let mut reasons = Vec::new();
        if self.ending.is_some() {
            reasons.push("the game is over".to_owned());
        } else if seat != self.turn {
            reasons.push("it is the other player's move".to_owned());
        }
        let from = self.cell(seat);
        let (x, y) = match answer {
            Answer::Step(direction) => {
                let (dx, dy) = direction.offset();
                (from.x() as i32 + dx, from.y() as i32 + dy)
            }
            Answer::To { x, y } => (x, y),
        };
        let Some(to) = Cell::new(x, y) else {
            reasons.push(format!("[{x}, {y}] is off the map; x and y must be 0 to 19"));
            if i64::from(x).abs_diff(from.x() as i64) + i64::from(y).abs_diff(from.y() as i64) > 1 {
                reasons.push(too_far(x, y, from));
            }
            return Err(IllegalAnswer { reasons });
        };
        if !self.map().is_empty(to) {
            reasons.push(format!("{to} is a wall"));
        }
        if from.manhattan(to) > 1 {
            reasons.push(too_far(x, y, from));
        }
        IllegalAnswer::unless_empty(reasons).map(|()| to)
    }

    /// Plays one move. With a fault or an illegal answer the player stays on its cell.
    pub fn play(&mut self, reply: Reply<Answer>, steps: u32) {
        if self.ending.is_some() {
            return;
        }
        let seat = self.turn;
        let from = self.cell(seat);
        let (to, fault) = match reply {
            Reply::Fault(fault) => (from, Some(fault)),
            Reply::Answer(answer) => {
                self.target(seat, answer).map_or((from, Some(Fault::Illegal)), |to| (to, None))
            }
        };
        let mine = seat.index() & 1;
        self.turns[mine] += 1;
        self.walked[mine] += u32::from(to != from);
        self.trails[mine].push(from);
        self.cells[mine] = to;
        self.last = Some(LastTurn { seat, step: self.step, from, to, fault });
        self.end_or_pass_turn(steps);
    }

    /// Ends the game or passes the turn. The hider moves in every second step, after the seeker.
    fn end_or_pass_turn(&mut self, steps: u32) {
        if self.cells[0] == self.cells[1] {
            self.ending = Some(Ending::Caught);
            for seat in [SEEKER, HIDER] {
                self.update_sighting(seat);
            }
        } else if self.turn == SEEKER && self.step.is_multiple_of(2) {
            self.pass_to(HIDER);
        } else if self.step >= steps {
            self.ending = Some(Ending::Escaped);
        } else {
            self.step += 1;
            self.pass_to(SEEKER);
        }
    }

    fn pass_to(&mut self, seat: Seat) {
        self.turn = seat;
        self.update_sighting(seat);
        self.visible_turns[seat.index() & 1] += u32::from(self.enemy_sighting(seat).enemy_is_visible);
    }

    /// Updates what a player knows about its enemy.
    fn update_sighting(&mut self, seat: Seat) {
        let enemy_is_visible = self.see_each_other();
        let enemy_pos = self.cell(enemy(seat));
        let sight = &mut self.enemy_sightings[seat.index() & 1];
        sight.enemy_is_visible = enemy_is_visible;
        if enemy_is_visible {
            *sight = EnemySighting { enemy_is_visible, enemy_pos, since: self.step };
        }
    }

    /// A uniformly random legal answer.
    pub fn sample(&self, seat: Seat, rng: &mut FastRng) -> Option<Answer> {
        if self.ending.is_some() || seat != self.turn {
            return None;
        }
        let from = self.cell(seat);
        let mut legal = [Direction::Stay; 5];
        let mut count = 0;
        for direction in Direction::ALL.into_iter().filter(|&d| self.map().step(from, d).is_some()) {
            legal[count] = direction;
            count += 1;
        }
        rng.pick(&legal[..count]).map(Answer::Step)
    }

    /// Another state that this seat cannot distinguish from this one. An invisible enemy is moved to another cell that it can have
    /// reached since it was last seen and that this seat does not see.
    #[must_use]
    pub fn resample(&self, seat: Seat, rng: &mut FastRng) -> Self {
        let mut other = self.clone();
        let sight = self.enemy_sighting(seat);
        if sight.enemy_is_visible || self.ending.is_some() {
            return other;
        }
        let hidden = self.map().empty().minus(&field_of_view(self.map(), self.cell(seat)));
        let possible: Vec<Cell> = self.reachable_by_enemy(seat, sight).intersection(&hidden).iter().collect();
        let theirs = enemy(seat).index() & 1;
        if let Some(cell) = rng.pick(&possible) {
            other.cells[theirs] = cell;
        }
        // Moves of an invisible enemy are hidden too.
        other.trails[theirs] = Trail([None; TRAIL_CELLS]);
        other.last = self.last.filter(|last| last.seat == seat);
        // These statistics would reveal where the enemy was.
        other.visible_turns[theirs] = 0;
        other.walked[theirs] = 0;
        other.enemy_sightings[theirs].enemy_is_visible = other.see_each_other();
        other
    }

    /// Cells that the enemy can have reached since this seat last saw it.
    fn reachable_by_enemy(&self, seat: Seat, sight: EnemySighting) -> CellSet {
        let moves = if seat == SEEKER {
            // The hider has moved at the end of each even step since then.
            (self.step.saturating_sub(1) / 2).saturating_sub(sight.since.saturating_sub(1) / 2)
        } else {
            self.step.saturating_sub(sight.since)
        };
        let mut reach = CellSet::one(sight.enemy_pos);
        for _ in 0..moves.min(400) {
            reach = reach.grown(self.map().empty());
        }
        reach
    }
}

fn too_far(x: i32, y: i32, from: Cell) -> String {
    format!("[{x}, {y}] is not one cell left, right, up or down of {from}")
}
