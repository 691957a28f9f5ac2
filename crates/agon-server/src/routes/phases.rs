//! Phases: tables, ratings over time, schedules, brackets.

use std::collections::HashSet;

use agon_league::MatchKey;
use agon_league::format::{BalanceReport, PhaseHistory};
use agon_report::data::GameList;
use agon_runner::phase_results;
use agon_venue::report::brackets;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::read_model::VisibleCompetition;
use crate::read_model::standings::Table;
use crate::read_model::overview::{match_key, match_name};
use crate::read_model::schedule::StageProgress;
use crate::read_model::ratings::RatingHistory;
use crate::read_model::encoded_json::EncodedJson;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path, Query};
use crate::paging::{PageBody, PageQuery};
use crate::state::AppState;

/// Its routes.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(table))
        .routes(routes!(ratings))
        .routes(routes!(schedule))
        .routes(routes!(bracket))
}

/// Which phase.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct OfPhase {
    /// From 1.
    pub phase: u32,
}

/// The tables of a phase. The same for all: `mine` is never set in it.
#[utoipa::path(
    get, path = "/competitions/{id}/phases/{phase}/table", tag = "competitions", operation_id = "table",
    params(("id" = String, Path, description = "The competition."), ("phase" = u32, Path, description = "From 1.")),
    responses(
        (status = 200, description = "The tables.", body = Table, headers(("ETag" = String, description = "For If-None-Match."))),
        (status = 304, description = "As the reader has it."),
        (status = 409, description = "The competition was not started yet.", body = ErrorBody),
    ),
)]
async fn table(
    State(app): State<AppState>,
    seen: VisibleCompetition,
    Path(OfPhase { phase }): Path<OfPhase>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    Ok(seen.figures(&app, phase).await?.ready.answer(&headers))
}

/// How the ratings of a phase came about: about 30 places in it.
#[utoipa::path(
    get, path = "/competitions/{id}/phases/{phase}/ratings", tag = "competitions", operation_id = "ratings",
    params(("id" = String, Path, description = "The competition."), ("phase" = u32, Path, description = "From 1.")),
    responses(
        (status = 200, description = "The ratings.", body = RatingHistory),
        (status = 304, description = "As the reader has it."),
        (status = 409, description = "The competition was not started yet.", body = ErrorBody),
    ),
)]
async fn ratings(
    State(app): State<AppState>,
    seen: VisibleCompetition,
    Path(OfPhase { phase }): Path<OfPhase>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    Ok(seen.ratings(&app, phase).await?.answer(&headers))
}

/// What a phase plays.
#[derive(Debug, Serialize, ToSchema)]
pub struct Schedule {
    /// As far as they are known.
    pub stages: Vec<StageItem>,
    /// In the order of the schedule.
    pub fixtures: PageBody<Fixture>,
    /// How evenly it is spread.
    pub balance: Option<Balance>,
}

/// Matches that may be played in any order.
#[derive(Debug, Serialize, ToSchema)]
pub struct StageItem {
    /// From 1.
    pub stage: u32,
    /// `round 3`, `quarter-finals`.
    pub name: String,
    /// How many.
    pub matches: u64,
    /// How many of them were played.
    pub done: u64,
}

/// A match that was or is to be played.
#[derive(Debug, Serialize, ToSchema)]
pub struct Fixture {
    /// Its name.
    #[serde(rename = "match")]
    pub match_: String,
    /// The name of its stage.
    pub stage: String,
    /// Who plays, in seat order.
    pub entrants: Vec<u32>,
    /// How far it is.
    pub state: FixtureState,
}

/// How far a match is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FixtureState {
    /// It is over.
    Played,
    /// It is on.
    Playing,
    /// It waits.
    #[serde(rename = "to come")]
    ToCome,
    /// It counts for nothing.
    Void,
}

/// From the least to the most.
#[derive(Debug, Serialize, ToSchema)]
pub struct Balance {
    /// Of each two; null in fields too large to count.
    pub meetings: Option<[u64; 2]>,
    /// Of an entrant on a seat; null where a role has its seat.
    pub seats: Option<[u64; 2]>,
    /// Of an entrant.
    pub matches: [u64; 2],
}

impl Balance {
    fn of(report: &BalanceReport) -> Self {
        let range = |range: agon_league::format::balance::CountRange| [range.least, range.most];
        Self {
            meetings: report.meetings.map(range),
            seats: report.seats.map(range),
            matches: range(report.played),
        }
    }
}

