//! The strongest seeker: searches all cells where the hider can be, approaches several of them at once, and is unpredictable.

use agon_core::{Bot, FastRng};

use super::super::cells::{Cell, CellSet};
use super::super::{Answer, HideAndSeek, Observation};
use super::map_knowledge::MapKnowledge;
use super::map_tables::PerMap;
use super::step;
use super::tracking::{HiderSearch, SearchWeights};

/// Maximum number of possible hider cells for a chase; with more, the seeker searches.
const MAX_CHASE_CELLS: usize = 8;
/// Maximum number of steps since the hider was last seen for a chase.
const MAX_CHASE_STEPS: u32 = 4;

/// Chases or searches, with random choices.
pub struct Hunting {
    known: PerMap<MapKnowledge>,
    search: HiderSearch,
    rng: FastRng,
    /// Number of steps since it last saw the hider.
    unseen: u32,
}

impl Default for Hunting {
    fn default() -> Self {
        Self { known: PerMap::default(), search: HiderSearch::default(), rng: FastRng::new(0), unseen: 0 }
    }
}

impl Bot<HideAndSeek> for Hunting {
    fn begin(&mut self, seed: u64) {
        let mut rng = FastRng::new(seed);
        *self = Self { search: HiderSearch::new(rng.next_u64()), rng, ..Self::default() };
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Answer {
        let known = self.known.get(seen.game_map, MapKnowledge::new);
        self.search.observe(&known.tables, seen);
        self.unseen = if seen.enemy_is_visible { 0 } else { self.unseen.saturating_add(1) };
        let to = if self.unseen <= MAX_CHASE_STEPS && self.search.possible().len() <= MAX_CHASE_CELLS {
            close_in(known, self.search.possible(), seen, &mut self.rng)
        } else {
            self.search.next(&known.tables, seen, &SearchWeights::RANDOMIZED)
        };
        step(seen.pos, to)
    }
}

/// Step with the smallest total distance to these cells; ties are decided by the solved pursuit, then at random, because a
/// hider avoids a predictable seeker.
fn close_in(known: &MapKnowledge, possible: &CellSet, seen: &Observation<'_>, rng: &mut FastRng) -> Cell {
    let MapKnowledge { tables, pursuit } = known;
    let odd = seen.step % 2 == 1;
    let cost = |to: Cell| {
        let distance: u32 = possible.iter().map(|cell| u32::from(tables.distance(to, cell))).sum();
        let time: u32 = possible.iter().map(|cell| u32::from(pursuit.seeker_moved(odd, to, cell))).sum();
        (distance, time)
    };
    let near = tables.near(seen.pos).iter().copied();
    near.min_by_key(|&to| (cost(to), rng.next_u64())).unwrap_or(seen.pos)
}
