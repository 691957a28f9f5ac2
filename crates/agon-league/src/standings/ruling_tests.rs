//! Disqualified bots and void matches in the tables of all five games.

use std::fmt::Write as _;

use super::*;
use crate::result::MatchKey;
use crate::simulated::{self, League};

/// 2026-11-15 10:30 UTC.
const RULING_TIME: i64 = 1_794_738_600_000;

fn ruling(number: u64, kind: RulingKind, reason: &str) -> RulingNote {
    let seats = if matches!(kind, RulingKind::Void(_)) { vec![Entrant(0), Entrant(1)] } else { Vec::new() };
    RulingNote {
        number,
        kind,
        seats,
        reason: reason.to_owned(),
        at: Some(RULING_TIME),
        lifted: None,
        after_publication: false,
    }
}

fn disqualified(entrant: u32) -> RulingNote {
    ruling(1, RulingKind::Disqualify(Entrant(entrant)), "it reads the others' files")
}

fn void() -> RulingNote {
    let key = MatchKey { phase: 0, stage: 0, number: 0 };
    ruling(2, RulingKind::Void(key), "the power was cut")
}

fn request<'a>(
    league: &'a League,
    placing: &'a [Vec<Entrant>],
    rulings: &'a [RulingNote],
) -> StandingsRequest<'a> {
    StandingsRequest {
        competition: "Test",
        phase: "phase 1",
        game: league.game,
        entrants: &league.entrants,
        placing,
        rulings,
    }
}

/// All tables as plain text, without times.
fn text(standings: &Standings) -> String {
    let mut text = String::new();
    for table in &standings.without_times().tables {
        let titles: Vec<&str> = table.columns.iter().map(|column| column.title.as_str()).collect();
        let _ = writeln!(text, "== {}\n{}", table.title, titles.join(" | "));
        for row in &table.rows {
            let cells: Vec<String> = row.cells.iter().map(TableCell::describe).collect();
            let _ = writeln!(text, "{}", cells.join(" | "));
        }
        table.notes.iter().for_each(|note| text += &format!("({note})\n"));
    }
    text
}

