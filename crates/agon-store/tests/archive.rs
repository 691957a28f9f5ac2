//! Moving a competition to another kind of ledger and back: nothing is lost, and it can be resumed there.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use agon_core::ErrorKind;
use agon_core::record::Digest;
use agon_league::Entrant;
use agon_store::{
    ConfigVersion, FaultFilter, FinishedMatch, Ledger, MatchFilter, MatchOrder, NewBotVersion, NewRuling,
    OutputWriter, PackedOutput, PostgresLedger, RulingKind, RulingLift, Snapshot, SqliteLedger, StoreError,
    Timestamp, archive,
};
use agon_test_servers::Postgres;
use common::{SMALL, finished, folder, key, new_ledger, run};
use futures_util::TryStreamExt as _;
use tempfile::TempDir;

/// A ledger with rows in every table.
async fn full_ledger(path: &Path, matches: u64) -> SqliteLedger {
    let ledger = SqliteLedger::create(path, &new_ledger(3)).await.unwrap();
    for entrant in 0..SMALL.entrants {
        let bot = NewBotVersion {
            entrant: Entrant(entrant),
            hash: format!("sha256:{entrant}"),
            spec: "bots/one.py".to_owned(),
            commit: (entrant % 2 == 0).then(|| "c0ffee".to_owned()),
            archive: (entrant % 3 == 0).then(|| vec![entrant as u8; 300]),
            from_phase: 0,
            at: Timestamp(5),
            says: agon_core::SelfDescription::new((entrant % 2 == 0).then_some("Kadabra"), Some("Rayman")),
        };
        ledger.add_bot_version(&bot).await.unwrap();
    }
    let config = ConfigVersion {
        text: "other \u{0} \u{e000}".to_owned(),
        normalised: "{}".to_owned(),
        at: Timestamp(6),
    };
    ledger.add_config_version(&config).await.unwrap();
    ledger.start_phase(0, Timestamp(7)).await.unwrap();
    for numbers in (0..matches).collect::<Vec<_>>().chunks(50) {
        ledger.append(&numbers.iter().map(|n| one(0, *n)).collect::<Vec<_>>(), None).await.unwrap();
    }
    let ruling = |kind, at| NewRuling {
        kind,
        reason: "it must be".to_owned(),
        by: "Ada".to_owned(),
        at: Timestamp(at),
    };
    ledger.add_ruling(&ruling(RulingKind::Void(key(0, 0, 3)), 8)).await.unwrap();
    ledger.add_ruling(&ruling(RulingKind::Disqualify(Entrant(4)), 9)).await.unwrap();
    ledger.ban_worker("w1", "it \u{0} lies", Timestamp(10)).await.unwrap();
    ledger.ban_worker("Z", "so does it", Timestamp(10)).await.unwrap();
    ledger.ban_worker("é", "so does it", Timestamp(10)).await.unwrap();
    let played_by_worker = ledger.matches_played_by(0, "w1").await.unwrap();
    assert!(
        ledger
            .revoke_matches(0, &played_by_worker[..played_by_worker.len() / 2], "w1 lies", Timestamp(11))
            .await
            .unwrap()
            > 0
    );
    ledger.append(&[with_other_digest(one(0, 4)), one(0, matches)], None).await.unwrap();
    let lifted = RulingLift { reason: "it need not".to_owned(), by: "Bob".to_owned(), at: Timestamp(12) };
    ledger.lift_ruling(2, &lifted).await.unwrap();
    ledger.publish_phase(0, Digest([7; 32]), &[1], Timestamp(13)).await.unwrap();
    ledger.close_phase(0, Timestamp(14)).await.unwrap();
    ledger.start_phase(1, Timestamp(15)).await.unwrap();
    let snapshot = Snapshot { phase: 1, bytes: vec![1, 2, 3] };
    ledger.append(&[one(1, 0), one(1, 5)], Some(&snapshot)).await.unwrap();
    ledger
}

