//! Handing bots in, and what came of it.

use agon_store::Timestamp;
use agon_store::site_db::{
    self, HostedCompetition, Entrant, EntrantId, NewEntrant, NewSubmission, SubmissionFilter, PageRequest as OfficePage, SubmissionId,
};
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, FromRequest as _, Multipart, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::caller::{Caller, CurrentUser};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path};
use crate::uploads::report::CheckReport;
use crate::uploads::upload::Upload;
use crate::uploads::{self, unpack, upload};
use crate::state::AppState;

/// Its routes.
pub fn router() -> OpenApiRouter<AppState> {
    // Uploads count their bytes themselves: each competition has its own limit.
    let uploads = OpenApiRouter::default()
        .routes(routes!(submit_bot))
        .routes(routes!(submit_version))
        .layer(DefaultBodyLimit::disable());
    uploads.routes(routes!(withdraw_bot)).routes(routes!(submission)).routes(routes!(trial))
}

/// A bot that was handed in.
#[derive(Debug, Serialize, ToSchema)]
pub struct Submission {
    /// Which: 16 hexadecimal digits.
    pub id: String,
    /// For which competition.
    pub competition: String,
    /// The bot's page.
    pub bot: i64,
    /// The bot's name.
    pub name: String,
    /// Who handed it in.
    pub by: String,
    /// What the file was called.
    pub file: String,
    /// How long it was.
    pub bytes: u64,
    /// `queued`, `checking`, `accepted`, `refused` or `broke`.
    pub state: String,
    /// How many wait before it.
    pub waiting: u64,
    /// Within the bot, from 1; once it was accepted.
    pub version: Option<u32>,
    /// When it was handed in.
    pub created: i64,
    /// When its check was over.
    pub finished: Option<i64>,
    /// What the check found, once it is over.
    pub report: Option<CheckReport>,
    /// Games it was tried in: `GET /submissions/{id}/trials/{n}` are their films.
    pub trials: u64,
}

/// The form of an upload.
#[derive(ToSchema)]
#[allow(dead_code, reason = "only described: it is read part by part")]
pub struct UploadForm {
    /// The bot's name: 1 to 40 characters. Of a new bot only.
    #[schema(max_length = 40)]
    name: Option<String>,
    /// Its role, in games that have different ones. Of a new bot only.
    role: Option<String>,
    /// The class that is the bot, if its files leave that open.
    class: Option<String>,
    /// Once: a `.py` or a `.zip`. Several times: the files of a folder, each named by its path in it.
    #[schema(content_media_type = "application/octet-stream", min_items = 1)]
    file: Vec<String>,
}

/// A competition that the caller may know of.
pub async fn seen(app: &AppState, caller: &Caller, id: &str) -> ApiResult<HostedCompetition> {
    let found = app.office.competition(id).await?;
    if (!found.public || found.state == site_db::CompetitionState::Draft) && !caller.is_organiser() {
        return Err(ApiError::not_found("competition"));
    }
    Ok(found)
}

/// A bot of a competition, or 404.
pub async fn entrant(app: &AppState, competition: &str, bot: i64) -> ApiResult<Entrant> {
    let found = app.office.entrant(EntrantId(bot)).await;
    match found {
        Ok(entrant) if entrant.competition == competition => Ok(entrant),
        Ok(_) | Err(site_db::SiteDbError::NotFound { .. }) => Err(ApiError::not_found("bot")),
        Err(error) => Err(error.into()),
    }
}

/// Hands a new bot in. It is checked as `agon check` does, and shown once it was accepted.
#[utoipa::path(
    post, path = "/competitions/{id}/bots", tag = "submissions", operation_id = "submit_bot",
    params(("id" = String, Path, description = "The competition.")),
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses(
        (status = 201, description = "It waits for its check.", body = Submission),
        (status = 409, description = "The competition takes no new bots now (`not_open`), the name is taken (`taken`), or there are as many as one may have (`too_many`).", body = ErrorBody),
    ),
)]
async fn submit_bot(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    request: Request,
) -> ApiResult<(StatusCode, Json<Submission>)> {
    let me = caller.author()?;
    let competition = seen(&app, &caller, &id).await?;
    if competition.state != site_db::CompetitionState::Open || competition.origin != site_db::Origin::Hosted {
        return Err(not_open(&competition));
    }
    let upload = received(&app, &competition, request).await?;
    let Some(name) = upload.name.clone() else {
        return Err(
            ApiError::invalid("name", "name: the bot has none").hint("send its name in the field `name`")
        );
    };
    let role = role(&competition, upload.role.as_deref())?;
    let (upload, slip) = unpacked(upload).await?;
    let new = NewEntrant {
        competition: competition.id.clone(),
        account: Some(me.account()),
        name,
        role,
        bot: None,
        at: Timestamp::now(),
    };
    let entrant = app.office.add_entrant(&new, &[site_db::CompetitionState::Open]).await?;
    let queued = keep(&app, me, &entrant, &upload, &slip, 0, &[site_db::CompetitionState::Open]).await;
    if queued.is_err() {
        // Nothing is left of it.
        let _ = app.office.withdraw(entrant.id, Timestamp::now()).await;
    }
    Ok((StatusCode::CREATED, Json(shown(&app, &queued?).await?)))
}

