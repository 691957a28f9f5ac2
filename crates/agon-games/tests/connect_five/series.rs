//! Games of a match.

use agon_core::random::series_seed;
use agon_core::{Assets, FastRng, Game, Reply, Seat, SettingValue, Settings, View};
use agon_games::connect_five::ConnectFive;
use serde_json::Value as Json;

use super::{after, board, game, settings};

#[test]
fn match_keeps_columns_p_and_q_alternates_the_first_move_and_counts_games() {
    for (first, seed) in [(0, 7), (1, 8)] {
        let mut start = settings(&[("played", "40")]);
        start.set("first", SettingValue::Int(first));
        let (zero, _) = ConnectFive::series_game(&start, seed, 0);
        for index in 0..9u32 {
            let (of_game, game_seed) = ConnectFive::series_game(&start, seed, index);
            for name in ["special", "p", "q"] {
                assert_ne!(of_game.get(name), Some(&SettingValue::Drawn));
                assert_eq!(of_game.get(name), zero.get(name), "{name} in game {index}");
            }
            assert_eq!(of_game.int("first"), Some(first ^ i64::from(index % 2)));
            assert_eq!(of_game.int("played"), Some(40 + i64::from(index)));
            assert_eq!(game_seed, series_seed(seed, index));
            let game = ConnectFive::new(&of_game, 2, &Assets::none()).unwrap();
            assert_eq!(game.observe(&game.start(game_seed), Seat(0)).played, 40 + index);
        }
    }
}

#[test]
fn single_game_equals_the_first_game_of_its_match() {
    for seed in 0..200 {
        let alone = game(&[]);
        let (of_match, game_seed) = ConnectFive::series_game(&settings(&[]), seed, 0);
        let first = ConnectFive::new(&of_match, 2, &Assets::none()).unwrap();
        let mut states = (alone.start(seed), first.start(game_seed));
        let mut rng = FastRng::new(seed);
        while let Some(seat) = alone.to_move(&states.0).next() {
            let column = alone.sample(&states.0, seat, &mut rng).unwrap();
            alone.apply(&mut states.0, &[Reply::Answer(column)]);
            first.apply(&mut states.1, &[Reply::Answer(column)]);
            assert_eq!(alone.frame(&states.0), first.frame(&states.1));
        }
    }
}

#[test]
fn drawn_settings_round_trip_through_json() {
    for seed in 0..500 {
        let (drawn, _) = ConnectFive::series_game(&settings(&[]), seed, 1);
        let Json::Object(json) = serde_json::from_str(&serde_json::to_string(&drawn).unwrap()).unwrap()
        else {
            panic!("settings are an object")
        };
        assert_eq!(Settings::from_json(ConnectFive::info().settings, &json).unwrap(), drawn);
    }
}

#[test]
fn games_of_a_match_drift_differently() {
    let start = settings(&[("special", "3,6"), ("p", "0.4"), ("q", "0.4")]);
    let landings: std::collections::BTreeSet<Vec<[u8; 9]>> = (0..20)
        .map(|index| {
            let (settings, seed) = ConnectFive::series_game(&start, 5, index);
            let game = ConnectFive::new(&settings, 2, &Assets::none()).unwrap();
            board(&game, &after(&game, seed, &[3, 6, 3, 6, 3, 6])).rows().to_vec()
        })
        .collect();
    assert!(landings.len() > 15);
}