fn with_other_digest(mut one: FinishedMatch) -> FinishedMatch {
    one.games[0].digest = Digest([0xcd; 32]);
    one
}

fn one(phase: u32, number: u64) -> FinishedMatch {
    let mut one = finished(key(phase, 0, number), SMALL);
    one.worker = (number % 3 == 1).then(|| "w1".to_owned());
    one.data = vec![folder(2, &format!("folder {}", number % 7))];
    let mut writer = OutputWriter::default();
    writer.add(1, "I think\n");
    one.bot_outputs.extend(PackedOutput::new(0, 1, &writer.finish()));
    "ended \u{0}".clone_into(&mut one.result.games[0].ended);
    one
}

/// Checks that two ledgers give the same answers.
async fn assert_equal(a: &dyn Ledger, b: &dyn Ledger) {
    assert_eq!(a.competition().await.unwrap(), b.competition().await.unwrap());
    assert_eq!(a.secret_seed().await.unwrap(), b.secret_seed().await.unwrap());
    let phases = a.phases().await.unwrap();
    assert_eq!(phases, b.phases().await.unwrap());
    assert_eq!(a.bot_versions().await.unwrap(), b.bot_versions().await.unwrap());
    assert_eq!(a.bot_archive(Entrant(3), 1).await.unwrap(), b.bot_archive(Entrant(3), 1).await.unwrap());
    assert_eq!(a.rulings().await.unwrap(), b.rulings().await.unwrap());
    assert_eq!(a.banned_workers().await.unwrap(), b.banned_workers().await.unwrap());
    let faults = async |one: &dyn Ledger| -> Vec<_> {
        one.faults(FaultFilter::default()).try_collect().await.unwrap()
    };
    assert_eq!(faults(a).await, faults(b).await);
    for phase in 0..phases.len() as u32 {
        let appended = MatchFilter { order: MatchOrder::Appended, ..MatchFilter::default() };
        let matches = async |one: &dyn Ledger| -> Vec<_> {
            one.matches(phase, appended.clone()).try_collect().await.unwrap()
        };
        let records = async |one: &dyn Ledger| -> Vec<_> {
            one.records(phase, MatchFilter::default()).try_collect().await.unwrap()
        };
        assert_eq!(matches(a).await, matches(b).await);
        assert_eq!(records(a).await, records(b).await);
        assert_eq!(a.counts(phase).await.unwrap(), b.counts(phase).await.unwrap());
        assert_eq!(a.forfeits(phase).await.unwrap(), b.forfeits(phase).await.unwrap());
        assert_eq!(
            a.matches_played_by(phase, "w1").await.unwrap(),
            b.matches_played_by(phase, "w1").await.unwrap()
        );
        let data = async |one: &dyn Ledger| one.data_folder_before(Entrant(2), phase, 1).await.unwrap();
        assert_eq!(data(a).await, data(b).await);
        assert_eq!(
            a.bot_output(key(phase, 0, 5), 0, 1).await.unwrap(),
            b.bot_output(key(phase, 0, 5), 0, 1).await.unwrap()
        );
    }
    for one in [a, b] {
        assert_eq!(one.check().await.unwrap(), Vec::<String>::new());
    }
}

