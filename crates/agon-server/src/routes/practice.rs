//! Practice ladders of competitions, and which bots others may play against.

use agon_site_db::{Entrant, PracticePlayer};
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::admin::append_audit;
use super::played::NameCache;
use super::submissions::{find_entrant, find_visible};
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult};
use crate::extract::{Json, Path};
use crate::practice::ladder;
use crate::read_model::VisibleCompetition;
use crate::state::AppState;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(practice_ladder, set_practice_ladder))
        .routes(routes!(bot_practice, set_bot_practice))
}

/// The practice ladder of a competition.
#[derive(Debug, Serialize, ToSchema)]
pub struct PracticeLadder {
    /// Whether the ladder is switched on for this competition and on this server.
    pub on: bool,
    /// Whether it plays in the current state of the competition: while bots are accepted, and between phases.
    pub open: bool,
    /// Whether games are being played now. Competitions have the first claim on the cores.
    pub playing: bool,
    /// Number of games that the players have played.
    pub games: u64,
    /// Current versions of bots and house bots, by role, the best first.
    pub players: Vec<PracticeLadderPlayer>,
}

/// A player of a practice ladder.
#[derive(Debug, Serialize, ToSchema)]
pub struct PracticeLadderPlayer {
    /// Id of the bot; null for a house bot.
    pub bot: Option<i64>,
    /// Name of the bot or of the house bot.
    pub name: String,
    /// Whether it is a house bot. House bots fix the scale: their mean is 1500.
    pub house: bool,
    /// Author of the bot.
    pub contributor: Option<String>,
    /// Its role, in a game with roles.
    pub role: Option<String>,
    /// Number of the version.
    pub version: Option<u32>,
    /// Whether it is the latest version.
    pub current: bool,
    /// Rating on the Elo scale; null before the first games.
    pub rating: Option<f64>,
    /// Half the width of the 95 % interval of the rating.
    pub error: Option<f64>,
    /// Number of games.
    pub games: u32,
    /// Number of faults.
    pub faults: u32,
    /// The latest results, `W`, `D` or `L`, the newest last.
    pub form: String,
    /// Whether it belongs to the caller.
    pub mine: bool,
    /// Why it takes no part; for its author and organisers.
    pub failed: Option<String>,
}

/// Whether the practice ladder plays.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PracticeSwitch {
    /// Whether it is on.
    ladder: bool,
}

/// Whether everybody may play against a bot.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PracticePermission {
    /// Whether everybody may play against it and challenge it.
    allowed: bool,
}

/// Practice of a bot.
#[derive(Debug, Serialize, ToSchema)]
pub struct BotPractice {
    /// Whether everybody may play against it and challenge it.
    pub allowed: bool,
    /// Whether the caller can set `allowed`.
    pub can_allow: bool,
    /// Whether the caller can challenge it.
    pub can_challenge: bool,
    /// Its versions on the ladder, the latest last.
    pub versions: Vec<PracticeLadderPlayer>,
}

async fn player_body(
    app: &AppState,
    caller: &Caller,
    one: PracticePlayer,
    names: &mut NameCache,
) -> ApiResult<PracticeLadderPlayer> {
    let mine = caller.is_account(one.account.map(|account| account.0));
    let sees_reason = mine || caller.is_organiser();
    Ok(PracticeLadderPlayer {
        bot: one.entrant.map(|entrant| entrant.0),
        house: one.house.is_some(),
        contributor: names.contributor(app, one.entrant, None).await?,
        role: Some(one.role).filter(|role| !role.is_empty()),
        version: one.version,
        current: !one.is_replaced,
        rating: one.rating,
        error: one.error,
        games: one.games,
        faults: one.faults,
        form: one.form,
        mine,
        failed: one.failed.filter(|_| sees_reason),
        name: one.name,
    })
}

/// The practice ladder of a competition. Its games and ratings never count for the competition.
#[utoipa::path(
    get, path = "/competitions/{id}/practice", tag = "practice", operation_id = "practice_ladder",
    params(("id" = String, Path, description = "The competition.")),
    responses((status = 200, description = "The ladder.", body = PracticeLadder)),
)]
async fn practice_ladder(
    State(app): State<AppState>,
    visible: VisibleCompetition,
    caller: Caller,
) -> ApiResult<Json<PracticeLadder>> {
    let id = &visible.site_row.id;
    let found = ladder::standings(&app, id).await?;
    let mut names = NameCache::default();
    let mut players = Vec::with_capacity(found.len());
    for one in found {
        players.push(player_body(&app, &caller, one, &mut names).await?);
    }
    let uploaded = players.iter().filter(|one| !one.house);
    Ok(Json(PracticeLadder {
        on: app.config.practice.ladder && app.site_db.has_practice_ladder(id).await?,
        open: ladder::has_ladder_now(&visible.site_row),
        playing: app.practice.ladders.is_playing(id),
        games: uploaded.map(|one| u64::from(one.games)).sum(),
        players,
    }))
}

