//! Commands that use NATS: connection, monitoring of workers.

pub mod coordinator;
pub mod worker_monitor;

use std::time::Duration;

use agon_bots::Diagnostic;
use agon_grid::permissions::{self, Role};
use agon_grid::{GridError, NatsConnection, NatsOptions};
use tokio::runtime::{Builder, Runtime};

use crate::output;

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
    connect_within(runtime, options, role, Duration::ZERO)
}

/// The same, and waits for a server that does not answer yet.
pub fn connect_within(
    runtime: &Runtime,
    options: &NatsOptions,
    role: Role<'_>,
    wait: Duration,
) -> Result<NatsConnection, Diagnostic> {
    let retrying = |error: &GridError| {
        let (what, seconds) = (error.diagnostic().summary(), wait.as_secs());
        output::note(&format!("{what}; trying again for {seconds} s"));
    };
    runtime.block_on(async {
        let link = NatsConnection::connect_within(options, wait, retrying).await?;
        permissions::check(&link, role).await?;
        Ok(link)
    })
}
