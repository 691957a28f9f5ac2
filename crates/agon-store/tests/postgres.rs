//! Tests that only apply to ledgers on a server: unreachable server, lost run lock, permissions, URLs and TLS.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod common;

use std::fs;
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_core::ErrorKind;
use agon_core::record::Digest;
use agon_store::{
    CheckHealth, FinishedMatch, Ledger as _, MatchFilter, NewRuling, PostgresLedger, RulingKind, RulingLift,
    StoreError, Timestamp,
};
use agon_test_servers::{CapturedLog, Postgres, Proxy};
use common::{SMALL, finished, key, new_ledger, run};
use futures_util::TryStreamExt as _;
use sqlx::{Connection as _, PgConnection};

/// Whether to skip a test.
#[track_caller]
fn postgres_is_missing() -> bool {
    let missing = !Postgres::is_installed();
    if missing {
        agon_test_servers::cannot_run(agon_test_servers::Lacks::Setup, "no PostgreSQL");
    }
    missing
}

/// A server that tests may kill and reconfigure, one test at a time.
fn restartable_server() -> (&'static Postgres, MutexGuard<'static, ()>) {
    static SERVER: LazyLock<Postgres> = LazyLock::new(Postgres::start_without_fsync);
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    (&SERVER, alone)
}

async fn started_ledger(url: &str, slug: &str) -> PostgresLedger {
    let ledger = PostgresLedger::create(url, slug, &new_ledger(1)).await.unwrap();
    ledger.start_phase(0, Timestamp(0)).await.unwrap();
    ledger
}

fn batch(numbers: std::ops::Range<u64>) -> Vec<FinishedMatch> {
    numbers.map(|number| finished(key(0, 0, number), SMALL)).collect()
}

/// Runs SQL on the server directly.
async fn run_sql(url: &str, sql: &'static str) -> Result<(), sqlx::Error> {
    let mut connection = PgConnection::connect(url).await?;
    sqlx::raw_sql(sql).execute(&mut connection).await.map(drop)
}

#[test]
fn killed_and_restarted_server_loses_nothing() {
    if postgres_is_missing() {
        return;
    }
    let (server, _alone) = restartable_server();
    let url = server.database().url;
    run(async {
        let ledger = started_ledger(&url, "cup").await;
        let run_lock = ledger.acquire_run_lock().await.unwrap();
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
            // Calls during the outage succeed after the restart. Some of these matches were stored before.
            let done = ledger.append(&batch(from + 10..from + 40), None).await.unwrap();
            assert_eq!((done.new, done.already_stored), (20, 10));
            assert_eq!(reader.counts(0).await.unwrap().matches, from + 40);
            back.join().unwrap();
            // The run lock was lost with the server, and taken again with the first write.
            let error = reader.acquire_run_lock().await.unwrap_err();
            assert!(matches!(error, StoreError::AlreadyRunning { .. }), "{error}");
        }
        let all: Vec<_> = reader.matches(0, MatchFilter::default()).try_collect().await.unwrap();
        assert_eq!(all.len(), 120);
        assert_eq!(ledger.check().await.unwrap(), Vec::<String>::new());
        drop(run_lock);
        drop(reader.acquire_run_lock().await.unwrap());
    });
}

#[test]
fn process_that_lost_the_run_lock_stores_nothing_more() {
    if postgres_is_missing() {
        return;
    }
    let (server, _alone) = restartable_server();
    let url = server.database().url;
    run(async {
        let first = started_ledger(&url, "cup").await;
        let run_lock = first.acquire_run_lock().await.unwrap();
        first.append(&batch(0..5), None).await.unwrap();
        server.kill();
        server.restart();
        // The lock is free after the restart, and a second process takes it first.
        let second = PostgresLedger::open(&url, "cup").await.unwrap();
        let other = second.acquire_run_lock().await.unwrap();
        let error = first.append(&batch(5..6), None).await.unwrap_err();
        let StoreError::AlreadyRunning { pid, .. } = &error else { panic!("{error}") };
        assert_eq!(*pid, std::process::id());
        second.append(&batch(5..7), None).await.unwrap();
        // The same after the second has released it: it may have stored other matches.
        drop(other);
        let error = first.append(&batch(7..8), None).await.unwrap_err();
        assert!(matches!(error, StoreError::AlreadyRunning { .. }), "{error}");
        assert_eq!(second.counts(0).await.unwrap().matches, 7);
        drop(run_lock);
        let _run_lock = first.acquire_run_lock().await.unwrap();
        first.append(&batch(7..8), None).await.unwrap();
    });
}

