//! Health of the server: `/healthz` for a supervisor, `/readyz` for a load balancer and an operator, and the same as metrics.
//!
//! `/healthz` fails if a restart could help: the site database does not answer, or the threads that check bots have ended. `/readyz` fails
//! if the server cannot do all of its work, and says which part is not available, and since when. The parts are tested on request, at
//! most every [`MAX_AGE`], and regularly while the server runs, so that changes are in the log.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use agon_competition::LedgerLocation;
use agon_store::{PostgresLedger, Timestamp};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use tokio::sync::Mutex;

use crate::state::AppState;

/// Maximum age of a result that is given again.
const MAX_AGE: Duration = Duration::from_secs(2);
/// Timeout for the test of one part.
const TEST_TIMEOUT: Duration = Duration::from_secs(5);
/// Interval at which a running server tests its parts.
const TEST_INTERVAL: Duration = Duration::from_secs(10);
/// Setting that is written to test whether the site database can be written.
const WRITE_TEST_SETTING: &str = "health.written";

/// State of one part of the server.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PartHealth {
    /// Name of the part: `database`, `disk`, `checks`, `nats` or `postgresql`.
    pub name: &'static str,
    /// Whether it is available.
    pub ok: bool,
    /// Why it is not; empty if it is.
    pub message: String,
    /// Time since which it has been so, in milliseconds since 1970. That of the first test at the latest.
    pub since: i64,
}

/// Results of the latest test.
#[derive(Default)]
pub struct HealthMonitor(Mutex<Option<(Instant, Vec<PartHealth>)>>);

/// Body of `/readyz`.
#[derive(Serialize)]
struct Readiness {
    ready: bool,
    /// Whether the server is stopping.
    stopping: bool,
    parts: Vec<PartHealth>,
}

/// State of all parts, at most [`MAX_AGE`] old. Parallel callers share one test.
pub async fn current(app: &AppState) -> Vec<PartHealth> {
    let mut latest = app.health.0.lock().await;
    if let Some((at, parts)) = &*latest
        && at.elapsed() < MAX_AGE
    {
        return parts.clone();
    }
    let mut parts = test_all(app).await;
    for part in &mut parts {
        let before = latest.as_ref().and_then(|(_, parts)| parts.iter().find(|one| one.name == part.name));
        match before {
            Some(before) if before.ok == part.ok => part.since = before.since,
            before => log_change(part, before),
        }
    }
    *latest = Some((Instant::now(), parts.clone()));
    parts
}

fn log_change(part: &PartHealth, before: Option<&PartHealth>) {
    if !part.ok {
        tracing::warn!(
            part = part.name,
            message = part.message,
            "not available; it is tested again and again"
        );
    } else if let Some(before) = before {
        let seconds = (part.since - before.since).max(0) / 1000;
        tracing::info!(part = part.name, away_seconds = seconds, "available again");
    }
}

async fn test_all(app: &AppState) -> Vec<PartHealth> {
    let mut parts = vec![
        part("database", test_database(app)).await,
        part("disk", std::future::ready(test_disk(app))).await,
        part("checks", std::future::ready(test_checks(app))).await,
    ];
    if let Some(grid) = &app.grid {
        let answers =
            async { grid.job_counts().await.map(drop).ok_or_else(|| "NATS does not answer".to_owned()) };
        parts.push(part("nats", answers).await);
    }
    if let LedgerLocation::Database(url) = &app.config.ledgers {
        let answers = async {
            PostgresLedger::list(url).await.map(drop).map_err(|error| {
                // The error may name the host and the user.
                tracing::debug!(%error, "PostgreSQL");
                "PostgreSQL does not answer, or refuses the connection".to_owned()
            })
        };
        parts.push(part("postgresql", answers).await);
    }
    parts
}

async fn part(name: &'static str, test: impl Future<Output = Result<(), String>>) -> PartHealth {
    let result = tokio::time::timeout(TEST_TIMEOUT, test)
        .await
        .unwrap_or_else(|_| Err(format!("no answer within {} s", TEST_TIMEOUT.as_secs())));
    PartHealth {
        name,
        ok: result.is_ok(),
        message: result.err().unwrap_or_default(),
        since: Timestamp::now().0,
    }
}

