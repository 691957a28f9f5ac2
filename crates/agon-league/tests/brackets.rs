//! Knockout and double elimination over 2 to 200 entrants, and ties as the rules decide them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

mod common;

use std::collections::HashMap;

use agon_core::random::QuickRng;
use agon_league::format::{Fixture, Format, PhaseHistory, PhaseSchedule, TieRule, MatchVerdict};
use agon_league::{Entrant, FixedPoint};
use common::{Played, draw_result, field, play};
use proptest::prelude::*;

const RULE: TieRule = TieRule { top: None, pairs: 1, extra: 3, third: false };

/// Who lost how many ties, told from the fixtures and results alone: by points, then second, then seeding. A tie is what two play in a stage and
/// in the extra pairs that follow it.
fn losses(played: &Played) -> HashMap<Entrant, u32> {
    let mut losses = HashMap::new();
    let mut stage = 0;
    while stage < played.stages.len() {
        let mut end = stage + 1;
        while end < played.stages.len() && played.names[end].contains("extra pair") {
            end += 1;
        }
        let mut leads: HashMap<[Entrant; 2], (i64, i64)> = HashMap::new();
        for verdict in played.stages[stage..end].iter().flatten() {
            let (a, b) = (verdict.seats[0], verdict.seats[1]);
            let lead = leads.entry([a.min(b), a.max(b)]).or_default();
            let sign = if a < b { 1 } else { -1 };
            lead.0 += sign * (verdict.points[0] - verdict.points[1]).0;
            lead.1 += sign * (verdict.second[0] - verdict.second[1]).0;
        }
        for ([better, worse], lead) in leads {
            *losses.entry(if lead >= (0, 0) { worse } else { better }).or_default() += 1;
        }
        stage = end;
    }
    losses
}

/// Everybody who takes part, once, in groups that are not empty.
fn places(plan: &dyn PhaseSchedule, played: &Played, n: u32) -> Vec<Vec<Entrant>> {
    let places = plan.placing(&played.past()).unwrap();
    let mut all: Vec<Entrant> = places.iter().flatten().copied().collect();
    all.sort_unstable();
    assert_eq!(all, field(n).entrants);
    assert!(places.iter().all(|group| !group.is_empty()));
    places
}

fn play_random(plan: &dyn PhaseSchedule, n: u32, draws: u32, seed: u64) -> Played {
    let mut rng = QuickRng::new(seed);
    play(plan, &field(n), |fixture| draw_result(fixture, draws, &mut rng))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_knockout(n in 2u32..=200, draws in 0u32..=100, third: bool, seed: u64) {
        let plan = Format::Knockout(TieRule { third, ..RULE }).plan(&field(n), seed).unwrap();
        let played = play_random(&*plan, n, draws, seed);
        let (least, most) = plan.expected();
        prop_assert!((least..=most).contains(&played.matches()));
        let ties = u64::from(n - 1 + u32::from(third && n >= 4));
        prop_assert_eq!(least, 2 * ties);
        let main: usize = (0..played.names.len()).filter(|&i| !played.names[i].contains("extra")).map(|i| played.stages[i].len()).sum();
        prop_assert_eq!(main as u64, 2 * ties);

        let places = places(&*plan, &played, n);
        let losses = losses(&played);
        prop_assert_eq!(places[0].len(), 1);
        prop_assert!(!losses.contains_key(&places[0][0]), "the winner has lost");
        for loser in places[1..].iter().flatten() {
            let lost = losses.get(loser).copied().unwrap_or_default();
            prop_assert!(lost >= 1 && lost <= 1 + u32::from(third), "{loser:?} lost {lost}");
        }
        if third && n >= 4 {
            prop_assert_eq!(places[..4].iter().map(Vec::len).collect::<Vec<_>>(), vec![1; 4]);
        }
        // Byes: the best, and only in the first round.
        let byes = n.next_power_of_two() - n;
        let first: Vec<Entrant> = played.fixtures[0].iter().flat_map(|fixture| fixture.seats.clone()).collect();
        for seed in 0..n {
            prop_assert_eq!(first.contains(&Entrant(3 * seed)), seed >= byes, "seed {}", seed + 1);
        }
    }

    #[test]
    fn a_double_elimination(n in 2u32..=200, draws in 0u32..=100, seed: u64) {
        let plan = Format::DoubleElimination(RULE).plan(&field(n), seed).unwrap();
        let played = play_random(&*plan, n, draws, seed);
        let reset = played.names.iter().any(|name| name == "grand final, second match");
        let main: usize = (0..played.names.len()).filter(|&i| !played.names[i].contains("extra")).map(|i| played.stages[i].len()).sum();
        prop_assert_eq!(main as u32, 2 * (2 * n - 2 + u32::from(reset)));
        let (least, most) = plan.expected();
        prop_assert!((least..=most).contains(&played.matches()));

        let places = places(&*plan, &played, n);
        let losses = losses(&played);
        prop_assert_eq!(places[0].len(), 1);
        prop_assert_eq!(places[1].len(), 1);
        let won = losses.get(&places[0][0]).copied().unwrap_or_default();
        prop_assert_eq!(won, u32::from(reset), "the champion's losses");
        for loser in places[1..].iter().flatten() {
            prop_assert_eq!(losses[loser], 2, "{:?}", loser);
        }
    }
}

