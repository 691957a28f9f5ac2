//! A seeker that tracks every cell where the hider can be.

use agon_core::{Bot, FastRng};

use super::super::cells::{CELLS, Cell, CellSet};
use super::super::{Answer, HideAndSeek, Observation};
use super::map_tables::{MapTables, PerMap};
use super::seekers::step_towards;
use super::step;

/// Takes the shortest path to a visible hider, else searches the nearest cells where it can be.
#[derive(Default)]
pub struct Tracking {
    tables: PerMap<MapTables>,
    search: HiderSearch,
}

impl Bot<HideAndSeek> for Tracking {
    fn begin(&mut self, _: u64) {
        *self = Self::default();
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Answer {
        let tables = self.tables.get(seen.game_map, MapTables::new);
        self.search.observe(tables, seen);
        step(seen.pos, self.search.next(tables, seen, &SearchWeights::NEAREST_FIRST))
    }
}

/// Weights for choosing the next cell to search.
pub struct SearchWeights {
    /// Bonus for each step since the cell was last in view.
    age: i64,
    /// Penalty for each step of distance.
    distance: i64,
    /// Penalty for each step between the cell and the last known position of the hider.
    from_last_seen: i64,
    /// Maximum random bonus.
    noise: u32,
}

impl SearchWeights {
    pub const NEAREST_FIRST: Self = Self { age: 1, distance: 8, from_last_seen: 0, noise: 0 };
    /// Best weights found, without noise.
    pub const BEST: Self = Self { age: 2, distance: 4, from_last_seen: 1, noise: 0 };
    /// Best weights found, with noise that makes the seeker unpredictable.
    pub const RANDOMIZED: Self = Self { noise: 16, ..Self::BEST };
}

/// Search through the cells where the hider can be.
#[derive(Clone)]
pub struct HiderSearch {
    possible: CellSet,
    /// Step at which each cell was last in view.
    last_viewed: Vec<u32>,
    goal: Option<Cell>,
    rng: FastRng,
}

impl Default for HiderSearch {
    fn default() -> Self {
        Self::new(0)
    }
}

impl HiderSearch {
    /// A new search. The seed is for the noise.
    pub fn new(seed: u64) -> Self {
        Self { possible: CellSet::EMPTY, last_viewed: vec![0; CELLS], goal: None, rng: FastRng::new(seed) }
    }

    /// All cells where the hider can be.
    pub const fn possible(&self) -> &CellSet {
        &self.possible
    }

    /// Uses the current observation.
    pub fn observe(&mut self, tables: &MapTables, seen: &Observation<'_>) {
        let view = tables.view(seen.pos);
        for cell in view.iter() {
            self.last_viewed[cell.index()] = seen.step;
        }
        if seen.enemy_is_visible {
            self.goal = Some(seen.enemy_pos);
            self.possible = CellSet::one(seen.enemy_pos);
            return;
        }
        // The hider has moved at the end of each even step.
        let moved = match seen.step {
            1 => CellSet::one(seen.enemy_pos),
            step if step % 2 == 1 => self.possible.grown(tables.map.empty()),
            _ => self.possible,
        };
        self.possible = moved.minus(view);
        if self.possible.is_empty() {
            self.possible = tables.map.empty().minus(view);
        }
    }

    /// Next step of the search. The goal is kept until the hider cannot be there, because a search that changes its goal in every
    /// step makes no progress.
    pub fn next(&mut self, tables: &MapTables, seen: &Observation<'_>, weights: &SearchWeights) -> Cell {
        if self.goal.is_none_or(|goal| !self.possible.contains(goal)) {
            let (rng, last_viewed) = (&mut self.rng, &self.last_viewed);
            self.goal = self.possible.iter().max_by_key(|&cell| {
                let age = seen.step.saturating_sub(last_viewed[cell.index()]);
                let distance = tables.distance(seen.pos, cell);
                let from_last_seen = tables.distance(seen.enemy_pos, cell);
                weights.age * i64::from(age)
                    - weights.distance * i64::from(distance)
                    - weights.from_last_seen * i64::from(from_last_seen)
                    + i64::from(rng.below(weights.noise + 1))
            });
        }
        step_towards(tables, seen.pos, self.goal.unwrap_or(seen.pos))
    }
}
