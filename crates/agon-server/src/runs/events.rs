//! Events that a run publishes to its competition's page.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agon_core::{GameInfo, Seat};
use agon_league::Entrant;
use agon_league::config::CompetitionConfig;
use agon_runner::{LiveGame, LiveGames, RunEvent, RunListener};
use agon_site_db::{CompetitionState, StandingsFreeze};
use agon_store::Timestamp;
use serde::Serialize;

use crate::read_model::{CompetitionHandle, FeedEvent};

/// Minimum interval between progress events.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);
/// Minimum interval between table events.
const TABLE_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum number of games listed in a progress event; `/boards` lists all.
const MAX_PROGRESS_GAMES: usize = 60;
/// Time over which games per second are averaged.
const SPEED_AVERAGE_INTERVAL: Duration = Duration::from_secs(5);

/// Statistics of a run, for the dashboard.
#[derive(Debug, Default)]
pub struct RunStats {
    /// Games being played.
    pub games: AtomicU64,
    /// Thousandths of games per second.
    pub speed: AtomicU64,
}

/// `Progress` of the API.
#[derive(Serialize)]
struct Progress<'p> {
    phase: u32,
    stage: &'p str,
    matches: u64,
    expected: Option<u64>,
    games_per_second: f64,
    playing: Vec<PlayingGame>,
}

#[derive(Serialize)]
struct PlayingGame {
    #[serde(rename = "board")]
    number: usize,
    phase: u32,
    #[serde(rename = "match")]
    key: String,
    game: u32,
    seats: Vec<PlayingSeat>,
    since: i64,
    turn: u32,
    hidden: bool,
}

#[derive(Serialize)]
struct PlayingSeat {
    entrant: u32,
    role: &'static str,
}

/// Publishes the progress of a run as events of its competition.
pub struct RunEvents<'f> {
    competition_handle: Arc<CompetitionHandle>,
    competition: &'f CompetitionConfig,
    info: &'static GameInfo,
    live_games: Arc<LiveGames>,
    stats: Arc<RunStats>,
    phase: u32,
    stage: String,
    matches: u64,
    expected: Option<u64>,
    /// Start of the current measurement, and games finished since.
    games: (Instant, u64),
    speed: f64,
    last_progress: Instant,
    last_table: Instant,
    table_changed: bool,
    /// Called with each progress event.
    on_progress: Option<Box<dyn Fn() + 'f>>,
    /// Stores a freeze of the standings that begins.
    on_freeze: Option<Box<dyn Fn(StandingsFreeze) + 'f>>,
}

impl<'f> RunEvents<'f> {
    /// For a run that starts now.
    pub fn new(
        competition_handle: Arc<CompetitionHandle>,
        competition: &'f CompetitionConfig,
        info: &'static GameInfo,
        live_games: Arc<LiveGames>,
        stats: Arc<RunStats>,
    ) -> Self {
        let now = Instant::now();
        Self {
            competition_handle,
            competition,
            info,
            live_games,
            stats,
            phase: 0,
            stage: String::new(),
            matches: 0,
            expected: None,
            games: (now, 0),
            speed: 0.0,
            last_progress: now,
            last_table: now,
            table_changed: false,
            on_progress: None,
            on_freeze: None,
        }
    }

    /// Sets a function that is called with each progress event.
    #[must_use]
    pub fn with_on_progress(mut self, call: impl Fn() + 'f) -> Self {
        self.on_progress = Some(Box::new(call));
        self
    }

    /// Sets a function that stores a freeze of the standings that begins.
    #[must_use]
    pub fn with_on_freeze(mut self, store: impl Fn(StandingsFreeze) + 'f) -> Self {
        self.on_freeze = Some(Box::new(store));
        self
    }

    /// Freezes the standings if the file says so: at a moment, or when a phase starts.
    fn freeze_if_due(&self, event: &RunEvent<'_>) {
        let handle = &self.competition_handle;
        let due = match event {
            RunEvent::PhaseStarted { phase, done, .. } => {
                let freezes = self.competition.phases.get(*phase as usize).is_some_and(|phase| phase.freeze);
                freezes.then(|| (Timestamp::now(), *done == 0))
            }
            _ => None,
        };
        let at_moment =
            || handle.freeze().is_none().then(|| handle.frozen_since(CompetitionState::Running)).flatten();
        let Some((since, again)) = due.or_else(|| at_moment().map(|since| (since, false))) else { return };
        if let (Some(freeze), Some(store)) = (handle.begin_freeze(since, again), &self.on_freeze) {
            store(freeze);
        }
    }

