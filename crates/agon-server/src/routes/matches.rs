//! Matches, and their games as films and records.

use std::sync::Arc;

use agon_competition::LoadedCompetition;
use agon_core::Seat;
use agon_core::record::read;
use agon_engine::film::json::{BotOutputLine, FilmExtras, to_json};
use agon_league::{Entrant as Number, MatchKey};
use agon_store::{Ledger, MatchFilter, MatchOrder, StoredMatch};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path, Query};
use crate::paging::{PageBody, PageQuery};
use crate::read_model::VisibleCompetition;
use crate::read_model::encoded_json::{self, EncodedJson};
use crate::read_model::overview::{Overview, match_key, match_name};
use crate::routes::phases::PhasePath;
use crate::state::AppState;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(matches))
        .routes(routes!(single_match))
        .routes(routes!(film))
        .routes(routes!(record))
}

/// Query parameters that select matches.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct MatchQuery {
    /// Only matches of this entrant.
    entrant: Option<u32>,
    /// Only matches with a fault.
    faulty: Option<bool>,
    /// `next` of the previous page.
    after: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// Path parameters of a match.
#[derive(Debug, Deserialize)]
pub struct MatchPath {
    phase: u32,
    #[serde(rename = "match")]
    name: String,
}

/// Path parameters of a game.
#[derive(Debug, Deserialize)]
pub struct GamePath {
    phase: u32,
    #[serde(rename = "match")]
    name: String,
    game: u32,
}

/// A played match.
#[derive(Debug, Serialize, ToSchema)]
pub struct Match {
    /// Number of the phase, from 1.
    pub phase: u32,
    /// Name of the match, such as `2-15`.
    #[serde(rename = "match")]
    pub match_: String,
    /// When it finished.
    pub finished: i64,
    /// Why it is void, if it is.
    pub void: Option<String>,
    /// Number of faults.
    pub faults: u32,
    /// Entrants in seat order.
    pub entrants: Vec<u32>,
    /// Points of each entrant.
    pub points: Vec<f64>,
    /// Games in the order they were played.
    pub games: Vec<MatchGame>,
    /// The played match before it in the schedule. Only in the response for a single match.
    pub before: Option<String>,
    /// The played match after it in the schedule. Only in the response for a single match.
    pub after: Option<String>,
}

/// A game of a match.
#[derive(Debug, Serialize, ToSchema)]
pub struct MatchGame {
    /// Number of the game, from 1.
    pub game: u32,
    /// Number of turns.
    pub turns: u32,
    /// How it ended.
    pub ended: String,
    /// Seats in order.
    pub seats: Vec<MatchSeat>,
    /// Path of the film; null while the seeds are hidden.
    pub film: Option<String>,
}

/// A seat of a game.
#[derive(Debug, Serialize, ToSchema)]
pub struct MatchSeat {
    /// The entrant.
    pub entrant: u32,
    /// Its role.
    pub role: &'static str,
    /// The score.
    pub score: f64,
    /// The statistic that stands beside the score, such as the word points of Word Racer; null if the game has none.
    pub beside: Option<SeatStat>,
    /// Place in the game; 1 is best.
    pub place: u8,
    /// Number of faults.
    pub faults: u32,
    /// Thinking time of all answers.
    pub thought_us: u64,
}

/// A statistic of a seat.
#[derive(Debug, Serialize, ToSchema)]
pub struct SeatStat {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
}

/// Path of a game's film.
pub fn film_path(competition: &str, key: MatchKey, game: u32) -> String {
    format!(
        "/api/v1/competitions/{competition}/phases/{}/matches/{}/games/{}/film",
        key.phase + 1,
        match_name(key),
        game + 1
    )
}

