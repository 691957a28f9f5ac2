//! Matches, films and records.

use utoipa_axum::router::OpenApiRouter;

use crate::state::App;

/// Its routes.
pub fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default()
}
