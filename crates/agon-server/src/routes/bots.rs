//! Pages of bots: what came of them; and for their authors what they printed and how to have a fault again.

use std::sync::Arc;

use agon_core::Fault;
use agon_league::{Entrant as Number, MatchKey};
use agon_store::site_db::{EntrantId, SubmissionFilter, PageRequest as OfficePage, SubmissionState};
use agon_store::{FaultFilter, StoredFault};
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::repro_bundle;
use super::matches::{GameLookup, attachment, film_path};
use crate::read_model::VisibleCompetition;
use crate::read_model::standings::PhaseStandings;
use crate::read_model::overview::{Entrant, Overview, PhaseItem, EntrantOwner, match_name};
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path, Query};
use crate::paging::{PageBody, PageQuery};
use crate::state::AppState;

/// Its routes.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(bot))
        .routes(routes!(faults))
        .routes(routes!(log))
        .routes(routes!(fault_capsule))
}

/// Which bot.
#[derive(Clone, Copy, Debug, Deserialize)]
struct BotPath {
    bot: i64,
}

/// Which game of a bot.
#[derive(Debug, Deserialize)]
struct LogPath {
    bot: i64,
    phase: u32,
    #[serde(rename = "match")]
    name: String,
    game: u32,
}

/// Which fault of a bot.
#[derive(Clone, Copy, Debug, Deserialize)]
struct FaultPath {
    bot: i64,
    fault: u64,
}

/// A bot.
#[derive(Debug, Serialize, ToSchema)]
pub struct BotPage {
    /// Who it is.
    #[serde(flatten)]
    pub entrant: Entrant,
    /// The competition's id.
    pub competition: String,
    /// The game's id.
    pub game: String,
    /// The first first.
    pub versions: Vec<Version>,
    /// Those it has played in.
    pub phases: Vec<BotPhase>,
}

/// A version of a bot.
#[derive(Debug, Serialize, ToSchema)]
pub struct Version {
    /// From 1.
    pub version: u32,
    /// What says which it is: SHA-256 of what was uploaded, or of its files.
    pub hash: String,
    /// When it was handed in.
    pub at: i64,
    /// From which phase on it plays.
    pub from_phase: u32,
    /// Its check, for its author.
    pub submission: Option<String>,
    /// The commit it was taken from.
    pub commit: Option<String>,
}

/// What a bot did in a phase.
#[derive(Debug, Serialize, ToSchema)]
pub struct BotPhase {
    /// From 1.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// Its place; null without one.
    pub rank: Option<u64>,
    /// Of how many.
    pub of: u64,
    /// Games it played.
    pub games: u64,
    /// What went wrong.
    pub faults: FaultCounts,
    /// How long it thought.
    pub time: ThinkTimes,
    /// How good it is, by whom it beat.
    pub rating: Option<RatingOf>,
    /// Against each of the others.
    pub opponents: Vec<Opponent>,
}

/// Faults by kind.
#[derive(Debug, Serialize, ToSchema)]
pub struct FaultCounts {
    /// Too late.
    pub timeout: u64,
    /// Broken down.
    pub crash: u64,
    /// Against the rules.
    pub illegal: u64,
    /// No answer that can be read.
    pub garbled: u64,
}

/// How long a bot thought.
#[derive(Debug, Serialize, ToSchema)]
pub struct ThinkTimes {
    /// How often it was asked.
    pub answers: u64,
    /// On average.
    pub mean_us: f64,
    /// At most.
    pub longest_us: f64,
}

/// A rating.
#[derive(Debug, Serialize, ToSchema)]
pub struct RatingOf {
    /// On the scale of Elo.
    pub rating: f64,
    /// Its standard error.
    pub error: f64,
}

/// What came of the games against another.
#[derive(Debug, Serialize, ToSchema)]
pub struct Opponent {
    /// The number of its page.
    pub bot: i64,
    /// Its name.
    pub name: String,
    /// How many games.
    pub games: u64,
    /// Won.
    pub won: u64,
    /// Won by nobody.
    pub drawn: u64,
    /// Lost.
    pub lost: u64,
    /// Mean scores: the bot's own, the other's.
    pub scores: [f64; 2],
}

/// The bot of this number; 404 if there is none, or it was never accepted.
fn taker(overview: &Overview, bot: i64) -> ApiResult<&EntrantOwner> {
    overview.takers.iter().find(|one| one.shown.bot == bot).ok_or_else(|| ApiError::not_found("bot"))
}

