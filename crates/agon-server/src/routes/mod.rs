//! What the API answers, one file for each part of it.

pub mod accounts;
pub mod audit;
pub mod bots;
mod repro_bundle;
pub mod competitions;
pub mod admin;
pub mod downloads;
pub mod games;
pub mod invitations;
pub mod live;
pub mod system;
pub mod matches;
pub mod my_bots;
pub mod phases;
pub mod rulings;
pub mod session;
pub mod site;
pub mod submissions;
pub mod tokens;
pub mod workers;

use utoipa_axum::router::OpenApiRouter;

use crate::state::AppState;

/// All of them.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .merge(site::router())
        .merge(session::router())
        .merge(accounts::router())
        .merge(tokens::router())
        .merge(invitations::router())
        .merge(audit::router())
        .merge(games::router())
        .merge(competitions::router())
        .merge(phases::router())
        .merge(matches::router())
        .merge(bots::router())
        .merge(live::router())
        .merge(downloads::router())
        .merge(submissions::router())
        .merge(my_bots::router())
        .merge(admin::router())
        .merge(rulings::router())
        .merge(system::router())
        .merge(workers::router())
}
