//! Python bots that are forks of a warm parent: started in milliseconds, asked by packets, kept for the next game.
//!
//! ```text
//!   parent (Python, NumPy) ──fork──> the loaded bot ──fork──> one game, or one call
//!                                       │ behind its sandbox      │
//!   engine ───── packets ───────────────┴─────────────────────────┘
//! ```
//!
//! - [`parent`]: the warm parent
//! - [`link`]: a bot that is asked by packets
//! - [`stable`]: loaded bots that wait for their next game
//! - [`socket`]: packets with the time at which they were sent

pub mod link;
mod log;
mod parent;
mod socket;
pub mod stable;

pub use link::Link;
