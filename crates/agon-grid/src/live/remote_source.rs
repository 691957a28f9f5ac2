//! One remote slot, while viewers subscribe to it.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use agon_core::LockIgnoringPoison as _;
use agon_engine::{FilmPart, LiveFilm};
use agon_league::{Entrant, MatchKey};
use agon_runner::LiveUpdate;
use agon_runner::live::{LiveGameKey, LiveSource};
use futures_util::StreamExt as _;
use futures_util::future::{BoxFuture, FutureExt as _, OptionFuture};
use tokio::runtime::Handle;
use tokio::sync::broadcast::{self, Receiver, Sender};
use tokio::task::AbortHandle;
use tokio::time::MissedTickBehavior;

use super::chunks::{AssembleStep, LiveAssembler};
use crate::messages::{CommandReply, LiveChunk, LiveMessage, WorkerCommand, decode, encode};
use crate::{GridError, NatsConnection, subjects};

/// Number of buffered updates. A slower subscriber gets the whole film again.
const UPDATE_BUFFER: usize = 16;
/// Interval of stream requests to the worker.
const REQUEST_INTERVAL: Duration = Duration::from_secs(3);
/// The worker streams for this time after the last request.
const STREAM_LEASE: Duration = Duration::from_secs(10);
/// Minimum time between two requests for the whole film.
const MIN_FULL_FILM_INTERVAL: Duration = Duration::from_millis(500);

/// Address of a remote slot.
#[derive(Clone)]
pub(super) struct RemoteAddress {
    pub link: NatsConnection,
    pub worker: String,
    pub competition_id: String,
    pub slot: u32,
}

/// State shared by all subscribers of a slot. The stream is fetched while there is a subscriber.
pub(super) struct RemoteSource {
    broadcast: Arc<RemoteBroadcast>,
    fetch_task: AbortHandle,
}

impl RemoteSource {
    pub fn open(
        runtime: &Handle,
        address: RemoteAddress,
        slot: usize,
        contributors: Arc<[Option<String>]>,
    ) -> Arc<Self> {
        let broadcast =
            Arc::new(RemoteBroadcast { slot, contributors, state: Mutex::new(BroadcastState::default()) });
        let fetch_task = runtime.spawn(fetch(address, Arc::clone(&broadcast))).abort_handle();
        Arc::new(Self { broadcast, fetch_task })
    }
}

impl Drop for RemoteSource {
    /// Ends the stream. The worker stops when it gets no more requests.
    fn drop(&mut self) {
        self.fetch_task.abort();
    }
}

/// Handle of one subscriber.
pub(super) struct RemoteSourceHandle(pub Arc<RemoteSource>);

impl LiveSource for RemoteSourceHandle {
    fn subscribe(&self) -> Option<(Receiver<LiveUpdate>, Option<LiveUpdate>)> {
        let mut state = self.0.broadcast.state();
        let receiver = state.sender.subscribe();
        let update =
            state.current.as_mut().map(CurrentFilm::update).or(state.idle.then_some(LiveUpdate::Idle));
        Some((receiver, update))
    }
}

/// Sends updates to all subscribers.
struct RemoteBroadcast {
    slot: usize,
    contributors: Arc<[Option<String>]>,
    state: Mutex<BroadcastState>,
}

struct BroadcastState {
    sender: Sender<LiveUpdate>,
    current: Option<CurrentFilm>,
    idle: bool,
}

impl Default for BroadcastState {
    fn default() -> Self {
        Self { sender: broadcast::channel(UPDATE_BUFFER).0, current: None, idle: false }
    }
}

struct CurrentFilm {
    game: Arc<LiveGameKey>,
    film: LiveFilm,
    /// Film as JSON, cached until the next turn.
    bytes: Option<Arc<[u8]>>,
    over: bool,
}

impl CurrentFilm {
    fn update(&mut self) -> LiveUpdate {
        let film = self.bytes.get_or_insert_with(|| self.film.json().into());
        LiveUpdate::Film { game: Arc::clone(&self.game), film: Arc::clone(film), over: self.over }
    }
}

