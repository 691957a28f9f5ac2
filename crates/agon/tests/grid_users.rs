//! A competition with workers as docs/deploying.md sets it up: TLS, a NATS user for each process; listed, drained, stopped.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use agon_test_servers::Nats;
use serde_json::Value as Json;
use tempfile::TempDir;

const COMPETITION: &str = r#"name = "Far Cup"
game = "connect-five"
seed = "only for tests"

[[phase]]
name = "League"
format = "round-robin"
legs = 4
parts = [{ games = 3, first_to = 2, seconds = 5 }]

[[entrant]]
bot = "house:tactician"

[[entrant]]
bot = "house:random"

[[entrant]]
name = "mine"
bot = "./mine"
"#;

/// NATS with the certificates and users of `deploy/`, and a competition.
struct League {
    nats: Nats,
    folder: TempDir,
}

impl League {
    fn new() -> Self {
        let folder = common::folder_with(&[("password", "secret\n"), ("cup.toml", COMPETITION)]);
        let made = Command::new(deploy("certificates.sh"))
            .arg(folder.path().join("tls"))
            .args(["server", "127.0.0.1"])
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let mut lines = fs::read_to_string(deploy("nats/users.conf")).unwrap();
        for name in ["COORDINATOR", "SPECTATOR", "W1", "W2"] {
            lines = lines.replace(&format!("${name}_PASSWORD"), "\"secret\"");
        }
        let tls = folder.path().join("tls").display().to_string();
        lines += &format!(
            "\ntls {{ cert_file: \"{tls}/server.pem\", key_file: \"{tls}/server.key\", timeout: 5 }}\n"
        );
        let league = Self { nats: Nats::with(&lines), folder };
        let wrote = league.local(&["new", "connect-five", "mine"]).output().unwrap();
        assert!(wrote.status.success(), "{}", String::from_utf8_lossy(&wrote.stderr));
        league
    }

    /// `agon` in the league's folder.
    fn local(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
        command
            .args(words)
            .current_dir(self.folder.path())
            .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
        command
    }

    /// `agon` with this NATS user.
    fn as_user(&self, user: &str, words: &[&str]) -> Command {
        let mut command = self.local(words);
        command
            .env("AGON_NATS", format!("tls://{user}@127.0.0.1:{}", self.nats.port()))
            .env("AGON_NATS_PASSWORD_FILE", self.folder.path().join("password"))
            .env("AGON_NATS_CA", self.folder.path().join("tls/ca.pem"));
        command
    }

    fn worker(&self, name: &str) -> Running {
        let cache = self.folder.path().join(format!("cache-{name}"));
        Running::new(
            self.as_user(
                name,
                &["worker", "--name", name, "--jobs", "1", "--cache", cache.to_str().unwrap()],
            ),
        )
    }

    /// Names and states of the workers.
    fn workers(&self) -> Vec<(String, String)> {
        let listed = good(self.as_user("spectator", &["workers", "--json"]).output().unwrap());
        let document: Json = serde_json::from_slice(&listed.stdout).unwrap();
        assert_eq!((&document["agon"], &document["version"]), (&Json::from("workers"), &Json::from(1)));
        common::schema::check_document(&document);
        let text = |one: &Json, key: &str| one[key].as_str().unwrap().to_owned();
        document["workers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| (text(one, "name"), text(one, "state")))
            .collect()
    }
}

/// A process whose stderr is captured, and that ends with the test.
struct Running {
    child: Child,
    said: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl Running {
    fn new(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let said = Arc::new(Mutex::new(String::new()));
        let (heard, lines) = (Arc::clone(&said), BufReader::new(child.stderr.take().unwrap()));
        let reader = std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                *heard.lock().unwrap() += &(line + "\n");
            }
        });
        Self { child, said, reader: Some(reader) }
    }

    fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    /// Waits until the process has printed this.
    fn says(&self, words: &str) {
        until(|| self.said().contains(words), || format!("`{words}` in: {}", self.said()));
    }

    /// Waits until the process has ended and all that it printed has been read.
    fn ends(&mut self) -> ExitStatus {
        let mut status = None;
        until(
            || {
                status = self.child.try_wait().unwrap();
                status.is_some()
            },
            || "it does not end".to_owned(),
        );
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        status.unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn until(mut done: impl FnMut() -> bool, what: impl Fn() -> String) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < agon_test_servers::WAIT_TIMEOUT, "{}", what());
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn deploy(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(name)
}

