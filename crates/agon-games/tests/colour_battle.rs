//! Colour Battle: every rule, and the transcripts of the original implementation. More tests are in `colour_battle/`.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, reason = "tests")]

#[path = "colour_battle/house_bots.rs"]
mod house_bots;
#[path = "colour_battle/properties.rs"]
mod properties;
#[path = "colour_battle/view.rs"]
mod view;

use std::collections::HashSet;
use std::time::Duration;

use agon_core::{
    Assets, BankEmptyAction, BotLifetime, ClockRule, Fault, FaultPenalty, Game, Reply, Seat, SeatSet,
    Settings,
};
use agon_games::colour_battle::{ColourBattle, Move, PaintEffect, Painter, Position, State, paint, side_for};
use serde_json::{Value as Json, json};

fn game(seats: usize, rounds: u32) -> ColourBattle {
    let rounds = rounds.to_string();
    let settings = Settings::parse(ColourBattle::info().settings, [("rounds", rounds.as_str())]).unwrap();
    ColourBattle::new(&settings, seats, &Assets::none()).unwrap()
}

/// A start with these `(id, x, y)` in seat order.
fn placed(game: &ColourBattle, bots: &[(u8, u8, u8)]) -> State {
    let bots: Vec<Painter> =
        bots.iter().map(|&(id, x, y)| Painter { id, position: Position { x, y } }).collect();
    game.start_with(&bots).unwrap()
}

/// Plays rounds with one letter per seat, separated by blanks.
fn play(game: &ColourBattle, state: &mut State, rounds: &str) {
    for round in rounds.split_whitespace() {
        let replies: Vec<_> =
            round.chars().map(|c| Reply::Answer(Move::from_word(&c.to_string()).unwrap())).collect();
        game.apply(state, &replies);
    }
}

fn at(state: &State, x: u8, y: u8) -> u8 {
    state.grid().at(Position { x, y })
}

fn position(state: &State, seat: u8) -> (u8, u8) {
    let Position { x, y } = state.painter(Seat(seat)).position;
    (x, y)
}

// --- rules ---

#[test]
fn side_is_the_root_of_64_tiles_per_bot_rounded_up() {
    for (bots, side) in [(2, 12), (3, 14), (4, 16), (5, 18), (8, 23), (20, 36), (21, 37), (64, 64)] {
        assert_eq!(side_for(bots), side);
        assert_eq!(usize::from(game(bots, 1).side()), side);
    }
}

#[test]
fn arena_holds_2_to_64_bots() {
    let settings = Settings::defaults(ColourBattle::info().settings);
    for seats in [0, 1, 65, 1000] {
        assert!(ColourBattle::new(&settings, seats, &Assets::none()).is_err(), "{seats}");
    }
    assert!(ColourBattle::new(&settings, 2, &Assets::none()).is_ok());
    assert!(ColourBattle::new(&settings, 64, &Assets::none()).is_ok());
}

#[test]
fn ids_are_1_to_n_and_dealt_for_each_game() {
    let game = game(20, 1);
    let mut deals = HashSet::new();
    for seed in 0..50 {
        let state = game.start(seed);
        let ids: Vec<u8> = Seat::all(20).map(|seat| state.painter(seat).id).collect();
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (1..=20).collect::<Vec<u8>>());
        deals.insert(ids);
    }
    assert_eq!(deals.len(), 50);
}

#[test]
fn start_tiles_are_uniform_and_may_coincide() {
    let game = game(2, 1);
    let mut seen = [0u32; 144];
    let mut together = 0;
    for seed in 0..20_000 {
        let state = game.start(seed);
        let [a, b] = [0, 1].map(|seat| state.painter(Seat(seat)).position);
        seen[a.cell(12)] += 1;
        together += u32::from(a == b);
    }
    let expected = 20_000.0 / 144.0;
    let chi: f64 = seen.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
    assert!(chi < 200.0, "chi-square with 143 degrees of freedom, 0.1 %: {chi}");
    assert!((90..200).contains(&together), "expected one game in 144: {together} of 20000");
}

#[test]
fn canvas_starts_white_and_the_start_tile_is_not_painted() {
    let game = game(2, 5);
    let mut state = placed(&game, &[(1, 3, 3), (2, 8, 8)]);
    assert!(state.grid().tiles().iter().all(|&tile| tile == 0));
    play(&game, &mut state, "UU");
    assert_eq!(
        (at(&state, 3, 3), at(&state, 3, 4)),
        (0, 1),
        "the entered tile is painted, not the start tile"
    );
}

