//! `/healthz`, `/readyz` and their metrics: what is available, what is not, and since when.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::time::{Duration, Instant};

use agon_competition::LedgerLocation;
use agon_grid::NatsOptions;
use agon_test_servers::{Nats, Postgres};
use common::{Answer, Site};
use serde_json::{Value, json};

fn part<'a>(answer: &'a Answer, name: &str) -> &'a Value {
    let parts = answer.json["parts"].as_array().unwrap();
    parts.iter().find(|part| part["name"] == name).unwrap_or(&Value::Null)
}

/// Asks until a part is available or not.
async fn until(site: &Site, name: &str, ok: bool) -> Answer {
    let begun = Instant::now();
    loop {
        let answer = site.anonymous().get("/readyz").await;
        if part(&answer, name)["ok"] == json!(ok) {
            return answer;
        }
        assert!(begun.elapsed() < agon_test_servers::WAIT_TIMEOUT, "{}", answer.json);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn metrics(site: &Site) -> String {
    String::from_utf8(site.anonymous().get("/metrics").await.bytes.to_vec()).unwrap()
}

#[tokio::test]
async fn server_is_ready_when_all_parts_are_available() {
    let site = Site::with(|config| config.private = true).await;
    let answer = site.anonymous().get("/readyz").await;
    assert_eq!((answer.status.as_u16(), &answer.json["ready"]), (200, &json!(true)), "{}", answer.json);
    assert_eq!(answer.header("cache-control"), "no-store");
    let names: Vec<&str> =
        answer.json["parts"].as_array().unwrap().iter().map(|part| part["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["database", "disk", "checks"]);
    assert_eq!(site.anonymous().get("/healthz").await.status, 200);
    site.app.stopping.send_replace(true);
    let answer = site.anonymous().get("/readyz").await;
    assert_eq!((answer.status.as_u16(), &answer.json["stopping"]), (503, &json!(true)));
}

#[tokio::test]
async fn full_disk_makes_the_server_not_ready_but_needs_no_restart() {
    let site = Site::with(|config| config.uploads.min_free_disk = u64::MAX).await;
    let answer = site.anonymous().get("/readyz").await;
    assert_eq!(answer.status, 503);
    assert!(part(&answer, "disk")["message"].as_str().unwrap().contains("are free"), "{}", answer.json);
    assert_eq!(part(&answer, "database")["ok"], true);
    assert_eq!(site.anonymous().get("/healthz").await.status, 200);
    let text = metrics(&site).await;
    for line in ["agon_part_up{part=\"disk\"} 0", "agon_part_up{part=\"database\"} 1"] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[tokio::test]
async fn database_that_does_not_answer_is_reported() {
    let site = Site::new().await;
    let before = site.anonymous().get("/readyz").await;
    site.app.site_db.disconnect().await.unwrap();
    let answer = until(&site, "database", false).await;
    assert_eq!(answer.status, 503);
    assert_eq!(part(&answer, "database")["message"], "the site database cannot be read");
    assert!(part(&answer, "database")["since"].as_i64() >= part(&before, "database")["since"].as_i64());
    assert_eq!(
        part(&answer, "disk")["since"],
        part(&before, "disk")["since"],
        "unchanged since the first test"
    );
    assert_eq!(site.anonymous().get("/healthz").await.status, 503);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn check_threads_are_counted() {
    let site = Site::with(|config| config.checks = 2).await;
    assert!(metrics(&site).await.contains("agon_check_threads 0\n"));
    agon_server::uploads::start(&site.app).await.unwrap();
    assert!(metrics(&site).await.contains("agon_check_threads 2\n"));
    assert_eq!(site.anonymous().get("/readyz").await.status, 200);
    site.app.stopping.send_replace(true);
    site.app.check_queue.wake();
    let begun = Instant::now();
    while site.app.check_queue.threads() > 0 {
        assert!(begun.elapsed() < agon_test_servers::WAIT_TIMEOUT);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // Threads that end without being told to are missing.
    site.app.stopping.send_replace(false);
    let answer = until(&site, "checks", false).await;
    assert_eq!(part(&answer, "checks")["message"], "2 of 2 threads that check bots have ended");
    assert_eq!(site.anonymous().get("/healthz").await.status, 503);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nats_and_postgresql_are_reported_while_they_are_away() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let (mut nats, postgres) = (Nats::start(), Postgres::start_without_fsync());
    let database = postgres.database();
    let options = NatsOptions { url: nats.url(), name: "coordinator".to_owned(), ..NatsOptions::default() };
    let url = database.url.clone();
    let site = Site::with(|config| {
        config.nats = Some(options);
        config.ledgers = LedgerLocation::Database(url);
    })
    .await;
    let answer = site.anonymous().get("/readyz").await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    nats.kill();
    let away = until(&site, "nats", false).await;
    assert_eq!((away.status.as_u16(), &part(&away, "postgresql")["ok"]), (503, &json!(true)));
    nats.restart();
    postgres.kill();
    let away = until(&site, "postgresql", false).await;
    assert!(!away.json.to_string().contains(&database.url), "{}", away.json);
    until(&site, "nats", true).await;
    assert!(metrics(&site).await.contains("agon_part_up{part=\"postgresql\"} 0"));
    postgres.restart();
    let back = until(&site, "postgresql", true).await;
    assert!(part(&back, "postgresql")["since"].as_i64() > part(&away, "postgresql")["since"].as_i64());
    assert_eq!(site.anonymous().get("/readyz").await.status, 200);
}
