//! Word Racer: each rule, properties, and complete games.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "tests fail by panicking")]

use std::fmt::Write as _;
use std::time::Duration;

use agon_core::assets::content_hash;
use agon_core::conformance::{self, ConformanceConfig};
use agon_core::random::{bot_seeds, series_seed};
use agon_core::{
    Assets, BankEmptyAction, ClockRule, FastRng, Fault, Game, HouseBots, Outcome, Reply, Seat, SeatSet,
    Settings, SettingsError, View, Viewpoint,
};
use agon_games::word_racer::{
    Answer, Board, CELLS, CENTRE, Letter, POINTS, SIDE, State, TURNS, WordList, WordRacer, board_points,
    found_words, other_seat,
};
use proptest::prelude::*;

mod faults;
mod score;
mod start;
mod turns;
mod whole_games;
mod words;

fn settings(pairs: &[(&str, &str)]) -> Settings {
    Settings::parse(WordRacer::info().settings, pairs.iter().copied()).unwrap()
}

fn game(pairs: &[(&str, &str)]) -> WordRacer {
    WordRacer::new(&settings(pairs), 2, &Assets::none()).unwrap()
}

fn with_words(content: &[u8]) -> Result<WordRacer, SettingsError> {
    let mut assets = Assets::none();
    let hash = assets.insert(content.to_vec());
    assert_eq!(hash, content_hash(content));
    WordRacer::new(&settings(&[("words", &hash)]), 2, &assets)
}

fn letter(character: char) -> Letter {
    Letter::read(character).unwrap()
}

fn call(character: char, position: u32) -> Answer {
    Answer::Call { letter: letter(character), position }
}

const fn place(position: u32) -> Answer {
    Answer::Place { position }
}

/// The seat to move.
fn mover(game: &WordRacer, state: &State) -> Seat {
    let mut seats = game.to_move(state);
    assert_eq!(seats.len(), 1);
    seats.next().unwrap()
}

fn play(game: &WordRacer, state: &mut State, answer: Answer) {
    assert_eq!(game.check(state, mover(game, state), answer), Ok(()));
    game.apply(state, &[Reply::Answer(answer)]);
}

/// Positions 0 to 48 without the centre.
fn outer() -> impl Iterator<Item = u32> {
    (0..CELLS as u32).filter(|&position| position != CENTRE as u32)
}

/// Plays a complete game in which the players call these letters in turn; each seat writes them in its own order.
fn played_out(game: &WordRacer, letters: &str, orders: &[Vec<u32>; 2]) -> State {
    let mut state = game.start(1);
    for (turn, character) in letters.chars().enumerate() {
        let caller = mover(game, &state);
        play(game, &mut state, call(character, orders[caller.index()][turn]));
        play(game, &mut state, place(orders[other_seat(caller).index()][turn]));
    }
    state
}
