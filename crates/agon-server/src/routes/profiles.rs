//! The caller's own profile and e-mail address.

use std::time::Duration;

use agon_site_db::{AccountProfile, LinkPurpose, NewAccountLink, NotificationChannel, token_hash};
use agon_store::Timestamp;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path};
use crate::middleware::cookie;
use crate::middleware::rate_limit::{LimitKey, LimitedAction};
use crate::notify::{mail, unsubscribe};
use crate::state::AppState;

/// Time in which the link to verify an address works.
const VERIFY_TIMEOUT: Duration = Duration::from_hours(24);

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(my_profile, set_profile))
        .routes(routes!(my_mail, set_mail, remove_mail))
        .routes(routes!(verify_mail))
        .routes(routes!(unsubscribe_mail))
}

/// What an account says about itself.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileBody {
    /// Name shown on the profile, at most 40 characters; empty for the name of the account.
    #[schema(max_length = 40)]
    shown: String,
    /// A short text, at most 500 characters.
    #[schema(max_length = 500)]
    about: String,
    /// A link to another site.
    #[schema(max_length = 200)]
    link: Option<String>,
    /// Whether the profile lists the bots.
    list_bots: bool,
}

impl From<AccountProfile> for ProfileBody {
    fn from(profile: AccountProfile) -> Self {
        let AccountProfile { shown, about, link, list_bots } = profile;
        Self { shown, about, link, list_bots }
    }
}

/// The caller's profile.
#[utoipa::path(
    get, path = "/me/profile", tag = "people", operation_id = "my_profile",
    responses((status = 200, description = "The profile.", body = ProfileBody)),
)]
async fn my_profile(State(app): State<AppState>, caller: Caller) -> ApiResult<Json<ProfileBody>> {
    let me = caller.signed_in()?;
    Ok(Json(app.site_db.profile(me.account()).await?.into()))
}

/// Replaces the caller's profile.
#[utoipa::path(
    put, path = "/me/profile", tag = "people", operation_id = "set_profile", request_body = ProfileBody,
    responses(
        (status = 200, description = "The profile now.", body = ProfileBody),
        (status = 409, description = "The display name is that of another account or a team.", body = ErrorBody),
        (status = 422, description = "A field is not valid.", body = ErrorBody),
    ),
)]
async fn set_profile(
    State(app): State<AppState>,
    caller: Caller,
    Json(body): Json<ProfileBody>,
) -> ApiResult<Json<ProfileBody>> {
    let me = caller.with_session()?;
    let link = body.link.map(|link| link.trim().to_owned()).filter(|link| !link.is_empty());
    let profile = AccountProfile {
        shown: body.shown.trim().to_owned(),
        about: body.about.trim().to_owned(),
        link,
        list_bots: body.list_bots,
    };
    // A name of another account or team would mislead visitors.
    if !profile.shown.is_empty() {
        let other = app.site_db.account_by_name(&profile.shown).await?;
        if other.is_some_and(|other| other.id != me.account())
            || app.site_db.has_team_name(&profile.shown).await?
        {
            return Err(ApiError::conflict("taken", "this name is taken")
                .field("shown")
                .hint("choose another"));
        }
    }
    app.site_db.set_profile(me.account(), &profile).await?;
    Ok(Json(profile.into()))
}

/// The caller's e-mail address. Only the caller sees it.
#[derive(Debug, Serialize, ToSchema)]
pub struct MailBody {
    /// The address; null without one.
    pub address: Option<String>,
    /// Whether its link was opened. Nothing else is sent before.
    pub verified: bool,
    /// Whether this site sends mails.
    pub available: bool,
}

/// A new e-mail address.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMailBody {
    /// The address.
    #[schema(max_length = 254, format = Email)]
    address: String,
}

async fn mail_body(app: &AppState, caller: &Caller) -> ApiResult<Json<MailBody>> {
    let found = app.site_db.mail_address(caller.signed_in()?.account()).await?;
    Ok(Json(MailBody {
        verified: found.as_ref().is_some_and(|mail| mail.verified.is_some()),
        address: found.map(|mail| mail.address),
        available: app.config.mail.is_some(),
    }))
}

