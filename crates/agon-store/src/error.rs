//! Errors of a ledger. Each message says what failed, where, and what to do.

use std::fmt;
use std::io;

use agon_core::record::Digest;
use agon_core::{Diagnostic, ErrorKind};
use agon_league::MatchKey;

use crate::model::PhaseState;

/// Error of a ledger operation.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The ledger does not exist.
    Missing {
        /// Expected location.
        place: String,
    },
    /// The file or ledger to create already exists.
    Exists {
        /// Location of the existing one.
        place: String,
    },
    /// Files of an earlier ledger with the same name are beside the ledger to create. They may hold changes of that ledger.
    Leftovers {
        /// Path of the ledger to create.
        place: String,
        /// Paths of the files.
        files: Vec<String>,
    },
    /// What was written differs from what was read.
    Unverified {
        /// Location of the copy.
        place: String,
        /// The difference.
        what: String,
    },
    /// The file is not a ledger.
    NotALedger {
        /// Path of the file.
        place: String,
        /// What the file is instead.
        what: String,
    },
    /// The ledger has a newer version than this program supports.
    NewerVersion {
        /// Location of the ledger.
        place: String,
        /// Version of the ledger.
        found: i64,
        /// Latest supported version.
        known: i64,
    },
    /// Stored data is corrupt.
    Damaged {
        /// Location of the ledger.
        place: String,
        /// What was found.
        what: String,
    },
    /// The disk is full.
    DiskFull {
        /// Location of the ledger.
        place: String,
    },
    /// The file of an open ledger is not at its path any more.
    Lost {
        /// Path of the ledger.
        place: String,
        /// What happened to it.
        what: String,
    },
    /// The ledger is not writable.
    ReadOnly {
        /// Location of the ledger.
        place: String,
        /// Cause.
        what: String,
    },
    /// Another program holds a write lock for too long.
    Locked {
        /// Location of the ledger.
        place: String,
        /// Seconds waited.
        seconds: u64,
    },
    /// Another process runs the competition.
    AlreadyRunning {
        /// Location of the ledger.
        place: String,
        /// Id of that process.
        pid: u32,
        /// Machine of that process.
        host: String,
    },
    /// A stored match was appended again with a different result.
    Conflict {
        /// Key of the match.
        key: MatchKey,
        /// Digest of the stored match.
        stored: Digest,
        /// Digest of the appended match.
        given: Digest,
    },
    /// The phase is in the wrong state for the operation.
    WrongPhaseState {
        /// Phase, from 0.
        phase: u32,
        /// Its current state.
        state: PhaseState,
        /// The operation that is not possible.
        refused: &'static str,
        /// What to do instead.
        hint: &'static str,
    },
    /// The competition has fewer phases.
    NoSuchPhase {
        /// Requested phase, from 0.
        phase: u32,
        /// Number of phases.
        phases: u32,
    },
    /// The match to append is inconsistent.
    MalformedMatch {
        /// Key of the match.
        key: MatchKey,
        /// The inconsistency.
        what: String,
    },
    /// A ruling cannot be made or lifted.
    InvalidRuling {
        /// Reason.
        what: String,
        /// What to do.
        hint: &'static str,
    },
    /// Rulings changed after the table to publish was computed.
    RulingsChanged {
        /// Phase, from 0.
        phase: u32,
    },
    /// A file operation failed.
    Io {
        /// Path of the file.
        place: String,
        /// The attempted operation, as a verb.
        doing: &'static str,
        /// Error of the operating system.
        error: io::Error,
        /// What to do.
        hint: &'static str,
    },
    /// The file is not a valid ledger archive.
    InvalidArchive {
        /// Path of the file.
        place: String,
        /// The problem.
        what: String,
    },
    /// The database server does not respond.
    Unreachable {
        /// Location of the ledger, without the password.
        place: String,
        /// Cause.
        what: String,
        /// Seconds of retrying.
        seconds: u64,
    },
    /// The database server rejected the request.
    ServerRefused {
        /// Location of the ledger, without the password.
        place: String,
        /// Explanation of the server's error.
        what: String,
        /// What to do.
        hint: String,
        /// Whether the user can fix it.
        is_usage_error: bool,
    },
    /// Any other database error.
    Database {
        /// Location of the ledger.
        place: String,
        /// Message of the database.
        what: String,
    },
}

/// Describes how long retries lasted, if there were any.
fn describe_duration(seconds: u64) -> String {
    if seconds == 0 { String::new() } else { format!(" (retried for {seconds} s)") }
}

impl StoreError {
    /// Class of the error.
    pub const fn kind(&self) -> ErrorKind {
        ErrorKind::usage_if(matches!(
            self,
            Self::Missing { .. }
                | Self::Exists { .. }
                | Self::Leftovers { .. }
                | Self::NotALedger { .. }
                | Self::NewerVersion { .. }
                | Self::AlreadyRunning { .. }
                | Self::WrongPhaseState { .. }
                | Self::NoSuchPhase { .. }
                | Self::InvalidRuling { .. }
                | Self::InvalidArchive { .. }
                | Self::ServerRefused { is_usage_error: true, .. }
        ))
    }

