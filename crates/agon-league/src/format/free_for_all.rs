//! All entrants in one arena, game after game.
//!
//! For every n games the seed draws an order, which rotates by one seat from game to game. So in n games every entrant sits once on
//! each seat, and at any time the seat counts of an entrant differ by at most 1. The next n games get a new order, so that neighbours
//! change.

use super::balance::{BalanceReport, FixtureCounts};
use super::{
    Fixture, FormatError, PhaseField, PhaseHistory, PhaseSchedule, Stage, checked_product, schedule_rng,
};
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
        field.validate(2)?;
        if games == 0 {
            return Err(FormatError::ZeroCount { field: "games" });
        }
        checked_product(&[games])?;
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

    fn expected_matches(&self) -> (u64, u64) {
        (self.games, self.games)
    }

    fn matches_each(&self) -> Option<u64> {
        Some(self.games)
    }

    /// Exact: full rotations are even, so one is counted for all.
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
        schedule_rng(self.seed, 2 + (rotation << 8)).shuffle(&mut seats);
        seats.rotate_left((number % n) as usize);
        // Shift by one per rotation; otherwise a seat and a variant could coincide.
        let variant = ((number + rotation) % u64::from(self.variants)) as u32;
        Some(Fixture { seats, seed_index: number, variant })
    }
}
