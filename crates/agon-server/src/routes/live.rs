//! What is played just now: server-sent events.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agon_core::Seat;
use agon_runner::live::{SubscribeError, LiveGameKey};
use agon_runner::{LiveGame, LiveSubscriber, LiveGames, LiveUpdate};
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, header};
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

use super::matches::{film_path, hidden};
use crate::read_model::overview::{Overview, match_name};
use crate::read_model::{CompetitionHandle, FeedEvent, VisibleCompetition, sse};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path};
use crate::paging::PageBody;
use crate::state::AppState;

/// So often a stream says that it is still there.
const PING: Duration = Duration::from_secs(15);
/// So often a board whose run has ended is looked at: whether there is still something to see.
const LOOK: Duration = Duration::from_secs(1);
/// After so many looks without anything new its stream ends in any case.
const LOOKS: u32 = 10;
/// So many streams at once.
const MOST: i64 = 2_000;

/// Its routes.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(events)).routes(routes!(boards)).routes(routes!(watch))
}

/// A game that is being played.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Board {
    /// Its number, for watching it.
    pub board: u32,
    /// From 1.
    pub phase: u32,
    /// The match.
    #[serde(rename = "match")]
    pub match_: String,
    /// From 1.
    pub game: u32,
    /// Who plays, in seat order.
    pub seats: Vec<BoardSeat>,
    /// Since when.
    pub since: i64,
    /// How many turns were played.
    pub turn: u32,
    /// Whether it cannot be watched: its board is a secret.
    pub hidden: bool,
}

/// Who plays.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BoardSeat {
    /// Who.
    pub entrant: u32,
    /// As what.
    pub role: &'static str,
}

impl Board {
    /// A board of a gallery, as it is shown.
    pub fn of(now: &LiveGame, info: &agon_core::GameInfo, hidden: bool) -> Self {
        let since = SystemTime::now().checked_sub(now.since.elapsed());
        let since = since.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let seat = |(seat, one): (u8, &agon_league::Entrant)| BoardSeat {
            entrant: one.0,
            role: info.role(Seat(seat)).name,
        };
        Self {
            board: now.board as u32,
            phase: now.key.phase + 1,
            match_: match_name(now.key),
            game: now.game + 1,
            seats: (0..).zip(&now.seats).map(seat).collect(),
            since: since.map_or(0, |since| since.as_millis() as i64),
            turn: now.turn,
            hidden,
        }
    }
}

/// Everything that is being played.
#[utoipa::path(
    get, path = "/competitions/{id}/boards", tag = "live", operation_id = "boards",
    params(("id" = String, Path, description = "The competition.")),
    responses((status = 200, description = "All of it.", body = PageBody<Board>)),
)]
async fn boards(State(app): State<AppState>, seen: VisibleCompetition) -> ApiResult<Json<PageBody<Board>>> {
    let mut items = Vec::new();
    if let (Some(gallery), Some(sitting)) = (seen.arena.gallery(), seen.arena.sitting()) {
        let overview = seen.overview(&app).await?;
        let info = sitting.table.info();
        items =
            gallery.boards().iter().map(|now| Board::of(now, info, overview.hides(now.key.phase))).collect();
    }
    Ok(Json(PageBody { items, next: None }))
}

/// One who watches: counted, and no more than there is room for.
struct StreamPermit(AppState);

