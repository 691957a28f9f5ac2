//! Handlers of the API, one file per topic.

pub mod accounts;
pub mod admin;
pub mod audit;
pub mod bots;
mod challenge_body;
mod challenge_request;
pub mod challenges;
pub mod comments;
pub mod competition_actions;
pub mod competition_forms;
pub mod competitions;
pub mod dashboard;
pub mod downloads;
pub mod drafts;
pub mod freeze;
pub mod game_files;
pub mod games;
pub mod invitations;
pub mod live;
pub mod marks;
pub mod matches;
pub mod my_bots;
pub mod notifications;
pub mod password_resets;
pub mod people;
pub mod oembed;
pub mod phases;
pub mod played;
pub mod practice;
pub mod profiles;
pub mod play;
pub mod play_events;
pub mod pictures;
mod repro_bundle;
pub mod rulings;
pub mod search;
pub mod session;
pub mod share_pictures;
pub mod site;
pub mod submissions;
pub mod system;
pub mod teams;
pub mod tokens;
pub mod webhooks;
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
        .merge(people::router())
        .merge(profiles::router())
        .merge(password_resets::router())
        .merge(teams::router())
        .merge(notifications::router())
        .merge(webhooks::router())
        .merge(comments::router())
        .merge(search::router())
        .merge(invitations::router())
        .merge(audit::router())
        .merge(games::router())
        .merge(game_files::router())
        .merge(competitions::router())
        .merge(phases::router())
        .merge(matches::router())
        .merge(bots::router())
        .merge(live::router())
        .merge(share_pictures::router())
        .merge(oembed::router())
        .merge(play::router())
        .merge(play_events::router())
        .merge(downloads::router())
        .merge(submissions::router())
        .merge(my_bots::router())
        .merge(marks::router())
        .merge(played::router())
        .merge(practice::router())
        .merge(challenges::router())
        .merge(admin::router())
        .merge(competition_actions::router())
        .merge(rulings::router())
        .merge(freeze::router())
        .merge(dashboard::router())
        .merge(drafts::router())
        .merge(competition_forms::router())
        .merge(pictures::router())
        .merge(system::router())
        .merge(workers::router())
}
