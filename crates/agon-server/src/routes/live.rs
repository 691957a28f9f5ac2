//! Live games and events of competitions: server-sent events.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agon_core::Seat;
use agon_runner::live::{LiveGameKey, SubscribeError};
use agon_runner::{LiveGame, LiveGames, LiveSubscriber, LiveUpdate};
use agon_site_db::CompetitionState;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::stream;
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Interval, MissedTickBehavior};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::matches::{film_path, hidden_error};
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path};
use crate::middleware::ClientIp;
use crate::paging::PageBody;
use crate::read_model::overview::{Overview, match_name};
use crate::read_model::{CompetitionHandle, FeedEvent, VisibleCompetition, sse};
use crate::state::AppState;
use crate::stream_limits::StreamPermit;

/// Interval of the `ping` events that keep a stream open.
const PING_INTERVAL: Duration = Duration::from_secs(15);
/// Interval at which a stream checks whether the run of its game has ended.
const IDLE_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// After this many checks without news, the stream of an ended run is closed.
const MAX_IDLE_CHECKS: u32 = 10;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(events)).routes(routes!(live_games)).routes(routes!(watch))
}

/// A game being played.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LiveGameBody {
    /// Number of the live slot, for watching it.
    pub board: u32,
    /// Number of the phase, from 1.
    pub phase: u32,
    /// The match.
    #[serde(rename = "match")]
    pub match_: String,
    /// Number of the game within the match, from 1.
    pub game: u32,
    /// Players in seat order.
    pub seats: Vec<LiveSeatBody>,
    /// When the game started.
    pub since: i64,
    /// Number of turns played.
    pub turn: u32,
    /// Whether it cannot be watched, because its seed is hidden.
    pub hidden: bool,
}

/// A player of a live game.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LiveSeatBody {
    /// The entrant.
    pub entrant: u32,
    /// Its role.
    pub role: &'static str,
}

impl LiveGameBody {
    /// Converts a live game for the API.
    pub fn from_live_game(game: &LiveGame, info: &agon_core::GameInfo, hidden: bool) -> Self {
        let since = SystemTime::now().checked_sub(game.since.elapsed());
        let since = since.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let seat = |(seat, one): (u8, &agon_league::Entrant)| LiveSeatBody {
            entrant: one.0,
            role: info.role(Seat(seat)).name,
        };
        Self {
            board: game.slot as u32,
            phase: game.key.phase + 1,
            match_: match_name(game.key),
            game: game.game + 1,
            seats: (0..).zip(&game.seats).map(seat).collect(),
            since: since.map_or(0, |since| since.as_millis() as i64),
            turn: game.turn,
            hidden,
        }
    }
}

/// All games being played.
#[utoipa::path(
    get, path = "/competitions/{id}/boards", tag = "live", operation_id = "boards",
    params(("id" = String, Path, description = "The competition.")),
    responses((status = 200, description = "All live games.", body = PageBody<LiveGameBody>)),
)]
async fn live_games(
    State(app): State<AppState>,
    visible: VisibleCompetition,
) -> ApiResult<Json<PageBody<LiveGameBody>>> {
    let mut items = Vec::new();
    if let (Some(live_games), Some(loaded)) = (visible.handle.live_games(), visible.handle.loaded()) {
        let overview = visible.overview(&app).await?;
        let info = loaded.table.info();
        items = live_games
            .games()
            .iter()
            .map(|game| LiveGameBody::from_live_game(game, info, overview.is_hidden(game.key.phase)))
            .collect();
    }
    Ok(Json(PageBody { items, next: None }))
}

/// An event stream: the events to be sent, and their source.
struct EventStream<S> {
    source: S,
    pending: VecDeque<Bytes>,
    ping: Interval,
    stopped: Pin<Box<dyn Future<Output = ()> + Send>>,
    _permit: StreamPermit,
}

/// Source of the events of a stream.
pub(super) trait EventSource: Send + 'static {
    /// Waits for the next events and adds them to `pending`; `false` at the end. The caller may cancel it at any time.
    fn next(&mut self, pending: &mut VecDeque<Bytes>) -> impl Future<Output = bool> + Send;
}

