//! Pictures for links and other sites: turns, clips and cards of games, cards of competitions and bots.

use agon_core::record::read;
use agon_pictures::card;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::matches::{GameLookup, film_hash};
use super::played::{assets_of, find_game, record_bytes};
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Path, Query};
use crate::middleware::ClientIp;
use crate::read_model::VisibleCompetition;
use crate::read_model::overview::match_name;
use crate::sharing::game_pictures::{ClipQuery, GameToDraw, PictureQuery, WantedPicture, draw, theme};
use crate::sharing::picture_service::{picture_error, picture_name};
use crate::sharing::{PictureKind, cards};
use crate::state::AppState;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(game_picture))
        .routes(routes!(game_card))
        .routes(routes!(game_clip))
        .routes(routes!(played_picture))
        .routes(routes!(played_card))
        .routes(routes!(played_clip))
        .routes(routes!(competition_card))
        .routes(routes!(bot_card))
}

/// Path parameters of a game.
#[derive(Debug, Deserialize)]
struct GamePath {
    phase: u32,
    #[serde(rename = "match")]
    name: String,
    game: u32,
}

/// Path parameter of a bot.
#[derive(Clone, Copy, Debug, Deserialize)]
struct BotPath {
    bot: i64,
}

/// Query parameter of a card.
#[derive(Clone, Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
struct CardQuery {
    /// `light` or `dark` (the default).
    theme: Option<String>,
}

/// Who asks, from where, and what the client has already.
struct Request {
    app: AppState,
    address: ClientIp,
    headers: HeaderMap,
}

/// A picture of a game of a competition.
async fn competition_game(
    request: Request,
    visible: VisibleCompetition,
    path: GamePath,
    wanted: WantedPicture,
) -> ApiResult<Response> {
    wanted.check()?;
    let Request { app, address, headers } = request;
    let lookup = GameLookup::find(&app, &visible, path.phase, &path.name, path.game).await?;
    lookup.check_visible()?;
    let kind = kind_of(&wanted);
    let title = visible.site_row.name.clone();
    let site = app.config.name.clone();
    let phase =
        lookup.overview.phases.get(lookup.key().phase as usize).map_or("", |phase| phase.name.as_str());
    let info = lookup.loaded.table.info();
    let subtitle = format!(
        "{} · {phase} · {} · {}",
        info.title,
        match_name(lookup.key()),
        lookup.game.saturating_add(1)
    );
    let film = film_hash(&visible, &lookup, &[]);
    let parts =
        [film.as_bytes(), title.as_bytes(), subtitle.as_bytes(), site.as_bytes(), wanted.key().as_bytes()]
            .map(<[u8]>::to_vec);
    let name = picture_name(&parts.each_ref().map(Vec::as_slice));
    if let Some(response) = app.share_pictures.known(&headers, &name, kind) {
        return Ok(response);
    }
    let bytes = lookup.record().await?;
    let game = agon_engine::any_game(info.id).map_err(ApiError::internal)?;
    let seats = lookup.stored.result.games.get(lookup.game as usize).map_or(&[][..], |game| &game.seats[..]);
    let colors = seats.iter().map(|seat| u16::try_from(seat.entrant.0).unwrap_or_default()).collect();
    let assets = lookup.loaded.assets.clone();
    let work = move || {
        let (record, _) = read(&bytes, 1).map_err(ApiError::internal)?;
        let colors = Some(colors);
        draw(GameToDraw { game, assets, record, title, subtitle, colors, site }, &wanted)
    };
    app.share_pictures.make(&app, address.0, &name, kind, work).await
}

/// A picture of a played game outside of competitions.
async fn played_game(
    request: Request,
    caller: Caller,
    id: String,
    wanted: WantedPicture,
) -> ApiResult<Response> {
    wanted.check()?;
    let Request { app, address, headers } = request;
    let played = find_game(&app, &caller, &id).await?;
    let kind = kind_of(&wanted);
    let site = app.config.name.clone();
    let parts = [b"played".to_vec(), id.into_bytes(), site.clone().into_bytes(), wanted.key().into_bytes()];
    let name = picture_name(&parts.each_ref().map(Vec::as_slice));
    if let Some(response) = app.share_pictures.known(&headers, &name, kind) {
        return Ok(response);
    }
    let bytes = record_bytes(&app, &played).await?;
    let game = agon_engine::any_game(&played.game).map_err(ApiError::internal)?;
    let assets = assets_of(&app, &played);
    let title = game.info().title.to_owned();
    let subtitle = played.kind.name().to_owned();
    let work = move || {
        let (record, _) = read(&bytes, 1).map_err(ApiError::internal)?;
        // The same colours as in the viewer.
        let colors = Some((0..).take(record.header.seats.len()).collect());
        draw(GameToDraw { game, assets, record, title, subtitle, colors, site }, &wanted)
    };
    app.share_pictures.make(&app, address.0, &name, kind, work).await
}

