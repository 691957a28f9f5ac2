//! Matches, and their games as films and records.

use std::sync::Arc;

use agon_core::Seat;
use agon_core::record::read;
use agon_engine::film::json::{Extras, LogLine, to_json};
use agon_league::{Entrant as Number, MatchKey};
use agon_store::{StoredMatch, Ledger, MatchFilter, Order};
use agon_venue::Sitting;
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

use crate::read_model::VisibleCompetition;
use crate::read_model::overview::{Overview, match_key, match_name};
use crate::read_model::encoded_json::{self, EncodedJson};
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path, Query};
use crate::paging::{PageBody, PageQuery};
use crate::routes::phases::OfPhase;
use crate::state::AppState;

/// Its routes.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(matches))
        .routes(routes!(single_match))
        .routes(routes!(film))
        .routes(routes!(record))
}

/// Which matches.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct MatchQuery {
    /// Only where this entrant played: its number in tables.
    entrant: Option<u32>,
    /// Only those with a fault.
    faulty: Option<bool>,
    /// `next` of the page before.
    after: Option<String>,
    /// At most so many.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// Which match.
#[derive(Debug, Deserialize)]
pub struct OfMatch {
    phase: u32,
    #[serde(rename = "match")]
    name: String,
}

/// Which game.
#[derive(Debug, Deserialize)]
pub struct OfGame {
    phase: u32,
    #[serde(rename = "match")]
    name: String,
    game: u32,
}

/// A match that was played.
#[derive(Debug, Serialize, ToSchema)]
pub struct Match {
    /// From 1.
    pub phase: u32,
    /// Its name, such as `2-15`.
    #[serde(rename = "match")]
    pub match_: String,
    /// When it was over.
    pub finished: i64,
    /// Why it counts for nothing, if so.
    pub void: Option<String>,
    /// How many faults were made in it.
    pub faults: u32,
    /// Who played, in seat order.
    pub entrants: Vec<u32>,
    /// What each gets for it.
    pub points: Vec<f64>,
    /// In the order they were played.
    pub games: Vec<MatchGame>,
    /// The match before it in the schedule, of those that were played, where one is asked for.
    pub before: Option<String>,
    /// The one after it.
    pub after: Option<String>,
}

/// A game of a match.
#[derive(Debug, Serialize, ToSchema)]
pub struct MatchGame {
    /// From 1.
    pub game: u32,
    /// How many turns it had.
    pub turns: u32,
    /// In a few words how it ended.
    pub ended: String,
    /// In seat order.
    pub seats: Vec<MatchSeat>,
    /// The film's address; null while its board is a secret.
    pub film: Option<String>,
}

/// A seat of a game.
#[derive(Debug, Serialize, ToSchema)]
pub struct MatchSeat {
    /// Who.
    pub entrant: u32,
    /// As what.
    pub role: &'static str,
    /// Its score.
    pub score: f64,
    /// 1 for the best.
    pub place: u8,
    /// How many faults it made.
    pub faults: u32,
    /// Time it took, all answers together.
    pub thought_us: u64,
}

/// Where a game's film is.
pub fn film_path(competition: &str, key: MatchKey, game: u32) -> String {
    format!(
        "/api/v1/competitions/{competition}/phases/{}/matches/{}/games/{}/film",
        key.phase + 1,
        match_name(key),
        game + 1
    )
}

