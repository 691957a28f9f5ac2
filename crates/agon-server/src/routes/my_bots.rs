//! One's own bots.

use std::collections::BTreeMap;

use agon_store::site_db::{self, EntrantId};
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::submissions::{Submission, latest_of, shown};
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult};
use crate::extract::Json;
use crate::uploads;
use crate::paging::PageBody;
use crate::state::AppState;

/// At most so many bots are listed.
const MOST: usize = 200;

/// Its routes.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(my_bots))
}

/// A bot of one's own.
#[derive(Debug, Serialize, ToSchema)]
pub struct MyBot {
    /// The id of its page.
    pub bot: i64,
    /// As `entrant` in tables; null before the start.
    pub entrant: Option<u32>,
    /// Its name.
    pub name: String,
    /// Who wrote it: oneself.
    pub contributor: Option<String>,
    /// Its role, in games that have different ones.
    pub role: Option<String>,
    /// Never: house bots are nobody's.
    pub house: bool,
    /// Always.
    pub mine: bool,
    /// The latest version that was accepted.
    pub version: Option<u32>,
    /// None: marks are for entrants of a file.
    #[schema(value_type = Vec<Object>)]
    pub marks: Vec<BTreeMap<String, String>>,
    /// It takes no part: withdrawn, or its first version was refused.
    pub withdrawn: bool,
    /// Why it was disqualified.
    pub disqualified: Option<String>,
    /// In which competition.
    pub competition: String,
    /// The competition's name.
    pub competition_name: String,
    /// The game's id.
    pub game: String,
    /// The competition's state.
    pub state: String,
    /// Whether a new version can be handed in now.
    pub accepts: bool,
    /// The latest that was handed in.
    pub latest: Option<Submission>,
}

/// One's own bots, in all competitions, those handed in last first.
#[utoipa::path(
    get, path = "/me/bots", tag = "submissions", operation_id = "my_bots",
    responses((status = 200, description = "All of them.", body = PageBody<MyBot>)),
)]
async fn my_bots(State(app): State<AppState>, caller: Caller) -> ApiResult<Json<PageBody<MyBot>>> {
    let me = caller.signed_in()?;
    let mut seen: Vec<EntrantId> = Vec::new();
    let mut items = Vec::new();
    let submissions = latest_of(&app, me).await?;
    for one in &submissions {
        if seen.contains(&one.entrant) || items.len() >= MOST {
            continue;
        }
        seen.push(one.entrant);
        let entrant = app.office.entrant(one.entrant).await?;
        let competition = app.office.competition(&one.competition).await?;
        let version = submissions
            .iter()
            .filter(|other| other.entrant == one.entrant)
            .filter_map(|other| other.version)
            .max();
        let plays = entrant.withdrawn.is_none()
            && (competition.state != site_db::CompetitionState::Waiting || entrant.number.is_some());
        items.push(MyBot {
            bot: entrant.id.0,
            entrant: entrant.number,
            name: entrant.name,
            contributor: Some(me.name.clone()),
            role: entrant.role,
            house: false,
            mine: true,
            version,
            marks: Vec::new(),
            withdrawn: entrant.withdrawn.is_some(),
            disqualified: disqualified(&app, &competition.id, entrant.number).await?,
            accepts: plays && uploads::accepts(&app, &competition).await,
            competition: competition.id,
            competition_name: competition.name,
            game: competition.game,
            state: competition.state.name().to_owned(),
            latest: Some(shown(&app, one).await?),
        });
    }
    Ok(Json(PageBody { items, next: None }))
}

async fn disqualified(app: &AppState, id: &str, number: Option<u32>) -> ApiResult<Option<String>> {
    let (Some(number), Ok(arena)) = (number, app.arenas.get(id)) else { return Ok(None) };
    let Some(ledger) = arena.ledger() else { return Ok(None) };
    let out = agon_runner::rulings::disqualified(&*ledger).await.map_err(ApiError::broke)?;
    Ok(out.into_iter().find(|(entrant, _)| entrant.0 == number).map(|(_, reason)| reason))
}
