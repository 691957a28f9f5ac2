//! The caller's own bots.

use std::sync::Arc;

use agon_site_db::{
    CompetitionState, EntrantId, HostedCompetition, PageRequest, SubmissionFilter, SubmissionState,
};
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::marks::MarkBody;
use super::submissions::{Submission, latest_submissions, submission_body};
use crate::caller::{Caller, CurrentUser};
use crate::error::{ApiError, ApiResult};
use crate::extract::Json;
use crate::paging::PageBody;
use crate::read_model::VisibleCompetition;
use crate::state::AppState;
use crate::uploads;

/// Maximum number of bots in the list.
const MAX_BOTS: usize = 200;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(my_bots))
}

/// A bot of the caller.
#[derive(Debug, Serialize, ToSchema)]
pub struct MyBot {
    /// Id of the bot's page.
    pub bot: i64,
    /// Entrant number in tables; null before the start.
    pub entrant: Option<u32>,
    /// The bot's name.
    pub name: String,
    /// The bot's author: the caller.
    pub contributor: Option<String>,
    /// The bot's role, in a game with roles.
    pub role: Option<String>,
    /// Always false: house bots have no owner.
    pub house: bool,
    /// Always true.
    pub mine: bool,
    /// The latest accepted version.
    pub version: Option<u32>,
    /// Marks shown after the name.
    pub marks: Vec<MarkBody>,
    /// Whether it takes no part: it was withdrawn, or its first version was rejected.
    pub withdrawn: bool,
    /// Whether it takes no part because its first version was rejected, or because the check of it failed. Its author did not withdraw it.
    pub rejected: bool,
    /// Why it was disqualified.
    pub disqualified: Option<String>,
    /// Id of the competition.
    pub competition: String,
    /// The competition's name.
    pub competition_name: String,
    /// The game's id.
    pub game: String,
    /// The competition's state.
    pub state: String,
    /// Whether a new version can be submitted now.
    pub accepts: bool,
    /// The latest submission.
    pub latest: Option<Submission>,
}

/// The caller's bots in all competitions, most recently submitted first.
#[utoipa::path(
    get, path = "/me/bots", tag = "submissions", operation_id = "my_bots",
    responses((status = 200, description = "All bots of the caller.", body = PageBody<MyBot>)),
)]
async fn my_bots(State(app): State<AppState>, caller: Caller) -> ApiResult<Json<PageBody<MyBot>>> {
    let me = caller.signed_in()?;
    let mut seen: Vec<EntrantId> = Vec::new();
    let mut items = Vec::new();
    let mut submissions = latest_submissions(&app, me).await?;
    let others = team_submissions(&app, me, &submissions).await?;
    submissions.extend(others);
    submissions.sort_by_key(|one| std::cmp::Reverse(one.created.0));
    for one in &submissions {
        if seen.contains(&one.entrant) || items.len() >= MAX_BOTS {
            continue;
        }
        seen.push(one.entrant);
        let entrant = app.site_db.entrant(one.entrant).await?;
        // The bots of a team stay with the team after the caller has left it.
        if !app.site_db.manages(&entrant, me.account()).await? {
            continue;
        }
        let contributor = app.site_db.contributor_name(&entrant).await?;
        let competition = app.site_db.competition(&one.competition).await?;
        let state = shown_state(&app, &caller, &competition).name().to_owned();
        let version = submissions
            .iter()
            .filter(|other| other.entrant == one.entrant)
            .filter_map(|other| other.version)
            .max();
        let plays = entrant.withdrawn.is_none()
            && (competition.state != CompetitionState::Waiting || entrant.number.is_some());
        items.push(MyBot {
            bot: entrant.id.0,
            entrant: entrant.number,
            name: entrant.name,
            contributor,
            role: entrant.role,
            house: false,
            mine: true,
            version,
            marks: app.site_db.marks_of(entrant.id).await?.into_iter().map(MarkBody::from).collect(),
            withdrawn: entrant.withdrawn.is_some(),
            rejected: version.is_none()
                && matches!(one.state, SubmissionState::Refused | SubmissionState::CheckFailed),
            disqualified: disqualification_reason(&app, &caller, &competition, entrant.number).await?,
            accepts: plays && uploads::accepts_bots(&competition),
            competition: competition.id,
            competition_name: competition.name,
            game: competition.game,
            state,
            latest: Some(submission_body(&app, one).await?),
        });
    }
    Ok(Json(PageBody { items, next: None }))
}

/// Submissions of bots of the caller's teams that others submitted, the latest first for each bot.
async fn team_submissions(
    app: &AppState,
    me: &CurrentUser,
    own: &[agon_site_db::Submission],
) -> ApiResult<Vec<agon_site_db::Submission>> {
    let mut all = Vec::new();
    for entrant in app.site_db.entrants_of_teams_of(me.account()).await? {
        let page = PageRequest { after: None, limit: 50 };
        let listed = app.site_db.submissions(SubmissionFilter::Entrant(entrant.id), page).await?;
        all.extend(listed.items.into_iter().filter(|one| own.iter().all(|other| other.id != one.id)));
    }
    Ok(all)
}

/// The state of a competition as the caller sees it: its end is not shown while its standings are frozen.
fn shown_state(app: &AppState, caller: &Caller, competition: &HostedCompetition) -> CompetitionState {
    let Ok(handle) = app.competitions.get(&competition.id) else { return competition.state };
    let row = Arc::new(competition.clone());
    VisibleCompetition::of(&handle, &row, caller.is_organiser()).site_row.state
}

async fn disqualification_reason(
    app: &AppState,
    caller: &Caller,
    competition: &HostedCompetition,
    number: Option<u32>,
) -> ApiResult<Option<String>> {
    let (Some(number), Ok(handle)) = (number, app.competitions.get(&competition.id)) else { return Ok(None) };
    let row = Arc::new(competition.clone());
    let handle = VisibleCompetition::of(&handle, &row, caller.is_organiser()).handle;
    let Some(ledger) = handle.ledger() else { return Ok(None) };
    let out = agon_runner::rulings::disqualified(&*ledger).await.map_err(ApiError::internal)?;
    Ok(out.into_iter().find(|(entrant, _)| entrant.0 == number).map(|(_, reason)| reason))
}
