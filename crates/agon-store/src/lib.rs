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
mod claim;
mod coming;
mod error;
mod filter;
mod kept;
mod ledger;
mod log;
pub mod office;
mod packing;
mod pages;
pub mod postgres;
mod ranges;
mod ruling;
mod sqlite;
mod steps;
mod sums;

pub use claim::Claim;
pub use error::StoreError;
pub use filter::{FaultFilter, MatchFilter, Order};
pub use kept::{
    Appended, Barred, BotVersion, Competition, Counts, DataFolder, Edition, FinishedMatch, Founding,
    KeptFault, KeptGame, KeptMatch, KeptRecord, MatchFault, PhaseState, PhaseStatus, Progress, Secret,
    Snapshot, Submission, Time,
};
pub use ledger::{Ledger, Rows};
pub use log::{GameLog, LogWriter, MatchLog, Printed};
pub use postgres::PostgresLedger;
pub use ranges::Ranges;
pub use ruling::{Lifted, NewRuling, Ruling, RulingKind};
pub use sqlite::SqliteLedger;

/// What every call gives back.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;
