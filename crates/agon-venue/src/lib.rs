//! A competition on this machine: its file, its ledger, its bots, and what is published of it.
//!
//! What the command line and a server have in common. Nothing here prints, changes the process's current folder or is tied to a
//! thread: relative paths are read from a folder that is named, what is to be said beside an answer is handed to a callback
//! (`tell`), and what asks the ledger is asynchronous and runs in the caller's runtime.

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

/// Where messages go that stand beside an answer: a line each.
pub type MessageSink<'t> = &'t mut dyn FnMut(&str);
