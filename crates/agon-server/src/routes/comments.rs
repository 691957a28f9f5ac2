//! Comments on competitions, bots and games.

use agon_site_db::{Comment, NewComment, NotificationKind};
use agon_store::Timestamp;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::admin::append_audit;
use super::matches::GameLookup;
use super::submissions::find_visible;
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path, Query};
use crate::middleware::rate_limit::{LimitKey, LimitedAction};
use crate::notify::{self, Notice};
use crate::paging::{PageBody, PageQuery};
use crate::read_model::VisibleCompetition;
use crate::state::AppState;

/// Setting that switches off all comments of the site.
const SITE_SETTING: &str = "comments.off";

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(comments, add_comment))
        .routes(routes!(switch_comments))
        .routes(routes!(edit_comment, delete_comment))
        .routes(routes!(report_comment))
        .routes(routes!(hide_comment, show_comment))
        .routes(routes!(reported_comments))
        .routes(routes!(comment_site_settings, switch_site_comments))
}

/// Selects the comments on one subject.
#[derive(Clone, Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CommentQuery {
    /// What the comments are about: left out for the competition, `bot/ID`, or `game/PHASE/MATCH/GAME`.
    pub subject: Option<String>,
    /// `next` of the previous page.
    pub after: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
}

/// A comment.
#[derive(Debug, Serialize, ToSchema)]
pub struct CommentItem {
    /// Id.
    pub id: i64,
    /// Id of the competition.
    pub competition: String,
    /// What it is about.
    pub subject: String,
    /// Name of the author.
    pub author: String,
    /// Whether the caller wrote it.
    pub mine: bool,
    /// Comment that it answers.
    pub parent: Option<i64>,
    /// Plain text; empty if it is deleted, or hidden from the caller.
    pub text: String,
    /// When it was written.
    pub at: i64,
    /// When it was last edited.
    pub edited: Option<i64>,
    /// Whether its author deleted it.
    pub deleted: bool,
    /// Why an organiser hid it, if one did.
    pub hidden: Option<String>,
    /// Number of open reports, for organisers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reports: Option<u32>,
    /// Reasons of the open reports, in the list for organisers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

/// Comments on a subject.
#[derive(Debug, Serialize, ToSchema)]
pub struct CommentPage {
    /// Whether there can be new comments.
    pub open: bool,
    /// Comments, newest first.
    pub items: Vec<CommentItem>,
    /// Value of `after` for the next page; null at the end.
    pub next: Option<String>,
}

/// A comment to write.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCommentBody {
    /// What it is about: left out for the competition, `bot/ID`, or `game/PHASE/MATCH/GAME`.
    subject: Option<String>,
    /// Plain text.
    #[schema(min_length = 1, max_length = 2000)]
    text: String,
    /// Comment that it answers.
    parent: Option<i64>,
}

/// The text of a comment.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CommentText {
    /// Plain text.
    #[schema(min_length = 1, max_length = 2000)]
    text: String,
}

/// A reason.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CommentReason {
    /// One line.
    #[schema(min_length = 1, max_length = 300)]
    reason: String,
}

/// Whether comments are on.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CommentSwitch {
    /// Whether they are on.
    on: bool,
}

fn item(one: Comment, caller: &Caller) -> CommentItem {
    let mine = caller.is_account(Some(one.comment.account.0));
    let (deleted, is_hidden) = (one.deleted.is_some(), one.hidden.is_some());
    let shows_text = !deleted && (!is_hidden || mine || caller.is_organiser());
    CommentItem {
        id: one.id,
        competition: one.comment.competition,
        subject: one.comment.subject,
        author: one.author,
        mine,
        parent: one.comment.parent,
        text: if shows_text { one.comment.text } else { String::new() },
        at: one.comment.at.0,
        edited: one.edited.map(|at| at.0),
        deleted,
        hidden: one.reason.filter(|_| is_hidden),
        reports: caller.is_organiser().then_some(one.reports),
        reasons: Vec::new(),
    }
}

async fn is_site_on(app: &AppState) -> ApiResult<bool> {
    Ok(app.site_db.setting(SITE_SETTING).await?.is_none())
}

async fn is_open(app: &AppState, competition: &str) -> ApiResult<bool> {
    Ok(is_site_on(app).await? && app.site_db.has_comments(competition).await?)
}

