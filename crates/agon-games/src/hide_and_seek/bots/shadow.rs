//! The strongest hider: it guesses where the seeker is and takes the way on which it lasts longest.

use agon_core::Bot;

use super::super::cells::Cell;
use super::super::{Answer, HideAndSeek, Observation};
use super::belief::{Belief, Flow};
use super::chart::Lazy;
use super::known::Known;
use super::regard::{Regard, keep_clear, posts};
use super::step;
use super::tracking::{Habits, Search};

/// How many of its own moves it plans ahead.
const DEPTH: usize = 10;
/// Steps that being out of sight is thought to be worth, and what each cell that sees the place takes off it.
const HIDDEN: f32 = 24.0;
const EXPOSED: f32 = 0.25;
/// What share of the perfect pursuit a hunt lasts once the hider is seen.
const SEEN: f32 = 0.8;
/// How far it trusts that the seeker searches as the best one it knows, what is left of that after each
/// surprise, and when it is too little to think about it any more.
const TRUST: f32 = 0.8;
const DOUBT: f32 = 0.7;
const TOO_LITTLE: f32 = 0.04;

/// Plans its way over a belief, and keeps clear of a seeker that does not look for it.
#[derive(Default)]
pub struct Shadow {
    known: Lazy<Known>,
    mind: Mind,
}

impl Bot<HideAndSeek> for Shadow {
    fn begin(&mut self, _: u64) {
        *self = Self::default();
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Answer {
        let known = self.known.get(seen.game_map, Known::new);
        step(seen.pos, self.mind.decide(known, seen))
    }
}

/// What the hider thinks of the seeker.
struct Mind {
    belief: Option<Belief>,
    imagined: Option<Imagined>,
    trust: f32,
    regard: Regard,
    posts: Option<Vec<i32>>,
}

impl Default for Mind {
    fn default() -> Self {
        Self { belief: None, imagined: None, trust: TRUST, regard: Regard::default(), posts: None }
    }
}

impl Mind {
    fn decide(&mut self, known: &Known, seen: &Observation<'_>) -> Cell {
        self.regard.look(&known.chart, seen);
        let to = if self.regard.is_blind() {
            keep_clear(&known.chart, self.posts.get_or_insert_with(|| posts(&known.chart)), seen)
        } else {
            self.hide(known, seen)
        };
        self.regard.moved(&known.chart, seen, to);
        to
    }

    fn hide(&mut self, known: &Known, seen: &Observation<'_>) -> Cell {
        self.imagine(known, seen);
        let flow = Flow::towards(&known.chart, seen.pos);
        let belief = self.believe(known, &flow, seen);
        let mut all = belief.clone();
        if let (false, Some(imagined)) = (seen.enemy_is_visible, &self.imagined) {
            all = all.scaled(1.0 - self.trust).plus(&Belief::at(imagined.pos).scaled(self.trust));
        }
        self.belief = Some(belief);
        Plan { known, flow, ways: known.chart.ways_from(seen.pos) }.best(&all, seen.pos)
    }

    /// Plays the seeker's two steps in its head, and compares with what is seen.
    fn imagine(&mut self, known: &Known, seen: &Observation<'_>) {
        if seen.step <= 2 {
            let search = Search::default();
            let (pos, last) = (seen.enemy_spawn_position, seen.spawn_position);
            self.imagined = Some(Imagined { search, pos, last });
        }
        let Some(mut imagined) = self.imagined.take().filter(|_| self.trust > TOO_LITTLE) else { return };
        imagined.go(known, seen, seen.step.saturating_sub(1));
        imagined.go(known, seen, seen.step);
        let seen_there = known.chart.view(imagined.pos).contains(seen.pos);
        let right = if seen.enemy_is_visible { imagined.pos == seen.enemy_pos } else { !seen_there };
        if !right {
            self.trust *= DOUBT;
        }
        if seen.enemy_is_visible {
            imagined.pos = seen.enemy_pos;
        }
        // A seeker that should be in sight and is not could be anywhere.
        self.imagined = (seen.enemy_is_visible || right).then_some(imagined);
    }

    /// Where a seeker that comes for it may be.
    fn believe(&mut self, known: &Known, flow: &Flow, seen: &Observation<'_>) -> Belief {
        if seen.enemy_is_visible {
            return Belief::at(seen.enemy_pos);
        }
        let before = self.belief.take().unwrap_or_else(|| Belief::at(seen.enemy_pos));
        let view = known.chart.view(seen.pos);
        let mut moved = flow.two_steps(&before);
        let left = moved.cut(view);
        if left > 1e-9 {
            moved.scaled(1.0 / left)
        } else {
            Belief::over(&known.chart.map.empty().minus(view))
        }
    }
}

/// A seeker in the hider's head.
struct Imagined {
    search: Search,
    pos: Cell,
    /// Where it last saw the hider.
    last: Cell,
}

impl Imagined {
    /// One step while the hider stands where it stands now.
    fn go(&mut self, known: &Known, seen: &Observation<'_>, step: u32) {
        let enemy_is_visible = known.chart.view(self.pos).contains(seen.pos);
        if enemy_is_visible {
            self.last = seen.pos;
        }
        let theirs = Observation { step, pos: self.pos, enemy_is_visible, enemy_pos: self.last, ..*seen };
        self.search.look(&known.chart, &theirs);
        self.pos = self.search.next(&known.chart, &theirs, &Habits::NEAREST_FIRST);
    }
}

/// A search through the shortest ways from where the hider stands.
struct Plan<'k> {
    known: &'k Known,
    flow: Flow,
    ways: Vec<Vec<Cell>>,
}

impl Plan<'_> {
    fn best(&self, belief: &Belief, pos: Cell) -> Cell {
        let worth = |to: Cell| {
            let below: &[Cell] = if to == pos { &[] } else { &self.ways[to.index()] };
            self.walk(belief, to, DEPTH, below)
        };
        let choices = self.known.chart.near(pos).iter().map(|&to| (worth(to), to));
        choices.max_by(|a, b| a.0.total_cmp(&b.0)).map_or(pos, |(_, to)| to)
    }

    /// The expected steps from now on when the hider steps onto this cell and goes on along the best way below
    /// it, or stops here.
    fn walk(&self, belief: &Belief, to: Cell, depth: usize, below: &[Cell]) -> f32 {
        let Known { chart, pursuit } = self.known;
        // A seeker that sees the hider after the step starts the chase.
        let mut left = belief.clone();
        let mut worth = 0.0;
        for cell in chart.view(to).iter() {
            worth += left.take(cell) * SEEN * f32::from(pursuit.hider_moved(cell, to));
        }
        let hidden = left.total();
        if hidden < 1e-3 {
            return worth;
        }
        let quality = HIDDEN - EXPOSED * chart.view(to).len() as f32;
        let stop = left
            .iter()
            .map(|(seeker, chance)| chance * (quality + f32::from(pursuit.hider_moved(seeker, to))));
        let stop: f32 = stop.sum();
        if depth == 0 || below.is_empty() {
            return worth + stop;
        }
        let moved = self.flow.two_steps(&left);
        let go_on =
            |&next: &Cell| 2.0 * hidden + self.walk(&moved, next, depth - 1, &self.ways[next.index()]);
        worth + below.iter().map(go_on).fold(stop, f32::max)
    }
}
