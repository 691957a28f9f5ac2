//! A PostgreSQL of one's own.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "for tests")]

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

use tempfile::TempDir;

use crate::{ServerProcess, free_port};

/// A PostgreSQL in a folder of its own. It will not run as root: then it runs as the user `postgres`.
#[derive(Debug)]
pub struct Postgres {
    port: u16,
    folder: TempDir,
    server: Mutex<Option<ServerProcess>>,
    databases: AtomicU32,
    /// Whether it does not wait for the disk.
    hasty: bool,
    /// Sweeps the folder away when this process ends: nothing that is static is ever dropped.
    _broom: ChildStdin,
}

/// A database that nobody else uses.
#[derive(Clone, Debug)]
pub struct Database {
    /// Its name.
    pub name: String,
    /// Where it is, with everything that is needed to open it.
    pub url: String,
}

impl Postgres {
    /// Whether this machine has one to start.
    pub fn is_installed() -> bool {
        is_there()
    }

    /// Makes and starts one.
    pub fn start() -> Self {
        Self::make(false)
    }

    /// One that does not wait for the disk: it survives being killed, not a power cut, and is back sooner.
    pub fn start_without_fsync() -> Self {
        Self::make(true)
    }

    fn make(hasty: bool) -> Self {
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
            _broom: broom(folder.path()),
            folder,
            server: Mutex::default(),
            databases: AtomicU32::new(0),
            hasty,
        };
        one.restart();
        one
    }

    /// One for all tests of a program.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Postgres> = OnceLock::new();
        SHARED.get_or_init(Self::start)
    }

    /// A new database.
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

    /// Its port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Its first process, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.server.lock().unwrap().as_ref().map(ServerProcess::pid)
    }

    /// Its folder: for keys and certificates.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Ends it at once, with all its processes.
    pub fn kill(&self) {
        let mut server = self.server.lock().unwrap();
        if let Some(server) = server.as_mut() {
            // Its own processes would notice that it is gone, each in its own time: a power cut takes them with it.
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

    /// Starts it again where it was.
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
        if self.hasty {
            words.push("-F".to_owned());
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        *server = Some(ServerProcess::start(user(), &words).listening(self.port));
        // It listens before it answers.
        while !run(&tool("pg_isready"), &["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()]) {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

/// Removes a folder when the other end of its input is gone.
fn broom(folder: &Path) -> ChildStdin {
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

/// Whether it is installed.
pub fn is_there() -> bool {
    Command::new(tool("initdb")).arg("--version").output().is_ok()
}

/// The processes that a process has started.
fn children(pid: u32) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_whitespace().filter_map(|one| one.parse().ok()).collect()
}

/// Whether a process is there and does something: one that has ended may wait for somebody to hear of it.
fn is_running(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

fn user() -> Option<&'static str> {
    rustix::process::geteuid().is_root().then_some("postgres")
}

/// One of its programs: Debian keeps them beside each other by version.
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
    // The current folder may be one that this user must not see. What it complains of is shown.
    command.args(words).current_dir("/").stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpStream;

    #[test]
    fn a_database_and_a_broker_come_and_go() {
        let postgres = Postgres::start();
        assert!(postgres.database().url.contains("agon_0"));
        postgres.kill();
        assert!(TcpStream::connect(("127.0.0.1", postgres.port())).is_err());
        postgres.restart();
        assert_ne!(postgres.database().name, "agon_0");
        let mut nats = crate::Nats::start();
        nats.kill();
        assert!(TcpStream::connect(("127.0.0.1", nats.port())).is_err());
        nats.again();
        assert!(TcpStream::connect(("127.0.0.1", nats.port())).is_ok());
    }
}
