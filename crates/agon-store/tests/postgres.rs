//! What only a ledger on a server has to bear: the server goes away, somebody else takes over, and everything that can be wrong with a URL.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod common;

use std::fs;
use std::process::Command;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_core::record::Digest;
use agon_rig::Postgres;
use agon_store::{
    FinishedMatch, Ledger as _, Lifted, MatchFilter, NewRuling, PostgresLedger, RulingKind, StoreError, Timestamp,
};
use common::{SMALL, finished, founding, key, run};
use futures_util::TryStreamExt as _;
use sqlx::{Connection as _, PgConnection};

/// Whether to leave a test out.
#[track_caller]
fn is_missing() -> bool {
    let missing = !Postgres::is_installed();
    if missing {
        agon_rig::cannot_run(agon_rig::Lacks::Setup, "no PostgreSQL");
    }
    missing
}

/// A server that may be killed and set up otherwise, for one test at a time.
fn mortal() -> (&'static Postgres, MutexGuard<'static, ()>) {
    static SERVER: LazyLock<Postgres> = LazyLock::new(Postgres::start_without_fsync);
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    (&SERVER, alone)
}

async fn begun(url: &str, slug: &str) -> PostgresLedger {
    let ledger = PostgresLedger::create(url, slug, &founding(1)).await.unwrap();
    ledger.start(0, Timestamp(0)).await.unwrap();
    ledger
}

fn batch(numbers: std::ops::Range<u64>) -> Vec<FinishedMatch> {
    numbers.map(|number| finished(key(0, 0, number), SMALL)).collect()
}

/// Says something to the server by hand.
async fn by_hand(url: &str, sql: &'static str) -> Result<(), sqlx::Error> {
    let mut hand = PgConnection::connect(url).await?;
    sqlx::raw_sql(sql).execute(&mut hand).await.map(drop)
}

#[test]
fn a_server_that_is_killed_and_comes_back_costs_nothing() {
    if is_missing() {
        return;
    }
    let (server, _alone) = mortal();
    let url = server.database().url;
    run(async {
        let ledger = begun(&url, "cup").await;
        let claim = ledger.claim().await.unwrap();
        let reader = PostgresLedger::open_to_read(&url, "cup").await.unwrap();
        for round in 0..3 {
            let from = round * 40;
            ledger.append(&batch(from..from + 20), None).await.unwrap();
            assert_eq!(reader.counts(0).await.unwrap().matches, from + 20);
            server.kill();
            let back = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(300));
                server.restart();
            });
            // Whoever asks while it is away gets the answer when it is back; some of these were kept before.
            let done = ledger.append(&batch(from + 10..from + 40), None).await.unwrap();
            assert_eq!((done.new, done.known), (20, 10));
            assert_eq!(reader.counts(0).await.unwrap().matches, from + 40);
            back.join().unwrap();
            // The right to play was lost with the server, and taken again with the first write.
            let told = reader.claim().await.unwrap_err();
            assert!(matches!(told, StoreError::Running { .. }), "{told}");
        }
        let all: Vec<_> = reader.matches(0, MatchFilter::default()).try_collect().await.unwrap();
        assert_eq!(all.len(), 120);
        assert_eq!(ledger.check().await.unwrap(), Vec::<String>::new());
        drop(claim);
        drop(reader.claim().await.unwrap());
    });
}

#[test]
fn whoever_lost_the_right_to_play_keeps_nothing_more() {
    if is_missing() {
        return;
    }
    let (server, _alone) = mortal();
    let url = server.database().url;
    run(async {
        let first = begun(&url, "cup").await;
        let claim = first.claim().await.unwrap();
        first.append(&batch(0..5), None).await.unwrap();
        server.kill();
        server.restart();
        // Nobody holds it after the restart; a second one is quicker.
        let second = PostgresLedger::open(&url, "cup").await.unwrap();
        let other = second.claim().await.unwrap();
        let told = first.append(&batch(5..6), None).await.unwrap_err();
        let StoreError::Running { pid, .. } = &told else { panic!("{told}") };
        assert_eq!(*pid, std::process::id());
        second.append(&batch(5..7), None).await.unwrap();
        // Nor when the second is gone again: it may have decided otherwise.
        drop(other);
        let told = first.append(&batch(7..8), None).await.unwrap_err();
        assert!(matches!(told, StoreError::Running { .. }), "{told}");
        assert_eq!(second.counts(0).await.unwrap().matches, 7);
        drop(claim);
        let _claim = first.claim().await.unwrap();
        first.append(&batch(7..8), None).await.unwrap();
    });
}

