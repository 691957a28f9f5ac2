//! Challenges: requesting, watching and ending them.

use std::collections::VecDeque;
use std::time::Duration;

use agon_site_db::{AccountId, Challenge, ChallengeId, ChallengeState, NewChallenge, SiteDbError};
use agon_store::Timestamp;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::challenge_body::{ChallengeBody, Items, challenge_body};
use super::challenge_request::{NewChallengeBody, check_request};
use super::live::{EventSource, sse_response};
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path, Query};
use crate::middleware::ClientIp;
use crate::paging::{PageBody, PageQuery};
use crate::read_model::sse;
use crate::state::AppState;
use crate::stream_limits::StreamPermit;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(challenges, new_challenge))
        .routes(routes!(challenge, cancel_challenge))
        .routes(routes!(challenge_events))
        .routes(routes!(challenge_opponents))
}

/// Bots that can be challenged.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChallengeOpponents {
    /// Bots of the caller and bots whose authors allow it, by name.
    pub bots: Vec<ChallengeOpponent>,
}

/// A bot that can be challenged.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChallengeOpponent {
    /// Id of the bot.
    pub bot: i64,
    /// The bot's name.
    pub name: String,
    /// Its author.
    pub contributor: Option<String>,
    /// Its competition.
    pub competition: String,
    /// Name of its competition.
    pub competition_name: String,
    /// Id of its game.
    pub game: String,
    /// Its role, in a game with roles.
    pub role: Option<String>,
    /// Whether it belongs to the caller.
    pub mine: bool,
}

/// Delay after a change, so that several become one event.
const EVENT_DELAY: Duration = Duration::from_millis(200);
/// Maximum number of bots in the list of opponents.
const MAX_OPPONENTS: u32 = 500;

/// Challenges: the bots play a number of games as soon as there is a place, with result and replays. Competitions have the first claim on
/// the cores.
#[utoipa::path(
    post, path = "/challenges", tag = "practice", operation_id = "new_challenge", request_body = NewChallengeBody,
    responses(
        (status = 201, description = "Queued.", body = ChallengeBody),
        (status = 409, description = "A bot has no accepted version (`no_version`), the account has too many open challenges (`too_many`), or the queue is full (`conflict`).", body = ErrorBody),
    ),
)]
async fn new_challenge(
    State(app): State<AppState>,
    caller: Caller,
    Json(body): Json<NewChallengeBody>,
) -> ApiResult<(StatusCode, Json<ChallengeBody>)> {
    let me = caller.signed_in()?;
    if !app.config.practice.challenges {
        return Err(ApiError::forbidden("challenges are switched off on this server"));
    }
    let checked = check_request(&app, &caller, me, &body).await?;
    let new = NewChallenge {
        id: ChallengeId::random().map_err(ApiError::internal)?,
        account: me.account(),
        game: checked.game,
        competition: checked.competition,
        bots: serde_json::to_string(&checked.bots).map_err(ApiError::internal)?,
        settings: checked.settings.to_string(),
        games: body.games,
        at: Timestamp::now(),
    };
    let stored = app.site_db.add_challenge(&new, app.config.practice.challenge_limits).await;
    let stored = stored.map_err(|error| match error {
        SiteDbError::TooMany { limit } => {
            let what = format!("at most {limit} challenges of an account wait or are played at a time");
            ApiError::conflict("too_many", what).hint("wait until one is finished, or end one")
        }
        other => other.into(),
    })?;
    tracing::info!(id = %stored.id, account = %stored.account, games = stored.games, "challenge queued");
    app.practice.wake();
    let shown = challenge_body(&app, &caller, &stored, Items::All).await?;
    Ok((StatusCode::CREATED, Json(shown)))
}

/// The challenge with this id. Everybody who has the link may read it, as with its games.
async fn find_challenge(app: &AppState, id: &str) -> ApiResult<Challenge> {
    let id = ChallengeId::parse(id).ok_or_else(|| ApiError::not_found("challenge"))?;
    Ok(app.site_db.challenge(&id).await?)
}