/// Converts a match for the API.
fn match_body(
    visible: &VisibleCompetition,
    loaded: &LoadedCompetition,
    overview: &Overview,
    one: &StoredMatch,
) -> Match {
    let key = one.result.key;
    let (name, hidden) = (match_name(key), overview.is_hidden(key.phase));
    let info = loaded.table.info();
    let game = |(number, game): (u32, &agon_league::GameResult)| MatchGame {
        game: number + 1,
        turns: game.turns,
        ended: game.ended.clone(),
        seats: (0..)
            .zip(&game.seats)
            .map(|(seat, own)| MatchSeat {
                entrant: own.entrant.0,
                role: info.role(Seat(seat)).name,
                score: own.score.to_f64(),
                beside: info
                    .stat_beside_score()
                    .map(|(index, stat)| SeatStat { name: stat.name, value: own.stats[index].to_f64() }),
                place: own.place,
                faults: own.faults.iter().sum(),
                thought_us: own.thought_ns / 1000,
            })
            .collect(),
        film: (!hidden).then(|| film_path(&visible.handle.id, key, number)),
    };
    Match {
        phase: key.phase + 1,
        finished: one.finished.0,
        void: overview.void_reason(key.phase, &name).map(str::to_owned),
        match_: name,
        faults: one.faults,
        entrants: one.result.entrants().iter().map(|one| one.0).collect(),
        points: one.result.table_points().iter().map(|points| points.to_f64()).collect(),
        games: (0..).zip(&one.result.games).map(game).collect(),
        before: None,
        after: None,
    }
}

/// The matches of a phase, newest first.
#[utoipa::path(
    get, path = "/competitions/{id}/phases/{phase}/matches", tag = "competitions", operation_id = "matches",
    params(("id" = String, Path, description = "The competition."), ("phase" = u32, Path, description = "The phase, from 1."), MatchQuery),
    responses(
        (status = 200, description = "A page of matches.", body = PageBody<Match>),
        (status = 409, description = "The competition has not started yet.", body = ErrorBody),
    ),
)]
async fn matches(
    State(app): State<AppState>,
    visible: VisibleCompetition,
    Path(PhasePath { phase }): Path<PhasePath>,
    Query(query): Query<MatchQuery>,
) -> ApiResult<Json<PageBody<Match>>> {
    let (loaded, ledger, number) = visible.handle.phase(phase)?;
    let limit = PageQuery { after: None, limit: query.limit }.limit()?;
    let wrong = || ApiError::invalid("after", "`after` must be `next` of the previous page");
    let after = match &query.after {
        None => None,
        Some(name) => {
            let key = match_key(number, name).map_err(|_| wrong())?;
            ledger.find(key).await.map_err(ApiError::internal)?.ok_or_else(wrong)?;
            Some(key)
        }
    };
    let filter = MatchFilter {
        entrant: query.entrant.map(Number),
        faulty: query.faulty.unwrap_or_default(),
        order: MatchOrder::NewestFirst,
        after,
        limit: Some(u64::from(limit) + 1),
        ..MatchFilter::default()
    };
    let overview = visible.overview(&app).await?;
    let mut items = Vec::new();
    let mut rows = ledger.matches(number, filter);
    while let Some(one) = rows.next().await {
        items.push(match_body(&visible, &loaded, &overview, &one.map_err(ApiError::internal)?));
    }
    Ok(Json(PageBody::from_lookahead(items, limit, |last| last.match_.clone())))
}

/// A single match.
#[utoipa::path(
    get, path = "/competitions/{id}/phases/{phase}/matches/{match}", tag = "competitions", operation_id = "single_match",
    params(
        ("id" = String, Path, description = "The competition."), ("phase" = u32, Path, description = "The phase, from 1."),
        ("match" = String, Path, description = "STAGE-NUMBER, such as 2-15."),
    ),
    responses(
        (status = 200, description = "The match.", body = Match),
        (status = 409, description = "The competition has not started yet.", body = ErrorBody),
    ),
)]
async fn single_match(
    State(app): State<AppState>,
    visible: VisibleCompetition,
    Path(path): Path<MatchPath>,
) -> ApiResult<Json<Match>> {
    let (loaded, ledger, number) = visible.handle.phase(path.phase)?;
    let key = match_key(number, &path.name)?;
    let one = find_match(&*ledger, key).await?;
    let overview = visible.overview(&app).await?;
    let progress = visible.stage_progress(&app, path.phase).await?;
    let mut body = match_body(&visible, &loaded, &overview, &one);
    (body.before, body.after) =
        (progress.previous_played(key).map(match_name), progress.next_played(key).map(match_name));
    Ok(Json(body))
}

async fn find_match(ledger: &dyn Ledger, key: MatchKey) -> ApiResult<StoredMatch> {
    let one = ledger.find(key).await.map_err(ApiError::internal)?;
    one.ok_or_else(|| ApiError::not_found("match").hint("it may not have been played yet"))
}

