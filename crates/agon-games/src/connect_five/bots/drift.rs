//! Where pieces may land, as far as a bot knows.

use super::position::{Position, column_mask};
use crate::connect_five::board::COLUMNS;

/// Chances are counted in so many parts.
pub(super) const PARTS: i32 = 1024;

/// How likely a piece dropped into each column drifts left or right, in [`PARTS`].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Drift {
    pub(super) left: [i32; COLUMNS],
    pub(super) right: [i32; COLUMNS],
}

impl Drift {
    #[inline]
    const fn is_still(&self, column: usize) -> bool {
        self.left[column] == 0 && self.right[column] == 0
    }

    /// All cells of columns that never drift.
    pub(super) fn still(&self) -> u64 {
        (0..COLUMNS).filter(|&c| self.is_still(c)).map(column_mask).fold(0, |a, b| a | b)
    }

    /// The cells a piece dropped into this column may land in, its own column first, with chances that add up to
    /// [`PARTS`].
    #[inline]
    pub(super) fn outcomes(&self, position: Position, column: usize) -> [(u64, i32); 3] {
        let open = position.open();
        let own = open & column_mask(column);
        if self.is_still(column) {
            return [(own, PARTS), (0, 0), (0, 0)];
        }
        let left = if column > 0 { open & column_mask(column - 1) } else { 0 };
        let right = if column + 1 < COLUMNS { open & column_mask(column + 1) } else { 0 };
        let goes_left = if left == 0 { 0 } else { self.left[column] };
        let goes_right = if right == 0 { 0 } else { self.right[column] };
        [(own, PARTS - goes_left - goes_right), (left, goes_left), (right, goes_right)]
    }
}
