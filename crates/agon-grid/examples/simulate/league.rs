//! Runs a league with simulated workers for a while. Measures throughput, delays and the CPU time of each part.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use agon_competition::LoadedCompetition;
use agon_competition::run::{RunContext, run_competition};
use agon_grid::coordinator::{Coordinator, CoordinatorOptions};
use agon_grid::{NatsConnection, NatsOptions};
use agon_runner::{ActiveMatches, RunEvent, RunListener, StopFlag};
use agon_store::{ConfigVersion, NewLedger, PostgresLedger, SecretSeed, Timestamp};
use agon_test_servers::{Nats, Postgres};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::{simulated_workers, usage};

/// Bots of the league, and matches of each. With four bots per match these are a million matches.
const BOTS: usize = 500;
const MATCHES_PER_BOT: u64 = 8_000;

/// Durations of warm-up and measurement.
#[derive(Clone, Copy)]
pub struct Durations {
    pub warmup: Duration,
    pub measured: Duration,
}

/// CPU time of each part, in seconds.
#[derive(Clone, Copy, Default)]
pub struct CpuTime {
    pub coordinator: f64,
    /// Coordinator thread that stores results.
    pub run: f64,
    pub postgres: f64,
    pub nats: f64,
    pub workers: f64,
}

/// Result of a measurement.
pub struct Measurement {
    pub workers: usize,
    pub mean_game: Duration,
    pub seconds: f64,
    /// Per second.
    pub games: f64,
    pub jobs: f64,
    pub cpu: CpuTime,
    /// Seconds until a job was delivered and until a report was acknowledged: median and 95th percentile.
    pub waits: (f64, f64),
    pub acks: (f64, f64),
}

impl Measurement {
    /// Games per second that the workers could play.
    pub fn offered(&self) -> f64 {
        self.workers as f64 / self.mean_game.as_secs_f64()
    }
}

/// Counts the matches in the ledger.
struct Counter<'c>(&'c AtomicU64);