    fn publish_progress(&mut self, now: Instant) {
        self.last_progress = now;
        let since = now.duration_since(self.games.0);
        if since >= Duration::from_secs(1) {
            let speed = self.games.1 as f64 / since.as_secs_f64();
            let weight = (since.as_secs_f64() / SPEED_AVERAGE_INTERVAL.as_secs_f64()).min(1.0);
            self.speed = if self.speed > 0.0 { self.speed + weight * (speed - self.speed) } else { speed };
            self.games = (now, 0);
        }
        if let Some(call) = &self.on_progress {
            call();
        }
        let games = self.live_games.games();
        self.stats.games.store(games.len() as u64, Ordering::Relaxed);
        let playing = self.playing_games(now, games);
        self.stats.speed.store((self.speed * 1000.0) as u64, Ordering::Relaxed);
        let progress = Progress {
            phase: self.phase + 1,
            stage: &self.stage,
            matches: self.matches,
            expected: self.expected,
            games_per_second: (self.speed * 10.0).round() / 10.0,
            playing,
        };
        if let Ok(bytes) = serde_json::to_vec(&progress) {
            self.competition_handle.publish(FeedEvent::Progress(bytes.into()));
        }
    }

    fn playing_games(&self, now: Instant, games: Vec<LiveGame>) -> Vec<PlayingGame> {
        let at = Timestamp::now().0;
        let seat = |(seat, entrant): (usize, &Entrant)| PlayingSeat {
            entrant: entrant.0,
            role: self.info.role(Seat(seat as u8)).name,
        };
        let playing_game = |one: LiveGame| PlayingGame {
            number: one.slot,
            phase: one.key.phase + 1,
            key: format!("{}-{}", one.key.stage + 1, one.key.number + 1),
            game: one.game + 1,
            seats: one.seats.iter().enumerate().map(seat).collect(),
            since: at - now.duration_since(one.since).as_millis() as i64,
            turn: one.turn,
            hidden: self.competition.is_phase_hidden(self.info, one.key.phase),
        };
        games.into_iter().take(MAX_PROGRESS_GAMES).map(playing_game).collect()
    }

    fn publish_table(&mut self, now: Instant) {
        self.table_changed = false;
        self.last_table = now;
        let revision = self.competition_handle.changed();
        self.competition_handle.publish(FeedEvent::Table { phase: self.phase, revision });
    }
}

impl RunListener for RunEvents<'_> {
    fn event(&mut self, event: &RunEvent<'_>) {
        self.freeze_if_due(event);
        let now = Instant::now();
        let at_once = match event {
            RunEvent::PhaseStarted { phase, expected, done, .. } => {
                self.phase = *phase;
                self.matches = *done;
                self.expected = (expected.0 == expected.1).then_some(expected.1);
                self.table_changed = true;
                true
            }
            RunEvent::StageStarted { name, .. } => {
                self.stage.clone_from(name);
                true
            }
            RunEvent::MatchStored { result, .. } => {
                self.matches += 1;
                self.games.1 += result.games.len() as u64;
                self.table_changed = true;
                false
            }
            RunEvent::Published { .. }
            | RunEvent::Banned { .. }
            | RunEvent::Outvoted { .. }
            | RunEvent::Disputed { .. }
            | RunEvent::Waiting { .. }
            | RunEvent::Finished { .. } => {
                self.table_changed = true;
                true
            }
            RunEvent::RunStarted { .. } | RunEvent::Balance { .. } | RunEvent::Tick { .. } => false,
        };
        if self.table_changed && (at_once || now.duration_since(self.last_table) >= TABLE_INTERVAL) {
            self.publish_table(now);
        }
        if at_once || now.duration_since(self.last_progress) >= PROGRESS_INTERVAL {
            self.publish_progress(now);
        }
    }
}
