//! Parsing of bots and settings for commands. Paths are relative to the current folder; messages go to stderr.

use std::path::Path;

use agon_bots::source::archive::ArchiveLimits;
use agon_bots::{BotSource, Diagnostic, PrepareContext, PreparedBot, SandboxMode, parse_options, prepare};
use agon_core::{Assets, BotLifetime, GameInfo, Settings};

use crate::output;

pub use agon_bots::parse_options::{jobs, seed};
pub use agon_bots::prepare::{isolate, try_load};

/// The current folder. Paths stay as the user wrote them.
pub fn current_dir() -> &'static Path {
    Path::new("")
}

/// How the bots of a command are prepared: relative to the current folder, with or without keeping their data.
pub fn prepare_context(game: &str, sandbox: SandboxMode, keep_data: bool) -> PrepareContext<'_> {
    PrepareContext {
        game,
        folder: current_dir(),
        sandbox,
        keep_data,
        extra_file: None,
        settings: None,
        archive_limits: ArchiveLimits::default(),
    }
}

/// Prepares the bot that the user named.
pub fn prepare_bot(bot: &str, context: &PrepareContext<'_>) -> Result<PreparedBot, Diagnostic> {
    let source = BotSource::parse(bot, context.folder)?;
    Ok(prepare(&source, context, &mut output::note)?)
}

/// Parses `key=value` pairs into a game's settings, and reads the files that they name.
pub fn settings(info: &GameInfo, pairs: &[String]) -> Result<(Settings, Assets), Diagnostic> {
    parse_options::settings(info, pairs, current_dir())
}

/// Hint for an option that only games with matches have.
pub fn no_matches_hint() -> String {
    let with_matches = agon_games::infos().into_iter().filter(|info| info.lifetime == BotLifetime::Match);
    let ids: Vec<&str> = with_matches.map(|info| info.id).collect();
    format!("leave it out; only {}'s bots live for a match", ids.join("'s and "))
}
