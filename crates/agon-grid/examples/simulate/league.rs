//! A league with simulated workers, for a while: what it came to, and what each part spent on it.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use agon_grid::coordinator::{Coordinator, CoordinatorOptions};
use agon_grid::{NatsConnection, NatsOptions};
use agon_rig::{Nats, Postgres};
use agon_runner::{ActiveMatches, Event, Listener, StopFlag};
use agon_store::{ConfigVersion, NewLedger, PostgresLedger, SecretSeed, Timestamp};
use agon_venue::Sitting;
use agon_venue::competing::play::{Means, carry_out};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::{field, usage};

/// Bots of the league, and matches of each: four meet in a match, so these are a million matches.
const BOTS: usize = 500;
const MATCHES: u64 = 8_000;

/// How long is not looked at, and how long is.
#[derive(Clone, Copy)]
pub struct Span {
    pub warm: Duration,
    pub long: Duration,
}

/// Seconds of processor time of each part.
#[derive(Clone, Copy, Default)]
pub struct Spent {
    pub coordinator: f64,
    /// The thread of the coordinator that keeps results.
    pub run: f64,
    pub postgres: f64,
    pub nats: f64,
    pub workers: f64,
}

/// What came of it.
pub struct Row {
    pub workers: usize,
    pub mean: Duration,
    pub seconds: f64,
    /// A second.
    pub games: f64,
    pub jobs: f64,
    pub spent: Spent,
    /// Seconds until a job came, and until a receipt did: median, 95th of a hundred.
    pub waits: (f64, f64),
    pub receipts: (f64, f64),
}

impl Row {
    /// Games a second that the workers could play.
    pub fn offered(&self) -> f64 {
        self.workers as f64 / self.mean.as_secs_f64()
    }
}

/// Counts what is in the ledger.
struct Counter<'c>(&'c AtomicU64);

