//! What can go wrong in the office. The first five are whoever asked's to mend: a server answers them with 4xx, and may show their
//! words. The others are the server's own trouble.

use std::path::Path;

use thiserror::Error;

use crate::StoreError;
use crate::sqlite::db_error;

/// Why the office did not do what was asked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SiteDbError {
    /// There is none.
    #[error("there is no such {what}")]
    NotFound {
        /// What was asked for: `account`, `competition`, ...
        what: &'static str,
    },
    /// Somebody has it already.
    #[error("this {what} is taken")]
    Taken {
        /// `name`, `id`, ...
        what: &'static str,
    },
    /// Not as things are now.
    #[error("{what}")]
    Conflict {
        /// How they are.
        what: String,
    },
    /// As many as are allowed.
    #[error("no more than {limit} are allowed here")]
    TooMany {
        /// How many are.
        limit: u32,
    },
    /// A value that cannot be.
    #[error("{field}: {what}")]
    Invalid {
        /// Which one.
        field: &'static str,
        /// What is wrong with it.
        what: String,
    },
    /// Something else is in its place.
    #[error(
        "{place} is no office: {what}\nhint: `agon serve` makes the file by itself; choose another data folder, or move this file away"
    )]
    NotAnOffice {
        /// Which file.
        place: String,
        /// What it is.
        what: String,
    },
    /// Of a version that is not known here.
    #[error(
        "{place} was written by a newer Agon (office version {found}, known here: {known})\nhint: update Agon"
    )]
    Newer {
        /// Which file.
        place: String,
        /// Its version.
        found: i64,
        /// The latest known here.
        known: i64,
    },
    /// No room.
    #[error(
        "{place}: the disk is full, the last change was not kept\nhint: make room: what was kept is whole"
    )]
    Full {
        /// Which file.
        place: String,
    },
    /// Another server has it.
    #[error(
        "{place}: a server runs with it already, process {pid} on {host}\nhint: end that one, or choose another data folder"
    )]
    Running {
        /// Which file.
        place: String,
        /// Whose process.
        pid: u32,
        /// On which machine.
        host: String,
    },
    /// The file, the disk or the database: as ledgers have it.
    #[error(transparent)]
    Store(StoreError),
}

impl SiteDbError {
    /// Whether whoever asked can mend it (4xx), rather than that something broke (5xx).
    pub const fn is_wrong_use(&self) -> bool {
        matches!(
            self,
            Self::NotFound { .. }
                | Self::Taken { .. }
                | Self::Conflict { .. }
                | Self::TooMany { .. }
                | Self::Invalid { .. }
        )
    }

    pub(super) fn conflict(what: impl Into<String>) -> Self {
        Self::Conflict { what: what.into() }
    }

    pub(super) fn invalid(field: &'static str, what: impl Into<String>) -> Self {
        Self::Invalid { field, what: what.into() }
    }
}

/// Where a ledger's words would say something of ledgers, the office has its own.
impl From<StoreError> for SiteDbError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotALedger { place, what } => Self::NotAnOffice { place, what },
            StoreError::Newer { place, found, known } => Self::Newer { place, found, known },
            StoreError::Full { place } => Self::Full { place },
            StoreError::Running { place, pid, host } => Self::Running { place, pid, host },
            other => Self::Store(other),
        }
    }
}

/// For `map_err`: what went wrong in this file.
pub(super) fn at(path: &Path) -> impl Fn(sqlx::Error) -> SiteDbError + '_ {
    |error| db_error::at(path)(error).into()
}

/// The same, where a value that must be one of its kind may be there already.
pub(super) fn unless_taken<'p>(
    path: &'p Path,
    what: &'static str,
) -> impl Fn(sqlx::Error) -> SiteDbError + 'p {
    move |error| match error.as_database_error() {
        Some(said) if said.is_unique_violation() => SiteDbError::Taken { what },
        _ => at(path)(error),
    }
}
