//! What is counted, for `/metrics` (Prometheus' text format), and whether all is well, for `/healthz`.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_grid::worker_directory::WorkerStatus as WorkerState;
use agon_grid::messages::Heartbeat;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::grid::{GridClient, WorkerStats};
use crate::state::AppState;

/// The upper ends of the histogram's classes: microseconds, and as they are written, in seconds.
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

/// What is counted.
#[derive(Default)]
pub struct HttpMetrics {
    routes: Mutex<HashMap<String, Route>>,
    uploads: Mutex<BTreeMap<&'static str, u64>>,
    /// Who watches something live just now.
    pub watchers: AtomicI64,
    /// Games that are played just now.
    pub games: AtomicI64,
    /// Connections that are open just now.
    pub connections: AtomicI64,
}

#[derive(Default)]
struct Route {
    answers: BTreeMap<(&'static str, u16), u64>,
    classes: [u64; BUCKETS.len()],
    count: u64,
    total: Duration,
}

impl HttpMetrics {
    /// A bot was handed in, and this came of it: `accepted`, `refused`, `broke`, `too_large`, ... One of a few words of ours.
    pub fn upload(&self, outcome: &'static str) {
        *locked(&self.uploads).entry(outcome).or_default() += 1;
    }

    fn answered(&self, route: &str, method: &'static str, status: u16, took: Duration) {
        let mut routes = locked(&self.routes);
        if !routes.contains_key(route) {
            routes.insert(route.to_owned(), Route::default());
        }
        let Some(route) = routes.get_mut(route) else { return };
        *route.answers.entry((method, status)).or_default() += 1;
        let micros = took.as_micros() as u64;
        for (class, (end, _)) in route.classes.iter_mut().zip(BUCKETS) {
            *class += u64::from(micros <= end);
        }
        route.count += 1;
        route.total += took;
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a request by the route it matched, never by its address: those are without number.
pub async fn count(State(app): State<AppState>, request: Request, next: Next) -> Response {
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
    app.meters.answered(route, method, response.status().as_u16(), start.elapsed());
    response
}

/// `ok` if the office answers.
pub async fn health(State(app): State<AppState>) -> Response {
    let answers = tokio::time::timeout(Duration::from_secs(5), app.office.count_queued());
    match answers.await {
        Ok(Ok(_)) => (StatusCode::OK, "ok\n").into_response(),
        Ok(Err(error)) => {
            let _ = crate::error::ApiError::broke(error);
            (StatusCode::SERVICE_UNAVAILABLE, "the office does not answer\n").into_response()
        }
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the office takes too long\n").into_response(),
    }
}

/// Everything that is counted.
pub async fn metrics(State(app): State<AppState>) -> Response {
    let mut text = String::new();
    requests(&app.meters, &mut text);
    let queued = app.office.count_queued().await.unwrap_or_default();
    let sessions = app.office.count_sessions(agon_store::Timestamp::now()).await.unwrap_or_default();
    let gauge = |value: &AtomicI64| value.load(Ordering::Relaxed).max(0) as u64;
    let games = match &app.grid {
        Some(_) => app.running.all().iter().map(|(_, one)| one.games.load(Ordering::Relaxed)).sum(),
        None => gauge(&app.meters.games),
    };
    for (name, about, value) in [
        ("agon_sessions", "Sessions that have not ended.", sessions),
        ("agon_games_running", "Games that are played just now.", games),
        ("agon_submissions_queued", "Bots that wait for their check.", queued),
        ("agon_watchers", "Live streams that are open.", gauge(&app.meters.watchers)),
        ("agon_connections", "Connections that are open.", gauge(&app.meters.connections)),
        ("agon_uptime_seconds", "Since when the server runs.", app.started.elapsed().as_secs()),
    ] {
        single(&mut text, name, "gauge", about, value);
    }
    head(&mut text, "agon_uploads_total", "counter", "Bots that were handed in, by what came of it.");
    for (outcome, count) in &*locked(&app.meters.uploads) {
        let _ = writeln!(text, "agon_uploads_total{{outcome=\"{outcome}\"}} {count}");
    }
    if let Some(grid) = &app.grid {
        workers(grid, &mut text).await;
    }
    process(&mut text);
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, HeaderValue::from_static("no-store"))], text)
        .into_response()
}

fn head(text: &mut String, name: &str, kind: &str, about: &str) {
    let _ = writeln!(text, "# HELP {name} {about}\n# TYPE {name} {kind}");
}

fn single(text: &mut String, name: &str, kind: &str, about: &str, value: impl std::fmt::Display) {
    head(text, name, kind, about);
    let _ = writeln!(text, "{name} {value}");
}

