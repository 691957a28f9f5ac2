//! `kill -9` at any moment: the ledger is whole, nothing that was acknowledged is missing, nothing is there twice.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout, reason = "tests")]

mod common;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use agon_core::QuickRng;
use agon_store::{FinishedMatch, Ledger as _, MatchFilter, Snapshot, SqliteLedger, StoreError, Timestamp};
use common::{SMALL, finished, founding, key, run};
use futures_util::TryStreamExt as _;
use tempfile::TempDir;

const KILLS: u64 = 20;

#[test]
fn nothing_acknowledged_is_lost_and_nothing_is_there_twice() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("cup.ledger");
    run(async {
        let ledger = SqliteLedger::create(&path, &founding(1)).await.unwrap();
        ledger.start(0, Timestamp(0)).await.unwrap();
        ledger.disconnect().await.unwrap();
    });
    let mut rng = QuickRng::new(20);
    let mut acknowledged = 0;
    for _ in 0..KILLS {
        let mut child = appender(&path);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        // Some batches, and a moment in the middle of another.
        let batches = 1 + rng.below(12);
        let mut told = lines.by_ref().filter_map(|line| line.strip_prefix("kept ")?.parse::<u64>().ok());
        acknowledged = told.by_ref().take(batches as usize).last().unwrap();
        std::thread::sleep(Duration::from_micros(rng.below(3_000).into()));
        child.kill().unwrap();
        // What was said in the last moment counts too.
        acknowledged = told.last().unwrap_or(acknowledged);
        child.wait().unwrap();
        run(look(&path, acknowledged));
    }
    assert!(acknowledged > 2 * KILLS);
}

/// This program again, in its other role.
fn appender(path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_one_that_is_killed", "--ignored", "--nocapture"])
        .env("LEDGER", path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

async fn look(path: &Path, acknowledged: u64) {
    let ledger = SqliteLedger::open(path).await.unwrap();
    // The claim of the dead is nobody's.
    let claim = ledger.claim().await.unwrap();
    assert_eq!(ledger.check().await.unwrap(), Vec::<String>::new());
    let progress = ledger.progress(0).await.unwrap();
    let done = progress.stages[0].len();
    assert!(done >= acknowledged, "{done} are there, {acknowledged} were acknowledged");
    assert_eq!(progress.stages[0].gaps(done).count(), 0, "batches are whole");
    let covered = progress.snapshot.map_or(0, |bytes| u64::from_le_bytes(bytes.try_into().unwrap()));
    assert_eq!(covered + progress.after.len() as u64, done, "snapshot and matches are one transaction");
    assert_eq!(ledger.counts(0).await.unwrap().matches, done);
    let matches: Vec<_> = ledger.matches(0, MatchFilter::default()).try_collect().await.unwrap();
    assert_eq!(matches.len() as u64, done);
    for (number, kept) in matches.iter().enumerate() {
        assert_eq!(kept.result, finished(key(0, 0, number as u64), SMALL).result);
    }
    drop(claim);
    ledger.disconnect().await.unwrap();
}

/// Goes on where the ledger ends, in batches of changing size; says how many are kept after each.
#[test]
#[ignore = "run, and killed, by the test above"]
fn the_one_that_is_killed() {
    let Some(path) = std::env::var_os("LEDGER").map(PathBuf::from) else { return };
    run(async {
        let ledger = SqliteLedger::open(&path).await.unwrap();
        let _claim = ledger.claim().await.unwrap();
        let second = SqliteLedger::open(&path).await.unwrap().claim().await;
        assert!(matches!(second, Err(StoreError::Running { .. })));
        let progress = ledger.progress(0).await.unwrap();
        let mut done = progress.stages.first().map_or(0, agon_store::Ranges::len);
        let mut rng = QuickRng::new(done);
        loop {
            // Some of them once more, as whoever did not hear the answer does.
            let again = done.min(rng.below(3).into());
            let until = done + 1 + u64::from(rng.below(40));
            let batch: Vec<FinishedMatch> =
                (done - again..until).map(|number| finished(key(0, 0, number), SMALL)).collect();
            let snapshot =
                (rng.below(4) == 0).then(|| Snapshot { phase: 0, bytes: until.to_le_bytes().to_vec() });
            let appended = ledger.append(&batch, snapshot.as_ref()).await.unwrap();
            assert_eq!((appended.new, appended.known), (until - done, again));
            done = until;
            println!("kept {done}");
            std::io::stdout().flush().unwrap();
        }
    });
}
