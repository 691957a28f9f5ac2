//! The web app, as it is built into the program: its files, and its one page for every address that is no file.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;

use crate::error::ApiError;

const NOT_BUILT: &str = "This build of Agon has no web app in it: web/dist/app was missing.\n\
    hint: run `make build` (or `make web`, then build again). The API is there all the same: /api/openapi.json\n";

/// Files that were packed already, by their names. There are as many as the app has files.
static PACKED: Mutex<Option<HashMap<String, Bytes>>> = Mutex::new(None);

/// Whatever no route has taken.
pub async fn page(request: Request) -> Response {
    let path = request.uri().path();
    if path == "/api" || path.starts_with("/api/") {
        return ApiError::not_found("address").hint("/api/openapi.json lists all").into_response();
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method", "a page can only be read")
            .into_response();
    }
    let name = path.trim_start_matches('/');
    if let Some(file) = agon_web::app(name).filter(|_| name != "index.html") {
        return answer(name, file, request.headers());
    }
    if name.starts_with("assets/") {
        return ApiError::not_found("file").into_response();
    }
    match agon_web::app("index.html") {
        Some(file) => answer("index.html", file, request.headers()),
        None => (StatusCode::SERVICE_UNAVAILABLE, NOT_BUILT).into_response(),
    }
}

/// No route of this path takes the method.
pub async fn wrong_method() -> ApiError {
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method", "this address does not take that method")
        .hint("the header Allow lists those it takes")
}

fn answer(name: &str, file: agon_web::Asset, asked: &HeaderMap) -> Response {
    let keep = if name.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    let tag = format!("\"{}\"", file.etag);
    let mut headers = HeaderMap::new();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.mime));
    headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    let packs = wants_gzip(asked) && is_text(file.mime);
    // Another encoding is another body, so it has another tag.
    let tag = if packs { tag.replacen('"', "\"gz-", 1) } else { tag };
    if has_it(asked, &tag) {
        headers.insert(header::ETAG, tag.parse().unwrap_or(HeaderValue::from_static("\"\"")));
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    if let Ok(value) = tag.parse() {
        headers.insert(header::ETAG, value);
    }
    if packs {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        return (headers, packed(name, &file.bytes)).into_response();
    }
    let bytes = match file.bytes {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    };
    (headers, bytes).into_response()
}

/// The file, packed at its first use.
fn packed(name: &str, bytes: &[u8]) -> Bytes {
    let mut all = PACKED.lock().unwrap_or_else(PoisonError::into_inner);
    let all = all.get_or_insert_default();
    if let Some(done) = all.get(name) {
        return done.clone();
    }
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    // Writing to memory does not fail.
    let done: Bytes = packer.write_all(bytes).and_then(|()| packer.finish()).unwrap_or_default().into();
    all.insert(name.to_owned(), done.clone());
    done
}

/// Whether the caller takes gzip.
pub fn wants_gzip(asked: &HeaderMap) -> bool {
    asked
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

/// Whether the caller has this version already (`If-None-Match`).
pub fn has_it(asked: &HeaderMap, tag: &str) -> bool {
    asked
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|part| part.trim().trim_start_matches("W/"))
        .any(|part| part == "*" || part == tag)
}

fn is_text(mime: &str) -> bool {
    mime.starts_with("text/") || mime.starts_with("application/json") || mime.starts_with("image/svg")
}
