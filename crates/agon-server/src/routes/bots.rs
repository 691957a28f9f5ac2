//! Pages of bots: results for everyone; output and repro bundles for their authors.

use std::sync::Arc;

use agon_core::Fault;
use agon_league::{Entrant as Number, MatchKey};
use agon_site_db::{AccountId, EntrantId, PageRequest as OfficePage, SubmissionFilter, SubmissionState};
use agon_store::{FaultFilter, StoredFault};
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::matches::{GameLookup, attachment_headers, film_path};
use super::repro_bundle;
use super::search::path_part;
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path, Query};
use crate::paging::{PageBody, PageQuery};
use crate::read_model::VisibleCompetition;
use crate::read_model::overview::{Entrant, EntrantOwner, Overview, PhaseItem, match_name};
use crate::read_model::standings::PhaseStandings;
use crate::state::AppState;
use crate::uploads::report::CheckReport;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(bot))
        .routes(routes!(faults))
        .routes(routes!(log))
        .routes(routes!(fault_repro_bundle))
}

/// Path parameters of a bot.
#[derive(Clone, Copy, Debug, Deserialize)]
struct BotPath {
    bot: i64,
}

/// Path parameters of a game of a bot.
#[derive(Debug, Deserialize)]
struct LogPath {
    bot: i64,
    phase: u32,
    #[serde(rename = "match")]
    name: String,
    game: u32,
}

/// Path parameters of a fault of a bot.
#[derive(Clone, Copy, Debug, Deserialize)]
struct FaultPath {
    bot: i64,
    fault: u64,
}

/// A bot and its results.
#[derive(Debug, Serialize, ToSchema)]
pub struct BotPage {
    /// The entrant.
    #[serde(flatten)]
    pub entrant: Entrant,
    /// The competition's id.
    pub competition: String,
    /// The game's id.
    pub game: String,
    /// Versions, oldest first.
    pub versions: Vec<BotVersion>,
    /// Phases in which it has played.
    pub phases: Vec<BotPhase>,
    /// Page of the contributor, a person or a team; null for house bots and bots of a file.
    pub contributor_page: Option<String>,
    /// Whether everybody may play against it and challenge it; missing for bots of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub practice: Option<bool>,
}

/// Whether everybody may play against an uploaded bot.
async fn practice(app: &AppState, owner: &EntrantOwner) -> ApiResult<Option<bool>> {
    if owner.account.is_none() {
        return Ok(None);
    }
    Ok(Some(app.site_db.entrant(EntrantId(owner.body.bot)).await?.practice))
}

/// Page of the person or the team that a bot plays for.
async fn contributor_page(app: &AppState, owner: &EntrantOwner) -> ApiResult<Option<String>> {
    let Some(account) = owner.account else { return Ok(None) };
    let entrant = app.site_db.entrant(EntrantId(owner.body.bot)).await?;
    Ok(Some(match entrant.team {
        Some(team) => format!("/t/{team}"),
        None => format!("/u/{}", path_part(&app.site_db.account(AccountId(account)).await?.name)),
    }))
}

/// A version of a bot.
#[derive(Debug, Serialize, ToSchema)]
pub struct BotVersion {
    /// Version number, from 1.
    pub version: u32,
    /// SHA-256 of the bot's files, as in the report of its check and in the ledger. Null if the check of an upload did not store it.
    pub hash: Option<String>,
    /// When it was submitted.
    pub at: i64,
    /// First phase it plays in, from 1.
    pub from_phase: u32,
    /// Id of the submission, for its author and organisers.
    pub submission: Option<String>,
    /// The git commit it was taken from.
    pub commit: Option<String>,
}

/// Results of a bot in a phase.
#[derive(Debug, Serialize, ToSchema)]
pub struct BotPhase {
    /// Number of the phase, from 1.
    pub number: u32,
    /// The phase's name.
    pub name: String,
    /// The bot's rank; null if it has none.
    pub rank: Option<u64>,
    /// Number of ranked bots.
    pub of: u64,
    /// Games played.
    pub games: u64,
    /// Faults by kind.
    pub faults: FaultCounts,
    /// Thinking times.
    pub time: ThinkTimes,
    /// Rating computed from pairwise results.
    pub rating: Option<BotRating>,
    /// Results against each opponent.
    pub opponents: Vec<Opponent>,
}