/// Those who are better win always.
fn better_wins(fixture: &Fixture) -> MatchVerdict {
    let first = fixture.seats[0] < fixture.seats[1];
    let points = if first { [3, 0] } else { [0, 3] };
    let fixed: Vec<FixedPoint> = points.into_iter().map(FixedPoint::whole).collect();
    MatchVerdict { seats: fixture.seats.clone(), points: fixed.clone(), second: fixed }
}

#[test]
fn seeds_meet_as_late_as_they_can() {
    let plan = Format::Knockout(TieRule { third: true, ..RULE }).plan(&field(16), 0).unwrap();
    let played = play(&*plan, &field(16), better_wins);
    let names = ["round of 16", "quarter-finals", "semi-finals", "match for the third place", "final"];
    assert_eq!(played.names, names);
    let pairs = |stage: usize| -> Vec<(u32, u32)> {
        let firsts = played.fixtures[stage].iter().step_by(2);
        firsts.map(|fixture| (fixture.seats[0].0 / 3 + 1, fixture.seats[1].0 / 3 + 1)).collect()
    };
    assert_eq!(pairs(0), [(1, 16), (8, 9), (4, 13), (5, 12), (2, 15), (7, 10), (3, 14), (6, 11)]);
    assert_eq!(pairs(2), [(1, 4), (2, 3)]);
    assert_eq!(pairs(3), [(3, 4)]);
    assert_eq!(pairs(4), [(1, 2)]);
    let placing = plan.placing(&played.past()).unwrap();
    assert_eq!(placing[..4], [0, 1, 2, 3].map(|i| vec![Entrant(3 * i)]));
    assert_eq!(placing[4].len(), 4);
    assert_eq!(placing[5].len(), 8);
    let report = plan.balance(&played.past());
    assert!(report.complete && report.seat_difference == 0, "{report:?}");
}

#[test]
fn double_elimination_of_eight_is_the_usual_one() {
    let plan = Format::DoubleElimination(RULE).plan(&field(8), 0).unwrap();
    let played = play(&*plan, &field(8), better_wins);
    let names = [
        "winners' round 1",
        "losers' round 1",
        "winners' round 2",
        "losers' round 2",
        "losers' round 3",
        "winners' final",
        "losers' final",
        "grand final",
    ]; // in the order of play: the losers' bracket waits for nobody it does not need
    let mut sorted = played.names.clone();
    sorted.sort_unstable();
    let mut expected = names.map(String::from).to_vec();
    expected.sort_unstable();
    assert_eq!(sorted, expected);
    let ties: Vec<usize> = played.stages.iter().map(|stage| stage.len() / 2).collect();
    assert_eq!(ties.iter().sum::<usize>(), 14);
    assert_eq!(
        plan.placing(&played.past()).unwrap().iter().map(Vec::len).collect::<Vec<_>>(),
        [1, 1, 1, 1, 2, 2]
    );
}

#[test]
fn nobody_meets_again_early_in_a_double_elimination() {
    let mut rematches = 0;
    for seed in 0..40 {
        let n = 8 + (seed as u32 * 7) % 57;
        let plan = Format::DoubleElimination(RULE).plan(&field(n), 0).unwrap();
        let played = play_random(&*plan, n, 0, seed);
        let mut met = std::collections::HashSet::new();
        for (stage, fixtures) in played.fixtures.iter().enumerate() {
            let early = played.fixtures[stage].len() >= 8;
            for fixture in fixtures.iter().step_by(2) {
                let pair = (fixture.seats[0].min(fixture.seats[1]), fixture.seats[0].max(fixture.seats[1]));
                let again = !met.insert(pair) && !played.names[stage].contains("extra");
                rematches += usize::from(again && early);
            }
        }
    }
    assert_eq!(rematches, 0, "in rounds of four ties or more there is always another way");
}

