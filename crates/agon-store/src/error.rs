//! Errors of a ledger. Each message says what failed, where, and what to do.

use std::io;

use agon_core::ErrorKind;
use agon_core::record::Digest;
use agon_league::MatchKey;
use thiserror::Error;

use crate::model::PhaseState;

/// Error of a ledger operation.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The ledger does not exist.
    #[error(
        "{place}: there is no ledger\nhint: run `agon run FILE` to start a competition and create its ledger"
    )]
    Missing {
        /// Expected location.
        place: String,
    },
    /// The file or ledger to create already exists.
    #[error(
        "{place} already exists\nhint: resume it with `agon run FILE`; to start over, move it away or choose another name"
    )]
    Exists {
        /// Location of the existing one.
        place: String,
    },
    /// The file is not a ledger.
    #[error("{place} is not a ledger: {what}\nhint: check the path; `agon run FILE` creates ledgers")]
    NotALedger {
        /// Path of the file.
        place: String,
        /// What the file is instead.
        what: String,
    },
    /// The ledger has a newer version than this program supports.
    #[error(
        "{place} was written by a newer Agon (ledger version {found}, supported: {known})\nhint: update Agon"
    )]
    NewerVersion {
        /// Location of the ledger.
        place: String,
        /// Version of the ledger.
        found: i64,
        /// Latest supported version.
        known: i64,
    },
    /// Stored data is corrupt.
    #[error(
        "{place} is damaged: {what}\nhint: stop using it, keep a copy, and restore a backup; `sqlite3 FILE .recover` saves \
         the readable part of a file"
    )]
    Damaged {
        /// Location of the ledger.
        place: String,
        /// What was found.
        what: String,
    },
    /// The disk is full.
    #[error(
        "{place}: the disk is full; the last matches were not stored\nhint: free some space and run again; stored matches are intact, \
         and the others are played again"
    )]
    DiskFull {
        /// Location of the ledger.
        place: String,
    },
    /// The ledger is not writable.
    #[error(
        "{place} cannot be written: {what}\nhint: check the permissions of the file and its folder, and how its disk is mounted"
    )]
    ReadOnly {
        /// Location of the ledger.
        place: String,
        /// Cause.
        what: String,
    },
    /// Another program holds a write lock for too long.
    #[error(
        "{place}: another program has held a write lock for {seconds} s\nhint: close it in `sqlite3`, `psql` or a backup \
         program, and run again"
    )]
    Locked {
        /// Location of the ledger.
        place: String,
        /// Seconds waited.
        seconds: u64,
    },
    /// Another process runs the competition.
    #[error(
        "{place}: the competition is already running, in process {pid} on {host}\nhint: wait for it to finish, or stop it there with CTRL-C"
    )]
    AlreadyRunning {
        /// Location of the ledger.
        place: String,
        /// Id of that process.
        pid: u32,
        /// Machine of that process.
        host: String,
    },
    /// A stored match was appended again with a different result.
    #[error(
        "match {key} was played again with a different result\n  stored: {stored}\n  new:    {given}\nhint: check whether the rules, a bot \
         or its clock changed; the stored result stays"
    )]
    Conflict {
        /// Key of the match.
        key: MatchKey,
        /// Digest of the stored match.
        stored: Digest,
        /// Digest of the appended match.
        given: Digest,
    },
    /// The phase is in the wrong state for the operation.
    #[error("phase {} is {state}: {refused}\nhint: {hint}", .phase + 1)]
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
    #[error("there is no phase {}: the competition has {phases}\nhint: phases are counted from 1", .phase + 1)]
    NoSuchPhase {
        /// Requested phase, from 0.
        phase: u32,
        /// Number of phases.
        phases: u32,
    },
    /// The match to append is inconsistent.
    #[error("match {key} cannot be stored: {what}\nhint: this is a bug in Agon; please report it")]
    MalformedMatch {
        /// Key of the match.
        key: MatchKey,
        /// The inconsistency.
        what: String,
    },
    /// A ruling cannot be made or lifted.
    #[error("{what}\nhint: {hint}")]
    InvalidRuling {
        /// Reason.
        what: String,
        /// What to do.
        hint: &'static str,
    },
    /// Rulings changed after the table to publish was computed.
    #[error(
        "phase {}: rulings changed while its table was computed\nhint: compute the table again", .phase + 1
    )]
    RulingsChanged {
        /// Phase, from 0.
        phase: u32,
    },
    /// A file operation failed.
    #[error("cannot {doing} {place}: {error}\nhint: {hint}")]
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
    #[error(
        "{place} is not a valid ledger archive: {what}\nhint: check that the file was copied completely; `agon export FILE --archive NAME` creates archives"
    )]
    InvalidArchive {
        /// Path of the file.
        place: String,
        /// The problem.
        what: String,
    },
    /// The database server does not respond.
    #[error("{place}: the database server does not respond{}: {what}\nhint: check that it runs, the host, the port and the network; \
             stored data is safe, so run again when it responds", describe_duration(*.seconds))]
    Unreachable {
        /// Location of the ledger, without the password.
        place: String,
        /// Cause.
        what: String,
        /// Seconds of retrying.
        seconds: u64,
    },
    /// The database server rejected the request.
    #[error("{place}: {what}\nhint: {hint}")]
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
    #[error("{place}: {what}\nhint: run again; if it happens again, please report it")]
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
}
