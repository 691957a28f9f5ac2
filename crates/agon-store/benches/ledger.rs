//! Cost of storing results: appending, and opening a ledger of a million matches.
//! `make bench`, or `cargo bench -p agon-store --bench ledger`.
//!
//! Each cost is wall time and CPU time of all threads; on a busy machine the CPU time says more. The benchmark never fails: it only
//! marks figures beyond their bound.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that prints its results"
)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use agon_league::Entrant;
use agon_store::{
    FinishedMatch, Ledger, MatchFilter, MatchOrder, PostgresLedger, Snapshot, SqliteLedger, Timestamp,
};
use agon_test_servers::Postgres;
use common::{Shape, finished, key};
use futures_util::TryStreamExt as _;

/// Rounds of each measurement; the median counts.
const ROUNDS: usize = 9;
/// Games with a record, as in Solitude Scramble.
const SOLITUDE: Shape = Shape { entrants: 60, seats: 4, games: 1, record: 700, faulty: 0 };
/// Results without records, of a large league.
const RESULTS: Shape = Shape { entrants: 2_000, seats: 4, games: 1, record: 0, faulty: 1_000 };
const MILLION: u64 = 1_000_000;
/// Matches from one snapshot to the next.
const SNAPSHOT: u64 = 5_000;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    // `cargo test --benches` runs this with `--test`: only the build is checked then.
    if args.iter().any(|arg| arg == "--test") {
        return;
    }
    if let [_, role, path] = &args[..]
        && role == "--reopen"
    {
        return common::run(reopen(Path::new(path)));
    }
    let folder = tempfile::tempdir().unwrap();
    println!("{:<58} {:>18} {:>18} {:>18}", "measurement", "bound", "measured", "CPU time");
    for (size, bound) in [(1, f64::NAN), (16, f64::NAN), (64, 25.0), (256, 25.0)] {
        let path = folder.path().join(format!("{size}.ledger"));
        let spent = common::run(async {
            let ledger = SqliteLedger::create(path, &common::new_ledger(1)).await.unwrap();
            appending(&ledger, size).await
        });
        spent.row(&format!("a game with a 700-byte record, {size} at once"), bound);
    }
    if Postgres::is_installed() {
        // The CPU time of the server is not measured: only the first column is complete.
        let url = Postgres::shared().database().url;
        for size in [1, 16, 64, 256, 1024] {
            let spent = common::run(async {
                let slug = format!("cup-{size}");
                let ledger = PostgresLedger::create(&url, &slug, &common::new_ledger(1)).await.unwrap();
                appending(&ledger, size).await
            });
            spent.row(&format!("the same in PostgreSQL on this machine, {size} at once"), f64::NAN);
        }
    }
    let path = folder.path().join("million.ledger");
    common::run(append_million(&path)).row("a match of a million, 2,000 entrants, 1,000 at once", 25.0);
    let mib = std::fs::metadata(&path).unwrap().len() as f64 / f64::from(1 << 20);
    row("the file of a million results", f64::NAN, " MiB", mib);
    // In a separate process, to measure its memory.
    let output = Command::new(&args[0]).arg("--reopen").arg(&path).output().unwrap();
    print!("{}", String::from_utf8_lossy(&output.stdout));
}

/// Cost in seconds.
#[derive(Clone, Copy, Default)]
struct Spent {
    wall: f64,
    processor: f64,
}

impl Spent {
    /// Starts a measurement.
    fn start() -> (Instant, f64) {
        (Instant::now(), processor())
    }

    fn since((wall, before): (Instant, f64)) -> Self {
        Self { wall: wall.elapsed().as_secs_f64(), processor: processor() - before }
    }

    fn row(self, what: &str, bound: f64) {
        let bound_text = if bound.is_nan() { String::new() } else { format!("{bound:.3} us") };
        let mark = if 1e6 * self.wall > bound { "  BEYOND" } else { "" };
        let (wall, processor) = (1e6 * self.wall, 1e6 * self.processor);
        println!("{what:<58} {bound_text:>18} {wall:>15.3} us {processor:>15.3} us{mark}");
    }
}

