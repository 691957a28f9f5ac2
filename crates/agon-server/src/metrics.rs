//! Metrics for `/metrics` (Prometheus text format).

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use agon_core::LockIgnoringPoison as _;
use agon_grid::messages::Heartbeat;
use agon_grid::worker_directory::WorkerStatus as WorkerState;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::grid::{GridClient, WorkerStats};
use crate::runs::core_pool::BackgroundWork;
use crate::state::AppState;

/// Upper bounds of the histogram buckets: in microseconds, and as text in seconds.
const BUCKETS: [(u64, &str); 9] = [
    (1_000, "0.001"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (500_000, "0.5"),
    (1_000_000, "1"),
    (5_000_000, "5"),
    (30_000_000, "30"),
];

/// Counters and gauges of the server.
#[derive(Default)]
pub struct HttpMetrics {
    routes: Mutex<HashMap<String, RouteMetrics>>,
    uploads: Mutex<BTreeMap<&'static str, u64>>,
    sign_ins: Mutex<BTreeMap<&'static str, u64>>,
    mails: Mutex<BTreeMap<&'static str, u64>>,
    webhooks: Mutex<BTreeMap<&'static str, u64>>,
    /// Games being played on this machine.
    pub games: AtomicI64,
    /// Open connections.
    pub connections: AtomicI64,
}

#[derive(Default)]
struct RouteMetrics {
    responses: BTreeMap<(&'static str, u16), u64>,
    buckets: [u64; BUCKETS.len()],
    count: u64,
    total: Duration,
}

impl HttpMetrics {
    /// Counts an upload by its outcome: `accepted`, `refused`, `broke`, `too_large`, ... The set of outcomes is small and fixed.
    pub fn upload(&self, outcome: &'static str) {
        *lock(&self.uploads).entry(outcome).or_default() += 1;
    }

    /// Counts a sign-in by its outcome: `right`, `wrong`, `limited` or `delayed`.
    pub fn sign_in(&self, outcome: &'static str) {
        *lock(&self.sign_ins).entry(outcome).or_default() += 1;
    }

    /// Counts a mail by its outcome: `sent`, `failed` or `dropped`.
    pub fn mail(&self, outcome: &'static str) {
        *lock(&self.mails).entry(outcome).or_default() += 1;
    }

    /// Counts a request of a webhook by its outcome: `sent` or `failed`.
    pub fn webhook(&self, outcome: &'static str) {
        *lock(&self.webhooks).entry(outcome).or_default() += 1;
    }

    fn record_response(&self, route: &str, method: &'static str, status: u16, took: Duration) {
        let mut routes = lock(&self.routes);
        if !routes.contains_key(route) {
            routes.insert(route.to_owned(), RouteMetrics::default());
        }
        let Some(route) = routes.get_mut(route) else { return };
        *route.responses.entry((method, status)).or_default() += 1;
        let micros = took.as_micros() as u64;
        for (bucket, (end, _)) in route.buckets.iter_mut().zip(BUCKETS) {
            *bucket += u64::from(micros <= end);
        }
        route.count += 1;
        route.total += took;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock_ignoring_poison()
}

/// Counts a request by the route it matched. Counting by path would create an unlimited number of series.
pub async fn count_requests(State(app): State<AppState>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let method = match request.method().as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        _ => "other",
    };
    let response = next.run(request).await;
    let route = route.as_ref().map_or("(page)", MatchedPath::as_str);
    app.meters.record_response(route, method, response.status().as_u16(), start.elapsed());
    response
}

/// Writes all metrics.
pub async fn metrics(State(app): State<AppState>) -> Response {
    let mut text = String::new();
    write_requests(&app.meters, &mut text);
    let queued = app.site_db.count_queued().await.unwrap_or_default();
    let sessions = app.site_db.count_sessions(agon_store::Timestamp::now()).await.unwrap_or_default();
    let challenges = app.site_db.count_queued_challenges().await.unwrap_or_default();
    let lent = |work| app.runs.core_pool.lent(work);
    let practice = lent(BackgroundWork::Challenge) + lent(BackgroundWork::Ladder);
    let gauge = |value: &AtomicI64| value.load(Ordering::Relaxed).max(0) as u64;
    let games = match &app.grid {
        Some(_) => app.runs.all().iter().map(|(_, one)| one.games.load(Ordering::Relaxed)).sum(),
        None => gauge(&app.meters.games),
    };
    for (name, about, value) in [
        ("agon_sessions", "Active sessions.", sessions),
        ("agon_games_running", "Games being played.", games),
        ("agon_submissions_queued", "Submissions waiting for their check.", queued),
        ("agon_challenges_queued", "Challenges waiting to be played.", challenges),
        ("agon_practice_games", "Practice games and challenges being played.", practice as u64),
        ("agon_watchers", "Open live streams.", app.streams.total() as u64),
        ("agon_connections", "Open connections.", gauge(&app.meters.connections)),
        ("agon_uptime_seconds", "Time since the server started.", app.started.elapsed().as_secs()),
    ] {
        write_metric(&mut text, name, "gauge", about, value);
    }
    let practice = &app.practice;
    for (name, about, value) in [
        ("agon_ladder_games_total", "Games of practice ladders.", &practice.ladder_games),
        ("agon_challenge_games_total", "Games of challenges.", &practice.challenge_games),
        (
            "agon_recalled_games_total",
            "Practice games that were ended because a competition wanted the core.",
            &practice.recalled_games,
        ),
    ] {
        write_metric(&mut text, name, "counter", about, value.load(Ordering::Relaxed));
    }
    write_header(&mut text, "agon_uploads_total", "counter", "Submitted bots by outcome.");
    for (outcome, count) in &*lock(&app.meters.uploads) {
        let _ = writeln!(text, "agon_uploads_total{{outcome=\"{outcome}\"}} {count}");
    }
    write_header(&mut text, "agon_sign_ins_total", "counter", "Attempts to sign in by outcome.");
    for (outcome, count) in &*lock(&app.meters.sign_ins) {
        let _ = writeln!(text, "agon_sign_ins_total{{outcome=\"{outcome}\"}} {count}");
    }
    write_header(&mut text, "agon_mails_total", "counter", "Mails by outcome.");
    for (outcome, count) in &*lock(&app.meters.mails) {
        let _ = writeln!(text, "agon_mails_total{{outcome=\"{outcome}\"}} {count}");
    }
    write_header(&mut text, "agon_webhook_requests_total", "counter", "Requests of webhooks by outcome.");
    for (outcome, count) in &*lock(&app.meters.webhooks) {
        let _ = writeln!(text, "agon_webhook_requests_total{{outcome=\"{outcome}\"}} {count}");
    }
    crate::health::write_metrics(&app, &mut text).await;
    if let Some(grid) = &app.grid {
        write_workers(grid, &mut text).await;
    }
    write_process(&mut text);
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, HeaderValue::from_static("no-store"))], text)
        .into_response()
}

