//! Stop requests: the first one finishes the current games, the second one aborts.

use std::sync::atomic::{AtomicU8, Ordering};

/// Counts stop requests. Shared by the threads that request a stop and those that check for it.
#[derive(Debug, Default)]
pub struct StopFlag(AtomicU8);

impl StopFlag {
    /// Creates a flag without requests.
    pub const fn new() -> Self {
        Self(AtomicU8::new(0))
    }

    /// Requests a stop and returns the number of requests so far. Running games are finished; the caller may abort on the second request.
    pub fn request(&self) -> u8 {
        self.0.fetch_add(1, Ordering::Relaxed).saturating_add(1)
    }

    /// Whether a stop was requested. Then no new work starts.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}