#[test]
fn a_server_that_stays_away_is_told_of_in_time() {
    if is_missing() {
        return;
    }
    let (server, _alone) = mortal();
    let url = server.database().url;
    run(async {
        let ledger = begun(&url, "cup").await.with_patience(Duration::from_millis(1_500));
        server.kill();
        let begun = Instant::now();
        let told = ledger.append(&batch(0..1), None).await.unwrap_err();
        assert!(begun.elapsed() >= Duration::from_millis(1_500));
        let text = told.to_string();
        assert!(
            text.contains("the database server does not answer, and has not for ")
                && text.contains("\nhint: ")
                && !told.is_wrong_use(),
            "{text}"
        );
        // Whoever begins learns at once.
        let told = PostgresLedger::open(&url, "cup").await.unwrap_err();
        assert!(told.to_string().contains("does not answer: "), "{told}");
        server.restart();
        ledger.append(&batch(0..1), None).await.unwrap();
    });
}

#[test]
fn a_ruling_whose_answer_was_lost_is_made_once() {
    if is_missing() {
        return;
    }
    let url = Postgres::shared().database().url;
    run(async {
        let ledger = begun(&url, "cup").await;
        ledger.append(&batch(0..3), None).await.unwrap();
        let ruling = NewRuling {
            kind: RulingKind::Void(key(0, 0, 1)),
            reason: "the power was cut".to_owned(),
            by: "Ada".to_owned(),
            at: Timestamp(9),
        };
        assert_eq!(ledger.rule(&ruling).await.unwrap(), 1);
        ledger
            .lift(1, &Lifted { reason: "no".to_owned(), by: "Ada".to_owned(), at: Timestamp(10) })
            .await
            .unwrap();
        assert_eq!(ledger.rule(&ruling).await.unwrap(), 2);
        // Sessions that are ended by the server's owner come back by themselves.
        by_hand(
            &url,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'agon'",
        )
        .await
        .unwrap();
        assert_eq!(ledger.rulings().await.unwrap().len(), 2);
        assert!(ledger.rule(&ruling).await.is_err());
    });
}

#[test]
fn what_was_kept_cannot_be_changed_by_hand_either() {
    if is_missing() {
        return;
    }
    let url = Postgres::shared().database().url;
    run(async {
        let ledger = begun(&url, "cup").await;
        ledger.append(&batch(0..6), None).await.unwrap();
        ledger.publish(0, Digest([1; 32]), &[], Timestamp(1)).await.unwrap();
        let ruling = NewRuling {
            kind: RulingKind::Void(key(0, 0, 3)),
            reason: "the power was cut".to_owned(),
            by: "Ada".to_owned(),
            at: Timestamp(1),
        };
        ledger.rule(&ruling).await.unwrap();
        let schema = ledger.schema().to_owned();
        let mut hand = PgConnection::connect(&url).await.unwrap();
        for attempt in [
            "UPDATE S.match SET points = '\\x00' WHERE id = 1",
            "DELETE FROM S.match WHERE id = 1",
            "DELETE FROM S.fault; DELETE FROM S.record; DELETE FROM S.game; DELETE FROM S.match",
            "TRUNCATE S.match CASCADE",
            "TRUNCATE S.game CASCADE",
            "UPDATE S.game SET seats = '\\x01'",
            "DELETE FROM S.record; DELETE FROM S.game",
            "UPDATE S.record SET bytes = '\\x00'",
            "UPDATE S.phase SET state = 'running'",
            "UPDATE S.phase SET final = '\\x00'",
            "UPDATE S.secret SET seed = 'another'",
            "DELETE FROM S.ruling",
            "UPDATE S.ruling SET reason = 'another'",
            "UPDATE S.ruling SET lifted = 2, lifted_by = 'x', lifted_for = 'x', lifted_last_match = 2, at = 3",
            "INSERT INTO S.match SELECT 9999, phase, stage, 9999, finished, entrants, faults, digest, points FROM S.match LIMIT 1",
        ] {
            let sql = format!("BEGIN; {}; COMMIT", attempt.replace("S.", &format!("{schema}.")));
            let refused = sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut hand).await.unwrap_err();
            let text = refused.to_string();
            assert!(
                ["never", "takes no matches", "violates foreign key"].iter().any(|why| text.contains(why)),
                "{attempt}: {text}"
            );
            sqlx::raw_sql("ROLLBACK").execute(&mut hand).await.unwrap();
        }
        assert_eq!(ledger.check().await.unwrap(), Vec::<String>::new());
    });
}

