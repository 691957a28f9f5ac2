//! Rulings: a match that counts for nothing, a bot that is out. Each with a reason, kept for good.

use agon_league::{Entrant, MatchKey};
use agon_runner::rulings::rule;
use agon_store::site_db::HostedCompetition;
use agon_store::{Ledger, Lifted, NewRuling, RulingKind, StoreError, Timestamp};
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::admin::note;
use super::submissions::entrant;
use crate::read_model::FeedEvent;
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path};
use crate::state::AppState;

/// Its routes.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(make_ruling)).routes(routes!(lift_ruling))
}

/// A ruling that is to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RulingBody {
    /// What is decided.
    kind: Kind,
    /// Of a void match: its phase, from 1.
    phase: Option<u32>,
    /// Of a void match: which, as `STAGE-NUMBER`.
    #[serde(rename = "match")]
    name: Option<String>,
    /// Of a disqualification: the bot.
    bot: Option<i64>,
    /// Why: 1 to 500 characters, shown under the tables.
    #[schema(min_length = 1, max_length = 500)]
    reason: String,
}

/// What is decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A match counts for nothing.
    Void,
    /// A bot is out.
    Disqualify,
}

/// Why a ruling is lifted.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LiftBody {
    /// Why: 1 to 500 characters.
    #[schema(min_length = 1, max_length = 500)]
    reason: String,
}

/// A ruling, as it was just made or lifted.
#[derive(Debug, Serialize, ToSchema)]
pub struct RulingMade {
    /// Its number, from 1.
    pub id: u64,
    /// `void` or `disqualify`.
    pub kind: String,
    /// Of a void match: its phase, from 1.
    pub phase: Option<u32>,
    /// Of a void match: which.
    #[serde(rename = "match")]
    pub key: Option<String>,
    /// Of a disqualification: the bot.
    pub bot: Option<i64>,
    /// Of a disqualification: the bot's name.
    pub name: Option<String>,
    /// Why.
    pub reason: String,
    /// Who decided.
    pub by: String,
    /// When.
    pub at: i64,
    /// That it is no longer in force.
    pub lifted: Option<RulingLifted>,
}

/// That a ruling is no longer in force.
#[derive(Debug, Serialize, ToSchema)]
pub struct RulingLifted {
    /// When.
    pub at: i64,
    /// Who decided.
    pub by: String,
    /// Why.
    pub reason: String,
}

/// Makes a match void, or disqualifies a bot. It is shown in the tables, with its reason.
#[utoipa::path(
    post, path = "/competitions/{id}/rulings", tag = "desk", operation_id = "make_ruling", request_body = RulingBody,
    params(("id" = String, Path, description = "The competition.")),
    responses(
        (status = 201, description = "It is in force.", body = RulingMade),
        (status = 409, description = "The competition was not started, or it cannot be ruled so (`ruling`).", body = ErrorBody),
    ),
)]
async fn make_ruling(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    Json(body): Json<RulingBody>,
) -> ApiResult<(StatusCode, Json<RulingMade>)> {
    let me = caller.organiser()?;
    let competition = app.office.competition(&id).await?;
    reason_fits(&body.reason)?;
    let kind = kind(&app, &competition, &body).await?;
    let (sitting, _) = app.arenas.get(&id)?.started()?;
    let ledger = sitting.ledger_to_rule_at(&app.config.ledgers).await.map_err(ApiError::broke)?;
    let new = NewRuling { kind, reason: body.reason.trim().to_owned(), by: me.name.clone(), at: Timestamp::now() };
    let made = rule(&*ledger, &sitting.competition, &new).await.map_err(|error| {
        if error.is_wrong_use() { in_words(&error.to_string()) } else { ApiError::broke(error) }
    });
    let shown = match made {
        Ok(number) => shown(&app, &competition, &*ledger, number).await,
        Err(error) => Err(error),
    };
    let _ = ledger.disconnect().await;
    let shown = shown?;
    let subject = match (&shown.key, &shown.name) {
        (Some(key), _) => format!("{}: {key}", shown.phase.unwrap_or_default()),
        (_, name) => name.clone().unwrap_or_default(),
    };
    note(&app, me, &format!("ruling.{}", shown.kind), &id, &subject, &shown.reason).await?;
    changed(&app, &id);
    Ok((StatusCode::CREATED, Json(shown)))
}