impl RunListener for Counter<'_> {
    fn event(&mut self, event: &RunEvent<'_>) {
        if matches!(event, RunEvent::MatchStored { .. }) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

pub fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Writes the league's file to a folder and loads it.
pub fn load_competition(folder: &Path) -> LoadedCompetition {
    let game = agon_engine::any_game(agon_games::infos()[0].id).unwrap();
    let (id, house_bot) = (game.info().id, game.house_bots()[0].name);
    let mut text = format!(
        "name = \"Simulated\"\ngame = \"{id}\"\nseed = \"simulated\"\n\n[[phase]]\nname = \"All\"\nformat = \"groups\"\nmatches = {MATCHES_PER_BOT}\n"
    );
    for bot in 0..BOTS {
        write!(text, "\n[[entrant]]\nname = \"bot {bot}\"\nbot = \"house:{house_bot}\"\n").unwrap();
    }
    let file = folder.join("simulated.toml");
    std::fs::write(&file, text).unwrap();
    LoadedCompetition::read(&file).unwrap()
}

/// Creates its ledger in an empty database.
pub async fn create_ledger(competition: &LoadedCompetition, url: &str) -> PostgresLedger {
    let (config, info) = (&competition.competition, competition.table.info());
    let normalised = config.normalised().to_string();
    let founding = NewLedger {
        name: config.name.clone(),
        game: info.id.to_owned(),
        rules: info.rules_version,
        engine: env!("CARGO_PKG_VERSION").to_owned(),
        config: ConfigVersion { text: competition.text.clone(), normalised, at: Timestamp::now() },
        phases: 1,
        secret: SecretSeed::new("simulated"),
    };
    PostgresLedger::create(url, "simulated", &founding).await.unwrap()
}

/// Measures a league with this number of workers and mean game length.
pub fn run_league(
    postgres: &Postgres,
    workers: usize,
    mean_game: Duration,
    durations: Durations,
) -> Measurement {
    let (folder, nats, database) = (tempfile::tempdir().unwrap(), Nats::start(), postgres.database());
    let (competition, runtime) = (load_competition(folder.path()), runtime());
    let ledger = runtime.block_on(create_ledger(&competition, &database.url));
    let options = NatsOptions { url: nats.url(), name: "coordinator".to_owned(), ..NatsOptions::default() };
    let link = runtime.block_on(NatsConnection::connect(&options)).unwrap();
    // Without cross-checks: their cost is known, their share of the games.
    let options = CoordinatorOptions { cross_check_share: 0.0, ..CoordinatorOptions::default() };
    let coordinator =
        Coordinator::open(link, runtime.handle().clone(), &competition, &ledger, options).unwrap();
    let (stop, stored, thread_id) = (StopFlag::new(), AtomicU64::new(0), AtomicU32::new(0));
    let mut worker_process = Command::new(std::env::current_exe().unwrap());
    worker_process.args(["workers", &nats.url(), &workers.to_string(), &mean_game.as_micros().to_string()]);
    worker_process.args([
        durations.warmup.as_secs().to_string(),
        (durations.warmup + durations.measured).as_secs().to_string(),
    ]);
    let worker_process = worker_process.stdout(Stdio::piped()).spawn().unwrap();
    let (seconds, games, cpu) = thread::scope(|scope| {
        scope.spawn(|| {
            thread_id.store(usage::this_thread(), Ordering::Relaxed);
            let (executor, active_matches) = (&coordinator, ActiveMatches::default());
            let context = RunContext {
                runtime: &runtime,
                executor,
                stop: &stop,
                boards: active_matches,
                run_through: false,
            };
            run_competition(&competition, &ledger, context, &mut Counter(&stored), &mut |_| {}).unwrap();
        });
        sleep(durations.warmup);
        let cpu = || CpuTime {
            coordinator: usage::process_time(std::process::id()),
            run: usage::thread_time(thread_id.load(Ordering::Relaxed)),
            postgres: usage::process_tree_time(postgres.pid().unwrap()),
            nats: usage::process_tree_time(nats.pid().unwrap()),
            workers: usage::process_tree_time(worker_process.id()),
        };
        let (stored_before, started, cpu_before) = (stored.load(Ordering::Relaxed), Instant::now(), cpu());
        sleep(durations.measured);
        let (seconds, after) = (started.elapsed().as_secs_f64(), cpu());
        let games = stored.load(Ordering::Relaxed) - stored_before;
        stop.request();
        (seconds, games, after.since(cpu_before))
    });
    let output = worker_process.wait_with_output().unwrap();
    let output: Value = serde_json::from_slice(&output.stdout).unwrap();
    let pair =
        |name: &str| (output[name][0].as_f64().unwrap_or(0.0), output[name][1].as_f64().unwrap_or(0.0));
    let (waits, acks) = (pair("waits"), pair("receipts"));
    let jobs = output["jobs"].as_f64().unwrap_or(0.0);
    Measurement { workers, mean_game, seconds, games: games as f64 / seconds, jobs, cpu, waits, acks }
}

impl CpuTime {
    fn since(self, before: Self) -> Self {
        Self {
            coordinator: self.coordinator - before.coordinator,
            run: self.run - before.run,
            postgres: self.postgres - before.postgres,
            nats: self.nats - before.nats,
            workers: self.workers - before.workers,
        }
    }
}

/// Main function of the worker process. Arguments: URL, workers, microseconds per game, seconds of warm-up, seconds in total.
pub fn run_worker_process(args: &[String]) {
    let number = |place: usize| args[place].parse::<u64>().unwrap();
    let (count, mean_game) = (number(1) as usize, Duration::from_micros(number(2)));
    let (warmup, all) = (Duration::from_secs(number(3)), Duration::from_secs(number(4)));
    let stats = runtime().block_on(simulated_workers::run_workers(&args[0], count, mean_game, warmup, all));
    let percentiles = |times: &mut Vec<f32>| {
        times.sort_by(f32::total_cmp);
        let at = |share: f64| times.get((share * times.len() as f64) as usize).copied().unwrap_or(0.0);
        [at(0.5), at(0.95)]
    };
    let waits = percentiles(&mut stats.waits.lock().unwrap());
    let acks = percentiles(&mut stats.acks.lock().unwrap());
    let jobs = stats.jobs.load(Ordering::Relaxed) as f64 / (all.as_secs_f64() - warmup.as_secs_f64());
    println!("{}", json!({ "waits": waits, "receipts": acks, "jobs": jobs }));
}
