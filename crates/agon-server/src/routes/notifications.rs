//! The caller's notifications, and by which channels they come.

use agon_site_db::{ChannelChoice, NotificationChannel, NotificationKind};
use agon_store::Timestamp;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Query};
use crate::paging::{PageBody, PageQuery};
use crate::state::AppState;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(my_notifications))
        .routes(routes!(unread_notifications))
        .routes(routes!(read_notifications))
        .routes(routes!(notification_settings, set_notification_settings))
}

/// A notification.
#[derive(Debug, Serialize, ToSchema)]
pub struct NotificationItem {
    /// Id.
    pub id: i64,
    /// `check_done`, `overtaken`, `crashed`, `phase_begins`, `comment_reply`, `team_invitation` or `challenge_done`.
    pub kind: &'static str,
    /// One sentence.
    pub text: String,
    /// Path of this site with more about it.
    pub link: String,
    /// When it happened.
    pub at: i64,
    /// Whether the caller has read it.
    pub read: bool,
}

/// The caller's notifications, newest first.
#[utoipa::path(
    get, path = "/me/notifications", tag = "people", operation_id = "my_notifications", params(PageQuery),
    responses((status = 200, description = "A page of notifications.", body = PageBody<NotificationItem>)),
)]
async fn my_notifications(
    State(app): State<AppState>,
    caller: Caller,
    Query(paging): Query<PageQuery>,
) -> ApiResult<Json<PageBody<NotificationItem>>> {
    let me = caller.signed_in()?;
    let listed = app.site_db.notifications(me.account(), paging.site_page()?).await?;
    let items = listed.items.into_iter().map(|one| NotificationItem {
        id: one.id,
        kind: one.kind.name(),
        text: one.text,
        link: one.link,
        at: one.created.0,
        read: one.read.is_some(),
    });
    Ok(Json(PageBody::from_site_page(items.collect(), listed.next)))
}

/// Number of notifications that the caller has not read.
#[derive(Debug, Serialize, ToSchema)]
pub struct UnreadCount {
    /// The number.
    pub unread: u64,
}

/// Number of notifications that the caller has not read.
#[utoipa::path(
    get, path = "/me/notifications/unread", tag = "people", operation_id = "unread_notifications",
    responses((status = 200, description = "The number.", body = UnreadCount)),
)]
async fn unread_notifications(State(app): State<AppState>, caller: Caller) -> ApiResult<Json<UnreadCount>> {
    let unread = app.site_db.count_unread(caller.signed_in()?.account()).await?;
    Ok(Json(UnreadCount { unread }))
}

/// Which notifications were read.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadBody {
    /// All notifications up to this one.
    up_to: Option<i64>,
    /// Only this one.
    only: Option<i64>,
}

/// Marks notifications as read.
#[utoipa::path(
    post, path = "/me/notifications/read", tag = "people", operation_id = "read_notifications", request_body = ReadBody,
    responses(
        (status = 200, description = "The number that is left.", body = UnreadCount),
        (status = 422, description = "Neither or both fields are given.", body = ErrorBody),
    ),
)]
async fn read_notifications(
    State(app): State<AppState>,
    caller: Caller,
    Json(body): Json<ReadBody>,
) -> ApiResult<Json<UnreadCount>> {
    let me = caller.signed_in()?;
    let (id, only) = match (body.up_to, body.only) {
        (Some(id), None) => (id, false),
        (None, Some(id)) => (id, true),
        _ => return Err(ApiError::invalid("up_to", "send either `up_to` or `only`")),
    };
    app.site_db.mark_read(me.account(), id, only, Timestamp::now()).await?;
    Ok(Json(UnreadCount { unread: app.site_db.count_unread(me.account()).await? }))
}

/// Whether one kind of notification comes by one channel.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChannelSetting {
    /// The kind.
    #[schema(
        pattern = "^(check_done|overtaken|crashed|phase_begins|comment_reply|team_invitation|challenge_done)$"
    )]
    kind: String,
    /// `site`, `mail` or `webhook`.
    #[schema(pattern = "^(site|mail|webhook)$")]
    channel: String,
    /// Whether it comes.
    enabled: bool,
}

/// Settings of all kinds and channels.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChannelSettings {
    /// One entry for each kind and channel. A change can leave out entries.
    #[schema(max_items = 50)]
    settings: Vec<ChannelSetting>,
}

async fn settings_body(app: &AppState, caller: &Caller) -> ApiResult<Json<ChannelSettings>> {
    let choices = app.site_db.channel_choices(caller.signed_in()?.account()).await?;
    let setting = |(kind, channel, enabled): ChannelChoice| ChannelSetting {
        kind: kind.name().to_owned(),
        channel: channel.name().to_owned(),
        enabled,
    };
    Ok(Json(ChannelSettings { settings: choices.into_iter().map(setting).collect() }))
}

/// By which channels the caller gets which notifications.
#[utoipa::path(
    get, path = "/me/notifications/settings", tag = "people", operation_id = "notification_settings",
    responses((status = 200, description = "All settings.", body = ChannelSettings)),
)]
async fn notification_settings(
    State(app): State<AppState>,
    caller: Caller,
) -> ApiResult<Json<ChannelSettings>> {
    settings_body(&app, &caller).await
}

/// Changes settings. Those that are left out stay.
#[utoipa::path(
    put, path = "/me/notifications/settings", tag = "people", operation_id = "set_notification_settings", request_body = ChannelSettings,
    responses(
        (status = 200, description = "All settings now.", body = ChannelSettings),
        (status = 422, description = "A kind or channel does not exist.", body = ErrorBody),
    ),
)]
async fn set_notification_settings(
    State(app): State<AppState>,
    caller: Caller,
    Json(body): Json<ChannelSettings>,
) -> ApiResult<Json<ChannelSettings>> {
    let me = caller.signed_in()?;
    let mut choices: Vec<ChannelChoice> = Vec::new();
    for one in body.settings.iter().take(50) {
        let kind = NotificationKind::by_name(&one.kind)
            .ok_or_else(|| ApiError::invalid("kind", format!("there is no kind `{}`", one.kind)))?;
        let channel = NotificationChannel::by_name(&one.channel)
            .ok_or_else(|| ApiError::invalid("channel", format!("there is no channel `{}`", one.channel)))?;
        choices.push((kind, channel, one.enabled));
    }
    app.site_db.set_channel_choices(me.account(), &choices).await?;
    settings_body(&app, &caller).await
}
