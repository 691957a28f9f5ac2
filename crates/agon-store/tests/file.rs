//! Ledger files: wrong files, damage, concurrent programs, full disk, missing permissions.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout, reason = "tests")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use agon_core::record::Digest;
use agon_store::{Ledger as _, MatchFilter, NewRuling, RulingKind, SqliteLedger, StoreError, Timestamp};
use common::{SMALL, Shape, finished, key, new_ledger, run};
use futures_util::TryStreamExt as _;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection};
use tempfile::TempDir;

/// A ledger with some matches, cleanly closed.
async fn ledger_in(folder: &Path) -> PathBuf {
    let path = folder.join("cup.ledger");
    let ledger = SqliteLedger::create(&path, &new_ledger(1)).await.unwrap();
    ledger.start_phase(0, Timestamp(0)).await.unwrap();
    let batch: Vec<_> = (0..300).map(|number| finished(key(0, 0, number), SMALL)).collect();
    ledger.append(&batch, None).await.unwrap();
    ledger.disconnect().await.unwrap();
    path
}

/// Opens the file with SQLite, as another program would.
async fn open_raw(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(path).create_if_missing(true).connect().await.unwrap()
}

async fn open_error(path: &Path) -> String {
    let read = SqliteLedger::open_to_read(path).await.unwrap_err().to_string();
    let written = SqliteLedger::open(path).await.unwrap_err().to_string();
    assert_eq!(read, written);
    let (what, hint) = written.split_once("\nhint: ").unwrap();
    assert!(!hint.is_empty());
    what.replace(path.to_str().unwrap(), "FILE")
}

#[test]
fn file_that_is_not_a_ledger_is_rejected_and_unchanged() {
    run(async {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("thing");
        assert_eq!(open_error(&path).await, "FILE: there is no ledger");
        assert_eq!(open_error(folder.path()).await, "FILE is not a ledger: it is a folder");
        fs::write(&path, "").unwrap();
        assert_eq!(open_error(&path).await, "FILE is not a ledger: it is empty or very short");
        fs::write(&path, "name = 'Autumn Cup'\n".repeat(20)).unwrap();
        assert_eq!(open_error(&path).await, "FILE is not a ledger: it is not an SQLite database");

        let path = folder.path().join("browser.db");
        let mut other = open_raw(&path).await;
        sqlx::raw_sql("CREATE TABLE history (page TEXT)").execute(&mut other).await.unwrap();
        other.close().await.unwrap();
        let before = fs::read(&path).unwrap();
        assert_eq!(
            open_error(&path).await,
            "FILE is not a ledger: it is an SQLite database of another program"
        );
        assert!(fs::read(&path).unwrap() == before, "it was changed");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no files beside it");
    });
}

#[test]
fn newer_ledger_is_rejected() {
    run(async {
        let folder = TempDir::new().unwrap();
        let path = ledger_in(folder.path()).await;
        let mut newer = open_raw(&path).await;
        sqlx::raw_sql("PRAGMA user_version = 7").execute(&mut newer).await.unwrap();
        // The new version is still in the `-wal` file, as after a newer Agon was killed.
        assert_eq!(
            open_error(&path).await,
            "FILE was written by a newer Agon (ledger version 7, supported: 5)"
        );
        newer.close().await.unwrap();
        assert!(open_error(&path).await.contains("newer Agon"));
    });
}

/// Rows of a ledger of version 1, with one running phase and one match.
const FIRST_VERSION_ROWS: &str = "
    INSERT INTO competition (id, name, game, rules, engine, commitment) VALUES (1, 'Old Cup', 'connect-five', 1, '0.1.0', zeroblob(32));
    INSERT INTO secret (id, seed) VALUES (1, 'old');
    INSERT INTO edition (at, file, normal) VALUES (1, 'name', '{}');
    INSERT INTO phase (phase, state, started, matches, games, last_match) VALUES (0, 'running', 1, 1, 0, 1);
    INSERT INTO bot (entrant, version, hash, spec, from_phase, submitted) VALUES (3, 1, 'h', 'house:left', 0, 1);
    INSERT INTO match (id, phase, stage, number, finished, entrants, faults, digest, points)
        VALUES (1, 0, 0, 0, 5, ' 3 ', 0, zeroblob(32), x'');
    PRAGMA application_id = 0x41676F6E;
    PRAGMA user_version = 1;";

