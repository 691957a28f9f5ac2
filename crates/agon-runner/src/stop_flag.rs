//! Being asked to stop: once to finish what is being played, twice to leave at once.

use std::sync::atomic::{AtomicU8, Ordering};

/// Shared by whoever may ask and whoever must listen.
#[derive(Debug, Default)]
pub struct StopFlag(AtomicU8);

impl StopFlag {
    /// Nobody has asked.
    pub const fn new() -> Self {
        Self(AtomicU8::new(0))
    }

    /// Asks; says how often it was asked. Games that are being played are finished; who is asked again may leave at once.
    pub fn request(&self) -> u8 {
        self.0.fetch_add(1, Ordering::Relaxed).saturating_add(1)
    }

    /// Whether nothing new is to be begun.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}
