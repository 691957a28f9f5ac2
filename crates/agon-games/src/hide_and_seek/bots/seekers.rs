//! Seekers that need no belief: random, roaming, chasing.

use agon_core::{Bot, QuickRng};

use super::super::cells::Cell;
use super::super::{Answer, HideAndSeek, Observation};
use super::chart::{Chart, Lazy};
use super::step;

/// Takes any step.
pub struct Random(QuickRng);

impl Default for Random {
    fn default() -> Self {
        Self(QuickRng::new(0))
    }
}

impl Bot<HideAndSeek> for Random {
    fn begin(&mut self, seed: u64) {
        self.0 = QuickRng::new(seed);
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Answer {
        let steps: Vec<Cell> = seen.game_map.steps(seen.pos).collect();
        step(seen.pos, self.0.pick(&steps).unwrap_or(seen.pos))
    }
}

/// A walk from one random cell to the next.
struct Roam {
    rng: QuickRng,
    goal: Option<Cell>,
}

impl Default for Roam {
    fn default() -> Self {
        Self { rng: QuickRng::new(0), goal: None }
    }
}

impl Roam {
    fn next(&mut self, chart: &Chart, pos: Cell) -> Cell {
        if self.goal.is_none_or(|goal| goal == pos || !chart.map.is_empty(goal)) {
            self.goal = self.rng.pick(&chart.cells);
        }
        towards(chart, pos, self.goal.unwrap_or(pos))
    }
}

/// The first step of a shortest way.
pub fn towards(chart: &Chart, pos: Cell, goal: Cell) -> Cell {
    chart.near(pos).iter().copied().min_by_key(|&to| chart.distance(to, goal)).unwrap_or(pos)
}

/// Walks about and never looks up.
#[derive(Default)]
pub struct Roaming {
    chart: Lazy<Chart>,
    roam: Roam,
}

impl Bot<HideAndSeek> for Roaming {
    fn begin(&mut self, seed: u64) {
        *self = Self { roam: Roam { rng: QuickRng::new(seed), goal: None }, ..Self::default() };
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Answer {
        let chart = self.chart.get(seen.game_map, Chart::new);
        step(seen.pos, self.roam.next(chart, seen.pos))
    }
}

/// Goes where it last saw the hider; roams when nobody is there.
#[derive(Default)]
pub struct Chasing {
    chart: Lazy<Chart>,
    roam: Roam,
    /// The last known place that it has already found empty.
    empty: Option<Cell>,
}

impl Bot<HideAndSeek> for Chasing {
    fn begin(&mut self, seed: u64) {
        *self = Self { roam: Roam { rng: QuickRng::new(seed), goal: None }, ..Self::default() };
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Answer {
        let chart = self.chart.get(seen.game_map, Chart::new);
        if seen.enemy_is_visible {
            self.empty = None;
        } else if seen.pos == seen.enemy_pos {
            self.empty = Some(seen.enemy_pos);
        }
        let to = if self.empty == Some(seen.enemy_pos) {
            self.roam.next(chart, seen.pos)
        } else {
            towards(chart, seen.pos, seen.enemy_pos)
        };
        step(seen.pos, to)
    }
}
