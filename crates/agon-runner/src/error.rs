//! Why a run could not go on.

use std::io;

use agon_core::SettingsError;
use agon_engine::table::PlayError;
use agon_league::tally::TallyDecodeError;
use agon_league::{FormatError, MatchKey};
use agon_store::StoreError;

use crate::logs_dirs::LogsDirError;

impl RunError {
    /// Whether whoever called can mend it (exit code 2), rather than that something broke (3).
    pub const fn is_wrong_use(&self) -> bool {
        match self {
            Self::Store(error) => error.is_wrong_use(),
            Self::Format { .. } | Self::Changed { .. } | Self::CannotVoid { .. } | Self::Settings(_) => true,
            _ => false,
        }
    }
}

/// Why a run could not go on. What was kept stays kept.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The ledger failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A game could not be played.
    #[error(transparent)]
    Play(#[from] PlayError),
    /// A phase's settings make no game.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A phase's format does not fit its field.
    #[error("phase {}: {error}", phase + 1)]
    Format {
        /// From 0.
        phase: u32,
        /// What is wrong.
        error: FormatError,
    },
    /// A snapshot makes no sense.
    #[error("phase {}: what the ledger has summed up cannot be read: {error}\nhint: was it written by a newer Agon?", phase + 1)]
    Snapshot {
        /// From 0.
        phase: u32,
        /// What is wrong.
        error: TallyDecodeError,
    },
    /// A bot is not the one the phase began with.
    #[error(
        "{name} is not the bot it was when \"{phase}\" began (its files hash to {is}, they were {was})\n\
         hint: put the old files back; a new version can play from the next phase on, or everything anew with --fresh"
    )]
    Changed {
        /// Whose.
        name: String,
        /// The phase's name.
        phase: String,
        /// The hash it had.
        was: String,
        /// The hash it has.
        is: String,
    },
    /// A match that later ones depend on cannot be void.
    #[error(
        "match {key} cannot be void: in \"{phase}\" later matches depend on it\n\
         hint: disqualify a bot that should not go on; what was played stays as it is"
    )]
    CannotVoid {
        /// Which.
        key: MatchKey,
        /// The phase's name.
        phase: String,
    },
    /// What bots may read could not be written.
    #[error(transparent)]
    Chronicle(#[from] LogsDirError),
    /// Some matches could not be played by anybody; all others of the stage were.
    #[error("{}", aside(.0))]
    Unplayable(Vec<(MatchKey, Vec<String>)>),
    /// What has matches played elsewhere cannot go on.
    #[error("{0}")]
    CoordinatorFailed(String),
    /// The machine said no.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// At most so many matches are named, and errors of each.
const NAMED: usize = 10;

fn aside(matches: &[(MatchKey, Vec<String>)]) -> String {
    let many = if matches.len() == 1 {
        "1 match was set aside".to_owned()
    } else {
        format!("{} matches were set aside", matches.len())
    };
    let mut text = format!("{many}: nobody could play it to its end");
    for (key, errors) in matches.iter().take(NAMED) {
        text += &format!("\n  match {key}");
        for error in errors.iter().take(NAMED) {
            text += &format!("\n    {}", error.replace('\n', "\n    "));
        }
    }
    if matches.len() > NAMED {
        text += &format!("\n  and {} more", matches.len() - NAMED);
    }
    text + "\nhint: everything else of the stage is kept; when the cause is mended, run it again: it tries these again"
}
