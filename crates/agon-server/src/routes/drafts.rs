//! Drafts of bots: what authors write in the editor of the web app, checked without submitting, and the files of submitted versions.

use std::path::Path as FilePath;

use agon_bots::starter;
use agon_site_db::{
    AccountId, CompetitionState, DraftKey, HostedCompetition, MAX_DRAFT_BYTES, PageRequest, SubmissionFilter,
};
use agon_store::Timestamp;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::submissions::{find_entrant, find_own, find_visible, next_phase, trial_film};
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path, Query, parse_json, whole_body};
use crate::state::AppState;
use crate::uploads::draft_checks::{self, DraftFile, DraftProgress, DraftSubject, validate_files};
use crate::uploads::report::CheckReport;

/// Maximum number of files of a version that are listed.
const MAX_LISTED_FILES: usize = 200;
/// Maximum total size of the texts of a version that are sent.
const MAX_LISTED_BYTES: u64 = 1 << 20;
/// Name of a bot that has none yet.
const NEW_BOT: &str = "draft";

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(draft, put_draft, delete_draft))
        .routes(routes!(check_draft, draft_check))
        .routes(routes!(draft_trial))
        .routes(routes!(submission_files))
        .layer(DefaultBodyLimit::max(MAX_DRAFT_BYTES + (64 << 10)))
}

/// Which draft.
#[derive(Clone, Copy, Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DraftQuery {
    /// The bot of which it becomes a version. Without it: a new bot.
    bot: Option<i64>,
}

/// A draft, or what an author begins with.
#[derive(Debug, Serialize, ToSchema)]
pub struct Draft {
    /// The files.
    pub files: Vec<DraftFile>,
    /// `draft`, `version` (the newest version of the bot) or `starter`.
    #[schema(pattern = "^(draft|version|starter)$")]
    pub source: &'static str,
    /// The number to send with the next change; 0 if nothing is stored.
    pub revision: i64,
    /// When it was changed.
    pub changed: Option<i64>,
    /// The latest check.
    pub check: Option<DraftCheckBody>,
}

/// The files of a draft.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DraftFiles {
    /// All files.
    #[schema(min_items = 1, max_items = 50)]
    files: Vec<DraftFile>,
    /// Revision that was changed; 0 for a new draft.
    revision: i64,
}

/// A stored draft.
#[derive(Debug, Serialize, ToSchema)]
pub struct StoredDraft {
    /// Its new revision.
    pub revision: i64,
    /// When it was stored.
    pub changed: i64,
}

/// The check of a draft.
#[derive(Debug, Serialize, ToSchema)]
pub struct DraftCheckBody {
    /// Revision of the draft that is checked.
    pub revision: i64,
    /// `queued`, `checking`, `accepted`, `refused` or `broke`.
    #[schema(pattern = "^(queued|checking|accepted|refused|broke)$")]
    pub state: &'static str,
    /// The report, once it is finished.
    pub report: Option<CheckReport>,
    /// Number of trial games.
    pub trials: u64,
}

/// Files of a submitted version.
#[derive(Debug, Serialize, ToSchema)]
pub struct VersionFiles {
    /// The files, ordered by path.
    pub files: Vec<VersionFile>,
    /// Whether some files are not listed.
    pub truncated: bool,
}

/// A file of a submitted version.
#[derive(Debug, Serialize, ToSchema)]
pub struct VersionFile {
    /// Path in the bot's folder, with slashes.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// The text; null if it is not text, or too long.
    pub text: Option<String>,
}

/// Finds the draft that the caller asks for. Only authors have drafts, in games with a Python API.
async fn find_draft(
    app: &AppState,
    caller: &Caller,
    id: &str,
    query: DraftQuery,
) -> ApiResult<(HostedCompetition, DraftKey)> {
    let me = caller.author()?;
    let competition = find_visible(app, caller, id).await?;
    let info = agon_games::game_info(&competition.game).map_err(ApiError::internal)?;
    if info.bots.python.is_none() {
        let what = format!("{} has no Python API, so there is no editor for it", info.title);
        return Err(ApiError::conflict("no_editor", what).hint("upload the bot's files"));
    }
    if let Some(bot) = query.bot {
        let entrant = find_entrant(app, id, bot).await?;
        if !app.site_db.manages(&entrant, me.account()).await? {
            return Err(ApiError::forbidden("only the bot's author or its team can edit it"));
        }
    }
    let key = DraftKey {
        account: AccountId(me.id),
        competition: competition.id.clone(),
        bot: query.bot.unwrap_or(0),
    };
    Ok((competition, key))
}

