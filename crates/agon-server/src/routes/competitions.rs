//! Competitions: the list, and single competitions.

use std::sync::Arc;

use agon_league::config::Presentation;
use agon_site_db::CompetitionFilter;
use agon_store::PhaseState;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::downloads::{self, Download};
use super::pictures::picture_path;
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Query};
use crate::paging::{PageBody, PageQuery};
use crate::read_model::freeze::{FreezeBody, PlannedFreeze, freeze_body};
use crate::read_model::overview::{self, Entrant, Overview, PhaseItem, Ruling};
use crate::read_model::standings::{PhaseStandings, Placed};
use crate::read_model::{VisibleCompetition, is_public};
use crate::state::AppState;
use crate::uploads;
use crate::uploads::deadline::DeadlineItem;

/// Number of leading bots of each role in a list.
const MAX_LEADERS: usize = 3;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(competitions)).routes(routes!(competition))
}

/// A competition in a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct CompetitionItem {
    /// Id, as in URLs.
    pub id: String,
    /// The competition's name.
    pub name: String,
    /// The game's id.
    pub game: String,
    /// The game's name.
    pub game_title: String,
    /// State: `draft`, `open`, `closed`, `running`, `paused`, `waiting`, `over` or `failed`.
    #[schema(pattern = "^(draft|open|closed|running|paused|waiting|over|failed)$")]
    pub state: &'static str,
    /// Why it failed, for organisers.
    pub message: Option<String>,
    /// When it was created.
    pub created: i64,
    /// Number of bots that take part.
    pub bots: u64,
    /// The phase being played, or the last one that was played.
    pub phase: Option<CurrentPhase>,
    /// Matches of this phase that were played.
    pub matches: u64,
    /// Matches of this phase in total, if known.
    pub expected: Option<u64>,
    /// Leading bots of this phase: the first three, or the first three of each role, one role after the other.
    pub leaders: Vec<Leader>,
    /// Whether it accepts bots now, if a deadline is not past.
    pub accepts: bool,
    /// Until when it accepts bots.
    pub deadline: Option<DeadlineItem>,
    /// Prizes: the first is for the first place.
    pub prizes: Vec<String>,
    /// Sponsors.
    pub sponsors: Vec<SponsorItem>,
    /// Since when the standings are frozen, if they are.
    pub frozen_since: Option<i64>,
}

/// A sponsor of a competition.
#[derive(Debug, Serialize, ToSchema)]
pub struct SponsorItem {
    /// The sponsor's name.
    pub name: String,
    /// Address of its page.
    pub link: Option<String>,
    /// Address of its picture.
    pub picture: Option<String>,
}

/// A phase among all phases of a competition.
#[derive(Debug, Serialize, ToSchema)]
pub struct CurrentPhase {
    /// Number of the phase, from 1.
    pub number: u32,
    /// The phase's name.
    pub name: String,
    /// Number of phases.
    pub of: u32,
}

/// One of the leading bots.
#[derive(Debug, Serialize, ToSchema)]
pub struct Leader {
    /// Id of the bot's page.
    pub bot: i64,
    /// The bot's name.
    pub name: String,
    /// The bot's rank among the bots of its role.
    pub rank: u64,
    /// Its entrant number in tables.
    pub entrant: u32,
    /// Its role, in a game with roles.
    pub role: Option<String>,
}

/// A competition.
#[derive(Debug, Serialize, ToSchema)]
pub struct Competition {
    /// The fields that lists have too.
    #[serde(flatten)]
    pub item: CompetitionItem,
    /// What the competition is about: the text of its file, or the summary of the game.
    pub about: String,
    /// Phases in order.
    pub phases: Vec<PhaseItem>,
    /// Entrants of the competition.
    pub entrants: Vec<Entrant>,
    /// SHA-256 of the secret seed, once the competition has started.
    pub commitment: Option<String>,
    /// The secret seed, once the competition is finished.
    pub seed: Option<String>,
    /// Rulings of the competition.
    pub rulings: Vec<Ruling>,
    /// Upload limits.
    pub limits: SubmissionLimits,
    /// How many more bots the caller may submit; null if it may not submit any.
    #[serde(rename = "left")]
    pub bots_left: Option<u32>,
    /// Files to download.
    pub downloads: Vec<Download>,
    /// The competition file, for organisers.
    pub file: Option<String>,
    /// The freeze of the standings that is in force.
    pub frozen: Option<FreezeBody>,
    /// When the standings will be frozen.
    pub freeze: Option<PlannedFreeze>,
}

