//! Games as they are played, for any number of spectators, without holding up those who play.
//!
//! The thread that plays writes each turn's answers on a sheet and knows nothing of who reads it (`sheet.rs`). For each board that somebody
//! follows one projector computes the game again beside it and makes the film, part by part, once for all (`projector.rs`); followers
//! are handed the same bytes, and one that is slow is given the film so far instead of being waited for (`follower.rs`). Games that
//! other machines play are seen through the same gallery (`elsewhere.rs`).

mod remote;
mod subscriber;
mod live_film;
mod turn_buffer;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use agon_core::Assets;
use agon_core::record::Header;
use agon_league::{Entrant, MatchKey};

pub use remote::{RemoteGames, LiveSource};
pub use subscriber::{LiveSubscriber, SubscribeError, LiveGameKey, LiveUpdate};
use live_film::LiveBroadcast;
pub use turn_buffer::LiveReporter;
use turn_buffer::TurnBuffer;

/// How a board is shown.
#[derive(Clone, Copy, Debug)]
pub struct LivePacing {
    /// There is at most one update in this time.
    pub tick: Duration,
    /// And in so much time for each follower: however many they are, handing updates to them takes the same share of a core.
    pub each: Duration,
    /// A projector computes for so long in each tick. What cannot be shown in that time is shown later.
    pub work: Duration,
    /// And rests for so many times as long as it took altogether, at most a second: with 30 a followed board takes no more than a thirtieth of a core from the games.
    pub rest: u32,
    /// In place of `work`, for what was played before anybody looked on.
    pub catch_up: Duration,
    /// A game that is over before it was shown is shown in so many updates.
    pub spread: u32,
    /// The end of a game is shown for so many ticks before the next one.
    pub hold: u32,
}

impl Default for LivePacing {
    fn default() -> Self {
        Self {
            tick: Duration::from_millis(250),
            each: Duration::from_micros(500),
            work: Duration::from_millis(5),
            rest: 30,
            catch_up: Duration::from_millis(100),
            spread: 12,
            hold: 6,
        }
    }
}

/// The boards of a competition, each with the game that is on. It may outlive a run, and be lent to the next.
pub struct LiveGames {
    boards: Mutex<Vec<Arc<LiveSlot>>>,
    house: Arc<LiveConfig>,
    /// What other machines play of it.
    elsewhere: OnceLock<Arc<dyn RemoteGames>>,
}

/// What all boards have in common.
struct LiveConfig {
    assets: Assets,
    /// Who wrote the bots, by entrant.
    contributors: Vec<Option<String>>,
    pace: LivePacing,
}

/// A game that is on.
#[derive(Clone, Debug)]
pub struct LiveGame {
    /// Which board, from 0.
    pub board: usize,
    /// Which match.
    pub key: MatchKey,
    /// Which game of the match, from 0.
    pub game: u32,
    /// By whom, in seat order.
    pub seats: Vec<Entrant>,
    /// Since when it is played.
    pub since: Instant,
    /// How many turns were played.
    pub turn: u32,
    /// How many follow this board.
    pub followers: usize,
}

impl LiveGames {
    /// Without boards; those come with the games. `contributors` are those who wrote the bots, by entrant, as far as they are named.
    pub fn new(assets: Assets, contributors: Vec<Option<String>>) -> Arc<Self> {
        Self::paced(assets, contributors, LivePacing::default())
    }

    /// The same at another pace.
    pub fn paced(assets: Assets, contributors: Vec<Option<String>>, pace: LivePacing) -> Arc<Self> {
        let house = Arc::new(LiveConfig { assets, contributors, pace });
        Arc::new(Self { boards: Mutex::default(), house, elsewhere: OnceLock::new() })
    }

    /// Shows the boards of other machines too. Once: a gallery that has some keeps them.
    pub fn add(&self, elsewhere: Arc<dyn RemoteGames>) {
        let _ = self.elsewhere.set(elsewhere);
    }

    /// Who wrote the bots, by entrant.
    pub fn contributors(&self) -> &[Option<String>] {
        &self.house.contributors
    }

    /// What is being played.
    pub fn boards(&self) -> Vec<LiveGame> {
        let mut boards: Vec<LiveGame> = self.all().iter().filter_map(|board| board.now()).collect();
        boards.extend(self.elsewhere.get().into_iter().flat_map(|there| there.boards()));
        boards
    }

