//! A competition on this machine: its file, its ledger and its bots.

pub mod export;
pub mod file;
mod ledger_location;
mod load;
pub mod load_bots;
pub mod run;

pub use ledger_location::LedgerLocation;
pub use load::{CompetitionPaths, LoadedCompetition};
