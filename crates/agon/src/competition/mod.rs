//! A competition in the terminal: the words of its commands, its progress, CTRL-C.

pub mod cli;
pub mod progress;
pub mod signals;

use std::io;

use tokio::runtime::{Builder, Runtime};

/// What ledgers are asked in: one thread is enough for one command.
pub fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}
