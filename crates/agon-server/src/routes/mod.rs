//! Handlers of the API, one file per topic.

pub mod accounts;
pub mod admin;
pub mod audit;
pub mod bots;
pub mod competition_actions;
pub mod competitions;
pub mod downloads;
pub mod game_files;
pub mod games;
pub mod invitations;
pub mod live;
pub mod marks;
pub mod matches;
pub mod my_bots;
pub mod phases;
mod repro_bundle;
pub mod rulings;
pub mod session;
pub mod site;
pub mod submissions;
pub mod system;
pub mod tokens;
pub mod workers;

use utoipa_axum::router::OpenApiRouter;

use crate::state::AppState;

/// All routes of the API.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .merge(site::router())
        .merge(session::router())
        .merge(accounts::router())
        .merge(tokens::router())
        .merge(invitations::router())
        .merge(audit::router())
        .merge(games::router())
        .merge(game_files::router())
        .merge(competitions::router())
        .merge(phases::router())
        .merge(matches::router())
        .merge(bots::router())
        .merge(live::router())
        .merge(downloads::router())
        .merge(submissions::router())
        .merge(my_bots::router())
        .merge(marks::router())
        .merge(admin::router())
        .merge(competition_actions::router())
        .merge(rulings::router())
        .merge(system::router())
        .merge(workers::router())
}
