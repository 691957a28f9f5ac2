//! A seeker that knows every cell where the hider can be.

use agon_core::{Bot, QuickRng};

use super::super::cells::{CELLS, Cell, CellSet};
use super::super::{Answer, HideAndSeek, Observation};
use super::chart::{Chart, Lazy};
use super::seekers::towards;
use super::step;

/// The shortest way when the hider is in sight, else the nearest cells where it can be.
#[derive(Default)]
pub struct Tracking {
    chart: Lazy<Chart>,
    search: Search,
}

impl Bot<HideAndSeek> for Tracking {
    fn begin(&mut self, _: u64) {
        *self = Self::default();
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Answer {
        let chart = self.chart.get(seen.game_map, Chart::new);
        self.search.look(chart, seen);
        step(seen.pos, self.search.next(chart, seen, &Habits::NEAREST_FIRST))
    }
}

/// What makes a cell worth a look.
pub struct Habits {
    /// For each step since it was last in view.
    age: i64,
    /// Against each step on the way there.
    far: i64,
    /// Against each step between it and where the hider was last seen.
    astray: i64,
    /// Up to so much more or less, by chance.
    whim: u32,
}

impl Habits {
    pub const NEAREST_FIRST: Self = Self { age: 1, far: 8, astray: 0, whim: 0 };
    /// What works best, without whims.
    pub const BEST: Self = Self { age: 2, far: 4, astray: 1, whim: 0 };
    /// What works best, and cannot be foreseen.
    pub const WHIMSICAL: Self = Self { whim: 16, ..Self::BEST };
}

/// A search that goes from one cell to the next where the hider can be.
#[derive(Clone)]
pub struct Search {
    possible: CellSet,
    /// For each cell, the step at which it was last in view.
    looked: Vec<u32>,
    goal: Option<Cell>,
    rng: QuickRng,
}

impl Default for Search {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Search {
    /// A search that knows nothing yet. The seed is for its whims.
    pub fn new(seed: u64) -> Self {
        Self { possible: CellSet::EMPTY, looked: vec![0; CELLS], goal: None, rng: QuickRng::new(seed) }
    }

    /// All cells where the hider can be.
    pub const fn possible(&self) -> &CellSet {
        &self.possible
    }

    /// Takes in what is seen now.
    pub fn look(&mut self, chart: &Chart, seen: &Observation<'_>) {
        let view = chart.view(seen.pos);
        for cell in view.iter() {
            self.looked[cell.index()] = seen.step;
        }
        if seen.enemy_is_visible {
            self.goal = Some(seen.enemy_pos);
            self.possible = CellSet::one(seen.enemy_pos);
            return;
        }
        // The hider has moved at the end of each even step.
        let moved = match seen.step {
            1 => CellSet::one(seen.enemy_pos),
            step if step % 2 == 1 => self.possible.grown(chart.map.empty()),
            _ => self.possible,
        };
        self.possible = moved.minus(view);
        if self.possible.is_empty() {
            self.possible = chart.map.empty().minus(view);
        }
    }

    /// The next step of the search. A goal stands until the hider cannot be there: a search that changes
    /// its mind at every step gets nowhere.
    pub fn next(&mut self, chart: &Chart, seen: &Observation<'_>, habits: &Habits) -> Cell {
        if self.goal.is_none_or(|goal| !self.possible.contains(goal)) {
            let (rng, looked) = (&mut self.rng, &self.looked);
            self.goal = self.possible.iter().max_by_key(|&cell| {
                let age = seen.step.saturating_sub(looked[cell.index()]);
                let far = chart.distance(seen.pos, cell);
                let astray = chart.distance(seen.enemy_pos, cell);
                habits.age * i64::from(age) - habits.far * i64::from(far) - habits.astray * i64::from(astray)
                    + i64::from(rng.below(habits.whim + 1))
            });
        }
        towards(chart, seen.pos, self.goal.unwrap_or(seen.pos))
    }
}
