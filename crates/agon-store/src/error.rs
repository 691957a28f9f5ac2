//! What can go wrong with a ledger: what, where, what to do.

use std::io;

use agon_core::record::Digest;
use agon_league::MatchKey;
use thiserror::Error;

use crate::model::PhaseState;

/// Why a ledger did not do what was asked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Nothing there.
    #[error("{place}: there is no ledger\nhint: `agon run FILE` starts a competition and its ledger")]
    Missing {
        /// Where it was looked for.
        place: String,
    },
    /// Something there already.
    #[error(
        "{place} is there already\nhint: `agon run FILE` goes on with it; to start anew, move it away, or take another name"
    )]
    Exists {
        /// Where it should have been made.
        place: String,
    },
    /// Something else.
    #[error(
        "{place} is no ledger: {what}\nhint: ledgers are made by `agon run FILE`; is this the file you meant?"
    )]
    NotALedger {
        /// Which file.
        place: String,
        /// What it is.
        what: String,
    },
    /// Of a version that is not known here.
    #[error(
        "{place} was written by a newer Agon (ledger version {found}, known here: {known})\nhint: update Agon"
    )]
    Newer {
        /// Which ledger.
        place: String,
        /// Its version.
        found: i64,
        /// The latest known here.
        known: i64,
    },
    /// Bytes have changed that nobody should change.
    #[error(
        "{place} is damaged: {what}\nhint: stop using it, keep a copy, and go on from a backup; what can be saved of a file is \
         saved by `sqlite3 FILE .recover`"
    )]
    Damaged {
        /// Which ledger.
        place: String,
        /// What was seen.
        what: String,
    },
    /// No room.
    #[error(
        "{place}: the disk is full, nothing of the last matches was kept\nhint: make room and run again: what was kept is whole, and \
         the rest is played again"
    )]
    Full {
        /// Which ledger.
        place: String,
    },
    /// May not be written.
    #[error(
        "{place} cannot be written: {what}\nhint: check the permissions of the file and its folder, and how its disk is mounted"
    )]
    ReadOnly {
        /// Which ledger.
        place: String,
        /// Why.
        what: String,
    },
    /// Another program is in it and does not let go.
    #[error(
        "{place}: another program is writing to it and has not let go for {seconds} s\nhint: is it open in `sqlite3` or `psql`, or in a \
         backup program? end that and run again"
    )]
    Locked {
        /// Which ledger.
        place: String,
        /// How long we waited.
        seconds: u64,
    },
    /// Somebody plays it already.
    #[error(
        "{place}: the competition is being run already, by process {pid} on {host}\nhint: wait for it, or end it there (CTRL-C)"
    )]
    Running {
        /// Which ledger.
        place: String,
        /// Whose process.
        pid: u32,
        /// On which machine.
        host: String,
    },
    /// The same match with another outcome.
    #[error(
        "match {key} was played again and came out differently\n  kept:  {kept}\n  given: {given}\nhint: the rules, a bot or its clock \
         are not what they were; the kept one stays"
    )]
    Conflict {
        /// Which match.
        key: MatchKey,
        /// The digest that is kept.
        kept: Digest,
        /// The digest of what was to be kept.
        given: Digest,
    },
    /// A phase is not as far as it would have to be, or too far.
    #[error("phase {} is {state}: {refused}\nhint: {hint}", .phase + 1)]
    Phase {
        /// Which one, from 0.
        phase: u32,
        /// How far it is.
        state: PhaseState,
        /// What cannot be done.
        refused: &'static str,
        /// What can.
        hint: &'static str,
    },
    /// There are fewer phases.
    #[error("there is no phase {}: the competition has {phases}\nhint: phases are counted from 1", .phase + 1)]
    NoSuchPhase {
        /// The one asked for, from 0.
        phase: u32,
        /// How many there are.
        phases: u32,
    },
    /// What was to be kept makes no sense.
    #[error("match {key} cannot be kept: {what}\nhint: this is a mistake in Agon, please report it")]
    Malformed {
        /// Which match.
        key: MatchKey,
        /// What is wrong with it.
        what: String,
    },
    /// A ruling that cannot be made, or not lifted.
    #[error("{what}\nhint: {hint}")]
    Ruling {
        /// Why not.
        what: String,
        /// What can be done.
        hint: &'static str,
    },
    /// A table was to be published that does not heed what was decided since it was computed.
    #[error(
        "phase {}: a ruling was made or lifted while its table was computed\nhint: compute the table again", .phase + 1
    )]
    Ruled {
        /// Which one, from 0.
        phase: u32,
    },
    /// The machine said no.
    #[error("cannot {doing} {place}: {error}\nhint: {hint}")]
    Io {
        /// Which file.
        place: String,
        /// What was tried.
        doing: &'static str,
        /// What the machine said.
        error: io::Error,
        /// What to do.
        hint: &'static str,
    },
    /// A file that should be an archive of a ledger.
    #[error(
        "{place} cannot be read as a ledger's archive: {what}\nhint: `agon export FILE --archive NAME` writes them; was this one copied whole?"
    )]
    Archive {
        /// Which file.
        place: String,
        /// What is wrong with it.
        what: String,
    },
    /// A database server that does not answer.
    #[error("{place}: the database server does not answer{}: {what}\nhint: is it running, are host and port right, and does the way there let you through? \
             what was kept is safe; run again when it answers", tried(*.seconds))]
    Unreachable {
        /// Which one, without its password.
        place: String,
        /// What was seen.
        what: String,
        /// For how long it was tried again.
        seconds: u64,
    },
    /// A database server that does not do what it is asked.
    #[error("{place}: {what}\nhint: {hint}")]
    Refused {
        /// Which one, without its password.
        place: String,
        /// What it said, in our words.
        what: String,
        /// What to do.
        hint: String,
        /// Whether whoever called can mend it.
        wrong_use: bool,
    },
    /// The database said something else.
    #[error("{place}: {what}\nhint: run again; if it comes back, please report it")]
    Database {
        /// Which ledger.
        place: String,
        /// Its words.
        what: String,
    },
}

/// How long something was tried, if it was.
fn tried(seconds: u64) -> String {
    if seconds == 0 { String::new() } else { format!(", and has not for {seconds} s") }
}

impl StoreError {
    /// Whether whoever called can mend it (exit code 2), rather than that something broke (3).
    pub const fn is_wrong_use(&self) -> bool {
        matches!(
            self,
            Self::Missing { .. }
                | Self::Exists { .. }
                | Self::NotALedger { .. }
                | Self::Newer { .. }
                | Self::Running { .. }
                | Self::Phase { .. }
                | Self::NoSuchPhase { .. }
                | Self::Ruling { .. }
                | Self::Archive { .. }
                | Self::Refused { wrong_use: true, .. }
        )
    }
}
