//! Organiser API: freezing the standings before a final, revealing them place by place, lifting the freeze.

use agon_site_db::StandingsFreeze;
use agon_store::Timestamp;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::admin::append_audit;
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path};
use crate::read_model::VisibleCompetition;
use crate::read_model::freeze::{FreezeBody, freeze_body};
use crate::state::AppState;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(change_freeze))
}

/// A change of the freeze.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FreezeChange {
    /// What to do.
    action: FreezeAction,
    /// For `reveal`: how many places are shown from now on, counted from the last one.
    #[schema(maximum = 1_000_000)]
    places: Option<u32>,
}

/// What organisers can do with the standings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FreezeAction {
    /// From now on only organisers see new results.
    Freeze,
    /// Shows places from the last one upwards.
    Reveal,
    /// Everyone sees everything again.
    Lift,
}

/// The freeze after a change.
#[derive(Debug, Serialize, ToSchema)]
pub struct FreezeState {
    /// The freeze in force; null if there is none.
    pub frozen: Option<FreezeBody>,
}

/// Freezes the standings, reveals places or lifts the freeze. For organisers.
#[utoipa::path(
    post, path = "/competitions/{id}/freeze", tag = "desk", operation_id = "freeze", request_body = FreezeChange,
    params(("id" = String, Path, description = "The competition.")),
    responses(
        (status = 200, description = "Done.", body = FreezeState),
        (status = 409, description = "The standings are frozen already (`frozen`), or they are not (`not_frozen`), or nothing was played (`not_started`).", body = ErrorBody),
        (status = 422, description = "There are fewer places.", body = ErrorBody),
    ),
)]
async fn change_freeze(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    Json(body): Json<FreezeChange>,
) -> ApiResult<Json<FreezeState>> {
    let me = caller.organiser()?;
    let handle = app.competitions.get(&id)?;
    let row = handle.site_row(&app.site_db).await?;
    let name = row.name.clone();
    let visible = VisibleCompetition { handle: handle.clone(), site_row: row.clone() };
    let now = Timestamp::now();
    let since = handle.frozen_since(row.state);
    let not_frozen = || ApiError::conflict("not_frozen", "the standings are not frozen");
    let (freeze, action) = match body.action {
        FreezeAction::Freeze => {
            handle.started()?;
            if since.is_some() {
                return Err(ApiError::conflict("frozen", "the standings are frozen already"));
            }
            (StandingsFreeze { since: now, revealed: 0, lifted: None }, "competition.freeze")
        }
        FreezeAction::Reveal => {
            let since = since.ok_or_else(not_frozen)?;
            let wanted = body.places.ok_or_else(|| ApiError::invalid("places", "places: is missing"))?;
            let most = freeze_body(&app, &visible).await?.map_or(0, |freeze| freeze.places);
            if wanted > most {
                return Err(ApiError::invalid("places", format!("places: there are {most}")));
            }
            (StandingsFreeze { since, revealed: wanted, lifted: None }, "competition.reveal")
        }
        FreezeAction::Lift => {
            let since = since.ok_or_else(not_frozen)?;
            let revealed = handle.freeze().map_or(0, |freeze| freeze.revealed);
            (StandingsFreeze { since, revealed, lifted: Some(now) }, "competition.unfreeze")
        }
    };
    app.site_db.set_standings_freeze(&id, freeze).await?;
    handle.set_freeze(Some(freeze));
    handle.publish_freeze();
    append_audit(&app, me, action, &id, &name, "").await?;
    Ok(Json(FreezeState { frozen: freeze_body(&app, &visible).await? }))
}
