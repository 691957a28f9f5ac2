//! Shows a worker's boards to whoever asks: one stream for a board, however many look on, and none when nobody does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use agon_runner::live::{LiveSubscriber, SubscribeError, LiveGameKey};
use agon_runner::{LiveGames, LiveUpdate};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::messages::{LiveGameInfo, CommandReply, PIECE, LiveChunk, LiveMessage, encode, match_report};
use crate::{GridError, NatsConnection, subjects};

/// Nobody asks for longer: who still looks on says so again.
const LONGEST: Duration = Duration::from_mins(1);

/// What is on the boards of a gallery, for a beat.
pub fn boards(cup: &str, gallery: &LiveGames) -> Vec<LiveGameInfo> {
    let beat = |now: agon_runner::LiveGame| LiveGameInfo {
        competition_id: cup.to_owned(),
        board: now.board as u32,
        key: (now.key.phase, now.key.stage, now.key.number),
        game: now.game,
        seats: now.seats.iter().map(|one| one.0).collect(),
        for_ms: now.since.elapsed().as_millis() as u64,
        turn: now.turn,
    };
    gallery.boards().into_iter().map(beat).collect()
}

/// The boards that are being shown. Cheap to clone.
#[derive(Clone)]
pub struct LiveStreams(Arc<LiveStreamsInner>);

struct LiveStreamsInner {
    link: NatsConnection,
    worker: String,
    /// By competition and board.
    on: Mutex<HashMap<(String, u32), watch::Sender<StreamRequest>>>,
}

/// What was asked of a stream.
#[derive(Clone, Copy)]
struct StreamRequest {
    until: Instant,
    /// Goes up when somebody has nothing yet.
    wholes: u64,
}

impl LiveStreams {
    /// Of a worker of this name.
    pub fn new(link: NatsConnection, worker: &str) -> Self {
        Self(Arc::new(LiveStreamsInner { link, worker: worker.to_owned(), on: Mutex::default() }))
    }

    /// Carries out [`crate::wire::Order::Show`], in the runtime that this is called in. `gallery` is that of the competition, if anything of it is played here.
    pub fn show(
        &self,
        gallery: Option<&Arc<LiveGames>>,
        cup: &str,
        board: u32,
        for_ms: u64,
        whole: bool,
    ) -> CommandReply {
        let Some(gallery) = gallery else {
            return CommandReply::No(format!("nothing of {cup} is played here"));
        };
        let until = Instant::now() + Duration::from_millis(for_ms).min(LONGEST);
        let key = (cup.to_owned(), board);
        let mut on = self.0.on();
        if let Some(wish) = on.get(&key) {
            wish.send_modify(|wish| {
                wish.until = wish.until.max(until);
                wish.wholes += u64::from(whole);
            });
            return CommandReply::Yes;
        }
        let follower = match gallery.follow(board as usize) {
            Ok(follower) => follower,
            Err(SubscribeError::NotThere) => return CommandReply::No(format!("there is no board {board} here")),
            Err(error) => return CommandReply::No(error.to_string()),
        };
        let (sender, wish) = watch::channel(StreamRequest { until, wholes: 0 });
        on.insert(key.clone(), sender);
        drop(on);
        let stream = LiveStream {
            subject: subjects::live(&self.0.worker, cup, board),
            house: Arc::clone(&self.0),
            gallery: Arc::downgrade(gallery),
            follower,
            key,
            number: 0,
        };
        tokio::spawn(stream.run(wish));
        CommandReply::Yes
    }

    /// How many boards are being shown.
    pub fn count(&self) -> usize {
        self.0.on().len()
    }
}

impl LiveStreamsInner {
    fn on(&self) -> MutexGuard<'_, HashMap<(String, u32), watch::Sender<StreamRequest>>> {
        self.on.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A board that is being shown.
struct LiveStream {
    house: Arc<LiveStreamsInner>,
    /// Not kept alive for those who look on.
    gallery: Weak<LiveGames>,
    follower: LiveSubscriber,
    key: (String, u32),
    subject: String,
    /// How much was said so far.
    number: u64,
}

impl LiveStream {
    async fn run(mut self, mut wish: watch::Receiver<StreamRequest>) {
        let mut wholes = 0;
        loop {
            let now = *wish.borrow_and_update();
            if now.wholes != wholes {
                wholes = now.wholes;
                self.begin_again();
            }
            tokio::select! {
                biased;
                changed = wish.changed() => if changed.is_err() { return },
                () = sleep_until(now.until) => if self.is_over(&wish) { return },
                update = self.follower.next() => {
                    let ended = update.is_none();
                    let said = self.say(&shown(update), now.until).await;
                    if ended || said.is_err() {
                        self.house.on().remove(&self.key);
                        return;
                    }
                }
            }
        }
    }

    /// Whether nobody looks on any more. Decided under the lock: who asks now finds this stream, or none.
    fn is_over(&self, wish: &watch::Receiver<StreamRequest>) -> bool {
        let mut on = self.house.on();
        let over = wish.borrow().until <= Instant::now();
        if over {
            on.remove(&self.key);
        }
        over
    }

    /// Follows anew: that begins with the whole film.
    fn begin_again(&mut self) {
        let again = self.gallery.upgrade().and_then(|gallery| gallery.follow(self.key.1 as usize).ok());
        if let Some(follower) = again {
            self.follower = follower;
        }
    }

    /// Says it, in pieces. Without a server it is dropped once nobody asks any more.
    async fn say(&mut self, shown: &LiveMessage, until: Instant) -> Result<(), GridError> {
        let bytes = encode(shown)?;
        let pieces = bytes.len().div_ceil(PIECE) as u32;
        for (piece, bytes) in (0..).zip(bytes.chunks(PIECE)) {
            let seen = encode(&LiveChunk { number: self.number, piece, pieces, bytes: bytes.to_vec() })?;
            let said = self.house.link.client().publish(self.subject.clone(), seen.into());
            // Whoever misses a piece asks again.
            let _ = timeout_at(until, said).await;
        }
        self.number += 1;
        Ok(())
    }
}

fn shown(update: Option<LiveUpdate>) -> LiveMessage {
    let film = |game: &LiveGameKey, bytes: &[u8], part, over| {
        let key = (game.key.phase, game.key.stage, game.key.number);
        let seats = game.seats.iter().map(|one| one.0).collect();
        LiveMessage::Film { game: (game.number, key, game.game, seats), film: bytes.to_vec(), part, over }
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
