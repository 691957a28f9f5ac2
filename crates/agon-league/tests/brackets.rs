//! Knockout and double elimination with 2 to 200 entrants, and the rules for ties.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

mod common;

use std::collections::HashMap;

use agon_core::random::FastRng;
use agon_league::bracket::{self, BracketTie};
use agon_league::format::{Fixture, Format, MatchVerdict, PhaseHistory, PhaseSchedule, TieRule};
use agon_league::{Entrant, FixedPoint, MatchKey};
use common::{PlayedPhase, draw_result, field, play};
use proptest::prelude::*;

const RULE: TieRule = TieRule { top: None, pairs: 1, extra: 3, third: false };

/// Number of lost ties per entrant, derived from fixtures and results alone: by points, then tie-break, then seeding. A tie is what two
/// entrants play in a stage and its extra pairs.
fn losses(played: &PlayedPhase) -> HashMap<Entrant, u32> {
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
            lead.1 += sign * (verdict.tie_break[0] - verdict.tie_break[1]).0;
        }
        for ([better, worse], lead) in leads {
            *losses.entry(if lead >= (0, 0) { worse } else { better }).or_default() += 1;
        }
        stage = end;
    }
    losses
}

/// The places, after checking that every entrant occurs once and that no group is empty.
fn places(schedule: &dyn PhaseSchedule, played: &PlayedPhase, n: u32) -> Vec<Vec<Entrant>> {
    let places = schedule.placing(&played.past()).unwrap();
    let mut all: Vec<Entrant> = places.iter().flatten().copied().collect();
    all.sort_unstable();
    assert_eq!(all, field(n).entrants);
    assert!(places.iter().all(|group| !group.is_empty()));
    places
}

fn play_random(schedule: &dyn PhaseSchedule, n: u32, draws: u32, seed: u64) -> PlayedPhase {
    let mut rng = FastRng::new(seed);
    play(schedule, &field(n), |fixture| draw_result(fixture, draws, &mut rng))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn knockout_plays_expected_ties_and_eliminates_losers(n in 2u32..=200, draws in 0u32..=100, third: bool, seed: u64) {
        let schedule = Format::Knockout(TieRule { third, ..RULE }).schedule(&field(n), seed).unwrap();
        let played = play_random(&*schedule, n, draws, seed);
        let (least, most) = schedule.expected_matches();
        prop_assert!((least..=most).contains(&played.matches()));
        let ties = u64::from(n - 1 + u32::from(third && n >= 4));
        prop_assert_eq!(least, 2 * ties);
        let main: usize = (0..played.names.len()).filter(|&i| !played.names[i].contains("extra")).map(|i| played.stages[i].len()).sum();
        prop_assert_eq!(main as u64, 2 * ties);

        let places = places(&*schedule, &played, n);
        let losses = losses(&played);
        prop_assert_eq!(places[0].len(), 1);
        prop_assert!(!losses.contains_key(&places[0][0]), "the winner lost a tie");
        for loser in places[1..].iter().flatten() {
            let lost = losses.get(loser).copied().unwrap_or_default();
            prop_assert!(lost >= 1 && lost <= 1 + u32::from(third), "{loser:?} lost {lost}");
        }
        if third && n >= 4 {
            prop_assert_eq!(places[..4].iter().map(Vec::len).collect::<Vec<_>>(), vec![1; 4]);
        }
        // Byes go to the best seeds, in the first round only.
        let byes = n.next_power_of_two() - n;
        let first: Vec<Entrant> = played.fixtures[0].iter().flat_map(|fixture| fixture.seats.clone()).collect();
        for seed in 0..n {
            prop_assert_eq!(first.contains(&Entrant(3 * seed)), seed >= byes, "seed {}", seed + 1);
        }
    }

    #[test]
    fn double_elimination_eliminates_after_two_losses(n in 2u32..=200, draws in 0u32..=100, seed: u64) {
        let schedule = Format::DoubleElimination(RULE).schedule(&field(n), seed).unwrap();
        let played = play_random(&*schedule, n, draws, seed);
        let reset = played.names.iter().any(|name| name == "grand final, second match");
        let main: usize = (0..played.names.len()).filter(|&i| !played.names[i].contains("extra")).map(|i| played.stages[i].len()).sum();
        prop_assert_eq!(main as u32, 2 * (2 * n - 2 + u32::from(reset)));
        let (least, most) = schedule.expected_matches();
        prop_assert!((least..=most).contains(&played.matches()));

        let places = places(&*schedule, &played, n);
        let losses = losses(&played);
        prop_assert_eq!(places[0].len(), 1);
        prop_assert_eq!(places[1].len(), 1);
        let won = losses.get(&places[0][0]).copied().unwrap_or_default();
        prop_assert_eq!(won, u32::from(reset), "losses of the champion");
        for loser in places[1..].iter().flatten() {
            prop_assert_eq!(losses[loser], 2, "{:?}", loser);
        }
    }
}

