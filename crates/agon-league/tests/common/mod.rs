//! What tests of formats share: fields, results drawn by a seed, and a runner that plays a plan to its end.

#![allow(dead_code, reason = "each test file uses some of it")]
#![allow(clippy::expect_used, reason = "tests fail by panicking")]

use std::collections::HashMap;

use agon_core::random::QuickRng;
use agon_league::format::{PhaseField, Fixture, PhaseHistory, PhaseSchedule, Stage, MatchVerdict};
use agon_league::{Entrant, FixedPoint};

/// Entrants 0, 3, 6 ...: so that nobody takes an entrant for its place in the field.
pub fn field(n: u32) -> PhaseField {
    PhaseField::of((0..n).map(|i| Entrant(3 * i)).collect())
}

/// All fixtures of a stage; each of them is valid, and there is none past the end.
pub fn fixtures(stage: &dyn Stage, field: &PhaseField) -> Vec<Fixture> {
    let all: Vec<Fixture> =
        (0..stage.len()).map(|number| stage.fixture(number).expect("within the stage")).collect();
    assert_eq!(stage.fixture(stage.len()), None);
    for fixture in &all {
        assert!(fixture.seats.iter().all(|entrant| field.entrants.contains(entrant)), "{fixture:?}");
        let mut seats = fixture.seats.clone();
        seats.sort_unstable();
        seats.dedup();
        assert_eq!(seats.len(), fixture.seats.len(), "somebody plays against itself: {fixture:?}");
        assert!(fixture.variant < field.variants.max(1));
    }
    all
}

/// How often each pair meets, the smaller first.
pub fn meetings<'f>(all: impl IntoIterator<Item = &'f Fixture>) -> HashMap<(Entrant, Entrant), u64> {
    let mut meetings = HashMap::new();
    for fixture in all {
        for (i, &a) in fixture.seats.iter().enumerate() {
            for &b in &fixture.seats[..i] {
                *meetings.entry((a.min(b), a.max(b))).or_default() += 1;
            }
        }
    }
    meetings
}

/// How often each entrant sits on each seat.
pub fn seats(all: &[Fixture]) -> HashMap<Entrant, Vec<u64>> {
    let mut seats: HashMap<Entrant, Vec<u64>> = HashMap::new();
    for fixture in all {
        for (seat, &entrant) in fixture.seats.iter().enumerate() {
            seats.entry(entrant).or_insert_with(|| vec![0; fixture.seats.len()])[seat] += 1;
        }
    }
    seats
}

/// 3 for a win, 1 for a draw; what is second is drawn too, and often equal.
pub fn draw_result(fixture: &Fixture, draws: u32, rng: &mut QuickRng) -> MatchVerdict {
    let (points, second) = match rng.below(100) {
        n if n < draws => ([1, 1], [5, 5]),
        n if n % 2 == 0 => ([3, 0], [7, i64::from(rng.below(7))]),
        _ => ([0, 3], [i64::from(rng.below(7)), 7]),
    };
    let fixed = |all: [i64; 2]| all.into_iter().map(FixedPoint::whole).collect();
    MatchVerdict { seats: fixture.seats.clone(), points: fixed(points), second: fixed(second) }
}

/// A phase that was played.
pub struct Played {
    pub names: Vec<String>,
    pub stages: Vec<Vec<MatchVerdict>>,
    pub fixtures: Vec<Vec<Fixture>>,
}

impl Played {
    pub fn past(&self) -> PhaseHistory<'_> {
        PhaseHistory { stages: &self.stages, ..PhaseHistory::default() }
    }

    pub fn matches(&self) -> u64 {
        self.stages.iter().map(|stage| stage.len() as u64).sum()
    }
}

/// Plays a plan to its end. Each stage is asked for twice, with more past the second time: it must be the same.
pub fn play(plan: &dyn PhaseSchedule, field: &PhaseField, mut result: impl FnMut(&Fixture) -> MatchVerdict) -> Played {
    let mut played = Played { names: Vec::new(), stages: Vec::new(), fixtures: Vec::new() };
    while let Some(stage) = plan.stage(played.stages.len() as u32, &played.past()) {
        let all = fixtures(&*stage, field);
        assert!(!all.is_empty(), "a stage without fixtures: {}", stage.name());
        played.names.push(stage.name());
        played.stages.push(all.iter().map(&mut result).collect());
        played.fixtures.push(all);
        assert!(played.stages.len() < 10_000, "it never ends");
    }
    for (number, all) in played.fixtures.iter().enumerate() {
        let again = plan.stage(number as u32, &played.past()).expect("it was there");
        assert_eq!(&fixtures(&*again, field), all, "stage {number} is another one the second time");
    }
    played
}
