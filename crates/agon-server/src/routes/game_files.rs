//! Files of a competition that replace what the game ships, such as the word list of Word Racer.

use agon_core::settings::{SettingKind, SettingSpec, SettingValue};
use agon_core::{Assets, Settings};
use agon_engine::AnyGame;
use agon_site_db::{CompetitionPatch, CompetitionState, HostedCompetition};
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::admin::{append_audit, find_hosted, wrong_state};
use super::submissions::find_visible;
use crate::caller::{Caller, CurrentUser};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::Path;
use crate::runs::{competition_file, entrants};
use crate::state::AppState;

/// Maximum size of a file in bytes.
const MAX_FILE_BYTES: usize = 8 << 20;
/// States in which a file can change.
const BEFORE_START: [CompetitionState; 3] =
    [CompetitionState::Draft, CompetitionState::Open, CompetitionState::Closed];

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(put_game_file))
        .routes(routes!(game_file))
        .routes(routes!(delete_game_file))
        .layer(DefaultBodyLimit::max(MAX_FILE_BYTES))
}

/// The setting that names a file, or 404.
fn file_setting(any_game: &dyn AnyGame, name: &str) -> ApiResult<&'static SettingSpec> {
    let settings = any_game.info().settings.iter();
    settings
        .filter(|spec| spec.kind == SettingKind::Asset)
        .find(|spec| spec.name == name)
        .ok_or_else(|| ApiError::not_found("file"))
}

/// Replaces a file of the game before the start: for Word Racer `words`, a word list with one word per line.
#[utoipa::path(
    put, path = "/competitions/{id}/files/{setting}", tag = "desk", operation_id = "put_game_file",
    params(("id" = String, Path, description = "The competition."), ("setting" = String, Path, description = "The setting that names the file, such as `words`.")),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses(
        (status = 204, description = "Stored. The competition uses it."),
        (status = 409, description = "The competition has started (code `state`).", body = ErrorBody),
        (status = 422, description = "The game cannot use this file.", body = ErrorBody),
    ),
)]
async fn put_game_file(
    State(app): State<AppState>,
    caller: Caller,
    Path((id, setting)): Path<(String, String)>,
    content: Bytes,
) -> ApiResult<StatusCode> {
    let me = caller.organiser()?;
    let (found, any_game) = find_editable(&app, &id).await?;
    let spec = file_setting(any_game.as_ref(), &setting)?;
    let mut assets = Assets::none();
    let mut settings = Settings::defaults(any_game.info().settings);
    settings.set(spec.name, SettingValue::Word(assets.insert(content.to_vec())));
    any_game
        .check_settings(&settings, any_game.info().seats.min, &assets)
        .map_err(|error| ApiError::invalid("file", error.to_string()).hint(spec.help))?;
    let name = competition_file::asset_file_name(any_game.info(), spec.name);
    let path = competition_file::folder(&app.config, &id).join(name);
    let written = tokio::task::spawn_blocking(move || competition_file::write_bytes(&path, &content));
    written.await.map_err(ApiError::internal)?.map_err(ApiError::internal)?;
    change_setting(&app, me, &found, spec.name, Some(name)).await
}

/// Uses the game's own file again.
#[utoipa::path(
    delete, path = "/competitions/{id}/files/{setting}", tag = "desk", operation_id = "delete_game_file",
    params(("id" = String, Path, description = "The competition."), ("setting" = String, Path, description = "The setting that names the file.")),
    responses(
        (status = 204, description = "The competition uses the game's own file."),
        (status = 409, description = "The competition has started (code `state`).", body = ErrorBody),
    ),
)]
async fn delete_game_file(
    State(app): State<AppState>,
    caller: Caller,
    Path((id, setting)): Path<(String, String)>,
) -> ApiResult<StatusCode> {
    let me = caller.organiser()?;
    let (found, any_game) = find_editable(&app, &id).await?;
    let spec = file_setting(any_game.as_ref(), &setting)?;
    change_setting(&app, me, &found, spec.name, None).await
}

/// The file that a competition uses instead of the game's own. 404 if it uses the game's own.
#[utoipa::path(
    get, path = "/competitions/{id}/files/{setting}", tag = "competitions", operation_id = "game_file",
    params(("id" = String, Path, description = "The competition."), ("setting" = String, Path, description = "The setting that names the file.")),
    responses((status = 200, description = "The file.", body = Vec<u8>, content_type = "text/plain")),
)]
async fn game_file(
    State(app): State<AppState>,
    caller: Caller,
    Path((id, setting)): Path<(String, String)>,
) -> ApiResult<Response> {
    let found = find_visible(&app, &caller, &id).await?;
    let any_game = agon_engine::any_game(&found.game).map_err(ApiError::internal)?;
    let spec = file_setting(any_game.as_ref(), &setting)?;
    let handle = app.competitions.get(&id)?;
    let loaded = handle.loaded().ok_or_else(|| ApiError::not_found("file"))?;
    let name = loaded.competition.settings.word(spec.name);
    let content = name.and_then(|name| loaded.assets.get(name)).ok_or_else(|| ApiError::not_found("file"))?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], content.to_vec()).into_response())
}

/// A competition whose files can change, and its game.
async fn find_editable(app: &AppState, id: &str) -> ApiResult<(HostedCompetition, Box<dyn AnyGame>)> {
    let found = find_hosted(app, id).await?;
    if !BEFORE_START.contains(&found.state) {
        return Err(wrong_state(&found, "its files can be changed only before the start"));
    }
    let any_game = agon_engine::any_game(&found.game).map_err(ApiError::internal)?;
    Ok((found, any_game))
}

/// Sets or removes the setting in the competition's text, and shows the competition with it.
async fn change_setting(
    app: &AppState,
    me: &CurrentUser,
    found: &HostedCompetition,
    setting: &str,
    file: Option<&str>,
) -> ApiResult<StatusCode> {
    let text = competition_file::set_setting(&found.preset, setting, file);
    let edit = CompetitionPatch { preset: Some(text), ..CompetitionPatch::default() };
    let edited = app.site_db.edit_competition(&found.id, &BEFORE_START, &edit).await?;
    let what = if file.is_some() { "uploaded" } else { "the game's own" };
    append_audit(app, me, "competition.game_file", &found.id, &found.name, &format!("{setting}: {what}"))
        .await?;
    entrants::refresh(app, &edited).await?;
    Ok(StatusCode::NO_CONTENT)
}
