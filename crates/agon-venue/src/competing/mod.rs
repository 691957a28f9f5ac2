//! A competition on this machine: its file, its ledger beside it, its bots.

pub mod export;
pub mod file;
pub mod lineup;
mod open;
pub mod play;

pub use open::{Place, Sitting};
