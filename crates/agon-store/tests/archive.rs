//! A competition moves from one kind of ledger to another and back: nothing is lost, and it goes on there.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use agon_core::record::Digest;
use agon_league::Entrant;
use agon_rig::Postgres;
use agon_store::{
    ConfigVersion, FaultFilter, FinishedMatch, Ledger, Lifted, OutputWriter, MatchFilter, PackedOutput, NewRuling, Order,
    PostgresLedger, RulingKind, Snapshot, SqliteLedger, StoreError, NewBotVersion, Timestamp, archive,
};
use common::{SMALL, finished, folder, founding, key, run};
use futures_util::TryStreamExt as _;
use tempfile::TempDir;

/// Some of everything that a ledger can hold.
async fn full(path: &Path, matches: u64) -> SqliteLedger {
    let ledger = SqliteLedger::create(path, &founding(3)).await.unwrap();
    for entrant in 0..SMALL.entrants {
        let bot = NewBotVersion {
            entrant: Entrant(entrant),
            hash: format!("sha256:{entrant}"),
            spec: "bots/one.py".to_owned(),
            commit: (entrant % 2 == 0).then(|| "c0ffee".to_owned()),
            archive: (entrant % 3 == 0).then(|| vec![entrant as u8; 300]),
            from_phase: 0,
            at: Timestamp(5),
        };
        ledger.submit(&bot).await.unwrap();
    }
    let edition = ConfigVersion { file: "other \u{0} \u{e000}".to_owned(), normal: "{}".to_owned(), at: Timestamp(6) };
    ledger.amend(&edition).await.unwrap();
    ledger.start(0, Timestamp(7)).await.unwrap();
    for numbers in (0..matches).collect::<Vec<_>>().chunks(50) {
        ledger.append(&numbers.iter().map(|n| one(0, *n)).collect::<Vec<_>>(), None).await.unwrap();
    }
    let ruling =
        |kind, at| NewRuling { kind, reason: "it must be".to_owned(), by: "Ada".to_owned(), at: Timestamp(at) };
    ledger.rule(&ruling(RulingKind::Void(key(0, 0, 3)), 8)).await.unwrap();
    ledger.rule(&ruling(RulingKind::Disqualify(Entrant(4)), 9)).await.unwrap();
    ledger.ban_worker("w1", "it \u{0} lies", Timestamp(10)).await.unwrap();
    ledger.ban_worker("Z", "so does it", Timestamp(10)).await.unwrap();
    ledger.ban_worker("é", "so does it", Timestamp(10)).await.unwrap();
    let theirs = ledger.played_by(0, "w1").await.unwrap();
    assert!(ledger.revoke_matches(0, &theirs[..theirs.len() / 2], "w1 lies", Timestamp(11)).await.unwrap() > 0);
    ledger.append(&[otherwise(one(0, 4)), one(0, matches)], None).await.unwrap();
    let lifted = Lifted { reason: "it need not".to_owned(), by: "Bob".to_owned(), at: Timestamp(12) };
    ledger.lift(2, &lifted).await.unwrap();
    ledger.publish(0, Digest([7; 32]), &[1], Timestamp(13)).await.unwrap();
    ledger.close(0, Timestamp(14)).await.unwrap();
    ledger.start(1, Timestamp(15)).await.unwrap();
    let snapshot = Snapshot { phase: 1, bytes: vec![1, 2, 3] };
    ledger.append(&[one(1, 0), one(1, 5)], Some(&snapshot)).await.unwrap();
    ledger
}

fn otherwise(mut one: FinishedMatch) -> FinishedMatch {
    one.games[0].digest = Digest([0xcd; 32]);
    one
}