const fn kind_of(wanted: &WantedPicture) -> PictureKind {
    match wanted {
        WantedPicture::Turn(_) | WantedPicture::Card(_) => PictureKind::Png,
        WantedPicture::Clip(_) => PictureKind::Gif,
    }
}

/// A turn of a game as a picture.
#[utoipa::path(
    get, path = "/competitions/{id}/phases/{phase}/matches/{match}/games/{game}/picture.png", tag = "sharing", operation_id = "game_picture",
    params(
        ("id" = String, Path, description = "The competition."), ("phase" = u32, Path, description = "The phase, from 1."),
        ("match" = String, Path, description = "STAGE-NUMBER, such as 2-15."), ("game" = u32, Path, description = "The game, from 1."),
        PictureQuery,
    ),
    responses(
        (status = 200, description = "The picture.", body = Vec<u8>, content_type = "image/png"),
        (status = 304, description = "The client already has this version."),
        (status = 429, description = "Too many pictures for this address. `Retry-After` gives the delay.", body = ErrorBody),
        (status = 403, description = "The seeds are hidden until the end (code `hidden`).", body = ErrorBody),
        (status = 409, description = "The competition has not started yet.", body = ErrorBody),
    ),
)]
async fn game_picture(
    State(app): State<AppState>,
    visible: VisibleCompetition,
    address: ClientIp,
    Path(path): Path<GamePath>,
    Query(query): Query<PictureQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    competition_game(Request { app, address, headers }, visible, path, WantedPicture::Turn(query)).await
}

/// The card of a game, 1200 x 630 pixels, for previews of links.
#[utoipa::path(
    get, path = "/competitions/{id}/phases/{phase}/matches/{match}/games/{game}/card.png", tag = "sharing", operation_id = "game_card",
    params(
        ("id" = String, Path, description = "The competition."), ("phase" = u32, Path, description = "The phase, from 1."),
        ("match" = String, Path, description = "STAGE-NUMBER, such as 2-15."), ("game" = u32, Path, description = "The game, from 1."),
        PictureQuery,
    ),
    responses(
        (status = 200, description = "The picture.", body = Vec<u8>, content_type = "image/png"),
        (status = 304, description = "The client already has this version."),
        (status = 429, description = "Too many pictures for this address. `Retry-After` gives the delay.", body = ErrorBody),
        (status = 403, description = "The seeds are hidden until the end (code `hidden`).", body = ErrorBody),
        (status = 409, description = "The competition has not started yet.", body = ErrorBody),
    ),
)]
async fn game_card(
    State(app): State<AppState>,
    visible: VisibleCompetition,
    address: ClientIp,
    Path(path): Path<GamePath>,
    Query(query): Query<PictureQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    competition_game(Request { app, address, headers }, visible, path, WantedPicture::Card(query)).await
}

/// A range of turns of a game as an animated GIF. A long range skips turns.
#[utoipa::path(
    get, path = "/competitions/{id}/phases/{phase}/matches/{match}/games/{game}/clip.gif", tag = "sharing", operation_id = "game_clip",
    params(
        ("id" = String, Path, description = "The competition."), ("phase" = u32, Path, description = "The phase, from 1."),
        ("match" = String, Path, description = "STAGE-NUMBER, such as 2-15."), ("game" = u32, Path, description = "The game, from 1."),
        ClipQuery,
    ),
    responses(
        (status = 200, description = "The GIF.", body = Vec<u8>, content_type = "image/gif"),
        (status = 304, description = "The client already has this version."),
        (status = 429, description = "Too many pictures for this address. `Retry-After` gives the delay.", body = ErrorBody),
        (status = 403, description = "The seeds are hidden until the end (code `hidden`).", body = ErrorBody),
        (status = 409, description = "The competition has not started yet.", body = ErrorBody),
        (status = 413, description = "The GIF would be too large.", body = ErrorBody),
    ),
)]
async fn game_clip(
    State(app): State<AppState>,
    visible: VisibleCompetition,
    address: ClientIp,
    Path(path): Path<GamePath>,
    Query(query): Query<ClipQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    competition_game(Request { app, address, headers }, visible, path, WantedPicture::Clip(query)).await
}

