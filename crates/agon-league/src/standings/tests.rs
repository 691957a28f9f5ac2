//! Each table is ranked as its document says.

use super::*;
use crate::result::FixedPoint;
use crate::simulated::{self, League, match_of};

fn asked<'a>(league: &'a League, placing: &'a [Vec<Entrant>]) -> StandingsRequest<'a> {
    StandingsRequest {
        competition: "Test",
        phase: "phase 1",
        game: league.game,
        ranking: Ranking::of(league.game),
        entrants: &league.entrants,
        placing,
        rulings: &[],
    }
}

fn of(league: &League) -> Standings {
    standings(&league.tally(), &asked(league, &[]))
}

fn titles(sheet: &StandingsTable) -> Vec<&str> {
    sheet.columns.iter().map(|column| column.title.as_str()).collect()
}

/// Rank and entrant of each row.
fn ranks(sheet: &StandingsTable) -> Vec<(i64, u32)> {
    let rank = |row: &Row| match row.cells[0] {
        Cell::Int(rank) => (rank, row.entrant.unwrap().0),
        _ => panic!("no rank in {row:?}"),
    };
    sheet.rows.iter().map(rank).collect()
}

type Matches<'m> = &'m [(&'m [(u32, f64)], &'m [f64])];

/// A league of these matches of one game: seats with scores, and points.
fn league(game: &str, names: &[&str], matches: Matches<'_>) -> League {
    let results = matches.iter().map(|(seats, points)| match_of(seats, points)).collect();
    League { game: simulated::game(game), entrants: simulated::entrants(names), results }
}

#[test]
fn solitude_ranks_by_average_points_per_match_and_equals_share() {
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
    let sheet = standings.sheet("leaderboard").unwrap();
    assert_eq!(titles(sheet), ["Rank", "Name", "APPM", "Total points", "Matches"]);
    // 33 of 3 three times and 11 of 1; all equal, whatever the number of matches.
    assert_eq!(ranks(sheet), [(1, 0), (1, 1), (1, 2), (1, 4), (5, 3)]);
    assert_eq!(sheet.rows[0].cells[2..], [Cell::Real(11.0, 3, ""), Cell::Real(33.0, 0, ""), Cell::Int(3)]);
}

#[test]
fn colour_battle_has_the_tables_of_its_document() {
    let league = simulated::colour_battle(&["Abra by Rayman", "Vector by Ishu", "Picasso by Daniel"], 50, 1);
    let standings = of(&league);
    let ids: Vec<&str> = standings.sheets.iter().map(|sheet| sheet.id.as_str()).collect();
    assert_eq!(ids, ["score", "efficiency", "spread", "confidence"]);
    let score = standings.sheet("score").unwrap();
    assert_eq!(titles(score), ["Rank", "Name", "Contributor", "Avg [us]", "Score"]);
    assert_eq!(ranks(score), [(1, 2), (2, 1), (3, 0)]);
    let efficiency = standings.sheet("efficiency").unwrap();
    let columns = ["Rank", "Name", "Contributor", "Avg [us]", "Score [%]", "Efficiency [%/us]"];
    assert_eq!(titles(efficiency), columns);
    // Three times as slow for less than three times as much.
    assert_eq!(ranks(efficiency), [(1, 0), (2, 1), (3, 2)]);
    let Cell::Real(time, 3, "") = efficiency.rows[0].cells[3] else { panic!("no time") };
    assert!((time - 2.5).abs() < 1e-9);
    let plain = standings.without_times();
    assert!(plain.sheet("efficiency").is_none());
    assert_eq!(titles(plain.sheet("score").unwrap()), ["Rank", "Name", "Contributor", "Score"]);
    assert_eq!(plain.sheet("score").unwrap().rows[0].cells.len(), 4);
    let histogram = standings.histogram.unwrap();
    assert!(
        histogram.counts.iter().all(|(_, counts)| counts.iter().sum::<u64>() == 50 && counts.len() <= 60)
    );
}