#[test]
fn ledger_moves_to_a_database_and_back_with_identical_archives() {
    if !Postgres::is_installed() {
        return agon_test_servers::cannot_run(agon_test_servers::Lacks::Setup, "no PostgreSQL");
    }
    let url = Postgres::shared().database().url;
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    run(async {
        // Needs more than one insert statement.
        let file = full_ledger(&path("cup.ledger"), 700).await;
        let moved = archive::export(&file, &path("a")).await.unwrap();
        assert_eq!((&*moved.name, moved.matches), ("Autumn Cup", file.counts(0).await.unwrap().matches + 2));
        let restored = archive::import_to_database(&path("a"), &url, "cup").await.unwrap();
        assert_eq!(restored, moved);
        let there = PostgresLedger::open(&url, "cup").await.unwrap();
        assert_equal(&file, &there).await;
        assert_eq!(there.match_digest().await.unwrap(), file.match_digest().await.unwrap());
        archive::export(&there, &path("b")).await.unwrap();
        archive::import_to_file(&path("b"), &path("back.ledger")).await.unwrap();
        let back = SqliteLedger::open(path("back.ledger")).await.unwrap();
        assert_equal(&there, &back).await;
        archive::export(&back, &path("c")).await.unwrap();
        let bytes = |name: &str| fs::read(path(name)).unwrap();
        assert!(bytes("a") == bytes("b") && bytes("b") == bytes("c"));

        // All ledgers continue in the same way. Snapshots are not moved, so all results count as later ones.
        assert_eq!(there.progress(1).await.unwrap().results_after_snapshot.len(), 2);
        for one_of in [&file as &dyn Ledger, &there, &back] {
            one_of.append(&[one(1, 0), one(1, 2)], None).await.unwrap();
            let late = one_of.append(&[one(0, 9_999)], None).await.unwrap_err();
            assert!(matches!(late, StoreError::WrongPhaseState { .. }), "{late}");
            let ruling = NewRuling {
                kind: RulingKind::Disqualify(Entrant(1)),
                reason: "it must be".to_owned(),
                by: "Ada".to_owned(),
                at: Timestamp(20),
            };
            assert_eq!(one_of.add_ruling(&ruling).await.unwrap(), 3);
            one_of.revoke_matches(1, &[key(1, 0, 2)], "w2 lies", Timestamp(21)).await.unwrap();
            one_of.append(&[one(1, 7)], None).await.unwrap();
            one_of.reveal_seed(Timestamp(30)).await.unwrap();
        }
        assert_equal(&file, &there).await;
        for (name, one) in [("d", &file as &dyn Ledger), ("e", &there), ("f", &back)] {
            archive::export(one, &path(name)).await.unwrap();
        }
        assert!(bytes("d") == bytes("e") && bytes("e") == bytes("f"));

        // An import never replaces a ledger.
        let error = archive::import_to_database(&path("a"), &url, "cup").await.unwrap_err();
        assert!(matches!(error, StoreError::Exists { .. }), "{error}");
    });
}

#[test]
fn archive_is_private_never_overwrites_and_fails_for_a_running_competition() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    run(async {
        let file = full_ledger(&path("cup.ledger"), 20).await;
        let run_lock = file.acquire_run_lock().await.unwrap();
        let error = archive::export(&file, &path("a")).await.unwrap_err();
        assert!(matches!(error, StoreError::AlreadyRunning { .. }), "{error}");
        drop(run_lock);
        archive::export(&file, &path("a")).await.unwrap();
        assert_eq!(
            fs::metadata(path("a")).unwrap().permissions().mode() & 0o777,
            0o600,
            "it contains the seed"
        );
        let error = archive::export(&file, &path("a")).await.unwrap_err();
        assert!(matches!(error, StoreError::Exists { .. }), "{error}");
        let error = archive::import_to_file(&path("a"), &path("cup.ledger")).await.unwrap_err();
        assert!(matches!(error, StoreError::Exists { .. }), "{error}");
        archive::import_to_file(&path("a"), &path("b.ledger")).await.unwrap();
        assert_eq!(fs::metadata(path("b.ledger")).unwrap().permissions().mode() & 0o777, 0o600);
        let error = archive::export(&file, &path("no/such/a")).await.unwrap_err();
        assert!(error.to_string().contains("\nhint: "), "{error}");
    });
}