/// A turn of a played game as a picture.
#[utoipa::path(
    get, path = "/played/{id}/picture.png", tag = "sharing", operation_id = "played_picture",
    params(("id" = String, Path, description = "The game."), PictureQuery),
    responses(
        (status = 200, description = "The picture.", body = Vec<u8>, content_type = "image/png"),
        (status = 304, description = "The client already has this version."),
        (status = 429, description = "Too many pictures for this address. `Retry-After` gives the delay.", body = ErrorBody),
    ),
)]
async fn played_picture(
    State(app): State<AppState>,
    caller: Caller,
    address: ClientIp,
    Path(id): Path<String>,
    Query(query): Query<PictureQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    played_game(Request { app, address, headers }, caller, id, WantedPicture::Turn(query)).await
}

/// The card of a played game, 1200 x 630 pixels, for previews of links.
#[utoipa::path(
    get, path = "/played/{id}/card.png", tag = "sharing", operation_id = "played_card",
    params(("id" = String, Path, description = "The game."), PictureQuery),
    responses(
        (status = 200, description = "The picture.", body = Vec<u8>, content_type = "image/png"),
        (status = 304, description = "The client already has this version."),
        (status = 429, description = "Too many pictures for this address. `Retry-After` gives the delay.", body = ErrorBody),
    ),
)]
async fn played_card(
    State(app): State<AppState>,
    caller: Caller,
    address: ClientIp,
    Path(id): Path<String>,
    Query(query): Query<PictureQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    played_game(Request { app, address, headers }, caller, id, WantedPicture::Card(query)).await
}

/// A range of turns of a played game as an animated GIF. A long range skips turns.
#[utoipa::path(
    get, path = "/played/{id}/clip.gif", tag = "sharing", operation_id = "played_clip",
    params(("id" = String, Path, description = "The game."), ClipQuery),
    responses(
        (status = 200, description = "The GIF.", body = Vec<u8>, content_type = "image/gif"),
        (status = 304, description = "The client already has this version."),
        (status = 429, description = "Too many pictures for this address. `Retry-After` gives the delay.", body = ErrorBody),
        (status = 413, description = "The GIF would be too large.", body = ErrorBody),
    ),
)]
async fn played_clip(
    State(app): State<AppState>,
    caller: Caller,
    address: ClientIp,
    Path(id): Path<String>,
    Query(query): Query<ClipQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    played_game(Request { app, address, headers }, caller, id, WantedPicture::Clip(query)).await
}

/// The card of a competition, 1200 x 630 pixels: the top of its standings.
#[utoipa::path(
    get, path = "/competitions/{id}/card.png", tag = "sharing", operation_id = "competition_card",
    params(("id" = String, Path, description = "The competition."), CardQuery),
    responses(
        (status = 200, description = "The picture.", body = Vec<u8>, content_type = "image/png"),
        (status = 304, description = "The client already has this version."),
        (status = 429, description = "Too many pictures for this address. `Retry-After` gives the delay.", body = ErrorBody),
    ),
)]
async fn competition_card(
    State(app): State<AppState>,
    visible: VisibleCompetition,
    address: ClientIp,
    Query(query): Query<CardQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let theme = theme(query.theme.as_deref())?;
    let shown = cards::competition_card(&app, &visible).await?;
    let name = picture_name(&[b"competition", theme.name().as_bytes(), format!("{shown:?}").as_bytes()]);
    if let Some(response) = app.share_pictures.known(&headers, &name, PictureKind::Png) {
        return Ok(response);
    }
    let work = move || card::table_card(&shown, theme).and_then(|card| card.png()).map_err(picture_error);
    app.share_pictures.make(&app, address.0, &name, PictureKind::Png, work).await
}

/// The card of a bot, 1200 x 630 pixels: its mark and its place.
#[utoipa::path(
    get, path = "/competitions/{id}/bots/{bot}/card.png", tag = "sharing", operation_id = "bot_card",
    params(
        ("id" = String, Path, description = "The competition."), ("bot" = i64, Path, description = "The bot."), CardQuery,
    ),
    responses(
        (status = 200, description = "The picture.", body = Vec<u8>, content_type = "image/png"),
        (status = 304, description = "The client already has this version."),
        (status = 429, description = "Too many pictures for this address. `Retry-After` gives the delay.", body = ErrorBody),
    ),
)]
async fn bot_card(
    State(app): State<AppState>,
    visible: VisibleCompetition,
    address: ClientIp,
    Path(BotPath { bot }): Path<BotPath>,
    Query(query): Query<CardQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let theme = theme(query.theme.as_deref())?;
    let shown = cards::bot_card(&app, &visible, bot).await?;
    let name = picture_name(&[b"bot", theme.name().as_bytes(), format!("{shown:?}").as_bytes()]);
    if let Some(response) = app.share_pictures.known(&headers, &name, PictureKind::Png) {
        return Ok(response);
    }
    let work = move || card::bot_card(&shown, theme).and_then(|card| card.png()).map_err(picture_error);
    app.share_pictures.make(&app, address.0, &name, PictureKind::Png, work).await
}
