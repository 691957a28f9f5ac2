//! Makes pictures, a few at a time, and keeps those that were made last.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_core::LockIgnoringPoison as _;
use agon_pictures::PictureError;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;

use crate::assets::etag_matches;
use crate::error::{ApiError, ApiResult};
use crate::middleware::rate_limit::{LimitKey, LimitedAction};
use crate::read_model::encoded_json::short_hex;
use crate::state::AppState;

/// Maximum number of pictures that are made at the same time.
const MAX_PARALLEL: usize = 2;
/// Time that a request waits for its turn.
const WAIT_TIMEOUT: Duration = Duration::from_secs(10);
/// Time after which a client may ask again, in seconds.
const RETRY_SECONDS: u64 = 10;
/// Maximum size of all kept pictures in bytes.
const MAX_CACHE_BYTES: usize = 48 << 20;
/// Changes when the same data gives another picture, so that clients do not keep the old one.
const DRAWING_VERSION: u8 = 1;

/// File format of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PictureKind {
    /// A still picture.
    Png,
    /// An animation.
    Gif,
}

impl PictureKind {
    const fn mime(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Gif => "image/gif",
        }
    }
}

/// Makes and keeps pictures.
pub struct PictureService {
    permits: Arc<Semaphore>,
    cache: Mutex<CachedPictures>,
}

#[derive(Default)]
struct CachedPictures {
    pictures: HashMap<String, (Bytes, u64)>,
    bytes: usize,
    uses: u64,
}

impl Default for PictureService {
    fn default() -> Self {
        Self { permits: Arc::new(Semaphore::new(MAX_PARALLEL)), cache: Mutex::default() }
    }
}

/// Name of a picture: a hash of everything that it depends on. Pictures with the same name are equal.
pub fn picture_name(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    hash.update([DRAWING_VERSION]);
    hash.update(env!("CARGO_PKG_VERSION"));
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    short_hex(&hash.finalize())
}

impl PictureService {
    /// The response if the client has the picture or the server keeps it.
    pub fn known(&self, request_headers: &HeaderMap, name: &str, kind: PictureKind) -> Option<Response> {
        if etag_matches(request_headers, &format!("\"{name}\"")) {
            return Some((StatusCode::NOT_MODIFIED, etag(name)).into_response());
        }
        let bytes = self.cache.lock_ignoring_poison().get(name)?;
        Some(response(name, kind, bytes))
    }

    /// Makes a picture on a thread of its own and keeps it. Each client has a limited rate, and a few pictures are made at a time.
    pub async fn make(
        &self,
        app: &AppState,
        address: IpAddr,
        name: &str,
        kind: PictureKind,
        work: impl FnOnce() -> ApiResult<Vec<u8>> + Send + 'static,
    ) -> ApiResult<Response> {
        app.limiter.take(LimitedAction::Picture, LimitKey::address(address))?;
        let permit = tokio::time::timeout(WAIT_TIMEOUT, Arc::clone(&self.permits).acquire_owned());
        let permit =
            permit.await.map_err(|_| ApiError::busy("too many pictures are being made", RETRY_SECONDS))?;
        let permit = permit.map_err(ApiError::internal)?;
        // Another request may have made it in the meantime.
        if let Some(bytes) = self.cache.lock_ignoring_poison().get(name) {
            return Ok(response(name, kind, bytes));
        }
        let span = tracing::Span::current();
        let made = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            span.in_scope(work)
        });
        let bytes = Bytes::from(made.await.map_err(ApiError::internal)??);
        self.cache.lock_ignoring_poison().put(name, bytes.clone());
        Ok(response(name, kind, bytes))
    }
}

impl CachedPictures {
    fn get(&mut self, name: &str) -> Option<Bytes> {
        self.uses += 1;
        let now = self.uses;
        let (bytes, used) = self.pictures.get_mut(name)?;
        *used = now;
        Some(bytes.clone())
    }

    /// Keeps a picture. Those that were not used for the longest time go.
    fn put(&mut self, name: &str, bytes: Bytes) {
        if bytes.len() > MAX_CACHE_BYTES / 4 {
            return;
        }
        self.uses += 1;
        self.bytes += bytes.len();
        if let Some((old, _)) = self.pictures.insert(name.to_owned(), (bytes, self.uses)) {
            self.bytes -= old.len();
        }
        while self.bytes > MAX_CACHE_BYTES {
            let oldest =
                self.pictures.iter().min_by_key(|(_, (_, used))| *used).map(|(name, _)| name.clone());
            let Some((old, _)) = oldest.and_then(|name| self.pictures.remove(&name)) else { break };
            self.bytes -= old.len();
        }
    }
}

/// The picture cannot be made: the client can ask for less, or the server is at fault.
pub fn picture_error(error: PictureError) -> ApiError {
    match error {
        PictureError::TooLarge { .. } | PictureError::TooSlow => {
            ApiError::too_large(error.to_string()).hint("ask for fewer turns, or for a smaller width")
        }
        error => ApiError::internal(error),
    }
}

fn etag(name: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if let Ok(value) = HeaderValue::try_from(format!("\"{name}\"")) {
        headers.insert(header::ETAG, value);
    }
    headers
}

fn response(name: &str, kind: PictureKind, bytes: Bytes) -> Response {
    let mut headers = etag(name);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind.mime()));
    // Other sites show the picture in previews of links and on their own pages.
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("cross-origin"));
    (headers, bytes).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_that_were_not_used_for_the_longest_time_go_first() {
        let mut cache = CachedPictures::default();
        let picture = Bytes::from(vec![0; MAX_CACHE_BYTES / 4]);
        for name in ["a", "b", "c", "d"] {
            cache.put(name, picture.clone());
        }
        assert!(cache.get("a").is_some());
        cache.put("e", picture.clone());
        assert!(cache.get("b").is_none() && cache.get("a").is_some());
        assert_eq!(cache.bytes, MAX_CACHE_BYTES);
        cache.put("large", Bytes::from(vec![0; MAX_CACHE_BYTES / 4 + 1]));
        assert!(cache.get("large").is_none());
    }

    #[test]
    fn names_differ_if_a_part_moves() {
        assert_ne!(picture_name(&[b"ab", b"c"]), picture_name(&[b"a", b"bc"]));
    }
}