/// A response that goes on until the source ends, the client disconnects or the server stops.
pub(super) fn sse_response<S: EventSource>(
    app: &AppState,
    permit: StreamPermit,
    source: S,
    first: Vec<Bytes>,
) -> Response {
    let mut ping = tokio::time::interval(PING_INTERVAL);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ping.reset();
    let stopped = {
        let app = app.clone();
        Box::pin(async move { app.wait_for_stop().await })
    };
    let pending = [sse::RETRY_EVENT].into_iter().chain(first).collect();
    let stream = EventStream { source, pending, ping, stopped, _permit: permit };
    let body = Body::from_stream(stream::unfold(stream, async |mut stream| {
        loop {
            if let Some(bytes) = stream.pending.pop_front() {
                return Some((Ok::<_, std::convert::Infallible>(bytes), stream));
            }
            let EventStream { source, pending, ping, stopped, .. } = &mut stream;
            tokio::select! {
                biased;
                () = stopped => return None,
                more = source.next(pending) => if !more && pending.is_empty() { return None },
                _ = ping.tick() => pending.push_back(sse::PING_EVENT),
            }
        }
    }));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        // Proxies that buffer responses would delay the events.
        (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (headers, body).into_response()
}

struct CompetitionFeed(broadcast::Receiver<Bytes>);

impl EventSource for CompetitionFeed {
    async fn next(&mut self, pending: &mut VecDeque<Bytes>) -> bool {
        loop {
            match self.0.recv().await {
                Ok(bytes) => {
                    pending.push_back(bytes);
                    return true;
                }
                // Each event describes the current state, so a client that missed some is up to date after the next.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return false,
            }
        }
    }
}

/// Events of a competition: `state` (`{state, message}`), `freeze` (`{since, revealed}`: the standings are frozen, or no longer), `progress` (progress and games being played), `table` (`{phase, revision}`: the
/// table has changed), `ping`. A stream starts with the current state.
#[utoipa::path(
    get, path = "/competitions/{id}/events", tag = "live", operation_id = "events",
    params(("id" = String, Path, description = "The competition.")),
    responses(
        (status = 200, description = "Server-sent events.", body = String, content_type = "text/event-stream"),
        (status = 429, description = "Too many open streams of this address or account.", body = ErrorBody),
    ),
)]
async fn events(
    State(app): State<AppState>,
    caller: Caller,
    ClientIp(address): ClientIp,
    visible: VisibleCompetition,
) -> ApiResult<Response> {
    let permit = StreamPermit::acquire(&app, &caller, address)?;
    let (progress, feed) = visible.handle.subscribe(caller.is_organiser());
    let state = FeedEvent::State { state: visible.site_row.state, message: None };
    let first = [sse::competition_event(0, &state)].into_iter().chain(progress).collect();
    Ok(sse_response(&app, permit, CompetitionFeed(feed), first))
}

/// Path parameter of a live game.
#[derive(Clone, Copy, Debug, Deserialize)]
struct LiveGamePath {
    board: u32,
}

/// A game of a competition. All numbers count from 1.
#[derive(Serialize)]
struct GameRef {
    phase: u32,
    #[serde(rename = "match")]
    match_: String,
    game: u32,
}

impl GameRef {
    fn of(game: &LiveGameKey) -> Self {
        Self { phase: game.key.phase + 1, match_: match_name(game.key), game: game.game + 1 }
    }
}

#[derive(Serialize)]
struct GameEnd {
    #[serde(flatten)]
    game: GameRef,
    film: Option<String>,
}

/// Stream of the games in one live slot.
struct LiveGameStream {
    subscriber: LiveSubscriber,
    /// Kept until the last game was shown to its end: games are shown slower than they are played.
    live_games: Arc<LiveGames>,
    handle: Arc<CompetitionHandle>,
    /// Whether no game is being shown.
    idle: bool,
    /// Number of checks without news.
    idle_checks: u32,
    competition: String,
    overview: Arc<Overview>,
    /// Number of the last game whose `end` event was sent.
    last_ended: Option<u64>,
    /// Whether it goes on while the standings are frozen.
    sees_all: bool,
}

impl LiveGameStream {
    /// Adds an event. Its data is shared by all subscribers; only the frame around it is added per stream.
    fn push_event(pending: &mut VecDeque<Bytes>, name: &'static [u8], data: Arc<[u8]>) {
        pending.push_back(Bytes::from_static(name));
        pending.push_back(Bytes::from_owner(data));
        pending.push_back(Bytes::from_static(b"\n\n"));
    }

    /// Adds a `head` event: the film, which is shared by all subscribers, with the game as its first key.
    fn push_head(pending: &mut VecDeque<Bytes>, game: &LiveGameKey, film: Arc<[u8]>) {
        let name = b"event: head\ndata: ";
        let at = GameRef::of(game);
        match serde_json::to_string(&at) {
            // Every film is a JSON object with several keys.
            Ok(at) if film.first() == Some(&b'{') => {
                pending.push_back(Bytes::from_static(name));
                pending.push_back(Bytes::from(format!("{{\"at\":{at},")));
                pending.push_back(Bytes::from_owner(film).slice(1..));
                pending.push_back(Bytes::from_static(b"\n\n"));
            }
            _ => Self::push_event(pending, name, film),
        }
    }

