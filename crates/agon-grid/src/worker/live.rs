//! Streams live games of a worker on request: one stream per slot for any number of viewers, and none without viewers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use agon_core::LockIgnoringPoison as _;
use agon_runner::live::{LiveGameKey, LiveSubscriber, SubscribeError};
use agon_runner::{LiveGames, LiveUpdate};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::messages::{
    CommandReply, LiveChunk, LiveGameInfo, LiveMessage, MAX_CHUNK_BYTES, encode, match_report,
};
use crate::{GridError, NatsConnection, subjects};

/// Maximum duration of a stream request. Viewers repeat their requests.
const MAX_STREAM_LEASE: Duration = Duration::from_mins(1);

/// Games being played, for a heartbeat.
pub fn live_game_infos(competition_id: &str, live_games: &LiveGames) -> Vec<LiveGameInfo> {
    let info = |current: agon_runner::LiveGame| LiveGameInfo {
        competition_id: competition_id.to_owned(),
        slot: current.slot as u32,
        key: (current.key.phase, current.key.stage, current.key.number),
        game: current.game,
        seats: current.seats.iter().map(|one| one.0).collect(),
        elapsed_ms: current.since.elapsed().as_millis() as u64,
        turn: current.turn,
    };
    live_games.games().into_iter().map(info).collect()
}

/// Active streams. Cheap to clone.
#[derive(Clone)]
pub struct LiveStreams(Arc<LiveStreamsInner>);

struct LiveStreamsInner {
    link: NatsConnection,
    worker: String,
    /// Requests by competition and slot.
    streams: Mutex<HashMap<(String, u32), watch::Sender<StreamRequest>>>,
}

/// Latest request for a stream.
#[derive(Clone, Copy)]
struct StreamRequest {
    until: Instant,
    /// Number of requests for the whole film so far.
    full_film_requests: u64,
}

impl LiveStreams {
    /// For the worker of this name.
    pub fn new(link: NatsConnection, worker: &str) -> Self {
        Self(Arc::new(LiveStreamsInner { link, worker: worker.to_owned(), streams: Mutex::default() }))
    }

    /// Executes [`crate::messages::WorkerCommand::Show`] in the current runtime. `live_games` are those of the competition, if any was
    /// played here.
    pub fn show(
        &self,
        live_games: Option<&Arc<LiveGames>>,
        competition_id: &str,
        slot: u32,
        duration_ms: u64,
        full_film: bool,
    ) -> CommandReply {
        let Some(live_games) = live_games else {
            return CommandReply::No(format!("no game of {competition_id} is played here"));
        };
        let until = Instant::now() + Duration::from_millis(duration_ms).min(MAX_STREAM_LEASE);
        let key = (competition_id.to_owned(), slot);
        let mut streams = self.0.streams();
        if let Some(request) = streams.get(&key) {
            request.send_modify(|request| {
                request.until = request.until.max(until);
                request.full_film_requests += u64::from(full_film);
            });
            return CommandReply::Yes;
        }
        let subscriber = match live_games.subscribe(slot as usize) {
            Ok(subscriber) => subscriber,
            Err(SubscribeError::NotPlaying) => {
                return CommandReply::No(format!("slot {slot} is not playing"));
            }
            Err(error) => return CommandReply::No(error.to_string()),
        };
        let (sender, request) = watch::channel(StreamRequest { until, full_film_requests: 0 });
        streams.insert(key.clone(), sender);
        drop(streams);
        let stream = LiveStream {
            subject: subjects::live(&self.0.worker, competition_id, slot),
            streams: Arc::clone(&self.0),
            live_games: Arc::downgrade(live_games),
            subscriber,
            key,
            number: 0,
        };
        tokio::spawn(stream.run(request));
        CommandReply::Yes
    }

    /// Number of active streams.
    pub fn count(&self) -> usize {
        self.0.streams().len()
    }
}

impl LiveStreamsInner {
    fn streams(&self) -> MutexGuard<'_, HashMap<(String, u32), watch::Sender<StreamRequest>>> {
        self.streams.lock_ignoring_poison()
    }
}

/// An active stream of a slot.
struct LiveStream {
    streams: Arc<LiveStreamsInner>,
    /// Weak, so that a stream does not keep the games alive.
    live_games: Weak<LiveGames>,
    subscriber: LiveSubscriber,
    key: (String, u32),
    subject: String,
    /// Number of messages sent so far.
    number: u64,
}

impl LiveStream {
    async fn run(mut self, mut request: watch::Receiver<StreamRequest>) {
        let mut full_film_requests = 0;
        loop {
            let current = *request.borrow_and_update();
            if current.full_film_requests != full_film_requests {
                full_film_requests = current.full_film_requests;
                self.restart_with_full_film();
            }
            tokio::select! {
                biased;
                changed = request.changed() => if changed.is_err() { return },
                () = sleep_until(current.until) => if self.remove_if_expired(&request) { return },
                update = self.subscriber.next() => {
                    let ended = update.is_none();
                    let sending = self.send(&live_message(update), current.until).await;
                    if ended || sending.is_err() {
                        self.streams.streams().remove(&self.key);
                        return;
                    }
                }
            }
        }
    }

    /// Removes the stream if its request has expired, and returns whether it did. Under the lock, so that a new request finds either this
    /// stream or none.
    fn remove_if_expired(&self, request: &watch::Receiver<StreamRequest>) -> bool {
        let mut streams = self.streams.streams();
        let expired = request.borrow().until <= Instant::now();
        if expired {
            streams.remove(&self.key);
        }
        expired
    }

    /// Subscribes again. The new subscription starts with the whole film.
    fn restart_with_full_film(&mut self) {
        let restarted =
            self.live_games.upgrade().and_then(|live_games| live_games.subscribe(self.key.1 as usize).ok());
        if let Some(subscriber) = restarted {
            self.subscriber = subscriber;
        }
    }

    /// Sends a message in chunks. Drops it if the server is unreachable until the request expires.
    async fn send(&mut self, live_message: &LiveMessage, until: Instant) -> Result<(), GridError> {
        let bytes = encode(live_message)?;
        let chunks = bytes.len().div_ceil(MAX_CHUNK_BYTES) as u32;
        for (index, bytes) in (0..).zip(bytes.chunks(MAX_CHUNK_BYTES)) {
            let chunk =
                encode(&LiveChunk { number: self.number, chunk: index, chunks, bytes: bytes.to_vec() })?;
            let sending = self.streams.link.client().publish(self.subject.clone(), chunk.into());
            // A viewer that misses a chunk asks for the whole film.
            let _ = timeout_at(until, sending).await;
        }
        self.number += 1;
        Ok(())
    }
}

fn live_message(update: Option<LiveUpdate>) -> LiveMessage {
    let film = |game: &LiveGameKey, bytes: &[u8], part, over| {
        let key = (game.key.phase, game.key.stage, game.key.number);
        let seats = game.seats.iter().map(|one| one.0).collect();
        LiveMessage::Film { game: (game.sequence, key, game.game, seats), film: bytes.to_vec(), part, over }
    };
    match update {
        Some(LiveUpdate::Film { game, film: bytes, over }) => film(&game, &bytes, false, over),
        Some(LiveUpdate::Part { game, part, over }) => film(&game, &part, true, over),
        Some(LiveUpdate::Match(result)) => LiveMessage::Match(match_report::MatchReport {
            result: (*result).clone(),
            games: Vec::new(),
            faults: Vec::new(),
            data: Vec::new(),
            logs: Vec::new(),
        }),
        Some(LiveUpdate::Idle) | None => LiveMessage::Idle,
    }
}
