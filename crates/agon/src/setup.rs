//! From words on the command line to a game: paths are read from the current folder, what is to be said goes to stderr.

use std::path::Path;

use agon_core::{Assets, GameInfo, Settings};
use agon_engine::Seating;
use agon_venue::seating::{self, Order, Sandbox};
use agon_venue::{Failure, setup};

use crate::output;

pub use agon_venue::seating::try_load;
pub use agon_venue::setup::{jobs, seed};

/// The current folder: paths stay as they were named.
pub fn here() -> &'static Path {
    Path::new("")
}

/// Reads a BOT; what it learns is kept.
pub fn seating(game: &str, bot: &str, sandbox: Sandbox) -> Result<Seating, Failure> {
    read_bot(game, bot, sandbox, true)
}

/// Reads a BOT. `keep` says whether what it learns is kept in its own folder.
pub fn read_bot(game: &str, bot: &str, sandbox: Sandbox, keep: bool) -> Result<Seating, Failure> {
    let order = Order { game, bot, sandbox, keep, beside: None, folder: here() };
    seating::read_bot(&order, &mut output::note).map_err(|trouble| trouble.of(bot))
}

/// Reads `key=value` pairs into a game's settings, and the files that some of them name.
pub fn settings(info: &GameInfo, pairs: &[String]) -> Result<(Settings, Assets), Failure> {
    setup::settings(info, pairs, here())
}

/// Gives seated programs what the game's settings decide.
pub fn furnish(
    game: &str,
    seats: &mut [Seating],
    settings: &Settings,
    assets: &Assets,
) -> Result<(), Failure> {
    seating::furnish(game, seats, settings, assets, here())
}
