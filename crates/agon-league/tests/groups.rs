//! Balanced groups, for all supported numbers of entrants.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

mod common;

use agon_league::Entrant;
use agon_league::format::balance::CountRange;
use agon_league::format::{Format, PhaseField, PhaseHistory};
use common::{field, fixtures, meetings, seats};
use proptest::prelude::*;

/// Counts matches, meetings and seats fixture by fixture and compares them with the schedule's report. Returns matches per entrant and
/// the spread of meetings.
fn check(n: u32, size: u32, matches: u64, seed: u64) -> (u64, u64) {
    let field = field(n);
    let schedule = Format::Groups { size, matches }.schedule(&field, seed).unwrap();
    let stage = schedule.stage(0, &PhaseHistory::default()).unwrap();
    let all = fixtures(&*stage, &field);
    let what = format!("{n} entrants in groups of {size}, {matches} matches, seed {seed}");
    assert!(schedule.stage(1, &PhaseHistory::default()).is_none());
    assert_eq!(schedule.expected_matches(), (all.len() as u64, all.len() as u64));
    assert!(all.iter().all(|fixture| fixture.seats.len() == size as usize), "{what}");

    let seats = seats(&all);
    assert_eq!(seats.len(), n as usize, "{what}: an entrant does not play");
    let each = schedule.matches_each().unwrap();
    assert!(each >= matches, "{what}: {each}");
    let mut seat_spread = 0;
    for (entrant, seats) in &seats {
        assert_eq!(seats.iter().sum::<u64>(), each, "{what}: {entrant:?}");
        seat_spread = seat_spread.max(seats.iter().max().unwrap() - seats.iter().min().unwrap());
    }
    assert!(seat_spread <= 1, "{what}: seats differ by {seat_spread}");

    let met = meetings(&all);
    let least = if met.len() as u32 == n * (n - 1) / 2 { *met.values().min().unwrap() } else { 0 };
    let spread = met.values().max().unwrap() - least;
    let report = schedule.balance(&PhaseHistory::default());
    assert_eq!(report.meetings.map(CountRange::spread), Some(spread), "{what}");
    assert_eq!(report.seat_difference, seat_spread, "{what}");
    assert_eq!((report.played.least, report.played.most, report.matches), (each, each, all.len() as u64));
    for pair in [report.least_met.unwrap(), report.most_met.unwrap()] {
        let [a, b] = pair.entrants;
        assert_eq!(met.get(&(a.min(b), a.max(b))).copied().unwrap_or_default(), pair.meetings, "{what}");
    }
    (each, spread)
}

#[test]
fn groups_of_four_meet_evenly_within_one() {
    for n in 4..=60 {
        for matches in [1, 2, 4, 6, 8, 12, 16, 20, 25, 40, 60, 100] {
            let (each, spread) = check(n, 4, matches, u64::from(n));
            assert!(spread <= 1, "{n} entrants, {matches} matches: meetings differ by {spread}");
            let most = matches.next_multiple_of(4);
            assert!(each <= most || 2 * each <= 3 * most, "{n} entrants, {matches} matches: {each} played");
            if n == 4 {
                assert_eq!(each, matches);
            }
        }
        // Solitude's number of matches is played exactly.
        assert_eq!(check(n, 4, 100, 1).0, 100);
    }
}

#[test]
fn groups_of_other_sizes_meet_evenly_within_two() {
    for (size, most) in [(2, 1), (3, 2), (5, 2), (10, 2)] {
        for n in (size..=60).step_by(if size < 5 { 1 } else { 5 }) {
            for matches in [u64::from(size), 30, 60] {
                let (each, spread) = check(n, size, matches, 3);
                assert!(spread <= most, "{n} in groups of {size}, {matches}: meetings differ by {spread}");
                assert!(2 * each <= 3 * matches.next_multiple_of(u64::from(size)));
            }
        }
    }
}

#[test]
fn groups_of_twenty_meet_evenly_within_three() {
    for n in [20, 21, 25, 30, 40] {
        let (_, spread) = check(n, 20, 100, 5);
        assert!(spread <= 2, "{n}: {spread}");
    }
    for n in [47, 60] {
        let (_, spread) = check(n, 20, 100, 5);
        assert!(spread <= 3, "{n}: {spread}");
    }
}

