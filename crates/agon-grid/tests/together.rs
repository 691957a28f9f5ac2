//! A competition of each kind (`test-bots/competitions`) with Python bots in the sandbox, played by a coordinator and three workers. The table
//! (without times) and every game are the same as on one machine, to the byte. This also holds if bots keep data from match to match, if
//! the coordinator is restarted, and if all matches are revoked.
//!
//! This test has its own `main`, because the program starts itself again to put bots into the sandbox.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use agon_competition::LoadedCompetition;
use agon_competition::run::{RunContext, run_competition};
use agon_core::record::Recorder;
use agon_engine::Reporter;
use agon_engine::any_game::PlayError;
use agon_grid::worker::{MatchBackend, RealBackend, Worker, WorkerOptions};
use agon_grid::{Coordinator, CoordinatorOptions, NatsConnection, NatsOptions};
use agon_league::{Entrant, FixedPoint, MatchKey};
use agon_runner::{
    ActiveMatches, Executor, LoadedEntrant, LocalExecutor, MatchRunner, RunEvent, RunListener, RunOutcome,
    StopFlag, phase_results,
};
use agon_store::{FinishedMatch, Ledger, MatchFilter};
use agon_test_servers::Nats;
use futures_util::StreamExt as _;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// The last two need `NumPy`.
const COMPETITIONS: [&str; 5] = ["solitude", "connect", "word", "colour", "hide"];

fn main() {
    agon_host::sandbox::run_launcher_if_requested();
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
    if std::env::var_os("AGON_PYTHON").is_none() && own.exists() {
        // Everything reads this from the environment, which must not change while threads run.
        let again =
            std::process::Command::new(std::env::current_exe().unwrap()).env("AGON_PYTHON", own).status();
        std::process::exit(again.unwrap().code().unwrap_or(1));
    }
    let arrays = has_arrays();
    let nats = Nats::start();
    let place = tempfile::tempdir().unwrap();
    let workers: Vec<RunningWorker> =
        ["ada", "bea", "cid"].map(|name| RunningWorker::start(&nats, name, place.path())).into();
    for competition in COMPETITIONS.into_iter().take(if arrays { 5 } else { 3 }) {
        let begun = Instant::now();
        let one = one_machine(competition);
        let alone = begun.elapsed();
        many_machines(competition, &nats).is(&one, competition);
        if competition == "connect" {
            restart_with_bot_data_gives_the_same_result(&one);
            revoked_matches_leave_no_bot_data(&one);
        }
        let took = [alone, begun.elapsed().saturating_sub(alone)].map(|took| took.as_secs_f64());
        println!(
            "test {competition} ... ok ({} matches, {:.1} s and {:.1} s)",
            one.games.len(),
            took[0],
            took[1]
        );
    }
    for worker in workers {
        worker.leave();
    }
    if !arrays {
        agon_test_servers::cannot_run(agon_test_servers::Lacks::Setup, "no Python with NumPy in .venv");
    }
}

fn has_arrays() -> bool {
    let python = std::env::var_os("AGON_PYTHON").unwrap_or_else(|| "python3".into());
    std::process::Command::new(python)
        .args(["-c", "import numpy"])
        .output()
        .is_ok_and(|output| output.status.success())
}

/// Result of a competition.
struct CompetitionResult {
    tables: Vec<String>,
    /// All matches, with the digests of their games.
    games: Vec<(u32, u32, u64, String)>,
    /// Hash of each bot's data at the end.
    kept: Vec<String>,
}

impl CompetitionResult {
    fn is(&self, one: &Self, what: &str) {
        assert_eq!(one.tables, self.tables, "{what}: the table differs");
        assert_eq!(one.games, self.games, "{what}: the games differ");
        assert_eq!(one.kept, self.kept, "{what}: the bots' data differs");
    }
}

struct Quiet;

