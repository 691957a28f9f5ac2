//! Drift probabilities as a bot estimates them.

use super::position::{Position, column_mask};
use crate::connect_five::board::COLUMNS;

/// Probabilities are integers in units of one over this number.
pub(super) const PROBABILITY_SCALE: i32 = 1024;

/// Probability that a piece dropped into each column drifts left or right, in units of 1/[`PROBABILITY_SCALE`].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Drift {
    pub(super) left: [i32; COLUMNS],
    pub(super) right: [i32; COLUMNS],
}

impl Drift {
    #[inline]
    const fn never_drifts(&self, column: usize) -> bool {
        self.left[column] == 0 && self.right[column] == 0
    }

    /// Mask of the columns that never drift.
    pub(super) fn fixed_cells(&self) -> u64 {
        (0..COLUMNS).filter(|&c| self.never_drifts(c)).map(column_mask).fold(0, |a, b| a | b)
    }

    /// Cells in which a piece dropped into this column may land, its own column first, with probabilities that add up to
    /// [`PROBABILITY_SCALE`].
    #[inline]
    pub(super) fn outcomes(&self, position: Position, column: usize) -> [(u64, i32); 3] {
        let open = position.open();
        let own = open & column_mask(column);
        if self.never_drifts(column) {
            return [(own, PROBABILITY_SCALE), (0, 0), (0, 0)];
        }
        let left = if column > 0 { open & column_mask(column - 1) } else { 0 };
        let right = if column + 1 < COLUMNS { open & column_mask(column + 1) } else { 0 };
        let goes_left = if left == 0 { 0 } else { self.left[column] };
        let goes_right = if right == 0 { 0 } else { self.right[column] };
        [(own, PROBABILITY_SCALE - goes_left - goes_right), (left, goes_left), (right, goes_right)]
    }
}