/// A played game that the caller asked for.
pub struct GameLookup {
    /// The loaded competition.
    pub loaded: Arc<LoadedCompetition>,
    /// The ledger.
    pub ledger: Arc<dyn Ledger>,
    /// Overview of the competition.
    pub overview: Arc<Overview>,
    /// The match.
    pub stored: StoredMatch,
    /// Index of the game within the match, from 0.
    pub game: u32,
}

impl GameLookup {
    /// Finds a game; 404 if there is none.
    pub async fn find(
        app: &AppState,
        visible: &VisibleCompetition,
        phase: u32,
        name: &str,
        game: u32,
    ) -> ApiResult<Self> {
        let (loaded, ledger, number) = visible.handle.phase(phase)?;
        let one = find_match(&*ledger, match_key(number, name)?).await?;
        let game = game.checked_sub(1).filter(|at| (*at as usize) < one.result.games.len());
        let game = game.ok_or_else(|| ApiError::not_found("game"))?;
        Ok(Self { loaded, ledger, overview: visible.overview(app).await?, stored: one, game })
    }

    /// Key of the match.
    pub fn key(&self) -> MatchKey {
        self.stored.result.key
    }

    /// Fails while the seeds of the phase are hidden.
    pub fn check_visible(&self) -> ApiResult<()> {
        if self.overview.is_hidden(self.key().phase) { Err(hidden_error()) } else { Ok(()) }
    }

    /// The seat of an entrant.
    pub fn seat_of(&self, entrant: u32) -> Option<u8> {
        let seats = &self.stored.result.games[self.game as usize].seats;
        seats.iter().position(|seat| seat.entrant.0 == entrant).map(|seat| seat as u8)
    }

    /// The compressed record.
    pub async fn record(&self) -> ApiResult<Vec<u8>> {
        let bytes = self.ledger.record(self.key(), self.game).await.map_err(ApiError::internal)?;
        bytes.ok_or_else(|| ApiError::not_found("record").hint("this competition does not store records"))
    }
}

/// Error: the seeds of this phase are hidden until the end.
pub fn hidden_error() -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, "hidden", "seeds are hidden until the competition ends")
}

/// A game as a film, with the output of the caller's own bots.
#[utoipa::path(
    get, path = "/competitions/{id}/phases/{phase}/matches/{match}/games/{game}/film", tag = "competitions", operation_id = "film",
    params(
        ("id" = String, Path, description = "The competition."), ("phase" = u32, Path, description = "The phase, from 1."),
        ("match" = String, Path, description = "STAGE-NUMBER, such as 2-15."), ("game" = u32, Path, description = "The game, from 1."),
    ),
    responses(
        (status = 200, description = "A film (docs/film.md).", body = Object),
        (status = 304, description = "The client already has this version."),
        (status = 403, description = "The seeds are hidden until the end (code `hidden`).", body = ErrorBody),
        (status = 409, description = "The competition has not started yet.", body = ErrorBody),
    ),
)]
async fn film(
    State(app): State<AppState>,
    visible: VisibleCompetition,
    caller: Caller,
    Path(path): Path<GamePath>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let lookup = GameLookup::find(&app, &visible, path.phase, &path.name, path.game).await?;
    lookup.check_visible()?;
    let logs = own_logs(&lookup, &caller).await?;
    let name = film_hash(&visible, &lookup, &logs);
    if let Some(answer) = encoded_json::not_modified(&headers, &name) {
        return Ok(answer);
    }
    if let Some(film) = app.competitions.films.get(&name) {
        return Ok(film.response(&headers));
    }
    let bytes = lookup.record().await?;
    let public = logs.is_empty();
    let film = {
        let name = name.clone();
        app.competitions.compute(move |_: &Handle| render_film(&lookup, &bytes, logs, &name)).await?
    };
    let film = Arc::new(film);
    // Only its author would ask for a film with output again, so it is not cached.
    if public {
        app.competitions.films.put(&name, &film);
    }
    Ok(film.response(&headers))
}