/// Faults by kind.
#[derive(Debug, Serialize, ToSchema)]
pub struct FaultCounts {
    /// Answered too late.
    pub timeout: u64,
    /// Crashed.
    pub crash: u64,
    /// Answered against the rules.
    pub illegal: u64,
    /// Gave an unreadable answer.
    pub garbled: u64,
}

/// Thinking times of a bot.
#[derive(Debug, Serialize, ToSchema)]
pub struct ThinkTimes {
    /// Number of requests.
    pub answers: u64,
    /// Mean time per answer.
    pub mean_us: f64,
    /// Longest time of an answer.
    pub longest_us: f64,
}

/// Rating of a bot.
#[derive(Debug, Serialize, ToSchema)]
pub struct BotRating {
    /// Rating on the Elo scale.
    pub rating: f64,
    /// Standard error of the rating.
    pub error: f64,
}

/// Results against one opponent.
#[derive(Debug, Serialize, ToSchema)]
pub struct Opponent {
    /// Id of the opponent's page.
    pub bot: i64,
    /// The opponent's name.
    pub name: String,
    /// Number of games.
    pub games: u64,
    /// Games won.
    pub won: u64,
    /// Games drawn.
    pub drawn: u64,
    /// Games lost.
    pub lost: u64,
    /// Mean scores of the bot and the opponent.
    pub scores: [f64; 2],
}

/// The bot with this id; 404 if it does not exist or was never accepted.
fn find_entrant(overview: &Overview, bot: i64) -> ApiResult<&EntrantOwner> {
    overview.entrant_owners.iter().find(|one| one.body.bot == bot).ok_or_else(|| ApiError::not_found("bot"))
}

/// Output and repro bundles of a bot are for its author only.
fn require_author(caller: &Caller, owner: &EntrantOwner) -> ApiResult<()> {
    caller.signed_in()?;
    if owner.is_managed_by(caller) {
        return Ok(());
    }
    Err(ApiError::forbidden("only the bot's author can see this"))
}

/// A bot: its versions, and its results in each phase.
#[utoipa::path(
    get, path = "/competitions/{id}/bots/{bot}", tag = "bots", operation_id = "bot",
    params(("id" = String, Path, description = "The competition."), ("bot" = i64, Path, description = "The bot.")),
    responses((status = 200, description = "The bot.", body = BotPage)),
)]
async fn bot(
    State(app): State<AppState>,
    visible: VisibleCompetition,
    caller: Caller,
    Path(BotPath { bot }): Path<BotPath>,
) -> ApiResult<Json<BotPage>> {
    let overview = visible.overview(&app).await?;
    let owner = find_entrant(&overview, bot)?;
    let mut phases = Vec::new();
    if let Some(entrant) = owner.body.entrant {
        for phase in overview.phases.iter().filter(|phase| phase.matches > 0) {
            let standings = visible.standings(&app, phase.number).await?;
            phases.extend(bot_phase(&overview, phase, &standings, entrant));
        }
    }
    Ok(Json(BotPage {
        entrant: Entrant { mine: owner.is_managed_by(&caller), ..owner.body.clone() },
        competition: visible.handle.id.clone(),
        game: visible.handle.game.to_owned(),
        versions: versions(&app, &visible, owner, owner.is_managed_by(&caller) || caller.is_organiser())
            .await?,
        phases,
        contributor_page: contributor_page(&app, owner).await?,
        practice: practice(&app, owner).await?,
    }))
}

