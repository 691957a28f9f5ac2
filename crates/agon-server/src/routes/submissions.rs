//! Submitting bots, and the results of their checks.

use agon_engine::film::json::BotOutputLine;
use agon_site_db::{
    Entrant, EntrantId, HostedCompetition, NewEntrant, NewSubmission, PageRequest as OfficePage,
    SubmissionFilter, SubmissionId, SubmissionPlace, TeamId,
};
use agon_store::Timestamp;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::caller::{Caller, CurrentUser};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path};
use crate::read_model::overview::upload_limits;
use crate::state::AppState;
use crate::uploads::report::CheckReport;
use crate::uploads::upload::{SpooledForm, Upload};
use crate::uploads::{self, budget, unpack};

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    // Uploads check their size themselves, because each competition has its own limit.
    let uploads = OpenApiRouter::default()
        .routes(routes!(submit_bot))
        .routes(routes!(submit_version))
        .layer(DefaultBodyLimit::disable());
    uploads.routes(routes!(withdraw_bot)).routes(routes!(submission)).routes(routes!(trial))
}

/// A submitted version of a bot.
#[derive(Debug, Serialize, ToSchema)]
pub struct Submission {
    /// Id of the submission: 16 hexadecimal digits.
    pub id: String,
    /// Id of the competition.
    pub competition: String,
    /// Id of the bot's page.
    pub bot: i64,
    /// The bot's name.
    pub name: String,
    /// Name of the account that submitted it.
    pub by: String,
    /// Name of the uploaded file.
    pub file: String,
    /// Size of the upload in bytes.
    pub bytes: u64,
    /// `queued`, `checking`, `accepted`, `refused` or `broke`.
    pub state: String,
    /// Number of submissions before it in the queue.
    pub waiting: u64,
    /// Version of the bot, from 1; set once it is accepted.
    pub version: Option<u32>,
    /// When it was submitted.
    pub created: i64,
    /// When its check finished.
    pub finished: Option<i64>,
    /// Result of the check, once it is finished.
    pub report: Option<CheckReport>,
    /// Number of trial games: `GET /submissions/{id}/trials/{n}` returns their films.
    pub trials: u64,
}

/// The form of an upload.
#[derive(ToSchema)]
#[allow(dead_code, reason = "describes the form for OpenAPI; the fields are read one by one")]
pub struct UploadForm {
    /// Name of the bot: 1 to 40 characters. Only for a new bot.
    #[schema(max_length = 40)]
    name: Option<String>,
    /// Name of the bot if neither `name` nor the bot itself gives one. Only for a new bot.
    #[schema(max_length = 40)]
    default_name: Option<String>,
    /// Role of the bot, in a game with roles. Only for a new bot.
    role: Option<String>,
    /// Id of a team of the caller that the bot plays for. Only for a new bot.
    team: Option<i64>,
    /// Name of the bot's class, if the files have several.
    class: Option<String>,
    /// A mark of the bot: `AI` or `exploit`, with a note as `AI=which part AI wrote`. Can be given several times.
    mark: Option<Vec<String>>,
    /// Given once: a `.py` or a `.zip`. Given several times: the files of a folder, each named by its path in the folder.
    #[schema(content_media_type = "application/octet-stream", min_items = 1)]
    file: Vec<String>,
}

/// A competition that the caller may see, or 404.
pub async fn find_visible(app: &AppState, caller: &Caller, id: &str) -> ApiResult<HostedCompetition> {
    let found = app.site_db.competition(id).await?;
    if (!found.public || found.state == agon_site_db::CompetitionState::Draft) && !caller.is_organiser() {
        return Err(ApiError::not_found("competition"));
    }
    Ok(found)
}

/// A bot of a competition, or 404.
pub async fn find_entrant(app: &AppState, competition: &str, bot: i64) -> ApiResult<Entrant> {
    let found = app.site_db.entrant(EntrantId(bot)).await;
    match found {
        Ok(entrant) if entrant.competition == competition => Ok(entrant),
        Ok(_) | Err(agon_site_db::SiteDbError::NotFound { .. }) => Err(ApiError::not_found("bot")),
        Err(error) => Err(error.into()),
    }
}

