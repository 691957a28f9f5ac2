//! One competition on many machines.
//!
//! A coordinator (`fleet`) is an executor like the one for this machine: it hands matches out through NATS JetStream and takes results in, and the run
//! that it belongs to keeps them in the ledger. A `worker` takes matches, fetches what it needs by content hash ([`blobs`]), plays
//! them and hands the results in. Nobody but the coordinator writes to the ledger, and a worker never learns the secret seed. What they say to each other
//! is in `docs/grid.md`, [`wire`] and [`subjects`]; [`roster`] is who is there, [`access`] what a user may do, [`probe`] whether a server
//! is fit for it.

pub mod access;
pub mod blobs;
mod error;
pub mod fleet;

pub mod link;
pub mod live;
pub mod probe;
mod refusal;
pub mod roster;

pub mod subjects;
pub mod wire;
pub mod worker;

pub use error::GridError;
pub use fleet::{Disputed, Figures, Fleet, FleetOptions, SetAside};

pub use link::{Link, NatsOptions};

pub use roster::Roster;