/// Hands a new version of one's own bot in.
#[utoipa::path(
    post, path = "/competitions/{id}/bots/{bot}/versions", tag = "submissions", operation_id = "submit_version",
    params(("id" = String, Path, description = "The competition."), ("bot" = i64, Path, description = "The bot.")),
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses(
        (status = 201, description = "It waits for its check.", body = Submission),
        (status = 409, description = "The competition takes no versions now (`not_open`), or the bot was withdrawn.", body = ErrorBody),
    ),
)]
async fn submit_version(
    State(app): State<AppState>,
    caller: Caller,
    Path((id, bot)): Path<(String, i64)>,
    request: Request,
) -> ApiResult<(StatusCode, Json<Submission>)> {
    let me = caller.author()?;
    let competition = seen(&app, &caller, &id).await?;
    let entrant = entrant(&app, &id, bot).await?;
    if !caller.is(entrant.account.map(|account| account.0)) {
        return Err(ApiError::forbidden("only its author hands in new versions of a bot"));
    }
    if !uploads::accepts(&app, &competition).await {
        return Err(not_open(&competition));
    }
    let waiting = competition.state == site_db::CompetitionState::Waiting;
    if waiting && entrant.number.is_none() {
        return Err(ApiError::conflict("not_open", "this bot does not take part"));
    }
    let upload = received(&app, &competition, request).await?;
    if upload.name.is_some() || upload.role.is_some() {
        return Err(ApiError::invalid("name", "a new version has the bot's name and role")
            .hint("leave the fields `name` and `role` out"));
    }
    let (upload, slip) = unpacked(upload).await?;
    // It may have taken minutes to come: what was true before need not be so now.
    let competition = seen(&app, &caller, &id).await?;
    if !uploads::accepts(&app, &competition).await || waiting != (competition.state == site_db::CompetitionState::Waiting)
    {
        return Err(not_open(&competition));
    }
    let from_phase = if waiting { next_phase(&app, &id).await? } else { 0 };
    let state = [competition.state];
    let queued = keep(&app, me, &entrant, &upload, &slip, from_phase, &state).await?;
    Ok((StatusCode::CREATED, Json(shown(&app, &queued).await?)))
}

/// The phase, from 0, that begins next.
pub async fn next_phase(app: &AppState, id: &str) -> ApiResult<u32> {
    use agon_store::PhaseState;
    let (_, ledger) = app.arenas.get(id)?.started()?;
    let phases = ledger.phases().await.map_err(ApiError::broke)?;
    Ok(phases.iter().find(|phase| phase.state < PhaseState::Published).map_or(0, |phase| phase.phase))
}

fn not_open(competition: &HostedCompetition) -> ApiError {
    let error = ApiError::conflict(
        "not_open",
        format!("{} takes no bots now: it is {}", competition.name, competition.state),
    );
    match competition.state {
        site_db::CompetitionState::Waiting => {
            error.hint("between phases only authors of bots that play hand in new versions")
        }
        _ => error,
    }
}

/// The form, on the disk.
async fn received(app: &AppState, competition: &HostedCompetition, request: Request) -> ApiResult<Upload> {
    let most = competition.limits.max_bytes.unwrap_or(uploads::MOST_BYTES).min(uploads::MOST_BYTES);
    let declared = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    // Names and boundaries take some room too.
    let whole = 2 * most + (1 << 20);
    // Nothing is read of one that says it is too long.
    if declared.and_then(|length| length.parse().ok()).is_some_and(|length: u64| length > whole) {
        app.meters.upload("too_large");
        return Err(ApiError::too_large(format!("the upload is larger than {most} bytes")));
    }
    // One that says nothing may go on for ever, and the heads of its parts are read into memory.
    let whole = usize::try_from(whole).unwrap_or(usize::MAX);
    let request = request.map(|body| Body::new(http_body_util::Limited::new(body, whole)));
    let mut form = Multipart::from_request(request, &()).await.map_err(|rejection| {
        ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "form", rejection.body_text())
            .hint("send a form: multipart/form-data")
    })?;
    let upload = upload::receive(app, &mut form, most).await.inspect_err(|error| {
        if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
            app.meters.upload("too_large");
        }
    })?;
    let plain = |c: char| c == '_' || c.is_alphanumeric();
    if upload.class.as_ref().is_some_and(|class| class.len() > 100 || !class.chars().all(plain)) {
        return Err(ApiError::invalid("class", "class: this can be no class").hint("write its name alone"));
    }
    Ok(upload)
}

