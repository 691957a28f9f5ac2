//! A nats-server with JetStream.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "for tests")]

use std::fs;
use std::process::Command;

use tempfile::TempDir;

use crate::{ServerProcess, free_port};

/// A nats-server, with JetStream in a folder of its own.
#[derive(Debug)]
pub struct Nats {
    port: u16,
    folder: TempDir,
    server: Option<ServerProcess>,
}

impl Nats {
    /// Starts one that lets anybody do anything.
    pub fn start() -> Self {
        Self::with("")
    }

    /// Starts one with these lines in its configuration too: users, permissions, TLS. `FOLDER` in them is its folder.
    pub fn with(lines: &str) -> Self {
        let (port, folder) = (free_port(), TempDir::new().unwrap());
        let mut nats = Self { port, folder, server: None };
        nats.configure(lines);
        nats.again();
        nats
    }

    /// Writes its configuration anew, for the next start.
    pub fn configure(&self, lines: &str) {
        let folder = self.folder.path().display().to_string();
        let lines = lines.replace("FOLDER", &folder);
        let text = format!(
            "listen: \"127.0.0.1:{}\"\nmax_payload: 1MB\njetstream {{ store_dir: \"{folder}/store\" }}\n{lines}\n",
            self.port
        );
        fs::write(self.folder.path().join("nats.conf"), text).unwrap();
    }

    /// Its folder: for keys and certificates.
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Its port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Ends it at once; what it has on disk stays.
    pub fn kill(&mut self) {
        self.server = None;
    }

    /// Starts it again where it was.
    pub fn again(&mut self) {
        self.server = None;
        let file = self.folder.path().join("nats.conf");
        let server = ServerProcess::start(None, &[&program(), "-c", file.to_str().unwrap()]);
        self.server = Some(server.listening(self.port));
    }

    /// Its process, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.server.as_ref().map(ServerProcess::pid)
    }
}

/// Whether it is installed.
pub fn is_there() -> bool {
    Command::new(program()).arg("--version").output().is_ok()
}

/// The program. Debian has it where only root looks.
pub fn program() -> String {
    let known = ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"];
    let found = known.iter().find(|path| fs::metadata(path).is_ok());
    found.map_or_else(|| "nats-server".to_owned(), |path| (*path).to_owned())
}
