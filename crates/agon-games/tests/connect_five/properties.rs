//! Properties and the conformance suite.

use agon_core::conformance::{self, ConformanceConfig};
use agon_core::{FastRng, Game, Reply, Seat, View};
use agon_games::connect_five::ConnectFive;
use agon_games::connect_five::board::{Board, COLUMNS, Mark, ROWS};
use proptest::prelude::*;
use serde_json::json;

use super::{after, board, game};

/// Reference implementation that checks every cell and direction.
fn naive_five(rows: &[[u8; COLUMNS]; ROWS], player: u8) -> bool {
    let at = |row: i32, column: i32| -> u8 {
        if (0..ROWS as i32).contains(&row) && (0..COLUMNS as i32).contains(&column) {
            rows[row as usize][column as usize]
        } else {
            0
        }
    };
    (0..ROWS as i32).any(|row| {
        (0..COLUMNS as i32).any(|column| {
            [(0, 1), (1, 0), (1, 1), (1, -1)]
                .iter()
                .any(|(down, right)| (0..5).all(|i| at(row + i * down, column + i * right) == player))
        })
    })
}

/// Random boards from almost empty to almost full of one player, so that lines are neither rare nor certain.
fn any_rows() -> impl Strategy<Value = [[u8; COLUMNS]; ROWS]> {
    (1u32..20, 1u32..20, any::<u64>()).prop_map(|(ones, twos, seed)| {
        let mut rng = FastRng::new(seed);
        [[(); COLUMNS]; ROWS].map(|row| {
            row.map(|()| match rng.below(ones + twos + 3) {
                n if n < ones => 1,
                n if n < ones + twos => 2,
                _ => 0,
            })
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn line_detection_equals_the_reference(rows in any_rows()) {
        let board = Board::from_rows(&rows);
        prop_assert_eq!(board.rows(), rows);
        for (mark, player) in [(Mark::X, 1), (Mark::O, 2)] {
            let five = naive_five(&rows, player);
            prop_assert_eq!(board.has_five(mark), five);
            prop_assert_eq!(board.winning_cells(mark) != 0, five);
            prop_assert_eq!(board.winning_cells(mark) & !board.pieces(mark), 0);
        }
    }
}

#[test]
fn every_possible_line_of_five_is_detected() {
    let mut lines = 0;
    for row in 0..ROWS {
        for column in 0..COLUMNS {
            for (down, right) in [(0i32, 1i32), (1, 0), (1, 1), (1, -1)] {
                let cells: Option<Vec<(usize, usize)>> = (0..5)
                    .map(|i| {
                        let (r, c) = (row as i32 + i * down, column as i32 + i * right);
                        ((0..7).contains(&r) && (0..9).contains(&c)).then_some((r as usize, c as usize))
                    })
                    .collect();
                let Some(cells) = cells else { continue };
                lines += 1;
                let mut rows = [[0; COLUMNS]; ROWS];
                for &(r, c) in &cells {
                    rows[r][c] = 2;
                }
                assert!(Board::from_rows(&rows).has_five(Mark::O), "{cells:?}");
                rows[cells[2].0][cells[2].1] = 0;
                assert!(!Board::from_rows(&rows).has_five(Mark::O), "{cells:?}");
            }
        }
    }
    assert_eq!(lines, 92);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn each_move_adds_one_supported_piece_at_most_one_column_away(seed in any::<u64>()) {
        let game = game(&[]);
        let mut rng = FastRng::new(seed);
        let mut state = game.start(seed);
        while let Some(seat) = game.to_move(&state).next() {
            let before = board(&game, &state);
            let named = game.sample(&state, seat, &mut rng).unwrap();
            game.apply(&mut state, &[Reply::Answer(named)]);
            let now = board(&game, &state);
            let added = now.taken() & !before.taken();
            prop_assert_eq!(added.count_ones(), 1);
            let landed = added.trailing_zeros() as usize / ROWS;
            prop_assert_eq!(added.trailing_zeros() as usize % ROWS, before.height(landed), "the piece floats");
            prop_assert!((named.0 - landed as i64).abs() <= 1);
            let frame = game.frame(&state);
            if landed as i64 != named.0 {
                prop_assert!(frame["special"].as_array().unwrap().contains(&json!(named.0)));
            }
            prop_assert_eq!(&frame["last"]["drift"], &json!(landed as i64 - named.0));
            let five = [1, 2].into_iter().any(|player| naive_five(&now.rows(), player));
            prop_assert_eq!(game.to_move(&state).is_empty(), five || now.is_full());
        }
    }
}

#[test]
fn conformance_suite_passes() {
    conformance::check::<ConnectFive>(&ConformanceConfig {
        games: 3_000,
        settings: |rng| {
            let mut pairs = vec![("first", rng.below(2).to_string())];
            if rng.below(2) == 0 {
                let a = rng.below(8);
                pairs.push(("special", format!("{a},{}", a + 1 + rng.below(8 - a))));
            }
            if rng.below(3) == 0 {
                pairs.push(("p", format!("0.{}", rng.below(10))));
            }
            (pairs, 2)
        },
        max_turns: 63,
    });
}

#[test]
fn resampling_keeps_a_column_special_that_the_seat_saw_drift() {
    let game = game(&[("special", "3,6"), ("p", "1"), ("q", "0")]);
    let state = after(&game, 1, &[3, 6]);
    let mut rng = FastRng::new(1);
    let mut seen_other = false;
    for _ in 0..300 {
        let mine = game.frame(&game.resample(&state, Seat(0), &mut rng));
        let columns = mine["special"].as_array().unwrap();
        assert!(columns.contains(&json!(3)), "seat 0 knows that column 3 is special");
        seen_other |= !columns.contains(&json!(6));
    }
    assert!(seen_other, "seat 0 does not know that column 6 is special");
}

#[test]
fn resampled_opponent_named_a_column_from_which_its_piece_can_come() {
    let game = game(&[("special", "3,6"), ("p", "1"), ("q", "0")]);
    let state = after(&game, 1, &[3]);
    let mut rng = FastRng::new(2);
    let mut named_elsewhere = 0;
    for _ in 0..500 {
        let frame = game.frame(&game.resample(&state, Seat(1), &mut rng));
        let (named, landed) = (&frame["last"]["named"], &frame["last"]["column"]);
        assert_eq!(landed, &json!(2), "the seat sees where the piece landed");
        if named != landed {
            assert!(frame["special"].as_array().unwrap().contains(named), "{frame}");
            assert!([1, 3].contains(&named.as_u64().unwrap()));
            named_elsewhere += 1;
        }
    }
    assert!((20..400).contains(&named_elsewhere), "{named_elsewhere}");
}
