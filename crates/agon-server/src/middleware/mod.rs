//! Checks that every request passes before it reaches a handler.
//!
//! A request that changes something must come from the site's own pages or from a program ([`origin`]). With a session cookie it must also
//! carry the session's CSRF token. It is limited in rate ([`rate_limit`]). On a private site, callers must sign in before they can read.
//! The caller is looked up on demand: a handler that takes no [`Caller`] does not query the site database for it.

pub mod address;
pub mod cookie;
pub mod headers;
pub mod origin;
pub mod rate_limit;
pub mod request_id;

use std::time::Duration;

use agon_store::Timestamp;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use subtle::ConstantTimeEq as _;

use crate::caller::{AuthMethod, Caller, CurrentUser};
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;
use rate_limit::{LimitKey, LimitedAction};

/// Timeout for the start of a response. Streams may go on afterwards.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// The same for uploads.
const UPLOAD_TIMEOUT: Duration = Duration::from_mins(10);

/// IP address of the client, for handlers that limit by it.
#[derive(Clone, Copy, Debug)]
pub struct ClientIp(pub std::net::IpAddr);

/// Passes a request on, or rejects it.
pub async fn authorize(State(app): State<AppState>, mut request: Request, next: Next) -> Response {
    match check_request(&app, &mut request).await {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

/// Gives up on a request that takes too long.
pub async fn time_limit(request: Request, next: Next) -> Response {
    let limit = if is_upload(request.headers()) { UPLOAD_TIMEOUT } else { REQUEST_TIMEOUT };
    match tokio::time::timeout(limit, next.run(request)).await {
        Ok(response) => response,
        Err(_) => ApiError::busy("the request took too long", 5).into_response(),
    }
}

async fn check_request(app: &AppState, request: &mut Request) -> ApiResult<()> {
    let address = address::client_ip(app.config.proxies, request.headers(), request.extensions());
    request.extensions_mut().insert(ClientIp(address));
    let path = request.uri().path();
    if request.method().is_safe() {
        if app.config.private && !is_public_path(path) {
            let caller = identify(app, request.headers()).await?;
            caller.signed_in()?;
            request.extensions_mut().insert(caller);
        }
        return Ok(());
    }
    origin::check(&app.config, request.headers())?;
    let caller = if is_sign_in_or_up(request.method(), path) {
        // A sign-in or sign-up is always anonymous, even with an old cookie.
        Caller::anonymous()
    } else {
        identify(app, request.headers()).await?
    };
    if let Some(AuthMethod::Session { csrf }) = caller.auth_method() {
        check_csrf(csrf, request.headers())?;
    }
    if app.config.private && !is_sign_in_or_up(request.method(), path) && !is_link_of_mail(path) {
        caller.signed_in()?;
    }
    if !is_sign_in(request.method(), path) {
        let key = caller.user().map_or_else(|| LimitKey::address(address), |me| LimitKey::Account(me.id));
        let action = if is_upload(request.headers()) {
            LimitedAction::Upload
        } else if is_play_answer(path) {
            LimitedAction::Answer
        } else {
            LimitedAction::Change
        };
        app.limiter.take(action, key)?;
    }
    request.extensions_mut().insert(caller);
    Ok(())
}

/// Paths that a private site shows to everyone: the pages themselves, and what they need for signing in and up.
fn is_public_path(path: &str) -> bool {
    if matches!(path, "/api/v1/site" | "/healthz" | "/readyz") {
        return true;
    }
    if let Some(code) = path.strip_prefix("/api/v1/invitations/") {
        return !code.is_empty();
    }
    !path.starts_with("/api") && path != "/metrics"
}

/// Whether the request is a sign-in. It has limits of its own ([`crate::sign_in`]): other clients of the address cannot use them up.
fn is_sign_in(method: &Method, path: &str) -> bool {
    *method == Method::POST && path == "/api/v1/session"
}

/// Whether the request is a sign-in or a sign-up.
fn is_sign_in_or_up(method: &Method, path: &str) -> bool {
    is_sign_in(method, path) || (*method == Method::POST && path == "/api/v1/accounts")
}

/// Whether the request asks for a new password or follows a link of a mail. The reader of a mail need not be signed in.
fn is_link_of_mail(path: &str) -> bool {
    let rest = path.strip_prefix("/api/v1/").unwrap_or_default();
    matches!(rest, "password-resets" | "password-resets/use" | "mail/verify")
        || rest.starts_with("mail/unsubscribe/")
}

/// Whether the request answers in a game in the browser. Fast games have many answers a second.
fn is_play_answer(path: &str) -> bool {
    path.strip_prefix("/api/v1/play/").is_some_and(|rest| rest.ends_with("/answers"))
}

fn is_upload(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|content_type| content_type.to_ascii_lowercase().starts_with("multipart/form-data"))
}

fn check_csrf(secret: &str, headers: &HeaderMap) -> ApiResult<()> {
    let sent = headers.get("x-csrf-token").and_then(|value| value.to_str().ok()).unwrap_or_default();
    // In constant time, so that response times reveal nothing about the secret.
    if bool::from(secret.as_bytes().ct_eq(sent.as_bytes())) {
        return Ok(());
    }
    Err(ApiError::new(StatusCode::FORBIDDEN, "csrf", "the header X-CSRF-Token does not match the session")
        .hint("use `csrf` from GET /api/v1/site"))
}

/// Finds the caller by the credentials of a request. An invalid cookie means anonymous. An invalid token is an error, because a program
/// that sends one expects to be signed in.
async fn identify(app: &AppState, headers: &HeaderMap) -> ApiResult<Caller> {
    let now = Timestamp::now();
    if let Some(token) = cookie::bearer_hash(headers) {
        let Some((token, account)) = app.site_db.find_token(token, now).await? else {
            return Err(ApiError::new(
                StatusCode::UNAUTHORIZED,
                "bad_token",
                "the token is unknown, revoked or expired",
            )
            .hint("create a new one on your account page"));
        };
        return Ok(Caller::authenticated(CurrentUser::of(&account), AuthMethod::Token { id: token.id.0 }));
    }
    let Some(session) = cookie::session_hash(&app.config, headers) else { return Ok(Caller::anonymous()) };
    let found = app.site_db.find_session(session, now).await?;
    Ok(found.map_or_else(Caller::anonymous, |(session, account)| {
        Caller::authenticated(
            CurrentUser::of(&account),
            AuthMethod::Session { csrf: session.csrf.expose().to_owned() },
        )
    }))
}

impl FromRequestParts<AppState> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> ApiResult<Self> {
        if let Some(caller) = parts.extensions.get::<Self>() {
            return Ok(caller.clone());
        }
        let caller = identify(app, &parts.headers).await?;
        parts.extensions.insert(caller.clone());
        Ok(caller)
    }
}

impl<S: Sync> FromRequestParts<S> for ClientIp {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> ApiResult<Self> {
        parts
            .extensions
            .get()
            .copied()
            .ok_or_else(|| ApiError::internal("a request that did not pass the middleware"))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn check_csrf_accepts_only_the_whole_secret() {
        let check = |sent: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            if let Some(sent) = sent {
                headers.insert("x-csrf-token", HeaderValue::from_static(sent));
            }
            check_csrf("0123456789abcdef", &headers).is_ok()
        };
        assert!(check(Some("0123456789abcdef")));
        for wrong in
            [None, Some(""), Some("0123456789abcde"), Some("0123456789abcdeF"), Some("0123456789abcdef0")]
        {
            assert!(!check(wrong), "{wrong:?}");
        }
    }
}