fn one(phase: u32, number: u64) -> FinishedMatch {
    let mut one = finished(key(phase, 0, number), SMALL);
    one.worker = (number % 3 == 1).then(|| "w1".to_owned());
    one.data = vec![folder(2, &format!("folder {}", number % 7))];
    let mut writer = OutputWriter::default();
    writer.add(1, "I think\n");
    one.logs.extend(PackedOutput::new(0, 1, &writer.finish()));
    "ended \u{0}".clone_into(&mut one.result.games[0].ended);
    one
}

/// Everything that can be asked of two ledgers is the same.
async fn are_the_same(a: &dyn Ledger, b: &dyn Ledger) {
    assert_eq!(a.competition().await.unwrap(), b.competition().await.unwrap());
    assert_eq!(a.secret().await.unwrap(), b.secret().await.unwrap());
    let phases = a.phases().await.unwrap();
    assert_eq!(phases, b.phases().await.unwrap());
    assert_eq!(a.bots().await.unwrap(), b.bots().await.unwrap());
    assert_eq!(a.archive(Entrant(3), 1).await.unwrap(), b.archive(Entrant(3), 1).await.unwrap());
    assert_eq!(a.rulings().await.unwrap(), b.rulings().await.unwrap());
    assert_eq!(a.barred().await.unwrap(), b.barred().await.unwrap());
    let faults = async |one: &dyn Ledger| -> Vec<_> {
        one.faults(FaultFilter::default()).try_collect().await.unwrap()
    };
    assert_eq!(faults(a).await, faults(b).await);
    for phase in 0..phases.len() as u32 {
        let appended = MatchFilter { order: Order::Appended, ..MatchFilter::default() };
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
        assert_eq!(a.played_by(phase, "w1").await.unwrap(), b.played_by(phase, "w1").await.unwrap());
        let data = async |one: &dyn Ledger| one.data_before(Entrant(2), phase, 1).await.unwrap();
        assert_eq!(data(a).await, data(b).await);
        assert_eq!(
            a.log(key(phase, 0, 5), 0, 1).await.unwrap(),
            b.log(key(phase, 0, 5), 0, 1).await.unwrap()
        );
    }
    for one in [a, b] {
        assert_eq!(one.check().await.unwrap(), Vec::<String>::new());
    }
}

#[test]
fn a_ledger_goes_to_a_database_and_back_and_its_archive_is_the_same_bytes() {
    if !Postgres::is_installed() {
        return agon_rig::cannot_run(agon_rig::Lacks::Setup, "no PostgreSQL");
    }
    let url = Postgres::shared().database().url;
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    run(async {
        // More than fits into one statement.
        let file = full(&path("cup.ledger"), 700).await;
        let moved = archive::write(&file, &path("a")).await.unwrap();
        assert_eq!((&*moved.name, moved.matches), ("Autumn Cup", file.counts(0).await.unwrap().matches + 2));
        archive::into_database(&path("a"), &url, "cup").await.unwrap();
        let there = PostgresLedger::open(&url, "cup").await.unwrap();
        are_the_same(&file, &there).await;
        archive::write(&there, &path("b")).await.unwrap();
        archive::into_file(&path("b"), &path("back.ledger")).await.unwrap();
        let back = SqliteLedger::open(path("back.ledger")).await.unwrap();
        are_the_same(&there, &back).await;
        archive::write(&back, &path("c")).await.unwrap();
        let bytes = |name: &str| fs::read(path(name)).unwrap();
        assert!(bytes("a") == bytes("b") && bytes("b") == bytes("c"));

        // It goes on there as it would have here; what was not yet folded into a snapshot is all there.
        assert_eq!(there.progress(1).await.unwrap().after.len(), 2);
        for one_of in [&file as &dyn Ledger, &there, &back] {
            one_of.append(&[one(1, 0), one(1, 2)], None).await.unwrap();
            let late = one_of.append(&[one(0, 9_999)], None).await.unwrap_err();
            assert!(matches!(late, StoreError::Phase { .. }), "{late}");
            let ruling = NewRuling {
                kind: RulingKind::Disqualify(Entrant(1)),
                reason: "it must be".to_owned(),
                by: "Ada".to_owned(),
                at: Timestamp(20),
            };
            assert_eq!(one_of.rule(&ruling).await.unwrap(), 3);
            one_of.revoke_matches(1, &[key(1, 0, 2)], "w2 lies", Timestamp(21)).await.unwrap();
            one_of.append(&[one(1, 7)], None).await.unwrap();
            one_of.reveal(Timestamp(30)).await.unwrap();
        }
        are_the_same(&file, &there).await;
        for (name, one) in [("d", &file as &dyn Ledger), ("e", &there), ("f", &back)] {
            archive::write(one, &path(name)).await.unwrap();
        }
        assert!(bytes("d") == bytes("e") && bytes("e") == bytes("f"));

        // Never over another.
        let told = archive::into_database(&path("a"), &url, "cup").await.unwrap_err();
        assert!(matches!(told, StoreError::Exists { .. }), "{told}");
    });
}

