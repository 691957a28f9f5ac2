//! Commands for competitions: progress, CTRL-C.

pub mod metrics;
pub mod progress;
pub mod signals;

use std::io;

use tokio::runtime::{Builder, Runtime};

/// Async runtime for ledgers. One thread is enough for one command.
pub fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}