fn good(output: Output) -> Output {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("secret"), "{said}");
    output
}

#[test]
fn workers_play_a_competition_and_can_be_listed_drained_and_stopped() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let league = League::new();
    let (mut first, mut second) = (league.worker("w1"), league.worker("w2"));
    first.says("worker w1 connected to ");
    until(|| league.workers().len() == 2, || format!("{:?}", league.workers()));
    // A run this short may end before a heartbeat arrives, so only the matches are checked.
    let run = good(
        league.as_user("coordinator", &["run", "cup.toml", "--checked", "50", "--json"]).output().unwrap(),
    );
    let events: Vec<Json> = run
        .stdout
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    let count = |kind: &str| events.iter().filter(|event| event["event"] == kind).count();
    assert_eq!((count("match"), count("over"), count("barred")), (12, 1, 0));
    // The table is the same as on a single machine.
    let table = |words: &[&str]| {
        let table = [words, &["--format", "json", "--no-times"]].concat();
        String::from_utf8(good(league.local(&table).output().unwrap()).stdout).unwrap()
    };
    let far = table(&["table", "cup.toml"]);
    fs::copy(league.folder.path().join("cup.toml"), league.folder.path().join("near.toml")).unwrap();
    good(league.local(&["run", "near.toml", "--json"]).output().unwrap());
    assert_eq!(far, table(&["table", "near.toml"]));
    // One worker is drained through NATS, the other is stopped by a signal.
    let drain = ["workers", "--drain", "w1", "--wait", "120", "--json"];
    let drained = good(league.as_user("spectator", &drain).output().unwrap());
    let drained: Json = serde_json::from_slice(&drained.stdout).unwrap();
    common::schema::check_document(&drained);
    assert_eq!((&drained["worker"], &drained["left"]), (&Json::from("w1"), &Json::from(true)), "{drained}");
    assert!(first.ends().success());
    first.says("worker w1 has stopped");
    until(
        || league.workers() == [("w2".to_owned(), "idle".to_owned())],
        || format!("{:?}", league.workers()),
    );
    rustix::process::kill_process(
        rustix::process::Pid::from_child(&second.child),
        rustix::process::Signal::TERM,
    )
    .unwrap();
    assert!(second.ends().success(), "{}", second.said());
    assert!(
        !first.said().contains("Permissions") && !second.said().contains("Permissions"),
        "{}",
        second.said()
    );
}

#[test]
fn run_without_workers_prints_a_message_and_stops_on_a_signal() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let league = League::new();
    let mut run = Running::new(league.as_user("coordinator", &["run", "cup.toml"]));
    run.says("the workers of tls://127.0.0.1");
    run.says("phase 1, League: 12 matches");
    let pid = rustix::process::Pid::from_child(&run.child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(run.ends().code(), Some(1), "{}", run.said());
    assert!(run.said().contains("resume with: agon run cup.toml"), "{}", run.said());
    let wrong = |words: &[&str], message: &str| {
        let output = league.as_user("coordinator", words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(message), "{said}");
    };
    wrong(&["run", "cup.toml", "--jobs", "2"], "--jobs and --nats cannot be combined");
    wrong(&["run", "cup.toml", "--checked", "101"], "--checked: 101 is not between 0 and 100");
    wrong(&["run", "cup.toml", "--lease", "0"], "--lease: 0 is not between 2 and 3600");
    let output = league.as_user("spectator", &["run", "cup.toml"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("does not let this user coordinate"), "{said}");
}