#[test]
fn unreachable_server_is_reported_after_the_timeout() {
    if postgres_is_missing() {
        return;
    }
    let (server, _alone) = restartable_server();
    let url = server.database().url;
    run(async {
        let ledger = started_ledger(&url, "cup").await.with_reconnect_timeout(Duration::from_millis(1_500));
        server.kill();
        let start = Instant::now();
        let error = ledger.append(&batch(0..1), None).await.unwrap_err();
        assert!(start.elapsed() >= Duration::from_millis(1_500));
        let text = error.to_string();
        assert!(
            text.contains("the database server does not respond (retried for ")
                && text.contains("\nhint: ")
                && error.kind() != ErrorKind::Usage,
            "{text}"
        );
        // Opening a ledger fails at once.
        let error = PostgresLedger::open(&url, "cup").await.unwrap_err();
        assert!(error.to_string().contains("does not respond: "), "{error}");
        server.restart();
        ledger.append(&batch(0..1), None).await.unwrap();
    });
}

#[test]
fn outage_is_known_while_it_lasts_and_reported_at_its_begin_and_end() {
    if postgres_is_missing() {
        return;
    }
    let log = CapturedLog::start();
    let (server, _alone) = restartable_server();
    let url = server.database().url;
    run(async {
        let ledger = Arc::new(started_ledger(&url, "cup").await);
        let place = ledger.connectivity().unwrap().place;
        assert!(!place.contains("hush") && place.ends_with(url.rsplit('/').next().unwrap()), "{place}");
        assert_eq!(ledger.connectivity().unwrap().outage, None);
        ledger.ping().await.unwrap();
        server.kill();
        let begin = Timestamp::now();
        let write = tokio::spawn({
            let ledger = Arc::clone(&ledger);
            async move { ledger.append(&batch(0..3), None).await }
        });
        let outage = loop {
            match ledger.connectivity().unwrap().outage {
                Some(outage) => break outage,
                None => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        };
        assert!(outage.is_retrying && outage.since >= begin && !outage.error.is_empty(), "{outage:?}");
        let error = ledger.ping().await.unwrap_err();
        assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
        let listed = agon_store::postgres::connectivity();
        assert!(listed.iter().any(|one| one.place == place && one.outage.is_some()), "{listed:?}");
        server.restart();
        write.await.unwrap().unwrap();
        let status = ledger.connectivity().unwrap();
        assert_eq!((status.outage, status.outages), (None, 1));
        assert!(status.failed_attempts >= 2);
        ledger.ping().await.unwrap();
        let said = |text: &str| {
            log.lines_with(text)
                .into_iter()
                .filter(|line| line.contains(&place) && line.contains("WARN"))
                .count()
        };
        assert_eq!(
            (said("the database does not answer; retrying"), said("the database answers again")),
            (1, 1)
        );
    });
}

#[test]
fn frozen_server_is_reported_before_the_query_times_out() {
    if postgres_is_missing() {
        return;
    }
    let (server, _alone) = restartable_server();
    let url = server.database().url;
    run(async {
        let (before, database) = url.rsplit_once('/').unwrap();
        let (host, port) = before.rsplit_once(':').unwrap();
        let proxy = Proxy::to(port.parse().unwrap());
        let through_proxy = format!("{host}:{}/{database}", proxy.port());
        let ledger = Arc::new(started_ledger(&through_proxy, "cup").await);
        // Connections stay open and carry nothing, like those to a machine that has lost its network.
        proxy.cut();
        let read = tokio::spawn({
            let ledger = Arc::clone(&ledger);
            async move { ledger.phases().await }
        });
        let start = Instant::now();
        while ledger.connectivity().unwrap().outage.is_none() {
            assert!(start.elapsed() < Duration::from_secs(30), "not reported");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(!read.is_finished());
        proxy.restore();
        assert_eq!(read.await.unwrap().unwrap().len(), 1);
        assert_eq!(ledger.connectivity().unwrap().outage, None);
    });
}

#[test]
fn ruling_is_made_once_when_connections_are_terminated() {
    if postgres_is_missing() {
        return;
    }
    let url = Postgres::shared().database().url;
    run(async {
        let ledger = started_ledger(&url, "cup").await;
        ledger.append(&batch(0..3), None).await.unwrap();
        let ruling = NewRuling {
            kind: RulingKind::Void(key(0, 0, 1)),
            reason: "the power was cut".to_owned(),
            by: "Ada".to_owned(),
            at: Timestamp(9),
        };
        assert_eq!(ledger.add_ruling(&ruling).await.unwrap(), 1);
        ledger
            .lift_ruling(1, &RulingLift { reason: "no".to_owned(), by: "Ada".to_owned(), at: Timestamp(10) })
            .await
            .unwrap();
        assert_eq!(ledger.add_ruling(&ruling).await.unwrap(), 2);
        // Sessions that an administrator terminates are reopened.
        run_sql(
            &url,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'agon'",
        )
        .await
        .unwrap();
        assert_eq!(ledger.rulings().await.unwrap().len(), 2);
        assert!(ledger.add_ruling(&ruling).await.is_err());
    });
}

#[test]
fn triggers_reject_manual_changes_of_stored_rows() {
    if postgres_is_missing() {
        return;
    }
    let url = Postgres::shared().database().url;
    run(async {
        let ledger = started_ledger(&url, "cup").await;
        ledger.append(&batch(0..6), None).await.unwrap();
        ledger.publish_phase(0, Digest([1; 32]), &[], Timestamp(1)).await.unwrap();
        let ruling = NewRuling {
            kind: RulingKind::Void(key(0, 0, 3)),
            reason: "the power was cut".to_owned(),
            by: "Ada".to_owned(),
            at: Timestamp(1),
        };
        ledger.add_ruling(&ruling).await.unwrap();
        let schema = ledger.schema().to_owned();
        let mut connection = PgConnection::connect(&url).await.unwrap();
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
            let error = sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut connection).await.unwrap_err();
            let text = error.to_string();
            assert!(
                ["never", "takes no matches", "violates foreign key"].iter().any(|why| text.contains(why)),
                "{attempt}: {text}"
            );
            sqlx::raw_sql("ROLLBACK").execute(&mut connection).await.unwrap();
        }
        assert_eq!(ledger.check().await.unwrap(), Vec::<String>::new());
    });
}