/// Checks that the subject exists and that the caller may see it. Returns its normal form.
async fn check_subject(
    app: &AppState,
    visible: &VisibleCompetition,
    subject: Option<&str>,
) -> ApiResult<String> {
    let unknown = || ApiError::invalid("subject", "subject: it must be `bot/ID` or `game/PHASE/MATCH/GAME`");
    let Some(subject) = subject.filter(|subject| !subject.is_empty()) else { return Ok(String::new()) };
    let parts: Vec<&str> = subject.split('/').collect();
    match parts.as_slice() {
        ["bot", bot] => {
            let bot: i64 = bot.parse().map_err(|_| unknown())?;
            let overview = visible.overview(app).await?;
            if !overview.entrant_owners.iter().any(|one| one.body.bot == bot) {
                return Err(ApiError::not_found("bot"));
            }
            Ok(format!("bot/{bot}"))
        }
        ["game", phase, name, game] => {
            let (phase, game) = (phase.parse().map_err(|_| unknown())?, game.parse().map_err(|_| unknown())?);
            let lookup = GameLookup::find(app, visible, phase, name, game).await?;
            lookup.check_visible()?;
            Ok(format!("game/{phase}/{name}/{game}"))
        }
        _ => Err(unknown()),
    }
}

/// Page of a subject.
fn link(competition: &str, subject: &str) -> String {
    let parts: Vec<&str> = subject.split('/').collect();
    match parts.as_slice() {
        ["bot", bot] => format!("/c/{competition}/bots/{bot}"),
        ["game", phase, name, game] => format!("/c/{competition}/p/{phase}/m/{name}/g/{game}"),
        _ => format!("/c/{competition}"),
    }
}

/// Comments on a competition, a bot or a game, newest first.
#[utoipa::path(
    get, path = "/competitions/{id}/comments", tag = "people", operation_id = "comments",
    params(("id" = String, Path, description = "The competition."), CommentQuery),
    responses(
        (status = 200, description = "A page of comments.", body = CommentPage),
        (status = 403, description = "The games of this phase are hidden until the competition ends (code `hidden`).", body = ErrorBody),
        (status = 409, description = "The competition has not started, so it has no games.", body = ErrorBody),
        (status = 422, description = "The subject is not valid.", body = ErrorBody),
    ),
)]
async fn comments(
    State(app): State<AppState>,
    visible: VisibleCompetition,
    caller: Caller,
    Query(query): Query<CommentQuery>,
) -> ApiResult<Json<CommentPage>> {
    let subject = check_subject(&app, &visible, query.subject.as_deref()).await?;
    let paging = PageQuery { after: query.after, limit: query.limit };
    let id = &visible.handle.id;
    let open = is_open(&app, id).await?;
    if !open && !caller.is_organiser() {
        return Ok(Json(CommentPage { open, items: Vec::new(), next: None }));
    }
    let listed = app.site_db.comments(id, &subject, paging.site_page()?).await?;
    let items = listed.items.into_iter().map(|one| item(one, &caller)).collect();
    Ok(Json(CommentPage { open, items, next: listed.next.map(|next| next.to_string()) }))
}

/// Writes a comment.
#[utoipa::path(
    post, path = "/competitions/{id}/comments", tag = "people", operation_id = "add_comment", request_body = NewCommentBody,
    params(("id" = String, Path, description = "The competition.")),
    responses(
        (status = 201, description = "The comment.", body = CommentItem),
        (status = 409, description = "Comments are switched off here, or there are too many.", body = ErrorBody),
        (status = 422, description = "The text or the subject is not valid.", body = ErrorBody),
    ),
)]
async fn add_comment(
    State(app): State<AppState>,
    visible: VisibleCompetition,
    caller: Caller,
    Json(body): Json<NewCommentBody>,
) -> ApiResult<(StatusCode, Json<CommentItem>)> {
    let me = caller.signed_in()?;
    let subject = check_subject(&app, &visible, body.subject.as_deref()).await?;
    if !is_site_on(&app).await? {
        return Err(ApiError::conflict("off", "comments are switched off on this site"));
    }
    app.limiter.take(LimitedAction::Comment, LimitKey::Account(me.id))?;
    let new = NewComment {
        competition: visible.handle.id.clone(),
        subject,
        account: me.account(),
        parent: body.parent,
        text: body.text,
        at: Timestamp::now(),
    };
    let made = app.site_db.add_comment(&new).await?;
    tell_parent(&app, &visible, &made, body.parent).await?;
    Ok((StatusCode::CREATED, Json(item(made, &caller))))
}