#[test]
fn competitions_share_a_database_and_each_is_found_by_its_name() {
    if is_missing() {
        return;
    }
    let url = Postgres::shared().database().url;
    run(async {
        assert_eq!(PostgresLedger::list(&url).await.unwrap(), []);
        let (long, other) = ("x".repeat(80), "x".repeat(81));
        // Names that fold into the same letters, and ones that are longer than a schema's may be, are still two.
        for slug in ["Cup", "cup", "cup-1", "cup_1", &long, &other] {
            assert!(!PostgresLedger::exists(&url, slug).await.unwrap());
            let told = PostgresLedger::open(&url, slug).await.unwrap_err();
            assert!(matches!(told, StoreError::Missing { .. }) && told.to_string().contains(slug), "{told}");
            begun(&url, slug).await;
            let told = PostgresLedger::create(&url, slug, &founding(1)).await.unwrap_err();
            assert!(matches!(told, StoreError::Exists { .. }), "{told}");
        }
        let listed = PostgresLedger::list(&url).await.unwrap();
        assert_eq!(
            listed.iter().map(|one| &*one.slug).collect::<Vec<_>>(),
            ["Cup", "cup", "cup-1", "cup_1", &*long, &*other]
        );
        PostgresLedger::open(&url, "cup").await.unwrap().append(&batch(0..3), None).await.unwrap();
        assert_eq!(PostgresLedger::open(&url, "Cup").await.unwrap().counts(0).await.unwrap().matches, 0);
        // One that was put aside is still there, and its name is free.
        let held = PostgresLedger::open(&url, "cup").await.unwrap();
        let claim = held.claim().await.unwrap();
        assert!(matches!(PostgresLedger::put_aside(&url, "cup").await, Err(StoreError::Running { .. })));
        drop(claim);
        assert_eq!(PostgresLedger::put_aside(&url, "cup").await.unwrap(), "cup.1");
        begun(&url, "cup").await;
        assert_eq!(PostgresLedger::put_aside(&url, "cup").await.unwrap(), "cup.2");
        assert_eq!(PostgresLedger::open(&url, "cup.1").await.unwrap().counts(0).await.unwrap().matches, 3);
        assert!(!PostgresLedger::exists(&url, "cup").await.unwrap());
    });
}

#[test]
fn a_newer_ledger_is_refused_and_a_broken_one_said_to_be_so() {
    if is_missing() {
        return;
    }
    let url = Postgres::shared().database().url;
    run(async {
        let schema = begun(&url, "cup").await.schema().to_owned();
        let hand = async |sql: &str| {
            let mut hand = PgConnection::connect(&url).await.unwrap();
            let sql = sql.replace("S.", &format!("{schema}."));
            sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut hand).await.unwrap();
        };
        hand("UPDATE S.ledger SET version = 99").await;
        for told in [PostgresLedger::open(&url, "cup").await, PostgresLedger::open_to_read(&url, "cup").await]
        {
            let told = told.unwrap_err();
            assert!(matches!(told, StoreError::Newer { found: 99, .. }) && told.is_wrong_use(), "{told}");
        }
        hand("UPDATE S.ledger SET version = 1; DROP TABLE S.snapshot").await;
        let ledger = PostgresLedger::open(&url, "cup").await.unwrap();
        let told = ledger.progress(0).await.unwrap_err();
        assert!(matches!(told, StoreError::NotALedger { .. }), "{told}");
        hand("UPDATE S.phase SET matches = 7").await;
        assert!(ledger.check().await.is_err());
    });
}

#[test]
fn a_reader_needs_no_right_to_write_nor_to_the_seed() {
    if is_missing() {
        return;
    }
    let server = Postgres::shared();
    let url = server.database().url;
    run(async {
        let ledger = begun(&url, "cup").await;
        ledger.append(&batch(0..3), None).await.unwrap();
        let schema = ledger.schema().to_owned();
        let reader = format!("reader_{}", url.rsplit('/').next().unwrap());
        let sql = format!(
            "CREATE ROLE {reader} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {reader}; GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {reader}; \
             REVOKE ALL ON {schema}.secret FROM {reader}"
        );
        let mut hand = PgConnection::connect(&url).await.unwrap();
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut hand).await.unwrap();
        let theirs = url.replace("agon@", &format!("{reader}@"));
        let seen = PostgresLedger::open_to_read(&theirs, "cup").await.unwrap();
        assert_eq!(seen.counts(0).await.unwrap().matches, 3);
        assert_eq!(seen.competition().await.unwrap().name, "Autumn Cup");
        assert_eq!(seen.progress(0).await.unwrap().after.len(), 3);
        for told in [
            seen.secret().await.unwrap_err(),
            PostgresLedger::open(&theirs, "cup").await.unwrap().append(&batch(3..4), None).await.unwrap_err(),
            PostgresLedger::create(&theirs, "mine", &founding(1)).await.unwrap_err(),
        ] {
            let text = told.to_string();
            assert!(
                text.contains(&reader) && text.contains("may not do that") && told.is_wrong_use(),
                "{text}"
            );
        }
        let told = seen.append(&batch(3..4), None).await.unwrap_err();
        assert!(told.to_string().contains("it was opened for reading"), "{told}");
    });
}

