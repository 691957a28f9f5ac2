//! Webhooks of the caller: requests to a program of theirs when something happens.

use agon_site_db::{NewWebhook, SecretString, Webhook};
use agon_store::Timestamp;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::submissions::find_visible;
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path};
use crate::middleware::cookie;
use crate::notify::webhooks::check_url;
use crate::paging::PageBody;
use crate::state::AppState;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(my_webhooks, create_webhook))
        .routes(routes!(delete_webhook))
        .routes(routes!(enable_webhook))
        .routes(routes!(test_webhook))
}

/// A webhook.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebhookBody {
    /// Id.
    pub id: i64,
    /// URL that gets the requests.
    pub url: String,
    /// Competition whose events it gets; null for the caller's notifications.
    pub competition: Option<String>,
    /// Key of the signatures; only in the response that creates it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// When it was created.
    pub created: i64,
    /// Number of failed requests in a row.
    pub failures: u32,
    /// Why the last request failed.
    pub last_error: Option<String>,
    /// Whether it is disabled, after too many failures.
    pub disabled: bool,
}

impl From<Webhook> for WebhookBody {
    fn from(one: Webhook) -> Self {
        Self {
            id: one.id,
            url: one.url,
            competition: one.competition,
            secret: None,
            created: one.created.0,
            failures: one.failures,
            last_error: one.last_error,
            disabled: one.disabled.is_some(),
        }
    }
}

/// A webhook to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewWebhookBody {
    /// URL that gets the requests, beginning with `https://`.
    #[schema(max_length = 500)]
    url: String,
    /// A competition, to get its events instead of the caller's notifications. For organisers.
    competition: Option<String>,
}

/// The caller's webhooks.
#[utoipa::path(
    get, path = "/me/webhooks", tag = "people", operation_id = "my_webhooks",
    responses(
        (status = 200, description = "All webhooks of the caller.", body = PageBody<WebhookBody>),
        (status = 403, description = "The caller used an API token.", body = ErrorBody),
    ),
)]
async fn my_webhooks(State(app): State<AppState>, caller: Caller) -> ApiResult<Json<PageBody<WebhookBody>>> {
    let me = caller.with_session()?;
    let all = app.site_db.webhooks_of(me.account()).await?;
    Ok(Json(PageBody { items: all.into_iter().map(WebhookBody::from).collect(), next: None }))
}

/// Creates a webhook. The response has the key of its signatures.
#[utoipa::path(
    post, path = "/me/webhooks", tag = "people", operation_id = "create_webhook", request_body = NewWebhookBody,
    responses(
        (status = 201, description = "Created.", body = WebhookBody),
        (status = 403, description = "Only organisers can have webhooks of competitions.", body = ErrorBody),
        (status = 404, description = "There is no such competition.", body = ErrorBody),
        (status = 409, description = "There are too many webhooks.", body = ErrorBody),
        (status = 422, description = "The URL is not allowed.", body = ErrorBody),
    ),
)]
async fn create_webhook(
    State(app): State<AppState>,
    caller: Caller,
    Json(body): Json<NewWebhookBody>,
) -> ApiResult<(StatusCode, Json<WebhookBody>)> {
    let me = caller.with_session()?;
    check_url(&app, &body.url)?;
    if let Some(competition) = &body.competition {
        caller.organiser()?;
        find_visible(&app, &caller, competition).await?;
    }
    let secret = cookie::random_secret()?;
    let new = NewWebhook {
        account: me.account(),
        competition: body.competition,
        url: body.url,
        secret: SecretString::new(secret.clone()),
        at: Timestamp::now(),
    };
    let made = app.site_db.create_webhook(&new).await?;
    Ok((StatusCode::CREATED, Json(WebhookBody { secret: Some(secret), ..made.into() })))
}

/// Removes a webhook.
#[utoipa::path(
    delete, path = "/me/webhooks/{id}", tag = "people", operation_id = "delete_webhook",
    params(("id" = i64, Path, description = "The webhook.")),
    responses((status = 204, description = "Removed."), (status = 404, description = "There is no such webhook.", body = ErrorBody)),
)]
async fn delete_webhook(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<i64>,
) -> ApiResult<StatusCode> {
    app.site_db.delete_webhook(caller.with_session()?.account(), id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Enables a webhook that was disabled after too many failures.
#[utoipa::path(
    post, path = "/me/webhooks/{id}/enable", tag = "people", operation_id = "enable_webhook",
    params(("id" = i64, Path, description = "The webhook.")),
    responses(
        (status = 200, description = "Enabled.", body = WebhookBody),
        (status = 404, description = "There is no such webhook.", body = ErrorBody),
    ),
)]
async fn enable_webhook(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<i64>,
) -> ApiResult<Json<WebhookBody>> {
    let me = caller.with_session()?;
    Ok(Json(app.site_db.enable_webhook(me.account(), id).await?.into()))
}

/// Sends a request to a webhook, to try it.
#[utoipa::path(
    post, path = "/me/webhooks/{id}/test", tag = "people", operation_id = "test_webhook",
    params(("id" = i64, Path, description = "The webhook.")),
    responses(
        (status = 202, description = "The request is queued; the webhook shows whether it failed."),
        (status = 404, description = "There is no such webhook, or it is disabled.", body = ErrorBody),
    ),
)]
async fn test_webhook(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<i64>,
) -> ApiResult<StatusCode> {
    let me = caller.with_session()?;
    let now = Timestamp::now();
    let body = serde_json::json!({
        "event": "test",
        "text": format!("{} tests this webhook.", me.name),
        "link": format!("{}/me/notifications", app.config.url()),
        "at": now.0,
    });
    app.site_db.queue_test_delivery(me.account(), id, &body.to_string(), now).await.map_err(|error| {
        match error {
            agon_site_db::SiteDbError::NotFound { .. } => ApiError::not_found("enabled webhook"),
            other => other.into(),
        }
    })?;
    app.notify.wake_deliveries();
    Ok(StatusCode::ACCEPTED)
}
