//! A competition on this machine: its file, its ledger, its bots, and what is published of it.
//!
//! What the command line and a server have in common. Nothing here prints, changes the process's current folder or is tied to a
//! thread: relative paths are read from a folder that is named, what is to be said beside an answer is handed to a callback
//! (`tell`), and what asks the ledger is asynchronous and runs in the caller's runtime.

pub mod check;
pub mod competing;
pub mod document;
pub mod failure;
pub mod manifest;
pub mod neighbours;
pub mod parcel;
pub mod report;
pub mod seating;
pub mod setup;
pub mod sheets;
pub mod starter;

pub use competing::{Place, Sitting};
pub use failure::Failure;
pub use seating::Sandbox;

/// Where messages go that stand beside an answer: a line each.
pub type Tell<'t> = &'t mut dyn FnMut(&str);