/// Versions of uploaded bots come from the site database, all others from the ledger.
async fn versions(
    app: &AppState,
    visible: &VisibleCompetition,
    owner: &EntrantOwner,
    submissions: bool,
) -> ApiResult<Vec<BotVersion>> {
    let mut versions = Vec::new();
    if owner.account.is_some() {
        let page = OfficePage { after: None, limit: 200 };
        let listed =
            app.site_db.submissions(SubmissionFilter::Entrant(EntrantId(owner.body.bot)), page).await?;
        for one in listed.items.into_iter().filter(|one| one.state == SubmissionState::Accepted) {
            versions.push(BotVersion {
                version: one.version.unwrap_or_default(),
                hash: one.report.as_deref().and_then(content_hash),
                at: one.created.0,
                from_phase: one.from_phase + 1,
                submission: submissions.then(|| one.id.to_string()),
                commit: None,
            });
        }
        versions.sort_by_key(|one| one.version);
    } else if let (Some(ledger), Some(entrant)) = (visible.handle.ledger(), owner.body.entrant) {
        let all = ledger.bot_versions().await.map_err(ApiError::internal)?;
        let of_it = all.into_iter().filter(|one| one.entrant.0 == entrant);
        versions.extend(of_it.map(|one| BotVersion {
            version: one.version,
            hash: Some(plain_hash(&one.hash)),
            at: one.at.0,
            from_phase: one.from_phase + 1,
            submission: None,
            commit: one.commit,
        }));
    }
    Ok(versions)
}

/// Hash of a bot's files from the report of its check. The hash of an upload is another one, because it covers the uploaded archive.
fn content_hash(report: &str) -> Option<String> {
    let report: CheckReport = serde_json::from_str(report).ok()?;
    report.hash.as_deref().map(plain_hash)
}

fn plain_hash(hash: &str) -> String {
    hash.trim_start_matches("sha256:").to_owned()
}

/// Results of an entrant in a phase; `None` if it did not play.
fn bot_phase(
    overview: &Overview,
    phase: &PhaseItem,
    standings: &PhaseStandings,
    entrant: u32,
) -> Option<BotPhase> {
    let stats = standings.stats.get(&entrant)?;
    let (rank, of) = standings.rank_of(entrant);
    let rating = standings.standings.ratings.iter().find(|one| one.entrant.0 == entrant);
    let met = standings.standings.head_to_head.iter().filter_map(|met| {
        let forwards = met.one.0 == entrant;
        if !forwards && met.other.0 != entrant {
            return None;
        }
        let other = overview.entrant_owner(if forwards { met.other.0 } else { met.one.0 })?;
        let (won, lost) = if forwards { (met.won, met.lost) } else { (met.lost, met.won) };
        let (mine, theirs) = if forwards { met.scores } else { (met.scores.1, met.scores.0) };
        Some(Opponent {
            bot: other.body.bot,
            name: other.body.name.clone(),
            games: met.games.into(),
            won: won.into(),
            drawn: met.drawn.into(),
            lost: lost.into(),
            scores: [mine, theirs],
        })
    });
    let count = |fault: Fault| stats.faults[fault.index()];
    let micros = |ns: f64| (ns / 100.0).round() / 10.0;
    Some(BotPhase {
        number: phase.number,
        name: phase.name.clone(),
        rank,
        of,
        games: stats.games,
        faults: FaultCounts {
            timeout: count(Fault::Timeout),
            crash: count(Fault::Crash),
            illegal: count(Fault::Illegal),
            garbled: count(Fault::Garbled),
        },
        time: ThinkTimes {
            answers: stats.answers,
            mean_us: micros(stats.thinking_ns as f64 / stats.answers.max(1) as f64),
            longest_us: micros(stats.longest_ns as f64),
        },
        rating: rating
            .filter(|one| one.rating.is_finite() && one.error.is_finite())
            .map(|one| BotRating { rating: one.rating, error: one.error }),
        opponents: met.collect(),
    })
}

/// A fault of a bot.
#[derive(Debug, Serialize, ToSchema)]
pub struct FaultItem {
    /// The fault's id.
    pub id: u64,
    /// Number of the phase, from 1.
    pub phase: u32,
    /// The match.
    #[serde(rename = "match")]
    pub match_: String,
    /// Number of the game within the match, from 1.
    pub game: u32,
    /// The turn, from 1; 0 before the first turn.
    pub turn: u32,
    /// `timeout`, `crash`, `illegal` or `garbled`.
    pub fault: &'static str,
    /// What went wrong. While the seeds are hidden, only the author gets it; null for others.
    #[serde(rename = "says")]
    pub message: Option<String>,
    /// The last output on stderr, for the author.
    pub stderr: Option<String>,
    /// When the match finished.
    pub at: i64,
    /// Path of the film; null while the seeds are hidden.
    pub film: Option<String>,
    /// Path of the repro bundle, for the author; null for others.
    #[serde(rename = "capsule")]
    pub repro_bundle: Option<String>,
}

