//! Tests of charts, brackets and pages with small made-up competitions.

use agon_core::Fault;
use agon_league::bracket::{Bracket, BracketRound, BracketSide, BracketTie};
use agon_league::rating::Rating;
use agon_league::simulated;
use agon_league::standings::{ScoreHistograms, StandingsRequest, standings};
use agon_league::{Entrant, MatchKey};
use agon_store::PhaseState;

use crate::bracket::bracket;
use crate::data::{
    FaultLine, FaultList, GameLine, GameList, Participant, PhaseReport, Report, SeatLine, ThinkTimes, Version,
};
use crate::html::Viewer;
use crate::pages::{self, AdjacentGames};
use crate::{charts, matrix, scale};

const HOSTILE: &str = "<script>alert('1')</script>\u{202e}&\"";

fn name(entrant: Entrant) -> String {
    ["Ann", "Bob", "Cem"].get(entrant.index()).map_or_else(String::new, |name| (*name).to_owned())
}

#[test]
fn a_histogram_has_a_row_for_each_on_one_scale() {
    let counts = vec![(Entrant(0), vec![0, 1, 3, 8, 4, 0, 0]), (Entrant(1), vec![2, 2, 0, 1, 1, 1, 1])];
    let extremes = Vec::new();
    let histograms = ScoreHistograms { score: "share", unit: "%", from: 10.0, width: 2.0, counts, extremes };
    insta::assert_snapshot!(charts::histogram(&histograms, &name));
}

#[test]
fn few_different_scores_stand_side_by_side() {
    let mut lost_or_won = vec![0; 51];
    (lost_or_won[0], lost_or_won[50]) = (7, 3);
    let counts = vec![(Entrant(0), lost_or_won)];
    let mut extremes = vec![None; 51];
    (extremes[0], extremes[50]) = (Some((0.0, 0.0)), Some((1.0, 1.0)));
    let histograms = ScoreHistograms { score: "score", unit: "", from: 0.0, width: 0.02, counts, extremes };
    insta::assert_snapshot!(charts::histogram(&histograms, &name));
}

#[test]
fn separate_bar_is_labelled_with_its_scores_and_not_with_the_start_of_its_bin() {
    let counts = vec![(Entrant(0), vec![3, 0, 0, 1]), (Entrant(1), vec![1, 0, 2, 1])];
    let extremes = vec![Some((36.0, 37.0)), None, Some((46.0, 46.0)), Some((52.0, 54.0))];
    let histograms = ScoreHistograms { score: "score", unit: "", from: 35.0, width: 5.0, counts, extremes };
    let scale = scale::HistogramScale::new(&histograms);
    assert!(scale.separate_bars);
    assert_eq!(scale.bin_labels, ["36 to 37", "46", "52 to 54"]);
    let marks: Vec<(f64, &str)> = scale.marks.iter().map(|mark| (mark.value, &*mark.label)).collect();
    assert_eq!(marks, [(36.5, "36 to 37"), (46.0, "46"), (53.0, "52 to 54")]);
}

#[test]
fn ratings_have_error_bars_and_the_best_is_first() {
    let rating = |number, rating, error| Rating { entrant: Entrant(number), rating, error };
    let all = [rating(0, 1400.0, 50.0), rating(1, 1600.0, 80.5), rating(2, f64::NAN, 1.0)];
    insta::assert_snapshot!(charts::ratings(&all, "all", &name));
    assert_eq!(charts::ratings(&[], "all", &name), "");
}

#[test]
fn times_are_drawn_by_powers_of_ten() {
    let times =
        |number, answers, mean, longest| ThinkTimes { entrant: Entrant(number), answers, mean, longest };
    let all = [times(0, 10, 2_000.0, 1e9), times(1, 10, 150.0, 400.0), times(2, 0, 0.0, 0.0)];
    insta::assert_snapshot!(charts::think_times(&all, &name));
}

