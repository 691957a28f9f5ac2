//! Bots that look at the board but not ahead.

use agon_core::{Bot, FastRng};

use super::position::{OpenLines, Position, cells, column_of};
use crate::connect_five::board::Mark;
use crate::connect_five::{Column, ConnectFive, Observation};

/// A cell that wins at once, else one that blocks an immediate win of the opponent.
fn winning_or_blocking_cell(position: Position) -> Option<u64> {
    let open = position.open();
    let wins = OpenLines::of(position.own, position.other).fifth & open;
    let dangers = OpenLines::of(position.other, position.own).fifth & open;
    cells(wins).chain(cells(dangers)).next()
}

/// Wins if it can, blocks if it must, else plays at random.
pub(super) struct Tactician(FastRng);

impl Tactician {
    pub(super) const fn new() -> Self {
        Self(FastRng::new(0))
    }
}

impl Bot<ConnectFive> for Tactician {
    fn begin(&mut self, seed: u64) {
        self.0 = FastRng::new(seed);
    }

    fn answer(&mut self, seen: &Observation) -> Column {
        let position = Position::from_observation(seen);
        let column = winning_or_blocking_cell(position).map(column_of).or_else(|| {
            let columns: Vec<usize> = position.columns().collect();
            self.0.pick(&columns)
        });
        Column(column.unwrap_or(0) as i64)
    }
}

/// Wins, blocks, else maximises its own open lines against the opponent's, one move ahead.
pub(super) struct LineCounter(FastRng);

impl LineCounter {
    pub(super) const fn new() -> Self {
        Self(FastRng::new(0))
    }

    /// Value of a position for the player that has just moved.
    fn value_of(position: Position, mark: Mark) -> i32 {
        let mine = OpenLines::of(position.other, position.own);
        let theirs = OpenLines::of(position.own, position.other);
        let lets_win = theirs.fifth & position.open() != 0;
        mine.value_of(mark) - theirs.value_of(mark.other()) - i32::from(lets_win) * 10_000
    }
}

impl Bot<ConnectFive> for LineCounter {
    fn begin(&mut self, seed: u64) {
        self.0 = FastRng::new(seed);
    }

    fn answer(&mut self, seen: &Observation) -> Column {
        let position = Position::from_observation(seen);
        let cell = winning_or_blocking_cell(position).or_else(|| {
            cells(position.open())
                .max_by_key(|&cell| (Self::value_of(position.after(cell), seen.player), self.0.next_u64()))
        });
        Column(cell.map_or(0, column_of) as i64)
    }
}
