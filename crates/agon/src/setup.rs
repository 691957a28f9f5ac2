//! From words on the command line to a game: paths are read from the current folder, what is to be said goes to stderr.

use std::path::Path;

use agon_bots::resolve::{self, BotRequest, SandboxMode};
use agon_bots::{Failure, parse_options};
use agon_core::{Assets, BotLifetime, GameInfo, Settings};
use agon_engine::PlayerSpec;

use crate::output;

pub use agon_bots::parse_options::{jobs, seed};
pub use agon_bots::resolve::try_load;

/// The current folder: paths stay as they were named.
pub fn here() -> &'static Path {
    Path::new("")
}

/// Reads a BOT; what it learns is kept.
pub fn seating(game: &str, bot: &str, sandbox: SandboxMode) -> Result<PlayerSpec, Failure> {
    read_bot(game, bot, sandbox, true)
}

/// Reads a BOT. `keep` says whether what it learns is kept in its own folder.
pub fn read_bot(game: &str, bot: &str, sandbox: SandboxMode, keep: bool) -> Result<PlayerSpec, Failure> {
    let order = BotRequest { game, bot, sandbox, keep, beside: None, folder: here() };
    resolve::resolve_bot(&order, &mut output::note).map_err(|trouble| trouble.of(bot))
}

/// Reads `key=value` pairs into a game's settings, and the files that some of them name.
pub fn settings(info: &GameInfo, pairs: &[String]) -> Result<(Settings, Assets), Failure> {
    parse_options::settings(info, pairs, here())
}

/// Gives seated programs what the game's settings decide.
pub fn furnish(
    game: &str,
    seats: &mut [PlayerSpec],
    settings: &Settings,
    assets: &Assets,
) -> Result<(), Failure> {
    resolve::install_game_files(game, seats, settings, assets, here())
}

/// Hint for an option that only games with matches have.
pub fn no_matches_hint() -> String {
    let with_matches = agon_games::infos().into_iter().filter(|info| info.lifetime == BotLifetime::Match);
    let ids: Vec<&str> = with_matches.map(|info| info.id).collect();
    format!("leave it out; only {}'s bots live for a match", ids.join("'s and "))
}
