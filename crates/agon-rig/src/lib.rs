//! Real servers for tests and benchmarks: each on a free port of 127.0.0.1, in a folder of its own, gone when it is dropped or the
//! process that started it ends, however that ends.

mod child;
mod nats;
mod postgres;

pub use child::Server;
pub use nats::Nats;
pub use postgres::{Database, Postgres};

use std::net::TcpListener;

/// A port nobody listens on.
///
/// # Panics
/// If the machine has none.
#[allow(clippy::unwrap_used, reason = "for tests")]
pub fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}