fn check_body(app: &AppState, key: &DraftKey) -> Option<DraftCheckBody> {
    let (revision, progress) = app.draft_checks.latest(key)?;
    let (state, report, trials) = match progress {
        DraftProgress::Queued => ("queued", None, 0),
        DraftProgress::Checking => ("checking", None, 0),
        DraftProgress::Finished(verdict) => {
            (verdict.state, Some(verdict.report.clone()), verdict.records.len() as u64)
        }
    };
    Some(DraftCheckBody { revision, state, report, trials })
}

/// The caller's draft. Without one: the newest version of the bot, or the starter of the game.
#[utoipa::path(
    get, path = "/competitions/{id}/draft", tag = "submissions", operation_id = "draft",
    params(("id" = String, Path, description = "The competition."), DraftQuery),
    responses(
        (status = 200, description = "The draft.", body = Draft),
        (status = 403, description = "Only authors have drafts, and only of their own bots.", body = ErrorBody),
        (status = 409, description = "The game has no Python API (`no_editor`).", body = ErrorBody),
    ),
)]
async fn draft(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    Query(query): Query<DraftQuery>,
) -> ApiResult<Json<Draft>> {
    let (competition, key) = find_draft(&app, &caller, &id, query).await?;
    let check = check_body(&app, &key);
    if let Some(stored) = app.site_db.bot_draft(&key).await? {
        let files = serde_json::from_str(&stored.files).map_err(ApiError::internal)?;
        return Ok(Json(Draft {
            files,
            source: "draft",
            revision: stored.revision,
            changed: Some(stored.changed.0),
            check,
        }));
    }
    if let Some(files) = newest_version(&app, &key).await? {
        return Ok(Json(Draft { files, source: "version", revision: 0, changed: None, check }));
    }
    let game = competition.game;
    let files =
        tokio::task::spawn_blocking(move || starter_files(&game)).await.map_err(ApiError::internal)??;
    Ok(Json(Draft { files, source: "starter", revision: 0, changed: None, check }))
}

/// Text files of the newest accepted version of the bot.
async fn newest_version(app: &AppState, key: &DraftKey) -> ApiResult<Option<Vec<DraftFile>>> {
    if key.bot == 0 {
        return Ok(None);
    }
    let page = PageRequest { after: None, limit: 50 };
    let filter = SubmissionFilter::Entrant(agon_site_db::EntrantId(key.bot));
    let listed = app.site_db.submissions(filter, page).await?;
    let Some(folder) = listed.items.into_iter().find_map(|one| one.folder) else { return Ok(None) };
    let folder = app.config.data.join(folder);
    let read =
        tokio::task::spawn_blocking(move || read_files(&folder)).await.map_err(ApiError::internal)??;
    let files: Vec<DraftFile> = read
        .files
        .into_iter()
        .filter_map(|one| Some(DraftFile { path: one.path, text: one.text? }))
        .collect();
    Ok((!files.is_empty()).then_some(files))
}

/// Text files of the game's Python starter.
fn starter_files(game: &str) -> ApiResult<Vec<DraftFile>> {
    let files = starter::files(game, "python", "my-bot").map_err(ApiError::internal)?;
    let file = |(path, content, _): (std::path::PathBuf, Vec<u8>, bool)| {
        Some(DraftFile { path: path.to_str()?.to_owned(), text: String::from_utf8(content).ok()? })
    };
    let mut files: Vec<DraftFile> = files.into_iter().filter_map(file).collect();
    files.retain(|file| validate_files(std::slice::from_ref(file)).is_ok());
    Ok(files)
}

