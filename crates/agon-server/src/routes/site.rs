//! The site itself, as whoever asks sees it.

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::caller::{Caller, CurrentUser, AuthMethod};
use crate::config::SignUp;
use crate::error::{ApiResult, ErrorBody};
use crate::extract::Json;
use crate::state::AppState;

/// Its routes.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(site))
}

/// The site, and who is signed in.
#[derive(Debug, Serialize, ToSchema)]
pub struct Site {
    /// Its name.
    pub name: String,
    /// Agon's version.
    pub version: &'static str,
    /// Who may make an account.
    pub signup: SignUp,
    /// Nothing is shown to who is not signed in.
    pub private: bool,
    /// Who is signed in.
    pub me: Option<CurrentUser>,
    /// To be sent as `X-CSRF-Token` with everything that changes something; null for who did not sign in with a password.
    pub csrf: Option<String>,
}

impl Site {
    /// As whoever asks sees it.
    pub fn seen_by(app: &AppState, caller: &Caller) -> Self {
        let csrf = match caller.proof() {
            Some(AuthMethod::Session { csrf }) => Some(csrf.clone()),
            Some(AuthMethod::Token { .. }) | None => None,
        };
        Self {
            name: app.config.name.clone(),
            version: env!("CARGO_PKG_VERSION"),
            signup: app.config.sign_up,
            private: app.config.private,
            me: caller.me().cloned(),
            csrf,
        }
    }
}

/// The site, and who is signed in.
#[utoipa::path(
    get, path = "/site", tag = "site", operation_id = "site",
    responses((status = 200, description = "The site.", body = Site), (status = 401, description = "The token is no good.", body = ErrorBody)),
)]
async fn site(State(app): State<AppState>, caller: Caller) -> ApiResult<Json<Site>> {
    Ok(Json(Site::seen_by(&app, &caller)))
}