/// Faults of a bot, newest first. Its output is for its author.
#[utoipa::path(
    get, path = "/competitions/{id}/bots/{bot}/faults", tag = "bots", operation_id = "faults",
    params(("id" = String, Path, description = "The competition."), ("bot" = i64, Path, description = "The bot."), PageQuery),
    responses((status = 200, description = "A page of faults.", body = PageBody<FaultItem>)),
)]
async fn faults(
    State(app): State<AppState>,
    visible: VisibleCompetition,
    caller: Caller,
    Path(BotPath { bot }): Path<BotPath>,
    Query(paging): Query<PageQuery>,
) -> ApiResult<Json<PageBody<FaultItem>>> {
    let (limit, before) = (paging.limit()?, paging.after_number()?);
    let overview = visible.overview(&app).await?;
    let owner = find_entrant(&overview, bot)?;
    let (Some(ledger), Some(entrant)) = (visible.handle.ledger(), owner.body.entrant) else {
        return Ok(Json(PageBody { items: Vec::new(), next: None }));
    };
    let filter = FaultFilter {
        entrant: Some(Number(entrant)),
        // SQLite integers end at 2^63.
        before: before.map(|before| before.min(i64::MAX as u64)),
        limit: Some(u64::from(limit) + 1),
        ..FaultFilter::default()
    };
    let mine = owner.is_managed_by(&caller);
    let mut items = Vec::new();
    let mut rows = ledger.faults(filter);
    while let Some(one) = rows.next().await {
        items.push(fault_item(&visible, &overview, bot, mine, one.map_err(ApiError::internal)?));
    }
    Ok(Json(PageBody::from_lookahead(items, limit, |last| last.id.to_string())))
}

fn fault_item(
    visible: &VisibleCompetition,
    overview: &Overview,
    bot: i64,
    mine: bool,
    one: StoredFault,
) -> FaultItem {
    let StoredFault { id, key, fault, finished } = one;
    let hidden = overview.is_hidden(key.phase);
    let repro_bundle_path =
        || format!("/api/v1/competitions/{}/bots/{bot}/faults/{id}/capsule", visible.handle.id);
    FaultItem {
        id,
        phase: key.phase + 1,
        match_: match_name(key),
        game: fault.game + 1,
        turn: fault.turn,
        fault: fault.report.fault.name(),
        message: (mine || !hidden).then_some(fault.report.message),
        stderr: (mine && !hidden).then_some(fault.report.stderr),
        at: finished.0,
        film: (!hidden).then(|| film_path(&visible.handle.id, key, fault.game)),
        repro_bundle: (mine && !hidden).then(repro_bundle_path),
    }
}

/// Output of a bot in a game.
#[derive(Debug, Serialize, ToSchema)]
pub struct BotLog {
    /// Number of the phase, from 1.
    pub phase: u32,
    /// The match.
    #[serde(rename = "match")]
    pub match_: String,
    /// Number of the game within the match, from 1.
    pub game: u32,
    /// Output in the order it was written.
    pub turns: Vec<LogTurn>,
    /// Whether a part was left out.
    #[serde(rename = "cut")]
    pub truncated: bool,
}

/// Output of a bot in one turn.
#[derive(Debug, Serialize, ToSchema)]
pub struct LogTurn {
    /// The turn, from 1; 0 before the first turn.
    pub turn: u32,
    /// The text.
    pub text: String,
}

