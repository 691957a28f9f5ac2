//! New passwords by link: sent by mail, or created by an organiser.

use std::time::Duration;

use agon_site_db::{Account, AccountId, LinkPurpose, NewAccountLink, Role, token_hash};
use agon_store::Timestamp;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::audit;
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path};
use crate::middleware::ClientIp;
use crate::middleware::cookie;
use crate::middleware::rate_limit::{LimitKey, LimitedAction};
use crate::notify::mail;
use crate::passwords::{self, HashFor};
use crate::state::AppState;

/// Time in which a link for a new password works.
const RESET_TIMEOUT: Duration = Duration::from_hours(1);

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(request_password_reset))
        .routes(routes!(use_password_reset))
        .routes(routes!(create_password_reset))
}

/// A request for a link.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PasswordResetRequest {
    /// Name of the account, or its verified e-mail address.
    #[schema(max_length = 254)]
    account: String,
}

/// Sends a link for a new password to the verified address of an account. The response is the same whether or not there is one.
#[utoipa::path(
    post, path = "/password-resets", tag = "people", operation_id = "request_password_reset", request_body = PasswordResetRequest,
    responses(
        (status = 202, description = "If the account exists and has a verified address, a link is on its way."),
        (status = 409, description = "This site sends no mails (code `no_mail`).", body = ErrorBody),
    ),
)]
async fn request_password_reset(
    State(app): State<AppState>,
    ClientIp(address): ClientIp,
    Json(body): Json<PasswordResetRequest>,
) -> ApiResult<StatusCode> {
    if app.config.mail.is_none() {
        return Err(mail::no_mail_error());
    }
    app.limiter.take(LimitedAction::MailLink, LimitKey::address(address))?;
    let text = body.account.trim().to_owned();
    // Not awaited, so that the time of the response tells nothing about the account.
    tokio::spawn(async move {
        if let Err(error) = send_links(&app, &text).await {
            tracing::warn!(error = error.message(), "a link for a new password was not sent");
        }
    });
    Ok(StatusCode::ACCEPTED)
}

async fn send_links(app: &AppState, text: &str) -> ApiResult<()> {
    let by_name = app.site_db.account_by_name(text).await?.filter(|account| account.disabled.is_none());
    let accounts = match by_name {
        Some(account) => vec![account],
        None => app.site_db.accounts_with_mail(text).await?,
    };
    for account in accounts {
        let Some(address) =
            app.site_db.mail_address(account.id).await?.filter(|mail| mail.verified.is_some())
        else {
            continue;
        };
        // For each account, so that one cannot fill the mailbox of another from many addresses.
        if app.limiter.take(LimitedAction::MailLink, LimitKey::Account(account.id.0)).is_err() {
            continue;
        }
        let link = new_link(app, &account).await?;
        let body = format!(
            "Someone asked for a new password for the account {} of {}. Open this link within an hour to choose one:\n\n{link}\n\nIf it was not you, ignore this mail: the password stays as it is.\n",
            account.name, app.config.name,
        );
        mail::queue_link(app, account.id, &address.address, "Choose a new password", body).await?;
    }
    Ok(())
}

/// Creates a link and returns its address.
async fn new_link(app: &AppState, account: &Account) -> ApiResult<String> {
    let (code, now) = (cookie::random_secret()?, Timestamp::now());
    let link = NewAccountLink {
        code: token_hash(&code),
        account: account.id,
        purpose: LinkPurpose::ResetPassword,
        address: None,
        expires: Timestamp(now.0 + RESET_TIMEOUT.as_millis() as i64),
        at: now,
    };
    app.site_db.create_account_link(&link).await?;
    Ok(format!("{}/reset-password/{code}", app.config.url()))
}

/// A new password.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPasswordBody {
    /// The code of the link.
    code: String,
    /// The new password: 10 to 200 characters.
    #[schema(format = Password, min_length = 10, max_length = 200)]
    password: String,
}

/// Sets a new password with the code of a link. The link is used up, and all sessions of the account end.
#[utoipa::path(
    post, path = "/password-resets/use", tag = "people", operation_id = "use_password_reset", request_body = NewPasswordBody,
    responses(
        (status = 204, description = "The password is changed. Sign in with it."),
        (status = 404, description = "The link was used or has expired.", body = ErrorBody),
        (status = 422, description = "The password is too short.", body = ErrorBody),
    ),
)]
async fn use_password_reset(
    State(app): State<AppState>,
    ClientIp(address): ClientIp,
    Json(body): Json<NewPasswordBody>,
) -> ApiResult<StatusCode> {
    app.limiter.take(LimitedAction::MailLink, LimitKey::address(address))?;
    let (code, now) = (token_hash(&body.code), Timestamp::now());
    let unusable = |error: agon_site_db::SiteDbError| match ApiError::from(error) {
        error if error.status() == StatusCode::NOT_FOUND => {
            ApiError::not_found("link").hint("it was used or has expired; ask for a new one")
        }
        error => error,
    };
    // Checked before the slow hash.
    let account =
        app.site_db.account_of_link(code, LinkPurpose::ResetPassword, now).await.map_err(unusable)?;
    let account = app.site_db.account(account).await?;
    passwords::check("password", &account.name, &body.password)?;
    let hash = app.passwords.hash(HashFor::Stranger, body.password).await?;
    app.site_db.reset_password(code, &hash, now).await.map_err(unusable)?;
    tracing::info!(account = %account.id, "password changed with a link");
    Ok(StatusCode::NO_CONTENT)
}

/// A link for a new password.
#[derive(Debug, Serialize, ToSchema)]
pub struct PasswordResetLink {
    /// Address to give to the owner of the account. It is shown only once.
    pub link: String,
    /// When it expires.
    pub expires: i64,
}

/// Creates a link for a new password, to give to the owner of the account. For organisers.
#[utoipa::path(
    post, path = "/accounts/{id}/password-reset", tag = "people", operation_id = "create_password_reset",
    params(("id" = i64, Path, description = "The account.")),
    responses(
        (status = 201, description = "The link. It works once, for an hour.", body = PasswordResetLink),
        (status = 403, description = "Only for organisers in a browser session.", body = ErrorBody),
        (status = 404, description = "There is no such account.", body = ErrorBody),
        (status = 409, description = "The account is disabled, or it is another organiser's.", body = ErrorBody),
    ),
)]
async fn create_password_reset(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<i64>,
) -> ApiResult<(StatusCode, Json<PasswordResetLink>)> {
    let me = caller.organiser()?;
    caller.with_session()?;
    let account = app.site_db.account(AccountId(id)).await?;
    if account.disabled.is_some() {
        return Err(ApiError::conflict("disabled", "the account is disabled").hint("enable it first"));
    }
    if account.role == Role::Organiser && account.id != me.account() {
        return Err(ApiError::conflict(
            "organiser",
            "an organiser cannot take over another organiser's account",
        )
        .hint("change the role of the account first; the audit log records it"));
    }
    let link = new_link(&app, &account).await?;
    audit::append_audit(&app, me, "account.password-link", &account.name, &serde_json::json!({})).await?;
    let expires = Timestamp::now().0 + RESET_TIMEOUT.as_millis() as i64;
    Ok((StatusCode::CREATED, Json(PasswordResetLink { link, expires })))
}