/// What a bot prints, and how to have its fault again, is its author's alone.
fn authors(caller: &Caller, taker: &EntrantOwner) -> ApiResult<()> {
    caller.signed_in()?;
    if caller.is(taker.account) {
        return Ok(());
    }
    Err(ApiError::forbidden("this is for the bot's author alone"))
}

/// A bot: versions, and what came of it in each phase.
#[utoipa::path(
    get, path = "/competitions/{id}/bots/{bot}", tag = "bots", operation_id = "bot",
    params(("id" = String, Path, description = "The competition."), ("bot" = i64, Path, description = "The bot.")),
    responses((status = 200, description = "The bot.", body = BotPage)),
)]
async fn bot(
    State(app): State<AppState>,
    seen: VisibleCompetition,
    caller: Caller,
    Path(BotPath { bot }): Path<BotPath>,
) -> ApiResult<Json<BotPage>> {
    let overview = seen.overview(&app).await?;
    let own = taker(&overview, bot)?;
    let mut phases = Vec::new();
    if let Some(entrant) = own.shown.entrant {
        for phase in overview.phases.iter().filter(|phase| phase.matches > 0) {
            let figures = seen.figures(&app, phase.number).await?;
            phases.extend(of_phase(&overview, phase, &figures, entrant));
        }
    }
    Ok(Json(BotPage {
        entrant: Entrant { mine: caller.is(own.account), ..own.shown.clone() },
        competition: seen.arena.id.clone(),
        game: seen.arena.game.to_owned(),
        versions: versions(&app, &seen, own, caller.is(own.account) || caller.is_organiser()).await?,
        phases,
    }))
}

/// What somebody uploaded is counted by the office, everything else by the ledger.
async fn versions(app: &AppState, seen: &VisibleCompetition, own: &EntrantOwner, submissions: bool) -> ApiResult<Vec<Version>> {
    let mut versions = Vec::new();
    if own.account.is_some() {
        let page = OfficePage { after: None, limit: 200 };
        let listed = app.office.submissions(SubmissionFilter::Entrant(EntrantId(own.shown.bot)), page).await?;
        for one in listed.items.into_iter().filter(|one| one.state == SubmissionState::Accepted) {
            versions.push(Version {
                version: one.version.unwrap_or_default(),
                hash: one.hash.hex(),
                at: one.created.0,
                from_phase: one.from_phase + 1,
                submission: submissions.then(|| one.id.to_string()),
                commit: None,
            });
        }
        versions.sort_by_key(|one| one.version);
    } else if let (Some(ledger), Some(entrant)) = (seen.arena.ledger(), own.shown.entrant) {
        let all = ledger.bots().await.map_err(ApiError::broke)?;
        let of_it = all.into_iter().filter(|one| one.entrant.0 == entrant);
        versions.extend(of_it.map(|one| Version {
            version: one.version,
            hash: one.hash.trim_start_matches("sha256:").to_owned(),
            at: one.at.0,
            from_phase: one.from_phase + 1,
            submission: None,
            commit: one.commit,
        }));
    }
    Ok(versions)
}

/// Nothing if it did not play in it.
fn of_phase(overview: &Overview, phase: &PhaseItem, figures: &PhaseStandings, entrant: u32) -> Option<BotPhase> {
    let deeds = figures.deeds.get(&entrant)?;
    let (rank, of) = figures.place(entrant);
    let rating = figures.standings.ratings.iter().find(|one| one.entrant.0 == entrant);
    let met = figures.standings.head_to_head.iter().filter_map(|met| {
        let forwards = met.one.0 == entrant;
        if !forwards && met.other.0 != entrant {
            return None;
        }
        let other = overview.taker(if forwards { met.other.0 } else { met.one.0 })?;
        let (won, lost) = if forwards { (met.won, met.lost) } else { (met.lost, met.won) };
        let (mine, theirs) = if forwards { met.scores } else { (met.scores.1, met.scores.0) };
        Some(Opponent {
            bot: other.shown.bot,
            name: other.shown.name.clone(),
            games: met.games.into(),
            won: won.into(),
            drawn: met.drawn.into(),
            lost: lost.into(),
            scores: [mine, theirs],
        })
    });
    let count = |fault: Fault| deeds.faults[fault.index()];
    let micros = |ns: f64| (ns / 100.0).round() / 10.0;
    Some(BotPhase {
        number: phase.number,
        name: phase.name.clone(),
        rank,
        of,
        games: deeds.games,
        faults: FaultCounts {
            timeout: count(Fault::Timeout),
            crash: count(Fault::Crash),
            illegal: count(Fault::Illegal),
            garbled: count(Fault::Garbled),
        },
        time: ThinkTimes {
            answers: deeds.answers,
            mean_us: micros(deeds.thought_ns as f64 / deeds.answers.max(1) as f64),
            longest_us: micros(deeds.longest_ns as f64),
        },
        rating: rating
            .filter(|one| one.rating.is_finite() && one.error.is_finite())
            .map(|one| RatingOf { rating: one.rating, error: one.error }),
        opponents: met.collect(),
    })
}