/// The better seed always wins.
fn better_wins(fixture: &Fixture) -> MatchVerdict {
    let first = fixture.seats[0] < fixture.seats[1];
    let points = if first { [3, 0] } else { [0, 3] };
    let fixed: Vec<FixedPoint> = points.into_iter().map(FixedPoint::from_int).collect();
    MatchVerdict { seats: fixture.seats.clone(), points: fixed.clone(), tie_break: fixed }
}

#[test]
fn knockout_of_sixteen_separates_the_best_seeds() {
    let schedule = Format::Knockout(TieRule { third: true, ..RULE }).schedule(&field(16), 0).unwrap();
    let played = play(&*schedule, &field(16), better_wins);
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
    let placing = schedule.placing(&played.past()).unwrap();
    assert_eq!(placing[..4], [0, 1, 2, 3].map(|i| vec![Entrant(3 * i)]));
    assert_eq!(placing[4].len(), 4);
    assert_eq!(placing[5].len(), 8);
    let report = schedule.balance(&played.past());
    assert!(report.complete && report.seat_difference == 0, "{report:?}");
}

#[test]
fn double_elimination_of_eight_has_the_usual_rounds() {
    let schedule = Format::DoubleElimination(RULE).schedule(&field(8), 0).unwrap();
    let played = play(&*schedule, &field(8), better_wins);
    let names = [
        "winners' round 1",
        "losers' round 1",
        "winners' round 2",
        "losers' round 2",
        "losers' round 3",
        "winners' final",
        "losers' final",
        "grand final",
    ]; // The order of play may differ: the losers' bracket plays as soon as it can.
    let mut sorted = played.names.clone();
    sorted.sort_unstable();
    let mut expected = names.map(String::from).to_vec();
    expected.sort_unstable();
    assert_eq!(sorted, expected);
    let ties: Vec<usize> = played.stages.iter().map(|stage| stage.len() / 2).collect();
    assert_eq!(ties.iter().sum::<usize>(), 14);
    assert_eq!(
        schedule.placing(&played.past()).unwrap().iter().map(Vec::len).collect::<Vec<_>>(),
        [1, 1, 1, 1, 2, 2]
    );
}