/// A league of each game, with its best entrant.
fn leagues_of_all_games() -> [(&'static str, League, u32); 5] {
    [
        ("solitude", simulated::groups_of_four("solitude-scramble", &[14.0, 18.0, 18.0, 23.0], 30, 3), 3),
        (
            "colour_battle",
            simulated::arena("colour-battle", &["Picasso", "Abra by Rayman", "Vector by Ishu"], 40, 1),
            2,
        ),
        ("connect_five", simulated::home_and_away("connect-five", &["Ana", "Bea", "Carlos"], 5), 0),
        (
            "hide_and_seek",
            simulated::cross(
                "hide-and-seek",
                &["Prowler", "Sniffer", "Lost", "Blind"],
                &["Ghost", "Shadow"],
                20,
                4,
            ),
            0,
        ),
        ("word_racer", simulated::round_robin("word-racer", &[0.0, 0.5, 1.0, -0.5], 6, 2), 2),
    ]
}

#[test]
fn disqualified_entrant_is_last_and_others_move_up() {
    for (name, league, best) in leagues_of_all_games() {
        let rulings = [disqualified(best)];
        let tally = league.tally();
        let fair = standings(&tally, &request(&league, &[], &[]));
        let now = standings(&tally, &request(&league, &[], &rulings));
        insta::assert_snapshot!(format!("{name}_disqualified"), text(&now));
        for (before, after) in fair.tables.iter().zip(&now.tables).filter(|(table, _)| table.official) {
            let Some(row) = after.rows.iter().find(|row| row.entrant == Some(Entrant(best))) else {
                continue;
            };
            assert_eq!(Some(row), after.rows.last(), "{name}: {}", after.id);
            assert_eq!(row.cells[0], TableCell::Empty, "{name}: {}", after.id);
            // Its games still count: only the ranks of the others change.
            let others = |table: &StandingsTable| -> Vec<Vec<TableCell>> {
                let others = table.rows.iter().filter(|row| row.entrant != Some(Entrant(best)));
                others
                    .map(|row| row.cells[if table.id.ends_with("ers") { 2 } else { 1 }..].to_vec())
                    .collect()
            };
            assert_eq!(others(before), others(after), "{name}: {}", after.id);
            if !after.ranked_by_time {
                let says = "is disqualified: it reads the others' files";
                assert!(after.notes.iter().any(|note| note.ends_with(says)), "{name}: {:?}", after.notes);
            }
        }
        let order = official_order(&tally, &request(&league, &[], &rulings));
        assert!(!order.contains(&Entrant(best)) && order.len() + 1 == now.entrants.len(), "{name}");
        assert!(!now.open.contains(&Entrant(best)) && now.ratings == fair.ratings, "{name}");
        let json = now.json();
        let marks = &json["entrants"][best as usize]["marks"];
        let mark = marks.as_array().unwrap().last().unwrap();
        assert_eq!(
            (&mark["mark"], &mark["note"]),
            (&"disqualified".into(), &"it reads the others' files".into())
        );
        assert_eq!(json["rulings"][0]["kind"], "disqualified");
    }
}

#[test]
fn void_match_is_listed_and_not_counted() {
    for (name, league, _) in leagues_of_all_games() {
        let rulings = [void()];
        let mut tally = Tally::new(league.game);
        league.results[1..].iter().for_each(|result| tally.add(result));
        let now = standings(&tally, &request(&league, &[], &rulings));
        assert_eq!(now.matches + 1, league.results.len() as u64, "{name}");
        insta::assert_snapshot!(format!("{name}_void"), text(&now));
        let json = now.json();
        assert_eq!(json["rulings"][0]["match"]["number"], 0);
        assert_eq!(json["rulings"][0]["seats"], serde_json::json!([0, 1]));
        assert_eq!(now.without_times().json()["rulings"][0]["at"], serde_json::Value::Null);
    }
}

#[test]
fn disqualified_knockout_winner_has_no_place() {
    let league = simulated::round_robin("word-racer", &[0.0, 0.5, 1.0, -0.5], 6, 2);
    let placing = [vec![Entrant(2)], vec![Entrant(1)], vec![Entrant(0), Entrant(3)]];
    let rulings = [disqualified(2)];
    let now = standings(&league.tally(), &request(&league, &placing, &rulings));
    let rows: Vec<(TableCell, u32)> =
        now.tables[0].rows.iter().map(|row| (row.cells[0].clone(), row.entrant.unwrap().0)).collect();
    let place = |place| TableCell::Int(place);
    assert_eq!(rows, [(place(1), 1), (place(2), 0), (place(2), 3), (TableCell::Empty, 2)]);
    assert_eq!(now.tables[0].rows[3].cells[1], TableCell::Text("racer 3 (disqualified)".to_owned()));
}

#[test]
fn all_entrants_can_be_disqualified() {
    for (name, league, _) in leagues_of_all_games() {
        let all: Vec<RulingNote> = (0..league.entrants.len() as u32).map(disqualified).collect();
        let now = standings(&league.tally(), &request(&league, &[], &all));
        assert!(
            now.open.is_empty() && official_order(&league.tally(), &request(&league, &[], &all)).is_empty(),
            "{name}"
        );
        let places = now.tables.iter().filter(|table| table.official).flat_map(|table| &table.rows);
        assert!(
            places.clone().count() >= all.len() && places.clone().all(|row| row.cells[0] == TableCell::Empty)
        );
    }
}

#[test]
fn lifted_and_late_rulings_are_shown() {
    let league = simulated::home_and_away("connect-five", &["Ana", "Bea", "Carlos"], 5);
    let lifted = RulingLift { reason: "it does not".to_owned(), at: Some(RULING_TIME + 60_000) };
    let mut rulings = [
        RulingNote { lifted: Some(lifted), ..disqualified(0) },
        RulingNote { after_publication: true, ..void() },
    ];
    rulings[1].seats = (0..6).map(Entrant).collect();
    let now = standings(&league.tally(), &request(&league, &[], &rulings));
    let fair = standings(&league.tally(), &request(&league, &[], &[]));
    assert_eq!(now.table("league"), fair.table("league"), "a lifted ruling changes nothing");
    let table = now.table("rulings").unwrap();
    let shown: Vec<Vec<String>> =
        table.rows.iter().map(|row| row.cells.iter().map(TableCell::describe).collect()).collect();
    let when = "2026-11-15 10:30 UTC";
    assert_eq!(
        shown[0],
        ["1", "Ana", "disqualified: it reads the others' files (lifted: it does not)", when]
    );
    let about = "match 1.1.1: Ana, Bea, Carlos, entrant 4, 2 more";
    assert_eq!(shown[1], ["2", about, "void: the power was cut", when]);
    assert!(
        table.notes[0].ends_with("so that the published table is another one: ruling 2"),
        "{:?}",
        table.notes
    );
    assert_eq!(now.json()["rulings"][1]["after_publication"], true);
    assert_eq!(fair.table("rulings"), None);
}
