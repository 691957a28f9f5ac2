//! Phases: tables, ratings over time, schedules, brackets.

use std::collections::HashSet;

use agon_league::MatchKey;
use agon_league::bracket as model;
use agon_league::format::BalanceReport;
use agon_report::text_format::{grouped_plural, trim_number};
use agon_runner::phase_results;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path, Query};
use crate::paging::{PageBody, PageQuery};
use crate::read_model::VisibleCompetition;
use crate::read_model::encoded_json::EncodedJson;
use crate::read_model::overview::{match_key, match_name};
use crate::read_model::ratings::RatingHistory;
use crate::read_model::schedule::StageProgress;
use crate::read_model::standings::PhaseTableBody;
use crate::state::AppState;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(table))
        .routes(routes!(ratings))
        .routes(routes!(schedule))
        .routes(routes!(bracket))
}

/// Path parameter of a phase.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct PhasePath {
    /// Number of the phase, from 1.
    pub phase: u32,
}

/// The tables of a phase. They are the same for all callers: `mine` is never set.
#[utoipa::path(
    get, path = "/competitions/{id}/phases/{phase}/table", tag = "competitions", operation_id = "table",
    params(("id" = String, Path, description = "The competition."), ("phase" = u32, Path, description = "The phase, from 1.")),
    responses(
        (status = 200, description = "The tables.", body = PhaseTableBody, headers(("ETag" = String, description = "For If-None-Match."))),
        (status = 304, description = "The client already has this version."),
        (status = 409, description = "The competition has not started yet.", body = ErrorBody),
    ),
)]
async fn table(
    State(app): State<AppState>,
    visible: VisibleCompetition,
    Path(PhasePath { phase }): Path<PhasePath>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    Ok(visible.standings(&app, phase).await?.encoded.response(&headers))
}

/// Ratings of a phase over time, at about 30 points.
#[utoipa::path(
    get, path = "/competitions/{id}/phases/{phase}/ratings", tag = "competitions", operation_id = "ratings",
    params(("id" = String, Path, description = "The competition."), ("phase" = u32, Path, description = "The phase, from 1.")),
    responses(
        (status = 200, description = "The ratings.", body = RatingHistory),
        (status = 304, description = "The client already has this version."),
        (status = 409, description = "The competition has not started yet.", body = ErrorBody),
    ),
)]
async fn ratings(
    State(app): State<AppState>,
    visible: VisibleCompetition,
    Path(PhasePath { phase }): Path<PhasePath>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    Ok(visible.ratings(&app, phase).await?.response(&headers))
}

/// Schedule of a phase.
#[derive(Debug, Serialize, ToSchema)]
pub struct Schedule {
    /// Stages known so far.
    pub stages: Vec<StageItem>,
    /// Fixtures in the order of the schedule.
    pub fixtures: PageBody<Fixture>,
    /// How evenly opponents and seats are distributed.
    pub balance: Option<ScheduleBalance>,
}

/// A stage: matches that may be played in any order.
#[derive(Debug, Serialize, ToSchema)]
pub struct StageItem {
    /// Number of the stage, from 1.
    pub stage: u32,
    /// Name of the stage, such as `round 3` or `quarter-finals`.
    pub name: String,
    /// Number of matches.
    pub matches: u64,
    /// Number of matches played.
    pub done: u64,
}

/// A match in the schedule.
#[derive(Debug, Serialize, ToSchema)]
pub struct Fixture {
    /// Name of the match.
    #[serde(rename = "match")]
    pub match_: String,
    /// Name of the stage.
    pub stage: String,
    /// Entrants in seat order.
    pub entrants: Vec<u32>,
    /// State of the match.
    pub state: FixtureState,
}

/// State of a match in the schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FixtureState {
    /// Finished.
    Played,
    /// Being played.
    Playing,
    /// Not started yet.
    #[serde(rename = "to come")]
    Scheduled,
    /// Void: it does not count.
    Void,
}

/// Balance of a schedule: the minimum and the maximum of each count.
#[derive(Debug, Serialize, ToSchema)]
pub struct ScheduleBalance {
    /// Meetings per pair; null if the field is too large.
    pub meetings: Option<[u64; 2]>,
    /// Matches per entrant and seat; null if roles determine the seats.
    pub seats: Option<[u64; 2]>,
    /// Matches per entrant.
    pub matches: [u64; 2],
}

impl ScheduleBalance {
    fn of(report: &BalanceReport) -> Self {
        let range = |range: agon_league::format::balance::CountRange| [range.least, range.most];
        Self {
            meetings: report.meetings.map(range),
            seats: report.seats.map(range),
            matches: range(report.played),
        }
    }
}