#[test]
fn competitions_share_a_database_and_are_found_by_name() {
    if postgres_is_missing() {
        return;
    }
    let url = Postgres::shared().database().url;
    run(async {
        assert_eq!(PostgresLedger::list(&url).await.unwrap(), []);
        let (long, other) = ("x".repeat(80), "x".repeat(81));
        // Names with the same schema part, and names longer than a schema name, are still distinct.
        for slug in ["Cup", "cup", "cup-1", "cup_1", &long, &other] {
            assert!(!PostgresLedger::exists(&url, slug).await.unwrap());
            let error = PostgresLedger::open(&url, slug).await.unwrap_err();
            assert!(
                matches!(error, StoreError::Missing { .. }) && error.to_string().contains(slug),
                "{error}"
            );
            started_ledger(&url, slug).await;
            let error = PostgresLedger::create(&url, slug, &new_ledger(1)).await.unwrap_err();
            assert!(matches!(error, StoreError::Exists { .. }), "{error}");
        }
        let listed = PostgresLedger::list(&url).await.unwrap();
        assert_eq!(
            listed.iter().map(|one| &*one.slug).collect::<Vec<_>>(),
            ["Cup", "cup", "cup-1", "cup_1", &*long, &*other]
        );
        PostgresLedger::open(&url, "cup").await.unwrap().append(&batch(0..3), None).await.unwrap();
        assert_eq!(PostgresLedger::open(&url, "Cup").await.unwrap().counts(0).await.unwrap().matches, 0);
        // A renamed ledger still exists, and its old name is free.
        let held = PostgresLedger::open(&url, "cup").await.unwrap();
        let run_lock = held.acquire_run_lock().await.unwrap();
        assert!(matches!(
            PostgresLedger::rename_old(&url, "cup").await,
            Err(StoreError::AlreadyRunning { .. })
        ));
        drop(run_lock);
        assert_eq!(PostgresLedger::rename_old(&url, "cup").await.unwrap(), "cup.1");
        started_ledger(&url, "cup").await;
        assert_eq!(PostgresLedger::rename_old(&url, "cup").await.unwrap(), "cup.2");
        assert_eq!(PostgresLedger::open(&url, "cup.1").await.unwrap().counts(0).await.unwrap().matches, 3);
        assert!(!PostgresLedger::exists(&url, "cup").await.unwrap());
    });
}

