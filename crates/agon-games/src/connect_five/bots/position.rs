//! A position as the thinking bots see it: two sets of cells, and the lines that can still become five.

use crate::connect_five::Seen;
use crate::connect_five::board::{ALL, BOTTOM, COLUMNS, DIRECTIONS, Mark, ROWS, has_five, height};

/// The order in which columns are tried: the middle takes part in most lines.
pub(super) const MIDDLE_FIRST: [usize; COLUMNS] = [4, 3, 5, 2, 6, 1, 7, 0, 8];

/// The cells at odd heights (counted from 1): where the first player is the one to move in the end.
const ODD: u64 = BOTTOM | BOTTOM << 2 | BOTTOM << 4 | BOTTOM << 6;

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

/// The cells in a set, one by one.
pub(super) fn cells(mut set: u64) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        let cell = set & set.wrapping_neg();
        set ^= cell;
        (cell != 0).then_some(cell)
    })
}

/// The pieces of who is to move and of the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Position {
    pub(super) own: u64,
    pub(super) other: u64,
}

impl Position {
    /// What a bot to move sees.
    pub(super) const fn seen(seen: &Seen) -> Self {
        Self { own: seen.board.pieces(seen.player), other: seen.board.pieces(seen.player.other()) }
    }

    /// The cells that hold a piece.
    #[inline]
    pub(super) const fn taken(self) -> u64 {
        self.own | self.other
    }

    /// The lowest free cell of each column that has room.
    #[inline]
    pub(super) const fn open(self) -> u64 {
        let taken = self.taken();
        // The bit above a full column is the next column's bottom, which is in the set anyway.
        (taken << 1 | BOTTOM) & !taken & ALL
    }

    /// The lowest free cell of a column, or no cell.
    #[inline]
    pub(super) const fn open_in(self, column: usize) -> u64 {
        self.open() & column_mask(column)
    }

    /// The columns with room.
    pub(super) fn columns(self) -> impl Iterator<Item = usize> {
        (0..COLUMNS).filter(move |&column| height(self.taken(), column) < ROWS)
    }

    /// The position after the mover has taken this cell, seen by the other player.
    #[inline]
    #[must_use]
    pub(super) const fn after(self, cell: u64) -> Self {
        Self { own: self.other, other: self.own | cell }
    }

    /// Whether who just moved has won.
    #[inline]
    pub(super) const fn is_lost(self) -> bool {
        has_five(self.other)
    }

    /// The mark of who is to move.
    #[inline]
    pub(super) const fn mover(self) -> Mark {
        if self.taken().count_ones().is_multiple_of(2) { Mark::X } else { Mark::O }
    }
}

/// The lines one player can still make.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Lines {
    /// The cells that complete five.
    pub(super) fifth: u64,
    /// The cells that turn three into four.
    pub(super) fourth: u64,
    /// How many lines hold two and nothing of the opponent.
    pub(super) twos: u32,
    /// How many hold three.
    pub(super) threes: u32,
}

impl Lines {
    /// Counts all 92 lines at once: bit by bit, the pieces in the line that starts at each cell.
    #[inline]
    pub(super) fn of(own: u64, other: u64) -> Self {
        let mut lines = Self::default();
        let free = ALL & !other;
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

    /// What these lines are worth to the player of this mark. A cell that completes five is worth most at a
    /// height where, once everything else is full, this player is the one to move.
    #[inline]
    pub(super) const fn worth(&self, mark: Mark) -> i32 {
        let lines = 6 * self.twos + 10 * self.threes;
        if self.fifth == 0 {
            return lines as i32;
        }
        let timely = match mark {
            Mark::X => self.fifth & ODD,
            Mark::O => self.fifth & !ODD,
        };
        (lines + 20 * self.fifth.count_ones() + 50 * timely.count_ones()) as i32
    }
}

#[cfg(test)]
mod tests {
    use agon_core::QuickRng;

    use super::*;

    /// The same by walking every line.
    fn naive(own: u64, other: u64) -> Lines {
        let mut lines = Lines::default();
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
    fn lines_equal_a_walk_over_all_92() {
        let mut rng = QuickRng::new(3);
        for _ in 0..5_000 {
            let (a, b, c) = (rng.next_u64() & ALL, rng.next_u64(), rng.next_u64());
            let (own, other) = (a & b, !a & c & rng.next_u64() & ALL);
            let (quick, slow) = (Lines::of(own, other), naive(own, other));
            assert_eq!(
                (quick.twos, quick.threes, quick.fourth, quick.fifth),
                (slow.twos, slow.threes, slow.fourth, slow.fifth)
            );
        }
    }

    #[test]
    fn open_cells_are_the_lowest_free_ones() {
        let position = Position { own: column_mask(3), other: 0b11 << 28 };
        assert_eq!(position.open_in(3), 0);
        assert_eq!(position.open_in(4), 0b100 << 28);
        assert_eq!(position.open().count_ones(), 8);
        assert_eq!(cells(position.open()).map(column_of).collect::<Vec<_>>(), [0, 1, 2, 4, 5, 6, 7, 8]);
    }
}
