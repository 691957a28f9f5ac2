//! The same league on this machine alone, and with one and two workers of one core each: `make bench`, or `cargo bench -p agon --bench
//! scaling`.
//!
//! Real processes of the program, a real nats-server and a real PostgreSQL share the same two cores, so the coordinator and the servers
//! take time from the workers. Local and distributed runs alternate, medians count, and only ratios are judged. Nothing here fails: a
//! figure beyond its bound is marked.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a program whose output is its purpose"
)]

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use agon_competition::LedgerLocation;
use agon_competition::LoadedCompetition;
use agon_store::MatchFilter;
use agon_test_servers::{Nats, Postgres, Program, ProgramConfig};
use futures_util::StreamExt as _;

/// Number of runs of each kind; the median counts.
const ROUNDS: usize = 5;
/// Target duration in seconds of a run with two workers.
const TARGET_RUN_SECONDS: f64 = 12.0;

fn main() {
    // `cargo test --benches` runs this with `--test`: only the build is checked then.
    if std::env::args().any(|arg| arg == "--test") {
        return;
    }
    let (nats, postgres) = (Nats::start(), Postgres::start());
    println!("{:<62} {:>12} {:>12}", "what", "bound", "measured");
    for (millis, beyond) in [(50.0, 5.0), (5.0, 15.0)] {
        let bench = Bench::new(millis, &nats, &postgres);
        let (mut alone, mut one, mut two) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            alone.push(bench.local(2));
            two.push(bench.distributed(2));
            one.push(bench.distributed(1));
        }
        let (alone, one, two) = (median(alone), median(one), median(two));
        let what = format!("games of {millis} ms");
        println!("  ({what}: {alone:.1} a second alone, {two:.1} with two workers, {one:.1} with one)");
        let mark = |bad: bool| if bad { "  BEYOND" } else { "" };
        let times = two / one;
        println!(
            "{:<62} {:>12} {:>12}{}",
            format!("{what}: two workers against one"),
            "1.9 x",
            format!("{times:.2} x"),
            mark(times < 1.9)
        );
        let more = 100.0 * (alone / two - 1.0);
        println!(
            "{:<62} {:>12} {:>12}{}",
            format!("{what}: what the distributed path adds, on the same two cores"),
            format!("{beyond:.0} %"),
            format!("{more:.1} %"),
            mark(more > beyond)
        );
    }
    short_league(&nats, &postgres);
}

/// A league of 2,400 games of 5 ms from the start of `agon run` to its end, with the default cross-checks.
fn short_league(nats: &Nats, postgres: &Postgres) {
    let bench = Bench::new(5.0, nats, postgres);
    bench.write(bench.rounds, 2400);
    let (mut alone, mut two) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        alone.push(bench.local_seconds());
        two.push(bench.distributed_seconds());
    }
    let (alone, two) = (median(alone), median(two));
    println!("  (2,400 games of 5 ms, whole run: {alone:.2} s alone, {two:.2} s with two workers)");
    println!(
        "{:<62} {:>12} {:>12}{}",
        "2,400 games of 5 ms, checked: two workers against --jobs 2",
        "1.15 x",
        format!("{:.2} x", two / alone),
        if two / alone > 1.15 { "  BEYOND" } else { "" }
    );
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

struct Bench<'b> {
    folder: tempfile::TempDir,
    /// Rounds of a game of the wanted duration.
    rounds: u32,
    nats: &'b Nats,
    postgres: &'b Postgres,
}

