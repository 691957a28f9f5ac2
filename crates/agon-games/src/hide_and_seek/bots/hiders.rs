//! Hiders without an estimate of the seeker's position: random, still, running, lurking.

use agon_core::Bot;

use super::super::cells::Cell;
use super::super::{Answer, Direction, HideAndSeek, Observation};
use super::map_knowledge::MapKnowledge;
use super::map_tables::{MapTables, PerMap};
use super::seekers::step_towards;
use super::step;

pub use super::seekers::Random;

/// Never moves.
#[derive(Default)]
pub struct Still;

impl Bot<HideAndSeek> for Still {
    fn answer(&mut self, _: &Observation<'_>) -> Answer {
        Answer::Step(Direction::Stay)
    }
}

/// Runs away from where it last saw the seeker.
#[derive(Default)]
pub struct Running(PerMap<MapTables>);

impl Bot<HideAndSeek> for Running {
    fn begin(&mut self, _: u64) {
        *self = Self::default();
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Answer {
        let tables = self.0.get(seen.game_map, MapTables::new);
        let goal = tables.cells.iter().copied().max_by_key(|&cell| tables.distance(seen.enemy_pos, cell));
        step(seen.pos, goal.map_or(seen.pos, |goal| step_towards(tables, seen.pos, goal)))
    }
}

/// Escapes optimally when seen, else goes to a cell that few others see.
#[derive(Default)]
pub struct Lurking(PerMap<MapKnowledge>);

impl Bot<HideAndSeek> for Lurking {
    fn begin(&mut self, _: u64) {
        *self = Self::default();
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Answer {
        let MapKnowledge { tables, pursuit } = self.0.get(seen.game_map, MapKnowledge::new);
        let exposure = |cell: Cell| tables.view(cell).len() as i32;
        let to = if seen.enemy_is_visible {
            let view = tables.view(seen.enemy_pos);
            let worth = |to: Cell| {
                let hidden = if view.contains(to) { 0 } else { 6 };
                (i32::from(pursuit.hider_moved(seen.enemy_pos, to)) + hidden, -exposure(to))
            };
            tables.near(seen.pos).iter().copied().max_by_key(|&to| worth(to))
        } else {
            let worth = |cell: Cell| {
                i32::from(tables.distance(seen.enemy_pos, cell))
                    - 4 * i32::from(tables.distance(seen.pos, cell))
                    - exposure(cell)
            };
            let goal = tables.cells.iter().copied().max_by_key(|&cell| worth(cell));
            goal.map(|goal| step_towards(tables, seen.pos, goal))
        };
        step(seen.pos, to.unwrap_or(seen.pos))
    }
}
