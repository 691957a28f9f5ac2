//! What an operator of a cluster sees: broken workers, late servers, lost workers, metrics. With real processes and a real nats-server.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use agon_test_servers::{Nats, Program, ProgramConfig, wait_until};
use serde_json::Value as Json;
use tempfile::TempDir;

const COMPETITION: &str = r#"name = "Cluster Cup"
game = "connect-five"
seed = "only for tests"

[[phase]]
name = "League"
format = "round-robin"
legs = 4
parts = [{ games = 1, first_to = 1, seconds = 5 }]

[[entrant]]
bot = "house:tactician"

[[entrant]]
bot = "house:random"

[[entrant]]
bot = "house:stacker"
"#;

/// The same with a Python bot.
const PYTHON_CUP: &str = "\n[[entrant]]\nname = \"mine\"\nbot = \"./mine\"\n";

struct Cluster {
    nats: Nats,
    folder: TempDir,
}

impl Cluster {
    fn new(competition: &str) -> Self {
        Self { nats: Nats::start(), folder: common::folder_with(&[("cup.toml", competition)]) }
    }

    fn config(&self, log: &str, words: &[&str]) -> ProgramConfig {
        let url = self.nats.url();
        let words: Vec<&str> = words.iter().copied().chain(["--nats", &url]).collect();
        let (folder, log) = (self.folder.path(), self.folder.path().join(log));
        ProgramConfig::new(env!("CARGO_BIN_EXE_agon"), &words, folder, &log)
            .with("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
    }

    fn run(&self, more: &[&str]) -> Program {
        let words: Vec<&str> = ["run", "cup.toml"].iter().chain(more).copied().collect();
        self.config("run.log", &words).start()
    }

    fn worker(&self, name: &str) -> ProgramConfig {
        let cache = self.folder.path().join(format!("cache-{name}"));
        let words = ["worker", "--name", name, "--jobs", "1", "--cache", cache.to_str().unwrap()];
        self.config(&format!("{name}.log"), &words)
    }

    /// A worker as `agon workers` lists it.
    fn listed(&self, name: &str) -> Option<Json> {
        let output = Command::new(env!("CARGO_BIN_EXE_agon"))
            .args(["workers", "--json", "--nats", &self.nats.url()])
            .output()
            .unwrap();
        let document: Json = serde_json::from_slice(&output.stdout).unwrap();
        common::schema::check_document(&document);
        document["workers"].as_array().unwrap().iter().find(|one| one["name"] == name).cloned()
    }
}

fn finish(mut run: Program) -> String {
    let ended = run.wait(agon_test_servers::WAIT_TIMEOUT);
    assert!(ended.is_some_and(|status| status.success()), "{}", run.log_text());
    run.log_text()
}

#[test]
fn worker_without_python_is_refused_and_reported_and_plays_nothing() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let cluster = Cluster::new(&format!("{COMPETITION}{PYTHON_CUP}"));
    let wrote = Command::new(env!("CARGO_BIN_EXE_agon"))
        .args(["new", "connect-five", "mine"])
        .current_dir(cluster.folder.path())
        .output()
        .unwrap();
    assert!(wrote.status.success(), "{}", String::from_utf8_lossy(&wrote.stderr));
    let broken = cluster.worker("broken").with("AGON_PYTHON", "/no/such/python").start();
    wait_until("the broken worker is connected", || broken.log_text().contains("connected to"));
    let run = cluster.run(&[]);
    wait_until("the organiser is told", || {
        let text = run.log_text();
        text.contains("worker broken") && text.contains("/no/such/python")
    });
    wait_until("the worker is listed as refused, with the reason", || {
        cluster.listed("broken").is_some_and(|one| {
            one["state"] == "refused" && one["refused"].to_string().contains("/no/such/python")
        })
    });
    let good = cluster.worker("good").start();
    finish(run);
    let failed = cluster.listed("broken").unwrap()["failed"].as_u64().unwrap();
    assert!(failed <= 1, "it took {failed} jobs: {}", broken.log_text());
    drop((good, broken));
}

#[test]
fn worker_waits_for_a_server_that_starts_later() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let mut cluster = Cluster::new(COMPETITION);
    cluster.nats.kill();
    let mut worker = cluster.worker("early").start();
    wait_until("it says that it waits", || worker.log_text().contains("trying again for 60 s"));
    assert_eq!(worker.ended(), None);
    cluster.nats.restart();
    wait_until("it is connected", || worker.log_text().contains("worker early connected to"));
}

#[test]
fn killed_worker_is_listed_as_lost_and_its_matches_wait_if_it_was_the_only_one() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let cluster = Cluster::new(COMPETITION);
    let run = cluster.run(&[]);
    let mut only = cluster.worker("only").start();
    wait_until("it plays", || run.log_text().contains("worker only joined"));
    only.kill();
    // A match may have ended before, but not all.
    wait_until("it is listed as lost", || {
        run.log_text().contains("table published")
            || cluster.listed("only").is_some_and(|one| one["state"] == "lost")
    });
    let text = run.log_text();
    if !text.contains("table published") {
        wait_until("the organiser is told what happens", || {
            run.log_text().contains("no other worker is connected, so its matches wait")
        });
        assert!(!run.log_text().contains("other workers play its matches"), "{}", run.log_text());
    }
    let next = cluster.worker("next").start();
    finish(run);
    drop(next);
}

#[test]
fn outage_of_the_server_is_reported_by_the_run_and_no_worker_is_called_lost() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let mut cluster = Cluster::new(COMPETITION);
    let run = cluster.run(&[]);
    wait_until("the run waits for workers", || run.log_text().contains("League"));
    cluster.nats.kill();
    wait_until("the outage is reported", || run.log_text().contains("does not answer since"));
    assert!(run.log_text().contains("reconnecting"), "{}", run.log_text());
    cluster.nats.restart();
    wait_until("its end is reported", || run.log_text().contains("is back after"));
    let worker = cluster.worker("w1").start();
    let text = finish(run);
    assert!(!text.contains("sends no heartbeats any more"), "{text}");
    drop(worker);
}

#[test]
fn metrics_of_a_run_tell_matches_workers_and_connections() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let cluster = Cluster::new(COMPETITION);
    let run = cluster.run(&["--metrics", "127.0.0.1:0"]);
    let address = || {
        let text = run.log_text();
        let rest = text.split_once("metrics at http://")?.1;
        Some(rest.split_once("/metrics")?.0.to_owned())
    };
    wait_until("the address is printed", || address().is_some());
    let scrape = |path: &str| {
        let mut client = TcpStream::connect(address().unwrap()).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        client.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).unwrap();
        let mut text = String::new();
        client.read_to_string(&mut text).unwrap();
        text
    };
    let has = |line: &str| scrape("/metrics").lines().any(|one| one == line);
    wait_until("the phase has started", || has("agon_run_phase 1"));
    for line in ["agon_nats_up 1", "agon_run_matches_total 0", "agon_run_matches_expected 12"] {
        assert!(has(line), "{line} is missing in {}", scrape("/metrics"));
    }
    assert!(scrape("/metrics").starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"));
    assert!(scrape("/other").starts_with("HTTP/1.1 404 "));
    let worker = cluster.worker("w1").start();
    finish(run);
    drop(worker);
}
