//! What a person at a seat is shown: server-sent events.

use std::collections::VecDeque;

use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use serde::Deserialize;
use tokio::sync::watch;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::live::{EventSource, sse_response};
use super::play::SessionPath;
use crate::caller::Caller;
use crate::error::{ApiResult, ErrorBody};
use crate::extract::{Path, Query};
use crate::middleware::ClientIp;
use crate::play::engine;
use crate::play::session::SeatConnection;
use crate::state::AppState;
use crate::stream_limits::StreamPermit;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(play_events))
}

/// Query of the event stream.
#[derive(Clone, Debug, Deserialize)]
struct EventsQuery {
    #[serde(default)]
    key: Option<String>,
}

/// Events of a seat.
struct SeatStream {
    connection: SeatConnection,
    changed: watch::Receiver<u64>,
}

impl EventSource for SeatStream {
    async fn next(&mut self, pending: &mut VecDeque<Bytes>) -> bool {
        loop {
            self.changed.borrow_and_update();
            match self.connection.next_events() {
                None => return false,
                Some(events) if !events.is_empty() => {
                    pending.extend(events);
                    return true;
                }
                Some(_) => {}
            }
            if self.changed.changed().await.is_err() {
                return false;
            }
        }
    }
}

/// What the person at a seat is shown: `lobby` (the session), `head` (the film of the seat, without what is hidden from it), `part` (turns that
/// follow), `ask` (a request with all legal answers), `refused` (why an answer is illegal), `wait` (persons who have not answered yet), `end`
/// (outcome, and the id of the played game), `ping`. A new stream begins with all that is known. The first stream of the last person
/// starts the game.
#[utoipa::path(
    get, path = "/play/{id}/events", tag = "play", operation_id = "play_events",
    params(
        ("id" = String, Path, description = "The session."),
        ("key" = Option<String>, Query, description = "Key of the seat."),
    ),
    responses(
        (status = 200, description = "Server-sent events.", body = String, content_type = "text/event-stream"),
        (status = 403, description = "The key is missing or wrong (code `no_seat`).", body = ErrorBody),
        (status = 429, description = "Too many open streams of this address or account.", body = ErrorBody),
    ),
)]
async fn play_events(
    State(app): State<AppState>,
    caller: Caller,
    ClientIp(address): ClientIp,
    Path(path): Path<SessionPath>,
    Query(query): Query<EventsQuery>,
) -> ApiResult<Response> {
    let session = app.play.find(&path.id)?;
    session.seat_of(query.key.as_deref())?;
    let permit = StreamPermit::acquire(&app, &caller, address)?;
    let changed = session.subscribe();
    let connection = SeatConnection::open(session.clone(), query.key.as_deref().unwrap_or_default())?;
    if session.start_if_ready() {
        engine::start(&app, &session);
    }
    Ok(sse_response(&app, permit, SeatStream { connection, changed }, Vec::new()))
}
