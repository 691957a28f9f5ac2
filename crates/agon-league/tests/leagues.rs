//! Round robins, crosses, arenas, gauntlets, `stop = "settled"`, and format errors.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

mod common;

use std::collections::HashMap;

use agon_core::Settings;
use agon_league::Entrant;
use agon_league::config::{PhaseConfig, StopRule};
use agon_league::format::{Fixture, Format, FormatError, PhaseField, PhaseHistory, PhaseSchedule, TieRule};
use common::{field, fixtures, meetings, seats};

fn all(schedule: &dyn PhaseSchedule, field: &PhaseField) -> Vec<Fixture> {
    let stages = (0..).map_while(|number| schedule.stage(number, &PhaseHistory::default()));
    stages.flat_map(|stage| fixtures(&*stage, field)).collect()
}

/// Compares the schedule's balance report with counted fixtures.
fn check_report(schedule: &dyn PhaseSchedule, field: &PhaseField) {
    let all = all(schedule, field);
    let report = schedule.balance(&PhaseHistory::default());
    assert!(report.complete);
    assert_eq!(report.matches, all.len() as u64);
    assert_eq!(schedule.expected_matches(), (report.matches, report.matches));
    let seats = seats(&all);
    let played: Vec<u64> = seats.values().map(|seats| seats.iter().sum()).collect();
    assert_eq!(
        (report.played.least, report.played.most),
        (*played.iter().min().unwrap(), *played.iter().max().unwrap())
    );
    let met = meetings(&all);
    let range = report.meetings.unwrap();
    assert_eq!((range.least, range.most), (*met.values().min().unwrap(), *met.values().max().unwrap()));
    let firsts: Vec<u64> = seats.values().map(|seats| seats[0]).collect();
    assert_eq!(
        (report.first.least, report.first.most),
        (*firsts.iter().min().unwrap(), *firsts.iter().max().unwrap())
    );
    if report.seats.is_some() {
        let differ =
            seats.values().map(|seats| seats.iter().max().unwrap() - seats.iter().min().unwrap()).max();
        assert_eq!(Some(report.seat_difference), differ);
    }
}

#[test]
fn round_robin_meets_each_pair_equally_often() {
    for n in 2..=41 {
        for (legs, swap, variants) in
            [(1, false, 1), (2, false, 1), (3, true, 2), (1, true, 3), (3, false, 2)]
        {
            for rounds_in_order in [false, true] {
                let field = PhaseField { variants, rounds_in_order, ..field(n) };
                let schedule = Format::RoundRobin { legs, swap }.schedule(&field, 4).unwrap();
                let all = all(&*schedule, &field);
                let times = u64::from(legs * variants) * (1 + u64::from(swap));
                let met = meetings(&all);
                assert_eq!(met.len() as u32, n * (n - 1) / 2);
                assert!(met.values().all(|&n| n == times), "{n} {legs} {swap}");
                assert_eq!(schedule.matches_each(), Some(u64::from(n - 1) * times));
                for seats in seats(&all).values() {
                    let even = swap || (u64::from(legs * variants) * u64::from(n - 1)).is_multiple_of(2);
                    assert!(
                        seats[0].abs_diff(seats[1]) <= u64::from(!even),
                        "{n} entrants, {legs} legs: {seats:?}"
                    );
                }
                if n < 12 {
                    check_report(&*schedule, &field);
                }
            }
        }
    }
}

#[test]
fn rounds_in_order_are_stages_with_each_entrant_once() {
    for n in [2, 5, 10, 11] {
        let field = PhaseField { rounds_in_order: true, ..field(n) };
        let schedule = Format::RoundRobin { legs: 2, swap: false }.schedule(&field, 4).unwrap();
        let rounds = 2 * if n % 2 == 0 { n - 1 } else { n };
        assert_eq!(schedule.stages(), Some(rounds));
        let mut seed_indexes = Vec::new();
        for number in 0..rounds {
            let stage = schedule.stage(number, &PhaseHistory::default()).unwrap();
            assert_eq!(stage.name(), format!("round {}", number + 1));
            let round = fixtures(&*stage, &field);
            assert_eq!(round.len() as u32, n / 2);
            assert_eq!(seats(&round).len() as u32, n / 2 * 2);
            seed_indexes.extend(round.iter().map(|fixture| fixture.seed_index));
        }
        assert!(schedule.stage(rounds, &PhaseHistory::default()).is_none());
        seed_indexes.sort_unstable();
        assert_eq!(
            seed_indexes,
            (0..u64::from(rounds * (n / 2))).collect::<Vec<_>>(),
            "home and away have different seeds"
        );
    }
}

