//! Refusals as clients get them: a status, a stable code, words, and what to do.

use std::path::Path;

use agon_store::site_db::SiteDbError;
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What every refusal looks like.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// What went wrong.
    pub error: ErrorWords,
}

/// What went wrong.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ErrorWords {
    /// For programs: never changes its meaning.
    pub code: String,
    /// For people: what, and where.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Which field of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Several things that are wrong at once, such as the mistakes of a file.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub details: Vec<String>,
    /// The mistakes of a competition's file, each with its place.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub mistakes: Vec<Mistake>,
}

/// What is wrong at one place of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Mistake {
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
    /// What is wrong there.
    pub what: String,
    /// What to do about it; empty if there is nothing to say.
    pub hint: String,
}

/// Why a request was refused.
#[derive(Clone, Debug)]
pub struct ApiError {
    status: StatusCode,
    words: Box<ErrorWords>,
    /// Seconds after which it may be tried again.
    retry_after: Option<u64>,
}

/// What handlers give.
pub type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    /// Any status and code.
    pub fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        let words = Box::new(ErrorWords {
            code: code.to_owned(),
            message: message.into(),
            hint: None,
            field: None,
            details: Vec::new(),
            mistakes: Vec::new(),
        });
        Self { status, words, retry_after: None }
    }

    /// 400: the request makes no sense.
    pub fn bad_request(code: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// 422: a field of the request is wrong.
    pub fn invalid(field: &str, message: impl Into<String>) -> Self {
        let mut error = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message);
        error.words.field = Some(field.to_owned());
        error
    }

    /// 401: nobody is signed in.
    pub fn sign_in() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "sign_in", "sign in first")
    }

    /// 403: it is not for the caller.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    /// 404: there is no such thing, or the caller may not know of it.
    pub fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", format!("there is no such {what}"))
    }

    /// 409: not in this state.
    pub fn conflict(code: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, message)
    }

    /// 413: too large.
    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
    }

    /// 429: too often.
    pub fn too_often(message: impl Into<String>, seconds: u64) -> Self {
        let mut error = Self::new(StatusCode::TOO_MANY_REQUESTS, "too_often", message);
        error.retry_after = Some(seconds);
        error
    }

    /// 503: not now.
    pub fn busy(message: impl Into<String>, seconds: u64) -> Self {
        let mut error = Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message);
        error.retry_after = Some(seconds);
        error
    }

    /// 500: something broke here. The cause goes to the log, never to the caller.
    #[allow(clippy::print_stderr, reason = "the server's log")]
    pub fn broke(cause: impl std::fmt::Display) -> Self {
        eprintln!("error: {cause}");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "broke",
            "something broke here; the organiser finds it in the log",
        )
    }

    /// With what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.words.hint = Some(hint.into());
        self
    }

    /// With the field of the request that is meant.
    #[must_use]
    pub fn field(mut self, field: &str) -> Self {
        self.words.field = Some(field.to_owned());
        self
    }

    /// With several things that are wrong at once.
    #[must_use]
    pub fn details(mut self, details: Vec<String>) -> Self {
        self.words.details = details;
        self
    }

    /// With the mistakes of a competition's file.
    #[must_use]
    pub fn mistakes(mut self, mistakes: Vec<Mistake>) -> Self {
        self.words.mistakes = mistakes;
        self
    }

    /// Its status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Its words.
    pub fn message(&self) -> &str {
        &self.words.message
    }

    /// Its code.
    pub fn code(&self) -> &str {
        &self.words.code
    }
}

/// What the asker can mend is told in the office's own words; the rest is logged.
impl From<SiteDbError> for ApiError {
    fn from(error: SiteDbError) -> Self {
        match error {
            SiteDbError::NotFound { what } => Self::not_found(what),
            SiteDbError::Taken { what } => {
                let mut taken =
                    Self::conflict("taken", format!("this {what} is taken")).hint("choose another");
                taken.words.field = Some(what.to_owned());
                taken
            }
            SiteDbError::Conflict { what } => Self::conflict("conflict", what),
            SiteDbError::TooMany { limit } => {
                Self::conflict("too_many", format!("no more than {limit} are allowed here"))
            }
            SiteDbError::Invalid { field, what } => Self::invalid(field, format!("{field}: {what}")),
            other => Self::broke(other),
        }
    }
}

/// What a panic said.
pub fn panic_words(panic: &(dyn std::any::Any + Send)) -> &str {
    let words = panic.downcast_ref::<String>().map(String::as_str);
    words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words")
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(ErrorBody { error: *self.words })).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Its office cannot be opened.
    #[error(transparent)]
    Office(#[from] SiteDbError),
    /// The machines that should play cannot be met.
    #[error(transparent)]
    Grid(#[from] agon_grid::GridError),
    /// The database with the ledgers cannot be used.
    #[error("{}", .0.message)]
    Ledgers(agon_venue::Failure),
    /// Anything else: what, and behind `hint:` what to do about it.
    #[error("{0}")]
    Other(String),
}

impl StartError {
    /// A folder that cannot be made.
    pub fn folder(path: &Path, error: &std::io::Error) -> Self {
        Self::Other(format!(
            "{}: {error}\nhint: choose another data folder, or make this one",
            path.display()
        ))
    }
}