impl RunListener for Quiet {
    fn event(&mut self, _: &RunEvent<'_>) {}
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A folder with the competitions and their bots.
fn competitions() -> TempDir {
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
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-bots/competitions"), folder.path());
    folder
}

fn one_machine(competition: &str) -> CompetitionResult {
    let (home, runtime) = (competitions(), runtime());
    let loaded = LoadedCompetition::read(&home.path().join(format!("{competition}.toml"))).unwrap();
    let ledger = runtime.block_on(loaded.ledger()).unwrap();
    carried_out(&loaded, &ledger, &runtime, &LocalExecutor { jobs: 2, pin: true })
}

fn many_machines(competition: &str, nats: &Nats) -> CompetitionResult {
    let (home, runtime) = (competitions(), runtime());
    let loaded = LoadedCompetition::read(&home.path().join(format!("{competition}.toml"))).unwrap();
    let ledger = runtime.block_on(loaded.ledger()).unwrap();
    let options = NatsOptions { url: nats.url(), name: "coordinator".to_owned(), ..NatsOptions::default() };
    let link = runtime.block_on(NatsConnection::connect(&options)).unwrap();
    let options = CoordinatorOptions {
        cross_check_share: 0.2,
        lease: Duration::from_secs(5),
        target_job_duration: Duration::from_millis(200),
        ..CoordinatorOptions::default()
    };
    let fleet = Coordinator::open(link, runtime.handle().clone(), &loaded, &ledger, options).unwrap();
    let came = carried_out(&loaded, &ledger, &runtime, &fleet);
    assert!(fleet.unplayable().is_empty(), "{:?}", fleet.unplayable());
    came
}

/// A backend that counts matches, holds one until it is released, and falsifies one result.
#[derive(Default)]
struct TestBackend {
    plays: AtomicU32,
    holds: Option<u32>,
    lies: Option<u32>,
    is_holding: AtomicBool,
    is_released: AtomicBool,
}

impl MatchBackend for TestBackend {
    fn play<'p>(
        &self,
        runner: &MatchRunner<'_>,
        key: MatchKey,
        members: &[(Entrant, &LoadedEntrant)],
        seed: u64,
        recorder: &'p mut Recorder,
        reporter: Option<&'p mut (dyn Reporter + 'p)>,
    ) -> Result<FinishedMatch, PlayError> {
        let number = Some(self.plays.fetch_add(1, SeqCst));
        let mut played = RealBackend.play(runner, key, members, seed, recorder, reporter)?;
        if number == self.holds {
            self.is_holding.store(true, SeqCst);
            agon_test_servers::wait_until("the match is released", || self.is_released.load(SeqCst));
        }
        if number == self.lies {
            played.result.games[0].seats[0].score = FixedPoint::from_f64(99.0);
        }
        Ok(played)
    }
}

/// A coordinator that does not wait for current games when it is stopped.
fn coordinator(
    nats: &Nats,
    runtime: &Runtime,
    loaded: &LoadedCompetition,
    ledger: &dyn Ledger,
) -> Coordinator {
    let options = NatsOptions { url: nats.url(), name: "coordinator".to_owned(), ..NatsOptions::default() };
    let link = runtime.block_on(NatsConnection::connect(&options)).unwrap();
    let options = CoordinatorOptions {
        cross_check_share: 0.0,
        stop_timeout: Duration::from_millis(100),
        ..CoordinatorOptions::default()
    };
    Coordinator::open(link, runtime.handle().clone(), loaded, ledger, options).unwrap()
}

/// Runs the first matches, until this worker holds one.
fn run_until_held(dora: &TestBackend, loaded: &LoadedCompetition, ledger: &dyn Ledger, fleet: &Coordinator) {
    let (waiting, stop) = (Builder::new_current_thread().enable_all().build().unwrap(), StopFlag::new());
    let means = RunContext {
        runtime: &waiting,
        executor: fleet,
        stop: &stop,
        boards: ActiveMatches::default(),
        run_through: false,
    };
    let ended = thread::scope(|scope| {
        scope.spawn(|| {
            agon_test_servers::wait_until("dora holds a match", || dora.is_holding.load(SeqCst));
            stop.request();
        });
        run_competition(loaded, ledger, means, &mut Quiet, &mut |_| {})
    });
    assert_eq!(ended.map_err(|failure| failure.to_string()), Ok(RunOutcome::Stopped));
}

/// The matches that a worker holds when the coordinator stops are dropped and played again: none is lost or duplicated.
fn restart_with_bot_data_gives_the_same_result(one: &CompetitionResult) {
    let (nats, home, runtime, place) =
        (Nats::start(), competitions(), runtime(), tempfile::tempdir().unwrap());
    let loaded = LoadedCompetition::read(&home.path().join("connect.toml")).unwrap();
    let ledger = runtime.block_on(loaded.ledger()).unwrap();
    let hands = Arc::new(TestBackend { holds: Some(2), ..TestBackend::default() });
    let dora = RunningWorker::with(&nats, "dora", place.path(), Arc::clone(&hands) as Arc<dyn MatchBackend>);
    let fleet = coordinator(&nats, &runtime, &loaded, &ledger);
    run_until_held(&hands, &loaded, &ledger, &fleet);
    drop(fleet);
    assert_eq!(runtime.block_on(ledger.counts(0)).unwrap().matches, 2);
    let fleet = coordinator(&nats, &runtime, &loaded, &ledger);
    hands.is_released.store(true, SeqCst);
    carried_out(&loaded, &ledger, &runtime, &fleet).is(one, "restarted");
    assert_eq!(hands.plays.load(SeqCst) as usize, one.games.len() + 1, "exactly one match is played twice");
    assert_eq!(runtime.block_on(ledger.check()).unwrap(), Vec::<String>::new());
    dora.leave();
}

