//! Bots that look only for a column with room.

use agon_core::{Bot, FastRng};

use crate::connect_five::board::COLUMNS;
use crate::connect_five::{Column, ConnectFive, Observation};

/// Drops into a random column with room.
pub(super) struct Random(FastRng);

impl Default for Random {
    fn default() -> Self {
        Self(FastRng::new(0))
    }
}

impl Bot<ConnectFive> for Random {
    fn begin(&mut self, seed: u64) {
        self.0 = FastRng::new(seed);
    }

    fn answer(&mut self, seen: &Observation) -> Column {
        let mut open = [0; COLUMNS];
        let mut count = 0;
        for column in (0..COLUMNS).filter(|&column| seen.board.has_room(column)) {
            open[count] = column;
            count += 1;
        }
        let column = self.0.pick(&open[..count]);
        Column(column.unwrap_or(0) as i64)
    }
}

/// Fills the leftmost column with room.
pub(super) struct Stacker;

impl Bot<ConnectFive> for Stacker {
    fn answer(&mut self, seen: &Observation) -> Column {
        Column((0..COLUMNS).find(|&column| seen.board.has_room(column)).unwrap_or(0) as i64)
    }
}