impl RemoteBroadcast {
    fn state(&self) -> MutexGuard<'_, BroadcastState> {
        self.state.lock_ignoring_poison()
    }

    fn show_idle(&self) {
        let mut state = self.state();
        if !state.idle {
            (state.idle, state.current) = (true, None);
            // Fails if there is no subscriber now.
            let _ = state.sender.send(LiveUpdate::Idle);
        }
    }

    /// Sends a message to all subscribers. Returns false if it does not continue the current film.
    fn show(&self, message: LiveMessage) -> bool {
        match message {
            LiveMessage::Film {
                game: (number, (phase, stage, match_number), game, seats),
                film,
                part,
                over,
            } => {
                let key = MatchKey { phase, stage, number: match_number };
                if part {
                    return self.append(number, key, &film, over);
                }
                // Parse and serialise everything, so that content from a worker does not reach a browser unchecked.
                let by = |seat: &u32| self.contributors.get(*seat as usize).cloned();
                let Some(by) = seats.iter().map(by).collect::<Option<Vec<_>>>() else { return false };
                let Some(film) = LiveFilm::read(&film, &by) else { return false };
                let seats = seats.into_iter().map(Entrant).collect();
                let game = Arc::new(LiveGameKey { slot: self.slot, sequence: number, key, game, seats });
                let mut current = CurrentFilm { game, film, bytes: None, over };
                let update = current.update();
                let mut state = self.state();
                (state.idle, state.current) = (false, Some(current));
                let _ = state.sender.send(update);
            }
            LiveMessage::Match(played) => {
                let _ = self.state().sender.send(LiveUpdate::Match(Arc::new(played.result)));
            }
            LiveMessage::Idle => self.show_idle(),
        }
        true
    }

    fn append(&self, number: u64, key: MatchKey, bytes: &[u8], over: bool) -> bool {
        let Some(part) = FilmPart::read(bytes) else { return false };
        let bytes: Arc<[u8]> = part.json().into();
        let mut state = self.state();
        let Some(current) = &mut state.current else { return false };
        let follows = (current.game.sequence, current.game.key) == (number, key);
        if !follows || current.over || part.from != current.film.turns() + 1 {
            return false;
        }
        for turn in &part.turns {
            current.film.push(turn);
        }
        (current.bytes, current.over) = (None, over);
        if let Some(outcome) = part.outcome {
            current.film.end(outcome);
        }
        let game = Arc::clone(&current.game);
        let _ = state.sender.send(LiveUpdate::Part { game, part: bytes, over });
        true
    }
}

/// Requests the stream from the worker and forwards its messages.
async fn fetch(address: RemoteAddress, broadcast: Arc<RemoteBroadcast>) {
    let subject = subjects::live(&address.worker, &address.competition_id, address.slot);
    let Ok(mut chunks) = address.link.client().subscribe(subject).await else { return broadcast.show_idle() };
    let (mut assembler, mut full_film, mut last_request) = (LiveAssembler::default(), true, None::<Instant>);
    let mut request: Option<BoxFuture<'static, Result<CommandReply, GridError>>> = None;
    let mut tick = tokio::time::interval(REQUEST_INTERVAL);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = tick.tick() => {
                if request.is_none() {
                    last_request = Some(Instant::now());
                    request = Some(request_stream(address.clone(), full_film).boxed());
                }
            }
            Some(reply) = OptionFuture::from(request.as_mut()) => {
                request = None;
                // The worker is gone or the slot is not in use. Later it starts with the whole film.
                if !matches!(reply, Ok(CommandReply::Yes)) {
                    (full_film, assembler) = (true, LiveAssembler::default());
                    broadcast.show_idle();
                }
            }
            message = chunks.next() => {
                let Some(message) = message else { return broadcast.show_idle() };
                let Ok(chunk) = decode::<LiveChunk>(&message.payload) else { continue };
                match assembler.push(&chunk) {
                    AssembleStep::Incomplete => {}
                    AssembleStep::Complete(message) => {
                        let is_match = matches!(*message, LiveMessage::Match(_));
                        let follows = broadcast.show(*message);
                        full_film = if is_match { full_film } else { !follows };
                    }
                    AssembleStep::Gap => full_film = true,
                }
                if full_film && request.is_none() && last_request.is_none_or(|at| at.elapsed() >= MIN_FULL_FILM_INTERVAL) {
                    tick.reset_immediately();
                }
            }
        }
    }
}

async fn request_stream(address: RemoteAddress, full_film: bool) -> Result<CommandReply, GridError> {
    let for_ms = STREAM_LEASE.as_millis() as u64;
    let order = encode(&WorkerCommand::Show {
        competition_id: address.competition_id.clone(),
        slot: address.slot,
        duration_ms: for_ms,
        full_film,
    })?;
    let reply = address.link.client().request(subjects::command(&address.worker), order.into()).await;
    match reply {
        Ok(reply) => decode(&reply.payload),
        Err(error) => Ok(CommandReply::No(error.to_string())),
    }
}
