//! Live viewing: shows games while they are played, to any number of subscribers, without delaying the games.
//!
//! - The playing thread writes the answers of each turn into a buffer (`turn_buffer.rs`). It does not know about subscribers.
//! - One renderer for each watched slot replays the game and makes the film, part by part (`live_film.rs`).
//! - All subscribers get the same bytes. A slow subscriber gets the film so far instead of the missed parts (`subscriber.rs`).
//! - Games that workers play are shown in the same way (`remote.rs`).

mod live_film;
mod remote;
mod subscriber;
#[cfg(test)]
mod tests;
mod turn_buffer;

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use agon_core::Assets;
use agon_core::LockIgnoringPoison as _;
use agon_league::{Entrant, MatchKey};

use live_film::LiveBroadcast;
pub use remote::{LiveSource, RemoteGames};
pub use subscriber::{LiveGameKey, LiveSubscriber, LiveUpdate, SubscribeError};
pub use turn_buffer::LiveReporter;
use turn_buffer::{StartedGame, TurnBuffer};

/// Timing of live updates.
#[derive(Clone, Copy, Debug)]
pub struct LivePacing {
    /// Minimum time between two updates (a tick).
    pub update_interval: Duration,
    /// Minimum time between two updates for each subscriber. Limits the share of a core that sending takes, for any number of subscribers.
    pub interval_per_subscriber: Duration,
    /// Maximum time that a renderer computes in each tick. Remaining turns are shown later.
    pub render_time: Duration,
    /// Pause after a step, as a multiple of its duration, at most a second. With 30, a watched slot takes at most a thirtieth of a core.
    pub rest_factor: u32,
    /// Used instead of `render_time` for the turns played before the first subscription.
    pub catch_up_time: Duration,
    /// Number of updates in which a game is shown that ended before it was shown.
    pub finished_game_updates: u32,
    /// Number of ticks for which the end of a game is shown before the next game.
    pub hold_ticks: u32,
}

impl Default for LivePacing {
    fn default() -> Self {
        Self {
            update_interval: Duration::from_millis(250),
            interval_per_subscriber: Duration::from_micros(500),
            render_time: Duration::from_millis(5),
            rest_factor: 30,
            catch_up_time: Duration::from_millis(100),
            finished_game_updates: 12,
            hold_ticks: 6,
        }
    }
}

/// The games of a competition that are being played, one per slot. May be used for several runs.
pub struct LiveGames {
    slots: Mutex<Vec<Arc<LiveSlot>>>,
    config: Arc<LiveConfig>,
    /// Games that workers play.
    remote: OnceLock<Arc<dyn RemoteGames>>,
}

/// Configuration shared by all slots.
struct LiveConfig {
    assets: Assets,
    /// Authors of the bots, indexed by entrant.
    contributors: Vec<Option<String>>,
    pacing: LivePacing,
}

/// A game that is being played.
#[derive(Clone, Debug)]
pub struct LiveGame {
    /// Slot number, from 0.
    pub slot: usize,
    /// The match.
    pub key: MatchKey,
    /// Game of the match, from 0.
    pub game: u32,
    /// Entrants, in seat order.
    pub seats: Vec<Entrant>,
    /// Start time of the game.
    pub since: Instant,
    /// Number of turns played.
    pub turn: u32,
    /// Number of subscribers of this slot.
    pub subscribers: usize,
}

impl LiveGames {
    /// Creates an empty set. Slots are added when games start. `contributors` are the authors of the bots, indexed by entrant, if known.
    pub fn new(assets: Assets, contributors: Vec<Option<String>>) -> Arc<Self> {
        Self::with_pacing(assets, contributors, LivePacing::default())
    }

    /// Same as [`Self::new`], with another timing.
    pub fn with_pacing(assets: Assets, contributors: Vec<Option<String>>, pacing: LivePacing) -> Arc<Self> {
        let config = Arc::new(LiveConfig { assets, contributors, pacing });
        Arc::new(Self { slots: Mutex::default(), config, remote: OnceLock::new() })
    }

    /// Adds the games of workers. Only the first call has an effect.
    pub fn set_remote(&self, remote: Arc<dyn RemoteGames>) {
        let _ = self.remote.set(remote);
    }

    /// Authors of the bots, indexed by entrant.
    pub fn contributors(&self) -> &[Option<String>] {
        &self.config.contributors
    }

    /// Games being played.
    pub fn games(&self) -> Vec<LiveGame> {
        let mut games: Vec<LiveGame> = self.lock_slots().iter().filter_map(|slot| slot.live_game()).collect();
        games.extend(self.remote.get().into_iter().flat_map(|remote_games| remote_games.games()));
        games
    }