/// The caller's e-mail address.
#[utoipa::path(
    get, path = "/me/mail", tag = "people", operation_id = "my_mail",
    responses(
        (status = 200, description = "The address.", body = MailBody),
        (status = 403, description = "The caller used an API token.", body = ErrorBody),
    ),
)]
async fn my_mail(State(app): State<AppState>, caller: Caller) -> ApiResult<Json<MailBody>> {
    caller.with_session()?;
    mail_body(&app, &caller).await
}

/// Sets the caller's e-mail address and sends a link to it. The address is used once the link was opened.
#[utoipa::path(
    put, path = "/me/mail", tag = "people", operation_id = "set_mail", request_body = NewMailBody,
    responses(
        (status = 200, description = "The link is on its way.", body = MailBody),
        (status = 409, description = "This site sends no mails (code `no_mail`).", body = ErrorBody),
        (status = 422, description = "The address is not valid.", body = ErrorBody),
    ),
)]
async fn set_mail(
    State(app): State<AppState>,
    caller: Caller,
    Json(body): Json<NewMailBody>,
) -> ApiResult<Json<MailBody>> {
    let me = caller.with_session()?;
    if app.config.mail.is_none() {
        return Err(mail::no_mail_error());
    }
    app.limiter.take(LimitedAction::MailLink, LimitKey::Account(me.id))?;
    let address = body.address.trim();
    app.site_db.set_mail_address(me.account(), Some(address)).await?;
    let (code, now) = (cookie::random_secret()?, Timestamp::now());
    let link = NewAccountLink {
        code: token_hash(&code),
        account: me.account(),
        purpose: LinkPurpose::VerifyMail,
        address: Some(address.to_owned()),
        expires: Timestamp(now.0 + VERIFY_TIMEOUT.as_millis() as i64),
        at: now,
    };
    app.site_db.create_account_link(&link).await?;
    let text = format!(
        "The account {} of {} wants to use this address. Open this link within 24 hours to allow it:\n\n{}/verify-mail/{code}\n\nIf it is not your account, ignore this mail.\n",
        me.name,
        app.config.name,
        app.config.url(),
    );
    mail::queue_link(&app, me.account(), address, "Confirm your address", text).await?;
    mail_body(&app, &caller).await
}

/// Removes the caller's e-mail address.
#[utoipa::path(
    delete, path = "/me/mail", tag = "people", operation_id = "remove_mail",
    responses((status = 204, description = "Removed. Mails that waited are not sent.")),
)]
async fn remove_mail(State(app): State<AppState>, caller: Caller) -> ApiResult<StatusCode> {
    app.site_db.set_mail_address(caller.with_session()?.account(), None).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The code of a link.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkCode {
    /// The code.
    code: String,
}

/// Verifies an e-mail address with the code of a mail. Needs no sign-in.
#[utoipa::path(
    post, path = "/mail/verify", tag = "people", operation_id = "verify_mail", request_body = LinkCode,
    responses(
        (status = 204, description = "Verified."),
        (status = 404, description = "The link was used or has expired.", body = ErrorBody),
        (status = 409, description = "The account has another address now.", body = ErrorBody),
    ),
)]
async fn verify_mail(State(app): State<AppState>, Json(body): Json<LinkCode>) -> ApiResult<StatusCode> {
    app.site_db.verify_mail(token_hash(&body.code), Timestamp::now()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Ends all notification mails to an address (RFC 8058). Needs no sign-in; any body is ignored.
#[utoipa::path(
    post, path = "/mail/unsubscribe/{code}", tag = "people", operation_id = "unsubscribe_mail",
    params(("code" = String, Path, description = "The code of the link.")),
    responses(
        (status = 204, description = "No more notification mails."),
        (status = 404, description = "There is no such link.", body = ErrorBody),
    ),
)]
async fn unsubscribe_mail(State(app): State<AppState>, Path(code): Path<String>) -> ApiResult<StatusCode> {
    let account = unsubscribe::account_of(&app, &code).await?;
    app.site_db.turn_off_channel(account, NotificationChannel::Mail).await?;
    Ok(StatusCode::NO_CONTENT)
}
