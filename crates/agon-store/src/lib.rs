//! The ledger: permanent storage for the configuration and the results of a competition.
//!
//! [`Ledger`] is the interface for the rest of Agon. [`SqliteLedger`] stores a competition in one file, [`PostgresLedger`] in a schema
//! of a database. A ledger never computes standings: it stores finished matches in the order of arrival and returns them. It needs a
//! tokio runtime with timers enabled, for PostgreSQL also with I/O enabled.
//!
//! One call of [`Ledger::append`] is one transaction: all its matches, games, records, faults, `data/` folders, bot output and the
//! snapshot. A stored match never changes; it can only be revoked as a whole.

pub mod archive;
mod as_of;
mod bot_output;
mod doctor_check;
mod encoding;
mod error;
mod filter;
mod incoming;
mod integrity_checks;
mod ledger;
mod model;
mod pagination;
mod phase_transitions;
pub mod postgres;
mod ranges;
mod ruling;
mod run_lock;
mod sqlite;

pub use as_of::LedgerAsOf;
pub use bot_output::{BotOutput, OutputWriter, PackedOutput, TurnOutput};
pub use doctor_check::{CheckHealth, DoctorCheck};
pub use error::StoreError;
pub use filter::{FaultFilter, MatchFilter, MatchOrder};
pub use ledger::{Ledger, Rows};
pub use model::{
    AppendResult, BannedWorker, BotVersion, ConfigVersion, Counts, DataFolder, FinishedMatch, LedgerInfo,
    MatchFault, NewBotVersion, NewLedger, PhaseProgress, PhaseState, PhaseStatus, SecretSeed, Snapshot,
    StoredFault, StoredGame, StoredMatch, StoredRecord, Timestamp,
};
pub use postgres::PostgresLedger;
pub use ranges::Ranges;
pub use ruling::{NewRuling, Ruling, RulingKind, RulingLift};
pub use run_lock::RunLock;
pub use sqlite::SqliteLedger;

/// Parts of the SQLite ledger for other SQLite files of Agon: creating, opening, migrating, writing, converting errors.
pub mod sqlite_file {
    pub use crate::run_lock::lock_beside_file;
    pub use crate::sqlite::Writer;
    pub use crate::sqlite::companions::refuse_leftovers;
    pub use crate::sqlite::db_error::in_file;
    pub use crate::sqlite::open::{
        FOLDER_HINT, NEW_FILE, check_header, check_writable, migrate, options, readers, version,
    };
}

/// Result of a ledger operation.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;