#[test]
fn two_games_with_swapped_seats_share_a_seed() {
    let field = PhaseField { variants: 4, ..field(6) };
    let schedule = Format::RoundRobin { legs: 1, swap: true }.schedule(&field, 4).unwrap();
    let mut seed_indexes: HashMap<u64, Vec<Fixture>> = HashMap::new();
    for fixture in all(&*schedule, &field) {
        seed_indexes.entry(fixture.seed_index).or_default().push(fixture);
    }
    assert_eq!(seed_indexes.len(), 15 * 4);
    for two in seed_indexes.values() {
        assert_eq!(two.len(), 2);
        assert_eq!(two[0].variant, two[1].variant);
        assert_eq!(two[0].seats, two[1].seats.iter().rev().copied().collect::<Vec<_>>());
    }
}

#[test]
fn cross_plays_the_same_seeds_for_all_pairs() {
    for (seekers, hiders) in [(1, 1), (3, 5), (6, 4), (4, 4), (1, 7)] {
        let roles = (0..seekers + hiders).map(|i| u8::from(i >= seekers)).collect();
        let field = PhaseField { roles, ..field(seekers + hiders) };
        let schedule = Format::Cross { boards: 10 }.schedule(&field, 0).unwrap();
        let all = all(&*schedule, &field);
        let mut seen: HashMap<(Entrant, Entrant), Vec<u64>> = HashMap::new();
        for fixture in &all {
            assert!(fixture.seats[0].0 < 3 * seekers && fixture.seats[1].0 >= 3 * seekers, "{fixture:?}");
            seen.entry((fixture.seats[0], fixture.seats[1])).or_default().push(fixture.seed_index);
        }
        assert_eq!(seen.len() as u32, seekers * hiders);
        assert!(seen.values().all(|seed_indexes| *seed_indexes == (0..10).collect::<Vec<_>>()));
        check_report(&*schedule, &field);
    }
}

#[test]
fn arena_rotates_seats() {
    for (n, games) in [(2, 7), (5, 3), (20, 1000), (7, 50)] {
        let field = PhaseField { variants: 3, ..field(n) };
        let schedule = Format::Arena { games }.schedule(&field, 6).unwrap();
        let all = all(&*schedule, &field);
        assert_eq!(all.len() as u64, games);
        for seats in seats(&all).values() {
            assert_eq!(seats.iter().sum::<u64>(), games);
            assert!(seats.iter().max().unwrap() - seats.iter().min().unwrap() <= 1, "{seats:?}");
        }
        check_report(&*schedule, &field);
    }
}

#[test]
fn gauntlet_plays_challengers_against_all_others() {
    for swap in [false, true] {
        let field = PhaseField { variants: 2, ..field(9) };
        let challengers = vec![Entrant(6), Entrant(0)];
        let schedule = Format::Gauntlet { challengers: challengers.clone(), games: 5, swap }
            .schedule(&field, 0)
            .unwrap();
        let all = all(&*schedule, &field);
        assert_eq!(all.len(), 2 * 7 * 5 * 2 * if swap { 2 } else { 1 });
        assert!(
            all.iter().all(|fixture| fixture
                .seats
                .iter()
                .filter(|entrant| challengers.contains(entrant))
                .count()
                == 1)
        );
        for seats in seats(&all).values() {
            assert!(seats[0].abs_diff(seats[1]) <= 1, "{seats:?}");
        }
        check_report(&*schedule, &field);
    }
}

fn phase(format: Format, most: u32) -> PhaseConfig {
    let settings = Settings::defaults(&[]);
    PhaseConfig {
        name: "phase".into(),
        format,
        stop: StopRule::Settled { most },
        parts: Vec::new(),
        variants: Vec::new(),
        settings,
        resubmit: false,
        hidden: None,
        deadline: None,
        freeze: false,
    }
}

