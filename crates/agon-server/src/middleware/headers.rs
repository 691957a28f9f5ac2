//! What every answer carries: what a browser may do with it.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;

use crate::state::AppState;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// Replays that other sites show in a frame.
const EMBEDDED: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors *";

const ALWAYS: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
    (header::VARY, "Accept-Encoding"),
];

/// Puts them on.
pub async fn put(State(app): State<AppState>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let (embedded, api) = (path.starts_with("/embed/"), path.starts_with("/api/"));
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let policy = HeaderValue::from_static(if embedded { EMBEDDED } else { POLICY });
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    if !embedded {
        headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    }
    for (name, value) in ALWAYS {
        if !headers.contains_key(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    if app.config.secure() {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    keeping(headers, api);
    response
}

/// What comes from the API may be somebody's own: nobody keeps it, or with an `ETag` only to ask again.
fn keeping(headers: &mut HeaderMap, api: bool) {
    if api && !headers.contains_key(header::CACHE_CONTROL) {
        let tagged = headers.contains_key(header::ETAG);
        let value = if tagged { "private, no-cache" } else { "no-store" };
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(value));
    }
}