impl StreamPermit {
    fn come(app: &AppState) -> ApiResult<Self> {
        if app.is_stopping() {
            return Err(ApiError::busy("the server is being stopped", 10));
        }
        if app.meters.watchers.fetch_add(1, Ordering::AcqRel) >= MOST {
            app.meters.watchers.fetch_sub(1, Ordering::AcqRel);
            return Err(ApiError::busy("too many are watching just now", 30));
        }
        Ok(Self(app.clone()))
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        self.0.meters.watchers.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A stream of events: what waits to be sent, and where more comes from.
struct Stream<S> {
    source: S,
    waiting: VecDeque<Bytes>,
    ping: Interval,
    stopped: Pin<Box<dyn Future<Output = ()> + Send>>,
    _watcher: StreamPermit,
}

/// Where events come from.
trait Source: Send + 'static {
    /// Puts what comes next into `waiting`; `false` when there is no more. May be given up at any time.
    fn next(&mut self, waiting: &mut VecDeque<Bytes>) -> impl Future<Output = bool> + Send;
}

/// An answer that goes on until its source ends, the reader leaves or the server stops.
fn answer<S: Source>(app: &AppState, watcher: StreamPermit, source: S, first: Vec<Bytes>) -> Response {
    let mut ping = tokio::time::interval(PING);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ping.reset();
    let stopped = {
        let app = app.clone();
        Box::pin(async move { app.stopped().await })
    };
    let waiting = [sse::RETRY].into_iter().chain(first).collect();
    let stream = Stream { source, waiting, ping, stopped, _watcher: watcher };
    let body = Body::from_stream(stream::unfold(stream, async |mut stream| {
        loop {
            if let Some(bytes) = stream.waiting.pop_front() {
                return Some((Ok::<_, std::convert::Infallible>(bytes), stream));
            }
            let Stream { source, waiting, ping, stopped, .. } = &mut stream;
            tokio::select! {
                biased;
                () = stopped => return None,
                more = source.next(waiting) => if !more && waiting.is_empty() { return None },
                _ = ping.tick() => waiting.push_back(sse::PING),
            }
        }
    }));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        // Proxies that gather answers would hold events back.
        (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (headers, body).into_response()
}

struct Feed(broadcast::Receiver<Bytes>);

impl Source for Feed {
    async fn next(&mut self, waiting: &mut VecDeque<Bytes>) -> bool {
        loop {
            match self.0.recv().await {
                Ok(bytes) => {
                    waiting.push_back(bytes);
                    return true;
                }
                // Each event says how things are: whoever missed some learns it from the next.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return false,
            }
        }
    }
}

/// What happens in a competition: `state` (`{state, message}`), `progress` (how far it is and what is played), `table`
/// (`{phase, revision}`: there is another one), `ping`. A stream begins with how things are.
#[utoipa::path(
    get, path = "/competitions/{id}/events", tag = "live", operation_id = "events",
    params(("id" = String, Path, description = "The competition.")),
    responses((status = 200, description = "Server-sent events.", body = String, content_type = "text/event-stream")),
)]
async fn events(State(app): State<AppState>, seen: VisibleCompetition) -> ApiResult<Response> {
    let watcher = StreamPermit::come(&app)?;
    let (progress, feed) = seen.arena.subscribe();
    let state = FeedEvent::State { state: seen.row.state, message: None };
    let first = [sse::feed(0, &state)].into_iter().chain(progress).collect();
    Ok(answer(&app, watcher, Feed(feed), first))
}

/// Which board.
#[derive(Clone, Copy, Debug, Deserialize)]
struct OfBoard {
    board: u32,
}

#[derive(Serialize)]
struct End {
    phase: u32,
    #[serde(rename = "match")]
    match_: String,
    game: u32,
    film: Option<String>,
}

/// Someone at a board.
struct LiveGameStream {
    follower: LiveSubscriber,
    /// Kept until the last game was seen to its end: it is shown slower than it was played.
    gallery: Arc<LiveGames>,
    arena: Arc<CompetitionHandle>,
    /// Nothing is shown just now.
    idle: bool,
    /// How often nothing new was there.
    looks: u32,
    competition: String,
    overview: Arc<Overview>,
    /// The game whose end was told.
    ended: Option<u64>,
}

impl LiveGameStream {
    /// The bytes of an update are the same for all: only what stands around them is put there for each.
    fn put(waiting: &mut VecDeque<Bytes>, name: &'static [u8], data: Arc<[u8]>) {
        waiting.push_back(Bytes::from_static(name));
        waiting.push_back(Bytes::from_owner(data));
        waiting.push_back(Bytes::from_static(b"\n\n"));
    }