    /// Subscribes to a slot: shows its games one after the other.
    pub fn subscribe(&self, slot: usize) -> Result<LiveSubscriber, SubscribeError> {
        let local = self.lock_slots().get(slot).cloned();
        match (local, self.remote.get()) {
            (Some(slot), _) => LiveSubscriber::local(&slot, None),
            (None, Some(remote_games)) => LiveSubscriber::remote(remote_games.source(slot)?, None),
            (None, None) => Err(SubscribeError::NotPlaying),
        }
    }

    /// Subscribes to a match that is being played, until its end. If matches take milliseconds and the slot already has subscribers, the
    /// match may be skipped. Then the subscriber gets no film.
    pub fn subscribe_match(&self, key: MatchKey) -> Result<LiveSubscriber, SubscribeError> {
        let playing = |slot: &Arc<LiveSlot>| {
            let current = slot.current();
            let buffer = current.buffer.as_ref().filter(|buffer| buffer.key == key && !current.idle)?;
            Some((Arc::clone(slot), buffer.sequence))
        };
        let local = self.lock_slots().iter().find_map(playing);
        if let Some((slot, number)) = local {
            return LiveSubscriber::local(&slot, Some((key, number)));
        }
        let remote_games = self.remote.get().ok_or(SubscribeError::NotPlaying)?;
        let live_game = remote_games
            .games()
            .into_iter()
            .find(|live_game| live_game.key == key)
            .ok_or(SubscribeError::NotPlaying)?;
        LiveSubscriber::remote(remote_games.source(live_game.slot)?, Some(key))
    }

    /// Slot of a thread, from 0.
    pub fn slot(&self, thread: usize) -> Arc<LiveSlot> {
        let mut slots = self.lock_slots();
        while slots.len() <= thread {
            let slot = LiveSlot::new(slots.len(), Arc::clone(&self.config));
            slots.push(Arc::new(slot));
        }
        Arc::clone(&slots[thread])
    }

    fn lock_slots(&self) -> MutexGuard<'_, Vec<Arc<LiveSlot>>> {
        self.slots.lock_ignoring_poison()
    }
}

impl Drop for LiveGames {
    /// Ends all subscriptions.
    fn drop(&mut self) {
        for slot in self.lock_slots().iter() {
            slot.close();
        }
    }
}

impl fmt::Debug for LiveGames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.games()).finish()
    }
}

/// The place where one thread plays its games.
pub struct LiveSlot {
    index: usize,
    config: Arc<LiveConfig>,
    /// Used by the playing thread. Never locked for longer than a few copies.
    current: Mutex<CurrentGame>,
    subscribers: AtomicUsize,
    /// Used by subscribers and the renderer. The playing thread never locks it.
    broadcast: Mutex<LiveBroadcast>,
    /// Wakes the renderer between two ticks.
    wake: Condvar,
}

#[derive(Default)]
struct CurrentGame {
    /// The current game, or the last one.
    buffer: Option<Arc<TurnBuffer>>,
    /// Number of games started.
    games_started: u64,
    /// Whether no game is being played.
    idle: bool,
}

impl LiveSlot {
    fn new(index: usize, config: Arc<LiveConfig>) -> Self {
        let (current, broadcast, wake) = (Mutex::default(), Mutex::default(), Condvar::new());
        Self { index, config, current, subscribers: AtomicUsize::new(0), broadcast, wake }
    }

    fn current(&self) -> MutexGuard<'_, CurrentGame> {
        self.current.lock_ignoring_poison()
    }

    fn broadcast(&self) -> MutexGuard<'_, LiveBroadcast> {
        self.broadcast.lock_ignoring_poison()
    }

    fn live_game(&self) -> Option<LiveGame> {
        let buffer = {
            let current = self.current();
            current.buffer.clone().filter(|_| !current.idle)?
        };
        Some(LiveGame {
            slot: self.index,
            key: buffer.key,
            game: buffer.game,
            seats: buffer.seats.clone(),
            since: buffer.since,
            turn: buffer.turn_count(),
            subscribers: self.subscribers(),
        })
    }

    /// Starts a game. The buffer of the last game is reused unless a renderer still reads it.
    fn start_game(&self, started: &StartedGame<'_>) -> Arc<TurnBuffer> {
        let since = Instant::now();
        let mut current = self.current();
        current.games_started += 1;
        current.idle = false;
        let number = current.games_started;
        if let Some(buffer) = current.buffer.as_mut().and_then(Arc::get_mut) {
            buffer.reuse(number, since, started);
        } else {
            current.buffer = None;
        }
        let new_buffer = || Arc::new(TurnBuffer::new(number, since, started));
        Arc::clone(current.buffer.get_or_insert_with(new_buffer))
    }

    /// Marks the slot as idle: its thread has no more matches to play.
    pub fn set_idle(&self) {
        self.current().idle = true;
    }

    fn subscribers(&self) -> usize {
        self.subscribers.load(Relaxed)
    }

    fn close(&self) {
        self.broadcast().close();
        self.wake.notify_all();
    }
}
