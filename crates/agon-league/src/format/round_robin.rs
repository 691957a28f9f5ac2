//! Each against each, by the circle method.
//!
//! One entrant is fixed; the others form a circle that rotates by one place per round. In round r, entrants at equal distance on both
//! sides of place r meet. Every entrant plays once per round (with an odd number one has a bye), and every pair meets once per leg.
//! The distance decides who is at home, so home and away games of an entrant differ by at most one. The next leg and the next variant
//! swap home and away. The seed draws the places.
//!
//! A leg plays every variant; with `swap` each game is played twice on the same seed. Everything is one stage in the order leg, variant,
//! round, pair, so that a phase stopped halfway is as even as possible. If rounds must stay in order, each round is a stage.

use super::balance::{BalanceReport, FixtureCounts};
use super::{
    Fixture, FormatError, PhaseField, PhaseHistory, PhaseSchedule, Stage, checked_product, schedule_rng,
};
use crate::result::Entrant;

#[derive(Clone)]
pub(super) struct RoundRobin {
    /// Order of the circle; with an even number the last entrant is fixed.
    circle: Vec<Entrant>,
    legs: u32,
    variants: u32,
    swap: bool,
    rounds_in_order: bool,
}

impl RoundRobin {
    pub fn new(field: &PhaseField, legs: u32, swap: bool, seed: u64) -> Result<Self, FormatError> {
        field.validate(2)?;
        if legs == 0 {
            return Err(FormatError::ZeroCount { field: "legs" });
        }
        let mut circle = field.entrants.clone();
        schedule_rng(seed, 3).shuffle(&mut circle);
        let schedule =
            Self { circle, legs, variants: field.variants(), swap, rounds_in_order: field.rounds_in_order };
        checked_product(&[
            schedule.pairs(),
            schedule.rounds(),
            u64::from(legs),
            u64::from(schedule.variants),
            2,
        ])?;
        Ok(schedule)
    }

    /// Rounds per leg.
    fn rounds(&self) -> u64 {
        (self.circle.len() as u64 - 1) | 1
    }

    /// Pairs per round.
    fn pairs(&self) -> u64 {
        self.circle.len() as u64 / 2
    }

    fn repeats(&self) -> u64 {
        1 + u64::from(self.swap)
    }

    fn total(&self) -> u64 {
        u64::from(self.legs) * u64::from(self.variants) * self.rounds() * self.pairs() * self.repeats()
    }

    /// Home and away entrant of a pair.
    fn pair(&self, turned: bool, round: u64, pair: u64) -> [Entrant; 2] {
        let places = self.rounds();
        let even = self.circle.len().is_multiple_of(2);
        // With an odd number no entrant is fixed; its would-be opponent has a bye.
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
        let seed_index =
            ((leg * u64::from(self.variants) + variant) * self.rounds() + round) * self.pairs() + pair;
        Fixture { seats, seed_index, variant: variant as u32 }
    }
}

impl PhaseSchedule for RoundRobin {
    fn stage(&self, number: u32, _: &PhaseHistory<'_>) -> Option<Box<dyn Stage>> {
        if !self.rounds_in_order {
            return (number == 0).then(|| Box::new(AllRounds(self.clone())) as Box<dyn Stage>);
        }
        let (leg, round) = (u64::from(number) / self.rounds(), u64::from(number) % self.rounds());
        (leg < u64::from(self.legs))
            .then(|| Box::new(SingleRound { schedule: self.clone(), leg, number: round }) as Box<dyn Stage>)
    }

    fn stages(&self) -> Option<u32> {
        Some(if self.rounds_in_order { self.legs * self.rounds() as u32 } else { 1 })
    }

    fn expected_matches(&self) -> (u64, u64) {
        (self.total(), self.total())
    }

    fn matches_each(&self) -> Option<u64> {
        Some(
            (self.circle.len() as u64 - 1) * u64::from(self.legs) * u64::from(self.variants) * self.repeats(),
        )
    }

    /// Exact: counts one leg and one swapped leg for all of them.
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

/// All rounds as one stage.
struct AllRounds(RoundRobin);

impl Stage for AllRounds {
    fn name(&self) -> String {
        if self.0.legs == 2 && !self.0.swap { "league, home and away".into() } else { "league".into() }
    }

    fn len(&self) -> u64 {
        self.0.total()
    }

    fn fixture(&self, number: u64) -> Option<Fixture> {
        let schedule = &self.0;
        let (repeats, pairs, rounds, variants) =
            (schedule.repeats(), schedule.pairs(), schedule.rounds(), u64::from(schedule.variants));
        let (game, repeat) = (number / repeats, number % repeats);
        let (round, pair) = (game / pairs % rounds, game % pairs);
        let variant = game / (pairs * rounds) % variants;
        let leg = game / (pairs * rounds * variants);
        (number < self.len()).then(|| schedule.fixture(leg, variant, round, pair, repeat))
    }
}

/// One round as a stage.
struct SingleRound {
    schedule: RoundRobin,
    leg: u64,
    /// Round in its leg, from 0.
    number: u64,
}

impl Stage for SingleRound {
    fn name(&self) -> String {
        format!("round {}", self.leg * self.schedule.rounds() + self.number + 1)
    }

    fn len(&self) -> u64 {
        self.schedule.pairs() * self.schedule.repeats() * u64::from(self.schedule.variants)
    }

    fn fixture(&self, number: u64) -> Option<Fixture> {
        let (game, repeat) = (number / self.schedule.repeats(), number % self.schedule.repeats());
        let (variant, pair) = (game / self.schedule.pairs(), game % self.schedule.pairs());
        (number < self.len()).then(|| self.schedule.fixture(self.leg, variant, self.number, pair, repeat))
    }
}