/// Schedule of a phase: stages and matches known so far, and which were played.
#[utoipa::path(
    get, path = "/competitions/{id}/phases/{phase}/schedule", tag = "competitions", operation_id = "schedule",
    params(("id" = String, Path, description = "The competition."), ("phase" = u32, Path, description = "The phase, from 1."), PageQuery),
    responses(
        (status = 200, description = "The schedule.", body = Schedule),
        (status = 409, description = "The competition has not started yet.", body = ErrorBody),
    ),
)]
async fn schedule(
    State(app): State<AppState>,
    visible: VisibleCompetition,
    Path(PhasePath { phase }): Path<PhasePath>,
    Query(paging): Query<PageQuery>,
) -> ApiResult<Json<Schedule>> {
    let (_, _, number) = visible.handle.phase(phase)?;
    let limit = paging.limit()?;
    let after = match &paging.after {
        None => None,
        Some(name) => Some(
            match_key(number, name)
                .map_err(|_| ApiError::invalid("after", "`after` must be `next` of the previous page"))?,
        ),
    };
    let progress = visible.stage_progress(&app, phase).await?;
    let overview = visible.overview(&app).await?;
    let playing: HashSet<MatchKey> = visible
        .handle
        .live_games()
        .map(|live_games| live_games.games().into_iter().map(|board| board.key).collect())
        .unwrap_or_default();
    let mut items = Vec::new();
    let mut next = after.map_or(Some((0, 0)), |key| Some((key.stage as usize, key.number + 1)));
    while let Some((stage, at)) = next.filter(|_| items.len() <= limit as usize) {
        let Some(own) = progress.stages.get(stage) else { break };
        let Some(fixture) = own.stage.fixture(at) else {
            next = Some((stage + 1, 0));
            continue;
        };
        next = Some((stage, at + 1));
        let key = MatchKey { phase: number, stage: stage as u32, number: at };
        let name = match_name(key);
        let state = if overview.void_reason(number, &name).is_some() {
            FixtureState::Void
        } else if own.done.contains(at) {
            FixtureState::Played
        } else if playing.contains(&key) {
            FixtureState::Playing
        } else {
            FixtureState::Scheduled
        };
        let entrants = fixture.seats.iter().map(|one| one.0).collect();
        items.push(Fixture { match_: name, stage: own.name.clone(), entrants, state });
    }
    Ok(Json(Schedule {
        stages: stage_items(&progress),
        fixtures: PageBody::from_lookahead(items, limit, |last| last.match_.clone()),
        balance: progress.balance.as_ref().map(ScheduleBalance::of),
    }))
}

fn stage_items(progress: &StageProgress) -> Vec<StageItem> {
    let item = |(number, one): (u32, &crate::read_model::schedule::PlannedStage)| StageItem {
        stage: number,
        name: one.name.clone(),
        matches: one.stage.len(),
        done: one.done.len(),
    };
    (1..).zip(&progress.stages).map(item).collect()
}

/// Bracket of an elimination.
#[derive(Debug, Serialize, ToSchema)]
pub struct Bracket {
    /// Rounds in order, up to the current one.
    pub rounds: Vec<BracketRound>,
    /// Rounds after the current one. Empty in very large brackets.
    pub planned: Vec<PlannedRoundBody>,
    /// Final places known so far.
    pub placing: Vec<BracketPlace>,
}

/// A round that is still to come.
#[derive(Debug, Serialize, ToSchema)]
pub struct PlannedRoundBody {
    /// Name of the round, such as `final`.
    pub name: String,
    /// Number of ties. Their entrants are not known yet.
    pub ties: u32,
}

/// Ties that are played at the same time.
#[derive(Debug, Serialize, ToSchema)]
pub struct BracketRound {
    /// Name of the round, such as `quarter-finals`.
    pub name: String,
    /// Ties from top to bottom.
    pub matches: Vec<BracketMatch>,
}

/// A tie: two entrants, of which one advances.
#[derive(Debug, Serialize, ToSchema)]
pub struct BracketMatch {
    /// Name of the first match; null if none was played: a bye, or not started yet.
    #[serde(rename = "match")]
    pub match_: Option<String>,
    /// The two sides.
    pub sides: Vec<BracketSide>,
    /// Note about the tie; may be empty.
    pub note: String,
}

/// One side of a tie.
#[derive(Debug, Serialize, ToSchema)]
pub struct BracketSide {
    /// The entrant; null if there is none, or it is not known yet.
    pub entrant: Option<u32>,
    /// Place in the seeding, from 1.
    pub seed: Option<u32>,
    /// Points, and the tie-break value if it decided.
    pub score: String,
    /// Whether it advances.
    pub won: bool,
}

