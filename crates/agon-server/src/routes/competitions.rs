//! Competitions: the list, and each of them.

use std::sync::Arc;

use agon_store::site_db::{self, CompetitionFilter};
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::downloads::{self, Download};
use crate::read_model::overview::{self, Entrant, Overview, PhaseItem, Ruling};
use crate::read_model::{VisibleCompetition, is_shown};
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Query};
use crate::uploads;
use crate::paging::{PageBody, PageQuery};
use crate::state::AppState;

/// So many of the best are named in a list.
const LEADERS: usize = 3;

/// Its routes.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(competitions)).routes(routes!(competition))
}

/// A competition, in a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct CompetitionItem {
    /// As in addresses.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The game's id.
    pub game: String,
    /// The game's name.
    pub game_title: String,
    /// How far it is: `draft`, `open`, `closed`, `running`, `paused`, `waiting`, `over` or `failed`.
    #[schema(pattern = "^(draft|open|closed|running|paused|waiting|over|failed)$")]
    pub state: &'static str,
    /// Why it failed, for organisers.
    pub message: Option<String>,
    /// When it was made.
    pub created: i64,
    /// How many take part.
    pub bots: u64,
    /// Which phase is played, or was played last.
    pub phase: Option<PhaseNow>,
    /// How many matches of this phase were played.
    pub matches: u64,
    /// How many it has, as far as that is known.
    pub expected: Option<u64>,
    /// The first few in this phase.
    pub leaders: Vec<Leader>,
    /// Whether bots can be handed in just now.
    pub accepts: bool,
}

/// Which phase.
#[derive(Debug, Serialize, ToSchema)]
pub struct PhaseNow {
    /// From 1.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// Of how many.
    pub of: u32,
}

/// One of the first few.
#[derive(Debug, Serialize, ToSchema)]
pub struct Leader {
    /// The number of its page.
    pub bot: i64,
    /// Its name.
    pub name: String,
    /// Its rank.
    pub rank: u64,
}

/// A competition.
#[derive(Debug, Serialize, ToSchema)]
pub struct Competition {
    /// What stands in lists.
    #[serde(flatten)]
    pub item: CompetitionItem,
    /// What is played, in a line.
    pub about: String,
    /// In order.
    pub phases: Vec<PhaseItem>,
    /// Who takes part.
    pub entrants: Vec<Entrant>,
    /// SHA-256 of the secret seed, once it was started.
    pub commitment: Option<String>,
    /// The seed, once all was played.
    pub seed: Option<String>,
    /// What was decided.
    pub rulings: Vec<Ruling>,
    /// What may be handed in.
    pub limits: SubmissionLimits,
    /// How many more bots the reader may hand in; null for who may not.
    pub left: Option<u32>,
    /// Files to take home.
    pub downloads: Vec<Download>,
    /// Its file, for organisers.
    pub file: Option<String>,
}

/// What may be handed in.
#[derive(Debug, Serialize, ToSchema)]
pub struct SubmissionLimits {
    /// So many bots of one account.
    pub per_contributor: u32,
    /// So many bytes each.
    pub max_bytes: u64,
}

/// All competitions, newest first. Drafts are for organisers.
#[utoipa::path(
    get, path = "/competitions", tag = "competitions", operation_id = "competitions", params(PageQuery),
    responses((status = 200, description = "A page of competitions.", body = PageBody<CompetitionItem>)),
)]
async fn competitions(
    State(app): State<AppState>,
    caller: Caller,
    Query(paging): Query<PageQuery>,
) -> ApiResult<Json<PageBody<CompetitionItem>>> {
    let organises = caller.is_organiser();
    let shown = if organises { CompetitionFilter::All } else { CompetitionFilter::Public };
    let listed = app.office.competitions(shown, paging.of_office()?).await?;
    let mut items = Vec::with_capacity(listed.items.len());
    for row in listed.items {
        // One that was deleted just now, or whose game this program does not know.
        let Ok(arena) = app.arenas.get(&row.id) else { continue };
        if organises || is_shown(&row) {
            let seen = VisibleCompetition { arena, row: Arc::new(row) };
            let overview = seen.overview(&app).await?;
            items.push(item(&app, &seen, &overview, &caller).await?);
        }
    }
    Ok(Json(PageBody::listed(items, listed.next)))
}

/// A competition.
#[utoipa::path(
    get, path = "/competitions/{id}", tag = "competitions", operation_id = "competition",
    params(("id" = String, Path, description = "The competition.")),
    responses(
        (status = 200, description = "The competition.", body = Competition),
        (status = 404, description = "There is no such competition.", body = ErrorBody),
    ),
)]
async fn competition(State(app): State<AppState>, seen: VisibleCompetition, caller: Caller) -> ApiResult<Json<Competition>> {
    Ok(Json(whole(&app, &seen, &caller).await?))
}

/// A competition as whoever asks sees it: for everything that changes one, too.
pub async fn whole(app: &AppState, seen: &VisibleCompetition, caller: &Caller) -> ApiResult<Competition> {
    let overview = seen.overview(app).await?;
    let sitting = seen.arena.sitting();
    let (per_contributor, max_bytes) = overview::limits(&seen.row, sitting.as_deref());
    let item = item(app, seen, &overview, caller).await?;
    Ok(Competition {
        left: overview::left(&seen.row, sitting.as_deref(), &overview, item.accepts, caller),
        item,
        about: info(&seen.row)?.summary.to_owned(),
        phases: overview.phases.clone(),
        entrants: overview.entrants(caller),
        commitment: overview.commitment.clone(),
        seed: overview.seed.clone(),
        rulings: overview.rulings.clone(),
        limits: SubmissionLimits { per_contributor, max_bytes },
        downloads: downloads::list(seen, &overview),
        file: caller.is_organiser().then(|| seen.row.preset.clone()),
    })
}

fn info(row: &site_db::HostedCompetition) -> ApiResult<&'static agon_core::GameInfo> {
    agon_engine::table(&row.game).map(|table| table.info()).map_err(ApiError::broke)
}

async fn item(app: &AppState, seen: &VisibleCompetition, overview: &Overview, caller: &Caller) -> ApiResult<CompetitionItem> {
    let row = &seen.row;
    let now = overview.current();
    let mut leaders = Vec::new();
    if let Some(now) = now.filter(|now| now.matches > 0) {
        for (entrant, rank) in seen.figures(app, now.number).await?.leaders(LEADERS) {
            if let Some(taker) = overview.taker(entrant) {
                leaders.push(Leader { bot: taker.shown.bot, name: taker.shown.name.clone(), rank });
            }
        }
    }
    Ok(CompetitionItem {
        id: row.id.clone(),
        name: row.name.clone(),
        game: row.game.clone(),
        game_title: info(row)?.title.to_owned(),
        state: row.state.name(),
        message: row.message.clone().filter(|_| caller.is_organiser()),
        created: row.created.0,
        bots: overview.takers.iter().filter(|one| !one.shown.withdrawn).count() as u64,
        phase: now.map(|now| PhaseNow {
            number: now.number,
            name: now.name.clone(),
            of: overview.phases.len() as u32,
        }),
        matches: now.map_or(0, |now| now.matches),
        expected: now.and_then(|now| Some(now.expected?[0].max(now.matches))),
        leaders,
        accepts: uploads::accepts(app, row).await,
    })
}