/// Output of the caller's own bots.
async fn own_logs(lookup: &GameLookup, caller: &Caller) -> ApiResult<Vec<BotOutputLine>> {
    let mut logs = Vec::new();
    for owner in lookup.overview.entrant_owners.iter().filter(|one| one.is_managed_by(caller)) {
        let Some(seat) = owner.body.entrant.and_then(|entrant| lookup.seat_of(entrant)) else { continue };
        let log =
            lookup.ledger.bot_output(lookup.key(), lookup.game, seat).await.map_err(ApiError::internal)?;
        let lines = log.into_iter().flat_map(|log| log.pieces);
        logs.extend(lines.map(|one| BotOutputLine { turn: one.turn, seat: Seat(seat), text: one.text }));
    }
    logs.sort_by_key(|line| line.turn);
    Ok(logs)
}

/// Hash that identifies a film. Films with the same hash are equal.
pub(super) fn film_hash(visible: &VisibleCompetition, lookup: &GameLookup, logs: &[BotOutputLine]) -> String {
    let mut hash = Sha256::new();
    hash.update(visible.handle.id.as_bytes());
    hash.update([0, u8::from(lookup.overview.seed.is_some())]);
    hash.update(format!("{} {}", lookup.key(), lookup.game).as_bytes());
    if let Some(digest) = lookup.stored.game_digests.get(lookup.game as usize) {
        hash.update(digest.0);
    }
    for line in logs {
        hash.update(line.turn.to_le_bytes());
        hash.update([line.seat.0]);
        hash.update(line.text.as_bytes());
    }
    encoded_json::short_hex(&hash.finalize())
}

fn render_film(
    lookup: &GameLookup,
    bytes: &[u8],
    logs: Vec<BotOutputLine>,
    name: &str,
) -> ApiResult<EncodedJson> {
    let (record, _) = read(bytes, 1).map_err(ApiError::internal)?;
    let seats = &lookup.stored.result.games[lookup.game as usize].seats;
    let by = |seat: &agon_league::SeatResult| {
        lookup.overview.entrant_owner(seat.entrant.0).and_then(|owner| owner.body.contributor.clone())
    };
    let extras = FilmExtras {
        contributors: seats.iter().map(by).collect(),
        colours: seats.iter().map(|seat| seat.entrant.0).collect(),
        wins: lookup.stored.result.wins_before(lookup.game as usize),
        bot_output: logs,
        hide_seed: lookup.overview.seed.is_none(),
    };
    let any_game = &lookup.loaded.table;
    let film = any_game.film(record, &lookup.loaded.assets).map_err(ApiError::internal)?;
    EncodedJson::gzip_only(&to_json(any_game.info(), film.as_ref(), &extras), name)
}

/// Record of a game, once the secret seed is revealed: for `agon replay`, `agon verify` and `agon debug`.
#[utoipa::path(
    get, path = "/competitions/{id}/phases/{phase}/matches/{match}/games/{game}/record", tag = "competitions", operation_id = "record",
    params(
        ("id" = String, Path, description = "The competition."), ("phase" = u32, Path, description = "The phase, from 1."),
        ("match" = String, Path, description = "STAGE-NUMBER, such as 2-15."), ("game" = u32, Path, description = "The game, from 1."),
    ),
    responses(
        (status = 200, description = "The record.", body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 403, description = "The seed is still secret (code `secret`).", body = ErrorBody),
        (status = 409, description = "The competition has not started yet.", body = ErrorBody),
    ),
)]
async fn record(
    State(app): State<AppState>,
    visible: VisibleCompetition,
    Path(path): Path<GamePath>,
) -> ApiResult<Response> {
    let lookup = GameLookup::find(&app, &visible, path.phase, &path.name, path.game).await?;
    if lookup.overview.seed.is_none() {
        let message =
            "a record contains the seed of its game, and seeds are secret until the competition is finished";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "secret", message));
    }
    let bytes = lookup.record().await?;
    let name = format!("{}-{}-{}-{}.agon", visible.handle.id, path.phase, path.name, path.game);
    Ok((attachment_headers(&name, "application/octet-stream"), bytes).into_response())
}

/// Headers of a download. `name` must consist of letters, digits, dashes and dots.
pub fn attachment_headers(name: &str, kind: &'static str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Ok(value) = HeaderValue::try_from(format!("attachment; filename=\"{name}\"")) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    headers
}
