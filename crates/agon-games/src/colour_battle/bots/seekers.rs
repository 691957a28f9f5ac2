//! Bots that look over the whole canvas for what they can paint.

use agon_core::{Bot, QuickRng};

use super::super::{ColourBattle, Move, Painter, Position, Seen};
use super::sight::{Worth, neighbours, occupied, worth};

fn tiles(seen: &Seen<'_>) -> impl Iterator<Item = (Position, u8)> {
    let side = seen.grid.side();
    let places = (0..side).flat_map(move |y| (0..side).map(move |x| Position { x, y }));
    places.zip(seen.grid.tiles().iter().copied())
}

/// Walks to the nearest tile it can take.
pub(super) struct Seeker {
    rng: QuickRng,
}

impl Seeker {
    pub(super) const fn new() -> Self {
        Self { rng: QuickRng::new(0) }
    }

    /// A step towards this tile, either way if there are two.
    fn step_to(&mut self, seen: &Seen<'_>, goal: Position) -> Move {
        let distance = seen.position.distance(goal);
        let towards: Vec<Move> =
            neighbours(seen).filter(|(_, to)| to.distance(goal) < distance).map(|(step, _)| step).collect();
        self.rng.pick(&towards).unwrap_or(Move::Stay)
    }
}

impl Bot<ColourBattle> for Seeker {
    fn begin(&mut self, seed: u64) {
        self.rng = QuickRng::new(seed);
    }

    fn answer(&mut self, seen: &Seen<'_>) -> Move {
        let wanted = |tile, floor| worth(floor, seen.id) == Worth::Take && !occupied(seen, tile);
        let mut nearest: Option<Position> = None;
        let mut equals = 0;
        for (tile, floor) in tiles(seen) {
            let distance = seen.position.distance(tile);
            let shortest = nearest.map_or(u32::MAX, |goal| seen.position.distance(goal));
            if distance == 0 || distance > shortest || !wanted(tile, floor) {
                continue;
            }
            equals = if distance < shortest { 1 } else { equals + 1 };
            // Each of k equally near tiles is kept with probability 1/k.
            if self.rng.below(equals) == 0 {
                nearest = Some(tile);
            }
        }
        match nearest {
            Some(goal) => self.step_to(seen, goal),
            None => self.rng.pick(&Move::STEPS).unwrap_or(Move::Stay),
        }
    }
}

/// A bot that can take one's colour spoils the tiles within so many moves.
const NEAR: u32 = 5;

/// What is left of a tile's pull with none, one, and more such bots near it.
const FEAR: [f64; 3] = [1.0, 0.6, 0.4];

/// Goes where the pull is strongest: every tile pulls by what it is worth, near ones most.
pub(super) struct Drawn {
    rng: QuickRng,
}

impl Drawn {
    pub(super) const fn new() -> Self {
        Self { rng: QuickRng::new(0) }
    }
}

impl Bot<ColourBattle> for Drawn {
    fn begin(&mut self, seed: u64) {
        self.rng = QuickRng::new(seed);
    }

    fn answer(&mut self, seen: &Seen<'_>) -> Move {
        if occupied(seen, seen.position) {
            // Whoever is here too may be drawn the same way.
            return self.rng.pick(&Move::ALL).unwrap_or(Move::Stay);
        }
        let takers: Vec<&Painter> =
            seen.enemies.iter().filter(|bot| worth(seen.id, bot.id) == Worth::Take).collect();
        let mut pulls = [0.0_f64; 5];
        for (tile, floor) in tiles(seen) {
            let worth = match worth(floor, seen.id) {
                Worth::Take => 1.0,
                Worth::Wipe => 0.1,
                Worth::Nothing => continue,
            };
            let near = takers.iter().filter(|taker| taker.position.distance(tile) <= NEAR).count();
            let pull = worth * FEAR[near.min(2)];
            for (step, sum) in Move::ALL.into_iter().zip(&mut pulls) {
                let to = seen.position.after(step, seen.grid.side());
                let moves = f64::from(to.distance(tile)) + 1.0;
                // Off the edge is no step, and a tile wiped a moment ago is worth staying for.
                if to != seen.position || step == Move::Stay {
                    *sum += pull / (moves * moves);
                }
            }
        }
        for (step, sum) in Move::ALL.into_iter().zip(&mut pulls) {
            if occupied(seen, seen.position.after(step, seen.grid.side())) {
                *sum -= 1.0;
            }
        }
        let best = (0..5).max_by(|&a, &b| pulls[a].total_cmp(&pulls[b])).unwrap_or(4);
        Move::ALL[best]
    }
}
