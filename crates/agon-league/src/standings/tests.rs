//! Each table is ranked as its document says.

use agon_core::standings_rules::StandingsRules;

use super::*;
use crate::result::FixedPoint;
use crate::simulated::{self, League, match_of};

fn request<'a>(league: &'a League, placing: &'a [Vec<Entrant>]) -> StandingsRequest<'a> {
    StandingsRequest {
        competition: "Test",
        phase: "phase 1",
        game: league.game,
        entrants: &league.entrants,
        placing,
        rulings: &[],
    }
}

fn of(league: &League) -> Standings {
    standings(&league.tally(), &request(league, &[]))
}

fn titles(table: &StandingsTable) -> Vec<&str> {
    table.columns.iter().map(|column| column.title.as_str()).collect()
}

/// Rank and entrant of each row.
fn ranks(table: &StandingsTable) -> Vec<(i64, u32)> {
    let rank = |row: &TableRow| match row.cells[0] {
        TableCell::Int(rank) => (rank, row.entrant.unwrap().0),
        _ => panic!("no rank in {row:?}"),
    };
    table.rows.iter().map(rank).collect()
}

type Matches<'m> = &'m [(&'m [(u32, f64)], &'m [f64])];

/// A league of one-game matches: seats with scores, and points.
fn league(game: &str, names: &[&str], matches: Matches<'_>) -> League {
    let results = matches.iter().map(|(seats, points)| match_of(seats, points)).collect();
    League { game: simulated::game(game), entrants: simulated::entrants(names), results }
}

#[test]
fn solitude_ranks_by_average_points_and_equals_share_a_rank() {
    let league = league(
        "solitude-scramble",
        &["a", "b", "c", "d", "e"],
        &[
            (&[(0, 10.0), (1, 20.0), (2, 20.0), (3, 4.0)], &[]),
            (&[(0, 12.0), (1, 2.0), (2, 2.0), (4, 11.0)], &[]),
            (&[(0, 11.0), (1, 11.0), (2, 11.0), (3, 4.0)], &[]),
        ],
    );
    let standings = of(&league);
    let table = standings.table("leaderboard").unwrap();
    assert_eq!(titles(table), ["Rank", "Name", "APPM", "Total points", "Matches"]);
    // Three entrants have 33 points in 3 matches, one has 11 in 1: all are equal.
    assert_eq!(ranks(table), [(1, 0), (1, 1), (1, 2), (1, 4), (5, 3)]);
    assert_eq!(
        table.rows[0].cells[2..],
        [TableCell::Real(11.0, 3, ""), TableCell::Real(33.0, 0, ""), TableCell::Int(3)]
    );
}

#[test]
fn colour_battle_has_the_tables_of_its_document() {
    let league =
        simulated::arena("colour-battle", &["Abra by Rayman", "Vector by Ishu", "Picasso by Daniel"], 50, 1);
    let standings = of(&league);
    let ids: Vec<&str> = standings.tables.iter().map(|table| table.id.as_str()).collect();
    assert_eq!(ids, ["score", "efficiency", "spread", "confidence"]);
    let score = standings.table("score").unwrap();
    assert_eq!(titles(score), ["Rank", "Name", "Contributor", "Avg [us]", "Score"]);
    assert_eq!(ranks(score), [(1, 2), (2, 1), (3, 0)]);
    let efficiency = standings.table("efficiency").unwrap();
    let columns = ["Rank", "Name", "Contributor", "Avg [us]", "Score [%]", "Efficiency [%/us]"];
    assert_eq!(titles(efficiency), columns);
    // Three times as slow, with less than three times the score.
    assert_eq!(ranks(efficiency), [(1, 0), (2, 1), (3, 2)]);
    let TableCell::Real(time, 3, "") = efficiency.rows[0].cells[3] else { panic!("no time") };
    assert!((time - 2.5).abs() < 1e-9);
    let plain = standings.without_times();
    assert!(plain.table("efficiency").is_none());
    assert_eq!(titles(plain.table("score").unwrap()), ["Rank", "Name", "Contributor", "Score"]);
    assert_eq!(plain.table("score").unwrap().rows[0].cells.len(), 4);
    let histogram = standings.histogram.unwrap();
    assert!(
        histogram.counts.iter().all(|(_, counts)| counts.iter().sum::<u64>() == 50 && counts.len() <= 60)
    );
}