/// Submits a new bot. The check is that of `agon check`. The bot is shown once it is accepted.
#[utoipa::path(
    post, path = "/competitions/{id}/bots", tag = "submissions", operation_id = "submit_bot",
    params(("id" = String, Path, description = "The competition.")),
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses(
        (status = 201, description = "Queued for its check.", body = Submission),
        (status = 409, description = "The competition does not accept new bots now (`not_open`), its deadline is past (`deadline`), the name is taken (`taken`), the limit per contributor is reached (`too_many`), or the disk quota of the account is used up (`quota`).", body = ErrorBody),
        (status = 408, description = "The upload arrives too slowly.", body = ErrorBody),
        (status = 507, description = "There is no disk space for submissions (`site_quota`, `disk_full`).", body = ErrorBody),
    ),
)]
async fn submit_bot(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    request: Request,
) -> ApiResult<(StatusCode, Json<Submission>)> {
    let me = caller.author()?;
    let competition = find_visible(&app, &caller, &id).await?;
    if competition.state != agon_site_db::CompetitionState::Open
        || competition.origin != agon_site_db::Origin::Hosted
    {
        return Err(not_open(&competition));
    }
    uploads::deadline::check(&app, &competition).await?;
    let upload = receive_upload(&app, me, &competition, request).await?;
    let names_itself = upload.name.is_none();
    let Some(name) = upload.name.clone().or_else(|| upload.default_name.clone()) else {
        return Err(
            ApiError::invalid("name", "name: is missing").hint("send the bot's name in the field `name`")
        );
    };
    let role = check_role(&competition, upload.role.as_deref())?;
    let marks = super::marks::parse_form(&upload.marks)?;
    let (upload, mut meta) = unpack_upload(upload).await?;
    meta.names_itself = names_itself;
    let new = NewEntrant {
        competition: competition.id.clone(),
        account: Some(me.account()),
        name,
        role,
        bot: None,
        at: Timestamp::now(),
    };
    let team = check_team(&app, me, upload.team.as_deref()).await?;
    let entrant = app.site_db.add_entrant_for(&new, team, &[agon_site_db::CompetitionState::Open]).await?;
    let queued =
        store_and_enqueue(&app, me, &entrant, &upload, &meta, 0, &[agon_site_db::CompetitionState::Open])
            .await;
    if queued.is_err() {
        // Removes the entrant again.
        let _ = app.site_db.withdraw(entrant.id, Timestamp::now()).await;
    } else {
        super::marks::add(&app, &entrant, &marks).await?;
    }
    Ok((StatusCode::CREATED, Json(submission_body(&app, &queued?).await?)))
}