fn requests(meters: &HttpMetrics, text: &mut String) {
    let routes = locked(&meters.routes);
    let mut sorted: Vec<(&String, &Route)> = routes.iter().collect();
    sorted.sort_by_key(|(name, _)| *name);
    head(text, "agon_http_requests_total", "counter", "Requests by route, method and status.");
    for (name, route) in &sorted {
        for ((method, status), count) in &route.answers {
            let _ = writeln!(
                text,
                "agon_http_requests_total{{route=\"{name}\",method=\"{method}\",status=\"{status}\"}} {count}"
            );
        }
    }
    let duration = "agon_http_request_duration_seconds";
    head(text, duration, "histogram", "How long answers took to begin.");
    for (name, route) in &sorted {
        for (count, (_, end)) in route.classes.iter().zip(BUCKETS) {
            let _ = writeln!(text, "{duration}_bucket{{route=\"{name}\",le=\"{end}\"}} {count}");
        }
        let _ = writeln!(text, "{duration}_bucket{{route=\"{name}\",le=\"+Inf\"}} {}", route.count);
        let _ = writeln!(text, "{duration}_sum{{route=\"{name}\"}} {}", route.total.as_secs_f64());
        let _ = writeln!(text, "{duration}_count{{route=\"{name}\"}} {}", route.count);
    }
}

/// Other machines, and what they were given.
async fn workers(grid: &GridClient, text: &mut String) {
    let list = grid.roster.workers();
    head(text, "agon_workers", "gauge", "Workers by state.");
    for state in [
        WorkerState::Playing,
        WorkerState::Idle,
        WorkerState::Draining,
        WorkerState::Refused,
        WorkerState::Lost,
    ] {
        let count = list.iter().filter(|one| one.state == state).count();
        let _ = writeln!(text, "agon_workers{{state=\"{state}\"}} {count}");
    }
    let there: Vec<&Heartbeat> =
        list.iter().filter(|one| one.state != WorkerState::Lost).map(|one| &one.beat).collect();
    let cores: u64 = there.iter().map(|beat| u64::from(beat.cores)).sum();
    let busy: u64 = there.iter().map(|beat| u64::from(beat.busy)).sum();
    // From 0: the sum of nothing would be written as -0.
    let rate =
        there.iter().map(|beat| beat.rate).filter(|rate| rate.is_finite()).fold(0.0, |sum, rate| sum + rate);
    single(text, "agon_worker_cores", "gauge", "Games that workers can play at once.", cores);
    single(text, "agon_worker_games", "gauge", "Games that workers play just now.", busy);
    single(text, "agon_worker_games_per_second", "gauge", "Over the last ten seconds.", rate);
    if let Some(jobs) = grid.jobs().await {
        single(text, "agon_jobs_waiting", "gauge", "Jobs in the queue.", jobs.waiting);
        single(text, "agon_jobs_out", "gauge", "Jobs with workers.", jobs.out);
    }
    let mut total = WorkerStats::default();
    let (mut aside, mut barred) = (0, 0);
    for seen in grid.all().values() {
        total.checked += seen.checked;
        total.unchecked += seen.unchecked;
        total.disagreed += seen.disagreed;
        aside += seen.aside.len();
        barred += seen.barred;
    }
    head(text, "agon_matches_checked", "gauge", "Matches that were to be played twice, by what came of it.");
    for (word, count) in
        [("agreed", total.checked), ("nobody_there", total.unchecked), ("disagreed", total.disagreed)]
    {
        let _ = writeln!(text, "agon_matches_checked{{outcome=\"{word}\"}} {count}");
    }
    single(text, "agon_matches_set_aside", "gauge", "Matches that nobody could play.", aside);
    single(text, "agon_workers_barred", "gauge", "Workers that are not believed any more.", barred);
}

/// The process itself, under the names Prometheus' own clients use.
fn process(text: &mut String) {
    if let Some((cpu, memory)) = stat() {
        single(text, "process_cpu_seconds_total", "counter", "Processor time used.", cpu);
        single(text, "process_resident_memory_bytes", "gauge", "Memory in use.", memory);
    }
    if let Ok(open) = std::fs::read_dir("/proc/self/fd") {
        single(text, "process_open_fds", "gauge", "Open files.", open.count());
    }
}

/// Seconds of processor time and bytes of memory, by `/proc/self/stat`.
fn stat() -> Option<(f64, u64)> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name, in brackets, and may hold anything.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let ticks = number(11)? + number(12)?;
    let (per_second, page) = (rustix::param::clock_ticks_per_second(), rustix::param::page_size() as u64);
    Some((ticks as f64 / per_second as f64, number(21)? * page))
}
