//! A PostgreSQL server for tests.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "for tests")]

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

use tempfile::TempDir;

use crate::{ServerProcess, free_port};

/// A PostgreSQL server in a separate folder. PostgreSQL refuses to run as root, so in that case it runs as the user `postgres`.
#[derive(Debug)]
pub struct Postgres {
    port: u16,
    folder: TempDir,
    server: Mutex<Option<ServerProcess>>,
    databases: AtomicU32,
    /// Whether fsync is off.
    fsync_off: bool,
    /// Stdin of a process that removes the folder when this process ends, because a static is never dropped.
    _cleanup: ChildStdin,
}

/// A separate database.
#[derive(Clone, Debug)]
pub struct Database {
    /// Name of the database.
    pub name: String,
    /// Complete URL of the database.
    pub url: String,
}

impl Postgres {
    /// Whether this machine has PostgreSQL.
    pub fn is_installed() -> bool {
        is_there()
    }

    /// Creates and starts a server.
    pub fn start() -> Self {
        Self::make(false)
    }

    /// Creates and starts a server without fsync: it survives a kill but not a power cut, and restarts faster.
    pub fn start_without_fsync() -> Self {
        Self::make(true)
    }

    fn make(fsync_off: bool) -> Self {
        let folder = TempDir::new().unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        if let Some(user) = user() {
            let owned = Command::new("chown").arg("-R").arg(user).arg(folder.path()).status().unwrap();
            assert!(owned.success());
        }
        let made = run(
            &tool("initdb"),
            &["-D", data.to_str().unwrap(), "-U", "agon", "-A", "trust", "-N", "-E", "UTF8"],
        );
        assert!(made, "initdb failed");
        let one = Self {
            port: free_port(),
            _cleanup: start_cleanup(folder.path()),
            folder,
            server: Mutex::default(),
            databases: AtomicU32::new(0),
            fsync_off,
        };
        one.restart();
        one
    }

    /// One server for all tests of a program.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Postgres> = OnceLock::new();
        SHARED.get_or_init(Self::start)
    }

    /// Creates a database.
    pub fn database(&self) -> Database {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("agon_{number}");
        let port = self.port.to_string();
        assert!(
            run(&tool("createdb"), &["-h", "127.0.0.1", "-p", &port, "-U", "agon", &name]),
            "createdb failed"
        );
        let url = format!("postgres://agon@127.0.0.1:{}/{name}", self.port);
        Database { name, url }
    }

    /// The server's port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Id of the main process while the server runs.
    pub fn pid(&self) -> Option<u32> {
        self.server.lock().unwrap().as_ref().map(ServerProcess::pid)
    }

    /// The server's folder, for keys and certificates.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Kills the server and all its processes.
    pub fn kill(&self) {
        let mut server = self.server.lock().unwrap();
        if let Some(server) = server.as_mut() {
            // The child processes would end by themselves after some time. A power cut would end them at once.
            let all = children(server.pid());
            server.kill();
            for &one in &all {
                let pid = rustix::process::Pid::from_raw(one as i32).unwrap();
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
            while all.iter().any(|&one| is_running(one)) {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
        }
        *server = None;
    }

    /// Restarts the server with the same port and folder.
    pub fn restart(&self) {
        let mut server = self.server.lock().unwrap();
        *server = None;
        let (data, port) = (self.folder.path().join("data"), self.port.to_string());
        let socket = self.folder.path().display().to_string();
        let mut words = vec![
            tool("postgres").display().to_string(),
            "-D".to_owned(),
            data.display().to_string(),
            "-p".to_owned(),
            port,
            "-k".to_owned(),
            socket,
            "-h".to_owned(),
            "127.0.0.1".to_owned(),
        ];
        if self.fsync_off {
            words.push("-F".to_owned());
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        *server = Some(ServerProcess::start(user(), &words).listening(self.port));
        // The server listens before it answers.
        while !run(&tool("pg_isready"), &["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()]) {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

/// Starts a process that removes a folder when the other end of its stdin is closed.
fn start_cleanup(folder: &Path) -> ChildStdin {
    let mut sweeper = Command::new("sh")
        .args(["-c", "read -r line; sleep 1; rm -rf \"$1\"", "sh"])
        .arg(folder)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    let held = sweeper.stdin.take().unwrap();
    std::thread::spawn(move || sweeper.wait());
    held
}

/// Whether the programs are installed.
pub fn is_there() -> bool {
    Command::new(tool("initdb")).arg("--version").output().is_ok()
}

/// Child processes of a process.
fn children(pid: u32) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_whitespace().filter_map(|one| one.parse().ok()).collect()
}

/// Whether a process is running. A zombie is not running.
fn is_running(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

fn user() -> Option<&'static str> {
    rustix::process::geteuid().is_root().then_some("postgres")
}

/// Path of one of PostgreSQL's programs. Debian keeps them in a folder per version.
fn tool(name: &str) -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        versions.map(|entry| entry.path().join("bin").join(name)).filter(|path| path.exists()).collect();
    found.sort();
    found.pop().unwrap_or_else(|| PathBuf::from(name))
}

fn run(program: &Path, words: &[&str]) -> bool {
    let mut command = match user() {
        Some(user) => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", user, "--regid", user, "--clear-groups"]).arg(program);
            command
        }
        None => Command::new(program),
    };
    // The user may not have access to the current folder. Errors of the program are shown.
    command.args(words).current_dir("/").stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpStream;

    #[test]
    fn servers_start_and_end_with_their_folder() {
        let postgres = Postgres::start();
        assert!(postgres.database().url.contains("agon_0"));
        postgres.kill();
        assert!(TcpStream::connect(("127.0.0.1", postgres.port())).is_err());
        postgres.restart();
        assert_ne!(postgres.database().name, "agon_0");
        let mut nats = crate::Nats::start();
        nats.kill();
        assert!(TcpStream::connect(("127.0.0.1", nats.port())).is_err());
        nats.restart();
        assert!(TcpStream::connect(("127.0.0.1", nats.port())).is_ok());
    }
}
