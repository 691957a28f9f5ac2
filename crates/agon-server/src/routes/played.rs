//! Played games outside of competitions: who played, films and records.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agon_core::Assets;
use agon_site_db::{
    AccountId, EntrantId, PlayedGameFilter, PlayedGameId, PlayedGameRow, PlayedGameViewer, PlayedKind,
};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::matches::attachment_headers;
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json as JsonBody, Path, Query};
use crate::paging::{PageBody, PageQuery};
use crate::played_games::film::{self, PlayedFilm};
use crate::read_model::{encoded_json, is_public};
use crate::state::AppState;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(played_games))
        .routes(routes!(played_game))
        .routes(routes!(played_film))
        .routes(routes!(played_record))
}

/// Query parameters that select played games.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PlayedQuery {
    /// `person`, `challenge` or `practice`.
    kind: Option<String>,
    /// Only games with this id of a game.
    game: Option<String>,
    /// Only games of this competition.
    competition: Option<String>,
    /// Only games of this bot.
    entrant: Option<i64>,
    /// `next` of the previous page.
    after: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// A played game.
#[derive(Debug, Serialize, ToSchema)]
pub struct PlayedGameBody {
    /// Id of the game.
    pub id: String,
    /// `person`, `challenge` or `practice`.
    pub kind: &'static str,
    /// Id of the rules: the game that was played.
    pub game: String,
    /// The competition whose settings it had.
    pub competition: Option<String>,
    /// The challenge that it belongs to.
    pub challenge: Option<String>,
    /// Number of the game within its challenge, from 1.
    pub number: u32,
    /// Players in seat order.
    pub seats: Vec<PlayedSeatBody>,
    /// Settings of the game.
    #[schema(value_type = Object)]
    pub settings: Json,
    /// How it ended.
    pub ended: String,
    /// When it started.
    pub started: i64,
    /// When it finished.
    pub finished: i64,
    /// Path of the film; null if the record is not kept.
    pub film: Option<String>,
}

/// A player of a played game.
#[derive(Debug, Serialize, ToSchema)]
pub struct PlayedSeatBody {
    /// Name in the game.
    pub name: String,
    /// `person`, `house` or `bot`.
    pub kind: &'static str,
    /// Its role.
    pub role: &'static str,
    /// Id of the bot.
    pub bot: Option<i64>,
    /// The competition of the bot.
    pub competition: Option<String>,
    /// Name of the house bot.
    pub house: Option<String>,
    /// The author of the bot, or the account of the person.
    pub contributor: Option<String>,
    /// The score.
    pub score: f64,
    /// Place in the game; 1 is best.
    pub place: u32,
    /// Whether it is the caller, or a bot of the caller.
    pub mine: bool,
}

/// Names of accounts and competitions of bots, read once per request.
#[derive(Default)]
pub struct NameCache {
    accounts: BTreeMap<AccountId, String>,
    competitions: BTreeMap<EntrantId, String>,
    contributors: BTreeMap<EntrantId, Option<String>>,
}

impl NameCache {
    /// Name of an account; `None` without an account.
    pub async fn account(&mut self, app: &AppState, id: Option<AccountId>) -> ApiResult<Option<String>> {
        let Some(id) = id else { return Ok(None) };
        if !self.accounts.contains_key(&id) {
            self.accounts.insert(id, app.site_db.account(id).await?.name);
        }
        Ok(self.accounts.get(&id).cloned())
    }

    /// Name of the contributor of a bot: its team or its author; without a bot, name of an account.
    pub async fn contributor(
        &mut self,
        app: &AppState,
        bot: Option<EntrantId>,
        account: Option<AccountId>,
    ) -> ApiResult<Option<String>> {
        let Some(bot) = bot else { return self.account(app, account).await };
        if !self.contributors.contains_key(&bot) {
            let entrant = app.site_db.entrant(bot).await?;
            self.contributors.insert(bot, app.site_db.contributor_name(&entrant).await?);
        }
        Ok(self.contributors.get(&bot).cloned().flatten())
    }

    /// Id of the competition of a bot; `None` without a bot.
    pub async fn competition(&mut self, app: &AppState, id: Option<EntrantId>) -> ApiResult<Option<String>> {
        let Some(id) = id else { return Ok(None) };
        if !self.competitions.contains_key(&id) {
            self.competitions.insert(id, app.site_db.entrant(id).await?.competition);
        }
        Ok(self.competitions.get(&id).cloned())
    }
}

