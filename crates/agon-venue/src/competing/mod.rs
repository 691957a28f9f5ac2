//! A competition on this machine: its file, its ledger beside it, its bots.

pub mod export;
pub mod file;
pub mod lineup;
mod open;
pub mod play;
mod whereabouts;

pub use open::{Place, Sitting};
pub use whereabouts::Where;