fn write_header(text: &mut String, name: &str, kind: &str, about: &str) {
    let _ = writeln!(text, "# HELP {name} {about}\n# TYPE {name} {kind}");
}

fn write_metric(text: &mut String, name: &str, kind: &str, about: &str, value: impl std::fmt::Display) {
    write_header(text, name, kind, about);
    let _ = writeln!(text, "{name} {value}");
}

fn write_requests(metrics: &HttpMetrics, text: &mut String) {
    let routes = lock(&metrics.routes);
    let mut sorted: Vec<(&String, &RouteMetrics)> = routes.iter().collect();
    sorted.sort_by_key(|(name, _)| *name);
    write_header(text, "agon_http_requests_total", "counter", "Requests by route, method and status.");
    for (name, route) in &sorted {
        for ((method, status), count) in &route.responses {
            let _ = writeln!(
                text,
                "agon_http_requests_total{{route=\"{name}\",method=\"{method}\",status=\"{status}\"}} {count}"
            );
        }
    }
    let duration = "agon_http_request_duration_seconds";
    write_header(text, duration, "histogram", "Time until a response starts.");
    for (name, route) in &sorted {
        for (count, (_, end)) in route.buckets.iter().zip(BUCKETS) {
            let _ = writeln!(text, "{duration}_bucket{{route=\"{name}\",le=\"{end}\"}} {count}");
        }
        let _ = writeln!(text, "{duration}_bucket{{route=\"{name}\",le=\"+Inf\"}} {}", route.count);
        let _ = writeln!(text, "{duration}_sum{{route=\"{name}\"}} {}", route.total.as_secs_f64());
        let _ = writeln!(text, "{duration}_count{{route=\"{name}\"}} {}", route.count);
    }
}

