//! One set of entrants against another: role against role, and gauntlets.
//!
//! By construction every pair meets equally often. The order goes diagonally through the table of pairs, so that consecutive matches
//! have different bots. It goes seed by seed, so that all entrants have progressed equally if the phase is stopped halfway.
//!
//! **Cross**: all pairs play the same seeds. **Gauntlet**: all challengers play the same seeds against the same opponent, so that they
//! can be compared. Without `swap` the first move alternates.

use super::balance::{BalanceReport, FixtureCounts};
use super::{Fixture, FormatError, PhaseField, PhaseHistory, PhaseSchedule, Stage, checked_product};
use crate::result::Entrant;

/// Pair number `number` in diagonal order; visits each of `ones` x `others` once.
const fn diagonal_pair(number: u64, ones: u64, others: u64) -> (usize, usize) {
    let one = number % ones;
    (one as usize, ((one + number / ones) % others) as usize)
}

#[derive(Clone)]
pub(super) struct Cross {
    /// Entrants of the first and the second role.
    roles: [Vec<Entrant>; 2],
    seeds: u64,
    variants: u32,
}

impl Cross {
    pub fn new(field: &PhaseField, seeds: u64) -> Result<Self, FormatError> {
        field.validate(2)?;
        if seeds == 0 {
            return Err(FormatError::ZeroCount { field: "boards" });
        }
        if field.roles.len() != field.len() {
            return Err(FormatError::MissingRoles {
                given: field.roles.len() as u32,
                has: field.len() as u32,
            });
        }
        let mut roles = [Vec::new(), Vec::new()];
        for (&entrant, &role) in field.entrants.iter().zip(&field.roles) {
            roles.get_mut(usize::from(role)).ok_or(FormatError::UnknownRole { entrant, role })?.push(entrant);
        }
        if let Some(role) = roles.iter().position(Vec::is_empty) {
            return Err(FormatError::EmptyRole { role: role as u8 });
        }
        checked_product(&[roles[0].len() as u64, roles[1].len() as u64, seeds])?;
        Ok(Self { roles, seeds, variants: field.variants() })
    }

    fn pairs(&self) -> u64 {
        self.roles[0].len() as u64 * self.roles[1].len() as u64
    }
}

impl PhaseSchedule for Cross {
    fn stage(&self, number: u32, _: &PhaseHistory<'_>) -> Option<Box<dyn Stage>> {
        (number == 0).then(|| Box::new(self.clone()) as Box<dyn Stage>)
    }

    fn stages(&self) -> Option<u32> {
        Some(1)
    }

    fn expected_matches(&self) -> (u64, u64) {
        (self.pairs() * self.seeds, self.pairs() * self.seeds)
    }

    fn matches_each(&self) -> Option<u64> {
        let [ones, others] = &self.roles;
        (ones.len() == others.len()).then_some(ones.len() as u64 * self.seeds)
    }

    /// Exact: all seeds are alike, so one is counted.
    fn balance(&self, _: &PhaseHistory<'_>) -> BalanceReport {
        let all: Vec<Entrant> = self.roles.iter().flatten().copied().collect();
        let mut tally = FixtureCounts::new(&all).with_sides(&self.roles[0]).with_roles();
        let fixtures = (0..self.pairs()).filter_map(|number| self.fixture(number));
        fixtures.for_each(|fixture| tally.add(&fixture.seats, self.seeds));
        tally.report(true)
    }
}

impl Stage for Cross {
    fn name(&self) -> String {
        "each against each of the other role".into()
    }

    fn len(&self) -> u64 {
        self.pairs() * self.seeds
    }

    fn fixture(&self, number: u64) -> Option<Fixture> {
        if number >= self.len() {
            return None;
        }
        let [ones, others] = &self.roles;
        let (one, other) = diagonal_pair(number % self.pairs(), ones.len() as u64, others.len() as u64);
        let seed_index = number / self.pairs();
        let variant = (seed_index % u64::from(self.variants)) as u32;
        Some(Fixture { seats: vec![ones[one], others[other]], seed_index, variant })
    }
}