    fn push_end(&mut self, game: &LiveGameKey, pending: &mut VecDeque<Bytes>) {
        if self.last_ended.replace(game.sequence) == Some(game.sequence) {
            return;
        }
        let end = GameEnd {
            game: GameRef::of(game),
            film: Some(film_path(&self.competition, game.key, game.game)),
        };
        pending.push_back(sse::json_event("end", None, &end));
    }
}

impl LiveGameStream {
    /// The next update; `None` when there will be no more.
    async fn next_update(&mut self) -> Option<LiveUpdate> {
        loop {
            if let Ok(update) = tokio::time::timeout(IDLE_CHECK_INTERVAL, self.subscriber.next()).await {
                (self.idle_checks, self.idle) = (0, matches!(update, Some(LiveUpdate::Idle)));
                return update;
            }
            self.idle_checks += 1;
            let runs =
                self.handle.live_games().is_some_and(|current| Arc::ptr_eq(&current, &self.live_games));
            if !runs && (self.idle || self.idle_checks >= MAX_IDLE_CHECKS) {
                return None;
            }
        }
    }
}

impl EventSource for LiveGameStream {
    async fn next(&mut self, pending: &mut VecDeque<Bytes>) -> bool {
        let Some(update) = self.next_update().await else { return false };
        if !self.sees_all && self.handle.frozen_since(CompetitionState::Running).is_some() {
            return false;
        }
        match update {
            // The seeds of the next phase may be hidden.
            LiveUpdate::Film { game, .. } | LiveUpdate::Part { game, .. }
                if self.overview.is_hidden(game.key.phase) =>
            {
                return false;
            }
            LiveUpdate::Film { game, film, over } => {
                Self::push_head(pending, &game, film);
                if over {
                    self.push_end(&game, pending);
                }
            }
            LiveUpdate::Part { game, part, over } => {
                Self::push_event(pending, b"event: part\ndata: ", part);
                if over {
                    self.push_end(&game, pending);
                }
            }
            LiveUpdate::Match(_) | LiveUpdate::Idle => {}
        }
        true
    }
}

/// A live game, and then the next ones in the same slot: `head` (the film so far, with `at`: `{phase, match, game}`), `part` (what follows, the last one with the outcome),
/// `end` (`{phase, match, game, film}`), `ping`; then the `head` of the next game.
#[utoipa::path(
    get, path = "/competitions/{id}/boards/{board}/watch", tag = "live", operation_id = "watch",
    params(("id" = String, Path, description = "The competition."), ("board" = u32, Path, description = "Number of the live game, from `boards`.")),
    responses(
        (status = 200, description = "Server-sent events.", body = String, content_type = "text/event-stream"),
        (status = 403, description = "The seeds are hidden until the end (code `hidden`), or the standings are frozen (`frozen`).", body = ErrorBody),
        (status = 404, description = "There is no such competition, or no such live game.", body = ErrorBody),
        (status = 429, description = "Too many open streams of this address or account.", body = ErrorBody),
    ),
)]
async fn watch(
    State(app): State<AppState>,
    caller: Caller,
    ClientIp(address): ClientIp,
    visible: VisibleCompetition,
    Path(LiveGamePath { board }): Path<LiveGamePath>,
) -> ApiResult<Response> {
    if visible.handle.as_of().is_some() {
        let message = "the standings are frozen: only organisers see what is played now";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "frozen", message));
    }
    let idle = || ApiError::not_found("live game").hint("no game is being played there");
    let live_games = visible.handle.live_games().ok_or_else(idle)?;
    let overview = visible.overview(&app).await?;
    let game = live_games.games().into_iter().find(|game| game.slot == board as usize);
    if game.is_some_and(|game| overview.is_hidden(game.key.phase)) {
        return Err(hidden_error());
    }
    let permit = StreamPermit::acquire(&app, &caller, address)?;
    let subscriber = live_games.subscribe(board as usize).map_err(|error| match error {
        SubscribeError::NotPlaying => idle(),
        SubscribeError::Renderer(error) => ApiError::internal(error),
    })?;
    let (handle, competition) = (Arc::clone(&visible.handle), visible.handle.id.clone());
    let stream = LiveGameStream {
        subscriber,
        live_games,
        handle,
        idle: false,
        idle_checks: 0,
        competition,
        overview,
        last_ended: None,
        sees_all: caller.is_organiser(),
    };
    Ok(sse_response(&app, permit, stream, Vec::new()))
}
