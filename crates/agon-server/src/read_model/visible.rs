//! A competition, as a handler gets it: only if whoever asks may see it.

use std::sync::Arc;

use agon_store::site_db::{HostedCompetition, CompetitionState};
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;

use super::CompetitionHandle;
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// The competition whose `{id}` stands in the path. A draft, and one that is not public, is there for organisers only. Who asks is found
/// out only where that matters: for everybody else a table costs no look into the office.
pub struct VisibleCompetition {
    /// What is shown of it.
    pub arena: Arc<CompetitionHandle>,
    /// What the office says of it.
    pub row: Arc<HostedCompetition>,
}

impl VisibleCompetition {
    /// Whether its tables change all the time.
    pub fn is_running(&self) -> bool {
        self.row.state == CompetitionState::Running
    }
}

/// Whether everybody may see it.
pub fn is_shown(row: &HostedCompetition) -> bool {
    row.public && row.state != CompetitionState::Draft
}

impl FromRequestParts<AppState> for VisibleCompetition {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> ApiResult<Self> {
        let missing = || ApiError::not_found("competition");
        let arena = {
            let params = RawPathParams::from_request_parts(parts, app).await.map_err(|_| missing())?;
            let id = params.iter().find(|(name, _)| *name == "id").map(|(_, id)| id);
            app.arenas.get(id.ok_or_else(missing)?)?
        };
        let row = arena.site_row(&app.office).await?;
        if !is_shown(&row) && !Caller::from_request_parts(parts, app).await?.is_organiser() {
            return Err(missing());
        }
        Ok(Self { arena, row })
    }
}
