//! A competition of each kind (`tests/cups`), with Python bots behind the sandbox, by a coordinator and three workers: the table is that of one machine, to the
//! last byte, times left out; so is every game.
//!
//! It has a `main` of its own: bots are put behind the sandbox by the program itself, started again.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use agon_grid::worker::{Worker, WorkerOptions};
use agon_grid::{Fleet, FleetOptions, Link, NatsOptions};
use agon_league::Entrant;
use agon_rig::Nats;
use agon_runner::{Boards, Ended, Event, Executor, Listener, Local, Stop, tables};
use agon_store::{Ledger, MatchFilter};
use agon_venue::Sitting;
use agon_venue::competing::play::{Means, carry_out};
use agon_venue::sheets::{self, Format};
use futures_util::StreamExt as _;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// The last two hand arrays to their bots.
const CUPS: [&str; 5] = ["solitude", "connect", "word", "colour", "hide"];

fn main() {
    agon_host::sandbox::launch_if_asked();
    if agon_rig::missing() {
        return;
    }
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
    if std::env::var_os("AGON_PYTHON").is_none() && own.exists() {
        // Everything reads it from the environment, which must not change while threads run.
        let again =
            std::process::Command::new(std::env::current_exe().unwrap()).env("AGON_PYTHON", own).status();
        std::process::exit(again.unwrap().code().unwrap_or(1));
    }
    let arrays = has_arrays();
    let nats = Nats::start();
    let place = tempfile::tempdir().unwrap();
    let workers: Vec<Hired> =
        ["ada", "bea", "cid"].map(|name| Hired::start(&nats, name, place.path())).into();
    for cup in CUPS.into_iter().take(if arrays { 5 } else { 3 }) {
        let begun = Instant::now();
        let one = one_machine(cup);
        let alone = begun.elapsed();
        let many = many_machines(cup, &nats);
        assert_eq!(one.tables, many.tables, "{cup}: the table");
        assert_eq!(one.games, many.games, "{cup}: the games");
        assert_eq!(one.kept, many.kept, "{cup}: what bots keep");
        let took = [alone, begun.elapsed().saturating_sub(alone)].map(|took| took.as_secs_f64());
        println!("test {cup} ... ok ({} matches, {:.1} s and {:.1} s)", one.games.len(), took[0], took[1]);
    }
    for worker in workers {
        worker.leave();
    }
    if !arrays {
        println!("skipped: no Python with NumPy; `make setup` makes one");
    }
}

fn has_arrays() -> bool {
    let python = std::env::var_os("AGON_PYTHON").unwrap_or_else(|| "python3".into());
    std::process::Command::new(python)
        .args(["-c", "import numpy"])
        .output()
        .is_ok_and(|output| output.status.success())
}

/// What a competition came to.
struct Came {
    tables: Vec<String>,
    /// Every match's place, with the digests of its games.
    games: Vec<(u32, u32, u64, String)>,
    /// What bots keep at the end, by its hash.
    kept: Vec<String>,
}

struct Quiet;

impl Listener for Quiet {
    fn event(&mut self, _: &Event<'_>) {}
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A folder with the competitions and their bots.
fn cups() -> TempDir {
    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
            let (path, to) = (entry.path(), to.join(entry.file_name()));
            if path.is_dir() {
                copy(&path, &to);
            } else {
                fs::copy(&path, to).unwrap();
            }
        }
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cups"), folder.path());
    folder
}

fn one_machine(cup: &str) -> Came {
    let (home, runtime) = (cups(), runtime());
    let sitting = Sitting::read(&home.path().join(format!("{cup}.toml"))).unwrap();
    let ledger = runtime.block_on(sitting.ledger()).unwrap();
    carried_out(&sitting, &ledger, &runtime, &Local { jobs: 2, pin: true })
}

fn many_machines(cup: &str, nats: &Nats) -> Came {
    let (home, runtime) = (cups(), runtime());
    let sitting = Sitting::read(&home.path().join(format!("{cup}.toml"))).unwrap();
    let ledger = runtime.block_on(sitting.ledger()).unwrap();
    let options = NatsOptions { url: nats.url(), name: "coordinator".to_owned(), ..NatsOptions::default() };
    let link = runtime.block_on(Link::connect(&options)).unwrap();
    let options = FleetOptions {
        checked: 0.2,
        lease: Duration::from_secs(5),
        batch: Duration::from_millis(200),
        ..FleetOptions::default()
    };
    let fleet = Fleet::open(link, runtime.handle().clone(), &sitting, &ledger, options).unwrap();
    let came = carried_out(&sitting, &ledger, &runtime, &fleet);
    assert!(fleet.aside().is_empty(), "{:?}", fleet.aside());
    came
}

fn carried_out(sitting: &Sitting, ledger: &dyn Ledger, runtime: &Runtime, executor: &dyn Executor) -> Came {
    // The ledger is waited for.
    let waiting = Builder::new_current_thread().enable_all().build().unwrap();
    let means = Means { runtime: &waiting, executor, stop: &Stop::new(), boards: Boards::default() };
    let ended = carry_out(sitting, ledger, means, &mut Quiet, &mut |_| {});
    assert_eq!(ended.map_err(|failure| failure.message), Ok(Ended::Over));
    runtime.block_on(async {
        let mut came = Came { tables: Vec::new(), games: Vec::new(), kept: Vec::new() };
        for phase in 0..sitting.competition.phases.len() as u32 {
            let standings = tables::standings_of(ledger, &sitting.competition, sitting.table.info(), phase)
                .await
                .unwrap();
            came.tables.push(sheets::render(&standings, Format::Json, false, None));
            let mut matches = ledger.matches(phase, MatchFilter::default());
            while let Some(one) = matches.next().await {
                let one = one.unwrap();
                let digests: Vec<String> = one.games.iter().map(ToString::to_string).collect();
                let key = one.result.key;
                came.games.push((key.phase, key.stage, key.number, digests.join(" ")));
            }
            for entrant in 0..sitting.competition.entrants.len() as u32 {
                let data = ledger.data_before(Entrant(entrant), phase, u32::MAX).await;
                came.kept.extend(data.unwrap().map(|(_, data)| data.hash.to_string()));
            }
        }
        came.games.sort();
        came
    })
}

/// A worker in this process.
struct Hired {
    stop: Arc<Stop>,
    thread: thread::JoinHandle<()>,
}

impl Hired {
    fn start(nats: &Nats, name: &str, place: &Path) -> Self {
        let stop = Arc::new(Stop::new());
        let cache: PathBuf = place.join(name);
        let link = NatsOptions { url: nats.url(), name: name.to_owned(), ..NatsOptions::default() };
        let options =
            WorkerOptions { cores: 1, cache, speed: Some(1.0), ..WorkerOptions::new(name.to_owned()) };
        let listens = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let runtime = runtime();
            let link = runtime.block_on(Link::connect(&link)).unwrap();
            Worker::run(link, &runtime, options, &listens, &|news| println!("{news}")).unwrap();
        });
        Self { stop, thread }
    }

    fn leave(self) {
        self.stop.ask();
        self.thread.join().unwrap();
    }
}