#[test]
fn truncated_or_changed_archive_is_rejected_and_leaves_no_file() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    run(async {
        full_ledger(&path("cup.ledger"), 20).await.disconnect().await.unwrap();
        let file = SqliteLedger::open_to_read(path("cup.ledger")).await.unwrap();
        archive::export(&file, &path("a")).await.unwrap();
        file.disconnect().await.unwrap();
        let whole = fs::read(path("a")).unwrap();
        let rejected = async |bytes: &[u8]| {
            fs::write(path("bad"), bytes).unwrap();
            let error = archive::import_to_file(&path("bad"), &path("bad.ledger")).await.unwrap_err();
            assert!(
                matches!(error, StoreError::InvalidArchive { .. }) && error.kind() == ErrorKind::Usage,
                "{error}"
            );
            let left: Vec<_> =
                fs::read_dir(folder.path()).unwrap().map(|one| one.unwrap().file_name()).collect();
            assert!(!left.iter().any(|name| name.to_string_lossy().contains("bad.")), "{left:?}");
            error.to_string()
        };
        for cut in (0..whole.len()).step_by(whole.len() / 40) {
            rejected(&whole[..cut]).await;
        }
        for index in (22..whole.len()).step_by(whole.len() / 40) {
            let mut other = whole.clone();
            other[index] ^= 0x10;
            rejected(&other).await;
        }
        let newer = String::from_utf8_lossy(&whole[..22]).replace("archive 3", "archive 9");
        let error = rejected(newer.as_bytes()).await;
        assert!(error.contains("newer Agon"), "{error}");
        assert!(rejected(b"something else").await.contains("does not start with the header"));
        let error = archive::import_to_file(&path("none"), &path("x.ledger")).await.unwrap_err();
        assert!(error.to_string().contains("there is no such file"), "{error}");
    });
}

/// A ledger file with a `-wal` that holds all its matches, as a killed process leaves it.
async fn leave_with_wal(folder: &Path, name: &str, matches: u64) {
    let source = folder.join(format!("source of {name}"));
    let ledger = full_ledger(&source, matches).await;
    for ending in ["", "-wal", "-shm"] {
        let from = folder.join(format!("source of {name}{ending}"));
        fs::copy(from, folder.join(format!("{name}{ending}"))).unwrap();
    }
    ledger.disconnect().await.unwrap();
    assert!(fs::metadata(folder.join(format!("{name}-wal"))).unwrap().len() > 0);
}

#[test]
fn ledger_is_not_created_beside_changes_of_an_earlier_one() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    run(async {
        let source = full_ledger(&path("source.ledger"), 30).await;
        let moved = archive::export(&source, &path("a")).await.unwrap();
        leave_with_wal(folder.path(), "cup.ledger", 20).await;

        // The ledger is there: it is never overwritten, and its changes stay.
        let error = archive::import_to_file(&path("a"), &path("cup.ledger")).await.unwrap_err();
        assert!(matches!(error, StoreError::Exists { .. }), "{error}");
        // The ledger was moved away. Neither an import nor a new ledger may get the changes.
        fs::rename(path("cup.ledger"), path("old.ledger")).unwrap();
        let wal = fs::read(path("cup.ledger-wal")).unwrap();
        let import = archive::import_to_file(&path("a"), &path("cup.ledger")).await.unwrap_err();
        let create = SqliteLedger::create(path("cup.ledger"), &new_ledger(1)).await.unwrap_err();
        for error in [import, create] {
            let StoreError::Leftovers { files, .. } = &error else { panic!("{error}") };
            assert_eq!(*files, [path("cup.ledger-wal").display().to_string()]);
            assert!(error.kind() == ErrorKind::Usage && error.to_string().contains("\nhint: "), "{error}");
        }
        assert!(!path("cup.ledger").exists() && fs::read(path("cup.ledger-wal")).unwrap() == wal);
        // A journal holds changes too.
        fs::rename(path("cup.ledger-wal"), path("old.ledger-wal")).unwrap();
        fs::write(path("cup.ledger-journal"), [1; 600]).unwrap();
        let error = archive::import_to_file(&path("a"), &path("cup.ledger")).await.unwrap_err();
        assert!(matches!(error, StoreError::Leftovers { .. }), "{error}");
        fs::remove_file(path("cup.ledger-journal")).unwrap();
        // An index alone and an empty log hold nothing.
        fs::write(path("cup.ledger-wal"), []).unwrap();
        assert!(path("cup.ledger-shm").exists());
        assert_eq!(archive::import_to_file(&path("a"), &path("cup.ledger")).await.unwrap(), moved);
        let restored = SqliteLedger::open(path("cup.ledger")).await.unwrap();
        assert_equal(&source, &restored).await;
        assert_eq!(
            SqliteLedger::open(path("old.ledger")).await.unwrap().check().await.unwrap(),
            Vec::<String>::new()
        );
    });
}

