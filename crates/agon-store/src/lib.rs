//! The ledger: what a competition was started with and everything that was played, kept for good.
//!
//! [`Ledger`] is what the rest of Agon sees of it; [`SqliteLedger`] keeps one competition in one file, [`PostgresLedger`] in a schema of a database on a
//! server. A ledger never
//! computes standings: it takes finished matches, keeps them in the order they came, and hands them out again. All of it runs
//! inside a tokio runtime whose timers are enabled, and for a server its input and output too.
//!
//! What is one transaction: a call of [`Ledger::append`], with all its matches, games, records, faults, `data/` folders, logs and
//! the snapshot. A match that was kept once is never changed.

pub mod archive;
mod run_lock;
mod incoming;
mod error;
mod filter;
mod model;
mod ledger;
mod bot_output;
pub mod site_db;
mod encoding;
mod pagination;
pub mod postgres;
mod ranges;
mod ruling;
mod sqlite;
mod phase_transitions;
mod integrity_checks;

pub use run_lock::RunLock;
pub use error::StoreError;
pub use filter::{FaultFilter, MatchFilter, Order};
pub use model::{
    AppendResult, BannedWorker, BotVersion, LedgerInfo, Counts, DataFolder, ConfigVersion, FinishedMatch, NewLedger,
    StoredFault, StoredGame, StoredMatch, StoredRecord, MatchFault, PhaseState, PhaseStatus, PhaseProgress, SecretSeed,
    Snapshot, NewBotVersion, Timestamp,
};
pub use ledger::{Ledger, Rows};
pub use bot_output::{BotOutput, OutputWriter, PackedOutput, TurnOutput};
pub use postgres::PostgresLedger;
pub use ranges::Ranges;
pub use ruling::{Lifted, NewRuling, Ruling, RulingKind};
pub use sqlite::SqliteLedger;

/// What every call gives back.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;
