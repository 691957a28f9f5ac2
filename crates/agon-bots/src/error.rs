//! Errors as users see them: class, problem, place, hint.

use std::fmt;
use std::io;
use std::path::Path;

use agon_core::record::RecordError;
use agon_core::{ErrorKind, SettingsError};
use agon_engine::any_game::PlayError;
use agon_engine::{ReplayError, SeriesError};
use agon_games::UnknownGame;
use agon_host::BotRejection;

/// Maximum number of trace lines that are shown when a bot is rejected.
const MAX_TRACE_LINES: usize = 12;

/// Reason why a command failed.
#[derive(Debug)]
pub struct Diagnostic {
    /// Class of the error.
    pub kind: ErrorKind,
    /// The problem and its place; further lines may be hints.
    pub message: String,
}

impl Diagnostic {
    /// A usage error: the user can fix it.
    pub fn wrong_use(what: impl fmt::Display, hint: impl fmt::Display) -> Self {
        Self { kind: ErrorKind::Usage, message: format!("{what}\nhint: {hint}") }
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
        Self { kind: ErrorKind::Usage, message }
    }

    /// An I/O error.
    pub fn io(doing: impl fmt::Display, path: &Path, error: &io::Error, hint: &str) -> Self {
        Self {
            kind: ErrorKind::Internal,
            message: format!("cannot {doing} {}: {error}\nhint: {hint}", path.display()),
        }
    }
}

impl From<UnknownGame> for Diagnostic {
    fn from(error: UnknownGame) -> Self {
        Self { kind: ErrorKind::Usage, message: error.to_string() }
    }
}

impl From<SettingsError> for Diagnostic {
    fn from(error: SettingsError) -> Self {
        Self { kind: ErrorKind::Usage, message: error.to_string() }
    }
}

impl From<PlayError> for Diagnostic {
    fn from(error: PlayError) -> Self {
        let kind = if matches!(error, PlayError::Io(_)) { ErrorKind::Internal } else { ErrorKind::Usage };
        Self { kind, message: error.to_string() }
    }
}

impl From<SeriesError<Self>> for Diagnostic {
    fn from(error: SeriesError<Self>) -> Self {
        match error {
            SeriesError::Play(error) => error.into(),
            SeriesError::Sink(failure) => failure,
        }
    }
}

impl From<io::Error> for Diagnostic {
    fn from(error: io::Error) -> Self {
        Self {
            kind: ErrorKind::Internal,
            message: format!("{error}\nhint: check that the output file or pipe is still open"),
        }
    }
}

impl Diagnostic {
    /// A record file that cannot be parsed.
    pub fn record(path: &Path, error: &RecordError) -> Self {
        let hint = match error {
            RecordError::FutureVersion { .. } => "update Agon",
            RecordError::NotARecord => "use a file written by `agon play ... --record FILE`",
            _ => "get a new copy of the file; a changed record proves nothing",
        };
        let kind = if matches!(error, RecordError::FutureVersion { .. }) {
            ErrorKind::Usage
        } else {
            ErrorKind::Internal
        };
        Self { kind, message: format!("{}: {error}\nhint: {hint}", path.display()) }
    }

    /// A record whose game does not follow from the rules.
    pub fn replay(path: &Path, game: usize, error: &ReplayError) -> Self {
        let kind = if matches!(error, ReplayError::OtherRules { .. }) {
            ErrorKind::Usage
        } else {
            ErrorKind::Rejected
        };
        let hint = match error {
            ReplayError::OtherRules { .. } => "replay it with the version of Agon that played it",
            ReplayError::Settings(_) => {
                "if the game was played with its own word list, name it again: --set words=FILE"
            }
            ReplayError::Differs { .. } => "do not trust this record: it differs from what the rules give",
        };
        let text = error.to_string();
        let what = text.split("\nhint: ").next().unwrap_or_default();
        Self { kind, message: format!("{}: game {game}: {what}\nhint: {hint}", path.display()) }
    }
}

impl From<agon_store::StoreError> for Diagnostic {
    fn from(error: agon_store::StoreError) -> Self {
        Self { kind: error.kind(), message: error.to_string() }
    }
}

impl From<agon_runner::RunError> for Diagnostic {
    fn from(error: agon_runner::RunError) -> Self {
        Self { kind: error.kind(), message: error.to_string() }
    }
}