/// What a phase plays: stages and matches as far as they are known, and which were played.
#[utoipa::path(
    get, path = "/competitions/{id}/phases/{phase}/schedule", tag = "competitions", operation_id = "schedule",
    params(("id" = String, Path, description = "The competition."), ("phase" = u32, Path, description = "From 1."), PageQuery),
    responses(
        (status = 200, description = "The schedule.", body = Schedule),
        (status = 409, description = "The competition was not started yet.", body = ErrorBody),
    ),
)]
async fn schedule(
    State(app): State<AppState>,
    seen: VisibleCompetition,
    Path(OfPhase { phase }): Path<OfPhase>,
    Query(paging): Query<PageQuery>,
) -> ApiResult<Json<Schedule>> {
    let (_, _, number) = seen.arena.phase(phase)?;
    let limit = paging.limit()?;
    let after = match &paging.after {
        None => None,
        Some(name) => Some(
            match_key(number, name)
                .map_err(|_| ApiError::invalid("after", "`after` is `next` of the page before"))?,
        ),
    };
    let planned = seen.planned(&app, phase).await?;
    let overview = seen.overview(&app).await?;
    let playing: HashSet<MatchKey> = seen
        .arena
        .gallery()
        .map(|gallery| gallery.boards().into_iter().map(|board| board.key).collect())
        .unwrap_or_default();
    let mut items = Vec::new();
    let mut next = after.map_or(Some((0, 0)), |key| Some((key.stage as usize, key.number + 1)));
    while let Some((stage, at)) = next.filter(|_| items.len() <= limit as usize) {
        let Some(own) = planned.stages.get(stage) else { break };
        let Some(fixture) = own.stage.fixture(at) else {
            next = Some((stage + 1, 0));
            continue;
        };
        next = Some((stage, at + 1));
        let key = MatchKey { phase: number, stage: stage as u32, number: at };
        let name = match_name(key);
        let state = if overview.void(number, &name).is_some() {
            FixtureState::Void
        } else if own.done.contains(at) {
            FixtureState::Played
        } else if playing.contains(&key) {
            FixtureState::Playing
        } else {
            FixtureState::ToCome
        };
        let entrants = fixture.seats.iter().map(|one| one.0).collect();
        items.push(Fixture { match_: name, stage: own.name.clone(), entrants, state });
    }
    Ok(Json(Schedule {
        stages: stages(&planned),
        fixtures: PageBody::of(items, limit, |last| last.match_.clone()),
        balance: planned.balance.as_ref().map(Balance::of),
    }))
}

fn stages(planned: &StageProgress) -> Vec<StageItem> {
    let item = |(number, one): (u32, &crate::read_model::schedule::PlannedStage)| StageItem {
        stage: number,
        name: one.name.clone(),
        matches: one.stage.len(),
        done: one.done.len(),
    };
    (1..).zip(&planned.stages).map(item).collect()
}

/// An elimination as it went.
#[derive(Debug, Serialize, ToSchema)]
pub struct Bracket {
    /// In the order they are played.
    pub rounds: Vec<Round>,
    /// Who has which place, as far as that is known.
    pub placing: Vec<Place>,
}

/// Ties that are played at the same time.
#[derive(Debug, Serialize, ToSchema)]
pub struct Round {
    /// `quarter-finals`.
    pub name: String,
    /// From top to bottom.
    pub matches: Vec<BracketMatch>,
}

/// Two, of whom one goes on.
#[derive(Debug, Serialize, ToSchema)]
pub struct BracketMatch {
    /// Its first match; null if none was played: a bye, or it is to come.
    #[serde(rename = "match")]
    pub match_: Option<String>,
    /// Two of them.
    pub sides: Vec<Side>,
    /// What is to be said of it.
    pub note: String,
}

/// One of the two.
#[derive(Debug, Serialize, ToSchema)]
pub struct Side {
    /// Who; null if there is nobody, or it is not known yet.
    pub entrant: Option<u32>,
    /// Its place in the seeding, from 1.
    pub seed: Option<u32>,
    /// Its points, and what breaks a tie.
    pub score: String,
    /// Whether it goes on.
    pub won: bool,
}

/// Who has a place.
#[derive(Debug, Serialize, ToSchema)]
pub struct Place {
    /// From 1.
    pub place: u32,
    /// Who.
    pub entrants: Vec<u32>,
}

