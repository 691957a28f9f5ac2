//! The machine, for organisers: how busy it is, and what stands between bots and the rest of it.

use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::Json;
use crate::state::AppState;

/// Its routes.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(machine))
}

/// The machine.
#[derive(Debug, Serialize, ToSchema)]
pub struct SystemInfo {
    /// Agon's version.
    pub version: String,
    /// Since when the server runs.
    pub uptime_ms: u64,
    /// Cores there are.
    pub cores: usize,
    /// Over 1, 5 and 15 minutes.
    #[schema(min_items = 3, max_items = 3)]
    pub load: Vec<f64>,
    /// In bytes.
    pub memory: Memory,
    /// In bytes: where the data is.
    pub disk: Disk,
    /// The layers between bots and the machine.
    pub sandbox: Vec<SandboxLayer>,
    /// Bots that wait for their check, and that are being checked.
    pub queue: QueueLength,
    /// Who watches something live.
    pub watchers: i64,
    /// What is played.
    pub running: Vec<RunningNow>,
}

/// Memory, in bytes.
#[derive(Debug, Serialize, ToSchema)]
pub struct Memory {
    /// Of the machine.
    pub total: u64,
    /// Free to be used.
    pub available: u64,
    /// The server's own.
    pub own: u64,
}

/// A disk, in bytes.
#[derive(Debug, Serialize, ToSchema)]
pub struct Disk {
    /// All of it.
    pub total: u64,
    /// Free to be used.
    pub free: u64,
}

/// A layer of the sandbox.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SandboxLayer {
    /// Its name.
    pub layer: String,
    /// Whether it works here.
    pub active: bool,
    /// How, or why not.
    pub about: String,
}

/// How many wait.
#[derive(Debug, Serialize, ToSchema)]
pub struct QueueLength {
    /// For their check.
    pub submissions: u64,
    /// Being checked.
    pub checking: usize,
}

/// A competition that is being played.
#[derive(Debug, Serialize, ToSchema)]
pub struct RunningNow {
    /// Its id.
    pub competition: String,
    /// Its name.
    pub name: String,
    /// Games at this moment.
    pub games: u64,
    /// Games a second.
    pub games_per_second: f64,
    /// Games at once, at most.
    pub jobs: usize,
}

/// How the machine does. For organisers.
#[utoipa::path(
    get, path = "/machine", tag = "desk", operation_id = "machine",
    responses((status = 200, description = "As it is now.", body = SystemInfo), (status = 403, description = "It is for organisers.", body = ErrorBody)),
)]
async fn machine(State(app): State<AppState>, caller: Caller) -> ApiResult<Json<SystemInfo>> {
    caller.organiser()?;
    let mut running = Vec::new();
    for (id, figures) in app.running.all() {
        let name = app.office.competition(&id).await.map_or_else(|_| id.clone(), |found| found.name);
        running.push(RunningNow {
            name,
            games: figures.games.load(Ordering::Relaxed),
            games_per_second: figures.speed.load(Ordering::Relaxed) as f64 / 1000.0,
            jobs: app.running.shares.held(&id),
            competition: id,
        });
    }
    let data = app.config.data.clone();
    let measured = tokio::task::spawn_blocking(move || (memory(), load(), disk(&data), layers()));
    let (memory, load, disk, sandbox) = measured.await.map_err(ApiError::broke)?;
    Ok(Json(SystemInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        uptime_ms: app.started.elapsed().as_millis() as u64,
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        load,
        memory,
        disk,
        sandbox,
        queue: QueueLength { submissions: app.office.count_queued().await?, checking: app.intake.checking() },
        watchers: app.meters.watchers.load(Ordering::Relaxed).max(0),
        running,
    }))
}

fn memory() -> Memory {
    let figure = |file: &str, key: &str| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(key).map(str::to_owned));
        let kilo: u64 =
            line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default();
        kilo * 1024
    };
    Memory {
        total: figure("/proc/meminfo", "MemTotal:"),
        available: figure("/proc/meminfo", "MemAvailable:"),
        own: figure("/proc/self/status", "VmRSS:"),
    }
}

fn load() -> Vec<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let mut load: Vec<f64> = text.split_whitespace().take(3).filter_map(|word| word.parse().ok()).collect();
    load.resize(3, 0.0);
    load
}

fn disk(data: &std::path::Path) -> Disk {
    match rustix::fs::statvfs(data) {
        Ok(found) => Disk { total: found.f_blocks * found.f_frsize, free: found.f_bavail * found.f_frsize },
        Err(_) => Disk { total: 0, free: 0 },
    }
}

/// Asked once: it does not change while the server runs.
fn layers() -> Vec<SandboxLayer> {
    static FOUND: OnceLock<Vec<SandboxLayer>> = OnceLock::new();
    FOUND
        .get_or_init(|| match agon_host::sandbox::probe() {
            Ok(layers) => layers
                .iter()
                .map(|layer| SandboxLayer {
                    layer: layer.name().to_owned(),
                    active: layer.active,
                    about: layer.detail.clone(),
                })
                .collect(),
            Err(error) => {
                vec![SandboxLayer { layer: "sandbox".to_owned(), active: false, about: error.to_string() }]
            }
        })
        .clone()
}
