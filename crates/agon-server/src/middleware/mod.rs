//! The gate: everything passes it before it reaches a handler.
//!
//! What changes something must come from our own pages or from a program ([`origin`]); if a cookie says who it is, it must bring the
//! session's CSRF token too; and nobody may do it too often ([`limits`]). On a private site, nobody sees anything before signing in.
//! Who asks is found out when it is needed: a handler that takes no [`Caller`] costs no look into the office.

pub mod address;
pub mod cookie;
pub mod headers;
pub mod rate_limit;
pub mod origin;

use std::time::Duration;

use agon_store::Timestamp;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::caller::{Caller, CurrentUser, AuthMethod};
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;
use rate_limit::{LimitedAction, LimitKey};

/// A request is answered within this, or told that it will not be. Streams are answered when they begin.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// The same for uploads.
const UPLOAD_TIMEOUT: Duration = Duration::from_mins(10);

/// Where a request comes from, for handlers that limit by it.
#[derive(Clone, Copy, Debug)]
pub struct ClientIp(pub std::net::IpAddr);

/// Lets a request in, or refuses it.
pub async fn authorize(State(app): State<AppState>, mut request: Request, next: Next) -> Response {
    match admit(&app, &mut request).await {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

/// Gives up on what takes too long.
pub async fn time_limit(request: Request, next: Next) -> Response {
    let patience = if is_upload(request.headers()) { UPLOAD_TIMEOUT } else { REQUEST_TIMEOUT };
    match tokio::time::timeout(patience, next.run(request)).await {
        Ok(response) => response,
        Err(_) => ApiError::busy("this took too long and was given up", 5).into_response(),
    }
}

async fn admit(app: &AppState, request: &mut Request) -> ApiResult<()> {
    let address = address::address(app.config.proxies, request.headers(), request.extensions());
    request.extensions_mut().insert(ClientIp(address));
    let path = request.uri().path();
    if request.method().is_safe() {
        if app.config.private && !is_open(path) {
            let caller = known(app, request.headers()).await?;
            caller.signed_in()?;
            request.extensions_mut().insert(caller);
        }
        return Ok(());
    }
    origin::check(&app.config, request.headers())?;
    let caller = if comes_in(request.method(), path) {
        // Whoever signs in or up is nobody until then, whatever an old cookie says.
        Caller::nobody()
    } else {
        known(app, request.headers()).await?
    };
    if let Some(AuthMethod::Session { csrf }) = caller.proof() {
        check_csrf(csrf, request.headers())?;
    }
    if app.config.private && !comes_in(request.method(), path) {
        caller.signed_in()?;
    }
    let who = caller.me().map_or_else(|| LimitKey::address(address), |me| LimitKey::Account(me.id));
    let kind = if is_upload(request.headers()) { LimitedAction::Upload } else { LimitedAction::Change };
    app.limiter.take(kind, who)?;
    request.extensions_mut().insert(caller);
    Ok(())
}

/// What anybody may read on a private site: the pages themselves, and what they need to let somebody in.
fn is_open(path: &str) -> bool {
    if matches!(path, "/api/v1/site" | "/healthz") {
        return true;
    }
    if let Some(code) = path.strip_prefix("/api/v1/invitations/") {
        return !code.is_empty();
    }
    !path.starts_with("/api") && path != "/metrics"
}

/// Whether it is a sign-in or a sign-up.
fn comes_in(method: &Method, path: &str) -> bool {
    *method == Method::POST && matches!(path, "/api/v1/session" | "/api/v1/accounts")
}

fn is_upload(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|kind| kind.to_ascii_lowercase().starts_with("multipart/form-data"))
}

fn check_csrf(secret: &str, headers: &HeaderMap) -> ApiResult<()> {
    let brought = headers.get("x-csrf-token").and_then(|value| value.to_str().ok()).unwrap_or_default();
    if cookie::same(secret, brought) {
        return Ok(());
    }
    Err(ApiError::new(StatusCode::FORBIDDEN, "csrf", "the header X-CSRF-Token does not fit the session")
        .hint("take `csrf` from GET /api/v1/site"))
}

/// Who asks, by what the request carries. A cookie that is no good any more is nobody's; a token that is no good is refused, since a
/// program that brought one wants to be somebody.
async fn known(app: &AppState, headers: &HeaderMap) -> ApiResult<Caller> {
    let now = Timestamp::now();
    if let Some(token) = cookie::bearer(headers) {
        let Some((token, account)) = app.office.find_token(token, now).await? else {
            return Err(ApiError::new(
                StatusCode::UNAUTHORIZED,
                "bad_token",
                "the token is unknown, revoked or expired",
            )
            .hint("make a new one on your page"));
        };
        return Ok(Caller::known(CurrentUser::of(&account), AuthMethod::Token { id: token.id.0 }));
    }
    let Some(session) = cookie::session(&app.config, headers) else { return Ok(Caller::nobody()) };
    let found = app.office.find_session(session, now).await?;
    Ok(found.map_or_else(Caller::nobody, |(session, account)| {
        Caller::known(CurrentUser::of(&account), AuthMethod::Session { csrf: session.csrf.expose().to_owned() })
    }))
}

impl FromRequestParts<AppState> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> ApiResult<Self> {
        if let Some(caller) = parts.extensions.get::<Self>() {
            return Ok(caller.clone());
        }
        let caller = known(app, &parts.headers).await?;
        parts.extensions.insert(caller.clone());
        Ok(caller)
    }
}

impl<S: Sync> FromRequestParts<S> for ClientIp {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> ApiResult<Self> {
        parts.extensions.get().copied().ok_or_else(|| ApiError::broke("a request that did not pass the gate"))
    }
}
