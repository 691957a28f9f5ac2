//! Bots that look at adjacent tiles only, or at none.

use agon_core::{Bot, FastRng};

use super::super::{ColourBattle, Move, Observation};
use super::tile_value::{TileValue, neighbours, occupied, tile_value};

/// Moves at random.
pub(super) struct Random {
    rng: FastRng,
}

impl Random {
    pub(super) const fn new() -> Self {
        Self { rng: FastRng::new(0) }
    }
}

impl Bot<ColourBattle> for Random {
    fn begin(&mut self, seed: u64) {
        self.rng = FastRng::new(seed);
    }

    fn answer(&mut self, _: &Observation<'_>) -> Move {
        self.rng.pick(&Move::STEPS).unwrap_or(Move::Stay)
    }
}

/// Sweeps the canvas row by row, up and down.
pub(super) struct Sweeper {
    across: Move,
    along: Move,
}

impl Sweeper {
    pub(super) const fn new() -> Self {
        Self { across: Move::Right, along: Move::Up }
    }
}

impl Bot<ColourBattle> for Sweeper {
    fn begin(&mut self, seed: u64) {
        self.across = if seed & 1 == 0 { Move::Right } else { Move::Left };
        self.along = if seed & 2 == 0 { Move::Up } else { Move::Down };
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Move {
        let blocked = |step| seen.position.after(step, seen.grid.side()) == seen.position;
        if !blocked(self.across) {
            return self.across;
        }
        self.across = if self.across == Move::Right { Move::Left } else { Move::Right };
        if blocked(self.along) {
            self.along = if self.along == Move::Up { Move::Down } else { Move::Up };
        }
        self.along
    }
}

/// Takes an adjacent tile if it can, else keeps its direction.
pub(super) struct ShortSighted {
    rng: FastRng,
    heading: Move,
}

impl ShortSighted {
    pub(super) const fn new() -> Self {
        Self { rng: FastRng::new(0), heading: Move::Up }
    }
}

impl Bot<ColourBattle> for ShortSighted {
    fn begin(&mut self, seed: u64) {
        self.rng = FastRng::new(seed);
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Move {
        let takes =
            |tile| tile_value(seen.grid.at(tile), seen.id) == TileValue::Take && !occupied(seen, tile);
        let good: Vec<Move> = neighbours(seen).filter(|(_, to)| takes(*to)).map(|(step, _)| step).collect();
        if let Some(step) = self.rng.pick(&good) {
            self.heading = step;
        } else if seen.position.after(self.heading, seen.grid.side()) == seen.position {
            self.heading = self.rng.pick(&Move::STEPS).unwrap_or(Move::Stay);
        }
        self.heading
    }
}
