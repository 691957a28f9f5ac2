//! Hide and Seek: each rule of the rule book, the vectors of the public generator, and properties.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "tests")]

mod house_bots;
mod properties;
mod vectors;

use std::time::Duration;

use agon_core::{
    Assets, BotLifetime, ClockRule, Fault, FaultPenalty, Game, Reply, ScoreDirection, Seat, Settings, View,
};
use agon_games::hide_and_seek::{Answer, Cell, Direction, GameStart, HIDER, HideAndSeek, Map, SEEKER, State};

const L: Direction = Direction::Left;
const R: Direction = Direction::Right;
const U: Direction = Direction::Up;
const D: Direction = Direction::Down;
const S: Direction = Direction::Stay;

fn cell(x: i32, y: i32) -> Cell {
    Cell::new(x, y).unwrap()
}

fn game(pairs: &[(&str, &str)]) -> HideAndSeek {
    let settings = Settings::parse(HideAndSeek::info().settings, pairs.iter().copied()).unwrap();
    HideAndSeek::new(&settings, 2, &Assets::none()).unwrap()
}

/// A game in a room with these walls.
fn room(walls: &[(i32, i32)], seeker: (i32, i32), hider: (i32, i32)) -> State {
    let map = Map::new(walls.iter().map(|&(x, y)| cell(x, y)).collect());
    let spawns = [cell(seeker.0, seeker.1), cell(hider.0, hider.1)];
    State::new(GameStart { map_seed: 0, game_seed: 0, map, spawns })
}

fn go(game: &HideAndSeek, state: &mut State, direction: Direction) {
    game.apply(state, &[Reply::Answer(Answer::Step(direction))]);
}

/// Plays these moves in turn.
fn play(game: &HideAndSeek, state: &mut State, moves: &[Direction]) {
    for &direction in moves {
        go(game, state, direction);
    }
}

fn mover(game: &HideAndSeek, state: &State) -> Option<Seat> {
    game.to_move(state).next()
}

fn score(game: &HideAndSeek, state: &State) -> Option<(f64, f64, u8, u8)> {
    let outcome = game.outcome(state)?;
    let [seeker, hider] = outcome.seats[..] else { panic!("two seats") };
    Some((seeker.score, hider.score, seeker.place, hider.place))
}

// ---- moves ----

#[test]
fn seeker_moves_in_every_step_and_hider_in_every_second_after_it() {
    let game = game(&[]);
    let mut state = room(&[], (0, 0), (19, 19));
    let mut turns = Vec::new();
    while turns.len() < 9 {
        turns.push((game.frame(&state)["step"].as_u64().unwrap(), mover(&game, &state).unwrap()));
        go(&game, &mut state, S);
    }
    let expected = [(1, 0), (2, 0), (2, 1), (3, 0), (4, 0), (4, 1), (5, 0), (6, 0), (6, 1)];
    assert_eq!(turns, expected.map(|(step, seat)| (step, Seat(seat))));
}

#[test]
fn step_is_one_cell_left_right_up_down_or_none() {
    let game = game(&[]);
    for (direction, to) in [(L, (4, 5)), (R, (6, 5)), (U, (5, 4)), (D, (5, 6)), (S, (5, 5))] {
        for answer in [Answer::Step(direction), Answer::To { x: to.0, y: to.1 }] {
            let mut state = room(&[], (5, 5), (19, 19));
            assert_eq!(game.check(&state, SEEKER, answer), Ok(()));
            game.apply(&mut state, &[Reply::Answer(answer)]);
            assert_eq!(state.cell(SEEKER), cell(to.0, to.1), "{direction:?}");
        }
    }
}