/// CPU time of this process in seconds.
fn processor() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn row(what: &str, bound: f64, unit: &str, measured: f64) {
    let show = |x: f64| match x {
        _ if x.is_nan() => String::new(),
        _ if x >= 100.0 => format!("{x:.0}{unit}"),
        _ => format!("{x:.3}{unit}"),
    };
    let mark = if measured > bound { "  BEYOND" } else { "" };
    println!("{what:<58} {:>18} {:>18}{mark}", show(bound), show(measured));
}

/// Cost of a game: the median round.
async fn appending(ledger: &dyn Ledger, size: usize) -> Spent {
    ledger.start_phase(0, Timestamp(0)).await.unwrap();
    let games = if size == 1 { 500 } else { 4_096 };
    let mut times = Vec::new();
    for round in 0..=ROUNDS as u64 {
        let first = round * games;
        let matches: Vec<FinishedMatch> =
            (first..first + games).map(|number| finished(key(0, 0, number), SOLITUDE)).collect();
        let start = Spent::start();
        for batch in matches.chunks(size) {
            ledger.append(batch, None).await.unwrap();
        }
        times.push(Spent::since(start));
    }
    ledger.disconnect().await.unwrap();
    // The first round only warms up.
    let mut times = times.split_off(1);
    times.sort_by(|a, b| a.wall.total_cmp(&b.wall));
    let Spent { wall, processor } = times[ROUNDS / 2];
    Spent { wall: wall / games as f64, processor: processor / games as f64 }
}

/// Cost of a match, including snapshots.
async fn append_million(path: &Path) -> Spent {
    let ledger = SqliteLedger::create(path, &common::new_ledger(1)).await.unwrap();
    ledger.start_phase(0, Timestamp(0)).await.unwrap();
    let mut sum = Spent::default();
    for first in (0..MILLION).step_by(1_000) {
        let batch: Vec<FinishedMatch> =
            (first..first + 1_000).map(|number| finished(key(0, 0, number), RESULTS)).collect();
        // No snapshot at the end: resuming reads most just before a snapshot.
        let due = (first + 1_000) % SNAPSHOT == 0 && first + 1_000 < MILLION;
        let snapshot = due.then(|| Snapshot { phase: 0, bytes: vec![7; 200 * RESULTS.entrants as usize] });
        let start = Spent::start();
        ledger.append(&batch, snapshot.as_ref()).await.unwrap();
        let spent = Spent::since(start);
        sum.wall += spent.wall;
        sum.processor += spent.processor;
    }
    ledger.disconnect().await.unwrap();
    Spent { wall: sum.wall / MILLION as f64, processor: sum.processor / MILLION as f64 }
}

/// Measures opening that ledger.
async fn reopen(path: &Path) {
    let start = Instant::now();
    let ledger = SqliteLedger::open(path).await.unwrap();
    let progress = ledger.progress(0).await.unwrap();
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(progress.played[0].len(), MILLION);
    assert_eq!(progress.results_after_snapshot.len() as u64, SNAPSHOT);
    row("opening it, with 5,000 matches after the snapshot", 0.3, " s", seconds);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kib: f64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    row("peak memory of that process", 200.0, " MiB", kib / 1024.0);

    let filter = MatchFilter {
        entrant: Some(Entrant(1_234)),
        order: MatchOrder::NewestFirst,
        limit: Some(50),
        ..MatchFilter::default()
    };
    let start = Instant::now();
    let page: Vec<_> = ledger.matches(0, filter).try_collect().await.unwrap();
    assert_eq!(page.len(), 50);
    row("the newest 50 matches of one entrant", f64::NAN, " ms", 1e3 * start.elapsed().as_secs_f64());
    let start = Instant::now();
    let read =
        ledger.matches(0, MatchFilter::default()).try_fold(0u64, async |sum, _| Ok(sum + 1)).await.unwrap();
    assert_eq!(read, MILLION);
    row("reading every match, each", f64::NAN, " us", 1e6 * start.elapsed().as_secs_f64() / read as f64);
}
