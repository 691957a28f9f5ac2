//! Marks of bots: `AI` and `exploit`, set by the author or an organiser, and any other mark of an organiser.

use agon_site_db::{Entrant, StoredMark};
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::admin::append_audit;
use super::submissions::{find_entrant, find_visible};
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path};
use crate::runs::entrants;
use crate::state::AppState;

/// Marks that authors can set.
const AUTHOR_MARKS: [&str; 2] = ["AI", "exploit"];

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(set_marks))
}

/// A mark and its note.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkBody {
    /// The mark, shown in brackets after the name. Authors can use `AI` and `exploit`.
    #[schema(min_length = 1, max_length = 20)]
    mark: String,
    /// What it means here, such as which part AI wrote.
    #[schema(max_length = 200)]
    note: Option<String>,
}

/// All marks of a bot.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MarksBody {
    /// The marks.
    #[schema(max_items = 6)]
    marks: Vec<MarkBody>,
}

impl From<StoredMark> for MarkBody {
    fn from(stored: StoredMark) -> Self {
        Self { mark: stored.mark, note: stored.note }
    }
}

/// Replaces the marks of a bot. Its author can change the author's own marks before the start, an organiser all marks at any time.
#[utoipa::path(
    put, path = "/competitions/{id}/bots/{bot}/marks", tag = "submissions", operation_id = "set_marks", request_body = MarksBody,
    params(("id" = String, Path, description = "The competition."), ("bot" = i64, Path, description = "The bot.")),
    responses(
        (status = 200, description = "The marks that the bot has now.", body = MarksBody),
        (status = 409, description = "The competition has started (for authors), or it comes from a file.", body = ErrorBody),
        (status = 422, description = "A mark is not valid.", body = ErrorBody),
    ),
)]
async fn set_marks(
    State(app): State<AppState>,
    caller: Caller,
    Path((id, bot)): Path<(String, i64)>,
    Json(body): Json<MarksBody>,
) -> ApiResult<Json<MarksBody>> {
    let me = caller.signed_in()?;
    find_visible(&app, &caller, &id).await?;
    let entrant = find_entrant(&app, &id, bot).await?;
    let organiser = caller.is_organiser();
    if !organiser && !app.site_db.manages(&entrant, me.account()).await? {
        return Err(ApiError::forbidden("only the bot's author or an organiser can mark it"));
    }
    let competition = super::admin::find_hosted(&app, &id).await?;
    if !organiser && competition.numbers_assigned.is_some() {
        return Err(ApiError::conflict(
            "state",
            "the competition has started: an organiser can change marks",
        )
        .hint("give marks with a new version: agon submit --mark"));
    }
    let marks: Vec<StoredMark> =
        body.marks.into_iter().map(|one| stored(one, organiser)).collect::<Result<_, _>>()?;
    if organiser {
        app.site_db.set_marks(entrant.id, &marks).await?;
    } else {
        app.site_db.set_author_marks(entrant.id, &marks, false).await?;
    }
    append_audit(&app, me, "bot.marks", &id, &entrant.name, &describe(&marks)).await?;
    entrants::show_marks(&app, &competition).await?;
    let now = app.site_db.marks_of(entrant.id).await?;
    Ok(Json(MarksBody { marks: now.into_iter().map(MarkBody::from).collect() }))
}

/// A mark to store. An author can use known marks only; their spelling is corrected.
fn stored(one: MarkBody, by_organiser: bool) -> ApiResult<StoredMark> {
    let known = AUTHOR_MARKS.into_iter().find(|known| known.eq_ignore_ascii_case(one.mark.trim()));
    let mark = match known {
        Some(known) => known.to_owned(),
        None if by_organiser => one.mark.trim().to_owned(),
        None => {
            return Err(ApiError::invalid(
                "mark",
                format!("mark: authors can use {}", AUTHOR_MARKS.join(" and ")),
            )
            .hint("ask an organiser for any other mark"));
        }
    };
    let note = one.note.map(|note| note.trim().to_owned()).filter(|note| !note.is_empty());
    Ok(StoredMark { mark, note, by_organiser })
}

/// Marks as the audit log shows them.
fn describe(marks: &[StoredMark]) -> String {
    let one = |mark: &StoredMark| match &mark.note {
        Some(note) => format!("{}: {note}", mark.mark),
        None => mark.mark.clone(),
    };
    let all: Vec<String> = marks.iter().map(one).collect();
    if all.is_empty() { "no marks".to_owned() } else { all.join("; ").chars().take(500).collect() }
}

/// The marks in the form of an upload: `AI`, or `AI=which part it wrote`.
pub(super) fn parse_form(texts: &[String]) -> ApiResult<Vec<StoredMark>> {
    let one = |text: &String| {
        let (mark, note) = text.split_once('=').map_or((&**text, None), |(mark, note)| (mark, Some(note)));
        stored(MarkBody { mark: mark.to_owned(), note: note.map(str::to_owned) }, false)
    };
    texts.iter().map(one).collect()
}

/// Adds the marks that came with an upload to those of the entrant.
pub(super) async fn add(app: &AppState, entrant: &Entrant, marks: &[StoredMark]) -> ApiResult<()> {
    if marks.is_empty() {
        return Ok(());
    }
    app.site_db.set_author_marks(entrant.id, marks, true).await?;
    let competition = app.site_db.competition(&entrant.competition).await?;
    entrants::show_marks(app, &competition).await
}
