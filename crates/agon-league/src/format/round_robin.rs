//! Each against each, by the circle method.
//!
//! One entrant stays, the others stand in a circle that turns by one place from round to round; in round r those meet who stand equally far
//! from place r on either side. Every round has everybody once (with an odd number, one has a bye), and each two meet once a leg. At odd
//! distance the one is at home, at even distance the other, so that everybody has as many home as away games, or one more; the
//! next leg turns them round, and so does the next variant. Where each stands is drawn by the seed.
//!
//! A leg plays every variant; with `swap` each of these games twice, on one board. All is one stage, in the order leg, variant, round, pair,
//! so that a phase that is stopped half-way is as even as can be; or a stage for each round, if rounds must not mix.

use super::balance::{BalanceReport, FixtureCounts};
use super::{PhaseField, Fixture, FormatError, PhaseHistory, PhaseSchedule, Stage, chance, product};
use crate::result::Entrant;

#[derive(Clone)]
pub(super) struct RoundRobin {
    /// As they stand in the circle; the last stays, if the number is even.
    circle: Vec<Entrant>,
    legs: u32,
    variants: u32,
    swap: bool,
    in_order: bool,
}

impl RoundRobin {
    pub fn new(field: &PhaseField, legs: u32, swap: bool, seed: u64) -> Result<Self, FormatError> {
        field.check(2)?;
        if legs == 0 {
            return Err(FormatError::Nothing { field: "legs" });
        }
        let mut circle = field.entrants.clone();
        chance(seed, 3).shuffle(&mut circle);
        let plan = Self { circle, legs, variants: field.variants(), swap, in_order: field.rounds_in_order };
        product(&[plan.pairs(), plan.rounds(), u64::from(legs), u64::from(plan.variants), 2])?;
        Ok(plan)
    }

    /// Of a leg.
    fn rounds(&self) -> u64 {
        (self.circle.len() as u64 - 1) | 1
    }

    /// Of a round.
    fn pairs(&self) -> u64 {
        self.circle.len() as u64 / 2
    }

    fn repeats(&self) -> u64 {
        1 + u64::from(self.swap)
    }

    fn total(&self) -> u64 {
        u64::from(self.legs) * u64::from(self.variants) * self.rounds() * self.pairs() * self.repeats()
    }

    /// Home and away of a pair of a round.
    fn pair(&self, turned: bool, round: u64, pair: u64) -> [Entrant; 2] {
        let places = self.rounds();
        let even = self.circle.len().is_multiple_of(2);
        // With an odd number nobody stays: whoever would play against that place has a bye.
        let distance = if even { pair } else { pair + 1 };
        let (mut home, mut away) = if distance == 0 {
            let two = (round, places);
            if round.is_multiple_of(2) { two } else { (two.1, two.0) }
        } else {
            let two = ((round + distance) % places, (round + places - distance) % places);
            if distance.is_multiple_of(2) { (two.1, two.0) } else { two }
        };
        if turned {
            (home, away) = (away, home);
        }
        [self.circle[home as usize], self.circle[away as usize]]
    }

    fn fixture(&self, leg: u64, variant: u64, round: u64, pair: u64, repeat: u64) -> Fixture {
        let [home, away] = self.pair((leg + variant) % 2 == 1, round, pair);
        let seats = if repeat == 0 { vec![home, away] } else { vec![away, home] };
        let board =
            ((leg * u64::from(self.variants) + variant) * self.rounds() + round) * self.pairs() + pair;
        Fixture { seats, seed_index: board, variant: variant as u32 }
    }
}

impl PhaseSchedule for RoundRobin {
    fn stage(&self, number: u32, _: &PhaseHistory<'_>) -> Option<Box<dyn Stage>> {
        if !self.in_order {
            return (number == 0).then(|| Box::new(All(self.clone())) as Box<dyn Stage>);
        }
        let (leg, round) = (u64::from(number) / self.rounds(), u64::from(number) % self.rounds());
        (leg < u64::from(self.legs))
            .then(|| Box::new(Round { plan: self.clone(), leg, number: round }) as Box<dyn Stage>)
    }

    fn stages(&self) -> Option<u32> {
        Some(if self.in_order { self.legs * self.rounds() as u32 } else { 1 })
    }

    fn expected(&self) -> (u64, u64) {
        (self.total(), self.total())
    }

    fn matches_each(&self) -> Option<u64> {
        Some(
            (self.circle.len() as u64 - 1) * u64::from(self.legs) * u64::from(self.variants) * self.repeats(),
        )
    }

    /// Exact: one leg and one turned round stand for all of them.
    fn balance(&self, _: &PhaseHistory<'_>) -> BalanceReport {
        let mut tally = FixtureCounts::new(&self.circle);
        let all = u64::from(self.legs) * u64::from(self.variants);
        for (turned, times) in [(false, all.div_ceil(2)), (true, all / 2)] {
            let pairs = if times > 0 { self.rounds() * self.pairs() } else { 0 };
            for number in 0..pairs {
                let [home, away] = self.pair(turned, number / self.pairs(), number % self.pairs());
                tally.add(&[home, away], times);
                if self.swap {
                    tally.add(&[away, home], times);
                }
            }
        }
        tally.report(true)
    }
}

/// Everything at once.
struct All(RoundRobin);

impl Stage for All {
    fn name(&self) -> String {
        if self.0.legs == 2 && !self.0.swap { "league, home and away".into() } else { "league".into() }
    }

    fn len(&self) -> u64 {
        self.0.total()
    }

    fn fixture(&self, number: u64) -> Option<Fixture> {
        let plan = &self.0;
        let (repeats, pairs, rounds, variants) =
            (plan.repeats(), plan.pairs(), plan.rounds(), u64::from(plan.variants));
        let (game, repeat) = (number / repeats, number % repeats);
        let (round, pair) = (game / pairs % rounds, game % pairs);
        let variant = game / (pairs * rounds) % variants;
        let leg = game / (pairs * rounds * variants);
        (number < self.len()).then(|| plan.fixture(leg, variant, round, pair, repeat))
    }
}

/// One round.
struct Round {
    plan: RoundRobin,
    leg: u64,
    /// From 0, in its leg.
    number: u64,
}

impl Stage for Round {
    fn name(&self) -> String {
        format!("round {}", self.leg * self.plan.rounds() + self.number + 1)
    }

    fn len(&self) -> u64 {
        self.plan.pairs() * self.plan.repeats() * u64::from(self.plan.variants)
    }

    fn fixture(&self, number: u64) -> Option<Fixture> {
        let (game, repeat) = (number / self.plan.repeats(), number % self.plan.repeats());
        let (variant, pair) = (game / self.plan.pairs(), game % self.plan.pairs());
        (number < self.len()).then(|| self.plan.fixture(self.leg, variant, self.number, pair, repeat))
    }
}