/// Stores the caller's draft.
#[utoipa::path(
    put, path = "/competitions/{id}/draft", tag = "submissions", operation_id = "put_draft", request_body = DraftFiles,
    params(("id" = String, Path, description = "The competition."), DraftQuery),
    responses(
        (status = 200, description = "Stored.", body = StoredDraft),
        (status = 409, description = "It was changed elsewhere (`conflict`), there are too many drafts (`too_many`), or the game has no Python API (`no_editor`).", body = ErrorBody),
    ),
)]
async fn put_draft(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    Query(query): Query<DraftQuery>,
    headers: HeaderMap,
    content: Result<Bytes, BytesRejection>,
) -> ApiResult<Json<StoredDraft>> {
    let (_, key) = find_draft(&app, &caller, &id, query).await?;
    let DraftFiles { files, revision } = parse_json(&headers, &whole_body(content)?)?;
    validate_files(&files)?;
    let text = serde_json::to_string(&files).map_err(ApiError::internal)?;
    let stored = app.site_db.put_bot_draft(&key, &text, revision, Timestamp::now()).await?;
    Ok(Json(StoredDraft { revision: stored.revision, changed: stored.changed.0 }))
}

/// Deletes the caller's draft.
#[utoipa::path(
    delete, path = "/competitions/{id}/draft", tag = "submissions", operation_id = "delete_draft",
    params(("id" = String, Path, description = "The competition."), DraftQuery),
    responses(
        (status = 204, description = "There is no draft any more."),
        (status = 409, description = "The game has no Python API (`no_editor`).", body = ErrorBody),
    ),
)]
async fn delete_draft(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    Query(query): Query<DraftQuery>,
) -> ApiResult<StatusCode> {
    let (_, key) = find_draft(&app, &caller, &id, query).await?;
    app.site_db.delete_bot_draft(&key).await?;
    app.draft_checks.forget(&key);
    Ok(StatusCode::NO_CONTENT)
}

/// Checks the stored draft as a submission is checked. Nothing is submitted.
#[utoipa::path(
    post, path = "/competitions/{id}/draft/check", tag = "submissions", operation_id = "check_draft",
    params(("id" = String, Path, description = "The competition."), DraftQuery),
    responses(
        (status = 202, description = "Queued.", body = DraftCheckBody),
        (status = 404, description = "There is no stored draft.", body = ErrorBody),
        (status = 409, description = "A draft of the caller is being checked (`checking`).", body = ErrorBody),
        (status = 503, description = "Too many drafts are being checked (`busy`).", body = ErrorBody),
    ),
)]
async fn check_draft(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    Query(query): Query<DraftQuery>,
) -> ApiResult<(StatusCode, Json<DraftCheckBody>)> {
    let (competition, key) = find_draft(&app, &caller, &id, query).await?;
    let none = || ApiError::not_found("draft").hint("store it first");
    let stored = app.site_db.bot_draft(&key).await?.ok_or_else(none)?;
    let files: Vec<DraftFile> = serde_json::from_str(&stored.files).map_err(ApiError::internal)?;
    let name = match query.bot {
        Some(bot) => find_entrant(&app, &id, bot).await?.name,
        None => NEW_BOT.to_owned(),
    };
    let waiting = competition.state == CompetitionState::Waiting;
    let from_phase = if waiting { next_phase(&app, &id).await? } else { 0 };
    draft_checks::start(&app, key.clone(), stored.revision, files, DraftSubject { name, from_phase })?;
    let body = check_body(&app, &key).ok_or_else(none)?;
    Ok((StatusCode::ACCEPTED, Json(body)))
}

/// The latest check of the caller's draft.
#[utoipa::path(
    get, path = "/competitions/{id}/draft/check", tag = "submissions", operation_id = "draft_check",
    params(("id" = String, Path, description = "The competition."), DraftQuery),
    responses(
        (status = 200, description = "The check.", body = DraftCheckBody),
        (status = 403, description = "Only authors have drafts, and only of their own bots.", body = ErrorBody),
        (status = 404, description = "The draft was not checked.", body = ErrorBody),
        (status = 409, description = "The game has no Python API (`no_editor`).", body = ErrorBody),
    ),
)]
async fn draft_check(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    Query(query): Query<DraftQuery>,
) -> ApiResult<Json<DraftCheckBody>> {
    let (_, key) = find_draft(&app, &caller, &id, query).await?;
    check_body(&app, &key).map(Json).ok_or_else(|| ApiError::not_found("check"))
}

