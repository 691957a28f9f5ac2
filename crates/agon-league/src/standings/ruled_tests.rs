//! Disqualified bots and void matches in the tables of all five games.

use std::fmt::Write as _;

use super::*;
use crate::result::MatchKey;
use crate::simulated::{self, League};

/// Half past ten on the day of the sample dates.
const AT: i64 = 1_794_738_600_000;

fn ruled(number: u64, kind: RulingKind, reason: &str) -> RulingNote {
    let seats = if matches!(kind, RulingKind::Void(_)) { vec![Entrant(0), Entrant(1)] } else { Vec::new() };
    RulingNote { number, kind, seats, reason: reason.to_owned(), at: Some(AT), lifted: None, late: false }
}

fn disqualified(entrant: u32) -> RulingNote {
    ruled(1, RulingKind::Disqualify(Entrant(entrant)), "it reads the others' files")
}

fn void() -> RulingNote {
    let key = MatchKey { phase: 0, stage: 0, number: 0 };
    ruled(2, RulingKind::Void(key), "the power was cut")
}

fn asked<'a>(league: &'a League, placing: &'a [Vec<Entrant>], rulings: &'a [RulingNote]) -> StandingsRequest<'a> {
    StandingsRequest {
        competition: "Test",
        phase: "phase 1",
        game: league.game,
        ranking: Ranking::of(league.game),
        entrants: &league.entrants,
        placing,
        rulings,
    }
}

/// All sheets as plain text: what anybody is shown, without times.
fn text(standings: &Standings) -> String {
    let mut text = String::new();
    for sheet in &standings.without_times().sheets {
        let titles: Vec<&str> = sheet.columns.iter().map(|column| column.title.as_str()).collect();
        let _ = writeln!(text, "== {}\n{}", sheet.title, titles.join(" | "));
        for row in &sheet.rows {
            let cells: Vec<String> = row.cells.iter().map(Cell::shown).collect();
            let _ = writeln!(text, "{}", cells.join(" | "));
        }
        sheet.notes.iter().for_each(|note| text += &format!("({note})\n"));
    }
    text
}

