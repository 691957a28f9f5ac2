//! Special columns: drift, its probabilities, and how they are drawn.

use agon_core::{Assets, Game};
use agon_games::connect_five::board::COLUMNS;
use agon_games::connect_five::{Column, ConnectFive, State};

use super::{Pairs, after, board, drop_into, game, outcome, settings};

#[test]
fn piece_in_a_special_column_moves_left_with_probability_p() {
    let game = game(&[("special", "3,6"), ("p", "1"), ("q", "0")]);
    let rows = board(&game, &after(&game, 1, &[3, 6])).rows();
    assert_eq!(rows[6], [0, 0, 1, 0, 0, 2, 0, 0, 0]);
}

#[test]
fn piece_in_a_special_column_moves_right_with_probability_q() {
    let game = game(&[("special", "3,6"), ("p", "0"), ("q", "1")]);
    let rows = board(&game, &after(&game, 1, &[3, 6])).rows();
    assert_eq!(rows[6], [0, 0, 0, 0, 1, 0, 0, 2, 0]);
}

#[test]
fn piece_never_drifts_from_other_columns_or_twice() {
    let game = game(&[("special", "3,4"), ("p", "0"), ("q", "1")]);
    let rows = board(&game, &after(&game, 1, &[3, 2, 5])).rows();
    // Dropped into 3 and drifted to 4, which is special too: the piece does not drift again.
    assert_eq!(rows[6], [0, 0, 2, 0, 1, 1, 0, 0, 0]);
}

#[test]
fn missing_neighbour_keeps_the_piece_in_its_column() {
    let left = game(&[("special", "0,8"), ("p", "1"), ("q", "0")]);
    assert_eq!(board(&left, &after(&left, 1, &[0, 8])).rows()[6], [1, 0, 0, 0, 0, 0, 0, 2, 0]);
    let right = game(&[("special", "0,8"), ("p", "0"), ("q", "1")]);
    assert_eq!(board(&right, &after(&right, 1, &[0, 8])).rows()[6], [0, 1, 0, 0, 0, 0, 0, 0, 2]);
}

#[test]
fn full_neighbour_keeps_the_piece_in_its_column() {
    let game = game(&[("special", "3,8"), ("p", "1"), ("q", "0")]);
    let state = after(&game, 1, &[2, 2, 2, 2, 2, 2, 2, 3]);
    let board = board(&game, &state);
    assert_eq!((board.height(2), board.height(3)), (7, 1));
}

#[test]
fn legality_depends_on_the_named_column() {
    let game = game(&[("special", "3,8"), ("p", "1"), ("q", "0")]);
    // Column 3 fills up while 2 is full. Then naming 3 is illegal although 4 is free.
    let mut state = after(&game, 1, &[2, 2, 2, 2, 2, 2, 2]);
    for _ in 0..7 {
        assert_eq!(game.check(&state, game.to_move(&state).next().unwrap(), Column(3)), Ok(()));
        drop_into(&game, &mut state, 3);
        if !game.to_move(&state).is_empty() {
            continue;
        }
        panic!("unexpected end of the game");
    }
    let seat = game.to_move(&state).next().unwrap();
    assert_eq!(game.check(&state, seat, Column(3)).unwrap_err().reasons, ["column 3 is full"]);
    // A full special column cannot be named although its pieces would drift to a free column.
    let drifting = super::game(&[("special", "3,8"), ("p", "0"), ("q", "1")]);
    let mut state = after(&drifting, 1, &[4, 4, 4, 4, 4, 4, 4, 3, 3, 3, 3, 3, 3, 3]);
    drop_into(&drifting, &mut state, 3);
    assert_eq!(outcome(&drifting, &state).ended, "illegal of seat 0");
}

/// Number of pieces dropped into `named` in this position that go left, stay, and go right.
fn drift_counts(pairs: Pairs, before: &[i64], named: i64, drops: u32) -> [u32; 3] {
    let game = game(pairs);
    let mut counts = [0; 3];
    for seed in 0..drops {
        let start = after(&game, u64::from(seed), before);
        let mut state = start.clone();
        drop_into(&game, &mut state, named);
        let heights = |s: &State| (0..COLUMNS).map(|c| board(&game, s).height(c)).collect::<Vec<_>>();
        let landed = heights(&start).iter().zip(heights(&state)).position(|(a, b)| *a != b).unwrap() as i64;
        counts[(landed - named + 1) as usize] += 1;
    }
    counts
}

fn chi_square(counts: [u32; 3], odds: [f64; 3]) -> f64 {
    let total: f64 = counts.iter().map(|&n| f64::from(n)).sum();
    counts
        .iter()
        .zip(odds)
        .map(|(&n, odds)| match odds {
            0.0 if n == 0 => 0.0,
            0.0 => f64::INFINITY,
            _ => (f64::from(n) - total * odds).powi(2) / (total * odds),
        })
        .sum()
}

