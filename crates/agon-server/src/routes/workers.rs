//! Workers, for organisers: who plays, how fast, who was sent away and why; and draining one.

use agon_grid::GridError;
use agon_grid::worker_directory::WorkerInfo;
use agon_grid::messages::{CommandReply, WorkerCommand};
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::audit::note;
use crate::read_model::CompetitionHandle;
use crate::read_model::overview::match_name;
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path};
use crate::grid::JobCounts;
use crate::state::AppState;

/// Its routes.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(workers)).routes(routes!(drain)).routes(routes!(of_competition))
}

/// Everybody who plays for this server.
#[derive(Debug, Serialize, ToSchema)]
pub struct Workers {
    /// The NATS server, without passwords; null: everything is played on this machine.
    pub server: Option<String>,
    /// The server's version: workers need the same.
    pub version: String,
    /// By name.
    pub workers: Vec<Worker>,
    /// What waits to be played; null: NATS does not say.
    pub jobs: Option<JobCounts>,
    /// Who is not believed any more, in the competitions that run.
    pub barred: Vec<BarredWorker>,
}

/// A worker, as it was last heard.
#[derive(Debug, Serialize, ToSchema)]
pub struct Worker {
    /// Its name.
    pub name: String,
    /// Changes when it starts anew. Two with one name are two machines that were called the same.
    pub session: String,
    /// `playing`, `idle`, `draining`, `refused`, `lost`.
    pub state: &'static str,
    /// Its version of Agon.
    pub version: String,
    /// Games it plays at once.
    pub cores: u32,
    /// How many of them it plays just now.
    pub busy: u32,
    /// Games since it started.
    pub games: u64,
    /// Over the last ten seconds.
    pub games_per_second: f64,
    /// The share of its cores' time that went into games, over the last ten seconds: 0 to 1.
    pub used: f64,
    /// How fast it is, by its own calibration: 1 is the machine the figure was made on.
    pub speed: f64,
    /// Faults of bots in its games since it started.
    pub faults: u64,
    /// Jobs that failed there since it started.
    pub failed: u64,
    /// Since when it runs, by its own clock.
    pub since: i64,
    /// How long ago it was heard.
    pub seen_ms: u64,
    /// The layers of its sandbox.
    pub layers: Vec<String>,
    /// Who does not want it, and why.
    pub refused: Vec<RefusedBy>,
}

/// A competition that does not want a worker.
#[derive(Debug, Serialize, ToSchema)]
pub struct RefusedBy {
    /// Its id, if it is one of this server's; else its name on the grid.
    pub competition: String,
    /// Why, and what to do.
    pub why: String,
}

/// A worker that is not believed any more.
#[derive(Debug, Serialize, ToSchema)]
pub struct BarredWorker {
    /// Its name.
    pub name: String,
    /// In which competition.
    pub competition: String,
    /// What it did.
    pub why: String,
    /// Since when.
    pub at: i64,
}

/// What workers were to a competition.
#[derive(Debug, Serialize, ToSchema)]
pub struct WorkersOf {
    /// Whether workers play here at all.
    pub grid: bool,
    /// Who is not believed any more: what it played was played again.
    pub barred: Vec<BarredWorker>,
    /// Matches nobody could play, since the server started.
    pub aside: Vec<SetAside>,
    /// Matches that were played twice and came to the same, since the server started.
    pub checked: u64,
    /// Matches that should have been, when nobody was there for it.
    pub unchecked: u64,
    /// Comparisons that differed.
    pub disagreed: u64,
}

/// A match that nobody could play.
#[derive(Debug, Serialize, ToSchema)]
pub struct SetAside {
    /// From 1.
    pub phase: u32,
    /// Its name.
    #[serde(rename = "match")]
    pub match_: String,
    /// What each who tried said.
    pub errors: Vec<String>,
}

impl Worker {
    fn of(app: &AppState, WorkerInfo { beat, ago, state }: WorkerInfo) -> Self {
        // What a worker says is text of another machine: bounded, and no news for who calls it by another id.
        let refused = beat.refused.into_iter().take(20).map(|(cup, why)| RefusedBy {
            competition: competition_of(app, &cup).unwrap_or(cup),
            why: why.chars().take(2_000).collect(),
        });
        let number = |value: f64| if value.is_finite() { value.max(0.0) } else { 0.0 };
        Self {
            state: state.word(),
            cores: beat.cores,
            busy: beat.busy,
            games: beat.games,
            games_per_second: number(beat.rate),
            used: number(beat.used).min(1.0),
            speed: number(beat.speed),
            faults: beat.faults,
            failed: beat.failed,
            since: beat.since_ms,
            seen_ms: ago.as_millis() as u64,
            refused: refused.collect(),
            name: beat.worker,
            session: beat.session,
            version: beat.engine,
            layers: beat.layers,
        }
    }
}

