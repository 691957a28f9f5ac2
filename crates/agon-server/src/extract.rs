//! Request extractors that fail with an [`ApiError`]: [`Path`], [`Query`] and [`Json`] replace those of axum.

use axum::body::{self, Body};
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::ApiError;

/// Maximum size of a JSON body in bytes.
pub const MAX_JSON_BYTES: usize = 64 * 1024;

/// Parameters of the path. Parameters that cannot be parsed are 404.
#[derive(Clone, Copy, Debug)]
pub struct Path<T>(pub T);

impl<T, S> FromRequestParts<S> for Path<T>
where
    T: DeserializeOwned + Send,
    S: Send + Sync,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match axum::extract::Path::<T>::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(value)) => Ok(Self(value)),
            Err(_) => Err(ApiError::not_found("thing").hint("check the ids in the address")),
        }
    }
}

/// Parameters of the query string.
#[derive(Clone, Copy, Debug)]
pub struct Query<T>(pub T);

impl<T, S> FromRequestParts<S> for Query<T>
where
    T: DeserializeOwned,
    S: Send + Sync,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        match axum::extract::Query::<T>::try_from_uri(&parts.uri) {
            Ok(axum::extract::Query(value)) => Ok(Self(value)),
            Err(rejection) => Err(ApiError::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "invalid",
                format!("the query string cannot be read: {}", rejection.body_text()),
            )),
        }
    }
}

/// A JSON body of a request or a response. A request must say `application/json`, so that no form on another site can send it.
#[derive(Clone, Copy, Debug)]
pub struct Json<T>(pub T);

impl<T, S> FromRequest<S> for Json<T>
where
    T: DeserializeOwned,
    S: Send + Sync,
{
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        check_is_json(request.headers())?;
        let bytes = read_body(request.into_body()).await?;
        parse(&bytes).map(Self)
    }
}

/// A body that a handler reads as bytes, up to the limit of its route.
pub fn whole_body(read: Result<bytes::Bytes, BytesRejection>) -> Result<bytes::Bytes, ApiError> {
    read.map_err(|rejection| {
        if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
            ApiError::too_large("the body is too long")
        } else {
            ApiError::bad_request("cut_off", "the body is incomplete")
        }
    })
}

/// Parses a body that a handler has read itself, because it may be larger than others.
pub fn parse_json<T: DeserializeOwned>(headers: &HeaderMap, bytes: &[u8]) -> Result<T, ApiError> {
    check_is_json(headers)?;
    parse(bytes)
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    // serde would also accept a list with the fields in order. That is undocumented, so clients must not rely on it.
    if bytes.trim_ascii_start().starts_with(b"[") {
        return Err(
            ApiError::invalid("body", "the body is a list, not an object").hint("write {\"field\": value}")
        );
    }
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = T::deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    value.map_err(|error| json_error(&error))
}

fn check_is_json(headers: &HeaderMap) -> Result<(), ApiError> {
    if is_json(headers) {
        return Ok(());
    }
    let message = "the body must be JSON, with a JSON content type";
    Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", message)
        .hint("send the header Content-Type: application/json"))
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        axum::Json(self.0).into_response()
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// Reads the whole body up to the limit. Reads nothing if the declared length exceeds it.
async fn read_body(body: Body) -> Result<bytes::Bytes, ApiError> {
    let too_large = || ApiError::too_large(format!("the body is longer than {MAX_JSON_BYTES} bytes"));
    if body::HttpBody::size_hint(&body).lower() > MAX_JSON_BYTES as u64 {
        return Err(too_large());
    }
    body::to_bytes(body, MAX_JSON_BYTES).await.map_err(|error| {
        if std::error::Error::source(&error)
            .is_some_and(<dyn std::error::Error>::is::<http_body_util::LengthLimitError>)
        {
            too_large()
        } else {
            ApiError::bad_request("cut_off", "the body is incomplete")
        }
    })
}

/// Converts an error of serde, with the field if serde names it.
fn json_error(error: &serde_json::Error) -> ApiError {
    if error.is_data() {
        let message = error.to_string();
        // serde puts names of fields in back quotes. It does the same with values, but those messages start differently.
        let named = ["missing field", "unknown field", "duplicate field"]
            .iter()
            .any(|start| message.starts_with(start));
        let field = message.split('`').nth(1).filter(|_| named).unwrap_or("body").to_owned();
        return ApiError::invalid(&field, message);
    }
    ApiError::bad_request("not_json", format!("the body is not JSON: {error}"))
}