#[test]
fn newer_ledger_is_rejected_and_a_broken_one_is_reported() {
    if postgres_is_missing() {
        return;
    }
    let url = Postgres::shared().database().url;
    run(async {
        let schema = started_ledger(&url, "cup").await.schema().to_owned();
        let connection = async |sql: &str| {
            let mut connection = PgConnection::connect(&url).await.unwrap();
            let sql = sql.replace("S.", &format!("{schema}."));
            sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
        };
        connection("UPDATE S.ledger SET version = version + 1000").await;
        for error in
            [PostgresLedger::open(&url, "cup").await, PostgresLedger::open_to_read(&url, "cup").await]
        {
            let error = error.unwrap_err();
            assert!(
                matches!(error, StoreError::NewerVersion { found: 1000.., .. })
                    && error.kind() == ErrorKind::Usage,
                "{error}"
            );
        }
        connection("UPDATE S.ledger SET version = version - 1000; DROP TABLE S.snapshot").await;
        let ledger = PostgresLedger::open(&url, "cup").await.unwrap();
        let error = ledger.progress(0).await.unwrap_err();
        assert!(matches!(error, StoreError::NotALedger { .. }), "{error}");
        connection("UPDATE S.phase SET matches = 7").await;
        assert!(ledger.check().await.is_err());
    });
}

#[test]
fn reader_needs_no_permission_to_write_or_to_read_the_seed() {
    if postgres_is_missing() {
        return;
    }
    let server = Postgres::shared();
    let url = server.database().url;
    run(async {
        let ledger = started_ledger(&url, "cup").await;
        ledger.append(&batch(0..3), None).await.unwrap();
        let schema = ledger.schema().to_owned();
        let reader = format!("reader_{}", url.rsplit('/').next().unwrap());
        let sql = format!(
            "CREATE ROLE {reader} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {reader}; GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {reader}; \
             REVOKE ALL ON {schema}.secret FROM {reader}"
        );
        let mut connection = PgConnection::connect(&url).await.unwrap();
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
        let reader_url = url.replace("agon@", &format!("{reader}@"));
        let reader_ledger = PostgresLedger::open_to_read(&reader_url, "cup").await.unwrap();
        assert_eq!(reader_ledger.counts(0).await.unwrap().matches, 3);
        assert_eq!(reader_ledger.competition().await.unwrap().name, "Autumn Cup");
        assert_eq!(reader_ledger.progress(0).await.unwrap().results_after_snapshot.len(), 3);
        for error in [
            reader_ledger.secret_seed().await.unwrap_err(),
            PostgresLedger::open(&reader_url, "cup")
                .await
                .unwrap()
                .append(&batch(3..4), None)
                .await
                .unwrap_err(),
            PostgresLedger::create(&reader_url, "mine", &new_ledger(1)).await.unwrap_err(),
        ] {
            let text = error.to_string();
            assert!(
                text.contains(&reader)
                    && text.contains("lacks a permission")
                    && error.kind() == ErrorKind::Usage,
                "{text}"
            );
        }
        let error = reader_ledger.append(&batch(3..4), None).await.unwrap_err();
        assert!(error.to_string().contains("it was opened read-only"), "{error}");
    });
}