#[test]
fn connect_five_points_then_difference_then_head_to_head() {
    let names = ["a", "b", "c", "d", "e"];
    let standings = of(&league(
        "connect-five",
        &names,
        &[
            // a, b, c beat each other in turn and all beat d; b loses one more game than a and c.
            (&[(0, 1.0), (1, 0.0)], &[2.0, -2.0]),
            (&[(1, 1.0), (2, 0.0)], &[2.0, -2.0]),
            (&[(2, 1.0), (0, 0.0)], &[2.0, -2.0]),
            (&[(0, 1.0), (3, 0.0)], &[2.0, -2.0]),
            (&[(1, 0.0), (3, 1.0)], &[2.0, -2.0]),
            (&[(2, 1.0), (3, 0.0)], &[2.0, -2.0]),
            (&[(4, 1.0), (3, 0.0)], &[2.0, -2.0]),
        ],
    ));
    let sheet = standings.sheet("league").unwrap();
    // a, b, c, e: two points. a and c: 2-1; e: 1-0; b: 1-2. So a, c, e have +1 and b has -1; among a, c, e only c beat a.
    assert_eq!(ranks(sheet), [(1, 2), (2, 4), (3, 0), (4, 1), (5, 3)]);
    let matrix = standings.sheet("head-to-head").unwrap();
    assert_eq!(matrix.rows[0].cells[4], Cell::Text("+2 (1-0)".to_owned()));
    assert_eq!(matrix.rows[0].cells[2], Cell::Empty);
}

#[test]
fn no_interval_lies_outside_what_anybody_had() {
    let league = simulated::connect_five(&["Ana", "Bea", "Carlos"], 5);
    let standings = of(&league);
    let Cell::Interval(low, high, _) = standings.sheet("confidence").unwrap().rows[0].cells[3] else {
        panic!("no interval")
    };
    // Won all there was to win, in four matches: at most two points a match, and perhaps less.
    assert!((high - 2.0).abs() < 1e-9 && low < 1.9, "{low} to {high}");
}

#[test]
fn connect_five_equals_to_the_end_share_their_rank() {
    let circle: Matches<'_> = &[
        (&[(0, 1.0), (1, 0.0)], &[1.0, -1.0]),
        (&[(1, 1.0), (2, 0.0)], &[1.0, -1.0]),
        (&[(2, 1.0), (0, 0.0)], &[1.0, -1.0]),
    ];
    let standings = of(&league("connect-five", &["a", "b", "c"], circle));
    assert_eq!(ranks(standings.sheet("league").unwrap()), [(1, 0), (1, 1), (1, 2)]);
}

#[test]
fn hide_and_seek_has_two_tables_with_medals_and_marks() {
    let league = simulated::hide_and_seek(&["Prowler", "Sniffer", "Lost"], &["Ghost", "Shadow"], 20, 4);
    let standings = of(&league);
    let seekers = standings.sheet("seekers").unwrap();
    assert_eq!(ranks(seekers), [(1, 0), (2, 1), (3, 2)]);
    assert_eq!(ranks(standings.sheet("hiders").unwrap()), [(1, 4), (2, 3)]);
    let cells = &seekers.rows[0].cells;
    assert_eq!(cells[1..3], [Cell::Text("gold".to_owned()), Cell::Text("Prowler (AI)".to_owned())]);
    assert_eq!(seekers.rows[2].cells[1], Cell::Text("bronze".to_owned()));
    assert!(seekers.notes.iter().any(|note| note.starts_with("Prowler (AI): ")), "{:?}", seekers.notes);
    assert_eq!(standings.sheet("head-to-head").unwrap().columns.len(), 4);
    // Everybody was caught: only steps tell who is better, within each role.
    let rating = |entrant: usize| standings.ratings[entrant].rating;
    assert!(
        rating(0) > rating(1) && rating(1) > rating(2) && rating(4) > rating(3),
        "{:?}",
        standings.ratings
    );
    assert!((rating(3) + rating(4) - 3000.0).abs() < 1e-6);
}