#[test]
fn wrong_passwords_databases_and_ports_are_told_apart() {
    if is_missing() {
        return;
    }
    let (server, _alone) = mortal();
    let url = server.database().url;
    run(async {
        by_hand(&url, "CREATE ROLE ada LOGIN PASSWORD 'right'").await.unwrap();
        by_hand(&url, "ALTER SYSTEM SET ssl = off").await.unwrap();
        let hba = server.folder().join("data/pg_hba.conf");
        let rules = fs::read_to_string(&hba).unwrap();
        fs::write(&hba, format!("host all ada 127.0.0.1/32 scram-sha-256\nhost all eve all reject\n{rules}"))
            .unwrap();
        by_hand(&url, "SELECT pg_reload_conf()").await.unwrap();
        let user = |user: &str| url.replace("agon@", &format!("{user}@"));
        // A moment until the server has read its file again.
        while PgConnection::connect(&user("ada:hush")).await.is_ok()
            || PgConnection::connect(&format!("{url}?sslmode=require")).await.is_ok()
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(PostgresLedger::list(&user("ada:right")).await.unwrap().is_empty());
        let nobody = format!("postgres://ada:hush@127.0.0.1:{}/x", agon_rig::free_port());
        let base = url.rsplit_once('/').unwrap().0;
        for (url, says, wrong_use) in [
            (user("ada:hush"), "the password of user ada is not accepted", true),
            (user("eve:hush"), "user eve is not let in", true),
            (
                format!("{base}/nowhere"),
                "there is no such database\nhint: make it once, on the server: createdb",
                true,
            ),
            (nobody, "the database server does not answer: ", false),
            (
                format!("{url}?sslmode=require"),
                "no TLS as sslmode=require asks for: server does not support TLS",
                true,
            ),
            (
                format!("{url}?sslmode=verify-full&sslrootcert=/no/such.pem"),
                "no TLS as sslmode=verify-full",
                true,
            ),
        ] {
            let told = PostgresLedger::open(&url, "cup").await.unwrap_err();
            let text = told.to_string();
            assert!(text.contains(says) && text.contains("\nhint: ") && !text.contains("hush"), "{text}");
            assert_eq!(told.is_wrong_use(), wrong_use, "{text}");
        }
    });
}

#[test]
fn tls_is_used_when_it_can_be_and_a_certificate_that_does_not_fit_is_refused() {
    if is_missing() {
        return;
    }
    let (server, _alone) = mortal();
    let url = server.database().url;
    let data = server.folder().join("data");
    let make = "
        key='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
        openssl req -x509 $key -days 2 -subj /CN=ours -keyout ca.key -out ../root.crt
        openssl req -new $key -subj /CN=localhost -keyout server.key -out server.csr
        echo subjectAltName=DNS:localhost > names
        openssl x509 -req -days 2 -in server.csr -CA ../root.crt -CAkey ca.key -CAcreateserial -extfile names -out server.crt
        chown --reference=postgresql.conf server.crt server.key; chmod 600 server.key";
    let made = Command::new("sh").args(["-ec", make]).current_dir(&data).output().unwrap();
    if !made.status.success() {
        let why = format!("no certificate can be made here: {}", String::from_utf8_lossy(&made.stderr));
        agon_rig::cannot_run(agon_rig::Lacks::Machine, &why);
        return;
    }
    let root = server.folder().join("root.crt");
    run(async {
        by_hand(&url, "ALTER SYSTEM SET ssl = on").await.unwrap();
        by_hand(&url, "SELECT pg_reload_conf()").await.unwrap();
        let here = url.replace("127.0.0.1", "localhost");
        let with = |url: &str, mode: &str| format!("{url}?sslmode={mode}&sslrootcert={}", root.display());
        while PgConnection::connect(&format!("{url}?sslmode=require")).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        begun(&with(&here, "verify-full"), "cup").await;
        let answers = agon_store::postgres::probe(&with(&here, "verify-full")).await.unwrap();
        assert!(answers.iter().all(|(_, answer)| answer.is_ok()), "{answers:?}");
        assert!(
            answers.iter().any(|(what, answer)| what == "TLS" && answer.as_ref().unwrap().contains("TLSv1."))
        );
        // Another host than the certificate is for; no authority that signed it.
        for wrong in [with(&url, "verify-full"), format!("{here}?sslmode=verify-full")] {
            let told = PostgresLedger::open(&wrong, "cup").await.unwrap_err();
            let text = told.to_string();
            assert!(text.contains("no TLS as sslmode=verify-full asks for") && told.is_wrong_use(), "{text}");
        }
    });
}
