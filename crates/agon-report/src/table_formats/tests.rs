//! All formats of the tables of all five games.

use agon_league::Entrant;
use agon_league::simulated::{self, League};
use agon_league::standings::{RulingKind, RulingNote, Standings, StandingsRequest, TableCell, standings};

use super::*;

fn of(league: &League, placing: &[Vec<Entrant>]) -> Standings {
    ruled(league, placing, &[])
}

fn ruled(league: &League, placing: &[Vec<Entrant>], rulings: &[RulingNote]) -> Standings {
    let asked = StandingsRequest {
        competition: "Spring Cup",
        phase: "phase 1",
        game: league.game,
        entrants: &league.entrants,
        placing,
        rulings,
    };
    standings(&league.tally(), &asked)
}

fn solitude() -> Standings {
    let mut league = simulated::groups_of_four("solitude-scramble", &[14.0, 18.0, 18.0, 23.0], 30, 3);
    league.results[2].games[0].seats[1].faults = [1, 0, 2, 0];
    of(&league, &[])
}

fn colour_battle() -> Standings {
    let names = ["Picasso by Daniel", "Abra by Rayman", "The Swift Sweeper by Jerrel", "Rambo The Rando"];
    of(&simulated::arena("colour-battle", &names, 40, 1), &[])
}

fn connect_five() -> Standings {
    of(&simulated::home_and_away("connect-five", &["Ana", "Bea", "Carlos"], 5), &[])
}

fn hide_and_seek() -> Standings {
    let seekers = ["Prowler by Ada", "Sniffer by Bob", "Lost", "Blind"];
    of(&simulated::cross("hide-and-seek", &seekers, &["Ghost", "Shadow by Bob"], 20, 4), &[])
}

fn word_racer() -> Standings {
    let placing = [vec![Entrant(2)], vec![Entrant(1)], vec![Entrant(0), Entrant(3)]];
    of(&simulated::round_robin("word-racer", &[0.0, 0.5, 1.0, -0.5], 6, 2), &placing)
}