/// Seats of a game that belong to the caller: the person itself, the caller's bots, and those of the caller's teams.
async fn own_seats(app: &AppState, caller: &Caller, game: &PlayedGameRow) -> ApiResult<BTreeSet<u8>> {
    let mut own = BTreeSet::new();
    let Some(me) = caller.user() else { return Ok(own) };
    for (number, seat) in (0_u8..).zip(&game.seats) {
        let is_own = match seat.entrant {
            Some(entrant) => app.site_db.manages(&app.site_db.entrant(entrant).await?, me.account()).await?,
            None => seat.account == Some(me.account()),
        };
        if is_own {
            own.insert(number);
        }
    }
    Ok(own)
}

/// Converts a game for the API.
pub async fn played_body(
    app: &AppState,
    caller: &Caller,
    one: &PlayedGameRow,
    names: &mut NameCache,
) -> ApiResult<PlayedGameBody> {
    let any_game = agon_engine::any_game(&one.game).map_err(ApiError::internal)?;
    let outcome: Json = serde_json::from_str(&one.outcome).unwrap_or_default();
    let own = own_seats(app, caller, one).await?;
    let mut seats = Vec::with_capacity(one.seats.len());
    for (number, seat) in (0_u8..).zip(&one.seats) {
        let result = &outcome["seats"][usize::from(number)];
        let kind = match (&seat.house, seat.entrant) {
            (Some(_), _) => "house",
            (None, Some(_)) => "bot",
            (None, None) => "person",
        };
        seats.push(PlayedSeatBody {
            name: seat.name.clone(),
            kind,
            role: any_game.info().role(agon_core::Seat(number)).name,
            bot: seat.entrant.map(|entrant| entrant.0),
            competition: names.competition(app, seat.entrant).await?,
            house: seat.house.clone(),
            contributor: names.contributor(app, seat.entrant, seat.account).await?,
            score: result["score"].as_f64().unwrap_or_default(),
            place: result["place"].as_u64().and_then(|place| u32::try_from(place).ok()).unwrap_or_default(),
            mine: own.contains(&number),
        });
    }
    Ok(PlayedGameBody {
        id: one.id.to_string(),
        kind: one.kind.name(),
        game: one.game.clone(),
        competition: one.competition.clone(),
        challenge: one.challenge.as_ref().map(ToString::to_string),
        number: one.number + 1,
        seats,
        settings: serde_json::from_str(&one.settings).unwrap_or_default(),
        ended: outcome["ended"].as_str().unwrap_or_default().to_owned(),
        started: one.started.0,
        finished: one.ended.0,
        film: (one.bytes > 0).then(|| format!("/api/v1/played/{}/film", one.id)),
    })
}

/// Played games, newest first: practice games of public competitions, and the caller's own games and those of the caller's bots.
/// Organisers see all.
#[utoipa::path(
    get, path = "/played", tag = "played", operation_id = "played_games", params(PlayedQuery),
    responses((status = 200, description = "A page of games.", body = PageBody<PlayedGameBody>)),
)]
async fn played_games(
    State(app): State<AppState>,
    caller: Caller,
    Query(query): Query<PlayedQuery>,
) -> ApiResult<JsonBody<PageBody<PlayedGameBody>>> {
    let page = PageQuery { after: query.after, limit: query.limit }.site_page()?;
    let kind = query.kind.as_deref().map(|name| {
        PlayedKind::by_name(name)
            .ok_or_else(|| ApiError::invalid("kind", "`kind` must be `person`, `challenge` or `practice`"))
    });
    let viewer = match caller.user() {
        _ if caller.is_organiser() => PlayedGameViewer::Organiser,
        Some(me) => PlayedGameViewer::Account(me.account()),
        None => PlayedGameViewer::Visitor,
    };
    let filter = PlayedGameFilter {
        viewer,
        kind: kind.transpose()?,
        game: query.game.as_deref(),
        competition: query.competition.as_deref(),
        entrant: query.entrant.map(EntrantId),
    };
    let found = app.site_db.played_games(filter, page).await?;
    let mut names = NameCache::default();
    let mut items = Vec::with_capacity(found.items.len());
    for one in &found.items {
        items.push(played_body(&app, &caller, one, &mut names).await?);
    }
    Ok(JsonBody(PageBody::from_site_page(items, found.next)))
}

/// The game with this id, if the caller may see it. Whoever has the link may watch a game of a person or of a challenge; a practice game
/// is visible as its competition is.
pub(crate) async fn find_game(app: &AppState, caller: &Caller, id: &str) -> ApiResult<PlayedGameRow> {
    let missing = || ApiError::not_found("played game");
    let id = PlayedGameId::parse(id).ok_or_else(missing)?;
    let game = app.site_db.played_game(&id).await?;
    let Some(competition) = &game.competition else { return Ok(game) };
    let is_visible = caller.is_organiser()
        || !own_seats(app, caller, &game).await?.is_empty()
        || app.site_db.competition(competition).await.is_ok_and(|row| is_public(&row));
    if is_visible { Ok(game) } else { Err(missing()) }
}