/// A match, as it is shown.
fn shown(seen: &VisibleCompetition, sitting: &Sitting, overview: &Overview, one: &StoredMatch) -> Match {
    let key = one.result.key;
    let (name, hidden) = (match_name(key), overview.hides(key.phase));
    let info = sitting.table.info();
    let game = |(number, game): (u32, &agon_league::GameResult)| MatchGame {
        game: number + 1,
        turns: game.turns,
        ended: game.ended.clone(),
        seats: (0..)
            .zip(&game.seats)
            .map(|(seat, own)| MatchSeat {
                entrant: own.entrant.0,
                role: info.role(Seat(seat)).name,
                score: own.score.real(),
                place: own.place,
                faults: own.faults.iter().sum(),
                thought_us: own.thought_ns / 1000,
            })
            .collect(),
        film: (!hidden).then(|| film_path(&seen.arena.id, key, number)),
    };
    Match {
        phase: key.phase + 1,
        finished: one.finished.0,
        void: overview.void(key.phase, &name).map(str::to_owned),
        match_: name,
        faults: one.faults,
        entrants: one.result.entrants().iter().map(|one| one.0).collect(),
        points: one.result.table_points().iter().map(|points| points.real()).collect(),
        games: (0..).zip(&one.result.games).map(game).collect(),
        before: None,
        after: None,
    }
}

/// The matches of a phase, newest first.
#[utoipa::path(
    get, path = "/competitions/{id}/phases/{phase}/matches", tag = "competitions", operation_id = "matches",
    params(("id" = String, Path, description = "The competition."), ("phase" = u32, Path, description = "From 1."), MatchQuery),
    responses(
        (status = 200, description = "A page of matches.", body = PageBody<Match>),
        (status = 409, description = "The competition was not started yet.", body = ErrorBody),
    ),
)]
async fn matches(
    State(app): State<AppState>,
    seen: VisibleCompetition,
    Path(OfPhase { phase }): Path<OfPhase>,
    Query(query): Query<MatchQuery>,
) -> ApiResult<Json<PageBody<Match>>> {
    let (sitting, ledger, number) = seen.arena.phase(phase)?;
    let limit = PageQuery { after: None, limit: query.limit }.limit()?;
    let wrong = || ApiError::invalid("after", "`after` is `next` of the page before");
    let after = match &query.after {
        None => None,
        Some(name) => {
            let key = match_key(number, name).map_err(|_| wrong())?;
            ledger.find(key).await.map_err(ApiError::broke)?.ok_or_else(wrong)?;
            Some(key)
        }
    };
    let filter = MatchFilter {
        entrant: query.entrant.map(Number),
        faulty: query.faulty.unwrap_or_default(),
        order: Order::Newest,
        after,
        limit: Some(u64::from(limit) + 1),
        ..MatchFilter::default()
    };
    let overview = seen.overview(&app).await?;
    let mut items = Vec::new();
    let mut rows = ledger.matches(number, filter);
    while let Some(one) = rows.next().await {
        items.push(shown(&seen, &sitting, &overview, &one.map_err(ApiError::broke)?));
    }
    Ok(Json(PageBody::of(items, limit, |last| last.match_.clone())))
}

/// One match.
#[utoipa::path(
    get, path = "/competitions/{id}/phases/{phase}/matches/{match}", tag = "competitions", operation_id = "single_match",
    params(
        ("id" = String, Path, description = "The competition."), ("phase" = u32, Path, description = "From 1."),
        ("match" = String, Path, description = "STAGE-NUMBER, such as 2-15."),
    ),
    responses(
        (status = 200, description = "The match.", body = Match),
        (status = 409, description = "The competition was not started yet.", body = ErrorBody),
    ),
)]
async fn single_match(State(app): State<AppState>, seen: VisibleCompetition, Path(of): Path<OfMatch>) -> ApiResult<Json<Match>> {
    let (sitting, ledger, number) = seen.arena.phase(of.phase)?;
    let key = match_key(number, &of.name)?;
    let one = found(&*ledger, key).await?;
    let overview = seen.overview(&app).await?;
    let planned = seen.planned(&app, of.phase).await?;
    let mut shown = shown(&seen, &sitting, &overview, &one);
    (shown.before, shown.after) = (planned.before(key).map(match_name), planned.after(key).map(match_name));
    Ok(Json(shown))
}

async fn found(ledger: &dyn Ledger, key: MatchKey) -> ApiResult<StoredMatch> {
    let one = ledger.find(key).await.map_err(ApiError::broke)?;
    one.ok_or_else(|| ApiError::not_found("match").hint("it may still be to come"))
}