fn five() -> [(&'static str, Standings); 5] {
    [
        ("solitude", solitude()),
        ("colour_battle", colour_battle()),
        ("connect_five", connect_five()),
        ("hide_and_seek", hide_and_seek()),
        ("word_racer", word_racer()),
    ]
}

/// Text with a fixed width, because the terminal's width must not get into the snapshots.
fn as_text(standings: &Standings) -> String {
    text::render(standings, Some(160))
}

#[test]
fn text() {
    for (name, standings) in five() {
        insta::assert_snapshot!(format!("{name}_text"), as_text(&standings));
    }
    insta::assert_snapshot!("colour_battle_text_without_times", as_text(&colour_battle().without_times()));
}

#[test]
fn csv() {
    for (name, standings) in five() {
        insta::assert_snapshot!(format!("{name}_csv"), render(&standings, TableFormat::Csv, true, None));
    }
}

#[test]
fn markdown() {
    for (name, standings) in five() {
        insta::assert_snapshot!(format!("{name}_md"), render(&standings, TableFormat::Md, false, None));
    }
}

#[test]
fn html() {
    for (name, standings) in five() {
        insta::assert_snapshot!(format!("{name}_html"), html::fragment(&standings.without_times()));
    }
    let page = render(&word_racer(), TableFormat::Html, true, None);
    assert!(
        page.starts_with("<!doctype html>") && page.contains("<title>Spring Cup, phase 1: 36 games</title>")
    );
    assert!(!page.contains("http"), "the page has external resources");
}

/// Documents are long, so only the smallest is compared completely. For the others the test compares what programs rely on.
#[test]
fn json() {
    insta::assert_snapshot!("connect_five_json", render(&connect_five(), TableFormat::Json, true, None));
    for (name, standings) in five() {
        let document: serde_json::Value =
            serde_json::from_str(&render(&standings, TableFormat::Json, false, None)).unwrap();
        assert_eq!((&document["agon"], &document["version"]), (&"table".into(), &1.into()), "{name}");
        let text = document.to_string();
        assert!(!text.contains("_us\"") && !text.contains("efficiency"), "measured times in {name}");
        let outline = document["sheets"].as_array().unwrap().iter().map(|sheet| {
            let columns: Vec<&str> =
                sheet["columns"].as_array().unwrap().iter().map(|c| c["id"].as_str().unwrap()).collect();
            assert!(
                sheet["rows"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .all(|row| row.as_object().unwrap().len() == columns.len() + 1)
            );
            format!("{}: {}\n", sheet["id"].as_str().unwrap(), columns.join(" "))
        });
        insta::assert_snapshot!(format!("{name}_json_outline"), outline.collect::<String>());
    }
}

/// The two tables of the document: the same headings in the same order, and the same figures for the same means.
#[test]
fn the_colour_battle_document_column_for_column() {
    let document = [
        ("Hein Won't Let Me Cheat by Lewie", 913.935, 6.344),
        ("Schumi by Ferdinand Schumacher", 572.717, 5.101),
        ("The Swift Sweeper by Jerrel", 10.84, 3.681),
        ("RapidRothko by Jorik de Vries", 10.13, 3.173),
        ("ID10+ BOT by Nobleo", 25721.517, 0.122),
        ("RickbrandtVanRijn by Rick Voogt", 2.588, 0.069),
    ];
    let names: Vec<&str> = document.iter().map(|row| row.0).collect();
    let mut league = simulated::arena("colour-battle", &names, 2, 1);
    for (number, result) in league.results.iter_mut().enumerate() {
        for (seat, (_, time, score)) in result.games[0].seats.iter_mut().zip(document) {
            // A bit more in one game, a bit less in the other.
            let off = [0.05, -0.05][number];
            seat.score = agon_league::FixedPoint::from_f64(score + off);
            seat.answers = 1000;
            seat.thought_ns = (time * 1e6_f64).round() as u64;
        }
    }
    let mut standings = of(&league, &[]);
    standings.tables.truncate(2);
    insta::assert_snapshot!(as_text(&standings));
}

#[test]
fn names_with_markup_are_escaped_in_every_format() {
    let names = ["<script>alert(1)</script> by a|b", "*bold*, \"quoted\""];
    let standings = of(&simulated::arena("colour-battle", &names, 3, 1), &[]);
    let html = render(&standings, TableFormat::Html, true, None);
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && !html.contains("<script"));
    let markdown = render(&standings, TableFormat::Md, true, None);
    assert!(markdown.contains("a\\|b") && markdown.contains("\\*bold\\*") && !markdown.contains("<script"));
    let csv = render(&standings, TableFormat::Csv, true, None);
    assert!(csv.contains(",\"*bold*, \"\"quoted\"\"\","), "{csv}");
}

#[test]
fn reason_of_a_disqualification_is_in_every_format() {
    let reason = "it reads the others' files, <all> of them";
    let ruling = RulingNote {
        number: 1,
        kind: RulingKind::Disqualify(Entrant(0)),
        seats: Vec::new(),
        reason: reason.to_owned(),
        at: Some(1_794_738_600_000),
        lifted: None,
        after_publication: true,
    };
    let leagues = [
        simulated::groups_of_four("solitude-scramble", &[14.0, 18.0, 18.0, 23.0], 30, 3),
        simulated::arena("colour-battle", &["Picasso by Daniel", "Abra", "Vector"], 40, 1),
        simulated::home_and_away("connect-five", &["Ana", "Bea", "Carlos"], 5),
        simulated::cross("hide-and-seek", &["Prowler", "Sniffer"], &["Ghost", "Shadow"], 20, 4),
        simulated::round_robin("word-racer", &[0.0, 0.5, 1.0, -0.5], 6, 2),
    ];
    for league in leagues {
        let standings = ruled(&league, &[], std::slice::from_ref(&ruling));
        let game = league.game.id;
        let says = format!("disqualified: {reason}");
        let text = as_text(&standings);
        assert!(text.contains(&format!(" is {says}")) && text.contains("(disqualified)"), "{game}\n{text}");
        assert!(text.contains("2026-11-15 10:30 UTC") && text.contains("was published"), "{game}\n{text}");
        let csv = render(&standings, TableFormat::Csv, false, None);
        assert!(csv.contains(&format!("\"{says}\"")) && csv.contains("\n,") && !csv.contains("UTC"), "{csv}");
        let said = says.replace('<', "&lt;").replace('>', "&gt;");
        let markdown = render(&standings, TableFormat::Md, true, None);
        assert!(
            markdown.contains(&format!("| {said} |")) && markdown.contains(&format!(" is {said}")),
            "{game}"
        );
        let html = render(&standings, TableFormat::Html, true, None);
        assert!(
            html.contains(&said.replace('\'', "&#39;")) && html.contains("(disqualified)"),
            "{game}\n{html}"
        );
        let json: serde_json::Value =
            serde_json::from_str(&render(&standings, TableFormat::Json, true, None)).unwrap();
        assert_eq!(json["rulings"][0]["reason"], *reason, "{game}");
    }
}

#[test]
fn zero_has_no_sign() {
    assert_eq!(TableCell::Real(-0.000_4, 3, "").describe(), "0.000");
    assert_eq!(TableCell::Real(-0.000_6, 3, "").describe(), "-0.001");
    assert_eq!(TableCell::Real(6.344, 3, "%").describe(), "6.344 %");
}