#[test]
fn word_racer_points_then_word_points_and_the_knockout_on_top() {
    let mut league = league(
        "word-racer",
        &["a", "b", "c"],
        &[(&[(0, 3.0), (1, 0.0)], &[]), (&[(1, 3.0), (2, 0.0)], &[]), (&[(2, 1.0), (0, 1.0)], &[])],
    );
    league.results[1].games[0].seats[0].stats[0] = FixedPoint::whole(40);
    league.results[0].games[0].seats[1].stats[0] = FixedPoint::whole(20);
    let placing = [vec![Entrant(1)], vec![Entrant(2), Entrant(0)]];
    let standings = standings(&league.tally(), &asked(&league, &placing));
    assert_eq!(ranks(&standings.sheets[0]), [(1, 1), (2, 2), (2, 0)]);
    assert_eq!(standings.sheets[0].id, "knockout");
    assert_eq!(ranks(standings.sheet("league").unwrap()), [(1, 0), (2, 1), (3, 2)]);
    // Equal points: word points decide.
    league.results[2] = match_of(&[(2, 3.0), (0, 0.0)], &[]);
    let again = of(&league);
    assert_eq!(ranks(again.sheet("league").unwrap()), [(1, 1), (2, 0), (2, 2)]);
    assert_eq!(again.head_to_head.len(), 3);
}

#[test]
fn an_event_of_ones_own_ranks_by_points_then_score() {
    let league = simulated::solitude(&[10.0, 14.0, 18.0, 22.0], 30, 3);
    let mut question = asked(&league, &[]);
    question.ranking = Ranking::Generic;
    let table = standings(&league.tally(), &question);
    assert_eq!(ranks(table.sheet("table").unwrap()), [(1, 3), (2, 2), (3, 1), (4, 0)]);
    let league = simulated::hide_and_seek(&["Prowler", "Lost"], &["Ghost", "Shadow"], 20, 4);
    let mut question = asked(&league, &[]);
    question.ranking = Ranking::Generic;
    let table = standings(&league.tally(), &question);
    assert_eq!(ranks(table.sheet("table-seeker").unwrap()), [(1, 0), (2, 1)]);
    assert_eq!(ranks(table.sheet("table-hider").unwrap()), [(1, 3), (2, 2)]);
}

#[test]
fn nothing_played_is_an_empty_table() {
    for game in agon_games::infos() {
        let league = League { game, entrants: simulated::entrants(&["a", "b"]), results: Vec::new() };
        let standings = of(&league);
        assert!(standings.sheets.iter().all(|sheet| sheet.rows.is_empty()));
        assert!(standings.open.is_empty() && standings.ratings.is_empty());
        standings.json();
    }
}

#[test]
fn the_order_of_results_does_not_show() {
    let league = simulated::word_racer(&[0.0, 0.2, 0.4, 0.6, 0.8], 7, 2);
    let mut turned = Tally::new(league.game);
    league.results.iter().rev().for_each(|result| turned.add(result));
    let (one, other) = (of(&league), standings(&turned, &asked(&league, &[])));
    assert_eq!(one.json().to_string(), other.json().to_string());
}

#[test]
fn open_names_those_between_whom_nothing_is_settled() {
    // Two far above, two far below; within each pair nobody knows.
    let league = simulated::solitude(&[30.0, 30.0, 10.0, 10.0], 60, 9);
    let tally = league.tally();
    let order = order(&tally, &asked(&league, &[]));
    let mut open = open(&tally, &asked(&league, &[]));
    assert_eq!(open, order);
    assert_eq!(open, of(&league).open);
    let clear = simulated::solitude(&[30.0, 22.0, 16.0, 10.0], 60, 9);
    open = super::open(&clear.tally(), &asked(&clear, &[]));
    assert!(open.is_empty(), "{open:?}");
    let sheet = of(&league).sheet("confidence").unwrap().clone();
    let settled: Vec<&Cell> = sheet.rows.iter().map(|row| &row.cells[4]).collect();
    let text = |word: &str| Cell::Text(word.to_owned());
    assert_eq!(settled, [&text("open"), &text("settled"), &text("open"), &Cell::Empty]);
}
