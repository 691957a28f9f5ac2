//! Pages of bots.

use utoipa_axum::router::OpenApiRouter;

use crate::state::App;

/// Its routes.
pub fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default()
}
