//! A competition on this machine: its file, its ledger, its bots, its tables and reports.
//!
//! Used by the command line and the server. Nothing here prints, changes the current folder of the process or depends on a
//! thread. Relative paths start at a folder that the caller names. Messages go to a callback (`notify`). Functions that use the
//! ledger are async and run in the caller's runtime.

pub mod check;
pub mod competition;
pub mod document;
pub mod error;
pub mod isolation;
pub mod manifest;
pub mod package;
pub mod parse_options;
pub mod report;
pub mod resolve;
pub mod starter;
pub mod table_formats;

pub use competition::{CompetitionPaths, LoadedCompetition};
pub use error::Failure;
pub use resolve::SandboxMode;

/// Callback for messages to the user, one line each.
pub type MessageSink<'t> = &'t mut dyn FnMut(&str);
