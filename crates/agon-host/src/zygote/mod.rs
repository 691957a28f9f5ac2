//! Python bots that are forks of a zygote: started in milliseconds, asked by packets, kept for the next game.
//!
//! ```text
//!   zygote (Python, NumPy) ──fork──> the loaded bot ──fork──> one game, or one call
//!                                       │ in its sandbox          │
//!   engine ───── packets ───────────────┴─────────────────────────┘
//! ```
//!
//! - [`server`]: the zygote process
//! - [`forked_bot`]: a bot that speaks packets
//! - [`bot_pool`]: loaded bots that wait for their next game
//! - [`pool_key`]: what makes two loaded bots interchangeable
//! - [`log_poller`]: the stderr of all forked bots of a thread
//! - [`socket`]: packets with the time at which they were sent

pub mod bot_pool;
pub mod forked_bot;
mod log_poller;
mod pool_key;
mod server;
mod socket;

pub use forked_bot::ForkedBot;
pub use pool_key::BotPoolKey;
