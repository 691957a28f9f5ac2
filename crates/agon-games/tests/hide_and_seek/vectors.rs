//! Maps, spawn cells and vision of the public generator, and the use of the seeds.

use agon_core::{Game, View};
use agon_games::hide_and_seek::{Cell, GameStart, Map, SEEKER, see_each_other};
use serde_json::Value as Json;

use super::{cell, game};

fn cell_of(json: &Json) -> Cell {
    cell(json[0].as_i64().unwrap() as i32, json[1].as_i64().unwrap() as i32)
}

fn vectors(text: &str) -> Vec<Json> {
    serde_json::from_str(text).unwrap()
}

fn columns(map: &Map) -> Vec<String> {
    let column = |x| (0..20).map(|y| if map.is_empty(cell(x, y)) { '0' } else { '1' }).collect();
    (0..20).map(column).collect()
}

fn check_start(start: &GameStart, expected: &Json) {
    let map: Vec<String> = serde_json::from_value(expected["map"].clone()).unwrap();
    assert_eq!(columns(&start.map), map, "map of {}", start.map_seed);
    assert_eq!(
        start.spawns,
        [cell_of(&expected["seeker"]), cell_of(&expected["hider"])],
        "{}",
        start.game_seed
    );
}

#[test]
fn maps_and_spawn_cells_equal_the_public_generator() {
    let all = vectors(include_str!("../vectors/hide-and-seek/maps.json"));
    assert_eq!(all.len(), 100);
    for expected in all {
        let seed = expected["seed"].as_u64().unwrap() as u32;
        check_start(&GameStart::generate(Some(seed), seed), &expected);
    }
}

#[test]
fn map_seed_is_the_first_draw_of_a_lone_game_seed() {
    let all = vectors(include_str!("../vectors/hide-and-seek/game_seed_only.json"));
    assert_eq!(all.len(), 25);
    for expected in all {
        let game_seed = expected["game_seed"].as_u64().unwrap() as u32;
        let start = GameStart::generate(None, game_seed);
        assert_eq!(u64::from(start.map_seed), expected["map_seed_drawn"].as_u64().unwrap());
        check_start(&start, &expected);
        let game = game(&[("game_seed", &game_seed.to_string())]);
        assert_eq!(game.frame(&game.start(99))["map_seed"], expected["map_seed_drawn"]);
    }
}

#[test]
fn vision_equals_the_original_where_its_sampling_is_correct() {
    let mut pairs = 0;
    for expected in vectors(include_str!("../vectors/hide-and-seek/vision.json")) {
        let map = Map::generate(expected["map_seed"].as_u64().unwrap() as u32);
        for pair in expected["pairs"].as_array().unwrap() {
            let [x0, y0, x1, y1, sees] = [0, 1, 2, 3, 4].map(|i| pair[i].as_i64().unwrap() as i32);
            assert_eq!(see_each_other(&map, cell(x0, y0), cell(x1, y1)), sees == 1, "{pair}");
            pairs += 1;
        }
    }
    assert!(pairs > 10_000, "{pairs}");
}

/// Output of the example in the rule book.
const MAP_42: &str = "\
Map is generated with seed 42. Good connectivity? True. Wall fraction: 0.26.
[[0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0]
 [0 0 0 0 0 1 0 0 1 0 0 0 0 0 0 0 0 0 0 0]
 [0 0 0 0 0 1 1 0 1 1 0 0 0 0 0 0 0 0 0 1]
 [0 0 0 0 0 0 0 0 0 1 1 1 1 0 0 0 0 0 0 1]
 [0 0 0 0 0 0 0 0 0 0 1 1 1 0 0 0 0 0 0 0]
 [0 1 1 0 0 0 0 0 0 0 1 1 1 0 0 0 0 0 0 0]
 [0 0 1 0 0 0 0 0 1 1 0 0 0 0 1 0 0 0 1 1]
 [0 0 0 0 0 0 0 0 1 1 0 1 1 1 1 1 0 1 1 0]
 [0 0 0 0 0 0 1 0 0 0 0 1 1 1 0 0 0 1 1 0]
 [0 0 0 0 0 0 0 0 0 0 0 1 1 1 0 0 0 0 0 0]
 [0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 1 0 0 0 0]
 [1 1 1 0 0 0 0 0 0 0 0 0 0 0 1 0 0 1 1 0]
 [1 1 1 0 0 0 0 0 0 0 0 0 0 0 1 0 0 1 1 0]
 [0 0 0 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0]
 [0 0 0 1 1 0 0 1 1 1 0 0 0 0 0 1 1 1 1 0]
 [0 0 0 0 0 0 0 1 1 1 1 0 0 0 0 0 1 1 0 0]
 [0 0 0 0 0 0 0 1 1 1 1 1 1 1 0 0 0 0 1 1]
 [0 0 0 0 0 0 0 0 0 0 0 1 1 1 1 0 0 0 1 1]
 [0 0 0 0 0 0 1 1 1 0 0 1 1 1 1 0 0 0 1 1]
 [0 0 0 0 0 0 1 1 1 0 0 0 0 0 1 1 0 0 0 0]]
0 - empty
1 - wall
2 - seeker
3 - hider
";

#[test]
fn show_prints_the_map_like_the_original() {
    let game = game(&[]);
    let state = game.start(42);
    let [seeker, hider] = GameStart::generate(Some(42), 42).spawns;
    assert_eq!(game.show(&state), format!("{MAP_42}\nseeker spawns at {seeker}\nhider spawns at {hider}\n"));
}

#[test]
fn map_is_indexed_x_then_y() {
    let game = game(&[("map_seed", "42")]);
    let state = game.start(1);
    let map = &serde_json::to_value(game.observe(&state, SEEKER)).unwrap()["game_map"];
    // Row 1 of the printed matrix has its first wall in column 5.
    assert_eq!((map[5][1].as_i64(), map[1][5].as_i64(), map[4][1].as_i64()), (Some(1), Some(1), Some(0)));
    assert_eq!((map[12][3].as_i64(), map[3][12].as_i64()), (Some(1), Some(0)));
    assert_eq!(game.frame(&state)["map"], *map);
}

#[test]
fn missing_seeds_are_the_seed_of_the_game_or_drawn_from_a_larger_one() {
    let game = game(&[]);
    let frame = game.frame(&game.start(4_294_967_295));
    assert_eq!(
        (&frame["map_seed"], &frame["game_seed"]),
        (&4_294_967_295u64.into(), &4_294_967_295u64.into())
    );
    let frame = game.frame(&game.start(4_294_967_296));
    assert_eq!(frame["map_seed"], frame["game_seed"]);
    assert_ne!(frame["map_seed"], game.frame(&game.start(4_294_967_297))["map_seed"]);
}

#[test]
fn map_seed_alone_keeps_the_map_and_varies_the_spawn_cells() {
    let alone = game(&[("map_seed", "7")]);
    let (a, b) = (alone.frame(&alone.start(1)), alone.frame(&alone.start(2)));
    assert_eq!((&a["map"], &a["game_seed"]), (&b["map"], &1.into()));
    assert_ne!(a["seeker"]["spawn"], b["seeker"]["spawn"]);
    let both = game(&[("map_seed", "7"), ("game_seed", "2")]);
    assert_eq!(both.frame(&both.start(1)), b);
}