#[test]
fn open_migrates_an_older_ledger() {
    run(async {
        for read_only in [false, true] {
            let folder = TempDir::new().unwrap();
            let path = folder.path().join("old.ledger");
            let mut old = open_raw(&path).await;
            sqlx::raw_sql(include_str!("../migrations/0001_ledger.sql")).execute(&mut old).await.unwrap();
            sqlx::raw_sql(FIRST_VERSION_ROWS).execute(&mut old).await.unwrap();
            old.close().await.unwrap();
            if read_only {
                let reader = SqliteLedger::open_to_read(&path).await.unwrap();
                assert_eq!(reader.rulings().await.unwrap(), []);
                reader.disconnect().await.unwrap();
            }
            let ledger = SqliteLedger::open(&path).await.unwrap();
            let phases = ledger.phases().await.unwrap();
            assert!(phases[0].rulings_at_start.is_empty() && phases[0].rulings_at_publication.is_empty());
            assert_eq!(ledger.counts(0).await.unwrap().matches, 1);
            for (id, kind) in
                [(1, RulingKind::Void(key(0, 0, 0))), (2, RulingKind::Disqualify(agon_league::Entrant(3)))]
            {
                let (reason, by) = ("it must be so".to_owned(), "Ada".to_owned());
                assert_eq!(
                    ledger.add_ruling(&NewRuling { kind, reason, by, at: Timestamp(9) }).await.unwrap(),
                    id
                );
            }
            assert_eq!(ledger.check().await.unwrap(), Vec::<String>::new());
        }
    });
}

#[test]
fn create_never_overwrites_a_file() {
    run(async {
        let folder = TempDir::new().unwrap();
        let path = ledger_in(folder.path()).await;
        let before = fs::read(&path).unwrap();
        let error = SqliteLedger::create(&path, &new_ledger(1)).await.unwrap_err();
        assert!(matches!(error, StoreError::Exists { .. }), "{error}");
        assert!(fs::read(&path).unwrap() == before);
        let nowhere =
            SqliteLedger::create(folder.path().join("no/such/cup.ledger"), &new_ledger(1)).await.unwrap_err();
        assert!(nowhere.to_string().contains("\nhint: choose a folder that exists"), "{nowhere}");
    });
}

#[test]
fn ledger_is_private_and_a_single_file_when_closed() {
    run(async {
        let folder = TempDir::new().unwrap();
        let path = ledger_in(folder.path()).await;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "it contains the seed");
        let names = || fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names(), 1);
        let reader = SqliteLedger::open_to_read(&path).await.unwrap();
        assert_eq!(reader.counts(0).await.unwrap().matches, 300);
        drop(reader.acquire_run_lock().await.unwrap());
        reader.disconnect().await.unwrap();
        let error =
            SqliteLedger::open_to_read(&path).await.unwrap().reveal_seed(Timestamp(1)).await.unwrap_err();
        assert!(error.to_string().contains("cannot be written: it was opened read-only\nhint: "), "{error}");
    });
}

#[test]
fn damage_is_detected_and_reported() {
    run(async {
        let folder = TempDir::new().unwrap();
        let path = ledger_in(folder.path()).await;
        let whole = fs::read(&path).unwrap();
        // Truncated, like an incomplete copy.
        fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        let cut = read_all(&path).await.unwrap_err();
        assert!(matches!(cut, StoreError::Damaged { .. }), "{cut}");
        assert!(cut.to_string().contains(".recover"), "{cut}");
        // Overwritten pages. Reading must report the damage or return the original data, and never panic.
        let (mut reported, pages) = (0, whole.len() / 4096);
        for page in 1..pages {
            let mut bytes = whole.clone();
            bytes[page * 4096..][..4096].fill(0xA5);
            fs::write(&path, &bytes).unwrap();
            let found = match read_all(&path).await {
                Err(error) => matches!(error, StoreError::Damaged { .. }),
                Ok(problems) => !problems.is_empty(),
            };
            reported += usize::from(found);
        }
        assert_eq!(reported, pages - 1, "of {pages} pages");
    });
}

