//! Swiss systems with 2 to 200 entrants.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

mod common;

use std::collections::HashMap;

use agon_core::random::FastRng;
use agon_league::format::{Format, PhaseField, PhaseHistory};
use agon_league::{Entrant, FixedPoint};
use common::{PlayedPhase, draw_result, field, meetings, play};
use proptest::prelude::*;

fn swiss(n: u32, rounds: u32, swap: bool, draws: u32, seed: u64) -> (PhaseField, PlayedPhase) {
    let field = field(n);
    let schedule = Format::Swiss { rounds, swap }.schedule(&field, seed).unwrap();
    let mut rng = FastRng::new(seed);
    let played = play(&*schedule, &field, |fixture| draw_result(fixture, draws, &mut rng));
    assert_eq!(played.stages.len() as u32, rounds);
    assert_eq!(schedule.expected_matches(), (played.matches(), played.matches()));
    let byes = schedule.byes(&played.past());
    assert_eq!(byes.len() as u32, if n % 2 == 1 { rounds } else { 0 });
    assert!(schedule.balance(&played.past()).complete);
    assert!(schedule.placing(&played.past()).is_none(), "the table ranks");
    (field, played)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn swiss_has_no_rematches_and_shares_byes(n in 2u32..=200, swap: bool, draws in 0u32..=100, seed: u64) {
        // With at most half as many rounds as entrants, each has met fewer than half of the others, so a round without rematches exists.
        let rounds = (n / 2).clamp(1, 9);
        let (field, played) = swiss(n, rounds, swap, draws, seed);
        let mut byes: HashMap<Entrant, u32> = HashMap::new();
        for round in &played.fixtures {
            let mut seen: Vec<Entrant> = round.iter().step_by(1 + usize::from(swap)).flat_map(|fixture| fixture.seats.clone()).collect();
            seen.sort_unstable();
            let all = seen.len();
            seen.dedup();
            prop_assert_eq!(seen.len(), all, "an entrant plays twice in one round");
            for &entrant in field.entrants.iter().filter(|entrant| seen.binary_search(entrant).is_err()) {
                *byes.entry(entrant).or_default() += 1;
            }
        }
        prop_assert!(byes.values().all(|&n| n == 1), "{:?}", byes);
        let met = meetings(played.fixtures.iter().flatten());
        prop_assert!(met.values().all(|&n| n == 1 + u64::from(swap)), "a rematch");
        let seats = common::seats(&played.fixtures.concat());
        for (entrant, seats) in seats {
            prop_assert!(seats[0].abs_diff(seats[1]) <= if swap { 0 } else { 2 }, "{entrant:?}: {seats:?}");
        }
    }
}

/// Points per entrant before a round: 3/1/0; a bye counts as the best result of its round.
fn points(field: &PhaseField, played: &PlayedPhase, rounds: usize) -> HashMap<Entrant, i64> {
    let mut points: HashMap<Entrant, i64> = field.entrants.iter().map(|&entrant| (entrant, 0)).collect();
    for round in &played.stages[..rounds] {
        let best = round.iter().flat_map(|verdict| verdict.points.iter()).max().copied().unwrap_or_default();
        for &entrant in &field.entrants {
            let got = round.iter().find_map(|verdict| {
                let seat = verdict.seats.iter().position(|&other| other == entrant)?;
                Some(verdict.points[seat])
            });
            *points.entry(entrant).or_default() += got.unwrap_or(best).0 / FixedPoint::ONE;
        }
    }
    points
}

#[test]
fn entrants_with_equal_points_meet() {
    // With an odd number of equals, exactly one meets an entrant of the group below.
    let (field, played) = swiss(64, 6, false, 0, 11);
    for round in 0..6 {
        let points = points(&field, &played, round);
        for fixture in &played.fixtures[round] {
            assert_eq!(
                points[&fixture.seats[0]],
                points[&fixture.seats[1]],
                "round {}: {fixture:?}",
                round + 1
            );
        }
    }
    let (field, played) = swiss(101, 7, false, 20, 12);
    for round in 1..7 {
        let points = points(&field, &played, round);
        let mut values: Vec<i64> = points.values().copied().collect();
        values.sort_unstable();
        values.dedup();
        let group = |entrant: &Entrant| values.binary_search(&points[entrant]).unwrap();
        let gaps: usize = played.fixtures[round]
            .iter()
            .map(|fixture| group(&fixture.seats[0]).abs_diff(group(&fixture.seats[1])))
            .sum();
        assert!(gaps <= 2 * values.len(), "round {}: {gaps} over {} groups", round + 1, values.len());
    }
}

#[test]
fn bye_goes_to_the_lowest_entrant() {
    let (field, played) = swiss(31, 5, false, 10, 3);
    let mut had: Vec<Entrant> = Vec::new();
    for round in 0..5 {
        let points = points(&field, &played, round);
        let plays =
            |entrant: &Entrant| played.fixtures[round].iter().any(|fixture| fixture.seats.contains(entrant));
        let bye = field.entrants.iter().copied().find(|entrant| !plays(entrant)).unwrap();
        let lowest = field
            .entrants
            .iter()
            .filter(|entrant| !had.contains(entrant))
            .map(|entrant| points[entrant])
            .min()
            .unwrap();
        assert_eq!(points[&bye], lowest, "round {}", round + 1);
        had.push(bye);
    }
    assert_eq!(had[0], Entrant(90), "the last seed in the first round");
}

#[test]
fn swiss_with_as_many_rounds_as_opponents_is_nearly_a_round_robin() {
    for n in [4, 6, 7, 8] {
        let (_, played) = swiss(n, n - 1 + n % 2, false, 30, 5);
        let met = meetings(played.fixtures.iter().flatten());
        // Pairing round by round can run out of new opponents; then rematches are minimal.
        assert!(met.len() as u32 * 10 >= n * (n - 1) / 2 * 7, "{n}: {met:?}");
        assert!(met.values().all(|&n| n <= 3), "{n}: {met:?}");
    }
    // It continues after all pairs have met.
    let (_, played) = swiss(3, 9, false, 0, 1);
    assert_eq!(meetings(played.fixtures.iter().flatten()).values().sum::<u64>(), 9);
}

#[test]
fn swiss_round_needs_the_earlier_rounds() {
    let schedule = Format::Swiss { rounds: 3, swap: false }.schedule(&field(8), 0).unwrap();
    assert!(schedule.depends_on_results());
    assert!(schedule.stage(1, &PhaseHistory::default()).is_none());
    assert!(schedule.stage(3, &PhaseHistory::default()).is_none());
    let first = schedule.stage(0, &PhaseHistory::default()).unwrap();
    assert_eq!((first.name().as_str(), first.len()), ("round 1", 4));
}

#[test]
fn swiss_with_two_hundred_entrants_is_scheduled() {
    let (_, played) = swiss(200, 20, true, 10, 8);
    assert_eq!(played.matches(), 200 * 20);
}