#[test]
fn up_is_y_plus_1_down_y_minus_1_left_x_minus_1_right_x_plus_1() {
    let game = game(2, 9);
    for (step, to) in [("U", (5, 6)), ("D", (5, 4)), ("L", (4, 5)), ("R", (6, 5)), ("S", (5, 5))] {
        let mut state = placed(&game, &[(1, 5, 5), (2, 0, 0)]);
        play(&game, &mut state, &format!("{step}S"));
        assert_eq!(position(&state, 0), to, "{step}");
        assert_eq!(at(&state, to.0, to.1), 1, "{step}");
    }
}

#[test]
fn move_off_the_edge_stays_and_paints_there() {
    let game = game(2, 9);
    for (step, corner) in [("U", (0, 11)), ("L", (0, 11)), ("D", (11, 0)), ("R", (11, 0))] {
        let mut state = placed(&game, &[(1, corner.0, corner.1), (2, 5, 5)]);
        play(&game, &mut state, &format!("{step}S"));
        assert_eq!(position(&state, 0), corner, "{step}");
        assert_eq!(at(&state, corner.0, corner.1), 1, "{step}");
    }
}

#[test]
fn white_floor_takes_the_colour() {
    for own in 1..=64 {
        assert_eq!(paint(0, own), own);
    }
}

#[test]
fn paint_takes_wipes_or_keeps_by_the_difference_of_the_ids_modulo_3() {
    // (own - floor) % 3: 0 keeps, 1 turns white, 2 takes.
    for (floor, own, becomes) in [(1, 4, 1), (1, 2, 0), (1, 3, 3), (3, 1, 0), (2, 1, 1), (3, 2, 2), (2, 2, 2)]
    {
        assert_eq!(paint(floor, own), becomes, "{own} on {floor}");
    }
    let game = game(4, 9);
    for (second, becomes) in [(2, 0), (3, 3), (4, 1)] {
        let rest: Vec<u8> = (2..=4).filter(|&id| id != second).collect();
        let mut state = placed(&game, &[(1, 2, 2), (second, 2, 1), (rest[0], 9, 0), (rest[1], 9, 9)]);
        play(&game, &mut state, "SSSS RUSS");
        assert_eq!(at(&state, 2, 2), becomes, "{second} on 1");
    }
}

#[test]
fn wiped_tile_is_taken_by_staying_on_it() {
    let game = game(2, 9);
    let mut state = placed(&game, &[(1, 4, 4), (2, 4, 3)]);
    play(&game, &mut state, "SS");
    assert_eq!((at(&state, 4, 4), at(&state, 4, 3)), (1, 2));
    play(&game, &mut state, "RU");
    assert_eq!(at(&state, 4, 4), 0);
    assert_eq!(state.last_action(2).unwrap().effect, PaintEffect::Wiped);
    play(&game, &mut state, "RS");
    assert_eq!(at(&state, 4, 4), 2);
    assert_eq!(state.last_action(2).unwrap().effect, PaintEffect::Painted);
}

#[test]
fn tile_with_two_or_more_bots_turns_white_for_all_ids() {
    for (a, b) in [(1, 2), (1, 3), (1, 4), (2, 3), (4, 1)] {
        let game = game(4, 9);
        let rest: Vec<u8> = (1..=4).filter(|id| ![a, b].contains(id)).collect();
        let mut state = placed(&game, &[(a, 4, 4), (b, 6, 4), (rest[0], 0, 0), (rest[1], 9, 9)]);
        play(&game, &mut state, "RSSS LSSS RLSS");
        assert_eq!(position(&state, 0), position(&state, 1));
        assert_eq!(at(&state, 5, 4), 0, "{a} and {b}");
        assert_eq!(state.last_action(a).unwrap().effect, PaintEffect::Clashed);
        play(&game, &mut state, "SSSS");
        assert_eq!(at(&state, 5, 4), 0, "white as long as both stand there");
        play(&game, &mut state, "LSSS");
        assert_eq!(at(&state, 5, 4), b, "the bot that stays paints it");
    }
    let game = game(3, 9);
    let mut state = placed(&game, &[(1, 4, 4), (2, 6, 4), (3, 5, 5)]);
    play(&game, &mut state, "RLD");
    assert_eq!(at(&state, 5, 4), 0, "three on a tile");
}

#[test]
fn all_bots_move_before_any_paints() {
    let game = game(2, 9);
    // They swap places: no clash, each paints the floor that the other has left.
    let mut state = placed(&game, &[(1, 4, 4), (2, 5, 4)]);
    play(&game, &mut state, "SS RL");
    assert_eq!((position(&state, 0), position(&state, 1)), ((5, 4), (4, 4)));
    assert_eq!(at(&state, 5, 4), 1, "1 takes the floor of 2");
    assert_eq!(at(&state, 4, 4), 0, "2 wipes the floor of 1");
    // Following another bot is not a clash either.
    let mut state = placed(&game, &[(1, 4, 4), (2, 5, 4)]);
    play(&game, &mut state, "RR");
    assert_eq!((at(&state, 5, 4), at(&state, 6, 4)), (1, 2));
}