#[test]
fn open_entrants_play_extra_stages() {
    let field = field(12);
    let schedule = phase(Format::Groups { size: 4, matches: 20 }, 3).schedule(&field, 1).unwrap();
    let base = fixtures(&*schedule.stage(0, &PhaseHistory::default()).unwrap(), &field);
    assert!(schedule.stage(1, &PhaseHistory::default()).is_none(), "no entrant is open");
    // Two are open; their table neighbours fill the group of four.
    let order: Vec<Entrant> = field.entrants.iter().rev().copied().collect();
    let open = [order[3], order[4]];
    let past = PhaseHistory { open: &open, order: &order, ..PhaseHistory::default() };
    let stage = schedule.stage(1, &past).unwrap();
    let more = fixtures(&*stage, &field);
    assert_eq!(stage.name(), "still open, part 1");
    let mut who: Vec<Entrant> = seats(&more).into_keys().collect();
    who.sort_unstable_by_key(|entrant| std::cmp::Reverse(*entrant));
    assert_eq!(who, order[2..6]);
    assert!(more.iter().all(|fixture| base.iter().all(|old| old.seed_index != fixture.seed_index)));
    // All stay open: at most three times the requested matches.
    let all_open = PhaseHistory { open: &field.entrants, order: &order, ..PhaseHistory::default() };
    let mut matches: HashMap<Entrant, u64> = HashMap::new();
    let mut seed_indexes = Vec::new();
    let mut number = 0;
    while let Some(stage) = schedule.stage(number, &all_open) {
        for fixture in fixtures(&*stage, &field) {
            seed_indexes.push(fixture.seed_index);
            fixture.seats.iter().for_each(|&entrant| *matches.entry(entrant).or_default() += 1);
        }
        number += 1;
    }
    assert!(matches.values().all(|&n| n > 50 && n <= 60), "{matches:?}");
    let total = seed_indexes.len();
    assert_eq!(schedule.expected_matches(), (base.len() as u64, total as u64));
    seed_indexes.sort_unstable();
    seed_indexes.dedup();
    assert_eq!(seed_indexes.len(), total, "each match has its own seed");
}

#[test]
fn other_formats_play_extra_stages_or_refuse() {
    let field = PhaseField { roles: vec![0, 0, 0, 1, 1], ..field(5) };
    let open = [Entrant(0), Entrant(3)];
    let past = PhaseHistory { open: &open, ..PhaseHistory::default() };
    let schedule = phase(Format::RoundRobin { legs: 2, swap: true }, 2).schedule(&field, 1).unwrap();
    let more = fixtures(&*schedule.stage(1, &past).unwrap(), &field);
    assert_eq!(
        meetings(&more),
        HashMap::from([((open[0], open[1]), 16)]),
        "as many as the others played against all"
    );
    assert!(schedule.stage(2, &past).is_none());
    let schedule = phase(Format::Cross { boards: 8 }, 2).schedule(&field, 1).unwrap();
    let more = fixtures(&*schedule.stage(1, &past).unwrap(), &field);
    assert_eq!(more.len(), 6 * 2, "all pairs, on two more seeds");
    assert!(more.iter().all(|fixture| [8, 9].contains(&fixture.seed_index)));
    let schedule = phase(Format::Arena { games: 10 }, 2).schedule(&field, 1).unwrap();
    assert_eq!(schedule.stage(1, &past).unwrap().len(), 3);
    assert!(schedule.stage(4, &past).is_none(), "three stages of three games are the limit");
    for format in [
        Format::Swiss { rounds: 3, swap: false },
        Format::Knockout(TieRule { top: None, pairs: 1, extra: 0, third: false }),
    ] {
        let error = phase(format, 2).schedule(&field, 1).err().unwrap();
        assert!(matches!(error, FormatError::CannotExtend { .. }), "{error}");
    }
}

