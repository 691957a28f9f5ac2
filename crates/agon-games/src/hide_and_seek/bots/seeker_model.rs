//! Detects a seeker that does not pursue the hider, and keeps away from it.

use super::super::Observation;
use super::super::cells::{Cell, CellSet};
use super::map_tables::MapTables;
use super::seekers::step_towards;

/// Number of hider moves without seeing the seeker after which it counts as not pursuing.
const MAX_UNSEEN_MOVES: u32 = 60;
/// Distance below which the hider moves away from such a seeker, and distance that is considered safe.
const MIN_CLEARANCE: u8 = 9;
const SAFE_DISTANCE: u8 = 6;

/// Estimates whether the seeker pursues a hider that it sees.
#[derive(Default)]
pub struct SeekerModel {
    /// Positions of seeker and hider after the hider's last move, if they saw each other.
    before: Option<(Cell, Cell)>,
    approaches: u32,
    ignores: u32,
    /// Number of hider moves since it last saw the seeker.
    unseen: u32,
}

impl SeekerModel {
    /// Uses the observation before a move.
    pub fn observe(&mut self, tables: &MapTables, seen: &Observation<'_>) {
        self.unseen = if seen.enemy_is_visible { 0 } else { self.unseen.saturating_add(1) };
        if self.unseen > 0 && self.unseen.is_multiple_of(MAX_UNSEEN_MOVES) {
            self.ignores += 4;
        }
        if let (true, Some((seeker, hider))) = (seen.enemy_is_visible, self.before) {
            if tables.distance(seen.enemy_pos, hider) < tables.distance(seeker, hider) {
                self.approaches += 1;
            } else {
                self.ignores += 1;
            }
        }
    }

    /// Uses the hider's own move.
    pub fn note_own_move(&mut self, tables: &MapTables, seen: &Observation<'_>, to: Cell) {
        let saw = seen.enemy_is_visible && tables.view(seen.enemy_pos).contains(to);
        self.before = saw.then_some((seen.enemy_pos, to));
    }

    /// Whether the seeker does not seem to pursue the hider.
    pub const fn is_not_pursuing(&self) -> bool {
        self.ignores > self.approaches / 2 + 2
    }
}

/// Value of each cell as a watch post: nearby cells should be visible, with room to move away.
pub fn watch_post_values(tables: &MapTables) -> Vec<i32> {
    let worth = |cell: Cell| {
        let near = (0..SAFE_DISTANCE).fold(CellSet::one(cell), |near, _| near.grown(tables.map.empty()));
        let view = tables.view(cell);
        near.intersection(view).len() as i32 - 2 * near.minus(view).len() as i32
    };
    Cell::all().map(|cell| if tables.map.is_empty(cell) { worth(cell) } else { 0 }).collect()
}

/// Step that avoids the seeker: away from it when it is near, else to a watch post.
pub fn keep_clear(tables: &MapTables, posts: &[i32], seen: &Observation<'_>) -> Cell {
    let from_seeker = |cell: Cell| tables.distance(seen.enemy_pos, cell);
    let post = |cell: Cell| posts.get(cell.index()).copied().unwrap_or(0);
    if seen.enemy_is_visible && from_seeker(seen.pos) < MIN_CLEARANCE {
        let near = tables.near(seen.pos).iter().copied();
        return near.max_by_key(|&to| (from_seeker(to).min(SAFE_DISTANCE), post(to))).unwrap_or(seen.pos);
    }
    let away = |cell: Cell| if seen.enemy_is_visible { i32::from(from_seeker(cell).min(12)) } else { 0 };
    let worth = |cell: Cell| post(cell) + 2 * away(cell) - 2 * i32::from(tables.distance(seen.pos, cell));
    let goal = tables.cells.iter().copied().max_by_key(|&cell| worth(cell));
    step_towards(tables, seen.pos, goal.unwrap_or(seen.pos))
}