#[test]
fn an_archive_is_its_owners_and_never_over_another_file_nor_of_a_running_competition() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    run(async {
        let file = full(&path("cup.ledger"), 20).await;
        let claim = file.claim().await.unwrap();
        let told = archive::write(&file, &path("a")).await.unwrap_err();
        assert!(matches!(told, StoreError::Running { .. }), "{told}");
        drop(claim);
        archive::write(&file, &path("a")).await.unwrap();
        assert_eq!(fs::metadata(path("a")).unwrap().permissions().mode() & 0o777, 0o600, "the seed is in it");
        let told = archive::write(&file, &path("a")).await.unwrap_err();
        assert!(matches!(told, StoreError::Exists { .. }), "{told}");
        let told = archive::into_file(&path("a"), &path("cup.ledger")).await.unwrap_err();
        assert!(matches!(told, StoreError::Exists { .. }), "{told}");
        archive::into_file(&path("a"), &path("b.ledger")).await.unwrap();
        assert_eq!(fs::metadata(path("b.ledger")).unwrap().permissions().mode() & 0o777, 0o600);
        let told = archive::write(&file, &path("no/such/a")).await.unwrap_err();
        assert!(told.to_string().contains("\nhint: "), "{told}");
    });
}

#[test]
fn an_archive_that_is_cut_or_changed_becomes_nothing() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    run(async {
        full(&path("cup.ledger"), 20).await.disconnect().await.unwrap();
        let file = SqliteLedger::open_to_read(path("cup.ledger")).await.unwrap();
        archive::write(&file, &path("a")).await.unwrap();
        file.disconnect().await.unwrap();
        let whole = fs::read(path("a")).unwrap();
        let refused = async |bytes: &[u8]| {
            fs::write(path("bad"), bytes).unwrap();
            let told = archive::into_file(&path("bad"), &path("bad.ledger")).await.unwrap_err();
            assert!(matches!(told, StoreError::Archive { .. }) && told.is_wrong_use(), "{told}");
            let left: Vec<_> =
                fs::read_dir(folder.path()).unwrap().map(|one| one.unwrap().file_name()).collect();
            assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("bad.")), "{left:?}");
            told.to_string()
        };
        for cut in (0..whole.len()).step_by(whole.len() / 40) {
            refused(&whole[..cut]).await;
        }
        for place in (22..whole.len()).step_by(whole.len() / 40) {
            let mut other = whole.clone();
            other[place] ^= 0x10;
            refused(&other).await;
        }
        let newer = String::from_utf8_lossy(&whole[..22]).replace("archive 1", "archive 2");
        let told = refused(newer.as_bytes()).await;
        assert!(told.contains("newer Agon"), "{told}");
        assert!(refused(b"something else").await.contains("does not begin like one"));
        let told = archive::into_file(&path("none"), &path("x.ledger")).await.unwrap_err();
        assert!(told.to_string().contains("there is no such file"), "{told}");
    });
}