/// Output of a bot in a game. For its author.
#[utoipa::path(
    get, path = "/competitions/{id}/bots/{bot}/logs/{phase}/{match}/{game}", tag = "bots", operation_id = "log",
    params(
        ("id" = String, Path, description = "The competition."), ("bot" = i64, Path, description = "The bot."),
        ("phase" = u32, Path, description = "The phase, from 1."), ("match" = String, Path, description = "STAGE-NUMBER, such as 2-15."),
        ("game" = u32, Path, description = "The game, from 1."),
    ),
    responses(
        (status = 200, description = "The output; empty if the bot wrote nothing, or if it was dropped to save space.", body = BotLog),
        (status = 403, description = "Only for the author, and only once the seeds are no longer hidden (code `hidden`).", body = ErrorBody),
        (status = 409, description = "The competition has not started yet.", body = ErrorBody),
    ),
)]
async fn log(
    State(app): State<AppState>,
    visible: VisibleCompetition,
    caller: Caller,
    Path(path): Path<LogPath>,
) -> ApiResult<Json<BotLog>> {
    let overview = visible.overview(&app).await?;
    let owner = find_entrant(&overview, path.bot)?;
    require_author(&caller, owner)?;
    let lookup = GameLookup::find(&app, &visible, path.phase, &path.name, path.game).await?;
    lookup.check_visible()?;
    let seat = owner.body.entrant.and_then(|entrant| lookup.seat_of(entrant));
    let seat = seat.ok_or_else(|| ApiError::not_found("game of this bot"))?;
    let log = lookup.ledger.bot_output(lookup.key(), lookup.game, seat).await.map_err(ApiError::internal)?;
    let turns: Vec<LogTurn> = log
        .into_iter()
        .flat_map(|log| log.pieces)
        .map(|one| LogTurn { turn: one.turn, text: one.text })
        .collect();
    let truncated = turns.iter().any(|one| {
        let middle =
            one.text.strip_prefix("\n... ").and_then(|text| text.strip_suffix(" bytes left out ...\n"));
        middle.is_some_and(|count| count.bytes().all(|b| b.is_ascii_digit()))
    });
    let MatchKey { phase, .. } = lookup.key();
    Ok(Json(BotLog { phase: phase + 1, match_: match_name(lookup.key()), game: path.game, turns, truncated }))
}

/// Repro bundle of a fault, for the bot's author: a zip with the record, the bot's output and the command that reproduces the fault.
#[utoipa::path(
    get, path = "/competitions/{id}/bots/{bot}/faults/{fault}/capsule", tag = "bots", operation_id = "fault_capsule",
    params(
        ("id" = String, Path, description = "The competition."), ("bot" = i64, Path, description = "The bot."),
        ("fault" = u64, Path, description = "The fault."),
    ),
    responses(
        (status = 200, description = "The repro bundle.", body = Vec<u8>, content_type = "application/zip"),
        (status = 403, description = "Only for the author, and only once the seeds are no longer hidden (code `hidden`).", body = ErrorBody),
        (status = 409, description = "The competition has not started yet.", body = ErrorBody),
    ),
)]
async fn fault_repro_bundle(
    State(app): State<AppState>,
    visible: VisibleCompetition,
    caller: Caller,
    Path(path): Path<FaultPath>,
) -> ApiResult<Response> {
    let overview = visible.overview(&app).await?;
    let owner = find_entrant(&overview, path.bot)?;
    require_author(&caller, owner)?;
    let (_, ledger) = visible.handle.started()?;
    let missing = || ApiError::not_found("fault");
    let entrant = owner.body.entrant.ok_or_else(missing)?;
    let filter = FaultFilter {
        entrant: Some(Number(entrant)),
        before: Some(path.fault.checked_add(1).filter(|n| i64::try_from(*n).is_ok()).ok_or_else(missing)?),
        limit: Some(1),
        ..FaultFilter::default()
    };
    let found = ledger.faults(filter).next().await.transpose().map_err(ApiError::internal)?;
    let fault = found.filter(|found| found.id == path.fault).ok_or_else(missing)?;
    let key = fault.key;
    let lookup =
        GameLookup::find(&app, &visible, key.phase + 1, &match_name(key), fault.fault.game + 1).await?;
    lookup.check_visible()?;
    let name =
        format!("{}-{}-{}-{}", visible.handle.id, key.phase + 1, match_name(key), fault.fault.game + 1);
    let zip = repro_bundle::build(&app, Arc::new(lookup), &owner.body.name, &fault, &name).await?;
    Ok((attachment_headers(&format!("{name}.zip"), "application/zip"), zip).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_hash_is_that_of_the_report() {
        let report = r#"{"accepted":true,"name":"a","hash":"sha256:0a1b","steps":[]}"#;
        assert_eq!(content_hash(report).as_deref(), Some("0a1b"));
        assert_eq!(content_hash(r#"{"accepted":false,"name":null,"hash":null,"steps":[]}"#), None);
        assert_eq!(content_hash("not a report"), None);
    }
}
