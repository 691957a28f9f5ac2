//! Real servers for tests and benchmarks: each on a free port of 127.0.0.1, in a separate folder. A server ends when it is dropped or
//! when the process that started it ends. Also shared by all tests: timeouts, and a list of tests that cannot run.

mod child;
mod log_capture;
mod nats;
mod postgres;
mod program;
mod proxy;
mod skipped;
mod waiting;

pub use child::ServerProcess;
pub use log_capture::CapturedLog;
pub use nats::{Nats, program as nats_server};
pub use postgres::{Database, Postgres};
pub use program::{Program, ProgramConfig, can_have_small_disks, fill, wrong_clock};
pub use proxy::{Proxy, ProxyDirection};
pub use skipped::{Lacks, REQUIRE_ALL, SKIPPED_TESTS, cannot_run};
pub use waiting::{WAIT_TIMEOUT, wait_until};

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

/// A port that is free and was not returned before in this process. It is below the ephemeral ports of the kernel, because a server that is
/// restarted must find its port free.
///
/// # Panics
/// If the machine has no free port.
#[allow(clippy::unwrap_used, reason = "for tests")]
pub fn free_port() -> u16 {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    // Each process starts at another port, because tests run in parallel.
    let begin = std::process::id().wrapping_mul(7919);
    let port = |_| {
        let number = begin.wrapping_add(GIVEN.fetch_add(1, Ordering::Relaxed));
        10_000 + (number % 20_000) as u16
    };
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    (0..20_000).map(port).find(is_free).unwrap()
}

/// Whether nats-server or PostgreSQL is missing. A test that needs them is then listed as skipped and ends.
///
/// # Panics
/// If they are missing and `CI` or `AGON_REQUIRE_ALL` is set.
#[track_caller]
pub fn skip_without_servers() -> bool {
    let what = match (nats::is_there(), postgres::is_there()) {
        (true, true) => return false,
        (false, _) => "nats-server",
        (true, false) => "PostgreSQL",
    };
    cannot_run(Lacks::Setup, &format!("no {what}"));
    true
}
