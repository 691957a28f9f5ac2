//! Frames and pictures.

use std::fmt::Write as _;

use agon_core::{FastRng, Game, Seat, View, Viewpoint};
use agon_games::solitude_scramble::board::Move::{self, Center, Left, Right};
use agon_games::solitude_scramble::board::Side::{East, North, South, West};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::{deal, game_with, names, replies};

#[test]
fn frame_contains_the_events_of_the_last_turn() {
    let game = game_with(&[("turns", "2")]);
    let mut state = game.start(5);
    let frame = game.frame(&state);
    assert_eq!((&frame["turn"], &frame["last"], &frame["over"]), (&json!(1), &Json::Null, &json!(false)));
    state.set_deal(deal([6, 3, 4, 5, 2], [North, East, South, West]));
    game.apply(&mut state, &replies([Some(Left), Some(Right), None, Some(Center)]));
    let frame = game.frame(&state);
    let last = json!({
        "turn": 1,
        "platform_scores": {"CENTER": 6, "NW": 3, "NE": 4, "SW": 5, "SE": 2},
        "sides": ["NORTH", "EAST", "SOUTH", "WEST"],
        "moves": ["LEFT", "RIGHT", "NONE", "CENTER"],
        "went": ["NE", "NE", null, "CENTER"],
        "collided": ["NE"],
        "awards": [0, 0, 0, 6],
    });
    assert_eq!(frame["last"], last);
    assert_eq!(frame["turn"], 2);
    assert_eq!(frame["totals"], json!([0, 0, 0, 6]));
    assert_eq!(frame["alone"], json!([0, 0, 0, 1]));
    assert_eq!(frame["collisions"], json!([1, 1, 0, 0]));
    assert_eq!(frame["forfeits"], json!([0, 0, 1, 0]));
    game.apply(&mut state, &[]);
    let frame = game.frame(&state);
    assert_eq!((&frame["turn"], &frame["now"], &frame["over"]), (&json!(2), &Json::Null, &json!(true)));
}

/// Run with `AGON_BLESS=1` to accept new pictures, and review the diff.
#[test]
fn pictures_equal_the_golden_match() {
    let game = game_with(&[("turns", "4")]);
    let names = names(["ann", "bob", "a-bot-with-a-long-name", "dee"]);
    let mut state = game.start(11);
    let mut text = String::new();
    let turns = [
        [Some(Left), Some(Right), Some(Center), Some(Center)],
        [Some(Center), Some(Left), Some(Right), Some(Left)],
        [Some(Right), None, Some(Right), Some(Left)],
        [Some(Center); 4],
    ];
    writeln!(text, "{}", game.picture(&state, Viewpoint::All, &names).plain()).unwrap();
    for moves in turns {
        game.apply(&mut state, &replies(moves));
        writeln!(text, "{}", game.picture(&state, Viewpoint::All, &names).plain()).unwrap();
        if state.history().len() == 2 {
            writeln!(text, "{}", game.picture(&state, Viewpoint::Seat(Seat(1)), &names).plain()).unwrap();
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/solitude_scramble.txt");
    if std::env::var_os("AGON_BLESS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(path).unwrap_or_default());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn picture_fits_the_screen_for_any_names(seed: u64, turns in 1usize..120, name in "(?s).{0,40}") {
        let game = game_with(&[("turns", "100")]);
        let mut rng = FastRng::new(seed);
        let mut state = game.start(seed);
        for _ in 0..turns {
            game.apply(&mut state, &replies([(); 4].map(|()| rng.pick(&Move::ALL))));
        }
        for eye in [Viewpoint::All, Viewpoint::Seat(Seat(3))] {
            let text = game.picture(&state, eye, &vec![name.clone(); 4]).plain();
            prop_assert!(text.lines().count() <= 40);
            prop_assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        }
    }
}