/// Lifts a ruling: it stays in the list, with the reason why it is no longer in force.
#[utoipa::path(
    post, path = "/competitions/{id}/rulings/{ruling}/lift", tag = "desk", operation_id = "lift_ruling", request_body = LiftBody,
    params(("id" = String, Path, description = "The competition."), ("ruling" = u64, Path, description = "The ruling.")),
    responses(
        (status = 200, description = "It is no longer in force.", body = RulingMade),
        (status = 409, description = "The competition was not started, or it was lifted before (`ruling`).", body = ErrorBody),
    ),
)]
async fn lift_ruling(
    State(app): State<AppState>,
    caller: Caller,
    Path((id, ruling)): Path<(String, u64)>,
    Json(body): Json<LiftBody>,
) -> ApiResult<Json<RulingMade>> {
    let me = caller.organiser()?;
    let competition = app.office.competition(&id).await?;
    reason_fits(&body.reason)?;
    let (sitting, reader) = app.arenas.get(&id)?.started()?;
    let known = reader.rulings().await.map_err(ApiError::broke)?;
    if !known.iter().any(|one| one.id == ruling) {
        return Err(ApiError::not_found("ruling"));
    }
    let ledger = sitting.ledger_to_rule_at(&app.config.ledgers).await.map_err(ApiError::broke)?;
    let lifted = Lifted { reason: body.reason.trim().to_owned(), by: me.name.clone(), at: Timestamp::now() };
    let shown = match ledger.lift(ruling, &lifted).await {
        Ok(()) => shown(&app, &competition, &*ledger, ruling).await,
        Err(error @ StoreError::Ruling { .. }) => Err(in_words(&error.to_string())),
        Err(error) => Err(ApiError::broke(error)),
    };
    let _ = ledger.disconnect().await;
    let shown = shown?;
    note(&app, me, "ruling.lift", &id, &format!("ruling {ruling}"), &lifted.reason).await?;
    changed(&app, &id);
    Ok(Json(shown))
}

fn reason_fits(reason: &str) -> ApiResult<()> {
    let length = reason.trim().chars().count();
    if (1..=500).contains(&length) && !reason.chars().any(char::is_control) {
        return Ok(());
    }
    Err(ApiError::invalid("reason", "reason: one line of 1 to 500 characters")
        .hint("say why: it is shown to all"))
}

/// What is meant, from phases and bots as people name them.
async fn kind(app: &AppState, competition: &HostedCompetition, body: &RulingBody) -> ApiResult<RulingKind> {
    match body.kind {
        Kind::Void => {
            let missing = |field| ApiError::invalid(field, format!("{field}: which match is void?"));
            let phase = body.phase.and_then(|phase| phase.checked_sub(1)).ok_or_else(|| missing("phase"))?;
            let name = body.name.as_deref().ok_or_else(|| missing("match"))?;
            let key = key(phase, name).ok_or_else(|| {
                ApiError::invalid("match", "match: this is no match").hint("it is STAGE-NUMBER, such as 2-15")
            })?;
            Ok(RulingKind::Void(key))
        }
        Kind::Disqualify => {
            let bot = body.bot.ok_or_else(|| ApiError::invalid("bot", "bot: who is disqualified?"))?;
            let entrant = entrant(app, &competition.id, bot).await?;
            let number = entrant.number.ok_or_else(|| {
                ApiError::conflict("ruling", format!("{} does not take part", entrant.name))
                    .hint("before the start, a bot is withdrawn")
            })?;
            Ok(RulingKind::Disqualify(Entrant(number)))
        }
    }
}

fn key(phase: u32, name: &str) -> Option<MatchKey> {
    let (stage, number) = name.split_once('-')?;
    let (stage, number): (u32, u64) = (stage.parse().ok()?, number.parse().ok()?);
    Some(MatchKey { phase, stage: stage.checked_sub(1)?, number: number.checked_sub(1)? })
}

/// A refusal in the ledger's own words; its hint is ours too.
fn in_words(words: &str) -> ApiError {
    let (what, hint) = words.split_once("\nhint: ").unwrap_or((words, ""));
    let error = ApiError::conflict("ruling", what);
    if hint.is_empty() { error } else { error.hint(hint) }
}

async fn shown(app: &AppState, competition: &HostedCompetition, ledger: &dyn Ledger, id: u64) -> ApiResult<RulingMade> {
    let all = ledger.rulings().await.map_err(ApiError::broke)?;
    let one = all.into_iter().find(|one| one.id == id).ok_or_else(|| ApiError::not_found("ruling"))?;
    let mut made = RulingMade {
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
            made.phase = Some(key.phase + 1);
            made.key = Some(format!("{}-{}", key.stage + 1, key.number + 1));
        }
        RulingKind::Disqualify(number) => {
            "disqualify".clone_into(&mut made.kind);
            let entrants = app.office.entrants(&competition.id).await?;
            let found = entrants.into_iter().find(|entrant| entrant.number == Some(number.0));
            (made.bot, made.name) = found.map(|entrant| (entrant.id.0, entrant.name)).unzip();
        }
    }
    Ok(made)
}

/// The tables of all phases may have changed.
fn changed(app: &AppState, id: &str) {
    let Ok(arena) = app.arenas.get(id) else { return };
    let revision = arena.changed();
    let phases = arena.sitting().map_or(0, |sitting| sitting.competition.phases.len());
    for phase in 0..phases as u32 {
        arena.publish(FeedEvent::Table { phase, revision });
    }
}
