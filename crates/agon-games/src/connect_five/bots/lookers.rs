//! Bots that look at the board but not ahead.

use agon_core::{Bot, QuickRng};

use super::position::{Lines, Position, cells, column_of};
use crate::connect_five::board::Mark;
use crate::connect_five::{Column, ConnectFive, Seen};

/// A cell that wins now, else one where the opponent would win, else none.
fn urgent(position: Position) -> Option<u64> {
    let open = position.open();
    let wins = Lines::of(position.own, position.other).fifth & open;
    let dangers = Lines::of(position.other, position.own).fifth & open;
    cells(wins).chain(cells(dangers)).next()
}

/// Wins if it can, blocks if it must, else drops anywhere.
pub(super) struct Tactician(QuickRng);

impl Tactician {
    pub(super) const fn new() -> Self {
        Self(QuickRng::new(0))
    }
}

impl Bot<ConnectFive> for Tactician {
    fn begin(&mut self, seed: u64) {
        self.0 = QuickRng::new(seed);
    }

    fn answer(&mut self, seen: &Seen) -> Column {
        let position = Position::seen(seen);
        let column = urgent(position).map(column_of).or_else(|| {
            let columns: Vec<usize> = position.columns().collect();
            self.0.pick(&columns)
        });
        Column(column.unwrap_or(0) as i64)
    }
}

/// Wins, blocks, else makes the most of its lines and the least of the opponent's, one move ahead.
pub(super) struct LineCounter(QuickRng);

impl LineCounter {
    pub(super) const fn new() -> Self {
        Self(QuickRng::new(0))
    }

    /// What a position is worth to who has just moved into it.
    fn worth(position: Position, mark: Mark) -> i32 {
        let mine = Lines::of(position.other, position.own);
        let theirs = Lines::of(position.own, position.other);
        let lets_win = theirs.fifth & position.open() != 0;
        mine.worth(mark) - theirs.worth(mark.other()) - i32::from(lets_win) * 10_000
    }
}

impl Bot<ConnectFive> for LineCounter {
    fn begin(&mut self, seed: u64) {
        self.0 = QuickRng::new(seed);
    }

    fn answer(&mut self, seen: &Seen) -> Column {
        let position = Position::seen(seen);
        let cell = urgent(position).or_else(|| {
            cells(position.open())
                .max_by_key(|&cell| (Self::worth(position.after(cell), seen.player), self.0.next_u64()))
        });
        Column(cell.map_or(0, column_of) as i64)
    }
}
