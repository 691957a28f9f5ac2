//! Errors of the site database. The first six are errors of the request: a server answers them with 4xx and may show their
//! messages. The others are failures of the server.

use std::fmt;
use std::path::Path;

use agon_core::{Diagnostic, ErrorKind, Place};
use agon_store::StoreError;
use agon_store::sqlite_file;

/// Error of a site database operation.
#[derive(Debug)]
#[non_exhaustive]
pub enum SiteDbError {
    /// The requested row does not exist.
    NotFound {
        /// Kind of row: `account`, `competition`, ...
        what: &'static str,
    },
    /// A value that must be unique already exists.
    Taken {
        /// Kind of value: `name`, `id`, ...
        what: &'static str,
    },
    /// The current state does not allow the operation.
    Conflict {
        /// Description of the conflict.
        what: String,
    },
    /// A limit is reached.
    TooMany {
        /// The limit.
        limit: u32,
    },
    /// The submissions would occupy more disk space than allowed.
    QuotaExceeded {
        /// Whether the limit of the whole site is reached, not that of the account.
        of_site: bool,
        /// Bytes in use.
        used: u64,
        /// Bytes of the new submission.
        more: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// Invalid value.
    Invalid {
        /// Name of the field.
        field: &'static str,
        /// What is wrong with the value.
        what: String,
    },
    /// The file is not a site database.
    NotASiteDb {
        /// Path of the file.
        place: String,
        /// What the file is instead.
        what: String,
    },
    /// The database has a newer version than this program supports.
    NewerVersion {
        /// Path of the file.
        place: String,
        /// Version of the database.
        found: i64,
        /// Latest supported version.
        known: i64,
    },
    /// The disk is full.
    DiskFull {
        /// Path of the file.
        place: String,
    },
    /// Another server uses the database.
    AlreadyRunning {
        /// Path of the file.
        place: String,
        /// Id of that process.
        pid: u32,
        /// Machine of that process.
        host: String,
    },
    /// Error of the file, the disk or the database.
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
                | Self::QuotaExceeded { .. }
                | Self::Invalid { .. }
        ))
    }

    /// The error as a value.
    pub fn diagnostic(&self) -> Diagnostic {
        let error = |message: String, hint: &str| Diagnostic::new(self.kind(), message).hint(hint);
        match self {
            Self::NotFound { what } => error(format!("there is no such {what}"), ""),
            Self::Taken { what } => error(format!("this {what} is taken"), ""),
            Self::Conflict { what } => error(what.clone(), ""),
            Self::TooMany { limit } => error(format!("the limit of {limit} is reached"), ""),
            Self::QuotaExceeded { of_site, used, more, limit } => error(
                format!(
                    "{} {used} of {limit} bytes, and this one needs {more} more",
                    if *of_site { "the submissions of this site occupy" } else { "your submissions occupy" },
                ),
                "",
            ),
            Self::Invalid { field, what } => error(what.clone(), "").at(Place::field(*field)),
            Self::NotASiteDb { place, what } => error(
                format!("{place} is not a site database: {what}"),
                "choose another data folder or move this file away; `agon serve` creates the file",
            ),
            Self::NewerVersion { place, found, known } => error(
                format!(
                    "{place} was written by a newer Agon (site database version {found}, supported: {known})"
                ),
                "update Agon",
            ),
            Self::DiskFull { place } => error(
                format!("{place}: the disk is full; the last change was not stored"),
                "free some space; stored data is intact",
            ),
            Self::AlreadyRunning { place, pid, host } => error(
                format!("{place}: a server already uses it, process {pid} on {host}"),
                "stop that server or choose another data folder",
            ),
            Self::Store(error) => error.diagnostic(),
        }
    }

    pub(super) fn conflict(what: impl Into<String>) -> Self {
        Self::Conflict { what: what.into() }
    }

    pub(super) fn invalid(field: &'static str, what: impl Into<String>) -> Self {
        Self::Invalid { field, what: what.into() }
    }
}

impl From<SiteDbError> for Diagnostic {
    fn from(error: SiteDbError) -> Self {
        error.diagnostic()
    }
}

impl fmt::Display for SiteDbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.diagnostic().fmt(f)
    }
}

impl std::error::Error for SiteDbError {}

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
