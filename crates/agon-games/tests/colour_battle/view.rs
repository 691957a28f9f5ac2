//! Frames and pictures.

use agon_core::{FastRng, Fault, Game, Reply, Seat, View, Viewpoint};
use agon_games::colour_battle::{ColourBattle, Move, State};
use serde_json::{Value as Json, json};

use super::{game, placed};

#[test]
fn picture_of_20_bots_fits_100_columns_and_40_lines() {
    let game = game(20, 300);
    let names: Vec<String> = (0..20).map(|i| format!("a rather long name {i}")).collect();
    let mut state = game.start(4);
    let mut rng = FastRng::new(4);
    for _ in 0..300 {
        let replies: Vec<_> = (0..20).map(|_| Reply::Answer(rng.pick(&Move::ALL).unwrap())).collect();
        game.apply(&mut state, &replies);
    }
    for eye in [Viewpoint::All, Viewpoint::Seat(Seat(3))] {
        let plain = game.picture(&state, eye, &names).plain();
        assert!(plain.lines().count() <= 40);
        assert!(plain.lines().all(|line| line.chars().count() <= 100), "{plain}");
    }
    let large = largest_arena();
    assert!(large.lines().all(|line| line.chars().count() <= 100), "{large}");
}

fn largest_arena() -> String {
    let game = game(64, 9);
    let names: Vec<String> = (0..64).map(|i| format!("bot {i}")).collect();
    game.picture(&game.start(4), Viewpoint::All, &names).plain()
}

#[test]
fn frame_contains_the_events_of_the_round() {
    let game = game(3, 9);
    let mut state = placed(&game, &[(1, 4, 4), (2, 6, 4), (3, 0, 0)]);
    assert_eq!(game.frame(&state)["bots"][0]["from"], Json::Null);
    game.apply(
        &mut state,
        &[Reply::Answer(Move::Right), Reply::Answer(Move::Left), Reply::Fault(Fault::Timeout)],
    );
    let frame = game.frame(&state);
    assert_eq!(frame["clashes"], json!([[5, 4]]));
    assert_eq!(frame["round"], 1);
    assert_eq!(frame["bots"][0]["did"], "clashed");
    assert_eq!(frame["bots"][0]["from"], json!([4, 4]));
    assert_eq!(frame["bots"][0]["move"], "RIGHT");
    assert_eq!(frame["bots"][2]["fault"], "timeout");
    assert_eq!(frame["bots"][2]["did"], "painted");
    assert_eq!(frame["bots"][2]["share"], 0.51);
    assert_eq!(frame["grid"][0], 3);
}

fn shown(game: &ColourBattle, state: &State, names: &[String]) -> String {
    format!("--- everything\n{}", game.picture(state, Viewpoint::All, names).plain())
}

#[test]
fn pictures_equal_the_golden_game() {
    let game = game(5, 60);
    let names: Vec<String> = ["ada", "bob", "cleo", "dan", "eve"].map(String::from).into();
    let mut rng = FastRng::new(9);
    let mut state = game.start(2026);
    let mut text = String::new();
    let mut heading = [Move::Up; 5];
    while !game.to_move(&state).is_empty() {
        if state.rounds_played().is_multiple_of(20) {
            text += &shown(&game, &state, &names);
        }
        let replies: Vec<_> = heading
            .iter_mut()
            .map(|step| {
                *step = if rng.below(3) == 0 { rng.pick(&Move::ALL).unwrap() } else { *step };
                if rng.below(30) == 0 { Reply::Fault(Fault::Timeout) } else { Reply::Answer(*step) }
            })
            .collect();
        game.apply(&mut state, &replies);
    }
    text += &shown(&game, &state, &names);
    text += "--- seat 1\n";
    text += &game.picture(&state, Viewpoint::Seat(Seat(1)), &names).plain();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/colour_battle.txt");
    if std::env::var_os("AGON_BLESS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let golden = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(text, golden, "run with AGON_BLESS=1 to accept the new pictures");
}