#[test]
fn large_fields_are_cut_with_a_note() {
    let times =
        |number| ThinkTimes { entrant: Entrant(number), answers: 1, mean: f64::from(number), longest: 1e6 };
    let all: Vec<ThinkTimes> = (0..100).map(times).collect();
    let drawn = charts::think_times(&all, &name);
    assert_eq!(drawn.matches("class=\"strip\"").count(), charts::MAX_ROWS);
    assert!(drawn.contains("First 60 of 100."), "{drawn}");
    let league = simulated::groups_of_four("solitude-scramble", &[18.0; 44], 30, 3);
    let drawn = matrix::matrix(&standings(&league.tally(), &request(&league)), &name, &name);
    assert!(drawn.contains("44 entrants are too many") && !drawn.contains("<table"), "{drawn}");
}

#[test]
fn ticks_are_round_and_few() {
    assert_eq!(scale::ticks(0.0, 10.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
    assert_eq!(scale::ticks(913.0, 2087.0), [1000.0, 1500.0, 2000.0]);
    assert_eq!(scale::ticks(-0.3, 0.3).len(), 3);
    assert_eq!(scale::ticks(5.0, 5.0), [5.0]);
    for span in 1..2000 {
        let marks = scale::ticks(17.0, 17.0 + f64::from(span) * 0.37);
        assert!((2..=6).contains(&marks.len()), "{span}: {marks:?}");
    }
}

/// Position in per cent and label of each mark of the drawn axis.
fn drawn_marks(html: &str) -> Vec<(f64, String)> {
    let (_, axis) = html.split_once("<div class=\"axis\">").expect("a chart with an axis");
    let (axis, _) = axis.split_once("</div>").unwrap();
    let marks = axis.split("<span style=\"left:").skip(1).map(|mark| {
        let (position, label) = mark.split_once("%\">").unwrap();
        (position.parse().unwrap(), label.trim_end_matches("</span>").to_owned())
    });
    marks.collect()
}

#[test]
fn axis_marks_equal_the_shared_vectors() {
    let cases: serde_json::Value =
        serde_json::from_str(include_str!("../testdata/chart_scales.json")).unwrap();
    let mut compared = 0;
    for case in cases.as_array().unwrap() {
        let input = &case["input"];
        let entrant = |at: usize| Entrant(u32::try_from(at).unwrap());
        let pairs =
            |key: &str| -> Vec<(f64, f64)> { serde_json::from_value(input[key].clone()).unwrap_or_default() };
        let html = if let Some(of) = input.get("histogram") {
            let counts: Vec<Vec<u64>> = serde_json::from_value(of["counts"].clone()).unwrap();
            let counts = counts.into_iter().enumerate().map(|(at, counts)| (entrant(at), counts)).collect();
            let (from, width) = (of["from"].as_f64().unwrap(), of["width"].as_f64().unwrap());
            let extremes = serde_json::from_value(of["extremes"].clone()).unwrap_or_default();
            let histograms = ScoreHistograms { score: "score", unit: "", from, width, counts, extremes };
            charts::histogram(&histograms, &name)
        } else if input.get("ratings").is_some() {
            let rating =
                |(at, &(rating, error)): (usize, &(f64, f64))| Rating { entrant: entrant(at), rating, error };
            charts::ratings(
                &pairs("ratings").iter().enumerate().map(rating).collect::<Vec<_>>(),
                "all",
                &name,
            )
        } else if input.get("think_times_ns").is_some() {
            let times = |(at, &(mean, longest)): (usize, &(f64, f64))| ThinkTimes {
                entrant: entrant(at),
                answers: 1,
                mean,
                longest,
            };
            let all: Vec<ThinkTimes> = pairs("think_times_ns").iter().enumerate().map(times).collect();
            charts::think_times(&all, &name)
        } else {
            // Only the web app has this chart.
            continue;
        };
        let expected: Vec<(f64, String)> = serde_json::from_value(case["drawn"].clone()).unwrap();
        assert_eq!(drawn_marks(&html), expected, "{}", case["name"]);
        compared += 1;
    }
    assert_eq!(compared, 9);
}

fn tie(sides: [(u32, f64); 2], winner: Option<usize>) -> BracketTie {
    let side = |(number, points)| BracketSide {
        entrant: Entrant(number),
        seed: None,
        points,
        tie_break: 10.0 * points,
    };
    BracketTie { sides: sides.map(side), winner, extra_pairs: 0, stages: Vec::new(), matches: Vec::new() }
}

fn knockout() -> Bracket {
    let round = |name: &str, ties| BracketRound { name: name.to_owned(), ties };
    let last = BracketTie { extra_pairs: 1, stages: vec![3], ..tie([(0, 9.0), (1, 9.0)], Some(1)) };
    Bracket {
        rounds: vec![
            // The best seed has a bye.
            round("semi-finals", vec![tie([(1, 6.0), (2, 1.5)], Some(0))]),
            round("match for the third place", vec![tie([(2, 6.0), (3, 3.0)], Some(0))]),
            round("final", vec![last]),
        ],
        tie_break: "word points",
        places: Vec::new(),
    }
}

#[test]
fn a_bracket_joins_winners_to_their_next_tie() {
    let report = report(&["Ann", "Bob", HOSTILE, "A very long name that does not fit into a box"]);
    let mut games = report.phases[0].games.clone();
    games.shown[0].key = MatchKey { phase: 1, stage: 3, number: 0 };
    let drawn = bracket(&report, &knockout(), &games, "");
    assert_eq!(
        drawn.matches("class=\"join\"").count(),
        1,
        "one winner advances; the match for third place has no connector"
    );
    insta::assert_snapshot!(drawn);
}

#[test]
fn open_tie_is_marked_as_open() {
    let report = report(&["Ann", "Bob"]);
    let rounds = vec![BracketRound { name: "final".to_owned(), ties: vec![tie([(0, 0.0), (1, 0.0)], None)] }];
    let open = Bracket { rounds, tie_break: "score", places: Vec::new() };
    assert!(bracket(&report, &open, &GameList::default(), "").contains(">open<"));
}

#[test]
fn head_to_head_cells_are_shaded_by_share_of_wins() {
    let league = simulated::round_robin("word-racer", &[0.0, 1.0], 6, 2);
    let all = standings(&league.tally(), &request(&league));
    let drawn = matrix::matrix(&all, &name, &name);
    let pair = &all.head_to_head[0];
    let share = (f64::from(pair.won) + f64::from(pair.drawn) / 2.0) / f64::from(pair.games);
    assert!(drawn.contains(&format!("--dark:{share:.2}")), "{drawn}");
    assert!(drawn.contains(&format!(">{}-{}-{}<", pair.won, pair.drawn, pair.lost)), "{drawn}");
    let many = simulated::groups_of_four("solitude-scramble", &[14.0, 18.0, 18.0, 23.0], 30, 3);
    let drawn = matrix::matrix(&standings(&many.tally(), &request(&many)), &name, &name);
    assert_eq!(drawn.matches("shade").count(), 12 + 1, "all pairs, and a note");
}

fn request(league: &simulated::League) -> StandingsRequest<'_> {
    StandingsRequest {
        competition: "Cup",
        phase: "Phase",
        game: league.game,
        entrants: &league.entrants,
        placing: &[],
        rulings: &[],
    }
}

/// A competition with these names in which all other text from users and bots is hostile.
fn report(names: &[&str]) -> Report {
    let key = MatchKey { phase: 0, stage: 0, number: 6 };
    let mut league = simulated::round_robin("word-racer", &vec![0.0; names.len()], 6, 2);
    for (spec, name) in league.entrants.iter_mut().zip(names) {
        (*name).clone_into(&mut spec.name);
        spec.contributor = Some(HOSTILE.to_owned());
    }
    let fault = FaultLine {
        at: 0,
        key,
        game: 0,
        turn: 3,
        entrant: Entrant(0),
        fault: Fault::Crash,
        message: format!("{HOSTILE}\n{HOSTILE}"),
        output: HOSTILE.to_owned(),
        has_page: true,
    };
    let faults = FaultList { shown: vec![fault], total: 9, held_back: false };
    let participant = |name: &&str| Participant {
        name: (*name).to_owned(),
        contributor: Some(HOSTILE.to_owned()),
        marks: vec![(HOSTILE.to_owned(), Some(HOSTILE.to_owned()))],
        role: None,
        versions: vec![Version {
            number: 1,
            hash: HOSTILE.to_owned(),
            commit: Some(HOSTILE.to_owned()),
            from_phase: 0,
            at: 0,
        }],
        faults: faults.clone(),
    };
    let entrants = names.iter().map(participant).collect();
    let seats = (0..2)
        .map(|n| SeatLine { entrant: Entrant(n), score: 3.0, place: n as u8 + 1, beside: None })
        .collect();
    let game = GameLine {
        key,
        game: 0,
        games_in_match: 1,
        stage: HOSTILE.to_owned(),
        turns: 96,
        ended: HOSTILE.to_owned(),
        seats,
        wins_before: Vec::new(),
        faults: 1,
        has_page: true,
        reasons: vec![HOSTILE.to_owned()],
    };
    let phase = PhaseReport {
        name: HOSTILE.to_owned(),
        format: HOSTILE.to_owned(),
        state: PhaseState::Running,
        matches: 12,
        games_played: 12,
        expected: Some((20, 40)),
        standings: Some(standings(&league.tally(), &request(&league))),
        think_times: vec![ThinkTimes { entrant: Entrant(0), answers: 1, mean: 1e3, longest: 1e4 }],
        faults,
        bracket: (names.len() > 3).then(knockout),
        games: GameList { shown: vec![game], total: 12, hidden: false },
        ..PhaseReport::default()
    };
    Report {
        name: HOSTILE.to_owned(),
        game: league.game,
        engine: "0.1.0".to_owned(),
        started: Some(0),
        written: 0,
        commitment: "ab".repeat(32),
        seed: Some((HOSTILE.to_owned(), 0)),
        entrants,
        phases: vec![phase],
    }
}

fn all_pages(report: &Report) -> Vec<String> {
    let phase = &report.phases[0];
    let viewer = Viewer { script: "viewer.js", style: "viewer.css" };
    let mut all = vec![pages::summary(report), pages::phase(report, phase)];
    all.extend((0..report.entrants.len() as u32).map(|number| pages::bot(report, Entrant(number))));
    all.extend(
        phase
            .games
            .shown
            .iter()
            .map(|game| pages::game(report, phase, game, AdjacentGames::default(), viewer, "")),
    );
    all
}

#[test]
fn text_from_users_is_escaped_once_and_cannot_change_the_writing_direction() {
    let names = [HOSTILE, "\u{202e}nnA", "b", "c"];
    for page in all_pages(&report(&names)) {
        assert!(
            !page.contains("<script>alert") && page.contains("&lt;script&gt;alert(&#39;1&#39;)"),
            "{page}"
        );
        assert!(!page.contains('\u{202e}') && page.contains("\\u{202e}"), "{page}");
        assert!(!page.contains("&amp;amp;") && !page.contains("&\""), "text is escaped twice");
    }
}

#[test]
fn hidden_games_and_held_back_messages_are_announced() {
    let mut report = report(&["Ann", "Bob"]);
    report.seed = None;
    report.phases[0].games = GameList { hidden: true, total: 12, shown: Vec::new() };
    report.phases[0].faults.held_back = true;
    let page = pages::phase(&report, &report.phases[0]);
    assert!(
        page.contains("shown once the secret seed is revealed") && page.contains("are held back"),
        "{page}"
    );
    assert!(pages::summary(&report).contains("The seed itself is published after the last game"));
}

#[test]
fn summary_of_a_competition_that_has_not_started_has_no_phase_links() {
    let mut report = report(&["Ann", "Bob"]);
    report.phases[0] =
        PhaseReport { name: "Finals".to_owned(), state: PhaseState::Waiting, ..PhaseReport::default() };
    let page = pages::summary(&report);
    assert!(page.contains("No games played yet") && !page.contains("phase-1.html"), "{page}");
}
