//! The rules.

use std::time::Duration;

use agon_core::{Assets, BotLifetime, ClockRule, Fault, FaultPenalty, Game, Reply, Seat, SeatSet, Settings};
use agon_games::solitude_scramble::SolitudeScramble;
use agon_games::solitude_scramble::board::Move::{Center, Left, Right};
use agon_games::solitude_scramble::board::Platform;
use agon_games::solitude_scramble::board::Side::{East, North, South, West};
use agon_games::solitude_scramble::state::Turn;
use serde_json::json;

use crate::{deal, default_game, game_with, replies};

#[test]
fn game_has_exactly_four_seats() {
    let settings = Settings::defaults(SolitudeScramble::info().settings);
    for seats in (0..70).filter(|seats| *seats != 4) {
        assert!(!SolitudeScramble::info().seats.allows(seats));
        assert!(SolitudeScramble::new(&settings, seats, &Assets::none()).is_err());
    }
    assert_eq!(SolitudeScramble::new(&settings, 4, &Assets::none()).unwrap().seats(), 4);
}

#[test]
fn match_has_ten_turns_by_default() {
    for (pairs, turns) in [(vec![], 10), (vec![("turns", "1")], 1), (vec![("turns", "1000")], 1000)] {
        let game = game_with(&pairs);
        let mut state = game.start(3);
        for turn in 1..=turns {
            assert_eq!(game.to_move(&state), SeatSet::first(4), "all four answer at once");
            assert_eq!(game.observe(&state, Seat(2)).turn(), turn);
            assert!(game.outcome(&state).is_none());
            game.apply(&mut state, &replies([Some(Left); 4]));
        }
        assert!(game.to_move(&state).is_empty());
        assert!(game.outcome(&state).is_some());
    }
    for bad in ["0", "1001", "ten"] {
        assert!(Settings::parse(SolitudeScramble::info().settings, [("turns", bad)]).is_err());
    }
}

#[test]
fn left_and_right_are_from_the_view_of_a_player_facing_the_centre() {
    let table = [
        (North, Platform::Ne, Platform::Nw),
        (East, Platform::Se, Platform::Ne),
        (South, Platform::Sw, Platform::Se),
        (West, Platform::Nw, Platform::Sw),
    ];
    for (side, left, right) in table {
        assert_eq!(side.platform(Left), left);
        assert_eq!(side.platform(Right), right);
        assert_eq!(side.platform(Center), Platform::Center);
    }
}

#[test]
fn lone_bot_on_a_platform_gets_its_points() {
    let dealt = deal([6, 3, 1, 5, 2], [North, East, South, West]);
    let turn = Turn::score(1, dealt, [Some(Left), Some(Left), Some(Left), Some(Left)]);
    assert_eq!(turn.awards, [1, 2, 5, 3]);
    let turn = Turn::score(1, dealt, [Some(Center), Some(Right), Some(Right), Some(Right)]);
    assert_eq!(turn.awards, [6, 1, 2, 5]);
}

#[test]
fn two_or_more_bots_on_a_platform_get_nothing_and_do_not_affect_others() {
    let dealt = deal([6, 3, 1, 5, 2], [North, East, South, West]);
    let turn = Turn::score(1, dealt, [Some(Left), Some(Right), Some(Center), Some(Right)]);
    assert_eq!(turn.awards, [0, 0, 6, 5]);
    assert!(turn.collided(Seat(0)) && turn.collided(Seat(1)) && !turn.collided(Seat(2)));
    for (centre, awards) in [(2, [0, 0, 5, 3]), (3, [0, 0, 0, 3]), (4, [0, 0, 0, 0])] {
        let moves = [0, 1, 2, 3].map(|seat| Some(if seat < centre { Center } else { Left }));
        assert_eq!(Turn::score(1, dealt, moves).awards, awards, "{centre} in the centre");
    }
}

#[test]
fn fault_forfeits_the_move_scores_nothing_and_blocks_no_platform() {
    let game = default_game();
    assert_eq!(SolitudeScramble::info().faults, [FaultPenalty::ForfeitMove; 4]);
    for fault in Fault::ALL {
        let mut state = game.start(1);
        state.set_deal(deal([6, 3, 4, 5, 2], [North, East, South, West]));
        // North goes to NE. East, which would have collided there, fails.
        let turn = [Reply::Answer(Left), Reply::Fault(fault), Reply::Answer(Center), Reply::Answer(Center)];
        game.apply(&mut state, &turn);
        let played = state.history()[0];
        assert_eq!(played.moves, [Some(Left), None, Some(Center), Some(Center)]);
        assert_eq!(played.awards, [4, 0, 0, 0]);
        assert!(!played.collided(Seat(1)));
        assert_eq!(game.to_move(&state), SeatSet::first(4), "the bot is asked again in the next turn");
        let seen = serde_json::to_value(game.observe(&state, Seat(0))).unwrap();
        assert_eq!(seen["history"][0]["moves"], json!(["LEFT", "NONE", "CENTER", "CENTER"]));
    }
}

