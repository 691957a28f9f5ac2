//! Rules of Connect Five, with a test for each sentence of the rule book.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]
#![allow(clippy::float_cmp, reason = "scores and given probabilities are exact")]

use agon_core::{Assets, Game, Outcome, Reply, Seat, Settings};
use agon_games::connect_five::board::Board;
use agon_games::connect_five::{Column, ConnectFive, State};

mod answers;
mod grid;
mod house_bots;
mod properties;
mod series;
mod special;
mod view;

type Pairs<'a> = &'a [(&'a str, &'a str)];

/// Settings without drift.
const STILL: Pairs = &[("special", "0,1"), ("p", "0"), ("q", "0")];

fn settings(pairs: Pairs) -> Settings {
    Settings::parse(ConnectFive::info().settings, pairs.iter().copied()).unwrap()
}

fn game(pairs: Pairs) -> ConnectFive {
    ConnectFive::new(&settings(pairs), 2, &Assets::none()).unwrap()
}

fn drop_into(game: &ConnectFive, state: &mut State, column: i64) {
    game.apply(state, &[Reply::Answer(Column(column))]);
}

/// A game after dropping into these columns.
fn after(game: &ConnectFive, seed: u64, columns: &[i64]) -> State {
    let mut state = game.start(seed);
    for &column in columns {
        drop_into(game, &mut state, column);
    }
    state
}

fn board(game: &ConnectFive, state: &State) -> Board {
    game.observe(state, Seat(0)).board
}

fn outcome(game: &ConnectFive, state: &State) -> Outcome {
    game.outcome(state).expect("the game is over")
}

fn scores(outcome: &Outcome) -> Vec<f64> {
    outcome.seats.iter().map(|s| s.score).collect()
}