/// Tells the author of the answered comment.
async fn tell_parent(
    app: &AppState,
    visible: &VisibleCompetition,
    made: &Comment,
    parent: Option<i64>,
) -> ApiResult<()> {
    let Some(parent) = parent else { return Ok(()) };
    let answered = app.site_db.comment(parent).await?;
    if answered.comment.account == made.comment.account {
        return Ok(());
    }
    let notice = Notice {
        kind: NotificationKind::CommentReply,
        topic: format!("comment/{parent}"),
        link: link(&visible.handle.id, &made.comment.subject),
        text: format!("{} answered your comment in {}.", made.author, visible.site_row.name),
    };
    notify::send(app, answered.comment.account, &notice).await;
    Ok(())
}

/// Switches the comments of a competition on or off. For organisers.
#[utoipa::path(
    put, path = "/competitions/{id}/comments", tag = "people", operation_id = "switch_comments", request_body = CommentSwitch,
    params(("id" = String, Path, description = "The competition.")),
    responses((status = 200, description = "The switch now.", body = CommentSwitch)),
)]
async fn switch_comments(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    Json(body): Json<CommentSwitch>,
) -> ApiResult<Json<CommentSwitch>> {
    let me = caller.organiser()?;
    let competition = find_visible(&app, &caller, &id).await?;
    app.site_db.switch_comments(&competition.id, body.on).await?;
    append_audit(&app, me, "comments.switch", &id, if body.on { "on" } else { "off" }, "").await?;
    Ok(Json(body))
}

/// A comment in a competition that the caller may see, or 404.
async fn find_comment(app: &AppState, caller: &Caller, id: i64) -> ApiResult<Comment> {
    let found = app.site_db.comment(id).await?;
    find_visible(app, caller, &found.comment.competition)
        .await
        .map_err(|_| ApiError::not_found("comment"))?;
    Ok(found)
}

/// Changes the text of a comment. For its author.
#[utoipa::path(
    patch, path = "/comments/{id}", tag = "people", operation_id = "edit_comment", request_body = CommentText,
    params(("id" = i64, Path, description = "The comment.")),
    responses(
        (status = 200, description = "The comment now.", body = CommentItem),
        (status = 403, description = "The comment is not the caller's.", body = ErrorBody),
        (status = 404, description = "There is no such comment.", body = ErrorBody),
        (status = 409, description = "An organiser has hidden the comment.", body = ErrorBody),
        (status = 422, description = "The text is not valid.", body = ErrorBody),
    ),
)]
async fn edit_comment(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<i64>,
    Json(body): Json<CommentText>,
) -> ApiResult<Json<CommentItem>> {
    let me = caller.signed_in()?;
    let found = find_comment(&app, &caller, id).await?;
    check_own(&caller, &found)?;
    app.limiter.take(LimitedAction::Comment, LimitKey::Account(me.id))?;
    let changed = app.site_db.edit_comment(id, me.account(), &body.text, Timestamp::now()).await?;
    Ok(Json(item(changed, &caller)))
}

fn check_own(caller: &Caller, found: &Comment) -> ApiResult<()> {
    if caller.is_account(Some(found.comment.account.0)) {
        return Ok(());
    }
    Err(ApiError::forbidden("only the author of a comment can change it"))
}

/// Deletes a comment. For its author. Its text is gone; answers stay.
#[utoipa::path(
    delete, path = "/comments/{id}", tag = "people", operation_id = "delete_comment",
    params(("id" = i64, Path, description = "The comment.")),
    responses(
        (status = 204, description = "Deleted."),
        (status = 403, description = "The comment is not the caller's.", body = ErrorBody),
        (status = 404, description = "There is no such comment.", body = ErrorBody),
    ),
)]
async fn delete_comment(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<i64>,
) -> ApiResult<StatusCode> {
    let me = caller.signed_in()?;
    let found = find_comment(&app, &caller, id).await?;
    check_own(&caller, &found)?;
    app.site_db.delete_comment(id, me.account(), Timestamp::now()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Reports a comment to the organisers.
#[utoipa::path(
    post, path = "/comments/{id}/reports", tag = "people", operation_id = "report_comment", request_body = CommentReason,
    params(("id" = i64, Path, description = "The comment.")),
    responses(
        (status = 204, description = "Reported."),
        (status = 404, description = "There is no such comment.", body = ErrorBody),
        (status = 409, description = "The comment is the caller's own.", body = ErrorBody),
        (status = 422, description = "The reason is not valid.", body = ErrorBody),
    ),
)]
async fn report_comment(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<i64>,
    Json(body): Json<CommentReason>,
) -> ApiResult<StatusCode> {
    let me = caller.signed_in()?;
    find_comment(&app, &caller, id).await?;
    app.limiter.take(LimitedAction::Comment, LimitKey::Account(me.id))?;
    app.site_db.report_comment(id, me.account(), body.reason.trim(), Timestamp::now()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Hides a comment for a reason, which is shown in its place. For organisers. Settles its reports.
#[utoipa::path(
    put, path = "/comments/{id}/hidden", tag = "people", operation_id = "hide_comment", request_body = CommentReason,
    params(("id" = i64, Path, description = "The comment.")),
    responses(
        (status = 200, description = "The comment now.", body = CommentItem),
        (status = 404, description = "There is no such comment.", body = ErrorBody),
        (status = 422, description = "The reason is not valid.", body = ErrorBody),
    ),
)]
async fn hide_comment(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<i64>,
    Json(body): Json<CommentReason>,
) -> ApiResult<Json<CommentItem>> {
    set_hidden(&app, &caller, id, Some(body.reason.trim())).await
}