/// An elimination as it went, up to what is played now.
#[utoipa::path(
    get, path = "/competitions/{id}/phases/{phase}/bracket", tag = "competitions", operation_id = "bracket",
    params(("id" = String, Path, description = "The competition."), ("phase" = u32, Path, description = "From 1.")),
    responses(
        (status = 200, description = "The bracket.", body = Bracket),
        (status = 304, description = "As the reader has it."),
        (status = 404, description = "There is no such phase, or it is no elimination.", body = ErrorBody),
        (status = 409, description = "The competition was not started yet.", body = ErrorBody),
    ),
)]
async fn bracket(
    State(app): State<AppState>,
    seen: VisibleCompetition,
    Path(OfPhase { phase }): Path<OfPhase>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let (sitting, ledger, number) = seen.arena.phase(phase)?;
    if !sitting.competition.phases[number as usize].format.is_bracket() {
        return Err(ApiError::not_found("bracket").hint("this phase is no elimination"));
    }
    let make = || {
        app.arenas.work(move |handle: &Handle| {
            let bracket = handle.block_on(drawn(&sitting, &*ledger, number))?;
            EncodedJson::json(&bracket)
        })
    };
    let kept = seen.arena.brackets.get(number, seen.arena.revision(), seen.is_running(), make).await?;
    Ok(kept.value.answer(&headers))
}

async fn drawn(
    sitting: &agon_venue::Sitting,
    ledger: &dyn agon_store::Ledger,
    number: u32,
) -> ApiResult<Bracket> {
    let (competition, info) = (&sitting.competition, sitting.table.info());
    let seed = ledger.secret().await.map_err(ApiError::broke)?;
    let broke = |error: agon_runner::RunError| ApiError::broke(error);
    let Ok(plan) = phase_results::plan(ledger, competition, info, number, &seed).await else {
        return Ok(Bracket { rounds: Vec::new(), placing: Vec::new() });
    };
    let field = phase_results::field(ledger, competition, info, number).await.map_err(broke)?;
    let begun = ledger.progress(number).await.map_err(ApiError::broke)?.stages.len() as u32;
    let stages = phase_results::finished_stages(ledger, info, number, plan.as_ref(), begun).await.map_err(broke)?;
    let went = brackets::bracket(ledger, info, number, plan.as_ref(), &field, &stages, &GameList::default())
        .await
        .map_err(|failure| ApiError::broke(failure.message))?;
    let seeded = |entrant: agon_league::Entrant| {
        field.entrants.iter().position(|known| *known == entrant).map(|at| at as u32 + 1)
    };
    let side = |tie: &agon_report::bracket::Tie, at: usize| {
        let own = tie.sides[at];
        let level = tie.sides[0].points.total_cmp(&tie.sides[1].points).is_eq();
        let mut score =
            if tie.matches.is_empty() { String::new() } else { agon_report::text_format::trim_number(own.points, 2) };
        if level && tie.winner.is_some() {
            score += &format!(" ({})", agon_report::text_format::trim_number(own.second, 2));
        }
        Side { entrant: Some(own.entrant.0), seed: seeded(own.entrant), score, won: tie.winner == Some(at) }
    };
    let tie = |tie: &agon_report::bracket::Tie| {
        let level = tie.sides[0].points.total_cmp(&tie.sides[1].points).is_eq() && tie.winner.is_some();
        let mut notes = Vec::new();
        if tie.extra > 0 {
            notes.push(agon_report::text_format::plural(tie.extra.into(), "extra pair", "extra pairs"));
        }
        if level {
            notes.push(format!("in brackets: {}", went.second));
        }
        BracketMatch {
            match_: tie.matches.first().map(|key| match_name(*key)),
            sides: vec![side(tie, 0), side(tie, 1)],
            note: notes.join("; "),
        }
    };
    let rounds = went
        .rounds
        .iter()
        .map(|round| Round { name: round.name.clone(), matches: round.ties.iter().map(tie).collect() })
        .collect();
    let past = PhaseHistory { stages: &stages, ..PhaseHistory::default() };
    let mut place = 1;
    let mut placing = Vec::new();
    for shared in plan.placing(&past).unwrap_or_default() {
        placing.push(Place { place, entrants: shared.iter().map(|one| one.0).collect() });
        place += shared.len() as u32;
    }
    // Before anybody has lost all share the first place, which says nothing.
    if placing.len() < 2 {
        placing.clear();
    }
    Ok(Bracket { rounds, placing })
}