impl Listener for Counter<'_> {
    fn event(&mut self, event: &Event<'_>) {
        if matches!(event, Event::Match { .. }) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

pub fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A league of 500 bots in a folder.
pub fn sitting(folder: &Path) -> Sitting {
    let mut text = format!(
        "name = \"Simulated\"\ngame = \"solitude-scramble\"\nseed = \"simulated\"\n\n[[phase]]\nname = \"All\"\nformat = \"groups\"\nmatches = {MATCHES}\n"
    );
    for bot in 0..BOTS {
        write!(text, "\n[[entrant]]\nname = \"bot {bot}\"\nbot = \"house:left\"\n").unwrap();
    }
    let file = folder.join("simulated.toml");
    std::fs::write(&file, text).unwrap();
    Sitting::read(&file).unwrap()
}

/// Its ledger, in a database that nobody else uses.
pub async fn ledger(sitting: &Sitting, url: &str) -> PostgresLedger {
    let (competition, info) = (&sitting.competition, sitting.table.info());
    let normal = competition.normalised().to_string();
    let founding = NewLedger {
        name: competition.name.clone(),
        game: info.id.to_owned(),
        rules: info.rules_version,
        engine: env!("CARGO_PKG_VERSION").to_owned(),
        edition: ConfigVersion { file: sitting.text.clone(), normal, at: Timestamp::now() },
        phases: 1,
        secret: SecretSeed::new("simulated"),
    };
    PostgresLedger::create(url, "simulated", &founding).await.unwrap()
}

/// So many workers whose games take so long.
pub fn play(postgres: &Postgres, workers: usize, mean: Duration, span: Span) -> Row {
    let (folder, nats, database) = (tempfile::tempdir().unwrap(), Nats::start(), postgres.database());
    let (sitting, runtime) = (sitting(folder.path()), runtime());
    let ledger = runtime.block_on(ledger(&sitting, &database.url));
    let options = NatsOptions { url: nats.url(), name: "coordinator".to_owned(), ..NatsOptions::default() };
    let link = runtime.block_on(NatsConnection::connect(&options)).unwrap();
    // Nothing is played again: what comparisons cost is their share of the games, and known.
    let options = CoordinatorOptions { checked: 0.0, ..CoordinatorOptions::default() };
    let fleet = Coordinator::open(link, runtime.handle().clone(), &sitting, &ledger, options).unwrap();
    let (stop, kept, thread_id) = (StopFlag::new(), AtomicU64::new(0), AtomicU32::new(0));
    let mut crowd = Command::new(std::env::current_exe().unwrap());
    crowd.args(["workers", &nats.url(), &workers.to_string(), &mean.as_micros().to_string()]);
    crowd.args([span.warm.as_secs().to_string(), (span.warm + span.long).as_secs().to_string()]);
    let crowd = crowd.stdout(Stdio::piped()).spawn().unwrap();
    let (seconds, games, spent) = thread::scope(|scope| {
        scope.spawn(|| {
            thread_id.store(usage::this_thread(), Ordering::Relaxed);
            let (executor, boards) = (&fleet, ActiveMatches::default());
            let means = Means { runtime: &runtime, executor, stop: &stop, boards };
            carry_out(&sitting, &ledger, means, &mut Counter(&kept), &mut |_| {}).unwrap();
        });
        sleep(span.warm);
        let spent = || Spent {
            coordinator: usage::own(std::process::id()),
            run: usage::thread(thread_id.load(Ordering::Relaxed)),
            postgres: usage::processor(postgres.pid().unwrap()),
            nats: usage::processor(nats.pid().unwrap()),
            workers: usage::processor(crowd.id()),
        };
        let (from, begun, before) = (kept.load(Ordering::Relaxed), Instant::now(), spent());
        sleep(span.long);
        let (seconds, after) = (begun.elapsed().as_secs_f64(), spent());
        let games = kept.load(Ordering::Relaxed) - from;
        stop.request();
        (seconds, games, after.less(before))
    });
    let said = crowd.wait_with_output().unwrap();
    let said: Value = serde_json::from_slice(&said.stdout).unwrap();
    let pair = |name: &str| (said[name][0].as_f64().unwrap_or(0.0), said[name][1].as_f64().unwrap_or(0.0));
    let (waits, receipts) = (pair("waits"), pair("receipts"));
    let jobs = said["jobs"].as_f64().unwrap_or(0.0);
    Row { workers, mean, seconds, games: games as f64 / seconds, jobs, spent, waits, receipts }
}

impl Spent {
    fn less(self, before: Self) -> Self {
        Self {
            coordinator: self.coordinator - before.coordinator,
            run: self.run - before.run,
            postgres: self.postgres - before.postgres,
            nats: self.nats - before.nats,
            workers: self.workers - before.workers,
        }
    }
}

/// The process of the simulated workers: address, how many, microseconds a game, seconds not to be counted, seconds in all.
pub fn workers(words: &[String]) {
    let number = |place: usize| words[place].parse::<u64>().unwrap();
    let (count, mean) = (number(1) as usize, Duration::from_micros(number(2)));
    let (warm, all) = (Duration::from_secs(number(3)), Duration::from_secs(number(4)));
    let seen = runtime().block_on(field::work(&words[0], count, mean, warm, all));
    let figures = |times: &mut Vec<f32>| {
        times.sort_by(f32::total_cmp);
        let at = |share: f64| times.get((share * times.len() as f64) as usize).copied().unwrap_or(0.0);
        [at(0.5), at(0.95)]
    };
    let waits = figures(&mut seen.waits.lock().unwrap());
    let receipts = figures(&mut seen.receipts.lock().unwrap());
    let jobs = seen.jobs.load(Ordering::Relaxed) as f64 / (all.as_secs_f64() - warm.as_secs_f64());
    println!("{}", json!({ "waits": waits, "receipts": receipts, "jobs": jobs }));
}