/// The caller's challenges, newest first.
#[utoipa::path(
    get, path = "/challenges", tag = "practice", operation_id = "challenges", params(PageQuery),
    responses((status = 200, description = "A page of challenges.", body = PageBody<ChallengeBody>)),
)]
async fn challenges(
    State(app): State<AppState>,
    caller: Caller,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<PageBody<ChallengeBody>>> {
    let me = caller.signed_in()?;
    let found = app.site_db.challenges(Some(AccountId(me.id)), query.site_page()?).await?;
    let mut items = Vec::with_capacity(found.items.len());
    for one in &found.items {
        items.push(challenge_body(&app, &caller, one, Items::None).await?);
    }
    Ok(Json(PageBody::from_site_page(items, found.next)))
}

/// A challenge with its result so far.
#[utoipa::path(
    get, path = "/challenges/{id}", tag = "practice", operation_id = "challenge",
    params(("id" = String, Path, description = "The challenge.")),
    responses((status = 200, description = "The challenge.", body = ChallengeBody)),
)]
async fn challenge(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> ApiResult<Json<ChallengeBody>> {
    let found = find_challenge(&app, &id).await?;
    Ok(Json(challenge_body(&app, &caller, &found, Items::All).await?))
}

/// Ends a challenge. The games that were played stay. For the account that wanted it and organisers.
#[utoipa::path(
    delete, path = "/challenges/{id}", tag = "practice", operation_id = "cancel_challenge",
    params(("id" = String, Path, description = "The challenge.")),
    responses((status = 200, description = "The challenge as it is now.", body = ChallengeBody)),
)]
async fn cancel_challenge(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> ApiResult<Json<ChallengeBody>> {
    let me = caller.signed_in()?;
    let found = find_challenge(&app, &id).await?;
    if found.account != me.account() && !caller.is_organiser() {
        return Err(ApiError::forbidden("only the account that wanted the challenge can end it"));
    }
    let ended =
        app.site_db.end_challenge(&found.id, ChallengeState::Cancelled, None, Timestamp::now()).await?;
    app.practice.cancel(&found.id);
    app.practice.changed();
    Ok(Json(challenge_body(&app, &caller, &ended, Items::All).await?))
}

/// Changes of a challenge.
struct ChallengeFeed {
    app: AppState,
    caller: Caller,
    id: ChallengeId,
    changes: watch::Receiver<u64>,
    /// The last event, so that equal ones are not sent again.
    last: Option<Bytes>,
    is_over: bool,
}

impl EventSource for ChallengeFeed {
    async fn next(&mut self, pending: &mut VecDeque<Bytes>) -> bool {
        while !self.is_over {
            let challenge = self.app.site_db.challenge(&self.id).await;
            let Ok(challenge) = challenge else { return false };
            let body = challenge_body(&self.app, &self.caller, &challenge, Items::All).await;
            let Ok(body) = body else { return false };
            self.is_over = !challenge.state.is_open();
            let event = sse::json_event("challenge", None, &body);
            if self.last.as_ref() != Some(&event) {
                self.last = Some(event.clone());
                pending.push_back(event);
                return true;
            }
            if self.is_over || self.changes.changed().await.is_err() {
                return false;
            }
            // Short games end faster than a page can show.
            tokio::time::sleep(EVENT_DELAY).await;
        }
        false
    }
}

/// A challenge while it is played: `challenge` (the body of `GET /challenges/{id}`) at the start and after each change, `ping`. The stream ends
/// with the challenge.
#[utoipa::path(
    get, path = "/challenges/{id}/events", tag = "practice", operation_id = "challenge_events",
    params(("id" = String, Path, description = "The challenge.")),
    responses(
        (status = 200, description = "Server-sent events.", body = String, content_type = "text/event-stream"),
        (status = 429, description = "Too many open streams of this address or account.", body = ErrorBody),
    ),
)]
async fn challenge_events(
    State(app): State<AppState>,
    caller: Caller,
    ClientIp(address): ClientIp,
    Path(id): Path<String>,
) -> ApiResult<Response> {
    let found = find_challenge(&app, &id).await?;
    let permit = StreamPermit::acquire(&app, &caller, address)?;
    let feed = ChallengeFeed {
        changes: app.practice.subscribe(),
        app: app.clone(),
        caller,
        id: found.id,
        last: None,
        is_over: false,
    };
    Ok(sse_response(&app, permit, feed, Vec::new()))
}

/// Query parameters of the list of opponents.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct OpponentsQuery {
    /// Only bots of this game.
    game: Option<String>,
}

/// Bots that the caller can challenge: the caller's own, and those whose authors allow it.
#[utoipa::path(
    get, path = "/challenges/opponents", tag = "practice", operation_id = "challenge_opponents", params(OpponentsQuery),
    responses((status = 200, description = "The bots.", body = ChallengeOpponents)),
)]
async fn challenge_opponents(
    State(app): State<AppState>,
    caller: Caller,
    Query(query): Query<OpponentsQuery>,
) -> ApiResult<Json<ChallengeOpponents>> {
    let me = caller.signed_in()?;
    let found = app.site_db.practice_bots(query.game.as_deref(), Some(me.account()), MAX_OPPONENTS).await?;
    let bots = found.into_iter().map(|one| ChallengeOpponent {
        bot: one.entrant.id.0,
        name: one.entrant.name,
        contributor: one.contributor,
        competition: one.entrant.competition,
        competition_name: one.competition_name,
        game: one.game,
        role: one.entrant.role,
        mine: one.entrant.account == Some(me.account()),
    });
    Ok(Json(ChallengeOpponents { bots: bots.collect() }))
}