#[derive(Clone)]
pub(super) struct Gauntlet {
    challengers: Vec<Entrant>,
    others: Vec<Entrant>,
    games: u64,
    variants: u32,
    swap: bool,
}

impl Gauntlet {
    pub fn new(
        field: &PhaseField,
        challengers: &[Entrant],
        games: u64,
        swap: bool,
    ) -> Result<Self, FormatError> {
        field.validate(2)?;
        if games == 0 {
            return Err(FormatError::ZeroCount { field: "games" });
        }
        if let Some(&entrant) = challengers.iter().find(|entrant| !field.entrants.contains(entrant)) {
            return Err(FormatError::UnknownChallenger { entrant });
        }
        let (challengers, others): (Vec<_>, Vec<_>) =
            field.entrants.iter().copied().partition(|entrant| challengers.contains(entrant));
        if challengers.is_empty() || others.is_empty() {
            return Err(FormatError::InvalidGauntlet {
                challengers: challengers.len() as u32,
                has: field.len() as u32,
            });
        }
        let schedule = Self { challengers, others, games, variants: field.variants(), swap };
        checked_product(&[schedule.pairs(), games, u64::from(schedule.variants), 2])?;
        Ok(schedule)
    }

    fn pairs(&self) -> u64 {
        self.challengers.len() as u64 * self.others.len() as u64
    }

    fn repeats(&self) -> u64 {
        1 + u64::from(self.swap)
    }
}

impl PhaseSchedule for Gauntlet {
    fn stage(&self, number: u32, _: &PhaseHistory<'_>) -> Option<Box<dyn Stage>> {
        (number == 0).then(|| Box::new(self.clone()) as Box<dyn Stage>)
    }

    fn stages(&self) -> Option<u32> {
        Some(1)
    }

    fn expected_matches(&self) -> (u64, u64) {
        (self.len(), self.len())
    }

    fn matches_each(&self) -> Option<u64> {
        let each = self.others.len() as u64 * self.games * u64::from(self.variants) * self.repeats();
        (self.challengers.len() == self.others.len()).then_some(each)
    }

    /// Exact: two consecutive games swap the first move, so two games are counted for all.
    fn balance(&self, _: &PhaseHistory<'_>) -> BalanceReport {
        let all: Vec<Entrant> = self.challengers.iter().chain(&self.others).copied().collect();
        let mut tally = FixtureCounts::new(&all).with_sides(&self.challengers);
        let round = self.pairs() * self.repeats();
        let games = self.games * u64::from(self.variants);
        for game in 0..games.min(2) {
            let fixtures = (game * round..(game + 1) * round).filter_map(|number| self.fixture(number));
            fixtures.for_each(|fixture| tally.add(&fixture.seats, (games + 1 - game) / 2));
        }
        tally.report(true)
    }
}

impl Stage for Gauntlet {
    fn name(&self) -> String {
        "gauntlet".into()
    }

    fn len(&self) -> u64 {
        self.pairs() * self.games * u64::from(self.variants) * self.repeats()
    }

    fn fixture(&self, number: u64) -> Option<Fixture> {
        if number >= self.len() {
            return None;
        }
        let (pair, repeat) = (number / self.repeats() % self.pairs(), number % self.repeats());
        let game = number / self.repeats() / self.pairs();
        let (one, other) = diagonal_pair(pair, self.challengers.len() as u64, self.others.len() as u64);
        let mut seats = vec![self.challengers[one], self.others[other]];
        let turned = if self.swap { repeat == 1 } else { (game + one as u64 + other as u64) % 2 == 1 };
        if turned {
            seats.reverse();
        }
        let variant = (game % u64::from(self.variants)) as u32;
        Some(Fixture { seats, seed_index: game * self.others.len() as u64 + other as u64, variant })
    }
}
