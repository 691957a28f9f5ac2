//! Parsing of bots and settings for commands. Paths are relative to the current folder; messages go to stderr.

use std::path::Path;

use agon_bots::resolve::{self, BotRequest, SandboxMode};
use agon_bots::{Diagnostic, parse_options};
use agon_core::{Assets, BotLifetime, GameInfo, Settings};
use agon_engine::PlayerSpec;

use crate::output;

pub use agon_bots::parse_options::{jobs, seed};
pub use agon_bots::resolve::try_load;

/// The current folder. Paths stay as the user wrote them.
pub fn current_dir() -> &'static Path {
    Path::new("")
}

/// Resolves a bot spec. The bot's data is kept.
pub fn resolve_bot(game: &str, bot: &str, sandbox: SandboxMode) -> Result<PlayerSpec, Diagnostic> {
    resolve_bot_with(game, bot, sandbox, true)
}

/// Resolves a bot spec. `keep` decides whether the bot's data is kept in its folder.
pub fn resolve_bot_with(
    game: &str,
    bot: &str,
    sandbox: SandboxMode,
    keep: bool,
) -> Result<PlayerSpec, Diagnostic> {
    let order = BotRequest { game, bot, sandbox, keep, beside: None, folder: current_dir() };
    resolve::resolve_bot(&order, &mut output::note).map_err(|trouble| trouble.of(bot))
}

/// Parses `key=value` pairs into a game's settings, and reads the files that they name.
pub fn settings(info: &GameInfo, pairs: &[String]) -> Result<(Settings, Assets), Diagnostic> {
    parse_options::settings(info, pairs, current_dir())
}

/// Installs the files that a game's settings define (such as a word list) for the seated programs.
pub fn install_game_files(
    game: &str,
    seats: &mut [PlayerSpec],
    settings: &Settings,
    assets: &Assets,
) -> Result<(), Diagnostic> {
    resolve::install_game_files(game, seats, settings, assets, current_dir())
}

/// Hint for an option that only games with matches have.
pub fn no_matches_hint() -> String {
    let with_matches = agon_games::infos().into_iter().filter(|info| info.lifetime == BotLifetime::Match);
    let ids: Vec<&str> = with_matches.map(|info| info.id).collect();
    format!("leave it out; only {}'s bots live for a match", ids.join("'s and "))
}