/// Switches the practice ladder of a competition on or off. Its ratings stay. For organisers.
#[utoipa::path(
    put, path = "/competitions/{id}/practice", tag = "practice", operation_id = "set_practice_ladder", request_body = PracticeSwitch,
    params(("id" = String, Path, description = "The competition.")),
    responses((status = 200, description = "As it is now.", body = PracticeSwitch)),
)]
async fn set_practice_ladder(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    Json(body): Json<PracticeSwitch>,
) -> ApiResult<Json<PracticeSwitch>> {
    let me = caller.organiser()?;
    let competition = find_visible(&app, &caller, &id).await?;
    app.site_db.set_practice_ladder(&competition.id, body.ladder).await?;
    let action = if body.ladder { "practice.on" } else { "practice.off" };
    append_audit(&app, me, action, &id, &competition.name, "").await?;
    app.practice.ladders.refresh();
    app.practice.wake();
    Ok(Json(body))
}

/// Whether the caller decides about a bot.
async fn decides(app: &AppState, caller: &Caller, entrant: &Entrant) -> ApiResult<bool> {
    let Some(me) = caller.user() else { return Ok(false) };
    Ok(caller.is_organiser() || app.site_db.manages(entrant, me.account()).await?)
}

/// Practice of a bot: the ratings of its versions, and whether others may play against it.
#[utoipa::path(
    get, path = "/competitions/{id}/bots/{bot}/practice", tag = "practice", operation_id = "bot_practice",
    params(("id" = String, Path, description = "The competition."), ("bot" = i64, Path, description = "The bot.")),
    responses((status = 200, description = "Its practice.", body = BotPractice)),
)]
async fn bot_practice(
    State(app): State<AppState>,
    caller: Caller,
    Path((id, bot)): Path<(String, i64)>,
) -> ApiResult<Json<BotPractice>> {
    find_visible(&app, &caller, &id).await?;
    let entrant = find_entrant(&app, &id, bot).await?;
    let mut names = NameCache::default();
    let mut versions = Vec::new();
    for one in app.site_db.practice_versions(entrant.id).await? {
        versions.push(player_body(&app, &caller, one, &mut names).await?);
    }
    let can_allow = entrant.account.is_some() && decides(&app, &caller, &entrant).await?;
    let plays = entrant.bot.is_some() || app.site_db.latest_version(entrant.id).await?.is_some();
    let can_challenge = app.config.practice.challenges
        && plays
        && caller.user().is_some()
        && (entrant.practice || entrant.bot.is_some() || can_allow);
    Ok(Json(BotPractice { allowed: entrant.practice, can_allow, can_challenge, versions }))
}

/// Sets whether everybody may play against a bot and challenge it. For its author and organisers.
#[utoipa::path(
    put, path = "/competitions/{id}/bots/{bot}/practice", tag = "practice", operation_id = "set_bot_practice",
    request_body = PracticePermission,
    params(("id" = String, Path, description = "The competition."), ("bot" = i64, Path, description = "The bot.")),
    responses((status = 200, description = "As it is now.", body = PracticePermission)),
)]
async fn set_bot_practice(
    State(app): State<AppState>,
    caller: Caller,
    Path((id, bot)): Path<(String, i64)>,
    Json(body): Json<PracticePermission>,
) -> ApiResult<Json<PracticePermission>> {
    let me = caller.signed_in()?;
    find_visible(&app, &caller, &id).await?;
    let entrant = find_entrant(&app, &id, bot).await?;
    if !decides(&app, &caller, &entrant).await? {
        return Err(ApiError::forbidden("only the bot's author or an organiser can decide this"));
    }
    app.site_db.set_practice_allowed(entrant.id, body.allowed).await?;
    let action = if body.allowed { "bot.practice_on" } else { "bot.practice_off" };
    append_audit(&app, me, action, &id, &entrant.name, "").await?;
    Ok(Json(body))
}