impl<'b> Bench<'b> {
    /// Games of about this duration: two planners of Colour Battle, whose thinking is counted, with as many rounds as that takes on this
    /// machine.
    fn new(millis: f64, nats: &'b Nats, postgres: &'b Postgres) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut bench = Self { folder, rounds: 0, nats, postgres };
        bench.write(1000, 200);
        let a_thousand = 1e3 / bench.local(1);
        bench.rounds = (1000.0 * millis / a_thousand).round() as u32;
        bench.write(bench.rounds, (TARGET_RUN_SECONDS * 2e3 / millis) as u32);
        bench
    }

    fn write(&self, rounds: u32, games: u32) {
        let mut text = format!(
            "name = \"Scaling\"\ngame = \"colour-battle\"\nseed = \"scaling\"\n\n[settings]\nrounds = {rounds}\n\n[[phase]]\nname = \"All\"\nformat = \"arena\"\ngames = {games}\n"
        );
        for name in ["one", "two"] {
            text += &format!("\n[[entrant]]\nname = \"{name}\"\nbot = \"house:planner\"\n");
        }
        fs::write(self.path(), text).unwrap();
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("scaling.toml")
    }

    fn start(&self, cores: &str, words: &[&str]) -> Program {
        let log = self.folder.path().join(format!("{}.log", words[0]));
        let words: Vec<&str> =
            ["-c", cores, env!("CARGO_BIN_EXE_agon")].iter().chain(words).copied().collect();
        ProgramConfig::new("taskset", &words, self.folder.path(), &log).start()
    }

    /// Games per second of a local run.
    fn local(&self, jobs: u32) -> f64 {
        let _ = fs::remove_file(self.path().with_extension("ledger"));
        let cores = if jobs == 1 { "0" } else { "0,1" };
        let run = self.start(cores, &["run", "scaling.toml", "--jobs", &jobs.to_string()]);
        finish(run);
        self.rate(&LedgerLocation::File, 0)
    }

    /// Duration of a whole local run.
    fn local_seconds(&self) -> f64 {
        let _ = fs::remove_file(self.path().with_extension("ledger"));
        let begun = Instant::now();
        finish(self.start("0,1", &["run", "scaling.toml", "--jobs", "2"]));
        begun.elapsed().as_secs_f64()
    }

    /// Duration of a whole run with two workers that wait for it, and the default cross-checks.
    fn distributed_seconds(&self) -> f64 {
        let _ = fs::remove_file(self.path().with_extension("ledger"));
        let workers = self.workers(2);
        agon_test_servers::wait_until("the workers are connected", || {
            // All workers write to the same log.
            workers[0].log_text().matches("worker started").count() == workers.len()
        });
        let begun = Instant::now();
        finish(self.start("0,1", &["run", "scaling.toml", "--nats", &self.nats.url()]));
        let seconds = begun.elapsed().as_secs_f64();
        stop(workers);
        seconds
    }

    /// Starts workers, each on a separate core.
    fn workers(&self, workers: usize) -> Vec<Program> {
        let nats = self.nats.url();
        (0..workers)
            .map(|worker| {
                let (name, core) = (format!("w{worker}"), worker.to_string());
                let cache = self.folder.path().join(&name);
                let cache = cache.to_str().unwrap();
                self.start(
                    &core,
                    &["worker", "--nats", &nats, "--name", &name, "--jobs", "1", "--cache", cache],
                )
            })
            .collect()
    }

    /// Games per second with this number of workers.
    fn distributed(&self, workers: usize) -> f64 {
        let (nats, database) = (self.nats.url(), self.postgres.database().url);
        let crowd = self.workers(workers);
        let run = self.start(
            "0,1",
            &["run", "scaling.toml", "--nats", &nats, "--database", &database, "--checked", "0"],
        );
        finish(run);
        stop(crowd);
        self.rate(&LedgerLocation::Database(database), workers)
    }

    /// Rate according to the ledger: for each worker from its first report to its last, so that the start of programs is not counted.
    fn rate(&self, place: &LedgerLocation, workers: usize) -> f64 {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let loaded = LoadedCompetition::read(&self.path()).unwrap();
        runtime.block_on(async {
            let ledger = loaded.ledger_to_read_at(place).await.unwrap();
            let mut ends = BTreeMap::new();
            let mut matches = ledger.matches(0, MatchFilter::default());
            while let Some(one) = matches.next().await {
                let one = one.unwrap();
                ends.insert(one.result.key, one.finished.0);
            }
            if workers == 0 {
                return one_rate(ends.into_values().collect());
            }
            let mut sum = 0.0;
            for worker in 0..workers {
                let own = ledger.matches_played_by(0, &format!("w{worker}")).await.unwrap();
                sum += one_rate(own.iter().map(|key| ends[key]).collect());
            }
            sum
        })
    }
}

/// Games per second of one worker with reports at these times (milliseconds).
fn one_rate(mut ends: Vec<i64>) -> f64 {
    ends.sort_unstable();
    let (first, last) = (ends[0], ends[ends.len() - 1]);
    // The matches of the first report were played before it.
    let since = ends.iter().filter(|&&end| end > first).count();
    since as f64 / ((last - first) as f64 / 1e3)
}

fn stop(workers: Vec<Program>) {
    for mut worker in workers {
        worker.terminate();
        assert!(worker.wait(Duration::from_secs(30)).is_some(), "{}", worker.log_text());
    }
}

fn finish(mut run: Program) {
    let begun = Instant::now();
    let ended =
        run.wait(Duration::from_mins(10)).unwrap_or_else(|| panic!("it does not end: {}", run.log_text()));
    assert!(ended.success(), "after {:?}: {}", begun.elapsed(), run.log_text());
}