/// A game that was played, of those that whoever asks may see.
pub struct GameLookup {
    /// The competition's file.
    pub sitting: Arc<Sitting>,
    /// Where it is kept.
    pub ledger: Arc<dyn Ledger>,
    /// What is known of the competition.
    pub overview: Arc<Overview>,
    /// The match.
    pub one: StoredMatch,
    /// Which game of it, from 0.
    pub game: u32,
}

impl GameLookup {
    /// The game of these names; 404 if there is none.
    pub async fn find(app: &AppState, seen: &VisibleCompetition, phase: u32, name: &str, game: u32) -> ApiResult<Self> {
        let (sitting, ledger, number) = seen.arena.phase(phase)?;
        let one = found(&*ledger, match_key(number, name)?).await?;
        let game = game.checked_sub(1).filter(|at| (*at as usize) < one.result.games.len());
        let game = game.ok_or_else(|| ApiError::not_found("game"))?;
        Ok(Self { sitting, ledger, overview: seen.overview(app).await?, one, game })
    }

    /// Which match.
    pub fn key(&self) -> MatchKey {
        self.one.result.key
    }

    /// Refused while boards are a secret.
    pub fn open(&self) -> ApiResult<()> {
        if self.overview.hides(self.key().phase) { Err(hidden()) } else { Ok(()) }
    }

    /// Where an entrant sat.
    pub fn seat_of(&self, entrant: u32) -> Option<u8> {
        let seats = &self.one.result.games[self.game as usize].seats;
        seats.iter().position(|seat| seat.entrant.0 == entrant).map(|seat| seat as u8)
    }

    /// The record, packed.
    pub async fn record(&self) -> ApiResult<Vec<u8>> {
        let bytes = self.ledger.record(self.key(), self.game).await.map_err(ApiError::broke)?;
        bytes.ok_or_else(|| ApiError::not_found("record").hint("this competition keeps no records"))
    }
}

/// The boards of this phase are a secret until the end.
pub fn hidden() -> ApiError {
    ApiError::new(
        StatusCode::FORBIDDEN,
        "hidden",
        "everybody plays the same boards here: they are shown at the end",
    )
}

/// A game as a film, with the logs of the reader's own bots.
#[utoipa::path(
    get, path = "/competitions/{id}/phases/{phase}/matches/{match}/games/{game}/film", tag = "competitions", operation_id = "film",
    params(
        ("id" = String, Path, description = "The competition."), ("phase" = u32, Path, description = "From 1."),
        ("match" = String, Path, description = "STAGE-NUMBER, such as 2-15."), ("game" = u32, Path, description = "From 1."),
    ),
    responses(
        (status = 200, description = "A film: what a viewer needs, by docs/film.md.", body = Object),
        (status = 304, description = "As the reader has it."),
        (status = 403, description = "Boards are a secret until the end (code `hidden`).", body = ErrorBody),
        (status = 409, description = "The competition was not started yet.", body = ErrorBody),
    ),
)]
async fn film(
    State(app): State<AppState>,
    seen: VisibleCompetition,
    caller: Caller,
    Path(of): Path<OfGame>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let played = GameLookup::find(&app, &seen, of.phase, &of.name, of.game).await?;
    played.open()?;
    let logs = own_logs(&played, &caller).await?;
    let name = film_name(&seen, &played, &logs);
    if let Some(answer) = encoded_json::not_modified(&headers, &name) {
        return Ok(answer);
    }
    if let Some(film) = app.arenas.films.get(&name) {
        return Ok(film.answer(&headers));
    }
    let bytes = played.record().await?;
    let public = logs.is_empty();
    let film = {
        let name = name.clone();
        app.arenas.work(move |_: &Handle| developed(&played, &bytes, logs, &name)).await?
    };
    let film = Arc::new(film);
    // Nobody but its author asks for a film with logs again.
    if public {
        app.arenas.films.put(&name, &film);
    }
    Ok(film.answer(&headers))
}

