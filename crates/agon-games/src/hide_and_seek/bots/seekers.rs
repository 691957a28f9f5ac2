//! Seekers without an estimate of the hider's position: random, roaming, chasing.

use agon_core::{Bot, FastRng};

use super::super::cells::Cell;
use super::super::{Answer, HideAndSeek, Observation};
use super::map_tables::{MapTables, PerMap};
use super::step;

/// Takes random steps.
pub struct Random(FastRng);

impl Default for Random {
    fn default() -> Self {
        Self(FastRng::new(0))
    }
}

impl Bot<HideAndSeek> for Random {
    fn begin(&mut self, seed: u64) {
        self.0 = FastRng::new(seed);
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Answer {
        let steps: Vec<Cell> = seen.game_map.steps(seen.pos).collect();
        step(seen.pos, self.0.pick(&steps).unwrap_or(seen.pos))
    }
}

/// A walk from one random cell to the next.
struct RandomWalk {
    rng: FastRng,
    goal: Option<Cell>,
}

impl Default for RandomWalk {
    fn default() -> Self {
        Self { rng: FastRng::new(0), goal: None }
    }
}

impl RandomWalk {
    fn next(&mut self, tables: &MapTables, pos: Cell) -> Cell {
        if self.goal.is_none_or(|goal| goal == pos || !tables.map.is_empty(goal)) {
            self.goal = self.rng.pick(&tables.cells);
        }
        step_towards(tables, pos, self.goal.unwrap_or(pos))
    }
}

/// First step of a shortest path.
pub fn step_towards(tables: &MapTables, pos: Cell, goal: Cell) -> Cell {
    tables.near(pos).iter().copied().min_by_key(|&to| tables.distance(to, goal)).unwrap_or(pos)
}

/// Walks between random cells and ignores the hider.
#[derive(Default)]
pub struct Roaming {
    tables: PerMap<MapTables>,
    roam: RandomWalk,
}

impl Bot<HideAndSeek> for Roaming {
    fn begin(&mut self, seed: u64) {
        *self = Self { roam: RandomWalk { rng: FastRng::new(seed), goal: None }, ..Self::default() };
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Answer {
        let tables = self.tables.get(seen.game_map, MapTables::new);
        step(seen.pos, self.roam.next(tables, seen.pos))
    }
}

/// Goes where it last saw the hider, then to random cells.
#[derive(Default)]
pub struct Chasing {
    tables: PerMap<MapTables>,
    roam: RandomWalk,
    /// Last known position of the hider, if it has been searched already.
    searched_in_vain: Option<Cell>,
}

impl Bot<HideAndSeek> for Chasing {
    fn begin(&mut self, seed: u64) {
        *self = Self { roam: RandomWalk { rng: FastRng::new(seed), goal: None }, ..Self::default() };
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Answer {
        let tables = self.tables.get(seen.game_map, MapTables::new);
        if seen.enemy_is_visible {
            self.searched_in_vain = None;
        } else if seen.pos == seen.enemy_pos {
            self.searched_in_vain = Some(seen.enemy_pos);
        }
        let to = if self.searched_in_vain == Some(seen.enemy_pos) {
            self.roam.next(tables, seen.pos)
        } else {
            step_towards(tables, seen.pos, seen.enemy_pos)
        };
        step(seen.pos, to)
    }
}
