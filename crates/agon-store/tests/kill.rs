//! `kill -9` at any time: the ledger is intact, contains all acknowledged matches, and contains no match twice.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout, reason = "tests")]

mod common;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use agon_core::FastRng;
use agon_store::{FinishedMatch, Ledger as _, MatchFilter, Snapshot, SqliteLedger, StoreError, Timestamp};
use common::{SMALL, finished, key, new_ledger, run};
use futures_util::TryStreamExt as _;
use tempfile::TempDir;

const KILLS: u64 = 20;

#[test]
fn killed_writer_loses_no_acknowledged_match_and_stores_none_twice() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("cup.ledger");
    run(async {
        let ledger = SqliteLedger::create(&path, &new_ledger(1)).await.unwrap();
        ledger.start_phase(0, Timestamp(0)).await.unwrap();
        ledger.disconnect().await.unwrap();
    });
    let mut rng = FastRng::new(20);
    let mut acknowledged = 0;
    for _ in 0..KILLS {
        let mut child = appender(&path);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        // Kills the writer after some batches, in the middle of another.
        let batches = 1 + rng.below(12);
        let mut counts = lines.by_ref().filter_map(|line| line.strip_prefix("stored ")?.parse::<u64>().ok());
        acknowledged = counts.by_ref().take(batches as usize).last().unwrap();
        std::thread::sleep(Duration::from_micros(rng.below(3_000).into()));
        child.kill().unwrap();
        // Acknowledgements that arrived just before the kill count too.
        acknowledged = counts.last().unwrap_or(acknowledged);
        child.wait().unwrap();
        run(check_ledger(&path, acknowledged));
    }
    assert!(acknowledged > 2 * KILLS);
}

/// Starts this program again as the writer.
fn appender(path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "append_until_killed", "--ignored", "--nocapture"])
        .env("LEDGER", path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

async fn check_ledger(path: &Path, acknowledged: u64) {
    let ledger = SqliteLedger::open(path).await.unwrap();
    // The lock of a dead process is free.
    let run_lock = ledger.acquire_run_lock().await.unwrap();
    assert_eq!(ledger.check().await.unwrap(), Vec::<String>::new());
    let progress = ledger.progress(0).await.unwrap();
    let done = progress.played[0].len();
    assert!(done >= acknowledged, "{done} stored, {acknowledged} acknowledged");
    assert_eq!(progress.played[0].gaps(done).count(), 0, "batches are atomic");
    let covered = progress.snapshot.map_or(0, |bytes| u64::from_le_bytes(bytes.try_into().unwrap()));
    assert_eq!(
        covered + progress.results_after_snapshot.len() as u64,
        done,
        "snapshot and matches are one transaction"
    );
    assert_eq!(ledger.counts(0).await.unwrap().matches, done);
    let matches: Vec<_> = ledger.matches(0, MatchFilter::default()).try_collect().await.unwrap();
    assert_eq!(matches.len() as u64, done);
    for (number, kept) in matches.iter().enumerate() {
        assert_eq!(kept.result, finished(key(0, 0, number as u64), SMALL).result);
    }
    drop(run_lock);
    ledger.disconnect().await.unwrap();
}

/// Appends batches of varying size after the stored matches. Prints the number of stored matches after each.
#[test]
#[ignore = "run, and killed, by the test above"]
fn append_until_killed() {
    let Some(path) = std::env::var_os("LEDGER").map(PathBuf::from) else { return };
    run(async {
        let ledger = SqliteLedger::open(&path).await.unwrap();
        let _run_lock = ledger.acquire_run_lock().await.unwrap();
        let second = SqliteLedger::open(&path).await.unwrap().acquire_run_lock().await;
        assert!(matches!(second, Err(StoreError::AlreadyRunning { .. })));
        let progress = ledger.progress(0).await.unwrap();
        let mut done = progress.played.first().map_or(0, agon_store::Ranges::len);
        let mut rng = FastRng::new(done);
        loop {
            // Appends some stored matches again, like a caller that missed the acknowledgement.
            let again = done.min(rng.below(3).into());
            let until = done + 1 + u64::from(rng.below(40));
            let batch: Vec<FinishedMatch> =
                (done - again..until).map(|number| finished(key(0, 0, number), SMALL)).collect();
            let snapshot =
                (rng.below(4) == 0).then(|| Snapshot { phase: 0, bytes: until.to_le_bytes().to_vec() });
            let appended = ledger.append(&batch, snapshot.as_ref()).await.unwrap();
            assert_eq!((appended.new, appended.already_stored), (until - done, again));
            done = until;
            println!("stored {done}");
            std::io::stdout().flush().unwrap();
        }
    });
}
