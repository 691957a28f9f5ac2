//! Frames and pictures.

use agon_core::{FastRng, Fault, Game, Reply, Seat, View, Viewpoint};
use agon_games::connect_five::State;
use agon_games::connect_five::board::{Board, Mark};
use serde_json::{Value as Json, json};

use super::{after, drop_into, game};

fn names() -> [String; 2] {
    ["alice", "bob"].map(String::from)
}

#[test]
fn picture_shows_drift_to_spectators_and_to_its_own_player_only() {
    let game = game(&[("special", "3,6"), ("p", "1"), ("q", "0")]);
    let state = after(&game, 1, &[3]);
    let all = game.picture(&state, Viewpoint::All, &names()).plain();
    assert!(all.contains("alice dropped into column 3, the piece drifted left to 2"), "{all}");
    assert!(all.contains("v---o") && all.contains("special columns 3 and 6: left 1.000"), "{all}");
    let own = game.picture(&state, Viewpoint::Seat(Seat(0)), &names()).plain();
    assert!(own.contains("drifted left") && own.contains("v---o") && !own.contains("special"), "{own}");
    let other = game.picture(&state, Viewpoint::Seat(Seat(1)), &names()).plain();
    assert!(other.contains("alice put a piece into column 2") && !other.contains("v---o"), "{other}");
    assert!(!other.contains('~') && !other.contains("special") && !other.contains("column 3"), "{other}");
}

#[test]
fn frame_contains_the_complete_state() {
    let game = game(&[("special", "0,1"), ("p", "0"), ("q", "0"), ("first", "1"), ("played", "2")]);
    let state = after(&game, 0, &[8, 7, 8, 7, 8, 7, 8, 7, 8]);
    let frame = game.frame(&state);
    assert_eq!(frame["line"], json!([[2, 8], [3, 8], [4, 8], [5, 8], [6, 8]]));
    assert_eq!(frame["players"], json!([2, 1]));
    assert_eq!((&frame["winner"], &frame["to_move"]), (&json!(1), &Json::Null));
    assert_eq!(frame["last"], json!({"seat": 1, "player": 1, "named": 8, "column": 8, "row": 2, "drift": 0}));
    assert_eq!((&frame["special"], &frame["played"]), (&json!([0, 1]), &json!(2)));
    assert_eq!(frame["ended"], json!("five in a line"));
}

#[test]
fn pictures_fit_a_terminal_for_any_names() {
    let game = game(&[]);
    let names = ["n".repeat(300), "é".repeat(300)];
    let mut rng = FastRng::new(9);
    let mut state = game.start(9);
    while let Some(seat) = game.to_move(&state).next() {
        let column = game.sample(&state, seat, &mut rng).unwrap();
        game.apply(&mut state, &[Reply::Answer(column)]);
        for eye in [Viewpoint::All, Viewpoint::Seat(seat)] {
            let picture = game.picture(&state, eye, &names).plain();
            assert!(picture.lines().count() <= 40 && picture.lines().all(|l| l.chars().count() <= 100));
        }
    }
}

#[test]
fn pictures_equal_the_golden_game() {
    let game = game(&[("special", "2,6"), ("p", "0.4"), ("q", "0.4")]);
    let picture = |state: &State, eye| game.picture(state, eye, &names()).plain() + "\n\n";
    let mut text = String::new();
    let mut state = game.start(11);
    text.push_str(&picture(&state, Viewpoint::All));
    let mut before_the_end = state.clone();
    for column in [8, 2, 8, 6, 8, 2, 6, 2, 8, 6, 8] {
        before_the_end.clone_from(&state);
        drop_into(&game, &mut state, column);
        text.push_str(&picture(&state, Viewpoint::All));
    }
    for seat in [Seat(0), Seat(1)] {
        text.push_str(&picture(&state, Viewpoint::Seat(seat)));
    }
    game.apply(&mut before_the_end, &[Reply::Fault(Fault::Timeout)]);
    text.push_str(&picture(&before_the_end, Viewpoint::All));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/connect_five.txt");
    if std::env::var_os("AGON_BLESS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let golden = std::fs::read_to_string(path).expect("run with AGON_BLESS=1 to create the golden file");
    assert_eq!(text, golden, "run with AGON_BLESS=1 to accept the new pictures");
}

#[test]
fn best_line_is_the_longest_one_without_a_piece_of_the_opponent() {
    let mut rows = [[0; 9]; 7];
    let best = |rows: &[[u8; 9]; 7], mark| Board::from_rows(rows).best_line(mark);
    assert_eq!([Mark::X, Mark::O].map(|mark| best(&rows, mark)), [0, 0]);
    rows[6] = [1, 1, 1, 0, 2, 2, 0, 0, 0];
    assert_eq!(best(&rows, Mark::X), 1, "the row is blocked, but a column and a diagonal are open");
    assert_eq!(best(&rows, Mark::O), 2);
    rows[6] = [0, 1, 0, 1, 1, 1, 0, 0, 2];
    assert_eq!(best(&rows, Mark::X), 4, "a line with a gap");
    rows = [[0; 9]; 7];
    for i in 0..5 {
        rows[6 - i][4 + i] = 2;
    }
    assert_eq!(best(&rows, Mark::O), 5, "a diagonal up to the edge");
}
