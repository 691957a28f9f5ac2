//! Practice: the ladder of each open competition, and challenges. Nothing of it counts for a competition.
//!
//! Both play in threads of the server, on cores that no competition holds ([`crate::runs::core_pool`]), and store their games in
//! [`crate::played_games`]. [`ladder`] keeps the players and ratings of a competition, [`ladder_games`] plays its games, [`lineup`] chooses who meets next, [`challenges`] plays
//! challenges, [`guest`] limits them while competitions hold all cores, [`bots`] prepares bots, [`play`] plays one game, [`config`] has the
//! settings.

pub mod bots;
pub mod challenges;
pub mod config;
pub mod guest;
pub mod ladder;
pub mod ladder_games;
pub mod lineup;
pub mod play;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use agon_core::LockIgnoringPoison as _;
use agon_runner::StopFlag;
use agon_site_db::ChallengeId;
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::config::Config;
use crate::error::{ApiError, StartError, panic_message};
use crate::state::AppState;
use guest::GuestBudget;
use ladder::Ladders;

/// An idle thread looks for work after this time at the latest.
const IDLE_INTERVAL: Duration = Duration::from_secs(2);
/// Time after which a thread that found no free core tries again.
const CORE_RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// State of practice.
pub struct Practice {
    /// Ladders by competition.
    pub ladders: Ladders,
    /// Budget of challenges while competitions hold all cores.
    pub guests: GuestBudget,
    /// Number of ladder games played since the start.
    pub ladder_games: AtomicU64,
    /// Number of games of challenges played since the start.
    pub challenge_games: AtomicU64,
    /// Number of games that were ended because a competition wanted the core.
    pub recalled_games: AtomicU64,
    /// Challenges being played, each with the flag that ends it.
    playing: Mutex<BTreeMap<ChallengeId, Arc<StopFlag>>>,
    /// Number of changes of challenges, for event streams.
    changes: watch::Sender<u64>,
    /// Number of wake-ups. Idle threads wait for it to change.
    arrivals: Mutex<u64>,
    wake: Condvar,
}

impl Practice {
    /// With nothing being played.
    pub fn new(config: &Config) -> Self {
        let practice = &config.practice;
        Self {
            ladders: Ladders::default(),
            guests: GuestBudget::new(practice.guest_share, config.jobs.max(1), practice.guest_burst),
            ladder_games: AtomicU64::new(0),
            challenge_games: AtomicU64::new(0),
            recalled_games: AtomicU64::new(0),
            playing: Mutex::default(),
            changes: watch::Sender::new(0),
            arrivals: Mutex::default(),
            wake: Condvar::new(),
        }
    }

    /// Wakes the threads: there is a new challenge or version, or the server stops.
    pub fn wake(&self) {
        *self.arrivals.lock_ignoring_poison() += 1;
        self.wake.notify_all();
    }

    /// Changes of challenges. The value has no meaning.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Tells event streams that a challenge has changed.
    pub fn changed(&self) {
        self.changes.send_modify(|number| *number += 1);
    }

    /// Ends the current game of a challenge.
    pub fn cancel(&self, id: &ChallengeId) {
        if let Some(stop) = self.playing.lock_ignoring_poison().get(id) {
            stop.request();
        }
    }

    /// Whether nothing is being played.
    pub fn is_idle(&self) -> bool {
        self.playing.lock_ignoring_poison().is_empty() && !self.ladders.are_playing()
    }

    fn begin(&self, id: &ChallengeId) -> Arc<StopFlag> {
        let stop: Arc<StopFlag> = Arc::default();
        self.playing.lock_ignoring_poison().insert(id.clone(), Arc::clone(&stop));
        stop
    }

    fn end(&self, id: &ChallengeId) {
        self.playing.lock_ignoring_poison().remove(id);
    }

    /// Waits for a wake-up, at most for `timeout`. `last` is the number of wake-ups that the thread has seen.
    fn wait(&self, last: &mut u64, timeout: Duration) {
        let arrivals = self.arrivals.lock_ignoring_poison();
        let waited = self.wake.wait_timeout_while(arrivals, timeout, |arrivals| *arrivals == *last);
        *last = *waited.unwrap_or_else(PoisonError::into_inner).0;
    }

    /// Counts a game that was ended because a competition wanted the core.
    fn count_recalled(&self) {
        self.recalled_games.fetch_add(1, Ordering::Relaxed);
    }
}

/// Resumes interrupted challenges and starts the threads.
pub async fn start(app: &AppState) -> Result<(), StartError> {
    app.played_games.sweep().await.map_err(StartError::other)?;
    let resumed = app.site_db.requeue_challenges().await?;
    if resumed > 0 {
        tracing::info!(challenges = resumed, "interrupted challenges continue");
    }
    let practice = &app.config.practice;
    let ladder_threads = if practice.ladder { practice.ladder_cores } else { 0 };
    let challenge_threads = if practice.challenges { practice.challenge_cores } else { 0 };
    for number in 0..ladder_threads {
        spawn(app, format!("ladder {number}"), ladder::ladder_loop)?;
    }
    for number in 0..challenge_threads {
        spawn(app, format!("challenge {number}"), challenges::challenge_loop)?;
    }
    Ok(())
}

/// Starts a thread that works until the server stops. After a panic it goes on.
fn spawn(app: &AppState, name: String, work: fn(&AppState, &Handle)) -> Result<(), StartError> {
    let (app, handle) = (app.clone(), Handle::current());
    let body = move || {
        while !app.is_stopping() {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(&app, &handle))) {
                let message = panic_message(&*panic);
                drop(ApiError::internal(format!("a practice thread panicked: {message}")));
                thread::sleep(IDLE_INTERVAL);
            }
        }
    };
    let spawned = thread::Builder::new().name(name).spawn(body);
    spawned.map(drop).map_err(|error| StartError::other(format!("cannot start a thread: {error}")))
}

/// A random seed. Competitions derive theirs from their secret seed.
fn random_seed() -> u64 {
    let mut bytes = [0; 8];
    // Without a source of randomness the clock is good enough for practice.
    match getrandom::fill(&mut bytes) {
        Ok(()) => u64::from_ne_bytes(bytes),
        Err(_) => agon_store::Timestamp::now().0.unsigned_abs(),
    }
}
