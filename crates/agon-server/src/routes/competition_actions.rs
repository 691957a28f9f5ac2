//! Organiser API: actions that change the state of a competition.

use agon_site_db::{CompetitionPatch, CompetitionState, HostedCompetition};
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::admin::{AdminCompetition, admin_body, append_audit, find_hosted, wrong_state};
use super::submissions::next_phase;
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path};
use crate::read_model::FeedEvent;
use crate::runs::{self, entrants};
use crate::state::AppState;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(run_action))
}

/// An action on a competition.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ActionBody {
    /// The action.
    action: OrganiserAction,
    /// Reason, for the audit log.
    #[schema(max_length = 500)]
    reason: Option<String>,
}

/// Actions of organisers on a competition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum OrganiserAction {
    /// Opens submissions.
    Open,
    /// Closes submissions.
    Close,
    /// Assigns entrant numbers and starts playing.
    Start,
    /// Stops after the games being played.
    Pause,
    /// Continues after a pause or a failure.
    Resume,
    /// Starts the next phase of a competition that waits for new versions.
    Next,
}

impl OrganiserAction {
    const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Close => "close",
            Self::Start => "start",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Next => "next",
        }
    }
}

/// Runs an action on a competition. If the state does not allow it: 409 with the reason.
#[utoipa::path(
    post, path = "/competitions/{id}/actions", tag = "desk", operation_id = "act", request_body = ActionBody,
    params(("id" = String, Path, description = "The competition.")),
    responses(
        (status = 200, description = "Done.", body = AdminCompetition),
        (status = 409, description = "Not possible in this state (`state`), or bots are still being checked (`checking`).", body = ErrorBody),
    ),
)]
async fn run_action(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    Json(body): Json<ActionBody>,
) -> ApiResult<Json<AdminCompetition>> {
    let me = caller.organiser()?;
    let found = app.site_db.competition(&id).await?;
    let reason = body.reason.unwrap_or_default();
    if reason.chars().count() > 500 {
        return Err(ApiError::invalid("reason", "reason: at most 500 characters"));
    }
    let done = match body.action {
        OrganiserAction::Open => open(&app, &found).await,
        OrganiserAction::Close => close(&app, &found).await,
        OrganiserAction::Start => start(&app, &found).await,
        OrganiserAction::Pause => pause(&app, &found).await,
        OrganiserAction::Resume => resume(&app, &found).await,
        OrganiserAction::Next => next(&app, &found).await,
    }?;
    append_audit(&app, me, &format!("competition.{}", body.action.name()), &id, &found.name, &reason).await?;
    if let Ok(competition_handle) = app.competitions.get(&id) {
        competition_handle.changed();
        competition_handle.publish(FeedEvent::State { state: done.state, message: done.message.clone() });
    }
    Ok(Json(admin_body(&app, &done).await?))
}

/// Changes the state, or says why not.
async fn set_state(
    app: &AppState,
    found: &HostedCompetition,
    from: &[CompetitionState],
    to: CompetitionState,
    what: &str,
) -> ApiResult<HostedCompetition> {
    if !from.contains(&found.state) {
        return Err(wrong_state(found, what));
    }
    match app.site_db.set_state(&found.id, from, to, None).await {
        // Another organiser changed the state first.
        Err(agon_site_db::SiteDbError::Conflict { what }) => Err(ApiError::conflict("state", what)),
        other => {
            let changed = other?;
            tracing::info!(id = found.id, from = %found.state, to = %changed.state, "state of a competition changed");
            Ok(changed)
        }
    }
}

async fn open(app: &AppState, found: &HostedCompetition) -> ApiResult<HostedCompetition> {
    find_hosted(app, &found.id).await?;
    if found.state == CompetitionState::Waiting {
        return close_between_phases(app, &found.id, false).await;
    }
    let what = "bots can be submitted before the start and between phases";
    set_state(app, found, &[CompetitionState::Draft, CompetitionState::Closed], CompetitionState::Open, what)
        .await
}

/// Accepts, or no longer accepts, new versions while the competition waits for its next phase.
async fn close_between_phases(app: &AppState, id: &str, closed: bool) -> ApiResult<HostedCompetition> {
    let edit = CompetitionPatch { closed_between_phases: Some(closed), ..CompetitionPatch::default() };
    Ok(app.site_db.edit_competition(id, &[CompetitionState::Waiting], &edit).await?)
}

async fn close(app: &AppState, found: &HostedCompetition) -> ApiResult<HostedCompetition> {
    find_hosted(app, &found.id).await?;
    if found.state == CompetitionState::Waiting {
        return close_between_phases(app, &found.id, true).await;
    }
    set_state(
        app,
        found,
        &[CompetitionState::Open],
        CompetitionState::Closed,
        "only an open competition can be closed",
    )
    .await
}

/// Fails while bots are being checked: they would be left out.
async fn check_none_pending(app: &AppState, id: &str) -> ApiResult<()> {
    match app.site_db.count_pending(id).await? {
        0 => Ok(()),
        1 => {
            Err(ApiError::conflict("checking", "a bot is still being checked").hint("try again in a moment"))
        }
        n => Err(ApiError::conflict("checking", format!("{n} bots are still being checked"))
            .hint("try again in a moment")),
    }
}

async fn start(app: &AppState, found: &HostedCompetition) -> ApiResult<HostedCompetition> {
    let before = [CompetitionState::Draft, CompetitionState::Open, CompetitionState::Closed];
    // Closes submissions, so that the number of pending checks cannot grow.
    set_state(app, found, &before, CompetitionState::Closed, "it has already started").await?;
    let ready = async {
        check_none_pending(app, &found.id).await?;
        entrants::assign_numbers(app, found).await
    };
    if let Err(error) = ready.await {
        let _ = app.site_db.set_state(&found.id, &[CompetitionState::Closed], found.state, None).await;
        return Err(error);
    }
    let started = set_state(
        app,
        &HostedCompetition { state: CompetitionState::Closed, ..found.clone() },
        &[CompetitionState::Closed],
        CompetitionState::Running,
        "",
    )
    .await?;
    runs::play(app, &found.id);
    Ok(started)
}

async fn pause(app: &AppState, found: &HostedCompetition) -> ApiResult<HostedCompetition> {
    let done = set_state(
        app,
        found,
        &[CompetitionState::Running],
        CompetitionState::Paused,
        "only a running competition can be paused",
    )
    .await?;
    app.runs.stop(&found.id);
    Ok(done)
}

async fn resume(app: &AppState, found: &HostedCompetition) -> ApiResult<HostedCompetition> {
    let from = [CompetitionState::Paused, CompetitionState::Failed];
    let done = set_state(
        app,
        found,
        &from,
        CompetitionState::Running,
        "only a paused or failed competition can be resumed",
    )
    .await?;
    runs::play(app, &found.id);
    Ok(done)
}

async fn next(app: &AppState, found: &HostedCompetition) -> ApiResult<HostedCompetition> {
    if found.state != CompetitionState::Waiting {
        return Err(wrong_state(found, "it is not waiting between phases"));
    }
    // Closes submissions, so that the number of pending checks cannot grow.
    close_between_phases(app, &found.id, true).await?;
    let ready = async {
        check_none_pending(app, &found.id).await?;
        let phase = next_phase(app, &found.id).await?;
        entrants::start_phase(app, found, phase).await
    };
    if let Err(error) = ready.await {
        close_between_phases(app, &found.id, found.closed_between_phases).await?;
        return Err(error);
    }
    let done = set_state(app, found, &[CompetitionState::Waiting], CompetitionState::Running, "").await?;
    runs::play(app, &found.id);
    Ok(done)
}
