//! The strongest seeker: it searches all cells where the hider can be, closes in on a few of them at once, and
//! cannot be foreseen.

use agon_core::{Bot, QuickRng};

use super::super::cells::{Cell, CellSet};
use super::super::{Answer, HideAndSeek, Observation};
use super::chart::Lazy;
use super::known::Known;
use super::step;
use super::tracking::{Habits, Search};

/// A hider that can be on no more cells than this ...
const FEW: usize = 8;
/// ... and was seen no more steps ago than this is still chased, not searched for.
const FRESH: u32 = 4;

/// Searches, closes in, keeps its whims.
pub struct Hunting {
    known: Lazy<Known>,
    search: Search,
    rng: QuickRng,
    /// Steps since it last saw the hider.
    unseen: u32,
}

impl Default for Hunting {
    fn default() -> Self {
        Self { known: Lazy::default(), search: Search::default(), rng: QuickRng::new(0), unseen: 0 }
    }
}

impl Bot<HideAndSeek> for Hunting {
    fn begin(&mut self, seed: u64) {
        let mut rng = QuickRng::new(seed);
        *self = Self { search: Search::new(rng.next_u64()), rng, ..Self::default() };
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Answer {
        let known = self.known.get(seen.game_map, Known::new);
        self.search.look(&known.chart, seen);
        self.unseen = if seen.enemy_is_visible { 0 } else { self.unseen.saturating_add(1) };
        let to = if self.unseen <= FRESH && self.search.possible().len() <= FEW {
            close_in(known, self.search.possible(), seen, &mut self.rng)
        } else {
            self.search.next(&known.chart, seen, &Habits::WHIMSICAL)
        };
        step(seen.pos, to)
    }
}

/// The step that brings all these cells nearest, and of those the best with open eyes. Of equal ones any: a
/// seeker that can be foreseen is avoided.
fn close_in(known: &Known, possible: &CellSet, seen: &Observation<'_>, rng: &mut QuickRng) -> Cell {
    let Known { chart, pursuit } = known;
    let odd = seen.step % 2 == 1;
    let cost = |to: Cell| {
        let far: u32 = possible.iter().map(|cell| u32::from(chart.distance(to, cell))).sum();
        let time: u32 = possible.iter().map(|cell| u32::from(pursuit.seeker_moved(odd, to, cell))).sum();
        (far, time)
    };
    let near = chart.near(seen.pos).iter().copied();
    near.min_by_key(|&to| (cost(to), rng.next_u64())).unwrap_or(seen.pos)
}
