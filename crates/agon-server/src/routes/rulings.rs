//! Rulings: void matches and disqualified bots. Each has a reason and is kept permanently.

use agon_core::{Diagnostic, ErrorKind};
use agon_league::{Entrant, MatchKey};
use agon_runner::rulings;
use agon_site_db::HostedCompetition;
use agon_store::{Ledger, NewRuling, RulingKind, RulingLift, StoreError, Timestamp};
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::admin::append_audit;
use super::submissions::find_entrant;
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path};
use crate::read_model::FeedEvent;
use crate::state::AppState;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(make_ruling)).routes(routes!(lift_ruling))
}

/// A ruling to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RulingBody {
    /// Kind of ruling.
    kind: NewRulingKind,
    /// Phase of the void match, from 1.
    phase: Option<u32>,
    /// The void match, as `STAGE-NUMBER`.
    #[serde(rename = "match")]
    name: Option<String>,
    /// The bot to disqualify.
    bot: Option<i64>,
    /// Reason: 1 to 500 characters, shown below the tables.
    #[schema(min_length = 1, max_length = 500)]
    reason: String,
}

/// Kind of a new ruling.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum NewRulingKind {
    /// The match does not count.
    Void,
    /// The bot is not ranked.
    Disqualify,
}

/// A request to lift a ruling.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LiftBody {
    /// Reason: 1 to 500 characters.
    #[schema(min_length = 1, max_length = 500)]
    reason: String,
}

/// A ruling that was just made or lifted.
#[derive(Debug, Serialize, ToSchema)]
pub struct RulingMade {
    /// Number of the ruling, from 1.
    pub id: u64,
    /// `void` or `disqualify`.
    pub kind: String,
    /// Phase of the void match, from 1.
    pub phase: Option<u32>,
    /// The void match.
    #[serde(rename = "match")]
    pub key: Option<String>,
    /// The disqualified bot.
    pub bot: Option<i64>,
    /// Name of the disqualified bot.
    pub name: Option<String>,
    /// Why it was decided.
    pub reason: String,
    /// Name of the organiser.
    pub by: String,
    /// When it was decided.
    pub at: i64,
    /// Set when the ruling is no longer in force.
    pub lifted: Option<RulingLifted>,
}

/// How a ruling was lifted.
#[derive(Debug, Serialize, ToSchema)]
pub struct RulingLifted {
    /// When it was lifted.
    pub at: i64,
    /// Name of the organiser.
    pub by: String,
    /// Why it was lifted.
    pub reason: String,
}

/// Makes a match void, or disqualifies a bot. The tables show the ruling and its reason.
#[utoipa::path(
    post, path = "/competitions/{id}/rulings", tag = "desk", operation_id = "make_ruling", request_body = RulingBody,
    params(("id" = String, Path, description = "The competition.")),
    responses(
        (status = 201, description = "The ruling is in force.", body = RulingMade),
        (status = 409, description = "The competition has not started, or the ruling is not possible (`ruling`).", body = ErrorBody),
    ),
)]
async fn make_ruling(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    Json(body): Json<RulingBody>,
) -> ApiResult<(StatusCode, Json<RulingMade>)> {
    let me = caller.organiser()?;
    let competition = app.site_db.competition(&id).await?;
    check_reason(&body.reason)?;
    let kind = ruling_kind(&app, &competition, &body).await?;
    let (loaded, _) = app.competitions.get(&id)?.started()?;
    let ledger = loaded.ledger_to_rule_at(&app.config.ledgers).await.map_err(ApiError::internal)?;
    let new =
        NewRuling { kind, reason: body.reason.trim().to_owned(), by: me.name.clone(), at: Timestamp::now() };
    let created = rulings::make_ruling(&*ledger, &loaded.competition, &new).await.map_err(|error| {
        if error.kind() == ErrorKind::Usage {
            ruling_error(&error.diagnostic())
        } else {
            ApiError::internal(error)
        }
    });
    let response = match created {
        Ok(number) => ruling_body(&app, &competition, &*ledger, number).await,
        Err(error) => Err(error),
    };
    let _ = ledger.disconnect().await;
    let response = response?;
    let subject = match (&response.key, &response.name) {
        (Some(key), _) => format!("{}: {key}", response.phase.unwrap_or_default()),
        (_, name) => name.clone().unwrap_or_default(),
    };
    append_audit(&app, me, &format!("ruling.{}", response.kind), &id, &subject, &response.reason).await?;
    publish_tables(&app, &id);
    Ok((StatusCode::CREATED, Json(response)))
}

