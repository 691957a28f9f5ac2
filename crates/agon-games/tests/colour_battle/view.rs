//! Frames and pictures.

use agon_core::{FastRng, Fault, Game, PaletteColor, Picture, Reply, Seat, View, Viewpoint};
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

/// Background of the first span with this text in the scoreboard line of a bot.
fn colour_of(picture: &Picture, name: &str) -> PaletteColor {
    let line = picture.lines.iter().find(|line| line.iter().any(|span| span.text.contains(name))).unwrap();
    let at = line.iter().position(|span| span.text.contains(name)).unwrap();
    line[at - 1].style.background
}

#[test]
fn bot_keeps_its_colour_when_ids_are_dealt_again() {
    let game = game(3, 9);
    let names: Vec<String> = ["ada", "bob", "cleo"].map(String::from).into();
    for ids in [[1, 2, 3], [3, 1, 2], [2, 3, 1]] {
        let state = placed(&game, &[(ids[0], 1, 1), (ids[1], 5, 5), (ids[2], 9, 9)]);
        let picture = game.picture(&state, Viewpoint::All, &names);
        for (seat, name) in names.iter().enumerate() {
            assert_eq!(colour_of(&picture, name), PaletteColor::Seat(seat as u8), "{ids:?}");
        }
    }
}

#[test]
fn numbers_show_own_and_floor_ids() {
    let game = game(12, 9);
    let names: Vec<String> = (0..12).map(|i| format!("bot {i}")).collect();
    let places: Vec<(u8, u8, u8)> = (0..12).map(|seat| (12 - seat, seat, seat)).collect();
    let mut state = placed(&game, &places);
    game.apply(&mut state, &[Reply::Answer(Move::Stay); 12]);
    let picture = game.picture_with_numbers(&state, Viewpoint::All, &names).unwrap().plain();
    let row = |y: usize| picture.lines().nth(1 + usize::from(game.side()) - y).unwrap();
    // Seat 0 has the id 12 and has painted its tile: the number of the floor, then the letter of the bot.
    assert!(row(0).starts_with("│12L ·"), "{picture}");
    assert!(row(3).starts_with("│ ·  ·  ·  9I ·"), "{picture}");
    assert!(picture.contains(" L 12 bot 0"), "the scoreboard has the numbers: {picture}");
    let width = picture.lines().next_back().unwrap().chars().take_while(|c| *c != '┘').count();
    assert_eq!(width, 1 + 3 * usize::from(game.side()));
}
