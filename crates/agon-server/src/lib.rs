//! Agon's place on the web: live tables, replays, uploads, an organiser's desk.
//!
//! Everything the pages use is an API of its own (`/api/v1`), described by OpenAPI. [`error`] is what refusals look like, [`caller`] who
//! asks, [`paging`] how lists come, [`gate`] what every request passes, [`routes`] what it then reaches. [`router`] is all of it without
//! a port; [`Server`] has one.

pub mod read_model;
pub mod assets;
pub mod caller;
pub mod config;
pub mod error;
pub mod extract;
mod bootstrap;
pub mod middleware;
pub mod grid;
pub mod uploads;
mod listen;
pub mod metrics;
mod openapi;
pub mod paging;
pub mod passwords;
pub mod routes;
pub mod runs;
mod server;
pub mod state;

use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderValue, header};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::{Router, routing};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate as _, SizeAbove};
use utoipa_axum::router::OpenApiRouter;

pub use config::{Config, SignUp};
pub use error::StartError;
pub use server::{Server, asked_to_stop, serve};
pub use state::AppState;

/// All of the API, with its description.
fn api() -> (Router<AppState>, utoipa::openapi::OpenApi) {
    let (router, api) =
        OpenApiRouter::with_openapi(openapi::frame()).nest("/api/v1", routes::router()).split_for_parts();
    (router, openapi::finish(api))
}

/// The API's description.
pub fn description() -> utoipa::openapi::OpenApi {
    api().1
}

/// Everything the server answers, behind its gate.
pub fn router(app: AppState) -> Router {
    let (router, description) = api();
    let description = bytes::Bytes::from(description.to_json().unwrap_or_default());
    let describe = move || std::future::ready(described(description.clone()));
    let router = router
        .route("/api/openapi.json", routing::get(describe))
        .route("/healthz", routing::get(metrics::health))
        .route("/metrics", routing::get(metrics::metrics))
        .method_not_allowed_fallback(assets::wrong_method)
        .fallback(assets::page);
    behind_the_gate(router, app)
}

/// Puts what every request passes in front of some routes.
pub fn behind_the_gate(router: Router<AppState>, app: AppState) -> Router {
    router
        // The last one sees a request first.
        .layer(DefaultBodyLimit::max(extract::JSON_BYTES))
        .layer(CompressionLayer::new().compress_when(DefaultPredicate::new().and(SizeAbove::new(1024))))
        .layer(from_fn_with_state(app.clone(), middleware::authorize))
        .layer(from_fn(middleware::time_limit))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(app.clone(), middleware::headers::put))
        .layer(from_fn_with_state(app.clone(), metrics::count))
        .with_state(app)
}

fn described(description: bytes::Bytes) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], description).into_response()
}

/// A handler that panics breaks its own answer, nothing else.
#[allow(clippy::needless_pass_by_value, reason = "the layer hands it over")]
fn panicked(panic: Box<dyn std::any::Any + Send + 'static>) -> Response {
    error::ApiError::broke(format!("a handler panicked: {}", error::panic_words(&*panic))).into_response()
}