/// The role of a new bot, where the game has some.
fn role(competition: &HostedCompetition, given: Option<&str>) -> ApiResult<Option<String>> {
    let table = agon_engine::table(&competition.game).map_err(ApiError::broke)?;
    let roles: Vec<&str> = table.info().roles.iter().map(|role| role.name).collect();
    match given {
        None if roles.len() > 1 => Err(ApiError::invalid("role", "role: the bot has none")
            .hint(format!("send `role`: {}", roles.join(" or ")))),
        Some(_) if roles.len() < 2 => {
            Err(ApiError::invalid("role", format!("{} has no roles", table.info().title))
                .hint("leave it out"))
        }
        Some(role) if !roles.contains(&role) => Err(ApiError::invalid("role", "role: there is no such role")
            .hint(format!("it is {}", roles.join(" or ")))),
        other => Ok(other.map(str::to_owned)),
    }
}

async fn unpacked(upload: Upload) -> ApiResult<(Upload, uploads::SubmissionMeta)> {
    // An archive is unpacked in memory: two hundred at once would need all there is.
    static ROOM: tokio::sync::Semaphore = tokio::sync::Semaphore::const_new(2);
    let _room = ROOM.acquire().await.map_err(ApiError::broke)?;
    let done = tokio::task::spawn_blocking(move || unpack::unpack(&upload).map(|slip| (upload, slip)));
    done.await.map_err(ApiError::broke)?
}

/// Puts a bot where it stays and queues it. It is acknowledged when it is in the office.
async fn keep(
    app: &AppState,
    me: &CurrentUser,
    entrant: &Entrant,
    upload: &Upload,
    slip: &uploads::SubmissionMeta,
    from_phase: u32,
    while_in: &[site_db::CompetitionState],
) -> ApiResult<site_db::Submission> {
    let below = uploads::folder_of(&entrant.competition, entrant.id, &upload.id);
    let to = app.config.data.join(below);
    let (from, slip) = (upload.folder(), slip.clone());
    let moved = tokio::task::spawn_blocking(move || -> std::io::Result<std::path::PathBuf> {
        std::fs::create_dir_all(to.parent().unwrap_or(&to))?;
        std::fs::rename(from, &to)?;
        slip.write(&to)?;
        Ok(to)
    });
    let to = moved.await.map_err(ApiError::broke)?.map_err(ApiError::broke)?;
    let new = NewSubmission {
        id: upload.id.clone(),
        entrant: entrant.id,
        account: me.account(),
        file: upload.shown(),
        bytes: upload.bytes,
        hash: upload.hash,
        from_phase,
        at: Timestamp::now(),
    };
    match app.office.enqueue(&new, while_in).await {
        Ok(queued) => {
            app.intake.wake();
            Ok(queued)
        }
        Err(error) => {
            let _ = std::fs::remove_dir_all(&to);
            Err(error.into())
        }
    }
}

/// Withdraws a bot before the start: its author, or an organiser.
#[utoipa::path(
    delete, path = "/competitions/{id}/bots/{bot}", tag = "submissions", operation_id = "withdraw_bot",
    params(("id" = String, Path, description = "The competition."), ("bot" = i64, Path, description = "The bot.")),
    responses(
        (status = 204, description = "It takes no part any more; its name is free again."),
        (status = 409, description = "The competition has started.", body = ErrorBody),
    ),
)]
async fn withdraw_bot(
    State(app): State<AppState>,
    caller: Caller,
    Path((id, bot)): Path<(String, i64)>,
) -> ApiResult<StatusCode> {
    let me = caller.signed_in()?;
    let competition = seen(&app, &caller, &id).await?;
    let entrant = entrant(&app, &id, bot).await?;
    if !caller.is(entrant.account.map(|account| account.0)) && !caller.is_organiser() {
        return Err(ApiError::forbidden("only its author or an organiser withdraws a bot"));
    }
    app.office.withdraw(entrant.id, Timestamp::now()).await?;
    super::admin::note(&app, me, "bot.withdraw", &competition.id, &entrant.name, "").await?;
    let _ = crate::runs::entrants::rewrite_file(&app, &competition).await;
    Ok(StatusCode::NO_CONTENT)
}