/// Reads everything and returns the problems that `check` finds.
async fn read_all(path: &Path) -> Result<Vec<String>, StoreError> {
    let ledger = SqliteLedger::open_to_read(path).await?;
    ledger.competition().await?;
    ledger.progress(0).await?;
    let _: Vec<_> = ledger.matches(0, MatchFilter::default()).try_collect().await?;
    let _: Vec<_> = ledger.records(0, MatchFilter::default()).try_collect().await?;
    ledger.check().await
}

#[test]
fn triggers_reject_manual_changes_of_stored_rows() {
    run(async {
        let folder = TempDir::new().unwrap();
        let path = ledger_in(folder.path()).await;
        let ledger = SqliteLedger::open(&path).await.unwrap();
        ledger.publish_phase(0, Digest([1; 32]), &[], Timestamp(1)).await.unwrap();
        let ruling = NewRuling {
            kind: RulingKind::Void(key(0, 0, 3)),
            reason: "the power was cut".to_owned(),
            by: "Ada".to_owned(),
            at: Timestamp(1),
        };
        ledger.add_ruling(&ruling).await.unwrap();
        let mut connection = open_raw(&path).await;
        for attempt in [
            "UPDATE match SET points = x'00' WHERE id = 1",
            "DELETE FROM match WHERE id = 1",
            "UPDATE game SET seats = x'01'",
            "DELETE FROM game",
            "UPDATE record SET bytes = x'00'",
            "UPDATE phase SET state = 'running'",
            "UPDATE phase SET final = x'00'",
            "UPDATE secret SET seed = 'another'",
            "DELETE FROM ruling",
            "UPDATE ruling SET reason = 'another'",
            "UPDATE ruling SET lifted = 2, lifted_by = 'x', lifted_for = 'x', lifted_last_match = 2, entrant = 3",
            "INSERT INTO match SELECT 9999, phase, stage, 9999, finished, entrants, faults, digest, points FROM match LIMIT 1",
        ] {
            let error = sqlx::raw_sql(attempt).execute(&mut connection).await;
            assert!(error.is_err(), "{attempt}");
        }
    });
}

#[test]
fn readers_never_wait_and_a_second_writer_times_out() {
    run(async {
        let folder = TempDir::new().unwrap();
        let path = ledger_in(folder.path()).await;
        let mut other = open_raw(&path).await;
        sqlx::raw_sql("BEGIN IMMEDIATE; UPDATE phase SET closed = 1").execute(&mut other).await.unwrap();
        let ledger = SqliteLedger::open(&path).await.unwrap();
        assert_eq!(ledger.counts(0).await.unwrap().matches, 300);
        assert_eq!(ledger.progress(0).await.unwrap().results_after_snapshot.len(), 300);
        let error = ledger.append(&[finished(key(0, 0, 300), SMALL)], None).await.unwrap_err();
        assert!(error.to_string().contains("another program has held a write lock"), "{error}");
        sqlx::raw_sql("ROLLBACK").execute(&mut other).await.unwrap();
        ledger.append(&[finished(key(0, 0, 300), SMALL)], None).await.unwrap();
    });
}

