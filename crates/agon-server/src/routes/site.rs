//! The site and its current user.

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::caller::{AuthMethod, Caller, CurrentUser};
use crate::config::SignUp;
use crate::error::{ApiResult, ErrorBody};
use crate::extract::Json;
use crate::state::AppState;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(site))
}

/// The site and the signed-in user.
#[derive(Debug, Serialize, ToSchema)]
pub struct Site {
    /// Name of the site.
    pub name: String,
    /// Version of Agon.
    pub version: &'static str,
    /// Rule for creating accounts.
    pub signup: SignUp,
    /// Whether the site requires sign-in for everything.
    pub private: bool,
    /// Whether the caller may play in the browser.
    pub play: bool,
    /// Whether the site sends mails, such as links for a new password.
    pub mail: bool,
    /// The signed-in user.
    pub me: Option<CurrentUser>,
    /// Value for the header `X-CSRF-Token` of requests that change something; null without a session.
    pub csrf: Option<String>,
}

impl Site {
    /// The site as sent to this caller.
    pub fn seen_by(app: &AppState, caller: &Caller) -> Self {
        let csrf = match caller.auth_method() {
            Some(AuthMethod::Session { csrf }) => Some(csrf.clone()),
            Some(AuthMethod::Token { .. }) | None => None,
        };
        Self {
            name: app.config.name.clone(),
            version: env!("CARGO_PKG_VERSION"),
            signup: app.config.sign_up,
            private: app.config.private,
            play: app.play.is_open_to(caller),
            mail: app.config.mail.is_some(),
            me: caller.user().cloned(),
            csrf,
        }
    }
}

/// The site and the signed-in user.
#[utoipa::path(
    get, path = "/site", tag = "site", operation_id = "site",
    responses((status = 200, description = "The site.", body = Site), (status = 401, description = "The API token is invalid.", body = ErrorBody)),
)]
async fn site(State(app): State<AppState>, caller: Caller) -> ApiResult<Json<Site>> {
    Ok(Json(Site::seen_by(&app, &caller)))
}
