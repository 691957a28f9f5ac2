//! Real servers for tests and benchmarks: each on a free port of 127.0.0.1, in a folder of its own, gone when it is dropped or the
//! process that started it ends, however that ends.

mod child;
mod nats;
mod postgres;
mod program;
mod proxy;

pub use child::Server;
pub use nats::{Nats, program as nats_server};
pub use postgres::{Database, Postgres};
pub use program::{Program, Script, can_have_small_disks, fill, wrong_clock};
pub use proxy::{Proxy, Way};

use std::net::TcpListener;

/// A port nobody listens on.
///
/// # Panics
/// If the machine has none.
#[allow(clippy::unwrap_used, reason = "for tests")]
pub fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// Whether nats-server or PostgreSQL is not on this machine; a test that needs them says so and passes. Where `CI` is set they must be there.
///
/// # Panics
/// If they are missing and `CI` is set.
#[allow(clippy::print_stderr, reason = "for tests: what is left out is said")]
pub fn missing() -> bool {
    let what = match (nats::is_there(), postgres::is_there()) {
        (true, true) => return false,
        (false, _) => "nats-server",
        (true, false) => "PostgreSQL",
    };
    assert!(std::env::var_os("CI").is_none(), "{what} is missing; scripts/setup.sh tests installs it");
    eprintln!("skipped: no {what}; scripts/setup.sh tests says how to install it");
    true
}
