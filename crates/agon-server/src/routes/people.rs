//! Profiles of people and teams: their bots, with ranks and ratings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agon_site_db::{Account, Entrant, TeamId};
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::caller::{Caller, Role};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path};
use crate::read_model::overview::PhaseItem;
use crate::read_model::{VisibleCompetition, is_public};
use crate::state::AppState;

/// Maximum number of bots on a profile.
const MAX_BOTS: usize = 100;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(person))
}

/// The profile of a person.
#[derive(Debug, Serialize, ToSchema)]
pub struct PersonPage {
    /// Name of the account.
    pub name: String,
    /// Name to show.
    pub shown: String,
    /// A short text.
    pub about: String,
    /// A link to another site.
    pub link: Option<String>,
    /// Role of the account.
    pub role: Role,
    /// When the account was created.
    pub since: i64,
    /// Whether it is the caller's own profile.
    pub mine: bool,
    /// Teams of the person.
    pub teams: Vec<TeamName>,
    /// Bots of the person and of its teams that the caller may see, newest first; null if the person does not list them.
    pub bots: Option<Vec<ProfileBot>>,
    /// Numbers of medals in finished competitions: gold, silver, bronze.
    pub medals: [u32; 3],
}

/// Name of a team.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct TeamName {
    /// Id of the team.
    pub id: i64,
    /// Its name.
    pub name: String,
}

/// A bot on a profile.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProfileBot {
    /// Id of the bot's page.
    pub bot: i64,
    /// The bot's name.
    pub name: String,
    /// Entrant number in tables; null before the start.
    pub entrant: Option<u32>,
    /// The team it plays for.
    pub team: Option<TeamName>,
    /// Id of the competition.
    pub competition: String,
    /// The competition's name.
    pub competition_name: String,
    /// The competition's state.
    pub state: String,
    /// The game's id.
    pub game: String,
    /// The latest accepted version.
    pub version: Option<u32>,
    /// Rank in the current or last phase.
    pub rank: Option<u64>,
    /// Number of ranked bots of that phase.
    pub of: u64,
    /// Medal: `gold`, `silver` or `bronze`, in a finished competition.
    pub medal: Option<&'static str>,
    /// Ratings of the phases it played, in order.
    pub ratings: Vec<ProfileRating>,
}

/// Rating of a bot in a phase.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProfileRating {
    /// Number of the phase, from 1.
    pub phase: u32,
    /// The phase's name.
    pub name: String,
    /// The version that played it, if it was uploaded.
    pub version: Option<u32>,
    /// Rating on the Elo scale.
    pub rating: f64,
    /// Standard error of the rating.
    pub error: f64,
}

/// A person's profile. Disabled accounts have none.
#[utoipa::path(
    get, path = "/people/{name}", tag = "people", operation_id = "person",
    params(("name" = String, Path, description = "Name of the account; case does not matter.")),
    responses(
        (status = 200, description = "The profile.", body = PersonPage),
        (status = 404, description = "There is no such person.", body = ErrorBody),
    ),
)]
async fn person(
    State(app): State<AppState>,
    caller: Caller,
    Path(name): Path<String>,
) -> ApiResult<Json<PersonPage>> {
    let account = find_person(&app, &caller, &name).await?;
    let profile = app.site_db.profile(account.id).await?;
    let mine = caller.is_account(Some(account.id.0));
    let teams = app.site_db.teams_of(account.id).await?;
    let bots = if profile.list_bots || mine {
        let mut entrants = app.site_db.entrants_of_account(account.id).await?;
        entrants.extend(app.site_db.entrants_of_teams_of(account.id).await?);
        entrants.sort_by_key(|one| std::cmp::Reverse(one.id));
        Some(profile_bots(&app, &caller, entrants).await?)
    } else {
        None
    };
    let medals = count_medals(bots.as_deref().unwrap_or_default());
    Ok(Json(PersonPage {
        shown: if profile.shown.is_empty() { account.name.clone() } else { profile.shown },
        name: account.name,
        about: profile.about,
        link: profile.link,
        role: account.role.into(),
        since: account.created.0,
        mine,
        teams: teams.into_iter().map(|team| TeamName { id: team.id.0, name: team.name }).collect(),
        bots,
        medals,
    }))
}

/// An enabled account, or 404. Organisers also find disabled ones.
pub async fn find_person(app: &AppState, caller: &Caller, name: &str) -> ApiResult<Account> {
    let found = app.site_db.account_by_name(name).await?;
    found
        .filter(|account| account.disabled.is_none() || caller.is_organiser())
        .ok_or_else(|| ApiError::not_found("person"))
}

/// Numbers of gold, silver and bronze medals.
pub fn count_medals(bots: &[ProfileBot]) -> [u32; 3] {
    ["gold", "silver", "bronze"]
        .map(|medal| bots.iter().filter(|bot| bot.medal == Some(medal)).count() as u32)
}

