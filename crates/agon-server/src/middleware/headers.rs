//! Security and cache headers of every response.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;

use crate::state::AppState;

const SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// Policy for embedded replays: other sites may frame them.
const EMBED_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors *";

const DEFAULT_HEADERS: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
    (header::VARY, "Accept-Encoding"),
];

/// Adds the headers to a response.
pub async fn add_headers(State(app): State<AppState>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let (embedded, api) = (path.starts_with("/embed/"), path.starts_with("/api/"));
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let policy = HeaderValue::from_static(if embedded { EMBED_SECURITY_POLICY } else { SECURITY_POLICY });
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    if !embedded {
        headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    }
    for (name, value) in DEFAULT_HEADERS {
        if !headers.contains_key(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    if app.config.uses_https() {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    set_cache_control(headers, api);
    response
}

/// API responses may be private: they are not cached, or with an `ETag` only after revalidation.
fn set_cache_control(headers: &mut HeaderMap, api: bool) {
    if api && !headers.contains_key(header::CACHE_CONTROL) {
        let tagged = headers.contains_key(header::ETAG);
        let value = if tagged { "private, no-cache" } else { "no-store" };
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(value));
    }
}
