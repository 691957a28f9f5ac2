//! Errors that end a run.

use std::fmt;
use std::io;

use agon_core::{Diagnostic, ErrorKind, SettingsError};
use agon_engine::any_game::PlayError;
use agon_league::tally::TallyDecodeError;
use agon_league::{FormatError, MatchKey};
use agon_store::StoreError;

use crate::logs_dirs::LogsDirError;

impl RunError {
    /// Class of the error.
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::Store(error) => error.kind(),
            Self::Play(error) => ErrorKind::usage_if(!matches!(error, PlayError::Io(_))),
            Self::Format { .. } | Self::BotChanged { .. } | Self::CannotVoid { .. } | Self::Settings(_) => {
                ErrorKind::Usage
            }
            _ => ErrorKind::Internal,
        }
    }

    /// The error as a value.
    pub fn diagnostic(&self) -> Diagnostic {
        let error = |message: String, hint: &str| Diagnostic::new(self.kind(), message).hint(hint);
        match self {
            Self::Store(error) => error.diagnostic(),
            Self::Play(error) => error.diagnostic(),
            Self::Settings(error) => error.clone().into(),
            Self::Format { phase, error: why } => error(format!("phase {}: {why}", phase + 1), ""),
            Self::Snapshot { phase, error: why } => error(
                format!("phase {}: cannot read the tally snapshot in the ledger: {why}", phase + 1),
                "check whether a newer version of Agon wrote this ledger",
            ),
            Self::BotChanged { name, phase, old_hash, new_hash } => error(
                format!(
                    "{name} has changed since phase \"{phase}\" started (content hash {new_hash}, was {old_hash})"
                ),
                "restore the old files; a new version can play from the next phase on, or start over with --fresh",
            ),
            Self::CannotVoid { key, phase } => error(
                format!("match {key} cannot be voided: in \"{phase}\" later matches depend on it"),
                "disqualify a bot that must not continue; results of played matches stay",
            ),
            Self::LogsDir(why) => error(why.to_string(), ""),
            Self::Unplayable(matches) => describe_unplayable(matches),
            Self::CoordinatorFailed(error) => error.clone().of_kind(self.kind()),
            Self::Io(why) => error(why.to_string(), ""),
        }
    }
}

impl From<RunError> for Diagnostic {
    fn from(error: RunError) -> Self {
        error.diagnostic()
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.diagnostic().fmt(f)
    }
}

impl std::error::Error for RunError {}

/// An error that ends a run. Results that are in the ledger stay there.
#[derive(Debug)]
pub enum RunError {
    /// The ledger failed.
    Store(StoreError),
    /// A game could not be played.
    Play(PlayError),
    /// The settings of a phase are not valid.
    Settings(SettingsError),
    /// The format of a phase does not fit its field.
    Format {
        /// Phase number, from 0.
        phase: u32,
        /// The problem.
        error: FormatError,
    },
    /// A snapshot in the ledger cannot be decoded.
    Snapshot {
        /// Phase number, from 0.
        phase: u32,
        /// The problem.
        error: TallyDecodeError,
    },
    /// A bot has changed since the phase started.
    BotChanged {
        /// Name of the entrant.
        name: String,
        /// Name of the phase.
        phase: String,
        /// Content hash at the start of the phase.
        old_hash: String,
        /// Content hash now.
        new_hash: String,
    },
    /// A match cannot be voided because later matches depend on it.
    CannotVoid {
        /// The match.
        key: MatchKey,
        /// Name of the phase.
        phase: String,
    },
    /// The `logs/` folder of a bot could not be written.
    LogsDir(LogsDirError),
    /// Some matches failed on every worker. All other matches of the stage were played.
    Unplayable(Vec<(MatchKey, Vec<String>)>),
    /// The coordinator cannot continue.
    CoordinatorFailed(Diagnostic),
    /// An I/O error.
    Io(io::Error),
}

impl From<StoreError> for RunError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<PlayError> for RunError {
    fn from(error: PlayError) -> Self {
        Self::Play(error)
    }
}

impl From<SettingsError> for RunError {
    fn from(error: SettingsError) -> Self {
        Self::Settings(error)
    }
}

impl From<LogsDirError> for RunError {
    fn from(error: LogsDirError) -> Self {
        Self::LogsDir(error)
    }
}

impl From<io::Error> for RunError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Maximum number of matches that are listed, and of errors for each.
const MAX_NAMED: usize = 10;

fn describe_unplayable(matches: &[(MatchKey, Vec<String>)]) -> Diagnostic {
    let message = if matches.len() == 1 {
        "1 match is unplayable: it failed on every worker".to_owned()
    } else {
        format!("{} matches are unplayable: they failed on every worker", matches.len())
    };
    let mut details = Vec::new();
    for (key, errors) in matches.iter().take(MAX_NAMED) {
        details.push(format!("match {key}"));
        let lines = errors.iter().take(MAX_NAMED).flat_map(|error| error.split('\n'));
        details.extend(lines.map(|line| format!("  {line}")));
    }
    if matches.len() > MAX_NAMED {
        details.push(format!("and {} more", matches.len() - MAX_NAMED));
    }
    let hint =
        "all other matches of the stage are stored; fix the cause and run again: failed matches are retried";
    Diagnostic::internal(message).details(details).hint(hint)
}