/// Bots as profiles list them: only those in competitions that the caller may see, and only accepted ones.
pub async fn profile_bots(
    app: &AppState,
    caller: &Caller,
    entrants: Vec<Entrant>,
) -> ApiResult<Vec<ProfileBot>> {
    let ids: BTreeSet<&str> = entrants.iter().map(|one| one.competition.as_str()).collect();
    let mut competitions: BTreeMap<String, VisibleCompetition> = BTreeMap::new();
    for id in ids {
        if let Some(visible) = find_competition(app, caller, id).await? {
            competitions.insert(id.to_owned(), visible);
        }
    }
    let team_ids: BTreeSet<TeamId> = entrants.iter().filter_map(|one| one.team).collect();
    let mut teams: BTreeMap<TeamId, TeamName> = BTreeMap::new();
    for id in team_ids {
        teams.insert(id, TeamName { id: id.0, name: app.site_db.team(id).await?.name });
    }
    let mut bots = Vec::new();
    for entrant in &entrants {
        let Some(visible) = competitions.get(&entrant.competition).filter(|_| bots.len() < MAX_BOTS) else {
            continue;
        };
        let team = entrant.team.and_then(|id| teams.get(&id).cloned());
        bots.extend(profile_bot(app, visible, entrant, team).await?);
    }
    Ok(bots)
}

async fn find_competition(
    app: &AppState,
    caller: &Caller,
    id: &str,
) -> ApiResult<Option<VisibleCompetition>> {
    let Ok(handle) = app.competitions.get(id) else { return Ok(None) };
    let row = handle.site_row(&app.site_db).await?;
    let is_organiser = caller.is_organiser();
    Ok((is_public(&row) || is_organiser).then(|| VisibleCompetition::of(&handle, &row, is_organiser)))
}

/// One bot with its rank and its ratings; `None` if it was never accepted or has withdrawn before the start.
async fn profile_bot(
    app: &AppState,
    visible: &VisibleCompetition,
    entrant: &Entrant,
    team: Option<TeamName>,
) -> ApiResult<Option<ProfileBot>> {
    let overview = visible.overview(app).await?;
    let Some(owner) = overview.entrant_owners.iter().find(|owner| owner.body.bot == entrant.id.0) else {
        return Ok(None);
    };
    if owner.body.withdrawn {
        return Ok(None);
    }
    let row = Arc::clone(&visible.site_row);
    let mut bot = ProfileBot {
        bot: entrant.id.0,
        name: owner.body.name.clone(),
        entrant: owner.body.entrant,
        team,
        competition: row.id.clone(),
        competition_name: row.name.clone(),
        state: row.state.name().to_owned(),
        game: row.game.clone(),
        version: owner.body.version,
        rank: None,
        of: 0,
        medal: None,
        ratings: Vec::new(),
    };
    let Some(number) = owner.body.entrant else { return Ok(Some(bot)) };
    let versions = versions_by_phase(app, entrant).await?;
    for phase in overview.phases.iter().filter(|phase| phase.matches > 0) {
        add_phase(app, visible, phase, number, &versions, &mut bot).await?;
    }
    let is_finished = row.state == agon_site_db::CompetitionState::Finished;
    bot.medal = match bot.rank.filter(|_| is_finished && owner.body.disqualified.is_none()) {
        Some(1) => Some("gold"),
        Some(2) => Some("silver"),
        Some(3) => Some("bronze"),
        _ => None,
    };
    Ok(Some(bot))
}

async fn add_phase(
    app: &AppState,
    visible: &VisibleCompetition,
    phase: &PhaseItem,
    entrant: u32,
    versions: &[(u32, u32)],
    bot: &mut ProfileBot,
) -> ApiResult<()> {
    let standings = visible.standings(app, phase.number).await?;
    if !standings.stats.contains_key(&entrant) {
        return Ok(());
    }
    (bot.rank, bot.of) = standings.rank_of(entrant);
    let rating = standings.standings.ratings.iter().find(|one| one.entrant.0 == entrant);
    if let Some(one) = rating.filter(|one| one.rating.is_finite() && one.error.is_finite()) {
        // Phases count from 1 here, and from 0 in the site database.
        let version = versions.iter().rfind(|(from, _)| *from < phase.number).map(|(_, version)| *version);
        bot.ratings.push(ProfileRating {
            phase: phase.number,
            name: phase.name.clone(),
            version,
            rating: one.rating,
            error: one.error,
        });
    }
    Ok(())
}

/// First phase (from 0) and number of each accepted version, oldest first.
async fn versions_by_phase(app: &AppState, entrant: &Entrant) -> ApiResult<Vec<(u32, u32)>> {
    let page = agon_site_db::PageRequest { after: None, limit: 200 };
    let filter = agon_site_db::SubmissionFilter::Entrant(entrant.id);
    let listed = app.site_db.submissions(filter, page).await?;
    let mut versions: Vec<(u32, u32)> =
        listed.items.iter().filter_map(|one| Some((one.from_phase, one.version?))).collect();
    versions.sort_by_key(|(_, version)| *version);
    Ok(versions)
}
