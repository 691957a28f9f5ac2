//! Signing in and out, and changing the password.

use std::net::IpAddr;

use agon_site_db::{Account, NewSession, SecretString, token_hash};
use agon_store::Timestamp;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::AppendHeaders;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::site::Site;
use crate::caller::{AuthMethod, Caller, CurrentUser};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::Json;
use crate::middleware::rate_limit::LimitedAction;
use crate::middleware::{ClientIp, cookie};
use crate::passwords::{self, HashFor};
use crate::sign_in::{self, SignInAttempt};
use crate::state::AppState;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(sign_in, sign_out)).routes(routes!(change_password))
}

/// Credentials of a sign-in.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SignInBody {
    /// Name of the account; case does not matter.
    name: String,
    /// The password.
    #[schema(format = Password)]
    password: String,
}

/// A change of the password.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PasswordChangeBody {
    /// The current password.
    #[schema(format = Password)]
    old: String,
    /// The new password: 10 to 200 characters.
    #[schema(format = Password, min_length = 10, max_length = 200)]
    new: String,
}

/// A response that sets or deletes cookies.
pub type WithCookie = (AppendHeaders<Vec<(HeaderName, HeaderValue)>>, Json<Site>);

/// Signs in. The session is sent as a cookie. A previous session of the browser ends.
#[utoipa::path(
    post, path = "/session", tag = "site", operation_id = "sign_in", request_body = SignInBody,
    responses(
        (status = 200, description = "Signed in.", body = Site, headers(("Set-Cookie" = String, description = "The session."))),
        (status = 401, description = "The name or the password is wrong.", body = ErrorBody),
        (status = 403, description = "The account is disabled, or the request comes from another site's page.", body = ErrorBody),
    ),
)]
async fn sign_in(
    State(app): State<AppState>,
    ClientIp(address): ClientIp,
    headers: HeaderMap,
    Json(body): Json<SignInBody>,
) -> ApiResult<WithCookie> {
    let attempt = SignInAttempt::begin(&app, address, &headers, &body.name).await?;
    let Some(account) = attempt.check(&app, body.password).await? else {
        return Err(ApiError::new(
            StatusCode::UNAUTHORIZED,
            "wrong_password",
            "the name or the password is wrong",
        )
        .field("password")
        .hint("use the name of your account, not of a bot; an organiser can send you a new invitation"));
    };
    if account.disabled.is_some() {
        return Err(ApiError::new(StatusCode::FORBIDDEN, "disabled", "this account is disabled")
            .hint("ask an organiser"));
    }
    start_session(&app, &account, address, &headers).await
}

/// Starts a session with new secrets. The previous session of the browser ends, so that no old cookie outlives a sign-in.
/// The browser and the address are remembered: guesses from elsewhere cannot keep them from signing in again.
pub async fn start_session(
    app: &AppState,
    account: &Account,
    address: IpAddr,
    headers: &HeaderMap,
) -> ApiResult<WithCookie> {
    if let Some(old) = cookie::session_hash(&app.config, headers) {
        app.site_db.end_session(old).await?;
    }
    let (token, csrf) = (cookie::random_secret()?, cookie::random_secret()?);
    let agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let session = NewSession {
        token: token_hash(&token),
        account: account.id,
        csrf: SecretString::new(csrf.clone()),
        agent: agent.to_owned(),
        at: Timestamp::now(),
    };
    app.site_db.create_session(&session).await?;
    let browser = sign_in::remember_client(app, account.id, address, headers).await?;
    let caller = Caller::authenticated(CurrentUser::of(account), AuthMethod::Session { csrf });
    let cookies =
        [cookie::set_cookie(&app.config, Some(&token))?, cookie::set_browser_cookie(&app.config, &browser)?];
    let cookies = cookies.map(|cookie| (header::SET_COOKIE, cookie)).into();
    Ok((AppendHeaders(cookies), Json(Site::seen_by(app, &caller))))
}

/// Signs out.
#[utoipa::path(
    delete, path = "/session", tag = "site", operation_id = "sign_out",
    responses((status = 200, description = "Signed out: the session has ended.", body = Site)),
)]
async fn sign_out(State(app): State<AppState>, headers: HeaderMap) -> ApiResult<WithCookie> {
    if let Some(session) = cookie::session_hash(&app.config, &headers) {
        app.site_db.end_session(session).await?;
    }
    let cookie = cookie::set_cookie(&app.config, None)?;
    Ok((AppendHeaders(vec![(header::SET_COOKIE, cookie)]), Json(Site::seen_by(&app, &Caller::anonymous()))))
}

/// Changes the caller's password. All other sessions of the account end.
#[utoipa::path(
    put, path = "/me/password", tag = "accounts", operation_id = "change_password", request_body = PasswordChangeBody,
    responses(
        (status = 200, description = "Changed.", body = Site),
        (status = 403, description = "The old password is wrong (code `wrong_password`), or the caller used an API token.", body = ErrorBody),
    ),
)]
async fn change_password(
    State(app): State<AppState>,
    caller: Caller,
    headers: HeaderMap,
    Json(body): Json<PasswordChangeBody>,
) -> ApiResult<Json<Site>> {
    let me = caller.with_session()?;
    passwords::check("new", &me.name, &body.new)?;
    // By session, so that a stolen session cannot keep the owner from changing the password.
    let current = cookie::session_hash(&app.config, &headers);
    let token = (LimitedAction::PasswordChange, app.limiter.hashed(current.map(|session| session.0)));
    app.limiter.take(token.0, token.1)?;
    let stored_hash = app.site_db.password_hash(me.account()).await?;
    if !app.passwords.verify(HashFor::KnownClient, body.old, Some(stored_hash)).await? {
        return Err(
            ApiError::new(StatusCode::FORBIDDEN, "wrong_password", "the old password is wrong").field("old")
        );
    }
    app.limiter.refund(&[token]);
    let hash = app.passwords.hash(HashFor::KnownClient, body.new).await?;
    app.site_db.set_password_hash(me.account(), &hash, current).await?;
    Ok(Json(Site::seen_by(&app, &caller)))
}