#[test]
fn missing_reply_is_a_forfeit() {
    let game = default_game();
    let mut state = game.start(1);
    game.apply(&mut state, &[Reply::Answer(Left)]);
    assert_eq!(state.history()[0].moves, [Some(Left), None, None, None]);
}

#[test]
fn sides_and_scores_are_dealt_uniformly_for_each_turn() {
    let game = game_with(&[("turns", "1000")]);
    let mut state = game.start(2026);
    while !game.to_move(&state).is_empty() {
        game.apply(&mut state, &[]);
    }
    let mut scores = [[0u32; 7]; 5];
    let mut sides = [[0u32; 4]; 4];
    for turn in state.history() {
        for (counts, score) in scores.iter_mut().zip(turn.deal.scores().0) {
            counts[usize::from(score)] += 1;
        }
        for (counts, side) in sides.iter_mut().zip(turn.deal.sides()) {
            counts[*side as usize] += 1;
        }
    }
    // Four standard deviations of a count among a thousand draws.
    assert!(scores.iter().all(|counts| counts[0] == 0 && counts[1..].iter().all(|n| (119..215).contains(n))));
    assert!(sides.iter().flatten().all(|n| (195..305).contains(n)));
}

#[test]
fn clock_gives_two_seconds_for_each_answer() {
    let limit = Duration::from_secs(2);
    assert_eq!(default_game().clock(), ClockRule::PerAnswer { limit });
    let limit = Duration::from_millis(250);
    assert_eq!(game_with(&[("seconds", "0.25")]).clock(), ClockRule::PerAnswer { limit });
}

#[test]
fn highest_total_is_first_and_equal_totals_share_a_place() {
    let game = game_with(&[("turns", "2")]);
    let mut state = game.start(1);
    let dealt = deal([1, 3, 5, 5, 2], [North, East, South, West]);
    for moves in
        [[Some(Left), Some(Left), Some(Left), Some(Left)], [Some(Right), None, Some(Center), Some(Left)]]
    {
        state.set_deal(dealt);
        game.apply(&mut state, &replies(moves));
    }
    let outcome = game.outcome(&state).unwrap();
    let scores: Vec<f64> = outcome.seats.iter().map(|s| s.score).collect();
    assert_eq!(scores, [5.0, 2.0, 6.0, 3.0]);
    assert_eq!(outcome.seats.iter().map(|s| s.place).collect::<Vec<_>>(), [2, 4, 1, 3]);
    // Alone, collided, forfeited.
    let stats: Vec<_> = outcome.seats.iter().map(|s| s.stats).collect();
    assert_eq!(stats, [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [2.0, 0.0, 0.0], [1.0, 1.0, 0.0]]);
    let mut level = game.start(1);
    game.apply(&mut level, &[]);
    game.apply(&mut level, &[]);
    assert!(game.outcome(&level).unwrap().seats.iter().all(|s| s.place == 1));
}

#[test]
fn answers_are_read_as_letters_or_words_in_any_case() {
    for (texts, chosen) in [
        (["L", "l", "LEFT", "Left", " left\n"], Left),
        (["R", "r", "RIGHT", "Right", "\tright"], Right),
        (["C", "c", "CENTER", "Center", "center "], Center),
    ] {
        for text in texts {
            assert_eq!(SolitudeScramble::read_answer(text), Ok(chosen), "{text:?}");
        }
    }
    for text in ["", "NONE", "LEF", "LEFT RIGHT", "0", "north", "\"LEFT\""] {
        let reason = SolitudeScramble::read_answer(text).unwrap_err();
        assert!(reason.contains("LEFT, RIGHT or CENTER"), "{reason}");
    }
    for (chosen, letter) in [(Left, "L"), (Right, "R"), (Center, "C")] {
        let mut token = Vec::new();
        SolitudeScramble::write_answer(chosen, &mut token);
        assert_eq!(token, letter.as_bytes());
    }
}

#[test]
fn observation_has_deal_and_whole_history_in_document_order() {
    let game = default_game();
    let mut state = game.start(1);
    state.set_deal(deal([6, 3, 1, 5, 2], [South, North, West, East]));
    let seen = serde_json::to_string(&game.observe(&state, Seat(1))).unwrap();
    assert_eq!(
        seen,
        r#"{"seat":1,"turn":1,"turns":10,"platform_scores":{"CENTER":6,"NW":3,"NE":1,"SW":5,"SE":2},"#
            .to_owned()
            + r#""sides":["SOUTH","NORTH","WEST","EAST"],"history":[]}"#
    );
    game.apply(&mut state, &replies([Some(Left), None, Some(Right), Some(Center)]));
    let seen = serde_json::to_value(game.observe(&state, Seat(1))).unwrap();
    let past = json!([{
        "turn": 1,
        "platform_scores": {"CENTER": 6, "NW": 3, "NE": 1, "SW": 5, "SE": 2},
        "sides": ["SOUTH", "NORTH", "WEST", "EAST"],
        "moves": ["LEFT", "NONE", "RIGHT", "CENTER"],
        "awards": [0, 0, 0, 6],
    }]);
    assert_eq!(seen["history"], past);
    assert_eq!(SolitudeScramble::info().lifetime, BotLifetime::Call);
    assert!(SolitudeScramble::info().names_shown);
}
