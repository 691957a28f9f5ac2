//! Status of the machine, for organisers: load, memory, disk and sandbox.

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

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(system))
}

/// Status of the machine.
#[derive(Debug, Serialize, ToSchema)]
pub struct SystemInfo {
    /// Version of Agon.
    pub version: String,
    /// Time since the server started.
    pub uptime_ms: u64,
    /// Number of cores.
    pub cores: usize,
    /// Load average over 1, 5 and 15 minutes.
    #[schema(min_items = 3, max_items = 3)]
    pub load: Vec<f64>,
    /// Memory, in bytes.
    pub memory: Memory,
    /// Disk of the data folder, in bytes.
    pub disk: Disk,
    /// Layers of the sandbox.
    pub sandbox: Vec<SandboxLayer>,
    /// Submissions waiting for their check, and those being checked.
    pub queue: QueueLength,
    /// Open live streams.
    pub watchers: i64,
    /// Competitions being played.
    pub running: Vec<RunningCompetition>,
}

/// Memory, in bytes.
#[derive(Debug, Serialize, ToSchema)]
pub struct Memory {
    /// Memory of the machine.
    pub total: u64,
    /// Available memory.
    pub available: u64,
    /// Memory of this process.
    pub own: u64,
}

/// A disk, in bytes.
#[derive(Debug, Serialize, ToSchema)]
pub struct Disk {
    /// Size of the disk.
    pub total: u64,
    /// Free space.
    pub free: u64,
}

/// A layer of the sandbox.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SandboxLayer {
    /// Name of the layer.
    pub layer: String,
    /// Whether it is active on this machine.
    pub active: bool,
    /// Details, or why it is not active.
    pub about: String,
}

/// Number of submissions in the check queue.
#[derive(Debug, Serialize, ToSchema)]
pub struct QueueLength {
    /// Submissions waiting for their check.
    pub submissions: u64,
    /// Submissions being checked.
    pub checking: usize,
}

/// A competition being played.
#[derive(Debug, Serialize, ToSchema)]
pub struct RunningCompetition {
    /// Id of the competition.
    pub competition: String,
    /// Name of the competition.
    pub name: String,
    /// Games being played now.
    pub games: u64,
    /// Games per second.
    pub games_per_second: f64,
    /// Maximum number of parallel games.
    pub jobs: usize,
}

/// Status of the machine. For organisers.
#[utoipa::path(
    get, path = "/machine", tag = "desk", operation_id = "machine",
    responses((status = 200, description = "The current state.", body = SystemInfo), (status = 403, description = "Only for organisers.", body = ErrorBody)),
)]
async fn system(State(app): State<AppState>, caller: Caller) -> ApiResult<Json<SystemInfo>> {
    caller.organiser()?;
    Ok(Json(measure(&app).await?))
}

/// Measures the machine.
pub async fn measure(app: &AppState) -> ApiResult<SystemInfo> {
    let mut running = Vec::new();
    for (id, stats) in app.runs.all() {
        let name = app.site_db.competition(&id).await.map_or_else(|_| id.clone(), |found| found.name);
        running.push(RunningCompetition {
            name,
            games: stats.games.load(Ordering::Relaxed),
            games_per_second: stats.speed.load(Ordering::Relaxed) as f64 / 1000.0,
            jobs: app.runs.core_pool.held(&id),
            competition: id,
        });
    }
    let data = app.config.data.clone();
    let measured = tokio::task::spawn_blocking(move || (memory(), load(), disk(&data), layers()));
    let (memory, load, disk, sandbox) = measured.await.map_err(ApiError::internal)?;
    Ok(SystemInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        uptime_ms: app.started.elapsed().as_millis() as u64,
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        load,
        memory,
        disk,
        sandbox,
        queue: QueueLength {
            submissions: app.site_db.count_queued().await?,
            checking: app.check_queue.checking(),
        },
        watchers: app.streams.total() as i64,
        running,
    })
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

/// The layers of the sandbox, probed once: they do not change while the server runs.
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
