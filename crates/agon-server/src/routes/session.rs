//! Signing in and out, and one's password.

use agon_store::Timestamp;
use agon_store::site_db::{Account, SecretString, NewSession, token_hash};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::site::Site;
use crate::caller::{Caller, CurrentUser, AuthMethod};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::Json;
use crate::middleware::rate_limit::{LimitedAction, LimitKey};
use crate::middleware::{ClientIp, cookie};
use crate::passwords;
use crate::state::AppState;

/// Its routes.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(sign_in, sign_out)).routes(routes!(change_password))
}

/// Who comes.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    /// The account's name, however it is written.
    name: String,
    /// Its password.
    #[schema(format = Password)]
    password: String,
}

/// A new password.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPassword {
    /// The one it had.
    #[schema(format = Password)]
    old: String,
    /// The one it gets: 10 to 200 characters.
    #[schema(format = Password, min_length = 10, max_length = 200)]
    new: String,
}

/// An answer that gives a browser its session, or takes it away.
pub type WithCookie = ([(HeaderName, HeaderValue); 1], Json<Site>);

/// Signs in. The session comes as a cookie; one that was there before is ended.
#[utoipa::path(
    post, path = "/session", tag = "site", operation_id = "sign_in", request_body = SignIn,
    responses(
        (status = 200, description = "Signed in.", body = Site, headers(("Set-Cookie" = String, description = "The session."))),
        (status = 401, description = "The name or the password is wrong.", body = ErrorBody),
        (status = 403, description = "The account is disabled, or another site's page asked for it.", body = ErrorBody),
    ),
)]
async fn sign_in(
    State(app): State<AppState>,
    ClientIp(address): ClientIp,
    headers: HeaderMap,
    Json(body): Json<SignIn>,
) -> ApiResult<WithCookie> {
    let (by_address, by_name) = (LimitKey::address(address), app.limiter.name(&body.name));
    app.limiter.take(LimitedAction::SignInAddress, by_address)?;
    app.limiter.take(LimitedAction::SignInName, by_name)?;
    let found = app.office.credentials(&body.name).await?;
    let (account, kept) =
        found.map_or((None, None), |found| (Some(found.account), Some(found.password_hash)));
    let right = app.passwords.verify(body.password, kept).await?;
    let Some(account) = account.filter(|_| right) else {
        return Err(ApiError::new(
            StatusCode::UNAUTHORIZED,
            "wrong_password",
            "the name or the password is wrong",
        )
        .field("password")
        .hint("names are those of accounts, not of bots; organisers can invite you anew"));
    };
    app.limiter.give_back(LimitedAction::SignInAddress, by_address);
    app.limiter.give_back(LimitedAction::SignInName, by_name);
    if account.disabled.is_some() {
        return Err(ApiError::new(StatusCode::FORBIDDEN, "disabled", "this account is disabled")
            .hint("ask an organiser"));
    }
    begin(&app, &account, &headers).await
}

/// A new session, with secrets of its own; the one the browser had is over, so that nobody's cookie outlives a sign-in.
pub async fn begin(app: &AppState, account: &Account, headers: &HeaderMap) -> ApiResult<WithCookie> {
    if let Some(old) = cookie::session(&app.config, headers) {
        app.office.end_session(old).await?;
    }
    let (token, csrf) = (cookie::secret()?, cookie::secret()?);
    let agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let session = NewSession {
        token: token_hash(&token),
        account: account.id,
        csrf: SecretString::new(csrf.clone()),
        agent: agent.to_owned(),
        at: Timestamp::now(),
    };
    app.office.create_session(&session).await?;
    let caller = Caller::known(CurrentUser::of(account), AuthMethod::Session { csrf });
    let cookie = cookie::set(&app.config, Some(&token))?;
    Ok(([(header::SET_COOKIE, cookie)], Json(Site::seen_by(app, &caller))))
}

/// Signs out.
#[utoipa::path(
    delete, path = "/session", tag = "site", operation_id = "sign_out",
    responses((status = 200, description = "Signed out: the session is over.", body = Site)),
)]
async fn sign_out(State(app): State<AppState>, headers: HeaderMap) -> ApiResult<WithCookie> {
    if let Some(session) = cookie::session(&app.config, &headers) {
        app.office.end_session(session).await?;
    }
    let cookie = cookie::set(&app.config, None)?;
    Ok(([(header::SET_COOKIE, cookie)], Json(Site::seen_by(&app, &Caller::nobody()))))
}

/// Changes one's password, which signs out everywhere else.
#[utoipa::path(
    put, path = "/me/password", tag = "accounts", operation_id = "change_password", request_body = NewPassword,
    responses(
        (status = 200, description = "Changed.", body = Site),
        (status = 403, description = "The old password is wrong (code `wrong_password`), or a token asked for it.", body = ErrorBody),
    ),
)]
async fn change_password(
    State(app): State<AppState>,
    caller: Caller,
    headers: HeaderMap,
    Json(body): Json<NewPassword>,
) -> ApiResult<Json<Site>> {
    let me = caller.with_session()?;
    passwords::check("new", &me.name, &body.new)?;
    let by_name = app.limiter.name(&me.name);
    app.limiter.take(LimitedAction::SignInName, by_name)?;
    let kept = app.office.password_hash(me.account()).await?;
    if !app.passwords.verify(body.old, Some(kept)).await? {
        return Err(
            ApiError::new(StatusCode::FORBIDDEN, "wrong_password", "the old password is wrong").field("old")
        );
    }
    app.limiter.give_back(LimitedAction::SignInName, by_name);
    let hash = app.passwords.hash(body.new).await?;
    let stays = cookie::session(&app.config, &headers);
    app.office.set_password_hash(me.account(), &hash, stays).await?;
    Ok(Json(Site::seen_by(&app, &caller)))
}