#[test]
fn import_fails_while_a_process_runs_the_competition_of_a_moved_ledger() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    run(async {
        let ledger = full_ledger(&path("cup.ledger"), 20).await;
        archive::export(&ledger, &path("a")).await.unwrap();
        let run_lock = ledger.acquire_run_lock().await.unwrap();
        ledger.disconnect().await.unwrap();
        fs::rename(path("cup.ledger"), path("old.ledger")).unwrap();
        let error = archive::import_to_file(&path("a"), &path("cup.ledger")).await.unwrap_err();
        assert!(matches!(error, StoreError::AlreadyRunning { .. }), "{error}");
        drop(run_lock);
        archive::import_to_file(&path("a"), &path("cup.ledger")).await.unwrap();
        assert!(!path("cup.ledger-running").exists());
    });
}

#[test]
fn damaged_ledger_is_not_exported() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    run(async {
        full_ledger(&path("cup.ledger"), 20).await.disconnect().await.unwrap();
        let mut by_hand = <sqlx::SqliteConnection as sqlx::Connection>::connect(&format!(
            "sqlite:{}",
            path("cup.ledger").display()
        ))
        .await
        .unwrap();
        sqlx::raw_sql("UPDATE phase SET matches = matches + 1 WHERE phase = 1")
            .execute(&mut by_hand)
            .await
            .unwrap();
        sqlx::Connection::close(by_hand).await.unwrap();
        let ledger = SqliteLedger::open_to_read(path("cup.ledger")).await.unwrap();
        let error = archive::export(&ledger, &path("a")).await.unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        assert!(
            fs::read_dir(folder.path()).unwrap().all(|one| !one
                .unwrap()
                .file_name()
                .to_string_lossy()
                .starts_with('a'))
        );
    });
}

#[test]
fn renamed_ledger_keeps_its_changes_and_never_overwrites() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    run(async {
        assert_eq!(SqliteLedger::rename_old(path("cup.ledger")).unwrap(), None);
        leave_with_wal(folder.path(), "cup.ledger", 20).await;
        // Files of an older ledger of that name are in the way.
        fs::write(path("cup.ledger.1-wal"), b"of another").unwrap();
        assert_eq!(SqliteLedger::rename_old(path("cup.ledger")).unwrap(), Some(path("cup.ledger.2")));
        assert!(
            !path("cup.ledger-wal").exists() && fs::read(path("cup.ledger.1-wal")).unwrap() == b"of another"
        );
        let renamed = SqliteLedger::open(path("cup.ledger.2")).await.unwrap();
        assert!(renamed.counts(0).await.unwrap().matches > 10);
        renamed.disconnect().await.unwrap();
        // Not while the competition runs.
        let ledger = SqliteLedger::create(path("cup.ledger"), &new_ledger(1)).await.unwrap();
        let _run_lock = ledger.acquire_run_lock().await.unwrap();
        let error = SqliteLedger::rename_old(path("cup.ledger")).unwrap_err();
        assert!(matches!(error, StoreError::AlreadyRunning { .. }), "{error}");
    });
}
