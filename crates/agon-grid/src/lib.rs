//! One competition on many machines.
//!
//! A coordinator (`fleet`) is an executor like the one for this machine: it hands matches out through NATS JetStream and takes results in, and the run
//! that it belongs to keeps them in the ledger. A `worker` takes matches, fetches what it needs by content hash ([`blobs`]), plays
//! them and hands the results in. Nobody but the coordinator writes to the ledger, and a worker never learns the secret seed. What they say to each other
//! is in `docs/grid.md`, [`wire`] and [`subjects`]; [`roster`] is who is there, [`access`] what a user may do, [`probe`] whether a server
//! is fit for it.

pub mod permissions;
pub mod blobs;
mod error;
pub mod coordinator;

pub mod nats;
pub mod live;
pub mod probe;
mod nats_errors;
pub mod worker_directory;

pub mod subjects;
pub mod messages;
pub mod worker;

pub use error::GridError;
pub use coordinator::{DisputedMatch, GridRunStats, Coordinator, CoordinatorOptions, UnplayableMatch};

pub use nats::{NatsConnection, NatsOptions};

pub use worker_directory::WorkerDirectory;
