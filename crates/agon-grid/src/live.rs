//! Live games of workers. [`RemoteLiveGames`] learns from heartbeats which games are being played, and fetches a game while a viewer
//! subscribes to it: one stream per slot, for any number of viewers. It sends the same updates as local live games.

mod chunks;
mod remote_source;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

use agon_core::LockIgnoringPoison as _;
use agon_league::{Entrant, MatchKey};
use agon_runner::LiveGame;
use agon_runner::live::{LiveSource, RemoteGames, SubscribeError};
use futures_util::StreamExt as _;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use crate::messages::{Heartbeat, LiveGameInfo, PROTOCOL, decode};
use crate::worker_directory::WORKER_LOST_AFTER;
use crate::{NatsConnection, subjects};
use remote_source::{RemoteAddress, RemoteSource, RemoteSourceHandle};

/// A slot may be reused for another worker after this time without a heartbeat.
const SLOT_REUSE_AFTER: Duration = Duration::from_mins(10);
/// Maximum number of slots, so that forged heartbeats cannot fill the memory.
const MAX_SLOTS: usize = 20_000;

/// Live games of all workers of a competition.
pub struct RemoteLiveGames {
    state: Arc<RemoteState>,
    listening: AbortHandle,
}

struct RemoteState {
    link: NatsConnection,
    runtime: Handle,
    competition_id: String,
    /// Authors of the bots, by entrant. Workers do not know them.
    contributors: Arc<[Option<String>]>,
    /// Number of the first remote slot. Lower numbers are local slots.
    first_slot: usize,
    slots: Mutex<Vec<RemoteSlot>>,
}

/// A slot of a worker. Its index in the list is its number.
struct RemoteSlot {
    worker: String,
    slot: u32,
    last_heard: Instant,
    game: Option<LiveGameInfo>,
    source: Weak<RemoteSource>,
}

impl RemoteLiveGames {
    /// Starts to listen. `contributors` are the authors of the bots, by entrant. Slots are numbered from `first`.
    pub fn open(
        link: NatsConnection,
        runtime: &Handle,
        competition_id: &str,
        contributors: Vec<Option<String>>,
        first_slot: usize,
    ) -> Arc<Self> {
        let state = Arc::new(RemoteState {
            link,
            runtime: runtime.clone(),
            competition_id: competition_id.to_owned(),
            contributors: contributors.into(),
            first_slot,
            slots: Mutex::default(),
        });
        let listening = runtime.spawn(listen(Arc::clone(&state))).abort_handle();
        Arc::new(Self { state, listening })
    }
}

impl Drop for RemoteLiveGames {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl fmt::Debug for RemoteLiveGames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteLiveGames({})", self.state.competition_id)
    }
}

async fn listen(state: Arc<RemoteState>) {
    // Fails only if the connection is closed for good.
    let Ok(mut heartbeats) = state.link.client().subscribe(subjects::ALL_HEARTBEATS).await else { return };
    while let Some(message) = heartbeats.next().await {
        let worker = message.subject.split('.').nth(2).unwrap_or_default();
        if let Ok(heartbeat) = decode::<Heartbeat>(&message.payload)
            && heartbeat.worker == worker
            && heartbeat.protocol == PROTOCOL
        {
            state.record_heartbeat(heartbeat, Instant::now());
        }
    }
}

impl RemoteState {
    fn slots(&self) -> MutexGuard<'_, Vec<RemoteSlot>> {
        self.slots.lock_ignoring_poison()
    }

    fn record_heartbeat(&self, heartbeat: Heartbeat, now: Instant) {
        let mut slots = self.slots();
        for slot in slots.iter_mut().filter(|slot| slot.worker == heartbeat.worker) {
            (slot.last_heard, slot.game) = (now, None);
        }
        if heartbeat.gone {
            return;
        }
        for game in heartbeat.live_games {
            // Ignore games that cannot belong to this competition.
            let known = |seat: &u32| (*seat as usize) < self.contributors.len();
            if game.competition_id != self.competition_id
                || game.slot >= heartbeat.cores
                || !game.seats.iter().all(known)
            {
                continue;
            }
            let found =
                slots.iter().position(|slot| slot.worker == heartbeat.worker && slot.slot == game.slot);
            let free = |slot: &RemoteSlot| {
                now.duration_since(slot.last_heard) >= SLOT_REUSE_AFTER && slot.source.strong_count() == 0
            };
            let Some(index) = found.or_else(|| slots.iter().position(free)).or_else(|| {
                let more = slots.len() < MAX_SLOTS;
                more.then(|| {
                    slots.push(RemoteSlot {
                        worker: String::new(),
                        slot: 0,
                        last_heard: now,
                        game: None,
                        source: Weak::new(),
                    });
                    slots.len() - 1
                })
            }) else {
                return;
            };
            let slot = &mut slots[index];
            if found.is_none() {
                (slot.worker, slot.slot) = (heartbeat.worker.clone(), game.slot);
            }
            (slot.last_heard, slot.game) = (now, Some(game));
        }
    }
}

impl RemoteGames for RemoteLiveGames {
    fn games(&self) -> Vec<LiveGame> {
        let now = Instant::now();
        let info = |(index, slot): (usize, &RemoteSlot)| {
            let (age, game) = (now.duration_since(slot.last_heard), slot.game.as_ref()?);
            let (phase, stage, number) = game.key;
            (age < WORKER_LOST_AFTER).then(|| LiveGame {
                slot: self.state.first_slot + index,
                key: MatchKey { phase, stage, number },
                game: game.game,
                seats: game.seats.iter().map(|seat| Entrant(*seat)).collect(),
                since: slot
                    .last_heard
                    .checked_sub(Duration::from_millis(game.elapsed_ms))
                    .unwrap_or(slot.last_heard),
                turn: game.turn,
                subscribers: slot.source.strong_count(),
            })
        };
        self.state.slots().iter().enumerate().filter_map(info).collect()
    }

    fn source(&self, slot_number: usize) -> Result<Box<dyn LiveSource>, SubscribeError> {
        let mut slots = self.state.slots();
        let index = slot_number.checked_sub(self.state.first_slot).ok_or(SubscribeError::NotPlaying)?;
        let slot = slots.get_mut(index).ok_or(SubscribeError::NotPlaying)?;
        let source = slot.source.upgrade().unwrap_or_else(|| {
            let address = RemoteAddress {
                link: self.state.link.clone(),
                worker: slot.worker.clone(),
                competition_id: self.state.competition_id.clone(),
                slot: slot.slot,
            };
            let contributors = Arc::clone(&self.state.contributors);
            let source = RemoteSource::open(&self.state.runtime, address, slot_number, contributors);
            slot.source = Arc::downgrade(&source);
            source
        });
        Ok(Box::new(RemoteSourceHandle(source)))
    }
}