#[test]
fn drift_frequencies_match_p_and_q_even_at_edges_and_full_neighbours() {
    let full_2: &[i64] = &[2, 2, 2, 2, 2, 2, 2];
    let full_4: &[i64] = &[4, 4, 4, 4, 4, 4, 4];
    let cases: [(&str, &[i64], i64, [f64; 3]); 6] = [
        ("3,6", &[], 3, [0.3, 0.2, 0.5]),
        ("3,6", &[], 6, [0.3, 0.2, 0.5]),
        ("0,8", &[], 0, [0.0, 0.5, 0.5]),
        ("0,8", &[], 8, [0.3, 0.7, 0.0]),
        ("3,6", full_2, 3, [0.0, 0.5, 0.5]),
        ("3,6", full_4, 3, [0.3, 0.7, 0.0]),
    ];
    for (special, before, named, odds) in cases {
        let counts = drift_counts(&[("special", special), ("p", "0.3"), ("q", "0.5")], before, named, 20_000);
        let chi = chi_square(counts, odds);
        assert!(chi < 13.8, "0.1 % with 2 degrees of freedom: {chi} for {special} {named}: {counts:?}");
    }
}

#[test]
fn special_columns_are_two_different_ones_drawn_uniformly() {
    let mut pairs = std::collections::BTreeMap::new();
    for seed in 0..36_000 {
        let (settings, _) = ConnectFive::series_game(&settings(&[]), seed, 0);
        let columns = settings.list("special").unwrap().to_vec();
        assert!(columns[0] < columns[1] && (0..9).contains(&columns[0]) && columns[1] < 9);
        *pairs.entry(columns).or_insert(0u32) += 1;
    }
    assert_eq!(pairs.len(), 36);
    let chi: f64 = pairs.values().map(|&n| (f64::from(n) - 1000.0).powi(2) / 1000.0).sum();
    assert!(chi < 66.6, "0.1 % with 35 degrees of freedom: {chi}");
}

#[test]
fn p_and_q_are_uniform_on_the_triangle() {
    // Four triangles of equal area: three at the corners, one in the middle.
    let mut parts = [0u32; 4];
    for seed in 0..40_000 {
        let (settings, _) = ConnectFive::series_game(&settings(&[]), seed, 0);
        let (p, q) = (settings.real("p").unwrap(), settings.real("q").unwrap());
        assert!(p >= 0.0 && q >= 0.0 && p + q <= 1.0);
        let part = match (p > 0.5, q > 0.5, p + q < 0.5) {
            (true, _, _) => 0,
            (_, true, _) => 1,
            (_, _, true) => 2,
            _ => 3,
        };
        parts[part] += 1;
    }
    let chi: f64 = parts.iter().map(|&n| (f64::from(n) - 10_000.0).powi(2) / 10_000.0).sum();
    assert!(chi < 16.3, "0.1 % with 3 degrees of freedom: {chi} for {parts:?}");
}

#[test]
fn one_of_p_and_q_can_be_set_and_the_other_is_drawn_from_the_rest() {
    let mut sum = 0.0;
    for seed in 0..10_000 {
        let (drawn, _) = ConnectFive::series_game(&settings(&[("p", "0.8")]), seed, 0);
        let q = drawn.real("q").unwrap();
        assert_eq!(drawn.real("p"), Some(0.8));
        assert!((0.0..=0.2).contains(&q));
        sum += q;
        let (other, _) = ConnectFive::series_game(&settings(&[("q", "0.8")]), seed, 0);
        assert!((0.0..=0.2).contains(&other.real("p").unwrap()));
        assert_eq!(drawn.get("special"), other.get("special"), "one setting changes the draw of another");
    }
    assert!((sum / 10_000.0 - 0.1).abs() < 0.003);
}

#[test]
fn contradictory_settings_are_rejected_with_hints() {
    let refuse =
        |pairs: Pairs, seats| ConnectFive::new(&settings(pairs), seats, &Assets::none()).unwrap_err();
    let both = refuse(&[("p", "0.7"), ("q", "0.4"), ("special", "3,3")], 2);
    assert_eq!(both.problems.len(), 2, "{both}");
    let text = both.to_string();
    assert!(text.contains("0.7 + 0.4 is more than 1") && text.contains("choose p + q <= 1"), "{text}");
    assert!(
        text.contains("3,3 names the same column twice") && text.contains("hint: name two different"),
        "{text}"
    );
    assert!(refuse(&[], 3).to_string().contains("has 2 seats, not 3"));
    assert!(ConnectFive::new(&settings(&[("p", "0.7"), ("q", "0.3")]), 2, &Assets::none()).is_ok());
}