/// The best of each game's league.
fn five() -> [(&'static str, League, u32); 5] {
    [
        ("solitude", simulated::solitude(&[14.0, 18.0, 18.0, 23.0], 30, 3), 3),
        (
            "colour_battle",
            simulated::colour_battle(&["Picasso", "Abra by Rayman", "Vector by Ishu"], 40, 1),
            2,
        ),
        ("connect_five", simulated::connect_five(&["Ana", "Bea", "Carlos"], 5), 0),
        (
            "hide_and_seek",
            simulated::hide_and_seek(&["Prowler", "Sniffer", "Lost", "Blind"], &["Ghost", "Shadow"], 20, 4),
            0,
        ),
        ("word_racer", simulated::word_racer(&[0.0, 0.5, 1.0, -0.5], 6, 2), 2),
    ]
}

#[test]
fn who_is_disqualified_stands_last_and_the_others_move_up() {
    for (name, league, best) in five() {
        let rulings = [disqualified(best)];
        let tally = league.tally();
        let fair = standings(&tally, &asked(&league, &[], &[]));
        let now = standings(&tally, &asked(&league, &[], &rulings));
        insta::assert_snapshot!(format!("{name}_disqualified"), text(&now));
        for (before, after) in fair.sheets.iter().zip(&now.sheets).filter(|(sheet, _)| sheet.official) {
            let Some(row) = after.rows.iter().find(|row| row.entrant == Some(Entrant(best))) else {
                continue;
            };
            assert_eq!(Some(row), after.rows.last(), "{name}: {}", after.id);
            assert_eq!(row.cells[0], Cell::Empty, "{name}: {}", after.id);
            // Its games count: nobody's figures change, only their ranks.
            let others = |sheet: &StandingsTable| -> Vec<Vec<Cell>> {
                let others = sheet.rows.iter().filter(|row| row.entrant != Some(Entrant(best)));
                others
                    .map(|row| row.cells[if sheet.id.ends_with("ers") { 2 } else { 1 }..].to_vec())
                    .collect()
            };
            assert_eq!(others(before), others(after), "{name}: {}", after.id);
            if !after.time {
                let says = "is disqualified: it reads the others' files";
                assert!(after.notes.iter().any(|note| note.ends_with(says)), "{name}: {:?}", after.notes);
            }
        }
        let order = order(&tally, &asked(&league, &[], &rulings));
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
fn a_void_match_is_listed_and_counts_for_nothing() {
    for (name, league, _) in five() {
        let rulings = [void()];
        let mut tally = Tally::new(league.game);
        league.results[1..].iter().for_each(|result| tally.add(result));
        let now = standings(&tally, &asked(&league, &[], &rulings));
        assert_eq!(now.matches + 1, league.results.len() as u64, "{name}");
        insta::assert_snapshot!(format!("{name}_void"), text(&now));
        let json = now.json();
        assert_eq!(json["rulings"][0]["match"]["number"], 0);
        assert_eq!(json["rulings"][0]["seats"], serde_json::json!([0, 1]));
        assert_eq!(now.without_times().json()["rulings"][0]["at"], serde_json::Value::Null);
    }
}

#[test]
fn who_won_a_knockout_and_is_disqualified_has_no_place_in_it() {
    let league = simulated::word_racer(&[0.0, 0.5, 1.0, -0.5], 6, 2);
    let placing = [vec![Entrant(2)], vec![Entrant(1)], vec![Entrant(0), Entrant(3)]];
    let rulings = [disqualified(2)];
    let now = standings(&league.tally(), &asked(&league, &placing, &rulings));
    let rows: Vec<(Cell, u32)> =
        now.sheets[0].rows.iter().map(|row| (row.cells[0].clone(), row.entrant.unwrap().0)).collect();
    let place = |place| Cell::Int(place);
    assert_eq!(rows, [(place(1), 1), (place(2), 0), (place(2), 3), (Cell::Empty, 2)]);
    assert_eq!(now.sheets[0].rows[3].cells[1], Cell::Text("racer 3 (disqualified)".to_owned()));
}

#[test]
fn everybody_can_be_disqualified() {
    for (name, league, _) in five() {
        let all: Vec<RulingNote> = (0..league.entrants.len() as u32).map(disqualified).collect();
        let now = standings(&league.tally(), &asked(&league, &[], &all));
        assert!(
            now.open.is_empty() && order(&league.tally(), &asked(&league, &[], &all)).is_empty(),
            "{name}"
        );
        let places = now.sheets.iter().filter(|sheet| sheet.official).flat_map(|sheet| &sheet.rows);
        assert!(places.clone().count() >= all.len() && places.clone().all(|row| row.cells[0] == Cell::Empty));
    }
}

#[test]
fn what_was_lifted_or_came_late_is_said() {
    let league = simulated::connect_five(&["Ana", "Bea", "Carlos"], 5);
    let lifted = RulingLift { reason: "it does not".to_owned(), at: Some(AT + 60_000) };
    let mut rulings = [RulingNote { lifted: Some(lifted), ..disqualified(0) }, RulingNote { late: true, ..void() }];
    rulings[1].seats = (0..6).map(Entrant).collect();
    let now = standings(&league.tally(), &asked(&league, &[], &rulings));
    let fair = standings(&league.tally(), &asked(&league, &[], &[]));
    assert_eq!(now.sheet("league"), fair.sheet("league"), "a ruling that was lifted changes nothing");
    let sheet = now.sheet("rulings").unwrap();
    let shown: Vec<Vec<String>> =
        sheet.rows.iter().map(|row| row.cells.iter().map(Cell::shown).collect()).collect();
    let when = "2026-11-15 10:30 UTC";
    assert_eq!(
        shown[0],
        ["1", "Ana", "disqualified: it reads the others' files (lifted: it does not)", when]
    );
    let about = "match 1.1.1: Ana, Bea, Carlos, entrant 4, 2 more";
    assert_eq!(shown[1], ["2", about, "void: the power was cut", when]);
    assert!(
        sheet.notes[0].ends_with("so that the published table is another one: ruling 2"),
        "{:?}",
        sheet.notes
    );
    assert_eq!(now.json()["rulings"][1]["after_publication"], true);
    assert_eq!(fair.sheet("rulings"), None);
}