/// A verdict with these points and word points for the better seeded of the two.
fn told(fixture: &Fixture, points: [i64; 2], second: [i64; 2]) -> MatchVerdict {
    let turned = fixture.seats[0] > fixture.seats[1];
    let fixed = |mut all: [i64; 2]| {
        if turned {
            all.reverse();
        }
        all.into_iter().map(FixedPoint::whole).collect()
    };
    MatchVerdict { seats: fixture.seats.clone(), points: fixed(points), second: fixed(second) }
}

#[test]
fn a_drawn_tie_is_decided_as_the_rules_say() {
    let (better, worse) = (Entrant(0), Entrant(3));
    let winner = |results: &[([i64; 2], [i64; 2])]| {
        let plan = Format::Knockout(RULE).plan(&field(2), 0).unwrap();
        let mut results = results.iter();
        let played = play(&*plan, &field(2), |fixture| {
            let (points, second) = results.next().copied().unwrap_or(([1, 1], [0, 0]));
            told(fixture, points, second)
        });
        (plan.placing(&played.past()).unwrap()[0][0], played.names.len())
    };
    let level = ([1, 1], [20, 20]);
    assert_eq!(winner(&[([3, 0], [9, 1]), ([1, 1], [5, 5])]), (better, 1), "points");
    assert_eq!(winner(&[([3, 0], [9, 8]), ([0, 3], [2, 9])]), (worse, 1), "word points over the tie");
    assert_eq!(winner(&[level, level, ([0, 3], [1, 2])]), (worse, 2), "one more pair");
    assert_eq!(
        winner(&[level, level, level, level, level, level, ([1, 1], [3, 4])]),
        (worse, 4),
        "a third more pair, by word points"
    );
    assert_eq!(winner(&[]), (better, 4), "after three more pairs the better seeded");
}

#[test]
fn only_open_ties_play_an_extra_pair() {
    let plan = Format::Knockout(TieRule { pairs: 2, ..RULE }).plan(&field(8), 0).unwrap();
    let mut past: Vec<Vec<MatchVerdict>> = Vec::new();
    let stage = plan.stage(0, &PhaseHistory::default()).unwrap();
    assert_eq!((stage.name().as_str(), stage.len()), ("quarter-finals", 16));
    // Seeds 4 and 5 (entrants 9 and 12) draw everything.
    let open = [Entrant(9), Entrant(12)];
    let results = (0..stage.len()).filter_map(|number| stage.fixture(number)).map(|fixture| {
        if open.contains(&fixture.seats[0]) { told(&fixture, [1, 1], [4, 4]) } else { better_wins(&fixture) }
    });
    past.push(results.collect());
    let extra = plan.stage(1, &PhaseHistory { stages: &past, ..PhaseHistory::default() }).unwrap();
    assert_eq!((extra.name().as_str(), extra.len()), ("quarter-finals, extra pair 1", 2));
    let fixtures: Vec<Fixture> = (0..2).filter_map(|number| extra.fixture(number)).collect();
    assert_eq!(fixtures[0].seats, open);
    assert_eq!(fixtures[1].seats, [open[1], open[0]], "the seats are swapped");
    assert_eq!(fixtures[0].seed_index, fixtures[1].seed_index, "on the same board");
    assert_ne!(fixtures[0].seed_index, stage.fixture(0).unwrap().seed_index);
    // While it is open, all eight but those who are out share the first place.
    let placing = plan.placing(&PhaseHistory { stages: &past, ..PhaseHistory::default() }).unwrap();
    assert_eq!(placing[0].len(), 8, "a round is over when all its ties are");
}

#[test]
fn a_tie_plays_every_variant_and_the_cut_takes_the_best() {
    let field = agon_league::format::PhaseField { variants: 3, ..field(12) };
    let plan =
        Format::Knockout(TieRule { top: Some(4), pairs: 1, extra: 3, third: false }).plan(&field, 0).unwrap();
    let stage = plan.stage(0, &PhaseHistory::default()).unwrap();
    assert_eq!((stage.name().as_str(), stage.len()), ("semi-finals", 12));
    let mut seen: Vec<(u32, u64)> = (0..12)
        .filter_map(|number| stage.fixture(number))
        .map(|fixture| (fixture.variant, fixture.seed_index))
        .collect();
    seen.dedup();
    assert_eq!(seen.len(), 6, "each variant once for each of two ties, on one board: {seen:?}");
    assert!(
        (0..12)
            .filter_map(|number| stage.fixture(number))
            .all(|fixture| fixture.seats.iter().all(|entrant| entrant.0 < 12))
    );
}