/// Film of a trial game of the latest check, with the bot's output.
#[utoipa::path(
    get, path = "/competitions/{id}/draft/trials/{n}", tag = "submissions", operation_id = "draft_trial",
    params(("id" = String, Path, description = "The competition."), ("n" = u32, Path, description = "The trial game, from 1."), DraftQuery),
    responses(
        (status = 200, description = "A film (docs/film.md).", body = Object, content_type = "application/json"),
        (status = 403, description = "Only authors have drafts, and only of their own bots.", body = ErrorBody),
        (status = 409, description = "The game has no Python API (`no_editor`).", body = ErrorBody),
    ),
)]
async fn draft_trial(
    State(app): State<AppState>,
    caller: Caller,
    Path((id, n)): Path<(String, u32)>,
    Query(query): Query<DraftQuery>,
) -> ApiResult<Response> {
    let (competition, key) = find_draft(&app, &caller, &id, query).await?;
    let none = || ApiError::not_found("trial");
    let Some((_, DraftProgress::Finished(verdict))) = app.draft_checks.latest(&key) else {
        return Err(none());
    };
    let index = (n as usize).checked_sub(1).filter(|at| *at < verdict.records.len()).ok_or_else(none)?;
    let loaded = app.competitions.get(&id)?.loaded();
    let film = tokio::task::spawn_blocking(move || {
        let assets = loaded.as_ref().map_or_else(agon_core::Assets::none, |loaded| loaded.assets.clone());
        let bytes = verdict.records.get(index).ok_or_else(none)?;
        let output = verdict.logs.get(index).cloned().unwrap_or_default();
        trial_film(&competition.game, bytes, &assets, output)
    });
    let film = film.await.map_err(ApiError::internal)??;
    Ok(([(header::CONTENT_TYPE, "application/json")], film).into_response())
}

/// Files of a submitted version. For its author and organisers.
#[utoipa::path(
    get, path = "/submissions/{id}/files", tag = "submissions", operation_id = "submission_files",
    params(("id" = String, Path, description = "The submission.")),
    responses(
        (status = 200, description = "The files.", body = VersionFiles),
        (status = 404, description = "There is no such submission, or its files were deleted.", body = ErrorBody),
    ),
)]
async fn submission_files(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> ApiResult<Json<VersionFiles>> {
    let found = find_own(&app, &caller, &id).await?;
    let none = || ApiError::not_found("file").hint("the files of rejected versions are deleted");
    let folder = app.config.data.join(found.folder.ok_or_else(none)?);
    if !folder.is_dir() {
        return Err(none());
    }
    let read =
        tokio::task::spawn_blocking(move || read_files(&folder)).await.map_err(ApiError::internal)??;
    Ok(Json(read))
}

/// All files of a folder. Links are left out: a bot's folder has none.
fn read_files(folder: &FilePath) -> ApiResult<VersionFiles> {
    let (mut files, mut left, mut truncated) = (Vec::new(), vec![folder.to_owned()], false);
    while let Some(at) = left.pop() {
        for entry in std::fs::read_dir(&at).map_err(ApiError::internal)? {
            let path = entry.map_err(ApiError::internal)?.path();
            let about = std::fs::symlink_metadata(&path).map_err(ApiError::internal)?;
            if about.is_dir() {
                left.push(path);
            } else if about.is_file() {
                if files.len() < MAX_LISTED_FILES {
                    files.push((path, about.len()));
                } else {
                    truncated = true;
                }
            }
        }
    }
    files.sort();
    let mut total = 0;
    let file = |(path, bytes): (std::path::PathBuf, u64)| {
        let fits = total + bytes <= MAX_LISTED_BYTES;
        let text = if fits {
            std::fs::read(&path).ok().and_then(|bytes| String::from_utf8(bytes).ok())
        } else {
            None
        };
        let text = text.filter(|text| !text.contains('\0'));
        total += if text.is_some() { bytes } else { 0 };
        let path = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
        VersionFile { path, bytes, text }
    };
    Ok(VersionFiles { files: files.into_iter().map(file).collect(), truncated })
}