#[test]
fn histogram_knows_the_lowest_and_highest_score_of_each_bin() {
    let histogram = of(&league(
        "colour-battle",
        &["a", "b"],
        &[(&[(0, 36.0), (1, 37.0)], &[]), (&[(0, 37.0), (1, 251.0)], &[])],
    ))
    .histogram
    .unwrap();
    let filled: Vec<(f64, f64)> = histogram.extremes.iter().flatten().copied().collect();
    assert_eq!((histogram.width, filled), (5.0, vec![(36.0, 37.0), (251.0, 251.0)]));
    assert_eq!((histogram.from, histogram.extremes.len()), (35.0, histogram.counts[0].1.len()));
}

#[test]
fn connect_five_ranks_by_points_then_difference_then_head_to_head() {
    let names = ["a", "b", "c", "d", "e"];
    let standings = of(&league(
        "connect-five",
        &names,
        &[
            // a, b, c beat each other in turn; a and c beat d, b loses to d.
            (&[(0, 1.0), (1, 0.0)], &[2.0, -2.0]),
            (&[(1, 1.0), (2, 0.0)], &[2.0, -2.0]),
            (&[(2, 1.0), (0, 0.0)], &[2.0, -2.0]),
            (&[(0, 1.0), (3, 0.0)], &[2.0, -2.0]),
            (&[(1, 0.0), (3, 1.0)], &[2.0, -2.0]),
            (&[(2, 1.0), (3, 0.0)], &[2.0, -2.0]),
            (&[(4, 1.0), (3, 0.0)], &[2.0, -2.0]),
        ],
    ));
    let table = standings.table("league").unwrap();
    // a, b, c, e: two points. a and c: 2-1; e: 1-0; b: 1-2. So a, c, e have +1 and b has -1; among a, c, e only c beat a.
    assert_eq!(ranks(table), [(1, 2), (2, 4), (3, 0), (4, 1), (5, 3)]);
    let matrix = standings.table("head-to-head").unwrap();
    assert_eq!(matrix.rows[0].cells[4], TableCell::Text("+2 (1-0)".to_owned()));
    assert_eq!(matrix.rows[0].cells[2], TableCell::Empty);
}

#[test]
fn interval_stays_within_the_range_of_all_results() {
    let league = simulated::home_and_away("connect-five", &["Ana", "Bea", "Carlos"], 5);
    let standings = of(&league);
    let TableCell::Interval(low, high, _) = standings.table("confidence").unwrap().rows[0].cells[3] else {
        panic!("no interval")
    };
    // Won everything in four matches: the mean is at most two points per match, and may be less.
    assert!((high - 2.0).abs() < 1e-9 && low < 1.9, "{low} to {high}");
}

#[test]
fn connect_five_entrants_equal_in_all_criteria_share_a_rank() {
    let circle: Matches<'_> = &[
        (&[(0, 1.0), (1, 0.0)], &[1.0, -1.0]),
        (&[(1, 1.0), (2, 0.0)], &[1.0, -1.0]),
        (&[(2, 1.0), (0, 0.0)], &[1.0, -1.0]),
    ];
    let standings = of(&league("connect-five", &["a", "b", "c"], circle));
    assert_eq!(ranks(standings.table("league").unwrap()), [(1, 0), (1, 1), (1, 2)]);
}

#[test]
fn hide_and_seek_has_two_tables_with_medals_and_marks() {
    let league =
        simulated::cross("hide-and-seek", &["Prowler", "Sniffer", "Lost"], &["Ghost", "Shadow"], 20, 4);
    let standings = of(&league);
    let seekers = standings.table("seekers").unwrap();
    assert_eq!(ranks(seekers), [(1, 0), (2, 1), (3, 2)]);
    assert_eq!(ranks(standings.table("hiders").unwrap()), [(1, 4), (2, 3)]);
    let cells = &seekers.rows[0].cells;
    assert_eq!(cells[1..3], [TableCell::Text("gold".to_owned()), TableCell::Text("Prowler (AI)".to_owned())]);
    assert_eq!(seekers.rows[2].cells[1], TableCell::Text("bronze".to_owned()));
    assert!(seekers.notes.iter().any(|note| note.starts_with("Prowler (AI): ")), "{:?}", seekers.notes);
    assert_eq!(standings.table("head-to-head").unwrap().columns.len(), 4);
    // All were caught: only steps decide, within each role.
    let rating = |entrant: usize| standings.ratings[entrant].rating;
    assert!(
        rating(0) > rating(1) && rating(1) > rating(2) && rating(4) > rating(3),
        "{:?}",
        standings.ratings
    );
    assert!((rating(3) + rating(4) - 3000.0).abs() < 1e-6);
}