#[test]
fn groups_stopped_halfway_are_balanced() {
    let field = field(30);
    let schedule = Format::Groups { size: 4, matches: 100 }.schedule(&field, 9).unwrap();
    let stage = schedule.stage(0, &PhaseHistory::default()).unwrap();
    let all = fixtures(&*stage, &field);
    // 360 of 750 matches are twelve blocks: 48 matches per entrant, on average 5 meetings per pair.
    let half = seats(&all[..360]);
    assert!(half.values().all(|seats| seats.iter().all(|&n| n == 12)));
    let met = meetings(&all[..360]);
    assert!(met.len() == 435 && met.values().all(|&n| (1..=10).contains(&n)), "{met:?}");
    let idle = all
        .windows(2)
        .filter(|two| two[0].seats.iter().all(|entrant| !two[1].seats.contains(entrant)))
        .count();
    assert!(idle * 10 >= all.len() * 9, "only {idle} of {} consecutive matches share no bot", all.len());
}

#[test]
fn variants_are_balanced_over_entrants() {
    let field = PhaseField { variants: 5, ..field(12) };
    let schedule = Format::Groups { size: 4, matches: 40 }.schedule(&field, 9).unwrap();
    let all = fixtures(&*schedule.stage(0, &PhaseHistory::default()).unwrap(), &field);
    for variant in 0..5 {
        let of_it: Vec<_> = all.iter().filter(|fixture| fixture.variant == variant).cloned().collect();
        assert!(seats(&of_it).values().all(|seats| seats.iter().sum::<u64>() == 8));
    }
    let mut seed_indexes: Vec<u64> = all.iter().map(|fixture| fixture.seed_index).collect();
    seed_indexes.dedup();
    assert_eq!(seed_indexes.len(), all.len(), "each match has its own seed");
}

#[test]
fn schedule_of_two_million_fixtures_is_computed_on_demand() {
    let field = field(2000);
    for format in [Format::Groups { size: 4, matches: 4000 }, Format::RoundRobin { legs: 1, swap: false }] {
        let schedule = format.schedule(&field, 1).unwrap();
        let stage = schedule.stage(0, &PhaseHistory::default()).unwrap();
        assert!(stage.len() >= 1_999_000);
        let last = stage.len() - 1;
        assert_ne!(stage.fixture(0).unwrap().seats, stage.fixture(last).unwrap().seats);
        assert_eq!(stage.fixture(last).unwrap(), stage.fixture(last).unwrap());
        assert_eq!(stage.fixture(last + 1), None);
        let report = schedule.balance(&PhaseHistory::default());
        assert_eq!(report.matches, stage.len());
        assert!(report.meetings.unwrap().spread() <= 2, "{report:?}");
        assert!(report.seat_difference <= 1, "{report:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_number_of_matches_in_fours_meets_evenly_within_one(n in 4u32..=60, matches in 1u64..=120, seed: u64) {
        let (each, spread) = check(n, 4, matches, seed);
        prop_assert!(spread <= 1, "{n} entrants, {matches} matches, seed {seed}: {spread} with {each}");
    }

    #[test]
    fn fixtures_depend_only_on_the_seed(n in 5u32..=40, seed: u64) {
        let field = field(n);
        let draw = |seed| {
            let schedule = Format::Groups { size: 4, matches: 20 }.schedule(&field, seed).unwrap();
            fixtures(&*schedule.stage(0, &PhaseHistory::default()).unwrap(), &field)
        };
        prop_assert_eq!(draw(seed), draw(seed));
        prop_assert_ne!(draw(seed), draw(seed.wrapping_add(1)));
    }
}

#[test]
fn entrant_numbers_may_have_gaps() {
    let field = PhaseField::of([9, 2, 40, 7, 100].map(Entrant).to_vec());
    let schedule = Format::Groups { size: 4, matches: 4 }.schedule(&field, 0).unwrap();
    assert_eq!(seats(&fixtures(&*schedule.stage(0, &PhaseHistory::default()).unwrap(), &field)).len(), 5);
}
