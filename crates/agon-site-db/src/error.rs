//! Errors of the site database. The first five are errors of the request: a server answers them with 4xx and may show their
//! messages. The others are failures of the server.

use std::path::Path;

use agon_core::ErrorKind;
use agon_store::StoreError;
use agon_store::sqlite_file;
use thiserror::Error;

/// Error of a site database operation.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SiteDbError {
    /// The requested row does not exist.
    #[error("there is no such {what}")]
    NotFound {
        /// Kind of row: `account`, `competition`, ...
        what: &'static str,
    },
    /// A value that must be unique already exists.
    #[error("this {what} is taken")]
    Taken {
        /// Kind of value: `name`, `id`, ...
        what: &'static str,
    },
    /// The current state does not allow the operation.
    #[error("{what}")]
    Conflict {
        /// Description of the conflict.
        what: String,
    },
    /// A limit is reached.
    #[error("the limit of {limit} is reached")]
    TooMany {
        /// The limit.
        limit: u32,
    },
    /// Invalid value.
    #[error("{field}: {what}")]
    Invalid {
        /// Name of the field.
        field: &'static str,
        /// What is wrong with the value.
        what: String,
    },
    /// The file is not a site database.
    #[error(
        "{place} is not a site database: {what}\nhint: choose another data folder or move this file away; `agon serve` creates the file"
    )]
    NotASiteDb {
        /// Path of the file.
        place: String,
        /// What the file is instead.
        what: String,
    },
    /// The database has a newer version than this program supports.
    #[error(
        "{place} was written by a newer Agon (site database version {found}, supported: {known})\nhint: update Agon"
    )]
    NewerVersion {
        /// Path of the file.
        place: String,
        /// Version of the database.
        found: i64,
        /// Latest supported version.
        known: i64,
    },
    /// The disk is full.
    #[error(
        "{place}: the disk is full; the last change was not stored\nhint: free some space; stored data is intact"
    )]
    DiskFull {
        /// Path of the file.
        place: String,
    },
    /// Another server uses the database.
    #[error(
        "{place}: a server already uses it, process {pid} on {host}\nhint: stop that server or choose another data folder"
    )]
    AlreadyRunning {
        /// Path of the file.
        place: String,
        /// Id of that process.
        pid: u32,
        /// Machine of that process.
        host: String,
    },
    /// Error of the file, the disk or the database.
    #[error(transparent)]
    Store(StoreError),
}

impl SiteDbError {
    /// Class of the error: `Usage` is an error of the request (4xx), `Internal` a failure of the server (5xx).
    pub const fn kind(&self) -> ErrorKind {
        ErrorKind::usage_if(matches!(
            self,
            Self::NotFound { .. }
                | Self::Taken { .. }
                | Self::Conflict { .. }
                | Self::TooMany { .. }
                | Self::Invalid { .. }
        ))
    }

    pub(super) fn conflict(what: impl Into<String>) -> Self {
        Self::Conflict { what: what.into() }
    }

    pub(super) fn invalid(field: &'static str, what: impl Into<String>) -> Self {
        Self::Invalid { field, what: what.into() }
    }
}

/// Replaces messages that mention ledgers.
impl From<StoreError> for SiteDbError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotALedger { place, what } => Self::NotASiteDb { place, what },
            StoreError::NewerVersion { place, found, known } => Self::NewerVersion { place, found, known },
            StoreError::DiskFull { place } => Self::DiskFull { place },
            StoreError::AlreadyRunning { place, pid, host } => Self::AlreadyRunning { place, pid, host },
            other => Self::Store(other),
        }
    }
}

/// Converts errors of this file; for `map_err`.
pub(super) fn in_file(path: &Path) -> impl Fn(sqlx::Error) -> SiteDbError + '_ {
    |error| sqlite_file::in_file(path)(error).into()
}

/// Converts errors of this file. A violated unique constraint becomes `Taken`.
pub(super) fn unless_taken<'p>(
    path: &'p Path,
    what: &'static str,
) -> impl Fn(sqlx::Error) -> SiteDbError + 'p {
    move |error| match error.as_database_error() {
        Some(database) if database.is_unique_violation() => SiteDbError::Taken { what },
        _ => in_file(path)(error),
    }
}