/// Shows a hidden comment again, and settles its reports. For organisers.
#[utoipa::path(
    delete, path = "/comments/{id}/hidden", tag = "people", operation_id = "show_comment",
    params(("id" = i64, Path, description = "The comment.")),
    responses(
        (status = 200, description = "The comment now.", body = CommentItem),
        (status = 404, description = "There is no such comment.", body = ErrorBody),
    ),
)]
async fn show_comment(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<i64>,
) -> ApiResult<Json<CommentItem>> {
    set_hidden(&app, &caller, id, None).await
}

async fn set_hidden(
    app: &AppState,
    caller: &Caller,
    id: i64,
    reason: Option<&str>,
) -> ApiResult<Json<CommentItem>> {
    let me = caller.organiser()?;
    let changed = app.site_db.hide_comment(id, me.account(), reason, Timestamp::now()).await?;
    let action = if reason.is_some() { "comment.hide" } else { "comment.show" };
    let subject = format!("{id} by {}", changed.author);
    append_audit(app, me, action, &changed.comment.competition, &subject, reason.unwrap_or_default()).await?;
    Ok(Json(item(changed, caller)))
}

/// Comments with open reports, newest first. For organisers.
#[utoipa::path(
    get, path = "/comments/reported", tag = "people", operation_id = "reported_comments", params(PageQuery),
    responses(
        (status = 200, description = "A page of comments.", body = PageBody<CommentItem>),
        (status = 403, description = "Only for organisers.", body = ErrorBody),
    ),
)]
async fn reported_comments(
    State(app): State<AppState>,
    caller: Caller,
    Query(paging): Query<PageQuery>,
) -> ApiResult<Json<PageBody<CommentItem>>> {
    caller.organiser()?;
    let listed = app.site_db.reported_comments(paging.site_page()?).await?;
    let mut items = Vec::with_capacity(listed.items.len());
    for one in listed.items {
        let reasons = app.site_db.report_reasons(one.id).await?;
        items.push(CommentItem { reasons, ..item(one, &caller) });
    }
    Ok(Json(PageBody::from_site_page(items, listed.next)))
}

/// Whether the site has comments. For organisers.
#[utoipa::path(
    get, path = "/admin/comments", tag = "people", operation_id = "comment_site_settings",
    responses(
        (status = 200, description = "The switch.", body = CommentSwitch),
        (status = 403, description = "Only for organisers.", body = ErrorBody),
    ),
)]
async fn comment_site_settings(
    State(app): State<AppState>,
    caller: Caller,
) -> ApiResult<Json<CommentSwitch>> {
    caller.organiser()?;
    Ok(Json(CommentSwitch { on: is_site_on(&app).await? }))
}

/// Switches all comments of the site on or off. For organisers.
#[utoipa::path(
    put, path = "/admin/comments", tag = "people", operation_id = "switch_site_comments", request_body = CommentSwitch,
    responses((status = 200, description = "The switch now.", body = CommentSwitch)),
)]
async fn switch_site_comments(
    State(app): State<AppState>,
    caller: Caller,
    Json(body): Json<CommentSwitch>,
) -> ApiResult<Json<CommentSwitch>> {
    let me = caller.organiser()?;
    app.site_db.set_setting(SITE_SETTING, (!body.on).then_some("off")).await?;
    let detail = serde_json::json!({"on": body.on});
    super::audit::append_audit(&app, me, "comments.site", "comments", &detail).await?;
    Ok(Json(body))
}