#[test]
fn bots_that_start_together_keep_their_tile_white_while_they_stay() {
    let game = game(2, 9);
    let mut state = placed(&game, &[(1, 4, 4), (2, 4, 4)]);
    play(&game, &mut state, "SS");
    assert_eq!(at(&state, 4, 4), 0);
    play(&game, &mut state, "US");
    assert_eq!((at(&state, 4, 5), at(&state, 4, 4)), (1, 2));
}

#[test]
fn any_fault_counts_as_stay_for_that_round() {
    let game = game(2, 9);
    for fault in Fault::ALL {
        let mut state = placed(&game, &[(1, 4, 4), (2, 8, 8)]);
        game.apply(&mut state, &[Reply::Fault(fault), Reply::Answer(Move::Up)]);
        let mut stayed = placed(&game, &[(1, 4, 4), (2, 8, 8)]);
        play(&game, &mut stayed, "SU");
        assert_eq!(state.grid().tiles(), stayed.grid().tiles());
        assert_eq!(state.painters(), stayed.painters());
        assert_eq!(at(&state, 4, 4), 1, "a bot that stays paints its tile");
        play(&game, &mut state, "US");
        assert_eq!(position(&state, 0), (4, 5), "the bot moves again in the next round");
    }
    assert_eq!(ColourBattle::info().faults, [FaultPenalty::Stay; 4]);
}

#[test]
fn missing_reply_is_a_crash_and_counts_as_stay() {
    let game = game(3, 9);
    let mut state = placed(&game, &[(1, 4, 4), (2, 8, 8), (3, 0, 0)]);
    game.apply(&mut state, &[Reply::Answer(Move::Up)]);
    assert_eq!([0, 1, 2].map(|seat| position(&state, seat)), [(4, 5), (8, 8), (0, 0)]);
    assert_eq!(state.last_action(3).unwrap().reply, Reply::Fault(Fault::Crash));
}

#[test]
fn clock_gives_20_ms_per_move_on_average_then_the_bot_sits_out() {
    let limit = |rounds: u64| Duration::from_millis(20 * rounds);
    assert_eq!(
        game(2, 1000).clock(),
        ClockRule::Bank { limit: limit(1000), when_empty: BankEmptyAction::SitOut }
    );
    assert_eq!(game(20, 7).clock(), ClockRule::Bank { limit: limit(7), when_empty: BankEmptyAction::SitOut });
    let settings = Settings::parse(ColourBattle::info().settings, [("move_ms", "0.5")]).unwrap();
    let quick = ColourBattle::new(&settings, 2, &Assets::none()).unwrap();
    let limit = Duration::from_millis(500);
    assert_eq!(quick.clock(), ClockRule::Bank { limit, when_empty: BankEmptyAction::SitOut });
    assert_eq!(ColourBattle::info().lifetime, BotLifetime::Game);
}

#[test]
fn game_has_1000_rounds_by_default() {
    let settings = Settings::defaults(ColourBattle::info().settings);
    let game = ColourBattle::new(&settings, 3, &Assets::none()).unwrap();
    let mut state = game.start(1);
    for _ in 0..1000 {
        assert_eq!(game.to_move(&state), SeatSet::first(3));
        assert!(game.outcome(&state).is_none());
        play(&game, &mut state, "SSS");
    }
    assert!(game.to_move(&state).is_empty());
    assert!(game.outcome(&state).is_some());
    for bad in ["0", "100001", "-1", "many"] {
        assert!(Settings::parse(ColourBattle::info().settings, [("rounds", bad)]).is_err(), "{bad}");
    }
}

#[test]
fn score_is_the_share_of_tiles_in_percent() {
    let game = game(2, 3);
    let mut state = placed(&game, &[(1, 0, 0), (2, 0, 11)]);
    play(&game, &mut state, "RS RS RS");
    let outcome = game.outcome(&state).unwrap();
    let tiles: Vec<f64> = outcome.seats.iter().map(|seat| seat.stats[0]).collect();
    let shares: Vec<f64> = outcome.seats.iter().map(|seat| seat.score).collect();
    assert_eq!(tiles, [3.0, 1.0]);
    assert_eq!(shares, [300.0 / 144.0, 100.0 / 144.0]);
    assert_eq!([outcome.seats[0].place, outcome.seats[1].place], [1, 2]);
}