    fn end(&mut self, game: &LiveGameKey, waiting: &mut VecDeque<Bytes>) {
        if self.ended.replace(game.number) == Some(game.number) {
            return;
        }
        let end = End {
            phase: game.key.phase + 1,
            match_: match_name(game.key),
            game: game.game + 1,
            film: Some(film_path(&self.competition, game.key, game.game)),
        };
        waiting.push_back(sse::event_of("end", None, &end));
    }
}

impl LiveGameStream {
    /// The next thing to see; nothing when there will be none.
    async fn update(&mut self) -> Option<LiveUpdate> {
        loop {
            if let Ok(update) = tokio::time::timeout(LOOK, self.follower.next()).await {
                (self.looks, self.idle) = (0, matches!(update, Some(LiveUpdate::Idle)));
                return update;
            }
            self.looks += 1;
            let runs = self.arena.gallery().is_some_and(|now| Arc::ptr_eq(&now, &self.gallery));
            if !runs && (self.idle || self.looks >= LOOKS) {
                return None;
            }
        }
    }
}

impl Source for LiveGameStream {
    async fn next(&mut self, waiting: &mut VecDeque<Bytes>) -> bool {
        let Some(update) = self.update().await else { return false };
        match update {
            // The next phase may be one whose boards are a secret.
            LiveUpdate::Film { game, .. } | LiveUpdate::Part { game, .. } if self.overview.hides(game.key.phase) => {
                return false;
            }
            LiveUpdate::Film { game, film, over } => {
                Self::put(waiting, b"event: head\ndata: ", film);
                if over {
                    self.end(&game, waiting);
                }
            }
            LiveUpdate::Part { game, part, over } => {
                Self::put(waiting, b"event: part\ndata: ", part);
                if over {
                    self.end(&game, waiting);
                }
            }
            LiveUpdate::Match(_) | LiveUpdate::Idle => {}
        }
        true
    }
}

/// A board as it is played, game after game: `head` (a film so far, live), `part` (what comes then, the last with the outcome), `end`
/// (`{phase, match, game, film}`), `ping`; then the `head` of the next game that is shown.
#[utoipa::path(
    get, path = "/competitions/{id}/boards/{board}/watch", tag = "live", operation_id = "watch",
    params(("id" = String, Path, description = "The competition."), ("board" = u32, Path, description = "The board.")),
    responses(
        (status = 200, description = "Server-sent events.", body = String, content_type = "text/event-stream"),
        (status = 403, description = "Boards are a secret until the end (code `hidden`).", body = ErrorBody),
        (status = 404, description = "There is no such competition, or nothing is played on such a board.", body = ErrorBody),
    ),
)]
async fn watch(
    State(app): State<AppState>,
    seen: VisibleCompetition,
    Path(OfBoard { board }): Path<OfBoard>,
) -> ApiResult<Response> {
    let idle = || ApiError::not_found("board").hint("nothing is played there just now");
    let gallery = seen.arena.gallery().ok_or_else(idle)?;
    let overview = seen.overview(&app).await?;
    let now = gallery.boards().into_iter().find(|now| now.board == board as usize);
    if now.is_some_and(|now| overview.hides(now.key.phase)) {
        return Err(hidden());
    }
    let watcher = StreamPermit::come(&app)?;
    let follower = gallery.follow(board as usize).map_err(|error| match error {
        SubscribeError::NotThere => idle(),
        SubscribeError::Projector(error) => ApiError::broke(error),
    })?;
    let (arena, competition) = (Arc::clone(&seen.arena), seen.arena.id.clone());
    let watching =
        LiveGameStream { follower, gallery, arena, idle: false, looks: 0, competition, overview, ended: None };
    Ok(answer(&app, watcher, watching, Vec::new()))
}
