//! Deadlines for submissions, as the competition's file sets them.

use agon_competition::LoadedCompetition;
use agon_league::config::Deadline;
use agon_site_db::{CompetitionState, HostedCompetition};
use agon_store::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::{ApiError, ApiResult};
use crate::routes::submissions::next_phase;
use crate::state::AppState;

/// Until when bots are accepted.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DeadlineItem {
    /// The last moment, in milliseconds since the epoch.
    pub at: i64,
    /// The same as the competition's file has it, with its time zone.
    pub text: String,
    /// Whether it is past.
    pub past: bool,
}

impl From<&Deadline> for DeadlineItem {
    fn from(deadline: &Deadline) -> Self {
        let past = deadline.is_past(Timestamp::now().0);
        Self { at: deadline.unix_ms, text: deadline.text.clone(), past }
    }
}

/// The deadline that counts now. `next_phase` is the phase (from 0) that starts next, once the competition has started.
pub fn current<'c>(
    row: &HostedCompetition,
    loaded: &'c LoadedCompetition,
    next_phase: Option<u32>,
) -> Option<&'c Deadline> {
    let phase = match row.state {
        CompetitionState::Draft | CompetitionState::Open | CompetitionState::Closed => 0,
        CompetitionState::Waiting => next_phase?,
        _ => return None,
    };
    loaded.competition.deadline_before(phase)
}

/// Refuses an upload after the deadline. The moment at which the request arrived counts, not the end of the upload.
pub async fn check(app: &AppState, row: &HostedCompetition) -> ApiResult<()> {
    let loaded = app.competitions.get(&row.id).ok().and_then(|handle| handle.loaded());
    let Some(loaded) = loaded else { return Ok(()) };
    let waiting = row.state == CompetitionState::Waiting;
    let phase = if waiting { Some(next_phase(app, &row.id).await?) } else { None };
    match current(row, &loaded, phase) {
        Some(deadline) if deadline.is_past(Timestamp::now().0) => {
            let what = format!("{} accepted bots until {}", row.name, deadline.text);
            Err(ApiError::conflict("deadline", what).hint("ask the organiser for a later deadline"))
        }
        _ => Ok(()),
    }
}