/// Lifts a ruling. It stays in the list, with the reason for lifting it.
#[utoipa::path(
    post, path = "/competitions/{id}/rulings/{ruling}/lift", tag = "desk", operation_id = "lift_ruling", request_body = LiftBody,
    params(("id" = String, Path, description = "The competition."), ("ruling" = u64, Path, description = "The ruling.")),
    responses(
        (status = 200, description = "The ruling is no longer in force.", body = RulingMade),
        (status = 409, description = "The competition has not started, or the ruling was already lifted (`ruling`).", body = ErrorBody),
    ),
)]
async fn lift_ruling(
    State(app): State<AppState>,
    caller: Caller,
    Path((id, ruling)): Path<(String, u64)>,
    Json(body): Json<LiftBody>,
) -> ApiResult<Json<RulingMade>> {
    let me = caller.organiser()?;
    let competition = app.site_db.competition(&id).await?;
    check_reason(&body.reason)?;
    let (loaded, reader) = app.competitions.get(&id)?.started()?;
    let known = reader.rulings().await.map_err(ApiError::internal)?;
    if !known.iter().any(|one| one.id == ruling) {
        return Err(ApiError::not_found("ruling"));
    }
    let ledger = loaded.ledger_to_rule_at(&app.config.ledgers).await.map_err(ApiError::internal)?;
    let lifted =
        RulingLift { reason: body.reason.trim().to_owned(), by: me.name.clone(), at: Timestamp::now() };
    let response = match ledger.lift_ruling(ruling, &lifted).await {
        Ok(()) => ruling_body(&app, &competition, &*ledger, ruling).await,
        Err(error @ StoreError::InvalidRuling { .. }) => Err(ruling_error(&error.diagnostic())),
        Err(error) => Err(ApiError::internal(error)),
    };
    let _ = ledger.disconnect().await;
    let response = response?;
    append_audit(&app, me, "ruling.lift", &id, &format!("ruling {ruling}"), &lifted.reason).await?;
    publish_tables(&app, &id);
    Ok(Json(response))
}

fn check_reason(reason: &str) -> ApiResult<()> {
    let length = reason.trim().chars().count();
    if (1..=500).contains(&length) && !reason.chars().any(char::is_control) {
        return Ok(());
    }
    Err(ApiError::invalid("reason", "reason: must be one line of 1 to 500 characters")
        .hint("say why; everyone can see it"))
}

/// The ruling in terms of the ledger, from phase numbers and bot ids.
async fn ruling_kind(
    app: &AppState,
    competition: &HostedCompetition,
    body: &RulingBody,
) -> ApiResult<RulingKind> {
    match body.kind {
        NewRulingKind::Void => {
            let missing = |field| ApiError::invalid(field, format!("{field}: required for a void match"));
            let phase = body.phase.and_then(|phase| phase.checked_sub(1)).ok_or_else(|| missing("phase"))?;
            let name = body.name.as_deref().ok_or_else(|| missing("match"))?;
            let key = parse_match_key(phase, name).ok_or_else(|| {
                ApiError::invalid("match", "match: this is not a match")
                    .hint("write STAGE-NUMBER, such as 2-15")
            })?;
            Ok(RulingKind::Void(key))
        }
        NewRulingKind::Disqualify => {
            let bot =
                body.bot.ok_or_else(|| ApiError::invalid("bot", "bot: required for a disqualification"))?;
            let entrant = find_entrant(app, &competition.id, bot).await?;
            let number = entrant.number.ok_or_else(|| {
                ApiError::conflict("ruling", format!("{} does not take part", entrant.name))
                    .hint("before the start, withdraw the bot instead")
            })?;
            Ok(RulingKind::Disqualify(Entrant(number)))
        }
    }
}

fn parse_match_key(phase: u32, name: &str) -> Option<MatchKey> {
    let (stage, number) = name.split_once('-')?;
    let (stage, number): (u32, u64) = (stage.parse().ok()?, number.parse().ok()?);
    Some(MatchKey { phase, stage: stage.checked_sub(1)?, number: number.checked_sub(1)? })
}

/// The ledger does not accept the ruling.
fn ruling_error(error: &Diagnostic) -> ApiError {
    ApiError::from_diagnostic(StatusCode::CONFLICT, "ruling", error)
}

async fn ruling_body(
    app: &AppState,
    competition: &HostedCompetition,
    ledger: &dyn Ledger,
    id: u64,
) -> ApiResult<RulingMade> {
    let all = ledger.rulings().await.map_err(ApiError::internal)?;
    let one = all.into_iter().find(|one| one.id == id).ok_or_else(|| ApiError::not_found("ruling"))?;
    let mut created = RulingMade {
        id,
        kind: "void".to_owned(),
        phase: None,
        key: None,
        bot: None,
        name: None,
        reason: one.reason,
        by: one.by,
        at: one.at.0,
        lifted: one.lifted.map(|lifted| RulingLifted {
            at: lifted.at.0,
            by: lifted.by,
            reason: lifted.reason,
        }),
    };
    match one.kind {
        RulingKind::Void(key) => {
            created.phase = Some(key.phase + 1);
            created.key = Some(format!("{}-{}", key.stage + 1, key.number + 1));
        }
        RulingKind::Disqualify(number) => {
            "disqualify".clone_into(&mut created.kind);
            let entrants = app.site_db.entrants(&competition.id).await?;
            let found = entrants.into_iter().find(|entrant| entrant.number == Some(number.0));
            (created.bot, created.name) = found.map(|entrant| (entrant.id.0, entrant.name)).unzip();
        }
    }
    Ok(created)
}

/// Publishes that the tables of all phases may have changed.
fn publish_tables(app: &AppState, id: &str) {
    let Ok(handle) = app.competitions.get(id) else { return };
    let revision = handle.changed();
    let phases = handle.loaded().map_or(0, |loaded| loaded.competition.phases.len());
    for phase in 0..phases as u32 {
        handle.publish(FeedEvent::Table { phase, revision });
    }
}