#[test]
fn double_elimination_avoids_early_rematches() {
    let mut rematches = 0;
    for seed in 0..40 {
        let n = 8 + (seed as u32 * 7) % 57;
        let schedule = Format::DoubleElimination(RULE).schedule(&field(n), 0).unwrap();
        let played = play_random(&*schedule, n, 0, seed);
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
    assert_eq!(rematches, 0, "rounds of four ties or more can always avoid rematches");
}

/// A verdict with these points and word points, the better seed first.
fn verdict_for(fixture: &Fixture, points: [i64; 2], second: [i64; 2]) -> MatchVerdict {
    let turned = fixture.seats[0] > fixture.seats[1];
    let fixed = |mut all: [i64; 2]| {
        if turned {
            all.reverse();
        }
        all.into_iter().map(FixedPoint::from_int).collect()
    };
    MatchVerdict { seats: fixture.seats.clone(), points: fixed(points), tie_break: fixed(second) }
}

#[test]
fn drawn_tie_is_decided_by_tie_break_then_extra_pairs_then_seed() {
    let (better, worse) = (Entrant(0), Entrant(3));
    let winner = |results: &[([i64; 2], [i64; 2])]| {
        let schedule = Format::Knockout(RULE).schedule(&field(2), 0).unwrap();
        let mut results = results.iter();
        let played = play(&*schedule, &field(2), |fixture| {
            let (points, second) = results.next().copied().unwrap_or(([1, 1], [0, 0]));
            verdict_for(fixture, points, second)
        });
        (schedule.placing(&played.past()).unwrap()[0][0], played.names.len())
    };
    let level = ([1, 1], [20, 20]);
    assert_eq!(winner(&[([3, 0], [9, 1]), ([1, 1], [5, 5])]), (better, 1), "points");
    assert_eq!(winner(&[([3, 0], [9, 8]), ([0, 3], [2, 9])]), (worse, 1), "word points over the tie");
    assert_eq!(winner(&[level, level, ([0, 3], [1, 2])]), (worse, 2), "one extra pair");
    assert_eq!(
        winner(&[level, level, level, level, level, level, ([1, 1], [3, 4])]),
        (worse, 4),
        "third extra pair, by word points"
    );
    assert_eq!(winner(&[]), (better, 4), "the better seed after three extra pairs");
}

#[test]
fn only_open_ties_play_an_extra_pair() {
    let schedule = Format::Knockout(TieRule { pairs: 2, ..RULE }).schedule(&field(8), 0).unwrap();
    let mut past: Vec<Vec<MatchVerdict>> = Vec::new();
    let stage = schedule.stage(0, &PhaseHistory::default()).unwrap();
    assert_eq!((stage.name().as_str(), stage.len()), ("quarter-finals", 16));
    // Seeds 4 and 5 (entrants 9 and 12) draw everything.
    let open = [Entrant(9), Entrant(12)];
    let results = (0..stage.len()).filter_map(|number| stage.fixture(number)).map(|fixture| {
        if open.contains(&fixture.seats[0]) {
            verdict_for(&fixture, [1, 1], [4, 4])
        } else {
            better_wins(&fixture)
        }
    });
    past.push(results.collect());
    let extra = schedule.stage(1, &PhaseHistory { stages: &past, ..PhaseHistory::default() }).unwrap();
    assert_eq!((extra.name().as_str(), extra.len()), ("quarter-finals, extra pair 1", 2));
    let fixtures: Vec<Fixture> = (0..2).filter_map(|number| extra.fixture(number)).collect();
    assert_eq!(fixtures[0].seats, open);
    assert_eq!(fixtures[1].seats, [open[1], open[0]], "the seats are swapped");
    assert_eq!(fixtures[0].seed_index, fixtures[1].seed_index, "on the same seed");
    assert_ne!(fixtures[0].seed_index, stage.fixture(0).unwrap().seed_index);
    // While the round is unfinished, all eight share the first place.
    let placing = schedule.placing(&PhaseHistory { stages: &past, ..PhaseHistory::default() }).unwrap();
    assert_eq!(placing[0].len(), 8, "a round ends when all its ties are decided");
}

#[test]
fn tie_plays_every_variant_and_top_takes_the_best() {
    let field = agon_league::format::PhaseField { variants: 3, ..field(12) };
    let schedule = Format::Knockout(TieRule { top: Some(4), pairs: 1, extra: 3, third: false })
        .schedule(&field, 0)
        .unwrap();
    let stage = schedule.stage(0, &PhaseHistory::default()).unwrap();
    assert_eq!((stage.name().as_str(), stage.len()), ("semi-finals", 12));
    let mut seen: Vec<(u32, u64)> = (0..12)
        .filter_map(|number| stage.fixture(number))
        .map(|fixture| (fixture.variant, fixture.seed_index))
        .collect();
    seen.dedup();
    assert_eq!(seen.len(), 6, "each variant once per tie, on one seed: {seen:?}");
    assert!(
        (0..12)
            .filter_map(|number| stage.fixture(number))
            .all(|fixture| fixture.seats.iter().all(|entrant| entrant.0 < 12))
    );
}

/// Results of a phase as the ledger gives them.
fn results(stages: &[Vec<MatchVerdict>]) -> Vec<(MatchKey, MatchVerdict)> {
    let key = |stage: usize, number: usize| MatchKey { phase: 0, stage: stage as u32, number: number as u64 };
    let numbered = |(stage, all): (usize, &Vec<MatchVerdict>)| {
        all.iter().enumerate().map(|(number, one)| (key(stage, number), one.clone())).collect::<Vec<_>>()
    };
    stages.iter().enumerate().flat_map(numbered).collect()
}

#[test]
fn bracket_of_an_elimination_agrees_with_its_results_and_places() {
    let game = agon_games::infos()[0];
    for n in 2..=20 {
        for format in [Format::Knockout(RULE), Format::DoubleElimination(RULE)] {
            let field = field(n);
            let schedule = format.schedule(&field, 1).unwrap();
            let schedule = schedule.as_ref();
            let played = play_random(schedule, n, 30, u64::from(n));
            let whole = bracket::build(game, schedule, &field, &played.stages, &results(&played.stages));
            let ties: Vec<&BracketTie> = whole.rounds.iter().flat_map(|round| &round.ties).collect();
            let mut lost: HashMap<Entrant, u32> = HashMap::new();
            for tie in &ties {
                *lost.entry(tie.sides[1 - tie.winner.unwrap()].entrant).or_default() += 1;
                assert!(tie.sides[0].seed < tie.sides[1].seed, "{tie:?}");
            }
            assert_eq!(lost, losses(&played), "{n} entrants");
            assert_eq!(ties.iter().map(|tie| tie.matches.len() as u64).sum::<u64>(), played.matches());
            let shared: Vec<Vec<Entrant>> = whole.places.iter().map(|one| one.entrants.clone()).collect();
            assert_eq!(shared, places(schedule, &played, n));

            // Without the last stage, the ties of that stage are open.
            let finished = &played.stages[..played.stages.len() - 1];
            let part = bracket::build(game, schedule, &field, finished, &results(finished));
            let open = part.rounds.iter().flat_map(|round| &round.ties).filter(|tie| tie.winner.is_none());
            assert!(open.count() > 0, "{n} entrants");
        }
    }
}
