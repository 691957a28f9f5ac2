//! A nats-server with JetStream.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "for tests")]

use std::fs;
use std::process::Command;

use tempfile::TempDir;

use crate::{ServerProcess, free_port};

/// A nats-server with JetStream in a separate folder.
#[derive(Debug)]
pub struct Nats {
    port: u16,
    folder: TempDir,
    server: Option<ServerProcess>,
}

impl Nats {
    /// Starts a server without users and permissions.
    pub fn start() -> Self {
        Self::with("")
    }

    /// Starts a server with additional lines in its configuration: users, permissions, TLS. `FOLDER` in them is replaced by its folder.
    pub fn with(lines: &str) -> Self {
        let (port, folder) = (free_port(), TempDir::new().unwrap());
        let mut nats = Self { port, folder, server: None };
        nats.configure(lines);
        nats.restart();
        nats
    }

    /// Rewrites the configuration for the next start.
    pub fn configure(&self, lines: &str) {
        let folder = self.folder.path().display().to_string();
        let lines = lines.replace("FOLDER", &folder);
        let text = format!(
            "listen: \"127.0.0.1:{}\"\nmax_payload: 1MB\njetstream {{ store_dir: \"{folder}/store\" }}\n{lines}\n",
            self.port
        );
        fs::write(self.folder.path().join("nats.conf"), text).unwrap();
    }

    /// The server's folder, for keys and certificates.
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// The server's port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The server's URL.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Kills the server. Its files stay.
    pub fn kill(&mut self) {
        self.server = None;
    }

    /// Restarts the server with the same port and folder.
    pub fn restart(&mut self) {
        self.server = None;
        let file = self.folder.path().join("nats.conf");
        let server = ServerProcess::start(None, &[&program(), "-c", file.to_str().unwrap()]);
        self.server = Some(server.listening(self.port));
    }

    /// Process id while the server runs.
    pub fn pid(&self) -> Option<u32> {
        self.server.as_ref().map(ServerProcess::pid)
    }
}

/// Whether the program is installed.
pub fn is_there() -> bool {
    Command::new(program()).arg("--version").output().is_ok()
}

/// Path of the program. Debian installs it in a folder of root's PATH.
pub fn program() -> String {
    let known = ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"];
    let found = known.iter().find(|path| fs::metadata(path).is_ok());
    found.map_or_else(|| "nats-server".to_owned(), |path| (*path).to_owned())
}
