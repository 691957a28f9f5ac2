//! A competition on this machine: its file, its ledger beside it, its bots.

pub mod cli;
pub mod export;
pub mod file;
pub mod line;
pub mod lineup;
pub mod open;
pub mod signals;

pub use open::{Place, Sitting};