/// A submission that is the caller's, or an organiser's to see; 404 for everybody else.
async fn own(app: &AppState, caller: &Caller, id: &str) -> ApiResult<site_db::Submission> {
    caller.signed_in()?;
    let none = || ApiError::not_found("submission");
    let found = app.office.submission(&SubmissionId::parse(id).ok_or_else(none)?).await?;
    if caller.is(Some(found.account.0)) || caller.is_organiser() { Ok(found) } else { Err(none()) }
}

/// What became of a submission. Its author's, and organisers'.
#[utoipa::path(
    get, path = "/submissions/{id}", tag = "submissions", operation_id = "submission",
    params(("id" = String, Path, description = "The submission.")),
    responses((status = 200, description = "As it is now.", body = Submission)),
)]
async fn submission(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> ApiResult<Json<Submission>> {
    let found = own(&app, &caller, &id).await?;
    Ok(Json(shown(&app, &found).await?))
}

/// The film of a game a submission was tried in, with what the bot printed. Its author's, and organisers'.
#[utoipa::path(
    get, path = "/submissions/{id}/trials/{n}", tag = "submissions", operation_id = "trial",
    params(("id" = String, Path, description = "The submission."), ("n" = u32, Path, description = "Which game, from 1.")),
    responses((status = 200, description = "A film (docs/film.md).", body = Object, content_type = "application/json")),
)]
async fn trial(
    State(app): State<AppState>,
    caller: Caller,
    Path((id, n)): Path<(String, u32)>,
) -> ApiResult<Response> {
    let found = own(&app, &caller, &id).await?;
    let game = app.office.competition(&found.competition).await?.game;
    let none = || ApiError::not_found("trial");
    let index = (n as usize).checked_sub(1).ok_or_else(none)?;
    let bytes = app.office.trials(&found.id).await?.into_iter().nth(index).ok_or_else(none)?;
    let below = uploads::folder_of(&found.competition, found.entrant, &found.id);
    let logs = app.config.data.join(below).with_extension("logs");
    let film = tokio::task::spawn_blocking(move || film(&game, &bytes, &logs, index));
    let film = film.await.map_err(ApiError::broke)??;
    Ok(([(header::CONTENT_TYPE, "application/json")], film).into_response())
}

fn film(game: &str, bytes: &[u8], logs: &std::path::Path, index: usize) -> ApiResult<Vec<u8>> {
    use agon_engine::film::json::{Extras, LogLine, to_json};
    let table = agon_engine::table(game).map_err(ApiError::broke)?;
    let (record, _) = agon_core::record::read(bytes, 1).map_err(ApiError::broke)?;
    let film = table.film(record, &agon_core::Assets::none()).map_err(ApiError::broke)?;
    let line = |line: &serde_json::Value| {
        let (turn, seat) = (line["turn"].as_u64()? as u32, line["seat"].as_u64()? as u8);
        Some(LogLine { turn, seat: agon_core::Seat(seat), text: line["text"].as_str()?.to_owned() })
    };
    let kept = std::fs::read(logs).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let kept: serde_json::Value = kept.unwrap_or_default();
    let lines = kept[index].as_array().into_iter().flatten().filter_map(line).collect();
    let extras = Extras { logs: lines, ..Extras::default() };
    serde_json::to_vec(&to_json(table.info(), film.as_ref(), &extras)).map_err(ApiError::broke)
}

/// As clients get it.
pub async fn shown(app: &AppState, one: &site_db::Submission) -> ApiResult<Submission> {
    let entrant = app.office.entrant(one.entrant).await?;
    let by = app.office.account(one.account).await?.name;
    let queued = one.state == site_db::SubmissionState::Queued;
    let waiting = if queued { app.office.count_before(&one.id).await? } else { 0 };
    let trials = if one.finished.is_some() { app.office.count_trials(&one.id).await? } else { 0 };
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

/// The latest submissions of an account, newest first: at most so many hundreds.
pub async fn latest_of(app: &AppState, me: &CurrentUser) -> ApiResult<Vec<site_db::Submission>> {
    let mut all = Vec::new();
    let mut page = OfficePage { after: None, limit: 200 };
    for _ in 0..5 {
        let listed = app.office.submissions(SubmissionFilter::Account(me.account()), page).await?;
        all.extend(listed.items);
        match listed.next {
            Some(after) => page.after = Some(after),
            None => break,
        }
    }
    Ok(all)
}