    /// The error as a value.
    pub fn diagnostic(&self) -> Diagnostic {
        let error = Diagnostic::new(self.kind(), self.message()).hint(self.hint());
        match self {
            Self::Conflict { stored, given, .. } => {
                error.details([format!("stored: {stored}"), format!("new:    {given}")])
            }
            _ => error,
        }
    }

    /// The problem and its place.
    fn message(&self) -> String {
        match self {
            Self::Missing { place } => format!("{place}: there is no ledger"),
            Self::Exists { place } => format!("{place} already exists"),
            Self::Leftovers { place, files } => {
                let files = files.join(" and ");
                format!(
                    "cannot create {place}: {files} is left from an earlier ledger of this name and may hold its latest matches"
                )
            }
            Self::Unverified { place, what } => {
                format!("{place}: the copy differs from the original and was removed: {what}")
            }
            Self::NotALedger { place, what } => format!("{place} is not a ledger: {what}"),
            Self::NewerVersion { place, found, known } => {
                format!("{place} was written by a newer Agon (ledger version {found}, supported: {known})")
            }
            Self::Damaged { place, what } => format!("{place} is damaged: {what}"),
            Self::DiskFull { place } => {
                format!("{place}: the disk is full; the last matches were not stored")
            }
            Self::Lost { place, what } => {
                format!("{place} is lost: {what}; the last matches were not stored")
            }
            Self::ReadOnly { place, what } => format!("{place} cannot be written: {what}"),
            Self::Locked { place, seconds } => {
                format!("{place}: another program has held a write lock for {seconds} s")
            }
            Self::AlreadyRunning { place, pid, host } => {
                format!("{place}: the competition is already running, in process {pid} on {host}")
            }
            Self::Conflict { key, .. } => format!("match {key} was played again with a different result"),
            Self::WrongPhaseState { phase, state, refused, .. } => {
                format!("phase {} is {state}: {refused}", phase + 1)
            }
            Self::NoSuchPhase { phase, phases } => {
                format!("there is no phase {}: the competition has {phases}", phase + 1)
            }
            Self::MalformedMatch { key, what } => format!("match {key} cannot be stored: {what}"),
            Self::InvalidRuling { what, .. } => what.clone(),
            Self::RulingsChanged { phase } => {
                format!("phase {}: rulings changed while its table was computed", phase + 1)
            }
            Self::Io { place, doing, error, .. } => format!("cannot {doing} {place}: {error}"),
            Self::InvalidArchive { place, what } => format!("{place} is not a valid ledger archive: {what}"),
            Self::Unreachable { place, what, seconds } => {
                let retried = describe_duration(*seconds);
                format!("{place}: the database server does not respond{retried}: {what}")
            }
            Self::ServerRefused { place, what, .. } | Self::Database { place, what } => {
                format!("{place}: {what}")
            }
        }
    }

    /// What to do.
    fn hint(&self) -> &str {
        match self {
            Self::Missing { .. } => "run `agon run FILE` to start a competition and create its ledger",
            Self::Exists { .. } => {
                "resume it with `agon run FILE`; to start over, move it away or choose another name"
            }
            Self::Leftovers { .. } => {
                "if that ledger was moved, move this file beside it, with the ledger's new name and the same ending; if that ledger is not \
                 needed any more, delete this file; then run again"
            }
            Self::Unverified { .. } => {
                "check the disk and the memory of this machine, and run again; the original did not change"
            }
            Self::NotALedger { .. } => "check the path; `agon run FILE` creates ledgers",
            Self::NewerVersion { .. } => "update Agon",
            Self::Damaged { .. } => {
                "stop using it, keep a copy, and restore a backup; `sqlite3 FILE .recover` saves the readable part of a file"
            }
            Self::DiskFull { .. } => {
                "free some space and run again; stored matches are intact, and the others are played again"
            }
            Self::Lost { .. } => {
                "put the file back with the files beside it, or mount its disk, and run again; matches that were not stored are played again"
            }
            Self::ReadOnly { .. } => {
                "check the permissions of the file and its folder, and how its disk is mounted"
            }
            Self::Locked { .. } => "close it in `sqlite3`, `psql` or a backup program, and run again",
            Self::AlreadyRunning { .. } => "wait for it to finish, or stop it there with CTRL-C",
            Self::Conflict { .. } => {
                "check whether the rules, a bot or its clock changed; the stored result stays"
            }
            Self::NoSuchPhase { .. } => "phases are counted from 1",
            Self::MalformedMatch { .. } => "this is a bug in Agon; please report it",
            Self::RulingsChanged { .. } => "compute the table again",
            Self::InvalidArchive { .. } => {
                "check that the file was copied completely; `agon export FILE --archive NAME` creates archives"
            }
            Self::Unreachable { .. } => {
                "check that it runs, the host, the port and the network; stored data is safe, so run again when it responds"
            }
            Self::Database { .. } => "run again; if it happens again, please report it",
            Self::WrongPhaseState { hint, .. } | Self::InvalidRuling { hint, .. } | Self::Io { hint, .. } => {
                hint
            }
            Self::ServerRefused { hint, .. } => hint,
        }
    }
}

impl From<StoreError> for Diagnostic {
    fn from(error: StoreError) -> Self {
        error.diagnostic()
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.diagnostic().fmt(f)
    }
}

impl std::error::Error for StoreError {}
