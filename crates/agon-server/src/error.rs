//! Errors as clients get them: a status, a stable code, a message and a hint.

use std::path::Path;

use agon_core::{Diagnostic, ErrorKind, Place};
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

    /// An error with the message and the hint of a diagnostic, and any status and code.
    pub fn from_diagnostic(status: StatusCode, code: &str, error: &Diagnostic) -> Self {
        // Several errors have several hints, which stay beside their messages.
        let is_single = error.related.is_empty();
        let message = if is_single { error.text_without_hints() } else { error.to_string() };
        let mut answer = Self::new(status, code, message);
        answer.info.hint = error.hint_text().filter(|_| is_single);
        answer.info.field = error.place.as_ref().and_then(|place| place.field.clone());
        let with_line =
            error.all().filter(|one| one.place.as_ref().is_some_and(|place| place.line.is_some()));
        answer.info.config_errors = with_line.map(ConfigErrorBody::from).collect();
        answer
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
        Diagnostic::from(self.clone()).to_string()
    }

    /// The errors of a competition file, with their positions.
    pub fn errors_of_file(&self) -> &[ConfigErrorBody] {
        &self.info.config_errors
    }

    /// The code.
    pub fn code(&self) -> &str {
        &self.info.code
    }
}

impl From<&Diagnostic> for ConfigErrorBody {
    fn from(error: &Diagnostic) -> Self {
        let place = error.place.clone().unwrap_or_default();
        Self {
            line: place.line,
            column: place.column,
            what: error.message.clone(),
            hint: error.hint_text().unwrap_or_default(),
        }
    }
}

/// The class of the error gives the status. Causes of internal errors go to the log only.
impl From<Diagnostic> for ApiError {
    fn from(error: Diagnostic) -> Self {
        match error.kind {
            ErrorKind::Usage => Self::from_diagnostic(StatusCode::UNPROCESSABLE_ENTITY, "invalid", &error),
            ErrorKind::Rejected => Self::from_diagnostic(StatusCode::CONFLICT, "conflict", &error),
            ErrorKind::Internal => Self::internal(error),
        }
    }
}

/// An error of a request that failed inside the server.
impl From<ApiError> for Diagnostic {
    fn from(error: ApiError) -> Self {
        let ErrorInfo { message, details, hint, .. } = *error.info;
        let details = details.into_iter().filter(|detail| *detail != message);
        let lines: Vec<String> = std::iter::once(message.clone()).chain(details).collect();
        Self::internal(lines.join("\n")).hint(hint.unwrap_or_default())
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
            SiteDbError::QuotaExceeded { of_site, used, more, limit } => {
                quota_error(of_site, used, more, limit)
            }
            SiteDbError::Invalid { field, what } => Self::invalid(field, format!("{field}: {what}")),
            other => Self::internal(other),
        }
    }
}

/// The error of an upload that does not fit on the disk any more.
fn quota_error(of_site: bool, used: u64, more: u64, limit: u64) -> ApiError {
    let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
    let numbers = format!("{} of {}, and this one needs {}", mib(used), mib(limit), mib(more));
    if of_site {
        let message = format!("all submissions of this site occupy {numbers}");
        return ApiError::new(StatusCode::INSUFFICIENT_STORAGE, "site_quota", message)
            .hint("ask an organiser to raise the limit (`agon serve --upload-total`), and submit again");
    }
    ApiError::conflict("quota", format!("your submissions, old versions included, occupy {numbers}"))
        .hint("withdraw bots that you do not need, submit smaller files, or ask an organiser to raise the limit (`agon serve --upload-quota`)")
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
    /// Any other error.
    #[error("{0}")]
    Other(Diagnostic),
}

impl From<StartError> for Diagnostic {
    fn from(error: StartError) -> Self {
        match error {
            // A problem with the site's own database is never an error in a request at this point.
            StartError::SiteDb(error) => error.diagnostic().of_kind(ErrorKind::Internal),
            StartError::Grid(error) => error.into(),
            StartError::Other(error) => error,
        }
    }
}

impl StartError {
    /// The data folder cannot be created.
    pub fn data_folder(path: &Path, error: &std::io::Error) -> Self {
        Self::Other(
            Diagnostic::internal(error)
                .at(Place::file(path.display().to_string()))
                .hint("choose another data folder, or create this one"),
        )
    }

    /// An error without a hint.
    pub fn other(what: impl std::fmt::Display) -> Self {
        Self::Other(Diagnostic::internal(what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_error_is_422_with_hint_and_field() {
        let error = Diagnostic::wrong_use("too long", "use at most 40 characters").at(Place::field("name"));
        let answer = ApiError::from(error);
        assert_eq!((answer.status(), answer.code()), (StatusCode::UNPROCESSABLE_ENTITY, "invalid"));
        assert_eq!(answer.message(), "name: too long");
        assert_eq!(answer.info.hint.as_deref(), Some("use at most 40 characters"));
        assert_eq!(answer.info.field.as_deref(), Some("name"));
        assert_eq!(answer.describe(), "name: too long\nhint: use at most 40 characters");
    }

    #[test]
    fn several_errors_have_their_positions() {
        let at =
            |line| Diagnostic::wrong_use("wrong", "fix it").at(Place::file("cup.toml").line(line).column(2));
        let answer = ApiError::from(at(3).with(at(7)));
        assert_eq!(answer.message(), "cup.toml:3:2: wrong\nhint: fix it\ncup.toml:7:2: wrong\nhint: fix it");
        assert_eq!(answer.info.hint, None);
        let positions: Vec<_> = answer.info.config_errors.iter().map(|one| (one.line, one.column)).collect();
        assert_eq!(positions, [(Some(3), Some(2)), (Some(7), Some(2))]);
        assert_eq!(answer.info.config_errors[0].hint, "fix it");
    }

    #[test]
    fn rejection_is_409_and_internal_error_hides_its_cause() {
        assert_eq!(ApiError::from(Diagnostic::rejected("no")).status(), StatusCode::CONFLICT);
        let broken = ApiError::from(Diagnostic::internal("/srv/agon is gone").hint("restore it"));
        assert_eq!(broken.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert!(!broken.describe().contains("/srv"), "{}", broken.describe());
    }

    #[test]
    fn start_error_of_the_site_database_is_internal() {
        let error = StartError::from(SiteDbError::DiskFull { place: "site.db".to_owned() });
        assert_eq!(Diagnostic::from(error).kind, ErrorKind::Internal);
    }
}