/// Writes the metrics of workers, jobs and cross-checks.
async fn write_workers(grid: &GridClient, text: &mut String) {
    let list = grid.directory.workers();
    agon_grid::metrics::write_connectivity(text, grid.link.connectivity().stats());
    agon_grid::metrics::write_failed_jobs(text, &list);
    write_header(text, "agon_workers", "gauge", "Workers by state.");
    for state in [
        WorkerState::Playing,
        WorkerState::Idle,
        WorkerState::Draining,
        WorkerState::Failing,
        WorkerState::Refused,
        WorkerState::Lost,
    ] {
        let count = list.iter().filter(|one| one.status == state).count();
        let _ = writeln!(text, "agon_workers{{state=\"{state}\"}} {count}");
    }
    let online: Vec<&Heartbeat> =
        list.iter().filter(|one| one.status != WorkerState::Lost).map(|one| &one.heartbeat).collect();
    let cores: u64 = online.iter().map(|beat| u64::from(beat.cores)).sum();
    let busy: u64 = online.iter().map(|beat| u64::from(beat.busy)).sum();
    // Starts from 0: the sum of an empty list would be printed as -0.
    let rate = online
        .iter()
        .map(|beat| beat.games_per_second)
        .filter(|rate| rate.is_finite())
        .fold(0.0, |sum, rate| sum + rate);
    write_metric(
        text,
        "agon_worker_cores",
        "gauge",
        "Maximum number of parallel games of all workers.",
        cores,
    );
    write_metric(text, "agon_worker_games", "gauge", "Games being played by workers.", busy);
    write_metric(
        text,
        "agon_worker_games_per_second",
        "gauge",
        "Games per second of all workers, over the last ten seconds.",
        rate,
    );
    if let Some(jobs) = grid.job_counts().await {
        write_metric(text, "agon_jobs_waiting", "gauge", "Jobs in the queue.", jobs.waiting);
        write_metric(text, "agon_jobs_out", "gauge", "Jobs being played by workers.", jobs.leased);
    }
    let mut total = WorkerStats::default();
    let (mut unplayable, mut banned) = (0, 0);
    for stats in grid.all_stats().values() {
        total.checked += stats.checked;
        total.unchecked += stats.unchecked;
        total.disagreed += stats.disagreed;
        unplayable += stats.unplayable.len();
        banned += stats.banned;
    }
    write_header(text, "agon_matches_checked", "gauge", "Cross-checked matches by outcome.");
    for (word, count) in
        [("agreed", total.checked), ("nobody_there", total.unchecked), ("disagreed", total.disagreed)]
    {
        let _ = writeln!(text, "agon_matches_checked{{outcome=\"{word}\"}} {count}");
    }
    write_metric(text, "agon_matches_set_aside", "gauge", "Unplayable matches.", unplayable);
    write_metric(text, "agon_workers_barred", "gauge", "Banned workers.", banned);
}

/// Writes the process metrics, under the names that Prometheus' own clients use.
fn write_process(text: &mut String) {
    if let Some((cpu, memory)) = process_stat() {
        write_metric(text, "process_cpu_seconds_total", "counter", "CPU time used.", cpu);
        write_metric(text, "process_resident_memory_bytes", "gauge", "Memory in use.", memory);
    }
    if let Ok(open) = std::fs::read_dir("/proc/self/fd") {
        write_metric(text, "process_open_fds", "gauge", "Open files.", open.count());
    }
}

/// CPU seconds and resident bytes of this process, from `/proc/self/stat`.
fn process_stat() -> Option<(f64, u64)> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name in brackets, which may contain anything.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let ticks = number(11)? + number(12)?;
    let (per_second, page) = (rustix::param::clock_ticks_per_second(), rustix::param::page_size() as u64);
    Some((ticks as f64 / per_second as f64, number(21)? * page))
}
