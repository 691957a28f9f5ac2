//! Phases of a competition: tables, ratings, schedules, brackets.

use utoipa_axum::router::OpenApiRouter;

use crate::state::App;

/// Its routes.
pub fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default()
}