/// Reads from the site database and writes to it.
async fn test_database(app: &AppState) -> Result<(), String> {
    let log = |error: agon_site_db::SiteDbError| tracing::debug!(%error, "site database");
    app.site_db.count_queued().await.map_err(log).map_err(|()| "the site database cannot be read")?;
    let now = Timestamp::now().0.to_string();
    let written = app.site_db.set_setting(WRITE_TEST_SETTING, Some(&now)).await;
    written.map_err(log).map_err(|()| "the site database cannot be written")?;
    Ok(())
}

/// Free bytes on the disk of the data folder.
pub fn free_disk(app: &AppState) -> Option<u64> {
    rustix::fs::statvfs(&app.config.data).ok().map(|disk| disk.f_bavail * disk.f_frsize)
}

fn test_disk(app: &AppState) -> Result<(), String> {
    let least = app.config.uploads.min_free_disk;
    match free_disk(app) {
        Some(free) if free >= least => Ok(()),
        Some(free) => Err(format!("{} MiB are free, at least {} are needed", free >> 20, least >> 20)),
        None => Err("the data folder cannot be accessed".to_owned()),
    }
}

fn test_checks(app: &AppState) -> Result<(), String> {
    let (alive, started) = (app.check_queue.threads(), app.check_queue.started_threads());
    if alive < started && !app.is_stopping() {
        return Err(format!("{} of {started} threads that check bots have ended", started - alive));
    }
    Ok(())
}

/// Answers `ok` unless a restart could help.
pub async fn healthz(State(app): State<AppState>) -> Response {
    let answers = tokio::time::timeout(TEST_TIMEOUT, app.site_db.count_queued());
    let problem = match answers.await {
        Ok(Ok(_)) => test_checks(&app).err(),
        Ok(Err(error)) => {
            let _ = crate::error::ApiError::internal(error);
            Some("the site database does not answer".to_owned())
        }
        Err(_) => Some("the site database takes too long".to_owned()),
    };
    match problem {
        None => (StatusCode::OK, "ok\n").into_response(),
        Some(problem) => (StatusCode::SERVICE_UNAVAILABLE, format!("{problem}\n")).into_response(),
    }
}

/// Says whether the server can do all of its work, and which part cannot.
pub async fn readyz(State(app): State<AppState>) -> Response {
    let parts = current(&app).await;
    let stopping = app.is_stopping();
    let ready = !stopping && parts.iter().all(|part| part.ok);
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let no_store = (header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    (status, [no_store], Json(Readiness { ready, stopping, parts })).into_response()
}

/// Tests all parts regularly, so that changes are in the log.
pub async fn watch(app: AppState) {
    loop {
        current(&app).await;
        tokio::time::sleep(TEST_INTERVAL).await;
    }
}

/// Writes the metrics.
pub async fn write_metrics(app: &AppState, text: &mut String) {
    let _ = writeln!(
        text,
        "# HELP agon_part_up Whether a part of the server is available (1) or not (0).\n# TYPE agon_part_up gauge"
    );
    let parts = current(app).await;
    for part in &parts {
        let _ = writeln!(text, "agon_part_up{{part=\"{}\"}} {}", part.name, u8::from(part.ok));
    }
    let _ = writeln!(
        text,
        "# HELP agon_part_since_seconds Time of the last change of a part, in seconds since 1970.\n# TYPE agon_part_since_seconds gauge"
    );
    for part in &parts {
        let _ = writeln!(text, "agon_part_since_seconds{{part=\"{}\"}} {}", part.name, part.since / 1000);
    }
    let stored = app.site_db.disk_bytes(None).await.unwrap_or_default();
    for (name, about, value) in [
        ("agon_check_threads", "Threads that check submitted bots.", app.check_queue.threads() as u64),
        (
            "agon_disk_free_bytes",
            "Free space on the disk of the data folder.",
            free_disk(app).unwrap_or_default(),
        ),
        ("agon_submissions_disk_bytes", "Disk space that submissions occupy.", stored),
    ] {
        let _ = writeln!(text, "# HELP {name} {about}\n# TYPE {name} gauge\n{name} {value}");
    }
}
