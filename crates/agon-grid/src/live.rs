//! Boards of workers, seen from here. A [`RemoteLiveGames`] hears from the workers' beats what is on, and fetches a board while somebody follows it:
//! one stream from its worker, whoever and however many look on. It hands on the same updates as a board of this machine.

mod remote_source;
mod chunks;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use agon_league::{Entrant, MatchKey};
use agon_runner::LiveGame;
use agon_runner::live::{RemoteGames, SubscribeError, LiveSource};
use futures_util::StreamExt as _;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use crate::messages::{Heartbeat, LiveGameInfo, PROTOCOL, decode};
use crate::{NatsConnection, subjects};
use remote_source::{RemoteSource, RemoteAddress, RemoteSourceHandle};

/// A worker that was not heard for so long shows nothing.
const LOST: Duration = Duration::from_secs(7);
/// The number of a worker that was not heard for so long may be another's.
const FORGOTTEN: Duration = Duration::from_mins(10);
/// More boards are not remembered: whoever may publish beats cannot fill the memory.
const MOST: usize = 20_000;

/// The boards of all workers that play a competition.
pub struct RemoteLiveGames {
    shared: Arc<RemoteState>,
    listening: AbortHandle,
}

struct RemoteState {
    link: NatsConnection,
    runtime: Handle,
    cup: String,
    /// Who wrote the bots, by entrant: workers are not told.
    contributors: Arc<[Option<String>]>,
    /// The number of its first board: there are so many here.
    first: usize,
    slots: Mutex<Vec<RemoteSlot>>,
}

/// A board of a worker. Its place in the list is its number.
struct RemoteSlot {
    worker: String,
    board: u32,
    heard: Instant,
    now: Option<LiveGameInfo>,
    channel: Weak<RemoteSource>,
}

impl RemoteLiveGames {
    /// Begins to listen. `contributors` are those who wrote the bots, one for each entrant; boards are numbered from `first` on.
    pub fn open(
        link: NatsConnection,
        runtime: &Handle,
        cup: &str,
        contributors: Vec<Option<String>>,
        first: usize,
    ) -> Arc<Self> {
        let shared = Arc::new(RemoteState {
            link,
            runtime: runtime.clone(),
            cup: cup.to_owned(),
            contributors: contributors.into(),
            first,
            slots: Mutex::default(),
        });
        let listening = runtime.spawn(listen(Arc::clone(&shared))).abort_handle();
        Arc::new(Self { shared, listening })
    }
}

impl Drop for RemoteLiveGames {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl fmt::Debug for RemoteLiveGames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mirror({})", self.shared.cup)
    }
}

async fn listen(shared: Arc<RemoteState>) {
    // It fails only when the connection was closed for good.
    let Ok(mut beats) = shared.link.client().subscribe(subjects::ALL_BEATS).await else { return };
    while let Some(message) = beats.next().await {
        let worker = message.subject.split('.').nth(2).unwrap_or_default();
        if let Ok(beat) = decode::<Heartbeat>(&message.payload)
            && beat.worker == worker
            && beat.protocol == PROTOCOL
        {
            shared.hear(beat, Instant::now());
        }
    }
}

impl RemoteState {
    fn slots(&self) -> MutexGuard<'_, Vec<RemoteSlot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, beat: Heartbeat, now: Instant) {
        let mut slots = self.slots();
        for slot in slots.iter_mut().filter(|slot| slot.worker == beat.worker) {
            (slot.heard, slot.now) = (now, None);
        }
        if beat.gone {
            return;
        }
        for one in beat.boards {
            // What cannot be of this competition is not shown, whatever a worker says.
            let known = |seat: &u32| (*seat as usize) < self.contributors.len();
            if one.competition_id != self.cup || one.board >= beat.cores || !one.seats.iter().all(known) {
                continue;
            }
            let found = slots.iter().position(|slot| slot.worker == beat.worker && slot.board == one.board);
            let free =
                |slot: &RemoteSlot| now.duration_since(slot.heard) >= FORGOTTEN && slot.channel.strong_count() == 0;
            let Some(at) = found.or_else(|| slots.iter().position(free)).or_else(|| {
                let more = slots.len() < MOST;
                more.then(|| {
                    slots.push(RemoteSlot {
                        worker: String::new(),
                        board: 0,
                        heard: now,
                        now: None,
                        channel: Weak::new(),
                    });
                    slots.len() - 1
                })
            }) else {
                return;
            };
            let slot = &mut slots[at];
            if found.is_none() {
                (slot.worker, slot.board) = (beat.worker.clone(), one.board);
            }
            (slot.heard, slot.now) = (now, Some(one));
        }
    }
}

impl RemoteGames for RemoteLiveGames {
    fn boards(&self) -> Vec<LiveGame> {
        let now = Instant::now();
        let board = |(at, slot): (usize, &RemoteSlot)| {
            let (ago, beat) = (now.duration_since(slot.heard), slot.now.as_ref()?);
            let (phase, stage, number) = beat.key;
            (ago < LOST).then(|| LiveGame {
                board: self.shared.first + at,
                key: MatchKey { phase, stage, number },
                game: beat.game,
                seats: beat.seats.iter().map(|seat| Entrant(*seat)).collect(),
                since: slot.heard.checked_sub(Duration::from_millis(beat.for_ms)).unwrap_or(slot.heard),
                turn: beat.turn,
                followers: slot.channel.strong_count(),
            })
        };
        self.shared.slots().iter().enumerate().filter_map(board).collect()
    }

    fn window(&self, board: usize) -> Result<Box<dyn LiveSource>, SubscribeError> {
        let mut slots = self.shared.slots();
        let at = board.checked_sub(self.shared.first).ok_or(SubscribeError::NotThere)?;
        let slot = slots.get_mut(at).ok_or(SubscribeError::NotThere)?;
        let channel = slot.channel.upgrade().unwrap_or_else(|| {
            let far = RemoteAddress {
                link: self.shared.link.clone(),
                worker: slot.worker.clone(),
                cup: self.shared.cup.clone(),
                board: slot.board,
            };
            let contributors = Arc::clone(&self.shared.contributors);
            let channel = RemoteSource::open(&self.shared.runtime, far, board, contributors);
            slot.channel = Arc::downgrade(&channel);
            channel
        });
        Ok(Box::new(RemoteSourceHandle(channel)))
    }
}
