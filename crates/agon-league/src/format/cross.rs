//! Each of these against each of those: role against role, and gauntlets.
//!
//! Every pair meets equally often by construction. The order goes diagonally through the table of pairs (the next of these against
//! the next of those), so that neighbours in time are different bots, and board by board, so that a phase that is stopped half-way has everybody
//! equally far.
//!
//! **Cross**: board b is the b-th of the hidden set, the same for all pairs. **Gauntlet**: a board is shared by all challengers against the same
//! opponent, so that they can be compared; without `swap` the first move alternates.

use super::balance::{BalanceReport, FixtureCounts};
use super::{PhaseField, Fixture, FormatError, PhaseHistory, PhaseSchedule, Stage, product};
use crate::result::Entrant;

/// The pair of this number, diagonally: each of `ones` x `others` once.
const fn diagonal(number: u64, ones: u64, others: u64) -> (usize, usize) {
    let one = number % ones;
    (one as usize, ((one + number / ones) % others) as usize)
}

#[derive(Clone)]
pub(super) struct Cross {
    /// Those of the first role, and of the second.
    roles: [Vec<Entrant>; 2],
    boards: u64,
    variants: u32,
}

impl Cross {
    pub fn new(field: &PhaseField, boards: u64) -> Result<Self, FormatError> {
        field.check(2)?;
        if boards == 0 {
            return Err(FormatError::Nothing { field: "boards" });
        }
        if field.roles.len() != field.len() {
            return Err(FormatError::Roles { given: field.roles.len() as u32, has: field.len() as u32 });
        }
        let mut roles = [Vec::new(), Vec::new()];
        for (&entrant, &role) in field.entrants.iter().zip(&field.roles) {
            roles.get_mut(usize::from(role)).ok_or(FormatError::UnknownRole { entrant, role })?.push(entrant);
        }
        if let Some(role) = roles.iter().position(Vec::is_empty) {
            return Err(FormatError::NobodyInRole { role: role as u8 });
        }
        product(&[roles[0].len() as u64, roles[1].len() as u64, boards])?;
        Ok(Self { roles, boards, variants: field.variants() })
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

    fn expected(&self) -> (u64, u64) {
        (self.pairs() * self.boards, self.pairs() * self.boards)
    }

    fn matches_each(&self) -> Option<u64> {
        let [ones, others] = &self.roles;
        (ones.len() == others.len()).then_some(ones.len() as u64 * self.boards)
    }

    /// Exact: one board stands for all.
    fn balance(&self, _: &PhaseHistory<'_>) -> BalanceReport {
        let all: Vec<Entrant> = self.roles.iter().flatten().copied().collect();
        let mut tally = FixtureCounts::new(&all).with_sides(&self.roles[0]).with_roles();
        let board = (0..self.pairs()).filter_map(|number| self.fixture(number));
        board.for_each(|fixture| tally.add(&fixture.seats, self.boards));
        tally.report(true)
    }
}

impl Stage for Cross {
    fn name(&self) -> String {
        "each against each of the other role".into()
    }

    fn len(&self) -> u64 {
        self.pairs() * self.boards
    }

    fn fixture(&self, number: u64) -> Option<Fixture> {
        if number >= self.len() {
            return None;
        }
        let [ones, others] = &self.roles;
        let (one, other) = diagonal(number % self.pairs(), ones.len() as u64, others.len() as u64);
        let board = number / self.pairs();
        let variant = (board % u64::from(self.variants)) as u32;
        Some(Fixture { seats: vec![ones[one], others[other]], seed_index: board, variant })
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
    pub fn new(field: &PhaseField, challengers: &[Entrant], games: u64, swap: bool) -> Result<Self, FormatError> {
        field.check(2)?;
        if games == 0 {
            return Err(FormatError::Nothing { field: "games" });
        }
        if let Some(&entrant) = challengers.iter().find(|entrant| !field.entrants.contains(entrant)) {
            return Err(FormatError::UnknownChallenger { entrant });
        }
        let (challengers, others): (Vec<_>, Vec<_>) =
            field.entrants.iter().copied().partition(|entrant| challengers.contains(entrant));
        if challengers.is_empty() || others.is_empty() {
            return Err(FormatError::Gauntlet {
                challengers: challengers.len() as u32,
                has: field.len() as u32,
            });
        }
        let plan = Self { challengers, others, games, variants: field.variants(), swap };
        product(&[plan.pairs(), games, u64::from(plan.variants), 2])?;
        Ok(plan)
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

    fn expected(&self) -> (u64, u64) {
        (self.len(), self.len())
    }

    fn matches_each(&self) -> Option<u64> {
        let each = self.others.len() as u64 * self.games * u64::from(self.variants) * self.repeats();
        (self.challengers.len() == self.others.len()).then_some(each)
    }

    /// Exact: the first moves of two games in a row are swapped, so that two stand for all.
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
        let (one, other) = diagonal(pair, self.challengers.len() as u64, self.others.len() as u64);
        let mut seats = vec![self.challengers[one], self.others[other]];
        let turned = if self.swap { repeat == 1 } else { (game + one as u64 + other as u64) % 2 == 1 };
        if turned {
            seats.reverse();
        }
        let variant = (game % u64::from(self.variants)) as u32;
        Some(Fixture { seats, seed_index: game * self.others.len() as u64 + other as u64, variant })
    }
}
