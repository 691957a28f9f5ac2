//! Films as JSON, as `docs/film.md` describes them, for every game.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::time::Duration;

use agon_core::frame::patch;
use agon_core::{Assets, Seat};
use agon_engine::Film;
use agon_engine::film::TypedFilm;
use agon_engine::film::json::{BotOutputLine, FilmExtras, to_json};
use agon_games::{GameVisitor, PlayableGame};
use common::{record, referee, script};
use serde_json::Value as Json;

fn film<G: PlayableGame>(number: u64) -> TypedFilm<G> {
    let played = referee(&script::<G>(number, 8), Duration::from_nanos(1_234));
    TypedFilm::new(record(&played), &Assets::default()).unwrap()
}

/// Number of answers with a time for each seat; `-` is not an answer.
fn answered(json: &Json, seats: usize) -> Vec<usize> {
    let mut counts = vec![0; seats];
    for (turn, line) in json["answers"].as_array().unwrap().iter().enumerate() {
        let tokens: Vec<&str> = line.as_str().unwrap().split(' ').collect();
        let movers: Vec<usize> = match json["movers"].get(turn) {
            Some(movers) => serde_json::from_value(movers.clone()).unwrap(),
            None => (0..seats).collect(),
        };
        assert_eq!(tokens.len(), movers.len(), "turn {}", turn + 1);
        for (seat, token) in movers.into_iter().zip(tokens) {
            counts[seat] += usize::from(token != "-");
        }
    }
    counts
}

struct Check;

impl GameVisitor for Check {
    type Output = ();

    fn visit<G: PlayableGame>(self) {
        for number in 0..6 {
            let film = film::<G>(number);
            let json = to_json(G::info(), &film, &FilmExtras::default());
            let seats = film.record().header.seats.len();
            let deltas = json["deltas"].as_array().unwrap();
            assert_eq!(deltas.len(), film.len() - 1);
            let mut frame = json["first"].clone();
            for (turn, delta) in deltas.iter().enumerate() {
                patch(&mut frame, delta);
                assert_eq!(frame, film.frame(turn + 1), "{}, turn {}", G::info().id, turn + 1);
            }
            let timed: Vec<usize> = json["micros"]
                .as_array()
                .unwrap()
                .iter()
                .map(|seat| seat.as_array().unwrap().len())
                .collect();
            assert_eq!(answered(&json, seats), timed, "{}", G::info().id);
            let lines = json["standing"]["lines"].as_array().unwrap();
            assert!(
                lines.len() == seats || lines.len() == 1,
                "{}: one chart line, or one for each seat",
                G::info().id
            );
            assert!(lines.iter().all(|line| line.as_array().unwrap().len() == film.len()));
            assert!(!json["standing"]["of"].as_str().unwrap().is_empty());
            assert_eq!(json["faults"].as_array().unwrap().len(), film.record().faults.len());
        }
    }
}

#[test]
fn film_contains_every_frame_answer_time_and_fault() {
    for info in agon_games::infos() {
        agon_games::visit(info.id, Check).unwrap();
    }
}

#[test]
fn film_extras_are_added_and_the_seed_can_be_omitted() {
    type Game = agon_games::connect_five::ConnectFive;
    let film = film::<Game>(1);
    let plain = to_json(agon_engine::any_game("connect-five").unwrap().info(), &film, &FilmExtras::default());
    assert_eq!(plain["seed"], film.record().header.seed.to_string());
    assert!(plain.get("logs").is_none() && plain.get("contributors").is_none());
    let extras = FilmExtras {
        contributors: vec![Some("Ann".to_owned()), None],
        colours: vec![7, 3],
        wins: vec![1, 0],
        bot_output: vec![BotOutputLine { turn: 2, seat: Seat(1), text: "hm".to_owned() }],
        hide_seed: true,
    };
    let json = to_json(agon_engine::any_game("connect-five").unwrap().info(), &film, &extras);
    assert_eq!((&json["colours"], &json["wins"]), (&serde_json::json!([7, 3]), &serde_json::json!([1, 0])));
    assert!(plain.get("colours").is_none() && plain.get("wins").is_none());
    assert!(json.get("seed").is_none());
    assert_eq!(json["contributors"], serde_json::json!(["Ann", null]));
    assert_eq!(json["logs"], serde_json::json!([{"turn": 2, "seat": 1, "text": "hm"}]));
}