/// A final place.
#[derive(Debug, Serialize, ToSchema)]
pub struct BracketPlace {
    /// The place, from 1.
    pub place: u32,
    /// Entrants that share it.
    pub entrants: Vec<u32>,
}

/// Bracket of an elimination, with the rounds that are still to come.
#[utoipa::path(
    get, path = "/competitions/{id}/phases/{phase}/bracket", tag = "competitions", operation_id = "bracket",
    params(("id" = String, Path, description = "The competition."), ("phase" = u32, Path, description = "The phase, from 1.")),
    responses(
        (status = 200, description = "The bracket.", body = Bracket),
        (status = 304, description = "The client already has this version."),
        (status = 404, description = "There is no such phase, or it is not an elimination.", body = ErrorBody),
        (status = 409, description = "The competition has not started yet.", body = ErrorBody),
    ),
)]
async fn bracket(
    State(app): State<AppState>,
    visible: VisibleCompetition,
    Path(PhasePath { phase }): Path<PhasePath>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let (loaded, ledger, number) = visible.handle.phase(phase)?;
    if !loaded.competition.phases[number as usize].format.is_bracket() {
        return Err(ApiError::not_found("bracket").hint("this phase is not an elimination"));
    }
    let make = || {
        app.competitions.compute(move |handle: &Handle| {
            let bracket = handle.block_on(compute_bracket(&loaded, &*ledger, number))?;
            EncodedJson::from_value(&bracket)
        })
    };
    let cached =
        visible.handle.brackets.get(number, visible.handle.revision(), visible.is_running(), make).await?;
    Ok(cached.value.response(&headers))
}

async fn compute_bracket(
    loaded: &agon_competition::LoadedCompetition,
    ledger: &dyn agon_store::Ledger,
    number: u32,
) -> ApiResult<Bracket> {
    let (competition, info) = (&loaded.competition, loaded.table.info());
    let seed = ledger.secret_seed().await.map_err(ApiError::internal)?;
    let broke = |error: agon_runner::RunError| ApiError::internal(error);
    let Ok(plan) = phase_results::schedule(ledger, competition, info, number, &seed).await else {
        return Ok(Bracket { rounds: Vec::new(), planned: Vec::new(), placing: Vec::new() });
    };
    let field = phase_results::field(ledger, competition, info, number).await.map_err(broke)?;
    let started = ledger.progress(number).await.map_err(ApiError::internal)?.played.len() as u32;
    let stages =
        phase_results::finished_stages(ledger, info, number, plan.as_ref(), started).await.map_err(broke)?;
    let bracket = phase_results::bracket(ledger, info, number, plan.as_ref(), &field, &stages).await;
    let planned = model::planned_rounds(plan.as_ref(), &field, &stages);
    Ok(Bracket::of(&bracket.map_err(broke)?, planned))
}

impl Bracket {
    fn of(bracket: &model::Bracket, planned: Vec<model::PlannedRound>) -> Self {
        let round = |round: &model::BracketRound| BracketRound {
            name: round.name.clone(),
            matches: round.ties.iter().map(|tie| BracketMatch::of(tie, bracket.tie_break)).collect(),
        };
        let place = |one: &model::BracketPlace| BracketPlace {
            place: one.place,
            entrants: one.entrants.iter().map(|entrant| entrant.0).collect(),
        };
        Self {
            rounds: bracket.rounds.iter().map(round).collect(),
            planned: planned
                .into_iter()
                .map(|round| PlannedRoundBody { name: round.name, ties: round.ties })
                .collect(),
            placing: bracket.places.iter().map(place).collect(),
        }
    }
}

impl BracketMatch {
    fn of(tie: &model::BracketTie, tie_break: &str) -> Self {
        let mut notes = Vec::new();
        if tie.extra_pairs > 0 {
            notes.push(grouped_plural(tie.extra_pairs.into(), "extra pair", "extra pairs"));
        }
        if tie.is_level() {
            notes.push(format!("in brackets: {tie_break}"));
        }
        Self {
            match_: tie.matches.first().map(|key| match_name(*key)),
            sides: vec![BracketSide::of(tie, 0), BracketSide::of(tie, 1)],
            note: notes.join("; "),
        }
    }
}

impl BracketSide {
    fn of(tie: &model::BracketTie, at: usize) -> Self {
        let own = tie.sides[at];
        let mut score = if tie.matches.is_empty() { String::new() } else { trim_number(own.points, 2) };
        if tie.is_level() {
            score += &format!(" ({})", trim_number(own.tie_break, 2));
        }
        Self { entrant: Some(own.entrant.0), seed: own.seed, score, won: tie.winner == Some(at) }
    }
}
