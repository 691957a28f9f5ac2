//! The web server: API and web app with live tables, replays, uploads and the organiser dashboard.
//!
//! The pages use only the public API (`/api/v1`), which OpenAPI describes. [`error`] defines the error responses, [`caller`] the user of a
//! request, [`paging`] the lists, [`middleware`] the checks before every handler, [`routes`] the handlers. [`router`] is the whole service
//! without a port; [`Server`] listens on one.

pub mod assets;
mod bootstrap;
pub mod caller;
pub mod config;
pub mod error;
pub mod extract;
pub mod grid;
pub mod health;
mod listen;
pub mod metrics;
pub mod middleware;
pub mod notify;
mod openapi;
pub mod paging;
pub mod passwords;
pub mod played_games;
pub mod practice;
pub mod play;
pub mod read_model;
pub mod routes;
pub mod runs;
mod server;
pub mod sharing;
pub mod sign_in;
pub mod state;
pub mod stream_limits;
pub mod uploads;

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
pub use server::{Server, serve, wait_for_stop_signal};
pub use state::AppState;

/// The routes of the API and their OpenAPI document.
fn api() -> (Router<AppState>, utoipa::openapi::OpenApi) {
    let (router, api) =
        OpenApiRouter::with_openapi(openapi::base()).nest("/api/v1", routes::router()).split_for_parts();
    (router, openapi::add_common_responses(api))
}

/// The OpenAPI document.
pub fn description() -> utoipa::openapi::OpenApi {
    api().1
}

/// All routes of the server, behind the middleware.
pub fn router(app: AppState) -> Router {
    let (router, description) = api();
    let description = bytes::Bytes::from(description.to_json().unwrap_or_default());
    let describe = move || std::future::ready(openapi_response(description.clone()));
    let router = router
        .route("/api/openapi.json", routing::get(describe))
        .route("/healthz", routing::get(health::healthz))
        .route("/readyz", routing::get(health::readyz))
        .route("/metrics", routing::get(metrics::metrics))
        .method_not_allowed_fallback(assets::method_not_allowed)
        .fallback(assets::serve_app);
    behind_the_gate(router, app)
}

/// Adds the middleware that every request passes.
pub fn behind_the_gate(router: Router<AppState>, app: AppState) -> Router {
    router
        // The last layer sees a request first.
        .layer(DefaultBodyLimit::max(extract::MAX_JSON_BYTES))
        .layer(CompressionLayer::new().compress_when(DefaultPredicate::new().and(SizeAbove::new(1024))))
        .layer(from_fn_with_state(app.clone(), middleware::authorize))
        .layer(from_fn(middleware::time_limit))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(app.clone(), middleware::headers::add_headers))
        .layer(from_fn_with_state(app.clone(), metrics::count_requests))
        .layer(from_fn(middleware::request_id::add_request_id))
        .with_state(app)
}

fn openapi_response(description: bytes::Bytes) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], description).into_response()
}

/// Turns a panic of a handler into a 500 for that request. Other requests are not affected.
#[allow(clippy::needless_pass_by_value, reason = "required by the layer")]
fn panicked(panic: Box<dyn std::any::Any + Send + 'static>) -> Response {
    error::ApiError::internal(format!("a handler panicked: {}", error::panic_message(&*panic)))
        .into_response()
}
