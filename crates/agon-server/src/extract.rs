//! What handlers take from a request, with refusals as all others are: [`Path`], [`Query`] and [`Json`] in place of axum's.

use axum::body::{self, Body};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::ApiError;

/// A JSON body is never longer: bytes.
pub const JSON_BYTES: usize = 64 * 1024;

/// What stands in the path. What cannot be there is not found.
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
            Err(_) => Err(ApiError::not_found("thing").hint("look at the numbers in the address")),
        }
    }
}

/// What stands behind the `?`.
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
                format!("what stands behind the `?` cannot be read: {}", rejection.body_text()),
            )),
        }
    }
}

/// A JSON body, both ways. One that comes must call itself `application/json`, so that no form of another site can send it.
#[derive(Clone, Copy, Debug)]
pub struct Json<T>(pub T);

impl<T, S> FromRequest<S> for Json<T>
where
    T: DeserializeOwned,
    S: Send + Sync,
{
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        if !is_json(request.headers()) {
            return Err(ApiError::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "not_json",
                "the body must be JSON and say so",
            )
            .hint("send the header Content-Type: application/json"));
        }
        let bytes = whole(request.into_body()).await?;
        // A list would do for serde, by the order of the fields: nobody is told of that, and nobody may rely on it.
        if bytes.trim_ascii_start().starts_with(b"[") {
            return Err(ApiError::invalid("body", "the body is a list, not an object")
                .hint("write {\"field\": value}"));
        }
        let mut deserializer = serde_json::Deserializer::from_slice(&bytes);
        let value = T::deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
        value.map(Self).map_err(|error| unreadable(&error))
    }
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

/// The whole body, if it is not too long. Nothing is read of one that says it is.
async fn whole(body: Body) -> Result<bytes::Bytes, ApiError> {
    let too_large = || ApiError::too_large(format!("the body is longer than {JSON_BYTES} bytes"));
    if body::HttpBody::size_hint(&body).lower() > JSON_BYTES as u64 {
        return Err(too_large());
    }
    body::to_bytes(body, JSON_BYTES).await.map_err(|error| {
        if std::error::Error::source(&error)
            .is_some_and(<dyn std::error::Error>::is::<http_body_util::LengthLimitError>)
        {
            too_large()
        } else {
            ApiError::bad_request("cut_off", "the body ended before its end")
        }
    })
}

/// What serde says of it: the place, and the field where it knows it.
fn unreadable(error: &serde_json::Error) -> ApiError {
    if error.is_data() {
        let words = error.to_string();
        // serde puts the names of fields into back quotes; values too, but then it begins otherwise.
        let named = ["missing field", "unknown field", "duplicate field"]
            .iter()
            .any(|start| words.starts_with(start));
        let field = words.split('`').nth(1).filter(|_| named).unwrap_or("body").to_owned();
        return ApiError::invalid(&field, words);
    }
    ApiError::bad_request("not_json", format!("the body is no JSON: {error}"))
}
