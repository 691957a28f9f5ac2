//! Commands that use NATS: connection, monitoring of workers.

pub mod coordinator;
pub mod worker_monitor;

use agon_bots::Diagnostic;
use agon_grid::permissions::{self, Role};
use agon_grid::{NatsConnection, NatsOptions};
use tokio::runtime::{Builder, Runtime};

/// Runs a function with an async runtime for NATS. The runtime works while this thread plays or waits.
pub fn with_runtime<T>(doing: impl FnOnce(&Runtime) -> Result<T, Diagnostic>) -> Result<T, Diagnostic> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let done = doing(&runtime);
    // A DNS lookup may still be running. Do not wait for it.
    runtime.shutdown_background();
    done
}

/// Connects, and checks that the user has the permissions for its role.
pub fn connect(
    runtime: &Runtime,
    options: &NatsOptions,
    role: Role<'_>,
) -> Result<NatsConnection, Diagnostic> {
    runtime.block_on(async {
        let link = NatsConnection::connect(options).await?;
        permissions::check(&link, role).await?;
        Ok(link)
    })
}
