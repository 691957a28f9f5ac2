//! Errors for the user (problem, place, hint) with their exit codes.

use std::fmt;
use std::io;
use std::path::Path;

use agon_core::SettingsError;
use agon_core::record::RecordError;
use agon_engine::any_game::PlayError;
use agon_engine::{ReplayError, SeriesError};
use agon_games::UnknownGame;
use agon_host::bot_source::BotRejection;

/// Exit code: negative result.
pub const NO: u8 = 1;
/// Exit code: usage error.
pub const WRONG_USE: u8 = 2;
/// Exit code: internal error.
pub const BROKE: u8 = 3;

/// Maximum number of trace lines that are shown when a bot is rejected.
const MAX_TRACE_LINES: usize = 12;

/// Reason why a command failed.
#[derive(Debug)]
pub struct Failure {
    /// One of [`NO`], [`WRONG_USE`], [`BROKE`].
    pub code: u8,
    /// The problem and its place; further lines may be hints.
    pub message: String,
}

impl Failure {
    /// A usage error: the user can fix it.
    pub fn wrong_use(what: impl fmt::Display, hint: impl fmt::Display) -> Self {
        Self { code: WRONG_USE, message: format!("{what}\nhint: {hint}") }
    }

    /// A bot that is not accepted: bot, place, problem and the end of its trace.
    pub fn refused(bot: &str, refusal: &BotRejection) -> Self {
        let path = bot.rsplit_once(':').map_or(bot, |(path, _)| path);
        let names = |path: &str, file: &str| Path::new(path).file_name().is_some_and(|name| name == file);
        let own = |file: &String| names(bot, file) || names(path, file);
        let place = match &refusal.file {
            // The command line already names the file, so it is not repeated.
            Some(file) if own(file) || bot.starts_with(&format!("{file}#")) || bot == file => {
                let file = if own(file) { bot.to_owned() } else { file.clone() };
                BotRejection { file: Some(file), ..refusal.clone() }.place()
            }
            Some(_) => format!("{bot}: {}", refusal.place()),
            None => bot.to_owned(),
        };
        let mut message = format!("{place}: {}", refusal.what);
        let trace: Vec<&str> = refusal.trace.lines().collect();
        for line in &trace[trace.len().saturating_sub(MAX_TRACE_LINES)..] {
            message += &format!("\n  {line}");
        }
        if !refusal.hint.is_empty() {
            message += &format!("\nhint: {}", refusal.hint);
        }
        Self { code: WRONG_USE, message }
    }

    /// An I/O error.
    pub fn io(doing: impl fmt::Display, path: &Path, error: &io::Error, hint: &str) -> Self {
        Self { code: BROKE, message: format!("cannot {doing} {}: {error}\nhint: {hint}", path.display()) }
    }
}

impl From<UnknownGame> for Failure {
    fn from(error: UnknownGame) -> Self {
        Self { code: WRONG_USE, message: error.to_string() }
    }
}

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Self {
        Self { code: WRONG_USE, message: error.to_string() }
    }
}

impl From<PlayError> for Failure {
    fn from(error: PlayError) -> Self {
        let code = if matches!(error, PlayError::Io(_)) { BROKE } else { WRONG_USE };
        Self { code, message: error.to_string() }
    }
}

impl From<SeriesError<Self>> for Failure {
    fn from(error: SeriesError<Self>) -> Self {
        match error {
            SeriesError::Play(error) => error.into(),
            SeriesError::Sink(failure) => failure,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self {
            code: BROKE,
            message: format!("{error}\nhint: check that the output file or pipe is still open"),
        }
    }
}

impl Failure {
    /// A record file that cannot be parsed.
    pub fn record(path: &Path, error: &RecordError) -> Self {
        let hint = match error {
            RecordError::FutureVersion { .. } => "update Agon",
            RecordError::NotARecord => "use a file written by `agon play ... --record FILE`",
            _ => "get a new copy of the file; a changed record proves nothing",
        };
        let code = if matches!(error, RecordError::FutureVersion { .. }) { WRONG_USE } else { BROKE };
        Self { code, message: format!("{}: {error}\nhint: {hint}", path.display()) }
    }

    /// A record whose game does not follow from the rules.
    pub fn replay(path: &Path, game: usize, error: &ReplayError) -> Self {
        let code = if matches!(error, ReplayError::OtherRules { .. }) { WRONG_USE } else { NO };
        let hint = match error {
            ReplayError::OtherRules { .. } => "replay it with the version of Agon that played it",
            ReplayError::Settings(_) => {
                "if the game was played with its own word list, name it again: --set words=FILE"
            }
            ReplayError::Differs { .. } => "do not trust this record: it differs from what the rules give",
        };
        let text = error.to_string();
        let what = text.split("\nhint: ").next().unwrap_or_default();
        Self { code, message: format!("{}: game {game}: {what}\nhint: {hint}", path.display()) }
    }
}
