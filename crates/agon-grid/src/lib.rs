//! One competition on many machines.
//!
//! A [`coordinator`] is an executor, like the local one: it publishes matches as jobs through NATS JetStream and receives the results, and
//! the run stores them in the ledger. A [`worker`] pulls jobs, fetches files by content hash ([`blobs`]), plays the matches and reports the
//! results. Only the coordinator writes to the ledger, and a worker never sees the secret seed. `docs/grid.md`, [`messages`] and
//! [`subjects`] define the protocol. [`worker_directory`] lists the workers, [`permissions`] tests what a NATS user may do, and [`probe`]
//! tests a NATS server.

pub mod blobs;
pub mod connectivity;
pub mod coordinator;
mod error;
pub mod permissions;

pub mod live;
pub mod metrics;
pub mod nats;
mod nats_errors;
mod needs;
pub mod probe;
pub mod worker_directory;

pub mod messages;
pub mod subjects;
pub mod worker;

pub use coordinator::{Coordinator, CoordinatorOptions, DisputedMatch, GridRunStats, UnplayableMatch};
pub use error::GridError;

pub use nats::{NatsConnection, NatsOptions};

pub use worker_directory::WorkerDirectory;
