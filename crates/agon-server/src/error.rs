//! Errors as clients get them: a status, a stable code, a message and a hint.

use std::path::Path;

use agon_site_db::SiteDbError;
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::middleware::request_id;

/// Body of every error response.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// Details of the error.
    pub error: ErrorInfo,
}

/// Details of an error.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ErrorInfo {
    /// Stable code for programs.
    pub code: String,
    /// Message for the user: what went wrong, and where.
    pub message: String,
    /// What the user can do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Field of the request that the error is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Several errors at once, such as those of a competition file.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub details: Vec<String>,
    /// Errors of a competition file, with their positions.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    #[serde(rename = "mistakes")]
    pub config_errors: Vec<ConfigErrorBody>,
    /// Id of the request. The lines of the server's log about this request have it too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// An error at one position of a competition file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConfigErrorBody {
    /// Line, from 1.
    pub line: Option<u32>,
    /// Column, from 1.
    pub column: Option<u32>,
    /// What is wrong.
    pub what: String,
    /// What to do about it; may be empty.
    pub hint: String,
}

/// Why a request failed.
#[derive(Clone, Debug)]
pub struct ApiError {
    status: StatusCode,
    info: Box<ErrorInfo>,
    /// Seconds after which the client may retry.
    retry_after: Option<u64>,
}

/// Result of a handler.
pub type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    /// An error with any status and code.
    pub fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        let info = Box::new(ErrorInfo {
            code: code.to_owned(),
            message: message.into(),
            hint: None,
            field: None,
            details: Vec::new(),
            config_errors: Vec::new(),
            request_id: None,
        });
        Self { status, info, retry_after: None }
    }

    /// 400: the request cannot be read.
    pub fn bad_request(code: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// 422: a field of the request is invalid.
    pub fn invalid(field: &str, message: impl Into<String>) -> Self {
        let mut error = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message);
        error.info.field = Some(field.to_owned());
        error
    }

    /// 401: the caller is not signed in.
    pub fn sign_in_required() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "sign_in", "sign in first")
    }

    /// 403: the caller does not have permission.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    /// 404: it does not exist, or the caller must not know that it does.
    pub fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", format!("there is no such {what}"))
    }

    /// 409: not possible in the current state.
    pub fn conflict(code: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, message)
    }

    /// 413: the request is too large.
    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
    }

    /// 429: the caller exceeded a rate limit.
    pub fn too_many_requests(message: impl Into<String>, seconds: u64) -> Self {
        let mut error = Self::new(StatusCode::TOO_MANY_REQUESTS, "too_often", message);
        error.retry_after = Some(seconds);
        error
    }

    /// 503: the server is busy.
    pub fn busy(message: impl Into<String>, seconds: u64) -> Self {
        let mut error = Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message);
        error.retry_after = Some(seconds);
        error
    }

    /// 500: an internal error. The cause goes to the log, never to the caller.
    pub fn internal(cause: impl std::fmt::Display) -> Self {
        tracing::error!(%cause, "internal error");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "broke",
            "internal server error; the server log has the details",
        )
    }

    /// Adds a hint: what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.info.hint = Some(hint.into());
        self
    }

    /// Adds the field of the request that the error is about.
    #[must_use]
    pub fn field(mut self, field: &str) -> Self {
        self.info.field = Some(field.to_owned());
        self
    }

    /// Adds several errors at once.
    #[must_use]
    pub fn details(mut self, details: Vec<String>) -> Self {
        self.info.details = details;
        self
    }

    /// Adds the errors of a competition file.
    #[must_use]
    pub fn config_errors(mut self, config_errors: Vec<ConfigErrorBody>) -> Self {
        self.info.config_errors = config_errors;
        self
    }

    /// The HTTP status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.info.message
    }

    /// The message with details and hint, each on its own line.
    pub fn describe(&self) -> String {
        let mut lines = vec![self.info.message.clone()];
        lines.extend(self.info.details.iter().filter(|detail| **detail != self.info.message).cloned());
        lines.extend(self.info.hint.iter().map(|hint| format!("hint: {hint}")));
        lines.join("\n")
    }

    /// The code.
    pub fn code(&self) -> &str {
        &self.info.code
    }
}

/// Errors that the caller can fix keep the message of the site database. All others are logged as internal errors.
impl From<SiteDbError> for ApiError {
    fn from(error: SiteDbError) -> Self {
        match error {
            SiteDbError::NotFound { what } => Self::not_found(what),
            SiteDbError::Taken { what } => {
                let mut taken =
                    Self::conflict("taken", format!("this {what} is taken")).hint("choose another");
                taken.info.field = Some(what.to_owned());
                taken
            }
            SiteDbError::Conflict { what } => Self::conflict("conflict", what),
            SiteDbError::TooMany { limit } => {
                Self::conflict("too_many", format!("at most {limit} are allowed"))
            }
            SiteDbError::Invalid { field, what } => Self::invalid(field, format!("{field}: {what}")),
            other => Self::internal(other),
        }
    }
}

/// The message of a panic.
pub fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    let message = panic.downcast_ref::<String>().map(String::as_str);
    message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
}

impl IntoResponse for ApiError {
    fn into_response(mut self) -> Response {
        self.info.request_id = request_id::current();
        let mut response = (self.status, Json(ErrorBody { error: *self.info })).into_response();
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
    /// The site database cannot be opened.
    #[error(transparent)]
    SiteDb(#[from] SiteDbError),
    /// The NATS server of the workers cannot be used.
    #[error(transparent)]
    Grid(#[from] agon_grid::GridError),
    /// The database with the ledgers cannot be used.
    #[error("{}", .0.message)]
    Ledgers(agon_bots::Diagnostic),
    /// Any other error: the message, with a line `hint:` where there is one.
    #[error("{0}")]
    Other(String),
}

impl StartError {
    /// The data folder cannot be created.
    pub fn data_folder(path: &Path, error: &std::io::Error) -> Self {
        Self::Other(format!(
            "{}: {error}\nhint: choose another data folder, or create this one",
            path.display()
        ))
    }
}
