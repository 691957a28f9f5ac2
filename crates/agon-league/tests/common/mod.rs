//! Helpers for format tests: fields, random results, and a function that plays a schedule to its end.

#![allow(dead_code, reason = "each test file uses some of it")]
#![allow(clippy::expect_used, reason = "tests fail by panicking")]

use std::collections::HashMap;

use agon_core::random::FastRng;
use agon_league::format::{Fixture, MatchVerdict, PhaseField, PhaseHistory, PhaseSchedule, Stage};
use agon_league::{Entrant, FixedPoint};

/// Entrants 0, 3, 6 ..., so that an entrant is not confused with its index in the field.
pub fn field(n: u32) -> PhaseField {
    PhaseField::of((0..n).map(|i| Entrant(3 * i)).collect())
}

/// All fixtures of a stage. Checks that each is valid and that there is none past the end.
pub fn fixtures(stage: &dyn Stage, field: &PhaseField) -> Vec<Fixture> {
    let all: Vec<Fixture> =
        (0..stage.len()).map(|number| stage.fixture(number).expect("fixture within the stage")).collect();
    assert_eq!(stage.fixture(stage.len()), None);
    for fixture in &all {
        assert!(fixture.seats.iter().all(|entrant| field.entrants.contains(entrant)), "{fixture:?}");
        let mut seats = fixture.seats.clone();
        seats.sort_unstable();
        seats.dedup();
        assert_eq!(seats.len(), fixture.seats.len(), "an entrant plays against itself: {fixture:?}");
        assert!(fixture.variant < field.variants.max(1));
    }
    all
}

/// Meetings per pair, the smaller entrant first.
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

/// Matches per entrant and seat.
pub fn seats(all: &[Fixture]) -> HashMap<Entrant, Vec<u64>> {
    let mut seats: HashMap<Entrant, Vec<u64>> = HashMap::new();
    for fixture in all {
        for (seat, &entrant) in fixture.seats.iter().enumerate() {
            seats.entry(entrant).or_insert_with(|| vec![0; fixture.seats.len()])[seat] += 1;
        }
    }
    seats
}

/// 3 points for a win, 1 for a draw; a random tie-break that is often equal.
pub fn draw_result(fixture: &Fixture, draws: u32, rng: &mut FastRng) -> MatchVerdict {
    let (points, second) = match rng.below(100) {
        n if n < draws => ([1, 1], [5, 5]),
        n if n % 2 == 0 => ([3, 0], [7, i64::from(rng.below(7))]),
        _ => ([0, 3], [i64::from(rng.below(7)), 7]),
    };
    let fixed = |all: [i64; 2]| all.into_iter().map(FixedPoint::from_int).collect();
    MatchVerdict { seats: fixture.seats.clone(), points: fixed(points), tie_break: fixed(second) }
}

/// A played phase.
pub struct PlayedPhase {
    pub names: Vec<String>,
    pub stages: Vec<Vec<MatchVerdict>>,
    pub fixtures: Vec<Vec<Fixture>>,
}

impl PlayedPhase {
    pub fn past(&self) -> PhaseHistory<'_> {
        PhaseHistory { stages: &self.stages, ..PhaseHistory::default() }
    }

    pub fn matches(&self) -> u64 {
        self.stages.iter().map(|stage| stage.len() as u64).sum()
    }
}

/// Plays a schedule to its end. Requests each stage twice, the second time with more history: it must be the same.
pub fn play(
    schedule: &dyn PhaseSchedule,
    field: &PhaseField,
    mut result: impl FnMut(&Fixture) -> MatchVerdict,
) -> PlayedPhase {
    let mut played = PlayedPhase { names: Vec::new(), stages: Vec::new(), fixtures: Vec::new() };
    while let Some(stage) = schedule.stage(played.stages.len() as u32, &played.past()) {
        let all = fixtures(&*stage, field);
        assert!(!all.is_empty(), "a stage without fixtures: {}", stage.name());
        played.names.push(stage.name());
        played.stages.push(all.iter().map(&mut result).collect());
        played.fixtures.push(all);
        assert!(played.stages.len() < 10_000, "the schedule never ends");
    }
    for (number, all) in played.fixtures.iter().enumerate() {
        let again = schedule.stage(number as u32, &played.past()).expect("stage requested again");
        assert_eq!(&fixtures(&*again, field), all, "stage {number} changed");
    }
    played
}