#[test]
fn illegal_move_keeps_the_player_in_place_and_lists_every_reason() {
    let game = game(&[]);
    let state = room(&[(1, 0), (9, 9)], (0, 0), (19, 19));
    let cases: [(Answer, &[&str]); 7] = [
        (Answer::Step(R), &["[1, 0] is a wall"]),
        (Answer::To { x: 1, y: 0 }, &["[1, 0] is a wall"]),
        (Answer::Step(U), &["[0, -1] is off the map; x and y must be 0 to 19"]),
        (Answer::To { x: 1, y: 1 }, &["[1, 1] is not one cell left, right, up or down of [0, 0]"]),
        (Answer::To { x: 0, y: 2 }, &["[0, 2] is not one cell left, right, up or down of [0, 0]"]),
        (
            Answer::To { x: 9, y: 9 },
            &["[9, 9] is a wall", "[9, 9] is not one cell left, right, up or down of [0, 0]"],
        ),
        (
            Answer::To { x: i32::MIN, y: i32::MAX },
            &[
                "[-2147483648, 2147483647] is off the map; x and y must be 0 to 19",
                "[-2147483648, 2147483647] is not one cell left, right, up or down of [0, 0]",
            ],
        ),
    ];
    for (answer, reasons) in cases {
        assert_eq!(game.check(&state, SEEKER, answer).unwrap_err().reasons, reasons);
        let mut next = state.clone();
        game.apply(&mut next, &[Reply::Answer(answer)]);
        assert_eq!(next.cell(SEEKER), cell(0, 0));
        assert_eq!(game.frame(&next)["last"]["fault"], "illegal");
        assert_eq!(game.frame(&next)["step"], 2, "the step counts in any case");
    }
    assert!(game.check(&state, HIDER, Answer::Step(S)).is_err(), "the hider is not to move");
}

#[test]
fn every_fault_counts_as_stay() {
    assert_eq!(HideAndSeek::info().faults, [FaultPenalty::Stay; 4]);
    let game = game(&[]);
    for fault in Fault::ALL {
        let mut state = room(&[], (5, 5), (19, 19));
        game.apply(&mut state, &[Reply::Fault(fault)]);
        game.apply(&mut state, &[Reply::Answer(Answer::Step(R))]);
        game.apply(&mut state, &[Reply::Fault(fault)]);
        assert_eq!((state.cell(SEEKER), state.cell(HIDER)), (cell(6, 5), cell(19, 19)));
        assert_eq!((mover(&game, &state), game.outcome(&state).is_some()), (Some(SEEKER), false));
    }
    let mut state = room(&[], (5, 5), (19, 19));
    game.apply(&mut state, &[]);
    assert_eq!(game.frame(&state)["last"]["fault"], "crash", "a missing reply counts as a crash");
}

// ---- end of the game ----

#[test]
fn seeker_on_the_hiders_cell_ends_the_game_and_the_first_step_counts_1() {
    let game = game(&[]);
    let mut state = room(&[], (5, 5), (6, 5));
    go(&game, &mut state, R);
    assert_eq!(score(&game, &state), Some((1.0, 1.0, 1, 2)));
    assert_eq!(game.outcome(&state).unwrap().ended, "caught");
    assert!(mover(&game, &state).is_none());
}

#[test]
fn hider_that_steps_onto_the_seeker_is_caught_in_that_step() {
    let game = game(&[]);
    let mut state = room(&[], (5, 5), (7, 5));
    play(&game, &mut state, &[S, R, L]);
    assert_eq!(score(&game, &state), Some((2.0, 2.0, 1, 2)));
}

#[test]
fn players_cannot_swap_cells_without_a_catch() {
    let game = game(&[]);
    let mut state = room(&[], (5, 5), (7, 5));
    // The seeker steps next to the hider, then onto it before the hider can move away.
    play(&game, &mut state, &[R, R]);
    assert_eq!(score(&game, &state), Some((2.0, 2.0, 1, 2)));
}

#[test]
fn hider_wins_after_the_last_step_without_a_catch() {
    assert_eq!(game(&[]).steps(), 4000);
    let game = game(&[("steps", "4")]);
    let mut state = room(&[], (0, 0), (19, 19));
    play(&game, &mut state, &[S; 5]);
    assert_eq!(mover(&game, &state), Some(HIDER), "the hider still moves in the last step");
    go(&game, &mut state, S);
    assert_eq!(score(&game, &state), Some((4.0, 4.0, 2, 1)));
    assert_eq!(game.outcome(&state).unwrap().ended, "not caught");

    let mut caught = room(&[], (0, 0), (0, 3));
    play(&game, &mut caught, &[S, S, S, S, D, U]);
    assert_eq!(score(&game, &caught), Some((4.0, 4.0, 2, 1)), "one cell apart is not a catch");
    let mut caught = room(&[], (0, 0), (0, 2));
    play(&game, &mut caught, &[S, S, S, S, D, U]);
    assert_eq!(score(&game, &caught), Some((4.0, 4.0, 1, 2)), "a catch by the last move counts");
}

