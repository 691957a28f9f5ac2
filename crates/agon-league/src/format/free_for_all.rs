//! All in one arena, game after game.
//!
//! Each n games have an order of their own, drawn by the seed and rotated by one place from game to game: in n games everybody sits once
//! on each seat, so that after any number of games nobody has sat on one seat more than once more often than on another. The order is drawn anew for the next n
//! games, so that neighbours change.

use super::balance::{BalanceReport, FixtureCounts};
use super::{PhaseField, Fixture, FormatError, PhaseHistory, PhaseSchedule, Stage, chance, product};
use crate::result::Entrant;

#[derive(Clone)]
pub(super) struct FreeForAll {
    entrants: Vec<Entrant>,
    games: u64,
    variants: u32,
    seed: u64,
}

impl FreeForAll {
    pub fn new(field: &PhaseField, games: u64, seed: u64) -> Result<Self, FormatError> {
        field.check(2)?;
        if games == 0 {
            return Err(FormatError::Nothing { field: "games" });
        }
        product(&[games])?;
        Ok(Self { entrants: field.entrants.clone(), games, variants: field.variants(), seed })
    }
}

impl PhaseSchedule for FreeForAll {
    fn stage(&self, number: u32, _: &PhaseHistory<'_>) -> Option<Box<dyn Stage>> {
        (number == 0).then(|| Box::new(self.clone()) as Box<dyn Stage>)
    }

    fn stages(&self) -> Option<u32> {
        Some(1)
    }

    fn expected(&self) -> (u64, u64) {
        (self.games, self.games)
    }

    fn matches_each(&self) -> Option<u64> {
        Some(self.games)
    }

    /// Exact: whole rotations are even, so that one stands for all of them.
    fn balance(&self, _: &PhaseHistory<'_>) -> BalanceReport {
        let n = self.entrants.len() as u64;
        let mut tally = FixtureCounts::new(&self.entrants);
        let (whole, rest) = (self.games / n, self.games % n);
        if whole > 0 {
            (0..n).filter_map(|i| self.fixture(i)).for_each(|fixture| tally.add(&fixture.seats, whole));
        }
        (whole * n..whole * n + rest)
            .filter_map(|i| self.fixture(i))
            .for_each(|fixture| tally.add(&fixture.seats, 1));
        tally.report(true)
    }
}

impl Stage for FreeForAll {
    fn name(&self) -> String {
        "arena".into()
    }

    fn len(&self) -> u64 {
        self.games
    }

    fn fixture(&self, number: u64) -> Option<Fixture> {
        if number >= self.games {
            return None;
        }
        let n = self.entrants.len() as u64;
        let rotation = number / n;
        let mut seats = self.entrants.clone();
        chance(self.seed, 2 + (rotation << 8)).shuffle(&mut seats);
        seats.rotate_left((number % n) as usize);
        // Shifted by one with each rotation: otherwise a seat and a variant could go together.
        let variant = ((number + rotation) % u64::from(self.variants)) as u32;
        Some(Fixture { seats, seed_index: number, variant })
    }
}
