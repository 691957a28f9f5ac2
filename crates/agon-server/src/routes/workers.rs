//! Workers, for organisers: status, speed, rejections and bans; draining a worker.

use agon_grid::GridError;
use agon_grid::messages::{CommandReply, WorkerCommand};
use agon_grid::worker_directory::WorkerInfo;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::audit::append_audit;
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path};
use crate::grid::JobCounts;
use crate::read_model::CompetitionHandle;
use crate::read_model::overview::match_name;
use crate::state::AppState;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(workers))
        .routes(routes!(drain))
        .routes(routes!(competition_workers))
}

/// All workers of this server.
#[derive(Debug, Serialize, ToSchema)]
pub struct Workers {
    /// URL of the NATS server without passwords; null if games are played on this machine.
    pub server: Option<String>,
    /// The server's version. Workers must have the same.
    pub version: String,
    /// Workers, ordered by name.
    pub workers: Vec<Worker>,
    /// Unfinished jobs; null if NATS does not answer.
    pub jobs: Option<JobCounts>,
    /// Banned workers of the running competitions.
    #[serde(rename = "barred")]
    pub banned: Vec<BannedWorkerBody>,
}

/// A worker, as of its last heartbeat.
#[derive(Debug, Serialize, ToSchema)]
pub struct Worker {
    /// The worker's name.
    pub name: String,
    /// Changes at every start of the worker. Two entries with one name are two machines with the same name.
    pub session: String,
    /// `playing`, `idle`, `draining`, `failing`, `refused` or `lost`.
    pub state: &'static str,
    /// The worker's version of Agon.
    pub version: String,
    /// Maximum number of parallel games.
    pub cores: u32,
    /// Games being played now.
    pub busy: u32,
    /// Games since the worker started.
    pub games: u64,
    /// Games per second, over the last ten seconds.
    pub games_per_second: f64,
    /// Share of the cores' time spent on games, over the last ten seconds: 0 to 1.
    pub used: f64,
    /// Relative speed by the worker's own calibration; 1 is the reference machine.
    pub speed: f64,
    /// Faults of bots in its games since the worker started.
    pub faults: u64,
    /// Failed jobs since the worker started.
    pub failed: u64,
    /// When the worker started, by its own clock.
    pub since: i64,
    /// Time since the last heartbeat.
    pub seen_ms: u64,
    /// Layers of its sandbox.
    pub layers: Vec<String>,
    /// Competitions that rejected it, and why.
    #[serde(rename = "refused")]
    pub rejections: Vec<WorkerRejection>,
    /// Set if its last jobs all failed.
    pub failing: Option<WorkerFailures>,
}

/// Failures of a worker in a row.
#[derive(Debug, Serialize, ToSchema)]
pub struct WorkerFailures {
    /// Number of failed jobs in a row.
    pub failures: u32,
    /// Error of the last one.
    pub why: String,
    /// Time until the worker takes the next job.
    pub retry_ms: u64,
}

/// Rejection of a worker by a competition.
#[derive(Debug, Serialize, ToSchema)]
pub struct WorkerRejection {
    /// Id of the competition; its id on the grid if it is not one of this server.
    pub competition: String,
    /// The reason, and what to do.
    pub why: String,
}

/// A worker whose results are no longer used.
#[derive(Debug, Serialize, ToSchema)]
pub struct BannedWorkerBody {
    /// The worker's name.
    pub name: String,
    /// Id of the competition.
    pub competition: String,
    /// Why it was banned.
    pub why: String,
    /// When it was banned.
    pub at: i64,
}

/// What the workers did for a competition.
#[derive(Debug, Serialize, ToSchema)]
pub struct CompetitionWorkers {
    /// Whether the server uses workers.
    pub grid: bool,
    /// Banned workers. Their matches were played again.
    #[serde(rename = "barred")]
    pub banned: Vec<BannedWorkerBody>,
    /// Unplayable matches since the server started.
    #[serde(rename = "aside")]
    pub unplayable: Vec<UnplayableMatchBody>,
    /// Cross-checked matches with equal results, since the server started.
    pub checked: u64,
    /// Matches that should have been cross-checked, but no second worker was available.
    pub unchecked: u64,
    /// Comparisons that found different results.
    pub disagreed: u64,
}

/// A match that failed on every worker that tried it.
#[derive(Debug, Serialize, ToSchema)]
pub struct UnplayableMatchBody {
    /// Number of the phase, from 1.
    pub phase: u32,
    /// Name of the match.
    #[serde(rename = "match")]
    pub match_: String,
    /// Errors of all workers that tried it.
    pub errors: Vec<String>,
}

impl Worker {
    fn from_info(
        app: &AppState,
        WorkerInfo { heartbeat: beat, age: ago, status: state }: WorkerInfo,
    ) -> Self {
        // The texts come from another machine, so their number and length are limited.
        let refused = beat.refused.into_iter().take(20).map(|(grid_id, why)| WorkerRejection {
            competition: competition_with_grid_id(app, &grid_id).unwrap_or(grid_id),
            why: why.chars().take(2_000).collect(),
        });
        let failing = beat.failing.map(|one| WorkerFailures {
            failures: one.failures,
            why: one.why.chars().take(2_000).collect(),
            retry_ms: one.retry_ms,
        });
        let number = |value: f64| if value.is_finite() { value.max(0.0) } else { 0.0 };
        Self {
            state: state.as_str(),
            cores: beat.cores,
            busy: beat.busy,
            games: beat.games,
            games_per_second: number(beat.games_per_second),
            used: number(beat.utilization).min(1.0),
            speed: number(beat.speed),
            faults: beat.faults,
            failed: beat.failed_jobs,
            since: beat.started_ms,
            seen_ms: ago.as_millis() as u64,
            rejections: refused.collect(),
            failing,
            name: beat.worker,
            session: beat.session,
            version: beat.engine,
            layers: beat.layers,
        }
    }
}