#[test]
fn expired_clock_gives_the_faster_player_the_best_score() {
    let game = game(&[]);
    let limit = Duration::from_mins(5);
    assert_eq!(game.clock(), ClockRule::Shared { limit, weights: vec![1, 2] });
    for (least, expected) in [(SEEKER, (1.0, 1.0, 1, 2)), (HIDER, (4000.0, 4000.0, 2, 1))] {
        let mut state = room(&[], (0, 0), (19, 19));
        play(&game, &mut state, &[S; 7]);
        game.expire(&mut state, least);
        assert_eq!(score(&game, &state), Some(expected));
        assert!(mover(&game, &state).is_none());
    }
}

#[test]
fn roles_and_lifetime_are_those_of_the_rule_book() {
    let info = HideAndSeek::info();
    assert_eq!((info.role(SEEKER).name, info.role(SEEKER).better), ("seeker", ScoreDirection::Lower));
    assert_eq!((info.role(HIDER).name, info.role(HIDER).better), ("hider", ScoreDirection::Higher));
    assert_eq!((info.lifetime, info.names_shown), (BotLifetime::Game, false));
    assert!(HideAndSeek::new(&Settings::defaults(info.settings), 3, &Assets::none()).is_err());
}

// ---- observations ----

#[test]
fn both_players_know_the_map_and_both_spawn_cells_at_the_start() {
    let game = game(&[]);
    let state = game.start(5);
    for seat in [SEEKER, HIDER] {
        let seen = game.observe(&state, seat);
        assert_eq!(seen.enemy_pos, seen.enemy_spawn_position);
        assert_eq!(seen.pos, seen.spawn_position);
        assert_eq!(seen.game_map, state.map());
    }
}

#[test]
fn invisible_enemy_keeps_its_last_known_position() {
    let game = game(&[]);
    // A wall from [5, 0] to [5, 4]; the hider walks along its other side.
    let wall: Vec<(i32, i32)> = (0..5).map(|y| (5, y)).collect();
    let mut state = room(&wall, (3, 5), (7, 5));
    assert!(game.observe(&state, SEEKER).enemy_is_visible);
    play(&game, &mut state, &[S, S, U]);
    let seen = game.observe(&state, SEEKER);
    assert_eq!((seen.enemy_is_visible, seen.enemy_pos), (false, cell(7, 5)), "hider at [7, 4]");
    play(&game, &mut state, &[D, S]);
    let seen = game.observe(&state, HIDER);
    assert_eq!((seen.enemy_is_visible, seen.enemy_pos), (true, cell(3, 6)));
    play(&game, &mut state, &[U]);
    let seen = game.observe(&state, SEEKER);
    assert_eq!(
        (seen.enemy_is_visible, seen.enemy_pos),
        (false, cell(7, 4)),
        "visible before its own step in between"
    );
}

#[test]
fn sighting_between_two_own_moves_is_not_reported() {
    let game = game(&[]);
    // The seeker passes a gap in the wall between two moves of the hider.
    let wall: Vec<(i32, i32)> = (0..20).filter(|&y| y != 6).map(|y| (5, y)).collect();
    let mut state = room(&wall, (3, 5), (7, 6));
    assert!(!state.see_each_other());
    go(&game, &mut state, D);
    assert!(state.see_each_other());
    assert!(game.observe(&state, SEEKER).enemy_is_visible, "the seeker moves again and sees it");
    go(&game, &mut state, D);
    assert!(!state.see_each_other());
    let seen = game.observe(&state, HIDER);
    assert_eq!(
        (seen.enemy_is_visible, seen.enemy_pos),
        (false, cell(3, 5)),
        "the hider sees only before its own move"
    );
}