#[test]
fn observation_has_id_position_grid_all_bots_and_round() {
    let game = game(2, 40);
    let mut state = placed(&game, &[(2, 9, 1), (1, 4, 1)]);
    play(&game, &mut state, "DL");
    let seen = serde_json::to_value(game.observe(&state, Seat(0))).unwrap();
    assert_eq!(seen["id"], 2);
    assert_eq!(seen["position"], json!([9, 0]));
    assert_eq!(seen["grid"][0][9], 2, "grid[y][x]");
    assert_eq!(seen["grid"][1][3], 1, "grid[y][x]");
    assert_eq!(seen["grid"].as_array().unwrap().len(), 12);
    assert_eq!(seen["enemies"], json!([{"id": 1, "position": [3, 1]}, {"id": 2, "position": [9, 0]}]));
    assert_eq!(seen["game_info"], json!({"current_round": 2, "number_of_rounds": 40, "grid_size": 12}));
    assert_eq!(game.observe(&game.start(1), Seat(0)).game_info.current_round, 1, "rounds count from 1");
}

#[test]
fn answers_are_read_by_name_and_by_letter_and_every_one_is_legal() {
    let game = game(2, 9);
    let state = placed(&game, &[(1, 0, 0), (2, 11, 11)]);
    for (text, step) in [("UP", Move::Up), ("down", Move::Down), (" L ", Move::Left), ("r\n", Move::Right)] {
        assert_eq!(ColourBattle::read_answer(text), Ok(step));
    }
    for text in ["", "NORTH", "0", "UP DOWN", "UU"] {
        assert!(ColourBattle::read_answer(text).unwrap_err().contains("UP, DOWN, LEFT, RIGHT or STAY"));
    }
    for step in Move::ALL {
        assert_eq!(game.check(&state, Seat(0), step), Ok(()));
    }
}

#[test]
fn invalid_start_is_rejected() {
    let game = game(2, 9);
    let start = |bots: &[(u8, u8, u8)]| {
        let bots: Vec<_> =
            bots.iter().map(|&(id, x, y)| Painter { id, position: Position { x, y } }).collect();
        game.start_with(&bots)
    };
    assert!(start(&[(1, 0, 0), (2, 11, 11)]).is_some());
    assert!(start(&[(1, 0, 0), (1, 1, 1)]).is_none(), "duplicate id");
    assert!(start(&[(0, 0, 0), (1, 1, 1)]).is_none(), "id 0 is white");
    assert!(start(&[(1, 0, 0), (2, 12, 0)]).is_none(), "position off the canvas");
    assert!(start(&[(1, 0, 0)]).is_none(), "too few bots");
}

// --- transcripts of the original ---

#[test]
fn transcripts_of_the_original_are_reproduced() {
    let file = include_str!("vectors/colour-battle/transcripts.json");
    let transcripts: Vec<Json> = serde_json::from_str(file).unwrap();
    assert_eq!(transcripts.len(), 6);
    for transcript in &transcripts {
        let number = |json: &Json| json.as_u64().unwrap() as u8;
        let seats = number(&transcript["bots"]) as usize;
        let game = game(seats, transcript["rounds"].as_u64().unwrap() as u32);
        assert_eq!(game.side(), number(&transcript["side"]));
        let bots: Vec<(u8, u8, u8)> = (0..seats)
            .map(|i| {
                let start = &transcript["start"][i];
                (number(&transcript["ids"][i]), number(&start[0]), number(&start[1]))
            })
            .collect();
        let mut state = placed(&game, &bots);
        let mut checkpoints = transcript["checkpoints"].as_array().unwrap().iter().peekable();
        for (round, moves) in (1..).zip(transcript["moves"].as_array().unwrap()) {
            play(&game, &mut state, moves.as_str().unwrap());
            if let Some(checkpoint) = checkpoints.next_if(|c| c["round"] == json!(round)) {
                let label = format!("{seats} bots, round {round}");
                assert_eq!(serde_json::to_value(state.grid()).unwrap(), checkpoint["grid"], "{label}");
                let positions: Vec<_> = Seat::all(seats).map(|s| state.painter(s).position).collect();
                assert_eq!(json!(positions), checkpoint["positions"], "{label}");
            }
        }
        assert!(checkpoints.next().is_none(), "not every checkpoint was compared");
        let outcome = game.outcome(&state).expect("all rounds are played");
        let tiles: Vec<u64> = outcome.seats.iter().map(|s| s.stats[0] as u64).collect();
        assert_eq!(json!(tiles), transcript["tiles"]);
    }
}
