//! Request ids. The id of a request is in its log lines, in the response header and in an error's body.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use tracing::Instrument as _;

/// Header with the id, of requests and of responses.
pub const REQUEST_ID_HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// Maximum length of an id that a client or a proxy sends.
const MAX_ID_CHARS: usize = 64;
/// Start of the paths that end with a secret code.
const INVITATIONS: &str = "/api/v1/invitations/";

tokio::task_local! {
    static CURRENT_ID: String;
}

/// Id of the request that the current task handles.
pub fn current() -> Option<String> {
    CURRENT_ID.try_with(Clone::clone).ok()
}

/// Gives a request its id: the one of its header if that is valid, else a new one. Logs the response.
pub async fn add_request_id(request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = id_from(request.headers()).unwrap_or_else(new_id);
    let (method, path) = (request.method().clone(), loggable(request.uri().path()).to_owned());
    // At the error level, so that every line about the request has its id, whatever the filter.
    let span = tracing::error_span!("request", request_id = id);
    let handle = async {
        let mut response = CURRENT_ID.scope(id.clone(), next.run(request)).await;
        log_response(&method, &path, response.status(), started.elapsed());
        if let Ok(value) = HeaderValue::try_from(&id) {
            response.headers_mut().insert(REQUEST_ID_HEADER, value);
        }
        response
    };
    handle.instrument(span).await
}

fn log_response(method: &Method, path: &str, status: StatusCode, took: Duration) {
    let (status, ms) = (status.as_u16(), took.as_micros() as f64 / 1e3);
    // Monitoring asks for these all the time.
    if matches!(path, "/healthz" | "/readyz" | "/metrics") {
        tracing::debug!(%method, path, status, ms, "response");
    } else {
        tracing::info!(%method, path, status, ms, "response");
    }
}

/// A valid id in the header: 1 to 64 letters, digits, dots, dashes and underscores.
fn id_from(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(REQUEST_ID_HEADER)?.to_str().ok()?;
    let is_valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    ((1..=MAX_ID_CHARS).contains(&id.len()) && id.chars().all(is_valid)).then(|| id.to_owned())
}

/// A new id: a random number of this process, and a counter.
fn new_id() -> String {
    static PROCESS: OnceLock<u32> = OnceLock::new();
    static COUNTER: AtomicU64 = AtomicU64::new(1);
    let process = PROCESS.get_or_init(|| {
        let mut bytes = [0; 4];
        match getrandom::fill(&mut bytes) {
            Ok(()) => u32::from_le_bytes(bytes),
            Err(_) => std::process::id(),
        }
    });
    format!("{process:08x}-{:06x}", COUNTER.fetch_add(1, Ordering::Relaxed))
}

/// The path without the secret that some paths end with.
fn loggable(path: &str) -> &str {
    if path.starts_with(INVITATIONS) { INVITATIONS } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_of(text: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(REQUEST_ID_HEADER, HeaderValue::from_str(text).unwrap());
        id_from(&headers)
    }

    #[test]
    fn incoming_id_is_used_only_if_it_is_valid() {
        assert_eq!(id_of("a-1_B.2").as_deref(), Some("a-1_B.2"));
        assert_eq!(id_of(&"x".repeat(MAX_ID_CHARS)).map(|id| id.len()), Some(MAX_ID_CHARS));
        for invalid in ["", "a b", "a\tb", "a\"b", "a{b}", &"x".repeat(MAX_ID_CHARS + 1)] {
            assert_eq!(id_of(invalid), None, "{invalid:?}");
        }
        assert_eq!(id_from(&HeaderMap::new()), None);
    }

    #[test]
    fn new_ids_differ_and_are_valid() {
        let (one, other) = (new_id(), new_id());
        assert_ne!(one, other);
        assert_eq!(id_of(&one), Some(one));
    }

    #[test]
    fn loggable_path_has_no_invitation_code() {
        assert_eq!(loggable("/api/v1/invitations/s3cret"), INVITATIONS);
        assert_eq!(loggable("/api/v1/site"), "/api/v1/site");
    }
}