/// Submits a new version of the caller's own bot.
#[utoipa::path(
    post, path = "/competitions/{id}/bots/{bot}/versions", tag = "submissions", operation_id = "submit_version",
    params(("id" = String, Path, description = "The competition."), ("bot" = i64, Path, description = "The bot.")),
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses(
        (status = 201, description = "Queued for its check.", body = Submission),
        (status = 409, description = "The competition does not accept versions now (`not_open`), its deadline is past (`deadline`), the bot was withdrawn, or the disk quota of the account is used up (`quota`).", body = ErrorBody),
        (status = 408, description = "The upload arrives too slowly.", body = ErrorBody),
        (status = 507, description = "There is no disk space for submissions (`site_quota`, `disk_full`).", body = ErrorBody),
    ),
)]
async fn submit_version(
    State(app): State<AppState>,
    caller: Caller,
    Path((id, bot)): Path<(String, i64)>,
    request: Request,
) -> ApiResult<(StatusCode, Json<Submission>)> {
    let me = caller.author()?;
    let competition = find_visible(&app, &caller, &id).await?;
    let entrant = find_entrant(&app, &id, bot).await?;
    if !app.site_db.manages(&entrant, me.account()).await? {
        return Err(ApiError::forbidden("only the bot's author or its team can submit new versions"));
    }
    if !uploads::accepts_bots(&competition) {
        return Err(not_open(&competition));
    }
    let waiting = competition.state == agon_site_db::CompetitionState::Waiting;
    if waiting && entrant.number.is_none() {
        return Err(ApiError::conflict("not_open", "this bot does not take part"));
    }
    uploads::deadline::check(&app, &competition).await?;
    let upload = receive_upload(&app, me, &competition, request).await?;
    let is_new = [&upload.name, &upload.default_name, &upload.role, &upload.team];
    if is_new.iter().any(|field| field.is_some()) {
        return Err(ApiError::invalid("name", "a new version keeps the bot's name, role and team")
            .hint("omit the fields `name`, `default_name`, `role` and `team`"));
    }
    let marks = super::marks::parse_form(&upload.marks)?;
    let (upload, meta) = unpack_upload(upload).await?;
    // The upload may have taken minutes, so the state is checked again.
    let competition = find_visible(&app, &caller, &id).await?;
    if !uploads::accepts_bots(&competition)
        || waiting != (competition.state == agon_site_db::CompetitionState::Waiting)
    {
        return Err(not_open(&competition));
    }
    let from_phase = if waiting { next_phase(&app, &id).await? } else { 0 };
    let state = [competition.state];
    let queued = store_and_enqueue(&app, me, &entrant, &upload, &meta, from_phase, &state).await?;
    super::marks::add(&app, &entrant, &marks).await?;
    Ok((StatusCode::CREATED, Json(submission_body(&app, &queued).await?)))
}

/// The phase (from 0) that starts next.
pub async fn next_phase(app: &AppState, id: &str) -> ApiResult<u32> {
    use agon_store::PhaseState;
    let (_, ledger) = app.competitions.get(id)?.started()?;
    let phases = ledger.phases().await.map_err(ApiError::internal)?;
    Ok(phases.iter().find(|phase| phase.state < PhaseState::Published).map_or(0, |phase| phase.phase))
}

fn not_open(competition: &HostedCompetition) -> ApiError {
    let error = ApiError::conflict(
        "not_open",
        format!("{} does not accept bots now: it is {}", competition.name, competition.state),
    );
    match competition.state {
        agon_site_db::CompetitionState::Waiting => {
            error.hint("between phases, only authors of bots that take part can submit new versions")
        }
        _ => error,
    }
}

/// Room for file names in the form of an upload, besides its files.
const MAX_FILE_NAMES_BYTES: u64 = 4 << 20;

/// Receives the form and writes its files to disk.
async fn receive_upload(
    app: &AppState,
    me: &CurrentUser,
    competition: &HostedCompetition,
    request: Request,
) -> ApiResult<Upload> {
    let loaded = app.competitions.get(&competition.id).ok().and_then(|handle| handle.loaded());
    let (_, max_bytes) = upload_limits(competition, loaded.as_deref());
    let declared = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    // Leaves room for file names and boundaries.
    let max_body_bytes = max_bytes + max_bytes.min(MAX_FILE_NAMES_BYTES) + (1 << 20);
    // Rejects an upload whose declared length is too large, before reading any of it.
    if declared.and_then(|length| length.parse().ok()).is_some_and(|length: u64| length > max_body_bytes) {
        app.meters.upload("too_large");
        return Err(uploads::upload::too_large_upload(max_bytes));
    }
    budget::check_room(app, me.account()).await?;
    let count_too_large = |error: &ApiError| {
        if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
            app.meters.upload("too_large");
        }
    };
    // Without a declared length the body could be endless.
    let max_body_bytes = usize::try_from(max_body_bytes).unwrap_or(usize::MAX);
    let (head, body) = request.into_parts();
    let form = {
        let _slot = app.upload_slots.acquire(me.account()).await?;
        SpooledForm::receive(app, body, max_body_bytes).await.inspect_err(count_too_large)?
    };
    let reading = budget::READING.acquire().await.map_err(ApiError::internal)?;
    let upload = form.read(head, max_bytes).await.inspect_err(count_too_large)?;
    drop(reading);
    let plain = |c: char| c == '_' || c.is_alphanumeric();
    if upload.class.as_ref().is_some_and(|class| class.len() > 100 || !class.chars().all(plain)) {
        return Err(ApiError::invalid("class", "class: this is not a valid class name")
            .hint("send only the name of the class"));
    }
    Ok(upload)
}