/// Who played, and the outcome.
#[utoipa::path(
    get, path = "/played/{id}", tag = "played", operation_id = "played_game",
    params(("id" = String, Path, description = "The game.")),
    responses((status = 200, description = "The game.", body = PlayedGameBody)),
)]
async fn played_game(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> ApiResult<JsonBody<PlayedGameBody>> {
    let game = find_game(&app, &caller, &id).await?;
    Ok(JsonBody(played_body(&app, &caller, &game, &mut NameCache::default()).await?))
}

/// The record of a game, or 404.
pub(super) async fn record_bytes(app: &AppState, game: &PlayedGameRow) -> ApiResult<Vec<u8>> {
    let bytes = if game.bytes == 0 {
        None
    } else {
        app.played_games.record(&game.id).await.map_err(ApiError::internal)?
    };
    bytes.ok_or_else(|| {
        ApiError::not_found("record").hint("records of practice games and of old games are not kept")
    })
}

/// The game as a film, with the output of the caller's own bots.
#[utoipa::path(
    get, path = "/played/{id}/film", tag = "played", operation_id = "played_film",
    params(("id" = String, Path, description = "The game.")),
    responses(
        (status = 200, description = "A film (docs/film.md).", body = Object),
        (status = 304, description = "The client already has this version."),
    ),
)]
async fn played_film(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let game = find_game(&app, &caller, &id).await?;
    let own_seats = own_seats(&app, &caller, &game).await?;
    let name = film_hash(&game, &own_seats);
    if let Some(answer) = encoded_json::not_modified(&headers, &name) {
        return Ok(answer);
    }
    if let Some(film) = app.competitions.films.get(&name) {
        return Ok(film.response(&headers));
    }
    let bytes = record_bytes(&app, &game).await?;
    let mut names = NameCache::default();
    let mut contributors = Vec::with_capacity(game.seats.len());
    for seat in &game.seats {
        contributors.push(match seat.entrant {
            Some(bot) => names.contributor(&app, Some(bot), None).await?,
            None => None,
        });
    }
    let output = if own_seats.is_empty() {
        Vec::new()
    } else {
        app.played_games.output(&game.id).await.map_err(ApiError::internal)?
    };
    let is_public = own_seats.is_empty();
    let shown = PlayedFilm { assets: assets_of(&app, &game), game, contributors, output, own_seats };
    let film = {
        let name = name.clone();
        app.competitions.compute(move |_| film::render(shown, &bytes, &name)).await?
    };
    let film = Arc::new(film);
    // Only an author would ask for a film with output again, so it is not cached.
    if is_public {
        app.competitions.films.put(&name, &film);
    }
    Ok(film.response(&headers))
}

/// Files of the competition whose settings the game had.
pub(super) fn assets_of(app: &AppState, game: &PlayedGameRow) -> Assets {
    let competition = game.competition.as_ref().and_then(|id| app.competitions.get(id).ok());
    competition
        .and_then(|competition| competition.loaded())
        .map_or_else(Assets::none, |loaded| loaded.assets.clone())
}

/// Hash that identifies a film for a viewer.
fn film_hash(game: &PlayedGameRow, own_seats: &BTreeSet<u8>) -> String {
    let mut hash = Sha256::new();
    hash.update(b"played ");
    hash.update(game.id.as_str().as_bytes());
    for seat in own_seats {
        hash.update([*seat]);
    }
    encoded_json::short_hex(&hash.finalize())
}

/// Record of a game: for `agon replay`, `agon verify` and `agon debug`.
#[utoipa::path(
    get, path = "/played/{id}/record", tag = "played", operation_id = "played_record",
    params(("id" = String, Path, description = "The game.")),
    responses(
        (status = 200, description = "The record.", body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 403, description = "It contains private text of a bot of another author (code `private`).", body = ErrorBody),
    ),
)]
async fn played_record(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> ApiResult<Response> {
    let game = find_game(&app, &caller, &id).await?;
    let bytes = record_bytes(&app, &game).await?;
    let own_seats = own_seats(&app, &caller, &game).await?;
    if !caller.is_organiser() && film::has_private_text(&bytes, &own_seats)? {
        let message = "the record contains what a bot of another author wrote to stderr";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "private", message).hint("watch the film instead"));
    }
    let name = format!("{}-{}.agon", game.game, game.id);
    Ok((attachment_headers(&name, "application/octet-stream"), bytes).into_response())
}
