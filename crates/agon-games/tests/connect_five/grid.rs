//! The board, falling pieces, lines and the end of a game.

use agon_core::{FastRng, Game, Reply, Seat, SeatSet};
use agon_games::connect_five::board::Mark;
use agon_games::connect_five::{ConnectFive, State};
use serde_json::json;

use super::{STILL, after, board, drop_into, game, outcome, scores};

/// The first random game that fills the board without a line.
fn full_board_without_a_line(game: &ConnectFive) -> State {
    (0..100_000)
        .find_map(|seed| {
            let mut rng = FastRng::new(seed);
            let mut state = game.start(0);
            while let Some(seat) = game.to_move(&state).next() {
                let column = game.sample(&state, seat, &mut rng)?;
                game.apply(&mut state, &[Reply::Answer(column)]);
            }
            (outcome(game, &state).ended == "board full").then_some(state)
        })
        .expect("some random game fills the board")
}

#[test]
fn board_has_9_columns_and_7_rows_with_the_top_row_first() {
    let game = game(STILL);
    let mut state = after(&game, 0, &[8, 8]);
    let seen = serde_json::to_value(game.observe(&state, Seat(0))).unwrap();
    let rows = seen["board"].as_array().unwrap();
    assert_eq!((rows.len(), rows[0].as_array().unwrap().len()), (7, 9));
    assert_eq!(rows[6], json!([0, 0, 0, 0, 0, 0, 0, 0, 1]));
    assert_eq!(rows[5], json!([0, 0, 0, 0, 0, 0, 0, 0, 2]));
    for _ in 0..5 {
        drop_into(&game, &mut state, 8);
    }
    assert_eq!(board(&game, &state).rows()[0][8], 1);
}

#[test]
fn piece_falls_to_the_lowest_free_cell_of_its_column() {
    let game = game(STILL);
    let state = after(&game, 0, &[4, 4, 3, 4]);
    let rows = board(&game, &state).rows();
    assert_eq!((rows[6][4], rows[5][4], rows[4][4], rows[6][3]), (1, 2, 2, 1));
    assert_eq!(rows.iter().flatten().filter(|&&cell| cell != 0).count(), 4);
}

#[test]
fn player_1_moves_first_and_turns_alternate() {
    for (first, seat) in [("0", Seat(0)), ("1", Seat(1))] {
        let game = game(&[("first", first)]);
        let mut state = game.start(3);
        assert_eq!(game.to_move(&state), SeatSet::one(seat));
        assert_eq!(game.observe(&state, seat).player, Mark::X);
        drop_into(&game, &mut state, 4);
        let other = Seat(1 - seat.0);
        assert_eq!(game.to_move(&state), SeatSet::one(other));
        assert_eq!(game.observe(&state, other).player, Mark::O);
        assert_eq!(game.observe(&state, seat).player, Mark::X, "a player keeps its number");
    }
}

#[test]
fn five_in_a_row_column_or_diagonal_wins() {
    let games: [(&str, &[i64], usize); 5] = [
        ("row", &[0, 0, 1, 1, 2, 2, 3, 3, 4], 0),
        ("column", &[8, 7, 8, 7, 8, 7, 8, 7, 8], 0),
        ("rising", &[0, 1, 1, 2, 8, 2, 2, 3, 8, 3, 8, 3, 3, 4, 7, 4, 7, 4, 7, 4, 4], 0),
        ("falling", &[8, 7, 7, 6, 0, 6, 6, 5, 0, 5, 0, 5, 5, 4, 1, 4, 1, 4, 1, 4, 4], 0),
        ("second player", &[0, 8, 1, 8, 0, 8, 1, 8, 2, 8], 1),
    ];
    for (what, columns, winner) in games {
        let game = game(STILL);
        let mut state = game.start(0);
        for (i, &column) in columns.iter().enumerate() {
            assert!(game.outcome(&state).is_none(), "{what}: finished before move {i}");
            drop_into(&game, &mut state, column);
        }
        let result = outcome(&game, &state);
        assert_eq!(result.ended, "five in a line", "{what}");
        assert_eq!(result.seats[winner].score, 1.0, "{what}");
        assert_eq!(result.seats[1 - winner].score, 0.0, "{what}");
        assert!(game.to_move(&state).is_empty());
    }
}

#[test]
fn four_in_a_line_does_not_win() {
    let game = game(STILL);
    assert!(game.outcome(&after(&game, 0, &[0, 0, 1, 1, 2, 2, 3, 3])).is_none());
}

#[test]
fn full_board_without_a_line_is_a_draw() {
    let game = game(STILL);
    let state = full_board_without_a_line(&game);
    let result = outcome(&game, &state);
    assert_eq!(scores(&result), [0.5, 0.5]);
    assert_eq!(result.seats[0].place, 1);
    assert_eq!(result.seats[1].place, 1);
    assert_eq!((result.seats[0].stats[0], result.seats[1].stats[0]), (32.0, 31.0));
    assert!(board(&game, &state).is_full());
}

#[test]
fn last_piece_on_a_full_board_can_win() {
    let game = game(STILL);
    let won = (0..200_000).any(|seed| {
        let mut rng = FastRng::new(seed);
        let mut state = game.start(0);
        while let Some(seat) = game.to_move(&state).next() {
            let Some(column) = game.sample(&state, seat, &mut rng) else { return false };
            game.apply(&mut state, &[Reply::Answer(column)]);
        }
        board(&game, &state).is_full() && outcome(&game, &state).ended == "five in a line"
    });
    assert!(won, "the last piece wins no random game");
}

#[test]
fn score_is_1_for_a_win_and_0_for_a_loss_with_counted_moves() {
    let game = game(&[("special", "0,1"), ("p", "0"), ("q", "0"), ("first", "1")]);
    let result = outcome(&game, &after(&game, 0, &[8, 7, 8, 7, 8, 7, 8, 7, 8]));
    assert_eq!(scores(&result), [0.0, 1.0]);
    assert_eq!((result.seats[0].place, result.seats[1].place), (2, 1));
    assert_eq!((result.seats[0].stats[0], result.seats[1].stats[0]), (4.0, 5.0));
    assert_eq!(result.match_lost_by, None);
}