/// Checks the team of a new bot.
async fn check_team(app: &AppState, me: &CurrentUser, given: Option<&str>) -> ApiResult<Option<TeamId>> {
    let Some(given) = given else { return Ok(None) };
    let unknown = || ApiError::invalid("team", "team: you have no such team").hint("send the id of one of your teams");
    let team = TeamId(given.parse().map_err(|_| unknown())?);
    if app.site_db.is_member(team, me.account()).await? { Ok(Some(team)) } else { Err(unknown()) }
}

/// Checks the role of a new bot, in a game with roles.
fn check_role(competition: &HostedCompetition, given: Option<&str>) -> ApiResult<Option<String>> {
    let any_game = agon_engine::any_game(&competition.game).map_err(ApiError::internal)?;
    let roles: Vec<&str> = any_game.info().roles.iter().map(|role| role.name).collect();
    match given {
        None if roles.len() > 1 => Err(ApiError::invalid("role", "role: is missing")
            .hint(format!("send `role`: {}", roles.join(" or ")))),
        Some(_) if roles.len() < 2 => {
            Err(ApiError::invalid("role", format!("{} has no roles", any_game.info().title))
                .hint("omit `role`"))
        }
        Some(role) if !roles.contains(&role) => Err(ApiError::invalid("role", "role: there is no such role")
            .hint(format!("use {}", roles.join(" or ")))),
        other => Ok(other.map(str::to_owned)),
    }
}

async fn unpack_upload(upload: Upload) -> ApiResult<(Upload, uploads::SubmissionMeta)> {
    let _reading = budget::READING.acquire().await.map_err(ApiError::internal)?;
    let span = tracing::Span::current();
    let work = move || unpack::unpack(&upload).map(|meta| (upload, meta));
    let done = tokio::task::spawn_blocking(move || span.in_scope(work));
    done.await.map_err(ApiError::internal)?
}

/// Moves the files to their final folder and enqueues the submission. It is acknowledged once it is in the site database.
async fn store_and_enqueue(
    app: &AppState,
    me: &CurrentUser,
    entrant: &Entrant,
    upload: &Upload,
    meta: &uploads::SubmissionMeta,
    from_phase: u32,
    while_in: &[agon_site_db::CompetitionState],
) -> ApiResult<agon_site_db::Submission> {
    let folder = uploads::submission_folder(&entrant.competition, entrant.id, &upload.id);
    let to = app.config.data.join(folder);
    let (from, meta) = (upload.folder(), meta.clone());
    let moved = tokio::task::spawn_blocking(move || -> std::io::Result<(std::path::PathBuf, u64)> {
        std::fs::create_dir_all(to.parent().unwrap_or(&to))?;
        budget::sync_files(&from)?;
        let disk_bytes = budget::disk_bytes(&from)?;
        std::fs::rename(from, &to)?;
        meta.write(&to)?;
        Ok((to, disk_bytes))
    });
    let (to, disk_bytes) = moved.await.map_err(ApiError::internal)?.map_err(ApiError::internal)?;
    let new = NewSubmission {
        id: upload.id.clone(),
        entrant: entrant.id,
        account: me.account(),
        file: upload.display_name(),
        bytes: upload.bytes,
        hash: upload.hash,
        from_phase,
        at: Timestamp::now(),
    };
    match app.site_db.enqueue_within(&new, while_in, disk_bytes, budget::quota(&app.config)).await {
        Ok(queued) => {
            tracing::info!(
                submission = %queued.id,
                competition = entrant.competition,
                entrant = %entrant.id,
                bytes = upload.bytes,
                "submission received; waiting for its check"
            );
            app.check_queue.wake();
            Ok(queued)
        }
        Err(error) => {
            let _ = std::fs::remove_dir_all(&to);
            let _ = std::fs::remove_file(to.with_extension("slip"));
            if matches!(error, agon_site_db::SiteDbError::QuotaExceeded { .. }) {
                app.meters.upload("no_room");
            }
            Err(error.into())
        }
    }
}

