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

/// A descriptor that this thread waits on.
#[allow(
    unsafe_code,
    reason = "the owner is another bot of this thread, which takes itself off the list when it goes"
)]
fn borrowed<'fd>(fd: std::os::fd::RawFd) -> std::os::fd::BorrowedFd<'fd> {
    // SAFETY: a link takes its descriptor off this thread's list before it is closed. One that was closed all the same
    // would be polled in vain, and not read.
    unsafe { std::os::fd::BorrowedFd::borrow_raw(fd) }
}
