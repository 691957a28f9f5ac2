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

pub mod bot_pool;
pub mod forked_bot;
mod log_poller;
mod server;
mod socket;

pub use forked_bot::ForkedBot;
