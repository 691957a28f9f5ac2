//! The web app that is built into the program: its files, and `index.html` for every other path.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write as _;
use std::sync::Mutex;

use agon_core::LockIgnoringPoison as _;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use crate::error::ApiError;
use crate::read_model::encoded_json::short_hex;
use crate::sharing::page_html;
use crate::state::AppState;

const NOT_BUILT: &str = "This build of Agon contains no web app: web/dist/app was missing.\n\
    hint: run `make build` (or `make web`, then rebuild). The API works without it: /api/openapi.json\n";

/// Gzipped files by name. At most one entry per file of the app.
static GZIPPED: Mutex<Option<HashMap<String, Bytes>>> = Mutex::new(None);

/// Fallback for requests that match no route: files of the web app, or its page.
pub async fn serve_app(State(app): State<AppState>, request: Request) -> Response {
    let path = request.uri().path();
    if path == "/api" || path.starts_with("/api/") {
        return ApiError::not_found("address")
            .hint("see /api/openapi.json for all addresses")
            .into_response();
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method", "pages support only GET and HEAD")
            .into_response();
    }
    let name = path.trim_start_matches('/');
    if let Some(file) = agon_web::app(name).filter(|_| name != "index.html") {
        return asset_response(name, file, request.headers());
    }
    if name.starts_with("assets/") {
        return ApiError::not_found("file").into_response();
    }
    match agon_web::app("index.html") {
        Some(file) => {
            let html = String::from_utf8_lossy(&file.bytes);
            page_response(page_html::page(&app, &html, request.uri(), request.headers()).await, request.headers())
        }
        None => (StatusCode::SERVICE_UNAVAILABLE, NOT_BUILT).into_response(),
    }
}

/// The page of the app with the tags of what it shows. The body is compressed on its way out, so its `ETag` is a weak one.
fn page_response(html: String, request_headers: &HeaderMap) -> Response {
    let hash = short_hex(&Sha256::digest(&html));
    let mut headers = HeaderMap::new();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    if let Ok(value) = HeaderValue::try_from(format!("W/\"{hash}\"")) {
        headers.insert(header::ETAG, value);
    }
    if etag_matches(request_headers, &format!("\"{hash}\"")) {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    (headers, html).into_response()
}

/// Answers a request whose path exists but not with this method.
pub async fn method_not_allowed() -> ApiError {
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method", "this address does not support this method")
        .hint("see the header Allow for the supported methods")
}

fn asset_response(name: &str, file: agon_web::Asset, request_headers: &HeaderMap) -> Response {
    let cache_control =
        if name.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    let etag = format!("\"{}\"", file.etag);
    let mut headers = HeaderMap::new();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache_control));
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.mime));
    headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    let use_gzip = accepts_gzip(request_headers) && is_text(file.mime);
    // Another encoding is another body, so it needs another ETag.
    let etag = if use_gzip { etag.replacen('"', "\"gz-", 1) } else { etag };
    if etag_matches(request_headers, &etag) {
        headers.insert(header::ETAG, etag.parse().unwrap_or(HeaderValue::from_static("\"\"")));
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    if let Ok(value) = etag.parse() {
        headers.insert(header::ETAG, value);
    }
    if use_gzip {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        return (headers, gzipped(name, &file.bytes)).into_response();
    }
    let bytes = match file.bytes {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    };
    (headers, bytes).into_response()
}

/// Gzips a file at its first use and caches the result.
fn gzipped(name: &str, bytes: &[u8]) -> Bytes {
    let mut cache = GZIPPED.lock_ignoring_poison();
    let cache = cache.get_or_insert_default();
    if let Some(done) = cache.get(name) {
        return done.clone();
    }
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    // Writing to memory cannot fail.
    let done: Bytes = encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap_or_default().into();
    cache.insert(name.to_owned(), done.clone());
    done
}

/// Whether the client accepts gzip (`Accept-Encoding`).
pub fn accepts_gzip(request_headers: &HeaderMap) -> bool {
    request_headers
        .get_all(header::ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|part| part.split(';').map(str::trim))
        .any(|mut part| {
            matches!(part.next(), Some("gzip" | "*"))
                && !part.any(|q| matches!(q, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
        })
}

/// Whether the client already has this version (`If-None-Match`).
pub fn etag_matches(request_headers: &HeaderMap, etag: &str) -> bool {
    request_headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|part| part.trim().trim_start_matches("W/"))
        .any(|part| part == "*" || part == etag)
}

fn is_text(mime: &str) -> bool {
    mime.starts_with("text/") || mime.starts_with("application/json") || mime.starts_with("image/svg")
}
