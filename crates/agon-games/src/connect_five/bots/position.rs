//! Position for the searching bots: two masks of pieces, and the lines that can still become five.

use crate::connect_five::Observation;
use crate::connect_five::board::{ALL_CELLS, BOTTOM_ROW, COLUMNS, DIRECTIONS, Mark, ROWS, has_five, height};

/// Order in which columns are tried: the middle is part of most lines.
pub(super) const MIDDLE_FIRST: [usize; COLUMNS] = [4, 3, 5, 2, 6, 1, 7, 0, 8];

/// Cells at odd heights (counted from 1), which the first player fills if all other columns are full.
const ODD_ROWS: u64 = BOTTOM_ROW | BOTTOM_ROW << 2 | BOTTOM_ROW << 4 | BOTTOM_ROW << 6;

/// The column of a cell.
#[inline]
pub(super) const fn column_of(cell: u64) -> usize {
    cell.trailing_zeros() as usize / ROWS
}

/// All cells of a column.
#[inline]
pub(super) const fn column_mask(column: usize) -> u64 {
    ((1 << ROWS) - 1) << (column * ROWS)
}

/// Iterates over the cells of a mask.
pub(super) fn cells(mut set: u64) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        let cell = set & set.wrapping_neg();
        set ^= cell;
        (cell != 0).then_some(cell)
    })
}

/// Pieces of the player to move and of the opponent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Position {
    pub(super) own: u64,
    pub(super) other: u64,
}

impl Position {
    /// Position of an observation.
    pub(super) const fn from_observation(seen: &Observation) -> Self {
        Self { own: seen.board.pieces(seen.player), other: seen.board.pieces(seen.player.other()) }
    }

    /// Mask of the occupied cells.
    #[inline]
    pub(super) const fn taken(self) -> u64 {
        self.own | self.other
    }

    /// The lowest free cell of each column that has room.
    #[inline]
    pub(super) const fn open(self) -> u64 {
        let taken = self.taken();
        // The bit above a full column is the bottom of the next column, which is in the set anyway.
        (taken << 1 | BOTTOM_ROW) & !taken & ALL_CELLS
    }

    /// The lowest free cell of a column; 0 if it is full.
    #[inline]
    pub(super) const fn open_in(self, column: usize) -> u64 {
        self.open() & column_mask(column)
    }

    /// The columns with room.
    pub(super) fn columns(self) -> impl Iterator<Item = usize> {
        (0..COLUMNS).filter(move |&column| height(self.taken(), column) < ROWS)
    }

    /// Position after the player to move has taken this cell, from the opponent's view.
    #[inline]
    #[must_use]
    pub(super) const fn after(self, cell: u64) -> Self {
        Self { own: self.other, other: self.own | cell }
    }

    /// Whether the player that just moved has won.
    #[inline]
    pub(super) const fn is_lost(self) -> bool {
        has_five(self.other)
    }

    /// Mark of the player to move.
    #[inline]
    pub(super) const fn mover(self) -> Mark {
        if self.taken().count_ones().is_multiple_of(2) { Mark::X } else { Mark::O }
    }
}

/// Lines that one player can still complete.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct OpenLines {
    /// Cells that complete five.
    pub(super) fifth: u64,
    /// Cells that turn three into four.
    pub(super) fourth: u64,
    /// Number of lines with two pieces and none of the opponent.
    pub(super) twos: u32,
    /// Number of lines with three pieces and none of the opponent.
    pub(super) threes: u32,
}

impl OpenLines {
    /// Counts all 92 lines with bit-parallel addition: for each start cell, the number of pieces in its line.
    #[inline]
    pub(super) fn of(own: u64, other: u64) -> Self {
        let mut lines = Self::default();
        let free = ALL_CELLS & !other;
        for (step, starts) in DIRECTIONS {
            let pair = free & free >> step;
            let alive = pair & pair >> (2 * step) & free >> (4 * step) & starts;
            if alive == 0 {
                continue;
            }
            let [a, b, c, d, e] = [own, own >> step, own >> (2 * step), own >> (3 * step), own >> (4 * step)];
            let (sum, carry) = (a ^ b ^ c, a & b | c & (a ^ b));
            let (ones, carry_2) = (sum ^ d ^ e, sum & d | e & (sum ^ d));
            let (twos, fours) = (carry ^ carry_2, carry & carry_2);
            let spread =
                |set: u64| set | set << step | set << (2 * step) | set << (3 * step) | set << (4 * step);
            let three = alive & twos & ones;
            let four = alive & fours & !ones;
            lines.twos += (alive & twos & !ones).count_ones();
            if three != 0 {
                lines.threes += three.count_ones();
                lines.fourth |= spread(three);
            }
            if four != 0 {
                lines.fifth |= spread(four);
            }
        }
        lines.fourth &= !own;
        lines.fifth &= !own;
        lines
    }

    /// Value of these lines for the player of this mark. A cell that completes five is worth most at a height that this player
    /// fills when everything else is full.
    #[inline]
    pub(super) const fn value_of(&self, mark: Mark) -> i32 {
        let lines = 6 * self.twos + 10 * self.threes;
        if self.fifth == 0 {
            return lines as i32;
        }
        let timely = match mark {
            Mark::X => self.fifth & ODD_ROWS,
            Mark::O => self.fifth & !ODD_ROWS,
        };
        (lines + 20 * self.fifth.count_ones() + 50 * timely.count_ones()) as i32
    }
}

#[cfg(test)]
mod tests {
    use agon_core::FastRng;

    use super::*;

    /// Reference implementation that walks every line.
    fn naive(own: u64, other: u64) -> OpenLines {
        let mut lines = OpenLines::default();
        for column in 0..COLUMNS as i32 {
            for row in 0..ROWS as i32 {
                for (right, up) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
                    let line: Option<Vec<u64>> = (0..5)
                        .map(|i| (column + i * right, row + i * up))
                        .map(|(c, r)| {
                            ((0..9).contains(&c) && (0..7).contains(&r)).then(|| 1u64 << (c * 7 + r))
                        })
                        .collect();
                    let Some(line) = line else { continue };
                    let set: u64 = line.iter().sum();
                    if set & other != 0 {
                        continue;
                    }
                    match (set & own).count_ones() {
                        2 => lines.twos += 1,
                        3 => {
                            lines.threes += 1;
                            lines.fourth |= set & !own;
                        }
                        4 => lines.fifth |= set & !own,
                        _ => {}
                    }
                }
            }
        }
        lines
    }

    #[test]
    fn open_lines_equal_a_walk_over_all_92_lines() {
        let mut rng = FastRng::new(3);
        for _ in 0..5_000 {
            let (a, b, c) = (rng.next_u64() & ALL_CELLS, rng.next_u64(), rng.next_u64());
            let (own, other) = (a & b, !a & c & rng.next_u64() & ALL_CELLS);
            let (quick, slow) = (OpenLines::of(own, other), naive(own, other));
            assert_eq!(
                (quick.twos, quick.threes, quick.fourth, quick.fifth),
                (slow.twos, slow.threes, slow.fourth, slow.fifth)
            );
        }
    }

    #[test]
    fn open_cells_are_the_lowest_free_cells() {
        let position = Position { own: column_mask(3), other: 0b11 << 28 };
        assert_eq!(position.open_in(3), 0);
        assert_eq!(position.open_in(4), 0b100 << 28);
        assert_eq!(position.open().count_ones(), 8);
        assert_eq!(cells(position.open()).map(column_of).collect::<Vec<_>>(), [0, 1, 2, 4, 5, 6, 7, 8]);
    }
}