#[test]
fn invalid_formats_give_an_error_and_a_hint() {
    let ties = TieRule { top: None, pairs: 1, extra: 3, third: false };
    let roles = |roles: &[u8]| PhaseField { roles: roles.to_vec(), ..field(roles.len() as u32) };
    let gauntlet = |challengers: &[u32]| Format::Gauntlet {
        challengers: challengers.iter().map(|&i| Entrant(i)).collect(),
        games: 1,
        swap: false,
    };
    let cases = [
        (Format::Groups { size: 4, matches: 10 }, field(3), "groups of 4 cannot be made of 3 entrants"),
        (Format::Groups { size: 1, matches: 10 }, field(3), "a group of 1 has no opponents"),
        (Format::Groups { size: 4, matches: 0 }, field(8), "`matches` is 0: no match would be played"),
        (Format::Groups { size: 4, matches: 1 << 30 }, field(8), "more than 524288 matches"),
        (Format::Arena { games: 5 }, field(1), "the format needs at least 2 entrants, there is 1"),
        (Format::RoundRobin { legs: 0, swap: true }, field(3), "`legs` is 0: no match would be played"),
        (Format::RoundRobin { legs: u32::MAX, swap: true }, field(300), "more than 1099511627776 matches"),
        (Format::Cross { boards: 3 }, field(4), "0 of 4 entrants have a role"),
        (Format::Cross { boards: 3 }, roles(&[0, 0]), "no entrant plays the second role"),
        (Format::Cross { boards: 3 }, roles(&[1, 1]), "no entrant plays the first role"),
        (
            Format::Cross { boards: 3 },
            roles(&[0, 1, 2]),
            "entrant 7 has role 2; a cross has only roles 0 and 1",
        ),
        (Format::Swiss { rounds: 0, swap: true }, field(3), "`rounds` is 0: no match would be played"),
        (
            Format::Knockout(TieRule { top: Some(1), ..ties }),
            field(9),
            "the format needs at least 2 entrants, there is 1",
        ),
        (
            Format::DoubleElimination(TieRule { pairs: 0, ..ties }),
            field(9),
            "`pairs` is 0: no match would be played",
        ),
        (Format::Knockout(ties), field(0), "the format needs at least 2 entrants, there are none"),
        (gauntlet(&[]), field(3), "0 of 3 entrants are challengers"),
        (gauntlet(&[0, 3, 6]), field(3), "3 of 3 entrants are challengers"),
        (gauntlet(&[1]), field(3), "challenger 2 is not an entrant of this phase"),
        (
            Format::Arena { games: 5 },
            PhaseField::of(vec![Entrant(4), Entrant(4)]),
            "entrant 5 is listed twice",
        ),
    ];
    for (format, field, message) in cases {
        let error = format.schedule(&field, 0).err().unwrap_or_else(|| panic!("{format:?} was scheduled"));
        assert_eq!(error.to_string(), message, "{format:?}");
        assert!(error.hint().len() > 10);
    }
}

#[test]
fn balance_report_is_described_and_serialised() {
    let schedule = Format::Groups { size: 4, matches: 100 }.schedule(&field(60), 3).unwrap();
    let report = schedule.balance(&PhaseHistory::default());
    let text = report.describe(&|entrant| format!("bot {}", entrant.0)).join("\n");
    let start = "60 entrants, 1500 matches\nmatches of each     100\nmeetings of a pair  5 to 6; mean 5.08, at most 0.92 off; least: bot ";
    assert!(text.starts_with(start), "{text}");
    assert!(
        text.ends_with("on each seat        25; each entrant on all equally often\non the first seat   25"),
        "{text}"
    );
    let read: agon_league::format::BalanceReport =
        serde_json::from_str(&serde_json::to_string(&report).unwrap()).unwrap();
    assert_eq!(read, report);
}

/// A competition resumed with a newer version must get the same fixtures.
#[test]
fn schedules_stay_the_same_between_versions() {
    let digest = |format: Format| {
        let field = PhaseField { variants: 2, ..field(22) };
        let schedule = format.schedule(&field, 7).unwrap();
        let words = all(&*schedule, &field).into_iter().flat_map(|fixture| {
            let seats = fixture.seats.into_iter().map(|entrant| u64::from(entrant.0));
            seats.chain([fixture.seed_index, u64::from(fixture.variant)])
        });
        words.fold(0u64, |digest, word| (digest ^ word).wrapping_mul(0x0000_0100_0000_01B3).rotate_left(17))
    };
    let digests = [
        digest(Format::Groups { size: 4, matches: 100 }),
        digest(Format::Groups { size: 5, matches: 20 }),
        digest(Format::Arena { games: 50 }),
        digest(Format::RoundRobin { legs: 2, swap: true }),
        digest(Format::Gauntlet { challengers: vec![Entrant(3)], games: 3, swap: true }),
    ];
    assert_eq!(digests, DIGESTS);
}

const DIGESTS: [u64; 5] = [
    7_513_443_495_391_274_268,
    9_197_517_045_903_492_815,
    2_509_076_165_386_177_559,
    16_337_331_943_044_831_106,
    6_561_313_629_357_249_569,
];