#[test]
fn wrong_passwords_databases_and_ports_have_different_errors() {
    if postgres_is_missing() {
        return;
    }
    let (server, _alone) = restartable_server();
    let url = server.database().url;
    run(async {
        run_sql(&url, "CREATE ROLE ada LOGIN PASSWORD 'right'").await.unwrap();
        run_sql(&url, "ALTER SYSTEM SET ssl = off").await.unwrap();
        let hba = server.folder().join("data/pg_hba.conf");
        let rules = fs::read_to_string(&hba).unwrap();
        fs::write(&hba, format!("host all ada 127.0.0.1/32 scram-sha-256\nhost all eve all reject\n{rules}"))
            .unwrap();
        run_sql(&url, "SELECT pg_reload_conf()").await.unwrap();
        let user = |user: &str| url.replace("agon@", &format!("{user}@"));
        // Waits until the server has reloaded its configuration.
        while PgConnection::connect(&user("ada:hush")).await.is_ok()
            || PgConnection::connect(&format!("{url}?sslmode=require")).await.is_ok()
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(PostgresLedger::list(&user("ada:right")).await.unwrap().is_empty());
        let unused_port = format!("postgres://ada:hush@127.0.0.1:{}/x", agon_test_servers::free_port());
        let base = url.rsplit_once('/').unwrap().0;
        for (url, expected, is_usage_error) in [
            (user("ada:hush"), "the server rejected the password of user ada", true),
            (user("eve:hush"), "the server rejected user eve", true),
            (
                format!("{base}/nowhere"),
                "the database does not exist\nhint: create it on the server: createdb",
                true,
            ),
            (unused_port, "the database server does not respond: ", false),
            (
                format!("{url}?sslmode=require"),
                "TLS failed (sslmode=require): server does not support TLS",
                true,
            ),
            (
                format!("{url}?sslmode=verify-full&sslrootcert=/no/such.pem"),
                "TLS failed (sslmode=verify-full)",
                true,
            ),
        ] {
            let error = PostgresLedger::open(&url, "cup").await.unwrap_err();
            let text = error.to_string();
            assert!(text.contains(expected) && text.contains("\nhint: ") && !text.contains("hush"), "{text}");
            assert_eq!(error.kind() == ErrorKind::Usage, is_usage_error, "{text}");
        }
    });
}

#[test]
fn tls_is_used_if_available_and_a_wrong_certificate_is_rejected() {
    if postgres_is_missing() {
        return;
    }
    let (server, _alone) = restartable_server();
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
        let why = format!("cannot create a certificate here: {}", String::from_utf8_lossy(&made.stderr));
        agon_test_servers::cannot_run(agon_test_servers::Lacks::Machine, &why);
        return;
    }
    let root = server.folder().join("root.crt");
    run(async {
        run_sql(&url, "ALTER SYSTEM SET ssl = on").await.unwrap();
        run_sql(&url, "SELECT pg_reload_conf()").await.unwrap();
        let here = url.replace("127.0.0.1", "localhost");
        let with = |url: &str, mode: &str| format!("{url}?sslmode={mode}&sslrootcert={}", root.display());
        while PgConnection::connect(&format!("{url}?sslmode=require")).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        started_ledger(&with(&here, "verify-full"), "cup").await;
        let answers = agon_store::postgres::probe(&with(&here, "verify-full")).await.unwrap();
        assert!(answers.iter().all(|check| check.health == CheckHealth::Good), "{answers:?}");
        assert!(answers.iter().any(|check| check.name == "TLS" && check.found.contains("TLSv1.")));
        // A host that the certificate does not name, and a missing certificate authority.
        for wrong in [with(&url, "verify-full"), format!("{here}?sslmode=verify-full")] {
            let error = PostgresLedger::open(&wrong, "cup").await.unwrap_err();
            let text = error.to_string();
            assert!(
                text.contains("TLS failed (sslmode=verify-full)") && error.kind() == ErrorKind::Usage,
                "{text}"
            );
        }
    });
}
