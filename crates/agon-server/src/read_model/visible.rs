//! Extractor for a competition that the caller may see.

use std::sync::Arc;

use agon_site_db::{CompetitionState, HostedCompetition};
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;

use super::CompetitionHandle;
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// The competition whose `{id}` is in the path. Drafts and non-public competitions are visible to organisers only. The caller is looked up
/// only for those and while the standings are frozen, so that reading a public table does not query the site database for it.
pub struct VisibleCompetition {
    /// The competition.
    pub handle: Arc<CompetitionHandle>,
    /// Its row in the site database.
    pub site_row: Arc<HostedCompetition>,
}

impl VisibleCompetition {
    /// The competition as a caller sees it who may see it at all. While the standings are frozen, only organisers see newer results.
    pub fn of(
        handle: &Arc<CompetitionHandle>,
        site_row: &Arc<HostedCompetition>,
        is_organiser: bool,
    ) -> Self {
        let (handle, site_row) = handle.as_seen_by(site_row, is_organiser);
        Self { handle, site_row }
    }

    /// Whether the competition is running, so that its tables change all the time.
    pub fn is_running(&self) -> bool {
        self.site_row.state == CompetitionState::Running
    }
}

/// Whether everyone may see the competition.
pub fn is_public(site_row: &HostedCompetition) -> bool {
    site_row.public && site_row.state != CompetitionState::Draft
}

impl FromRequestParts<AppState> for VisibleCompetition {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> ApiResult<Self> {
        let missing = || ApiError::not_found("competition");
        let handle = {
            let params = RawPathParams::from_request_parts(parts, app).await.map_err(|_| missing())?;
            let id = params.iter().find(|(name, _)| *name == "id").map(|(_, id)| id);
            app.competitions.get(id.ok_or_else(missing)?)?
        };
        let site_row = handle.site_row(&app.site_db).await?;
        let is_frozen = handle.frozen_since(site_row.state).is_some();
        if is_public(&site_row) && !is_frozen {
            return Ok(Self { handle, site_row });
        }
        let is_organiser = Caller::from_request_parts(parts, app).await?.is_organiser();
        if !is_public(&site_row) && !is_organiser {
            return Err(missing());
        }
        Ok(Self::of(&handle, &site_row, is_organiser))
    }
}