/// Withdraws a bot before the start. For its author and organisers.
#[utoipa::path(
    delete, path = "/competitions/{id}/bots/{bot}", tag = "submissions", operation_id = "withdraw_bot",
    params(("id" = String, Path, description = "The competition."), ("bot" = i64, Path, description = "The bot.")),
    responses(
        (status = 204, description = "Withdrawn; its name can be used again."),
        (status = 409, description = "The competition has started.", body = ErrorBody),
    ),
)]
async fn withdraw_bot(
    State(app): State<AppState>,
    caller: Caller,
    Path((id, bot)): Path<(String, i64)>,
) -> ApiResult<StatusCode> {
    let me = caller.signed_in()?;
    let competition = find_visible(&app, &caller, &id).await?;
    let entrant = find_entrant(&app, &id, bot).await?;
    if !caller.is_organiser() && !app.site_db.manages(&entrant, me.account()).await? {
        return Err(ApiError::forbidden("only the bot's author or an organiser can withdraw it"));
    }
    app.site_db.withdraw(entrant.id, Timestamp::now()).await?;
    delete_versions(&app, &entrant).await;
    super::admin::append_audit(&app, me, "bot.withdraw", &competition.id, &entrant.name, "").await?;
    let _ = crate::runs::entrants::refresh(&app, &competition).await;
    Ok(StatusCode::NO_CONTENT)
}

/// Deletes the files of a withdrawn bot: they will never play, and count for the disk quota of the account. A version that is being
/// checked deletes its own files.
async fn delete_versions(app: &AppState, entrant: &Entrant) {
    let mut page = OfficePage { after: None, limit: 200 };
    // Errors are in the log. Files that are left count until the entrant is gone.
    while let Ok(listed) = app.site_db.submissions(SubmissionFilter::Entrant(entrant.id), page).await {
        for one in listed.items.iter().filter(|one| one.folder.is_some()) {
            let place = SubmissionPlace {
                id: one.id.clone(),
                competition: one.competition.clone(),
                entrant: one.entrant,
            };
            let _ = budget::delete_files(app, &place).await;
        }
        match listed.next {
            Some(after) => page.after = Some(after),
            None => return,
        }
    }
}

/// A submission of the caller, or any for organisers; 404 for everyone else.
pub async fn find_own(app: &AppState, caller: &Caller, id: &str) -> ApiResult<agon_site_db::Submission> {
    let me = caller.signed_in()?;
    let none = || ApiError::not_found("submission");
    let found = app.site_db.submission(&SubmissionId::parse(id).ok_or_else(none)?).await?;
    if caller.is_account(Some(found.account.0)) || caller.is_organiser() {
        return Ok(found);
    }
    let entrant = app.site_db.entrant(found.entrant).await?;
    let manages = app.site_db.manages(&entrant, me.account()).await?;
    // After its author has left the team, the submissions are the team's.
    if manages { Ok(found) } else { Err(none()) }
}

/// A submission and its state. For its author and organisers.
#[utoipa::path(
    get, path = "/submissions/{id}", tag = "submissions", operation_id = "submission",
    params(("id" = String, Path, description = "The submission.")),
    responses((status = 200, description = "The current state.", body = Submission)),
)]
async fn submission(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> ApiResult<Json<Submission>> {
    let found = find_own(&app, &caller, &id).await?;
    Ok(Json(submission_body(&app, &found).await?))
}

/// Film of a trial game of a submission, with the bot's output. For its author and organisers.
#[utoipa::path(
    get, path = "/submissions/{id}/trials/{n}", tag = "submissions", operation_id = "trial",
    params(("id" = String, Path, description = "The submission."), ("n" = u32, Path, description = "The trial game, from 1.")),
    responses((status = 200, description = "A film (docs/film.md).", body = Object, content_type = "application/json")),
)]
async fn trial(
    State(app): State<AppState>,
    caller: Caller,
    Path((id, n)): Path<(String, u32)>,
) -> ApiResult<Response> {
    let found = find_own(&app, &caller, &id).await?;
    let game = app.site_db.competition(&found.competition).await?.game;
    let none = || ApiError::not_found("trial");
    let index = (n as usize).checked_sub(1).ok_or_else(none)?;
    let bytes = app.site_db.trials(&found.id).await?.into_iter().nth(index).ok_or_else(none)?;
    let folder = uploads::submission_folder(&found.competition, found.entrant, &found.id);
    let logs = app.config.data.join(folder).with_extension("logs");
    let loaded = app.competitions.get(&found.competition)?.loaded();
    let film = tokio::task::spawn_blocking(move || {
        let assets = loaded.as_ref().map_or_else(agon_core::Assets::none, |loaded| loaded.assets.clone());
        trial_film(&game, &bytes, &assets, stored_output(&logs, index))
    });
    let film = film.await.map_err(ApiError::internal)??;
    Ok(([(header::CONTENT_TYPE, "application/json")], film).into_response())
}