/// The worker that played everything so far is banned after a restart: bots start again with their submitted data.
fn revoked_matches_leave_no_bot_data(one: &CompetitionResult) {
    let (nats, home, runtime, place) =
        (Nats::start(), competitions(), runtime(), tempfile::tempdir().unwrap());
    let loaded = LoadedCompetition::read(&home.path().join("connect.toml")).unwrap();
    let ledger = runtime.block_on(loaded.ledger()).unwrap();
    let hands = Arc::new(TestBackend { holds: Some(4), lies: Some(5), ..TestBackend::default() });
    let dora = RunningWorker::with(&nats, "dora", place.path(), Arc::clone(&hands) as Arc<dyn MatchBackend>);
    let fleet = coordinator(&nats, &runtime, &loaded, &ledger);
    run_until_held(&hands, &loaded, &ledger, &fleet);
    drop(fleet);
    let fleet = coordinator(&nats, &runtime, &loaded, &ledger);
    hands.is_released.store(true, SeqCst);
    let eve = thread::scope(|scope| {
        let eve = scope.spawn(|| {
            agon_test_servers::wait_until("dora is banned", || fleet.stats().banned == 1);
            RunningWorker::start(&nats, "eve", place.path())
        });
        carried_out(&loaded, &ledger, &runtime, &fleet).is(one, "taken back");
        eve.join().unwrap()
    });
    let played = |name: &str| runtime.block_on(ledger.matches_played_by(0, name)).unwrap().len();
    assert_eq!((played("dora"), played("eve")), (0, one.games.len()));
    dora.leave();
    eve.leave();
}

fn carried_out(
    loaded: &LoadedCompetition,
    ledger: &dyn Ledger,
    runtime: &Runtime,
    executor: &dyn Executor,
) -> CompetitionResult {
    // A runtime that blocks on the ledger.
    let waiting = Builder::new_current_thread().enable_all().build().unwrap();
    let means = RunContext {
        runtime: &waiting,
        executor,
        stop: &StopFlag::new(),
        boards: ActiveMatches::default(),
        run_through: false,
    };
    let ended = run_competition(loaded, ledger, means, &mut Quiet, &mut |_| {});
    assert_eq!(ended.map_err(|failure| failure.to_string()), Ok(RunOutcome::Finished));
    runtime.block_on(async {
        let mut came = CompetitionResult { tables: Vec::new(), games: Vec::new(), kept: Vec::new() };
        for phase in 0..loaded.competition.phases.len() as u32 {
            let standings =
                phase_results::phase_standings(ledger, &loaded.competition, loaded.table.info(), phase)
                    .await
                    .unwrap();
            came.tables.push(format!("{:#}\n", standings.without_times().json()));
            let mut matches = ledger.matches(phase, MatchFilter::default());
            while let Some(one) = matches.next().await {
                let one = one.unwrap();
                let digests: Vec<String> = one.game_digests.iter().map(ToString::to_string).collect();
                let key = one.result.key;
                came.games.push((key.phase, key.stage, key.number, digests.join(" ")));
            }
            for entrant in 0..loaded.competition.entrants.len() as u32 {
                let data = ledger.data_folder_before(Entrant(entrant), phase, u32::MAX).await;
                came.kept.extend(data.unwrap().map(|(_, data)| data.hash.to_string()));
            }
        }
        came.games.sort();
        came
    })
}

/// A worker in this process.
struct RunningWorker {
    stop: Arc<StopFlag>,
    thread: thread::JoinHandle<()>,
}

impl RunningWorker {
    fn start(nats: &Nats, name: &str, place: &Path) -> Self {
        Self::with(nats, name, place, Arc::new(RealBackend))
    }

    fn with(nats: &Nats, name: &str, place: &Path, hands: Arc<dyn MatchBackend>) -> Self {
        let stop = Arc::new(StopFlag::new());
        let cache: PathBuf = place.join(name);
        let link = NatsOptions { url: nats.url(), name: name.to_owned(), ..NatsOptions::default() };
        let options = WorkerOptions {
            cores: 1,
            cache_folder: cache,
            backend: hands,
            speed: Some(1.0),
            ..WorkerOptions::new(name.to_owned())
        };
        let listens = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let runtime = runtime();
            let link = runtime.block_on(NatsConnection::connect(&link)).unwrap();
            Worker::run(link, &runtime, options, &listens, &|news| println!("{news}")).unwrap();
        });
        Self { stop, thread }
    }

    fn leave(self) {
        self.stop.request();
        self.thread.join().unwrap();
    }
}