/// Something that went wrong.
#[derive(Debug, Serialize, ToSchema)]
pub struct FaultItem {
    /// Its number.
    pub id: u64,
    /// From 1.
    pub phase: u32,
    /// The match.
    #[serde(rename = "match")]
    pub match_: String,
    /// From 1.
    pub game: u32,
    /// The turn, from 1; 0 before the first.
    pub turn: u32,
    /// `timeout`, `crash`, `illegal`, `garbled`.
    pub fault: &'static str,
    /// What went wrong, in the bot's own words; null while its board is a secret, but for its author.
    pub says: Option<String>,
    /// What it printed last, for its author.
    pub stderr: Option<String>,
    /// When the match was over.
    pub at: i64,
    /// The film's address; null while its board is a secret.
    pub film: Option<String>,
    /// Where its author gets the record, and the command that has it happen again at home; null for others.
    pub capsule: Option<String>,
}

/// A bot's faults, newest first. What it printed is for its author.
#[utoipa::path(
    get, path = "/competitions/{id}/bots/{bot}/faults", tag = "bots", operation_id = "faults",
    params(("id" = String, Path, description = "The competition."), ("bot" = i64, Path, description = "The bot."), PageQuery),
    responses((status = 200, description = "A page of faults.", body = PageBody<FaultItem>)),
)]
async fn faults(
    State(app): State<AppState>,
    seen: VisibleCompetition,
    caller: Caller,
    Path(BotPath { bot }): Path<BotPath>,
    Query(paging): Query<PageQuery>,
) -> ApiResult<Json<PageBody<FaultItem>>> {
    let (limit, before) = (paging.limit()?, paging.after_number()?);
    let overview = seen.overview(&app).await?;
    let own = taker(&overview, bot)?;
    let (Some(ledger), Some(entrant)) = (seen.arena.ledger(), own.shown.entrant) else {
        return Ok(Json(PageBody { items: Vec::new(), next: None }));
    };
    let filter = FaultFilter {
        entrant: Some(Number(entrant)),
        // SQLite counts to 2^63.
        before: before.map(|before| before.min(i64::MAX as u64)),
        limit: Some(u64::from(limit) + 1),
        ..FaultFilter::default()
    };
    let mine = caller.is(own.account);
    let mut items = Vec::new();
    let mut rows = ledger.faults(filter);
    while let Some(one) = rows.next().await {
        items.push(fault_item(&seen, &overview, bot, mine, one.map_err(ApiError::broke)?));
    }
    Ok(Json(PageBody::of(items, limit, |last| last.id.to_string())))
}

fn fault_item(seen: &VisibleCompetition, overview: &Overview, bot: i64, mine: bool, one: StoredFault) -> FaultItem {
    let StoredFault { id, key, fault, finished } = one;
    let hidden = overview.hides(key.phase);
    let capsule = || format!("/api/v1/competitions/{}/bots/{bot}/faults/{id}/capsule", seen.arena.id);
    FaultItem {
        id,
        phase: key.phase + 1,
        match_: match_name(key),
        game: fault.game + 1,
        turn: fault.turn,
        fault: fault.report.fault.name(),
        says: (mine || !hidden).then_some(fault.report.says),
        stderr: (mine && !hidden).then_some(fault.report.stderr),
        at: finished.0,
        film: (!hidden).then(|| film_path(&seen.arena.id, key, fault.game)),
        capsule: (mine && !hidden).then(capsule),
    }
}

/// What a bot printed in a game.
#[derive(Debug, Serialize, ToSchema)]
pub struct BotLog {
    /// From 1.
    pub phase: u32,
    /// The match.
    #[serde(rename = "match")]
    pub match_: String,
    /// From 1.
    pub game: u32,
    /// In the order it was printed.
    pub turns: Vec<LogTurn>,
    /// Whether something was left out.
    pub cut: bool,
}

/// What a bot printed in a turn.
#[derive(Debug, Serialize, ToSchema)]
pub struct LogTurn {
    /// From 1; 0 before the first.
    pub turn: u32,
    /// What.
    pub text: String,
}

