//! A server process that ends with the test.
#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "for tests: a server that cannot be started fails the test at once"
)]

use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Timeout for a server to listen.
const LISTEN_TIMEOUT: Duration = crate::WAIT_TIMEOUT;

/// A running server.
#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
    /// Keeps the thread alive that started the server. When the thread ends, the kernel kills the server.
    _holder: mpsc::Sender<()>,
}

impl ServerProcess {
    /// Starts a program with `setpriv`, so that the kernel kills it with this process.
    pub fn start(user: Option<&str>, words: &[&str]) -> Self {
        let mut command = Command::new("setpriv");
        command.arg("--pdeathsig").arg("KILL");
        if let Some(user) = user {
            command.args(["--reuid", user, "--regid", user, "--clear-groups"]);
        }
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let (hold, held) = mpsc::channel::<()>();
        let (started, child) = mpsc::channel();
        // The kernel kills the server with the thread that started it. A test's thread may end before the test program.
        thread::spawn(move || {
            started.send(command.spawn()).unwrap();
            let _ = held.recv();
        });
        let child = child.recv().unwrap().unwrap_or_else(|error| panic!("cannot start {words:?}: {error}"));
        Self { child, _holder: hold }
    }

    /// Process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the server accepts connections.
    #[must_use]
    pub fn listening(mut self, port: u16) -> Self {
        let (address, begun) = (SocketAddr::from(([127, 0, 0, 1], port)), Instant::now());
        while TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_err() {
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("the server on port {port} ended: {status}");
            }
            assert!(begun.elapsed() < LISTEN_TIMEOUT, "no server listens on port {port}");
            thread::sleep(Duration::from_millis(20));
        }
        self
    }

    /// Kills the server, like a power cut.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