/// The competition with this id on the grid.
fn competition_with_grid_id(app: &AppState, grid_id: &str) -> Option<String> {
    let all = app.grid.as_ref()?.all_stats();
    all.into_iter().find(|(_, stats)| stats.competition_id == grid_id).map(|(id, _)| id)
}

async fn banned_workers(handle: &CompetitionHandle) -> ApiResult<Vec<BannedWorkerBody>> {
    let Some(ledger) = handle.ledger() else { return Ok(Vec::new()) };
    let list = ledger.banned_workers().await.map_err(ApiError::internal)?;
    let one = |one: agon_store::BannedWorker| BannedWorkerBody {
        name: one.worker,
        competition: handle.id.clone(),
        why: one.reason,
        at: one.at.0,
    };
    Ok(list.into_iter().map(one).collect())
}

/// All workers of this server, as of their last heartbeat. For organisers.
#[utoipa::path(
    get, path = "/workers", tag = "desk", operation_id = "workers",
    responses((status = 200, description = "The current state.", body = Workers), (status = 403, description = "Only for organisers.", body = ErrorBody)),
)]
async fn workers(State(app): State<AppState>, caller: Caller) -> ApiResult<Json<Workers>> {
    caller.organiser()?;
    Ok(Json(list(&app).await?))
}

/// All workers, as of their last heartbeat.
pub async fn list(app: &AppState) -> ApiResult<Workers> {
    let mut list = Workers {
        server: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        workers: Vec::new(),
        jobs: None,
        banned: Vec::new(),
    };
    let Some(grid) = &app.grid else { return Ok(list) };
    list.server = Some(grid.link.url().to_owned());
    list.workers =
        grid.directory.workers().into_iter().map(|worker| Worker::from_info(app, worker)).collect();
    list.jobs = grid.job_counts().await;
    for (id, _) in app.runs.all() {
        if let Ok(handle) = app.competitions.get(&id) {
            list.banned.extend(banned_workers(&handle).await?);
        }
    }
    Ok(list)
}

/// Path parameter of a worker.
#[derive(Clone, Debug, Deserialize)]
struct WorkerPath {
    name: String,
}

/// Drains a worker: it finishes its current games, takes no new ones and exits. For organisers.
#[utoipa::path(
    post, path = "/workers/{name}/drain", tag = "desk", operation_id = "drain",
    params(("name" = String, Path, description = "The worker's name.")),
    responses(
        (status = 204, description = "The worker accepted the command."),
        (status = 409, description = "The worker does not answer, or rejected the command (code `no_answer`).", body = ErrorBody),
    ),
)]
async fn drain(
    State(app): State<AppState>,
    caller: Caller,
    Path(WorkerPath { name }): Path<WorkerPath>,
) -> ApiResult<StatusCode> {
    let me = caller.organiser()?;
    let grid = app.grid.as_ref().ok_or_else(|| ApiError::not_found("worker"))?;
    // Only known workers: otherwise a caller could publish to NATS subjects of its choice.
    if !grid.directory.workers().iter().any(|worker| worker.heartbeat.worker == name) {
        return Err(ApiError::not_found("worker"));
    }
    let no_answer = |what: String| ApiError::conflict("no_answer", what).hint("check the worker's machine");
    match grid.directory.send_command(&name, &WorkerCommand::Drain).await {
        Ok(CommandReply::Yes) => {}
        Ok(CommandReply::No(why)) => return Err(no_answer(format!("{name} rejected the command: {why}"))),
        Err(GridError::NoAnswer { what, .. }) => {
            return Err(no_answer(format!("{name} does not answer: {what}")));
        }
        Err(error) => return Err(ApiError::internal(error)),
    }
    append_audit(&app, me, "worker.drain", &name, &serde_json::json!({})).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Workers of a competition: bans, unplayable matches and cross-checks. For organisers.
#[utoipa::path(
    get, path = "/competitions/{id}/workers", tag = "desk", operation_id = "competition_workers",
    params(("id" = String, Path, description = "The competition.")),
    responses((status = 200, description = "The current state.", body = CompetitionWorkers), (status = 403, description = "Only for organisers.", body = ErrorBody)),
)]
async fn competition_workers(
    State(app): State<AppState>,
    caller: Caller,
    Path(CompetitionPath { id }): Path<CompetitionPath>,
) -> ApiResult<Json<CompetitionWorkers>> {
    caller.organiser()?;
    let handle = app.competitions.get(&id)?;
    let stats = app.grid.as_ref().map(|grid| grid.stats(&id)).unwrap_or_default();
    let unplayable = stats.unplayable.into_iter().map(|(key, errors)| UnplayableMatchBody {
        phase: key.phase + 1,
        match_: match_name(key),
        errors,
    });
    Ok(Json(CompetitionWorkers {
        grid: app.grid.is_some(),
        banned: banned_workers(&handle).await?,
        unplayable: unplayable.collect(),
        checked: stats.checked,
        unchecked: stats.unchecked,
        disagreed: stats.disagreed,
    }))
}

/// Path parameter of a competition.
#[derive(Clone, Debug, Deserialize)]
struct CompetitionPath {
    id: String,
}