/// The bot's output in a trial game, as the check has stored it.
fn stored_output(logs: &std::path::Path, index: usize) -> Vec<BotOutputLine> {
    let line = |line: &serde_json::Value| {
        let (turn, seat) = (line["turn"].as_u64()? as u32, line["seat"].as_u64()? as u8);
        Some(BotOutputLine { turn, seat: agon_core::Seat(seat), text: line["text"].as_str()?.to_owned() })
    };
    let kept = std::fs::read(logs).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let kept: serde_json::Value = kept.unwrap_or_default();
    kept[index].as_array().into_iter().flatten().filter_map(line).collect()
}

/// Film of a trial game.
pub fn trial_film(
    game: &str,
    bytes: &[u8],
    assets: &agon_core::Assets,
    bot_output: Vec<BotOutputLine>,
) -> ApiResult<Vec<u8>> {
    use agon_engine::film::json::{FilmExtras, to_json};
    let any_game = agon_engine::any_game(game).map_err(ApiError::internal)?;
    let (record, _) = agon_core::record::read(bytes, 1).map_err(ApiError::internal)?;
    // A trial game that was played with an earlier word list of the competition cannot be shown any more.
    let film = any_game.film(record, assets).map_err(|error| {
        tracing::warn!(%error, "a trial game cannot be shown");
        ApiError::not_found("trial")
    })?;
    let extras = FilmExtras { bot_output, ..FilmExtras::default() };
    serde_json::to_vec(&to_json(any_game.info(), film.as_ref(), &extras)).map_err(ApiError::internal)
}

/// The submission as sent to clients.
pub async fn submission_body(app: &AppState, one: &agon_site_db::Submission) -> ApiResult<Submission> {
    let entrant = app.site_db.entrant(one.entrant).await?;
    let by = app.site_db.account(one.account).await?.name;
    let queued = one.state == agon_site_db::SubmissionState::Queued;
    let waiting = if queued { app.site_db.count_before(&one.id).await? } else { 0 };
    let trials = if one.finished.is_some() { app.site_db.count_trials(&one.id).await? } else { 0 };
    Ok(Submission {
        id: one.id.to_string(),
        competition: one.competition.clone(),
        bot: one.entrant.0,
        name: entrant.name,
        by,
        file: one.file.clone(),
        bytes: one.bytes,
        state: one.state.name().to_owned(),
        waiting,
        version: one.version,
        created: one.created.0,
        finished: one.finished.map(|time| time.0),
        report: one.report.as_deref().and_then(|report| serde_json::from_str(report).ok()),
        trials,
    })
}

/// The latest submissions of an account, newest first: at most 1,000.
pub async fn latest_submissions(
    app: &AppState,
    me: &CurrentUser,
) -> ApiResult<Vec<agon_site_db::Submission>> {
    let mut all = Vec::new();
    let mut page = OfficePage { after: None, limit: 200 };
    for _ in 0..5 {
        let listed = app.site_db.submissions(SubmissionFilter::Account(me.account()), page).await?;
        all.extend(listed.items);
        match listed.next {
            Some(after) => page.after = Some(after),
            None => break,
        }
    }
    Ok(all)
}