/// What the caller's own bots printed.
async fn own_logs(played: &GameLookup, caller: &Caller) -> ApiResult<Vec<LogLine>> {
    let mut logs = Vec::new();
    for taker in played.overview.takers.iter().filter(|one| caller.is(one.account)) {
        let Some(seat) = taker.shown.entrant.and_then(|entrant| played.seat_of(entrant)) else { continue };
        let log = played.ledger.log(played.key(), played.game, seat).await.map_err(ApiError::broke)?;
        let lines = log.into_iter().flat_map(|log| log.printed);
        logs.extend(lines.map(|one| LogLine { turn: one.turn, seat: Seat(seat), text: one.text }));
    }
    logs.sort_by_key(|line| line.turn);
    Ok(logs)
}

/// Films of the same name are the same.
fn film_name(seen: &VisibleCompetition, played: &GameLookup, logs: &[LogLine]) -> String {
    let mut hash = Sha256::new();
    hash.update(seen.arena.id.as_bytes());
    hash.update([0, u8::from(played.overview.seed.is_some())]);
    hash.update(format!("{} {}", played.key(), played.game).as_bytes());
    if let Some(digest) = played.one.games.get(played.game as usize) {
        hash.update(digest.0);
    }
    for line in logs {
        hash.update(line.turn.to_le_bytes());
        hash.update([line.seat.0]);
        hash.update(line.text.as_bytes());
    }
    encoded_json::short(&hash.finalize())
}

fn developed(played: &GameLookup, bytes: &[u8], logs: Vec<LogLine>, name: &str) -> ApiResult<EncodedJson> {
    let (record, _) = read(bytes, 1).map_err(ApiError::broke)?;
    let seats = &played.one.result.games[played.game as usize].seats;
    let by = |seat: &agon_league::SeatResult| {
        played.overview.taker(seat.entrant.0).and_then(|taker| taker.shown.contributor.clone())
    };
    let extras = Extras {
        contributors: seats.iter().map(by).collect(),
        logs,
        hide_seed: played.overview.seed.is_none(),
    };
    let table = &played.sitting.table;
    let film = table.film(record, &played.sitting.assets).map_err(ApiError::broke)?;
    EncodedJson::large(&to_json(table.info(), film.as_ref(), &extras), name)
}

/// A game's record, once the secret seed was revealed: for `agon replay`, `agon verify` and `agon debug`.
#[utoipa::path(
    get, path = "/competitions/{id}/phases/{phase}/matches/{match}/games/{game}/record", tag = "competitions", operation_id = "record",
    params(
        ("id" = String, Path, description = "The competition."), ("phase" = u32, Path, description = "From 1."),
        ("match" = String, Path, description = "STAGE-NUMBER, such as 2-15."), ("game" = u32, Path, description = "From 1."),
    ),
    responses(
        (status = 200, description = "The record.", body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 403, description = "The seed is still a secret (code `secret`).", body = ErrorBody),
        (status = 409, description = "The competition was not started yet.", body = ErrorBody),
    ),
)]
async fn record(State(app): State<AppState>, seen: VisibleCompetition, Path(of): Path<OfGame>) -> ApiResult<Response> {
    let played = GameLookup::find(&app, &seen, of.phase, &of.name, of.game).await?;
    if played.overview.seed.is_none() {
        let words =
            "a record has its game's seed in it, and seeds are a secret until the competition is over";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "secret", words));
    }
    let bytes = played.record().await?;
    let name = format!("{}-{}-{}-{}.agon", seen.arena.id, of.phase, of.name, of.game);
    Ok((attachment(&name, "application/octet-stream"), bytes).into_response())
}

/// The headers of a file to take home. The name is ours: letters, digits, dashes and dots.
pub fn attachment(name: &str, kind: &'static str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Ok(value) = HeaderValue::try_from(format!("attachment; filename=\"{name}\"")) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    headers
}
