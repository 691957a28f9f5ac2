//! Recorded matches of the original implementation, and the published history.

use agon_core::Game;
use agon_games::solitude_scramble::SolitudeScramble;
use agon_games::solitude_scramble::board::Move::{Left, Right};
use agon_games::solitude_scramble::board::Side::{East, North, South, West};
use agon_games::solitude_scramble::board::{Platform, Side};
use agon_games::solitude_scramble::history::history_json;
use agon_games::solitude_scramble::state::{Deal, State};
use serde_json::{Value as Json, json};

use crate::{deal, game_with, names, replies};

const MATCHES: &str = include_str!("../vectors/solitude-scramble/matches.json");

fn recorded_deal(turn: &Json, players: &[String]) -> Deal {
    let scores = Platform::ALL.map(|p| turn["platform_scores"][p.name()].as_u64().unwrap() as u8);
    let side_of = |name: &String| {
        let map = turn["players_map"].as_object().unwrap();
        let (side, _) = map.iter().find(|(_, player)| player.as_str() == Some(name)).unwrap();
        Side::ALL.into_iter().find(|s| s.name() == side).unwrap()
    };
    deal(scores, std::array::from_fn(|seat| side_of(&players[seat])))
}

fn replay(recorded: &Json) -> (State, Vec<String>) {
    let players: Vec<String> = serde_json::from_value(recorded["players"].clone()).unwrap();
    let turns = recorded["turn_data"].as_array().unwrap();
    let game = game_with(&[("turns", &turns.len().to_string())]);
    let mut state = game.start(0);
    for turn in turns {
        state.set_deal(recorded_deal(turn, &players));
        let moves = std::array::from_fn(|seat| {
            let text = turn["player_move"][&players[seat]].as_str().unwrap();
            if text == "NONE" { None } else { Some(SolitudeScramble::read_answer(text).unwrap()) }
        });
        game.apply(&mut state, &replies(moves));
    }
    assert!(game.outcome(&state).is_some());
    (state, players)
}

#[test]
fn all_recorded_matches_are_reproduced() {
    let matches: Vec<Json> = serde_json::from_str(MATCHES).unwrap();
    assert_eq!(matches.len(), 20);
    assert!(MATCHES.contains(r#""NONE""#), "the recorded matches contain forfeits");
    for (number, recorded) in matches.iter().enumerate() {
        let (state, players) = replay(recorded);
        for (turn, played) in recorded["turn_data"].as_array().unwrap().iter().zip(state.history()) {
            for (name, award) in players.iter().zip(played.awards) {
                let points = turn["scores_awarded"].get(name).map_or(0, |n| n.as_u64().unwrap());
                assert_eq!(points, u64::from(award), "match {number}, turn {}, {name}", played.number);
            }
        }
        for (name, total) in players.iter().zip(state.totals()) {
            assert_eq!(recorded["final_scores"][name], json!(total), "match {number}, {name}");
        }
    }
}

#[test]
fn published_history_has_the_shape_of_the_recorded_matches() {
    for recorded in serde_json::from_str::<Vec<Json>>(MATCHES).unwrap() {
        let (state, players) = replay(&recorded);
        let written: Json = serde_json::from_str(&history_json(&state, &players)).unwrap();
        assert_eq!(written, recorded);
    }
}

#[test]
fn published_history_has_the_key_order_of_the_rule_document() {
    let game = game_with(&[("turns", "1")]);
    let mut state = game.start(0);
    state.set_deal(deal([3, 3, 2, 5, 3], [West, South, East, North]));
    game.apply(&mut state, &replies([Some(Left), Some(Left), Some(Right), None]));
    let text =
        history_json(&state, &names(["bot_second_best", "bot_greedy", "bot_only_right", "bot_only_left"]));
    let expected = concat!(
        r#"{"players":["bot_second_best","bot_greedy","bot_only_right","bot_only_left"],"#,
        r#""final_scores":{"bot_second_best":3,"bot_greedy":5,"bot_only_right":2,"bot_only_left":0},"#,
        r#""turn_data":[{"turn":1,"platform_scores":{"CENTER":3,"NW":3,"NE":2,"SW":5,"SE":3},"#,
        r#""player_move":{"bot_second_best":"LEFT","bot_greedy":"LEFT","bot_only_right":"RIGHT","bot_only_left":"NONE"},"#,
        r#""scores_awarded":{"bot_second_best":3,"bot_greedy":5,"bot_only_right":2},"#,
        r#""players_map":{"WEST":"bot_second_best","SOUTH":"bot_greedy","EAST":"bot_only_right","NORTH":"bot_only_left"}}]}"#,
    );
    assert_eq!(text, expected);
    // Too few names still give a complete document.
    assert!(history_json(&state, &[]).contains(r#""seat 3":"NONE""#));
}