/// Upload limits.
#[derive(Debug, Serialize, ToSchema)]
pub struct SubmissionLimits {
    /// Maximum number of bots per account.
    pub per_contributor: u32,
    /// Maximum size of an upload in bytes.
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
    let is_organiser = caller.is_organiser();
    let filter = if is_organiser { CompetitionFilter::All } else { CompetitionFilter::Public };
    let listed = app.site_db.competitions(filter, paging.site_page()?).await?;
    let mut items = Vec::with_capacity(listed.items.len());
    for row in listed.items {
        // It was deleted just now, or this program does not know its game.
        let Ok(handle) = app.competitions.get(&row.id) else { continue };
        if is_organiser || is_public(&row) {
            let visible = VisibleCompetition::of(&handle, &Arc::new(row), is_organiser);
            let overview = visible.overview(&app).await?;
            items.push(list_item(&app, &visible, &overview, &caller).await?);
        }
    }
    Ok(Json(PageBody::from_site_page(items, listed.next)))
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
async fn competition(
    State(app): State<AppState>,
    visible: VisibleCompetition,
    caller: Caller,
) -> ApiResult<Json<Competition>> {
    Ok(Json(competition_body(&app, &visible, &caller).await?))
}

/// A competition as sent to this caller. Also used after changes.
pub async fn competition_body(
    app: &AppState,
    visible: &VisibleCompetition,
    caller: &Caller,
) -> ApiResult<Competition> {
    let overview = visible.overview(app).await?;
    let loaded = visible.handle.loaded();
    let (per_contributor, max_bytes) = overview::upload_limits(&visible.site_row, loaded.as_deref());
    let item = list_item(app, visible, &overview, caller).await?;
    let own_about = loaded.as_ref().and_then(|loaded| loaded.competition.presentation.about.clone());
    Ok(Competition {
        bots_left: overview::bots_left(&visible.site_row, loaded.as_deref(), &overview, item.accepts, caller),
        item,
        about: match own_about {
            Some(about) => about,
            None => info(&visible.site_row)?.summary.to_owned(),
        },
        phases: overview.phases.clone(),
        entrants: overview.entrants(caller),
        commitment: overview.commitment.clone(),
        seed: overview.seed.clone(),
        rulings: overview.rulings.clone(),
        limits: SubmissionLimits { per_contributor, max_bytes },
        downloads: downloads::list(visible, &overview),
        file: caller.is_organiser().then(|| visible.site_row.preset.clone()),
        frozen: freeze_body(app, visible).await?,
        freeze: visible.handle.planned_freeze(),
    })
}

fn info(row: &agon_site_db::HostedCompetition) -> ApiResult<&'static agon_core::GameInfo> {
    agon_engine::any_game(&row.game).map(|any_game| any_game.info()).map_err(ApiError::internal)
}

fn deadline(visible: &VisibleCompetition, overview: &Overview) -> Option<DeadlineItem> {
    let next = overview.phases.iter().find(|phase| phase.state == PhaseState::Waiting.name());
    let loaded = visible.handle.loaded()?;
    let next = next.map(|phase| phase.number.saturating_sub(1));
    uploads::deadline::current(&visible.site_row, &loaded, next).map(DeadlineItem::from)
}

/// The first bots of a phase, of each role.
fn leaders(overview: &Overview, standings: &PhaseStandings) -> Vec<Leader> {
    let role_of = |entrant| overview.entrant_owner(entrant).and_then(|owner| owner.body.role.as_deref());
    let placed = standings.leaders(MAX_LEADERS, role_of).into_iter();
    let leader = |one: Placed| {
        let owner = &overview.entrant_owner(one.entrant)?.body;
        let (name, role) = (owner.name.clone(), owner.role.clone());
        Some(Leader { bot: owner.bot, name, rank: one.rank, entrant: one.entrant, role })
    };
    placed.filter_map(leader).collect()
}

async fn list_item(
    app: &AppState,
    visible: &VisibleCompetition,
    overview: &Overview,
    caller: &Caller,
) -> ApiResult<CompetitionItem> {
    let row = &visible.site_row;
    let loaded = visible.handle.loaded();
    let presentation = loaded.as_ref().map(|loaded| &loaded.competition.presentation);
    let current = overview.current_phase();
    let leaders = match current.filter(|current| current.matches > 0) {
        Some(current) => {
            let standings = visible.standings(app, current.number).await?;
            leaders(overview, &standings)
        }
        None => Vec::new(),
    };
    Ok(CompetitionItem {
        id: row.id.clone(),
        name: row.name.clone(),
        game: row.game.clone(),
        game_title: info(row)?.title.to_owned(),
        state: row.state.name(),
        message: row.message.clone().filter(|_| caller.is_organiser()),
        created: row.created.0,
        bots: overview.entrant_owners.iter().filter(|one| !one.body.withdrawn).count() as u64,
        phase: current.map(|current| CurrentPhase {
            number: current.number,
            name: current.name.clone(),
            of: overview.phases.len() as u32,
        }),
        matches: current.map_or(0, |current| current.matches),
        expected: current.and_then(|current| Some(current.expected?[0].max(current.matches))),
        leaders,
        accepts: uploads::accepts_bots(row),
        deadline: deadline(visible, overview),
        prizes: presentation.map_or_else(Vec::new, |own| own.prizes.clone()),
        sponsors: presentation.map_or_else(Vec::new, |own| sponsors(&row.id, own)),
        frozen_since: app
            .competitions
            .get(&row.id)
            .ok()
            .and_then(|handle| handle.as_of().or_else(|| handle.frozen_since(row.state)))
            .map(|since| since.0),
    })
}

fn sponsors(competition: &str, presentation: &Presentation) -> Vec<SponsorItem> {
    let item = |sponsor: &agon_league::config::Sponsor| SponsorItem {
        name: sponsor.name.clone(),
        link: sponsor.link.clone(),
        picture: sponsor.picture.as_deref().map(|name| picture_path(competition, name)),
    };
    presentation.sponsors.iter().map(item).collect()
}