#[test]
fn word_racer_ranks_by_points_then_word_points_with_the_knockout_first() {
    let mut league = league(
        "word-racer",
        &["a", "b", "c"],
        &[(&[(0, 3.0), (1, 0.0)], &[]), (&[(1, 3.0), (2, 0.0)], &[]), (&[(2, 1.0), (0, 1.0)], &[])],
    );
    league.results[1].games[0].seats[0].stats[0] = FixedPoint::from_int(40);
    league.results[0].games[0].seats[1].stats[0] = FixedPoint::from_int(20);
    let placing = [vec![Entrant(1)], vec![Entrant(2), Entrant(0)]];
    let standings = standings(&league.tally(), &request(&league, &placing));
    assert_eq!(ranks(&standings.tables[0]), [(1, 1), (2, 2), (2, 0)]);
    assert_eq!(standings.tables[0].id, "knockout");
    assert_eq!(ranks(standings.table("league").unwrap()), [(1, 0), (2, 1), (3, 2)]);
    // Equal points: word points decide.
    league.results[2] = match_of(&[(2, 3.0), (0, 0.0)], &[]);
    let again = of(&league);
    assert_eq!(ranks(again.table("league").unwrap()), [(1, 1), (2, 0), (2, 2)]);
    assert_eq!(again.head_to_head.len(), 3);
}

/// A game that is like this one but for its standings.
fn with_standings(game: &GameInfo, standings: StandingsRules) -> &'static GameInfo {
    Box::leak(Box::new(GameInfo { standings, ..game.clone() }))
}

#[test]
fn points_then_score_ranks_by_points_then_mean_score() {
    let league = simulated::groups_of_four("solitude-scramble", &[10.0, 14.0, 18.0, 22.0], 30, 3);
    let mut question = request(&league, &[]);
    question.game = with_standings(league.game, StandingsRules::POINTS_THEN_SCORE);
    let table = standings(&league.tally(), &question);
    assert_eq!(ranks(table.table("table").unwrap()), [(1, 3), (2, 2), (3, 1), (4, 0)]);
    // Equal points: the score decides.
    let results = vec![match_of(&[(0, 3.0), (1, 5.0)], &[1.0, 1.0])];
    let equal = League { game: league.game, entrants: simulated::entrants(&["a", "b"]), results };
    question.entrants = &equal.entrants;
    let table = standings(&equal.tally(), &question);
    assert_eq!(ranks(table.table("table").unwrap()), [(1, 1), (2, 0)]);
}

#[test]
fn mean_score_ranks_each_role_in_its_own_direction() {
    let league = simulated::cross("hide-and-seek", &["Prowler", "Lost"], &["Ghost", "Shadow"], 20, 4);
    let table = standings(&league.tally(), &request(&league, &[]));
    assert_eq!(ranks(table.table("seekers").unwrap()), [(1, 0), (2, 1)]);
    assert_eq!(ranks(table.table("hiders").unwrap()), [(1, 3), (2, 2)]);
}

#[test]
fn standings_without_matches_are_empty() {
    for game in agon_games::infos() {
        let league = League { game, entrants: simulated::entrants(&["a", "b"]), results: Vec::new() };
        let standings = of(&league);
        assert!(standings.tables.iter().all(|table| table.rows.is_empty()));
        assert!(standings.open.is_empty() && standings.ratings.is_empty());
        standings.json();
    }
}

#[test]
fn standings_do_not_depend_on_the_order_of_results() {
    let league = simulated::round_robin("word-racer", &[0.0, 0.2, 0.4, 0.6, 0.8], 7, 2);
    let mut turned = Tally::new(league.game);
    league.results.iter().rev().for_each(|result| turned.add(result));
    let (one, other) = (of(&league), standings(&turned, &request(&league, &[])));
    assert_eq!(one.json().to_string(), other.json().to_string());
}

#[test]
fn open_entrants_are_those_without_a_settled_neighbour_order() {
    // Two far above, two far below; within each pair the order is open.
    let league = simulated::groups_of_four("solitude-scramble", &[30.0, 30.0, 10.0, 10.0], 60, 9);
    let tally = league.tally();
    let order = official_order(&tally, &request(&league, &[]));
    let mut open = open_entrants(&tally, &request(&league, &[]));
    assert_eq!(open, order);
    assert_eq!(open, of(&league).open);
    let clear = simulated::groups_of_four("solitude-scramble", &[30.0, 22.0, 16.0, 10.0], 60, 9);
    open = open_entrants(&clear.tally(), &request(&clear, &[]));
    assert!(open.is_empty(), "{open:?}");
    let table = of(&league).table("confidence").unwrap().clone();
    let settled: Vec<&TableCell> = table.rows.iter().map(|row| &row.cells[4]).collect();
    let text = |word: &str| TableCell::Text(word.to_owned());
    assert_eq!(settled, [&text("open"), &text("settled"), &text("open"), &TableCell::Empty]);
}
