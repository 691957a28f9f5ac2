//! Solitude Scramble: the rule book, recorded matches of the original implementation, and properties.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

use agon_core::{Assets, Fault, Game, Reply, Settings};
use agon_games::solitude_scramble::SolitudeScramble;
use agon_games::solitude_scramble::board::{Move, Side};
use agon_games::solitude_scramble::state::Deal;

mod house_bots;
mod properties;
mod records;
mod rules;
mod view;

fn game_with(pairs: &[(&str, &str)]) -> SolitudeScramble {
    let settings = Settings::parse(SolitudeScramble::info().settings, pairs.iter().copied()).unwrap();
    SolitudeScramble::new(&settings, 4, &Assets::none()).unwrap()
}

fn default_game() -> SolitudeScramble {
    game_with(&[])
}

fn deal(scores: [u8; 5], sides: [Side; 4]) -> Deal {
    Deal::new(scores, sides).unwrap()
}

fn replies(moves: [Option<Move>; 4]) -> [Reply<Move>; 4] {
    moves.map(|chosen| chosen.map_or(Reply::Fault(Fault::Crash), Reply::Answer))
}

fn names(names: [&str; 4]) -> Vec<String> {
    names.map(String::from).into()
}
