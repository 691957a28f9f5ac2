//! Requests and hidden information.

use super::*;

#[test]
fn caller_answers_letter_and_position_then_the_other_a_position() {
    let game = game(&[]);
    let mut state = game.start(1);
    play(&game, &mut state, call('Q', 17));
    assert_eq!(game.to_move(&state), SeatSet::one(Seat(1)));
    assert_eq!(game.request(&state, Seat(1)), 1);
    assert_eq!(game.observe(&state, Seat(1)).letter, Some(letter('Q')));
    play(&game, &mut state, place(3));
    assert_eq!(state.board(Seat(0)).get(17), Some(letter('Q')));
    assert_eq!(state.board(Seat(1)).get(3), Some(letter('Q')));
    assert_eq!(state.board(Seat(1)).get(17), None);
}

#[test]
fn players_alternate_in_calling() {
    let game = game(&[("first", "1")]);
    let mut state = game.start(1);
    let mut callers = Vec::new();
    for position in outer() {
        callers.push(mover(&game, &state).0);
        play(&game, &mut state, call('A', position));
        play(&game, &mut state, place(position));
    }
    assert_eq!(callers, [1, 0].repeat(24));
}

#[test]
fn game_ends_with_full_boards_after_48_turns() {
    let game = game(&[]);
    let orders = [outer().collect(), outer().collect::<Vec<_>>()];
    let state = played_out(&game, &"E".repeat(TURNS), &orders);
    assert_eq!(TURNS, 48);
    assert!(game.to_move(&state).is_empty());
    assert_eq!([Seat(0), Seat(1)].map(|seat| state.board(seat).filled()), [49, 49]);
    assert!(game.outcome(&state).is_some());
}

#[test]
fn observation_has_own_board_and_letters_but_no_position_of_the_opponent() {
    let game = game(&[("letter", "E")]);
    let mut state = game.start(1);
    play(&game, &mut state, call('Q', 17));
    let seen = serde_json::to_value(game.observe(&state, Seat(1))).unwrap();
    let empty = format!("{}E{}", ".".repeat(24), ".".repeat(24));
    let wanted = serde_json::json!({
        "board": empty, "first": false, "turn": 1, "calls": ["Q"], "places": [], "letter": "Q"
    });
    assert_eq!(seen, wanted);
    let mut elsewhere = game.start(1);
    play(&game, &mut elsewhere, call('Q', 40));
    assert_eq!(seen, serde_json::to_value(game.observe(&elsewhere, Seat(1))).unwrap());
    assert!(!game.observe(&state, Seat(1)).called(0) && game.observe(&state, Seat(0)).called(0));
}

#[test]
fn resampling_changes_only_the_letters_of_the_other_board() {
    let game = game(&[]);
    let mut state = game.start(1);
    for (i, position) in outer().take(10).enumerate() {
        play(&game, &mut state, call((b'A' + i as u8) as char, position));
        play(&game, &mut state, place(position));
    }
    let mut rng = FastRng::new(3);
    let mut moved = 0;
    for _ in 0..50 {
        let drawn = game.resample(&state, Seat(0), &mut rng);
        assert_eq!(drawn.board(Seat(0)), state.board(Seat(0)));
        assert_eq!(drawn.board(Seat(1)).get(CENTRE), state.board(Seat(1)).get(CENTRE));
        let letters = |board: &Board| {
            let mut codes = board.codes().to_vec();
            codes.sort_unstable();
            codes
        };
        assert_eq!(letters(drawn.board(Seat(1))), letters(state.board(Seat(1))));
        moved += u32::from(drawn.board(Seat(1)) != state.board(Seat(1)));
    }
    assert!(moved > 45);
}
