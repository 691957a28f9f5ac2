//! One competition on many machines, from the terminal: the words of its commands, the connection to NATS, who is there while it is played.

pub mod cli;
pub mod coordinator;
pub mod worker_monitor;

use agon_bots::Failure;
use agon_grid::permissions::{self, Role};
use agon_grid::{NatsConnection, NatsOptions};
use tokio::runtime::{Builder, Runtime};

/// Does something with what NATS is spoken to in: it goes on while this thread plays or waits.
pub fn with_runtime<T>(doing: impl FnOnce(&Runtime) -> Result<T, Failure>) -> Result<T, Failure> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let done = doing(&runtime);
    // Somebody may still be looking a name up: nobody waits for that.
    runtime.shutdown_background();
    done
}

/// Connects, and sees to it that this user may do what it came for.
pub fn connect(runtime: &Runtime, options: &NatsOptions, role: Role<'_>) -> Result<NatsConnection, Failure> {
    runtime.block_on(async {
        let link = NatsConnection::connect(options).await?;
        permissions::check(&link, role).await?;
        Ok(link)
    })
}