/// Runs one of the ignored tests below in a namespace with a mounted folder. The path is in the environment.
#[track_caller]
fn run_in_mount(test: &str, script: &str) {
    let alone = ["--user", "--map-root-user", "--mount"];
    if !Command::new("unshare").args(alone).arg("true").status().is_ok_and(|status| status.success()) {
        agon_test_servers::cannot_run(agon_test_servers::Lacks::Machine, "cannot mount folders here");
        return;
    }
    let folder = TempDir::new().unwrap();
    run(ledger_in(folder.path()));
    let output = Command::new("unshare")
        .args(alone)
        .args(["sh", "-ec"])
        .arg(format!("{script}\nexec \"$EXE\" --exact {test} --ignored --nocapture"))
        .env("EXE", std::env::current_exe().unwrap())
        .env("LEDGER_FOLDER", folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
fn full_disk_is_reported_and_loses_nothing() {
    run_in_mount("on_a_small_disk", "mount -t tmpfs -o size=1m tmpfs \"$LEDGER_FOLDER\"");
}

#[test]
fn ledger_on_a_read_only_disk_can_be_read() {
    run_in_mount(
        "on_a_read_only_disk",
        "mount --bind \"$LEDGER_FOLDER\" \"$LEDGER_FOLDER\" && mount -o remount,bind,ro \"$LEDGER_FOLDER\"",
    );
}

#[test]
fn ledger_on_an_unmounted_disk_acknowledges_nothing() {
    run_in_mount("on_an_unmounted_disk", "mount -t tmpfs tmpfs \"$LEDGER_FOLDER\"");
}

#[test]
fn disk_that_becomes_read_only_is_reported_and_loses_nothing() {
    run_in_mount("on_a_disk_that_becomes_read_only", "mount -t tmpfs tmpfs \"$LEDGER_FOLDER\"");
}

#[test]
fn moved_deleted_or_replaced_ledger_acknowledges_nothing() {
    run(async {
        for how in ["moved", "deleted", "replaced", "without its log"] {
            let folder = TempDir::new().unwrap();
            let path = ledger_in(folder.path()).await;
            let ledger = SqliteLedger::open(&path).await.unwrap();
            ledger.append(&[finished(key(0, 0, 300), SMALL)], None).await.unwrap();
            ledger.ping().await.unwrap();
            let other = folder.path().join("other.ledger");
            match how {
                "moved" => fs::rename(&path, &other).unwrap(),
                "deleted" => fs::remove_file(&path).unwrap(),
                "replaced" => {
                    fs::copy(&path, &other).unwrap();
                    fs::rename(&other, &path).unwrap();
                }
                _ => fs::remove_file(folder.path().join("cup.ledger-wal")).unwrap(),
            }
            let error = ledger.append(&[finished(key(0, 0, 301), SMALL)], None).await.unwrap_err();
            assert!(matches!(error, StoreError::Lost { .. }), "{how}: {error}");
            assert!(error.to_string().contains("the last matches were not stored\nhint: "), "{how}: {error}");
            if how != "without its log" {
                assert!(matches!(ledger.ping().await, Err(StoreError::Lost { .. })), "{how}");
            }
        }
    });
}

/// Creates a ledger in this folder and appends some matches.
async fn appended_ledger(folder: &Path, matches: u64) -> SqliteLedger {
    let ledger = SqliteLedger::create(folder.join("cup.ledger"), &new_ledger(1)).await.unwrap();
    ledger.start_phase(0, Timestamp(0)).await.unwrap();
    for number in 0..matches {
        ledger.append(&[finished(key(0, 0, number), SMALL)], None).await.unwrap();
    }
    ledger
}

#[test]
#[ignore = "run by ledger_on_an_unmounted_disk_acknowledges_nothing"]
fn on_an_unmounted_disk() {
    let Some(folder) = std::env::var_os("LEDGER_FOLDER").map(PathBuf::from) else { return };
    run(async {
        let ledger = appended_ledger(&folder, 3).await;
        // A lazy unmount: the open file can still be written, but it is lost with the process.
        assert!(Command::new("umount").arg("--lazy").arg(&folder).status().unwrap().success());
        let error = ledger.append(&[finished(key(0, 0, 3), SMALL)], None).await.unwrap_err();
        assert!(matches!(error, StoreError::Lost { .. }), "{error}");
        assert!(matches!(ledger.ping().await, Err(StoreError::Lost { .. })));
    });
}

#[test]
#[ignore = "run by disk_that_becomes_read_only_is_reported_and_loses_nothing"]
fn on_a_disk_that_becomes_read_only() {
    let Some(folder) = std::env::var_os("LEDGER_FOLDER").map(PathBuf::from) else { return };
    let remount = |how: &str| {
        assert!(Command::new("mount").args(["-o", how]).arg(&folder).status().unwrap().success(), "{how}");
    };
    run(async {
        let ledger = appended_ledger(&folder, 3).await;
        ledger.disconnect().await.unwrap();
        remount("remount,ro");
        let ledger = SqliteLedger::open_to_read(folder.join("cup.ledger")).await.unwrap();
        assert_eq!(ledger.counts(0).await.unwrap().matches, 3);
        let error = SqliteLedger::open(folder.join("cup.ledger")).await.unwrap_err();
        assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
        remount("remount,rw");
        let ledger = SqliteLedger::open(folder.join("cup.ledger")).await.unwrap();
        ledger.append(&[finished(key(0, 0, 3), SMALL)], None).await.unwrap();
        assert_eq!(ledger.check().await.unwrap(), Vec::<String>::new());
    });
}

#[test]
#[ignore = "run by full_disk_is_reported_and_loses_nothing"]
fn on_a_small_disk() {
    let Some(folder) = std::env::var_os("LEDGER_FOLDER").map(PathBuf::from) else { return };
    run(async {
        let path = folder.join("cup.ledger");
        let large = Shape { record: 20_000, ..SMALL };
        let ledger = SqliteLedger::create(&path, &new_ledger(1)).await.unwrap();
        ledger.start_phase(0, Timestamp(0)).await.unwrap();
        let mut stored = 0;
        let error = loop {
            match ledger.append(&[finished(key(0, 0, stored), large)], None).await {
                Ok(_) => stored += 1,
                Err(error) => break error,
            }
        };
        assert!(stored > 3, "{stored}");
        assert!(matches!(error, StoreError::DiskFull { .. }), "{error}");
        // Stored matches are intact, and appending works again when there is space.
        assert_eq!(ledger.counts(0).await.unwrap().matches, stored);
        assert_eq!(ledger.check().await.unwrap(), Vec::<String>::new());
        let status = Command::new("mount").args(["-o", "remount,size=8m"]).arg(&folder).status().unwrap();
        assert!(status.success());
        ledger.append(&[finished(key(0, 0, stored), large)], None).await.unwrap();
        // There is not enough space to create a ledger.
        fs::write(folder.join("filler"), vec![0; 6 << 20]).unwrap();
        let _ = fs::write(folder.join("more"), vec![0; 6 << 20]);
        let error = SqliteLedger::create(folder.join("other.ledger"), &new_ledger(1)).await.unwrap_err();
        assert!(matches!(error, StoreError::DiskFull { .. }), "{error}");
        assert!(!folder.join("other.ledger").exists());
    });
}

#[test]
#[ignore = "run by ledger_on_a_read_only_disk_can_be_read"]
fn on_a_read_only_disk() {
    let Some(folder) = std::env::var_os("LEDGER_FOLDER").map(PathBuf::from) else { return };
    run(async {
        let path = folder.join("cup.ledger");
        let reader = SqliteLedger::open_to_read(&path).await.unwrap();
        assert_eq!(reader.progress(0).await.unwrap().results_after_snapshot.len(), 300);
        let error = reader.acquire_run_lock().await.unwrap_err().to_string();
        assert!(error.contains("cannot lock") && error.contains("\nhint: "), "{error}");
        let error = match SqliteLedger::open(&path).await {
            Ok(ledger) => ledger.reveal_seed(Timestamp(1)).await.unwrap_err(),
            Err(error) => error,
        };
        assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
        let error = SqliteLedger::create(folder.join("other.ledger"), &new_ledger(1)).await.unwrap_err();
        assert!(error.to_string().contains("Read-only file system"), "{error}");
    });
}