    /// Follows a board: its games one after the other.
    pub fn follow(&self, board: usize) -> Result<LiveSubscriber, SubscribeError> {
        let here = self.all().get(board).cloned();
        match (here, self.elsewhere.get()) {
            (Some(board), _) => LiveSubscriber::here(&board, None),
            (None, Some(there)) => LiveSubscriber::there(there.window(board)?, None),
            (None, None) => Err(SubscribeError::NotThere),
        }
    }

    /// Follows a match that is being played, to its end. Where matches take milliseconds and others look on already, it may be passed over: then
    /// there is nothing to see.
    pub fn follow_match(&self, key: MatchKey) -> Result<LiveSubscriber, SubscribeError> {
        let playing = |board: &Arc<LiveSlot>| {
            let slot = board.slot();
            let sheet = slot.sheet.as_ref().filter(|sheet| sheet.key == key && !slot.resting)?;
            Some((Arc::clone(board), sheet.number))
        };
        let here = self.all().iter().find_map(playing);
        if let Some((board, number)) = here {
            return LiveSubscriber::here(&board, Some((key, number)));
        }
        let there = self.elsewhere.get().ok_or(SubscribeError::NotThere)?;
        let now = there.boards().into_iter().find(|now| now.key == key).ok_or(SubscribeError::NotThere)?;
        LiveSubscriber::there(there.window(now.board)?, Some(key))
    }

    /// The board of a thread, from 0.
    pub fn board(&self, thread: usize) -> Arc<LiveSlot> {
        let mut boards = self.all();
        while boards.len() <= thread {
            let board = LiveSlot::new(boards.len(), Arc::clone(&self.house));
            boards.push(Arc::new(board));
        }
        Arc::clone(&boards[thread])
    }

    fn all(&self) -> MutexGuard<'_, Vec<Arc<LiveSlot>>> {
        self.boards.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for LiveGames {
    /// Whoever still follows is told that this was all.
    fn drop(&mut self) {
        for board in self.all().iter() {
            board.close();
        }
    }
}

impl fmt::Debug for LiveGames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.boards()).finish()
    }
}

/// Where one thread plays.
pub struct LiveSlot {
    number: usize,
    house: Arc<LiveConfig>,
    /// For the thread that plays: never locked for longer than a few copies.
    slot: Mutex<CurrentGame>,
    followers: AtomicUsize,
    /// For those who look on; the thread that plays never takes it.
    screen: Mutex<LiveBroadcast>,
    /// The projector waits for it between two ticks.
    wake: Condvar,
}

#[derive(Default)]
struct CurrentGame {
    /// The game that is on, or the last one.
    sheet: Option<Arc<TurnBuffer>>,
    /// How many games were begun.
    begun: u64,
    /// Nothing is played here any more.
    resting: bool,
}

impl LiveSlot {
    fn new(number: usize, house: Arc<LiveConfig>) -> Self {
        let (slot, screen, wake) = (Mutex::default(), Mutex::default(), Condvar::new());
        Self { number, house, slot, followers: AtomicUsize::new(0), screen, wake }
    }

    fn slot(&self) -> MutexGuard<'_, CurrentGame> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn screen(&self) -> MutexGuard<'_, LiveBroadcast> {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Option<LiveGame> {
        let sheet = {
            let slot = self.slot();
            slot.sheet.clone().filter(|_| !slot.resting)?
        };
        Some(LiveGame {
            board: self.number,
            key: sheet.key,
            game: sheet.game,
            seats: sheet.seats.clone(),
            since: sheet.since,
            turn: sheet.turn(),
            followers: self.followers(),
        })
    }

    /// A game begins. The sheet of the last one is used again unless somebody still reads it.
    fn begin(&self, key: MatchKey, game: u32, seats: &[Entrant], header: &Header) -> Arc<TurnBuffer> {
        let since = Instant::now();
        let mut slot = self.slot();
        slot.begun += 1;
        slot.resting = false;
        let number = slot.begun;
        if let Some(sheet) = slot.sheet.as_mut().and_then(Arc::get_mut) {
            sheet.reuse(number, key, game, seats, since, header);
        } else {
            slot.sheet = None;
        }
        let fresh = || Arc::new(TurnBuffer::new(number, key, game, seats, since, header));
        Arc::clone(slot.sheet.get_or_insert_with(fresh))
    }

    /// The thread has nothing more to play.
    pub fn rest(&self) {
        self.slot().resting = true;
    }

    fn followers(&self) -> usize {
        self.followers.load(Relaxed)
    }

    fn close(&self) {
        self.screen().close();
        self.wake.notify_all();
    }
}