/// What a bot printed in a game. For its author.
#[utoipa::path(
    get, path = "/competitions/{id}/bots/{bot}/logs/{phase}/{match}/{game}", tag = "bots", operation_id = "log",
    params(
        ("id" = String, Path, description = "The competition."), ("bot" = i64, Path, description = "The bot."),
        ("phase" = u32, Path, description = "From 1."), ("match" = String, Path, description = "STAGE-NUMBER, such as 2-15."),
        ("game" = u32, Path, description = "From 1."),
    ),
    responses(
        (status = 200, description = "The log; empty if it printed nothing, or that was dropped to make room.", body = BotLog),
        (status = 403, description = "It is for its author, and boards must be no secret any more (code `hidden`).", body = ErrorBody),
        (status = 409, description = "The competition was not started yet.", body = ErrorBody),
    ),
)]
async fn log(
    State(app): State<AppState>,
    seen: VisibleCompetition,
    caller: Caller,
    Path(of): Path<LogPath>,
) -> ApiResult<Json<BotLog>> {
    let overview = seen.overview(&app).await?;
    let own = taker(&overview, of.bot)?;
    authors(&caller, own)?;
    let played = GameLookup::find(&app, &seen, of.phase, &of.name, of.game).await?;
    played.open()?;
    let seat = own.shown.entrant.and_then(|entrant| played.seat_of(entrant));
    let seat = seat.ok_or_else(|| ApiError::not_found("game of this bot"))?;
    let log = played.ledger.log(played.key(), played.game, seat).await.map_err(ApiError::broke)?;
    let turns: Vec<LogTurn> = log
        .into_iter()
        .flat_map(|log| log.printed)
        .map(|one| LogTurn { turn: one.turn, text: one.text })
        .collect();
    let cut = turns.iter().any(|one| {
        let middle =
            one.text.strip_prefix("\n... ").and_then(|text| text.strip_suffix(" bytes left out ...\n"));
        middle.is_some_and(|count| count.bytes().all(|b| b.is_ascii_digit()))
    });
    let MatchKey { phase, .. } = played.key();
    Ok(Json(BotLog { phase: phase + 1, match_: match_name(played.key()), game: of.game, turns, cut }))
}

/// A fault's capsule, for its author: a zip with the record, the bot's log and the command that has it happen again at home.
#[utoipa::path(
    get, path = "/competitions/{id}/bots/{bot}/faults/{fault}/capsule", tag = "bots", operation_id = "fault_capsule",
    params(
        ("id" = String, Path, description = "The competition."), ("bot" = i64, Path, description = "The bot."),
        ("fault" = u64, Path, description = "The fault."),
    ),
    responses(
        (status = 200, description = "The capsule.", body = Vec<u8>, content_type = "application/zip"),
        (status = 403, description = "It is for its author, and boards must be no secret any more (code `hidden`).", body = ErrorBody),
        (status = 409, description = "The competition was not started yet.", body = ErrorBody),
    ),
)]
async fn fault_capsule(
    State(app): State<AppState>,
    seen: VisibleCompetition,
    caller: Caller,
    Path(of): Path<FaultPath>,
) -> ApiResult<Response> {
    let overview = seen.overview(&app).await?;
    let own = taker(&overview, of.bot)?;
    authors(&caller, own)?;
    let (_, ledger) = seen.arena.started()?;
    let missing = || ApiError::not_found("fault");
    let entrant = own.shown.entrant.ok_or_else(missing)?;
    let filter = FaultFilter {
        entrant: Some(Number(entrant)),
        before: Some(of.fault.checked_add(1).filter(|n| i64::try_from(*n).is_ok()).ok_or_else(missing)?),
        limit: Some(1),
        ..FaultFilter::default()
    };
    let found = ledger.faults(filter).next().await.transpose().map_err(ApiError::broke)?;
    let fault = found.filter(|found| found.id == of.fault).ok_or_else(missing)?;
    let key = fault.key;
    let played = GameLookup::find(&app, &seen, key.phase + 1, &match_name(key), fault.fault.game + 1).await?;
    played.open()?;
    let name = format!("{}-{}-{}-{}", seen.arena.id, key.phase + 1, match_name(key), fault.fault.game + 1);
    let zip = repro_bundle::pack(&app, Arc::new(played), &own.shown.name, &fault, &name).await?;
    Ok((attachment(&format!("{name}.zip"), "application/zip"), zip).into_response())
}
