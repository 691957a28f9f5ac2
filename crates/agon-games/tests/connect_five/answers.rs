//! Observations, answers and faults.

use std::time::Duration;

use agon_core::{BotLifetime, ClockRule, Fault, FaultPenalty, Game, Reply, Seat, Settings};
use agon_games::connect_five::{Column, ConnectFive};
use serde_json::json;

use super::{STILL, after, drop_into, game, outcome, scores};

#[test]
fn observation_has_only_board_player_t_and_n() {
    let game = game(&[("special", "3,6"), ("p", "1"), ("q", "0"), ("seconds", "10"), ("played", "12")]);
    let state = after(&game, 1, &[3]);
    let seen = serde_json::to_value(game.observe(&state, Seat(1))).unwrap();
    let keys: Vec<&String> = seen.as_object().unwrap().keys().collect();
    assert_eq!(keys.len(), 4, "{keys:?}");
    assert_eq!((&seen["player"], &seen["T"], &seen["N"]), (&json!(2), &json!(10), &json!(12)));
    assert!(seen["T"].is_u64(), "whole seconds are an integer");
    let text = serde_json::to_string(&game.observe(&state, Seat(1))).unwrap();
    assert!(text.starts_with(r#"{"board":[[0,"#), "{text}");
}

#[test]
fn illegal_column_is_rejected_with_every_reason() {
    let game = game(STILL);
    let state = after(&game, 0, &[2, 2, 2, 2, 2, 2, 2]);
    for (column, seat, reasons) in [
        (-1, 1, vec!["column -1 does not exist; use 0 to 8"]),
        (9, 1, vec!["column 9 does not exist; use 0 to 8"]),
        (i64::MAX, 1, vec!["column 9223372036854775807 does not exist; use 0 to 8"]),
        (2, 1, vec!["column 2 is full"]),
        (2, 0, vec!["seat 0 is not to move", "column 2 is full"]),
        (9, 0, vec!["seat 0 is not to move", "column 9 does not exist; use 0 to 8"]),
    ] {
        assert_eq!(game.check(&state, Seat(seat), Column(column)).unwrap_err().reasons, reasons);
    }
    let over = after(&game, 0, &[8, 7, 8, 7, 8, 7, 8, 7, 8]);
    assert_eq!(game.check(&over, Seat(1), Column(4)).unwrap_err().reasons, ["the game is over"]);
}

#[test]
fn illegal_or_late_answer_loses_the_game_and_crash_or_garbled_the_match() {
    let game = game(STILL);
    let start = after(&game, 0, &[4]);
    for fault in Fault::ALL {
        let mut state = start.clone();
        game.apply(&mut state, &[Reply::Fault(fault)]);
        let result = outcome(&game, &state);
        assert_eq!(scores(&result), [1.0, 0.0], "{fault}");
        assert_eq!(result.ended, format!("{fault} of seat 1"));
        let loses_match = matches!(fault, Fault::Crash | Fault::Garbled);
        assert_eq!(result.match_lost_by, loses_match.then_some(Seat(1)), "{fault}");
        let cost = if loses_match { FaultPenalty::LoseMatch } else { FaultPenalty::LoseGame };
        assert_eq!(ConnectFive::info().penalty(fault), cost);
    }
    for column in [-1, 9, 100, i64::MIN] {
        let mut state = start.clone();
        drop_into(&game, &mut state, column);
        let result = outcome(&game, &state);
        assert_eq!((scores(&result), result.match_lost_by), (vec![1.0, 0.0], None));
        assert_eq!(result.ended, "illegal of seat 1");
    }
    let mut state = start;
    game.apply(&mut state, &[]);
    assert_eq!(outcome(&game, &state).ended, "crash of seat 1");
}

#[test]
fn clock_gives_t_seconds_for_each_move() {
    assert_eq!(game(&[]).clock(), ClockRule::PerAnswer { limit: Duration::from_secs(1) });
    let slow = game(&[("seconds", "2.5")]);
    assert_eq!(slow.clock(), ClockRule::PerAnswer { limit: Duration::from_millis(2500) });
    let seen = serde_json::to_value(slow.observe(&slow.start(0), Seat(0))).unwrap();
    assert_eq!(seen["T"], json!(2.5));
    for wrong in ["0", "-1", "3601", "NaN"] {
        assert!(Settings::parse(ConnectFive::info().settings, [("seconds", wrong)]).is_err());
    }
}

#[test]
fn bot_lives_for_the_match_and_gets_its_opponents_name() {
    let info = ConnectFive::info();
    assert_eq!(info.lifetime, BotLifetime::Match);
    assert!(info.names_shown);
    assert_eq!(info.roles.len(), 1);
}

#[test]
fn whole_numbers_are_answers_and_other_text_is_garbled() {
    for (text, column) in [
        ("0", 0),
        (" 8\n", 8),
        ("+3", 3),
        ("-1", -1),
        ("(-1)", -1),
        ("9", 9),
        ("100", 100),
        ("99999999999999999999999", i64::MAX),
        ("-99999999999999999999999", i64::MIN),
    ] {
        assert_eq!(ConnectFive::read_answer(text), Ok(Column(column)), "{text}");
    }
    for text in ["", "x", "3.0", "3 4", "--1", "+", "-", "()", "None", "0x3", "３"] {
        let reason = ConnectFive::read_answer(text).unwrap_err();
        assert!(reason.contains("a whole number from 0 to 8"), "{reason}");
    }
}
