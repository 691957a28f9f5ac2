//! Errors that end a run.

use std::io;

use agon_core::{ErrorKind, SettingsError};
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
}

/// An error that ends a run. Results that are in the ledger stay there.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The ledger failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A game could not be played.
    #[error(transparent)]
    Play(#[from] PlayError),
    /// The settings of a phase are not valid.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The format of a phase does not fit its field.
    #[error("phase {}: {error}", phase + 1)]
    Format {
        /// Phase number, from 0.
        phase: u32,
        /// The problem.
        error: FormatError,
    },
    /// A snapshot in the ledger cannot be decoded.
    #[error(
        "phase {}: cannot read the tally snapshot in the ledger: {error}\n\
         hint: check whether a newer version of Agon wrote this ledger",
        phase + 1
    )]
    Snapshot {
        /// Phase number, from 0.
        phase: u32,
        /// The problem.
        error: TallyDecodeError,
    },
    /// A bot has changed since the phase started.
    #[error(
        "{name} has changed since phase \"{phase}\" started (content hash {new_hash}, was {old_hash})\n\
         hint: restore the old files; a new version can play from the next phase on, or start over with --fresh"
    )]
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
    #[error(
        "match {key} cannot be voided: in \"{phase}\" later matches depend on it\n\
         hint: disqualify a bot that must not continue; results of played matches stay"
    )]
    CannotVoid {
        /// The match.
        key: MatchKey,
        /// Name of the phase.
        phase: String,
    },
    /// The `logs/` folder of a bot could not be written.
    #[error(transparent)]
    LogsDir(#[from] LogsDirError),
    /// Some matches failed on every worker. All other matches of the stage were played.
    #[error("{}", describe_unplayable(.0))]
    Unplayable(Vec<(MatchKey, Vec<String>)>),
    /// The coordinator cannot continue.
    #[error("{0}")]
    CoordinatorFailed(String),
    /// An I/O error.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Maximum number of matches that are listed, and of errors for each.
const MAX_NAMED: usize = 10;

fn describe_unplayable(matches: &[(MatchKey, Vec<String>)]) -> String {
    let mut text = if matches.len() == 1 {
        "1 match is unplayable: it failed on every worker".to_owned()
    } else {
        format!("{} matches are unplayable: they failed on every worker", matches.len())
    };
    for (key, errors) in matches.iter().take(MAX_NAMED) {
        text += &format!("\n  match {key}");
        for error in errors.iter().take(MAX_NAMED) {
            text += &format!("\n    {}", error.replace('\n', "\n    "));
        }
    }
    if matches.len() > MAX_NAMED {
        text += &format!("\n  and {} more", matches.len() - MAX_NAMED);
    }
    text + "\nhint: all other matches of the stage are stored; fix the cause and run again: failed matches are retried"
}
