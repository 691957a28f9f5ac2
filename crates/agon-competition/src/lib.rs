//! A competition on this machine: its file, its ledger, its bots, and running it.
//!
//! - [`file`]: reads and checks a competition file
//! - [`LoadedCompetition`]: the file with its game and assets; opens its ledger ([`LedgerLocation`]: a file or a database)
//! - [`load_bots`]: the bots of a phase, ready to play
//! - [`run`]: runs or resumes the competition
//! - [`history`]: publishes finished phases for bots of later phases
//!
//! Nothing here prints or is tied to a thread. What asks the ledger is asynchronous and runs in the caller's runtime.

pub mod file;
pub mod history;
mod ledger_location;
mod load;
pub mod load_bots;
pub mod run;

pub use ledger_location::LedgerLocation;
pub use load::{CompetitionPaths, LoadedCompetition};