/// The competition that has this id on the grid.
fn competition_of(app: &AppState, cup: &str) -> Option<String> {
    let all = app.grid.as_ref()?.all();
    all.into_iter().find(|(_, seen)| seen.cup == cup).map(|(id, _)| id)
}

async fn barred(arena: &CompetitionHandle) -> ApiResult<Vec<BarredWorker>> {
    let Some(ledger) = arena.ledger() else { return Ok(Vec::new()) };
    let list = ledger.barred().await.map_err(ApiError::broke)?;
    let one = |one: agon_store::BannedWorker| BarredWorker {
        name: one.worker,
        competition: arena.id.clone(),
        why: one.why,
        at: one.at.0,
    };
    Ok(list.into_iter().map(one).collect())
}

/// Everybody who plays for this server, as they were last heard. For organisers.
#[utoipa::path(
    get, path = "/workers", tag = "desk", operation_id = "workers",
    responses((status = 200, description = "As they are now.", body = Workers), (status = 403, description = "It is for organisers.", body = ErrorBody)),
)]
async fn workers(State(app): State<AppState>, caller: Caller) -> ApiResult<Json<Workers>> {
    caller.organiser()?;
    let mut list = Workers {
        server: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        workers: Vec::new(),
        jobs: None,
        barred: Vec::new(),
    };
    let Some(grid) = &app.grid else { return Ok(Json(list)) };
    list.server = Some(grid.link.url().to_owned());
    list.workers = grid.roster.workers().into_iter().map(|seen| Worker::of(&app, seen)).collect();
    list.jobs = grid.jobs().await;
    for (id, _) in app.running.all() {
        if let Ok(arena) = app.arenas.get(&id) {
            list.barred.extend(barred(&arena).await?);
        }
    }
    Ok(Json(list))
}

/// Which worker.
#[derive(Clone, Debug, Deserialize)]
struct OfWorker {
    name: String,
}

/// Has a worker finish what it plays, take nothing more and leave. For organisers.
#[utoipa::path(
    post, path = "/workers/{name}/drain", tag = "desk", operation_id = "drain",
    params(("name" = String, Path, description = "Its name.")),
    responses(
        (status = 204, description = "It has understood."),
        (status = 409, description = "It does not answer, or will not (code `no_answer`).", body = ErrorBody),
    ),
)]
async fn drain(
    State(app): State<AppState>,
    caller: Caller,
    Path(OfWorker { name }): Path<OfWorker>,
) -> ApiResult<StatusCode> {
    let me = caller.organiser()?;
    let grid = app.grid.as_ref().ok_or_else(|| ApiError::not_found("worker"))?;
    // Only who was heard: anything else would be a way to speak on subjects of one's choice.
    if !grid.roster.workers().iter().any(|seen| seen.beat.worker == name) {
        return Err(ApiError::not_found("worker"));
    }
    let no_answer = |what: String| ApiError::conflict("no_answer", what).hint("look at its machine");
    match grid.roster.order(&name, &WorkerCommand::Drain).await {
        Ok(CommandReply::Yes) => {}
        Ok(CommandReply::No(why)) => return Err(no_answer(format!("{name} will not: {why}"))),
        Err(GridError::NoAnswer { what, .. }) => {
            return Err(no_answer(format!("{name} does not answer: {what}")));
        }
        Err(error) => return Err(ApiError::broke(error)),
    }
    note(&app, me, "worker.drain", &name, &serde_json::json!({})).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What workers were to a competition: who was barred, what nobody could play. For organisers.
#[utoipa::path(
    get, path = "/competitions/{id}/workers", tag = "desk", operation_id = "competition_workers",
    params(("id" = String, Path, description = "The competition.")),
    responses((status = 200, description = "As it is now.", body = WorkersOf), (status = 403, description = "It is for organisers.", body = ErrorBody)),
)]
async fn of_competition(
    State(app): State<AppState>,
    caller: Caller,
    Path(OfCompetition { id }): Path<OfCompetition>,
) -> ApiResult<Json<WorkersOf>> {
    caller.organiser()?;
    let arena = app.arenas.get(&id)?;
    let seen = app.grid.as_ref().map(|grid| grid.seen(&id)).unwrap_or_default();
    let aside = seen.aside.into_iter().map(|(key, errors)| SetAside {
        phase: key.phase + 1,
        match_: match_name(key),
        errors,
    });
    Ok(Json(WorkersOf {
        grid: app.grid.is_some(),
        barred: barred(&arena).await?,
        aside: aside.collect(),
        checked: seen.checked,
        unchecked: seen.unchecked,
        disagreed: seen.disagreed,
    }))
}

/// Which competition.
#[derive(Clone, Debug, Deserialize)]
struct OfCompetition {
    id: String,
}
