//! Games that persons play in the browser.
//!
//! A session ([`session`]) is a game with its seats and the links to them. It lives in memory, from the lobby until an hour after its end.
//! Each running game has a thread ([`engine`]) in which the engine asks bots and persons; handlers of requests only pass messages to it.
//! A person sees the frames of their own seat, never the whole position. Finished games are stored with the played games ([`finish`]).

pub mod body;
pub mod engine;
mod finish;
pub mod opponents;
mod seat_events;
pub mod session;
pub mod settings;
pub mod setup;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use agon_core::LockIgnoringPoison as _;

use crate::caller::Caller;
use crate::config::Config;
use crate::error::{ApiError, ApiResult};
use crate::middleware::address::NetworkWidth;
use crate::state::AppState;
use session::{Session, SessionPhase};
use settings::{PlayAccess, PlaySettings};
use setup::SessionSetup;

/// Interval at which sessions are checked for what has lasted too long.
const SWEEP_INTERVAL: Duration = Duration::from_secs(5);
/// Time after which a client may try again, in seconds.
const RETRY_SECONDS: u64 = 30;
/// Finished sessions are forgotten earlier when there are this many times the maximum of open ones.
const MAX_FINISHED_FACTOR: usize = 4;

/// Who has opened a session.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SessionOwner {
    /// An account.
    Account(i64),
    /// A visitor who is not signed in, by address (IPv6: by /64).
    Address(IpAddr),
    /// The user of this machine (`agon play --web`), whom no limit concerns.
    ThisMachine,
}

impl SessionOwner {
    /// The caller of a request.
    pub fn of(caller: &Caller, address: IpAddr) -> Self {
        caller
            .user()
            .map_or_else(|| Self::Address(NetworkWidth::Host.network(address)), |me| Self::Account(me.id))
    }
}

/// All sessions.
pub struct PlaySessions {
    limits: PlaySettings,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
    /// Number of running games with programs.
    program_games: Arc<AtomicUsize>,
}

/// Permission to play a game with programs. Dropping it frees the place.
pub struct ProgramSlot(Option<Arc<AtomicUsize>>);

impl Drop for ProgramSlot {
    fn drop(&mut self) {
        if let Some(count) = &self.0 {
            count.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

impl PlaySessions {
    /// Without sessions.
    pub fn new(config: &Config) -> Self {
        Self { limits: config.play, sessions: Mutex::default(), program_games: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.sessions.lock_ignoring_poison()
    }

    /// Fails unless the caller may open and join sessions.
    pub fn check_access(&self, caller: &Caller) -> ApiResult<()> {
        match self.limits.access {
            PlayAccess::Everyone => Ok(()),
            PlayAccess::Accounts => caller.signed_in().map(drop),
            PlayAccess::Off => Err(ApiError::new(
                axum::http::StatusCode::FORBIDDEN,
                "play_off",
                "playing in the browser is switched off on this site",
            )),
        }
    }

    /// Whether the caller may play.
    pub fn is_open_to(&self, caller: &Caller) -> bool {
        self.check_access(caller).is_ok()
    }

    /// Opens a session.
    pub fn open(&self, app: &AppState, setup: SessionSetup, owner: SessionOwner) -> ApiResult<Arc<Session>> {
        self.sweep(Instant::now());
        if app.is_stopping() {
            return Err(ApiError::busy("the server is stopping", 10));
        }
        if setup.has_programs() && owner != SessionOwner::ThisMachine && !self.has_free_program_slot(app) {
            return Err(ApiError::busy("all cores for games with programs are taken", RETRY_SECONDS)
                .hint("play a house bot, or try again later"));
        }
        let session = Arc::new(Session::new(setup, owner)?);
        let mut sessions = self.lock();
        let is_open = |one: &&Arc<Session>| one.phase().0 != SessionPhase::Over;
        if owner != SessionOwner::ThisMachine {
            let own = sessions.values().filter(|one| one.owner == owner).filter(is_open).count();
            if own >= self.limits.max_sessions_per_owner {
                let message = format!("{own} of your games are open, which is the limit");
                return Err(ApiError::new(
                    axum::http::StatusCode::TOO_MANY_REQUESTS,
                    "too_many_games",
                    message,
                )
                .hint("finish or leave one of them"));
            }
            if sessions.values().filter(is_open).count() >= self.limits.max_sessions {
                return Err(ApiError::busy("too many games are being played", RETRY_SECONDS));
            }
        }
        forget_oldest(&mut sessions, self.limits.max_sessions.saturating_mul(MAX_FINISHED_FACTOR));
        sessions.insert(session.id.clone(), Arc::clone(&session));
        Ok(session)
    }

    /// The session with this id.
    pub fn find(&self, id: &str) -> ApiResult<Arc<Session>> {
        self.sweep(Instant::now());
        self.lock().get(id).cloned().ok_or_else(|| {
            ApiError::not_found("game")
                .hint("it has ended long ago, or the server was restarted; start a new one")
        })
    }

    /// Closes what has lasted too long, and forgets what was over long ago.
    pub fn sweep(&self, now: Instant) {
        let all: Vec<Arc<Session>> = self.lock().values().cloned().collect();
        for session in all.iter().filter(|session| session.sweep(&self.limits, now)) {
            self.lock().remove(&session.id);
        }
    }

    /// Number of games being played.
    pub fn playing(&self) -> usize {
        self.lock().values().filter(|one| one.phase().0 == SessionPhase::Playing).count()
    }

    /// Maximum number of running games with programs now. While competitions run, they have at least half of the cores for themselves.
    fn max_program_games(&self, app: &AppState) -> usize {
        let most = self.limits.max_program_games;
        if app.runs.all().is_empty() { most } else { most.min((app.config.jobs / 2).max(1)) }
    }

    fn has_free_program_slot(&self, app: &AppState) -> bool {
        self.program_games.load(Ordering::Acquire) < self.max_program_games(app)
    }

    /// A place for the game of a session; `None` if all are taken. Games without programs need none.
    pub fn program_slot(&self, app: &AppState, session: &Session) -> Option<ProgramSlot> {
        if !session.setup.has_programs() || session.owner == SessionOwner::ThisMachine {
            return Some(ProgramSlot(None));
        }
        let most = self.max_program_games(app);
        let take = |count| (count < most).then_some(count + 1);
        self.program_games.fetch_update(Ordering::AcqRel, Ordering::Acquire, take).ok()?;
        Some(ProgramSlot(Some(Arc::clone(&self.program_games))))
    }

    /// Ends all games, and returns when they are stored. The caller limits the time.
    pub async fn shut_down(&self) {
        loop {
            let all: Vec<Arc<Session>> = self.lock().values().cloned().collect();
            let mut is_playing = false;
            for session in all.iter().filter(|one| one.phase().0 == SessionPhase::Playing) {
                session.stop();
                is_playing = true;
            }
            if !is_playing {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Forgets the sessions that are over for the longest time, so that one more fits.
fn forget_oldest(sessions: &mut HashMap<String, Arc<Session>>, most: usize) {
    while sessions.len() >= most.max(1) {
        let over = sessions.values().filter(|one| one.phase().0 == SessionPhase::Over);
        let Some(id) = over.min_by_key(|one| one.phase().1).map(|one| one.id.clone()) else { return };
        sessions.remove(&id);
    }
}

/// Sweeps the sessions until the server stops.
pub async fn sweep_sessions(app: AppState) {
    loop {
        tokio::time::sleep(SWEEP_INTERVAL).await;
        app.play.sweep(Instant::now());
    }
}
