//! What a run tells its page while it goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agon_core::{GameInfo, Seat};
use agon_league::Entrant;
use agon_league::config::CompetitionConfig;
use agon_runner::{LiveGame, Event, LiveGames, Listener};
use agon_store::Timestamp;
use serde::Serialize;

use crate::read_model::{CompetitionHandle, FeedEvent};

/// Progress is told at most so often.
const PROGRESS: Duration = Duration::from_millis(250);
/// That the table has changed, at most so often.
const TABLE: Duration = Duration::from_millis(500);
/// So many boards are told of with the progress; `/boards` has them all.
const BOARDS: usize = 60;
/// Games a second are those of about so long.
const SPEED: Duration = Duration::from_secs(5);

/// Figures of a run, for who looks at the machine.
#[derive(Debug, Default)]
pub struct RunStats {
    /// Games that are played just now.
    pub games: AtomicU64,
    /// Games a second, in thousandths.
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
    playing: Vec<Board>,
}

#[derive(Serialize)]
struct Board {
    #[serde(rename = "board")]
    number: usize,
    phase: u32,
    #[serde(rename = "match")]
    key: String,
    game: u32,
    seats: Vec<Seated>,
    since: i64,
    turn: u32,
    hidden: bool,
}

#[derive(Serialize)]
struct Seated {
    entrant: u32,
    role: &'static str,
}

/// Tells an arena what a run does.
pub struct RunEvents<'f> {
    arena: Arc<CompetitionHandle>,
    competition: &'f CompetitionConfig,
    info: &'static GameInfo,
    gallery: Arc<LiveGames>,
    figures: Arc<RunStats>,
    phase: u32,
    stage: String,
    matches: u64,
    expected: Option<u64>,
    /// Games since then, for the speed.
    games: (Instant, u64),
    speed: f64,
    told: Instant,
    table: Instant,
    dirty: bool,
    /// Called with the progress: who plays has something to tell.
    beside: Option<Box<dyn Fn() + 'f>>,
}

impl<'f> RunEvents<'f> {
    /// Of a run that begins.
    pub fn new(
        arena: Arc<CompetitionHandle>,
        competition: &'f CompetitionConfig,
        info: &'static GameInfo,
        gallery: Arc<LiveGames>,
        figures: Arc<RunStats>,
    ) -> Self {
        let now = Instant::now();
        Self {
            arena,
            competition,
            info,
            gallery,
            figures,
            phase: 0,
            stage: String::new(),
            matches: 0,
            expected: None,
            games: (now, 0),
            speed: 0.0,
            told: now,
            table: now,
            dirty: false,
            beside: None,
        }
    }

    /// Calls this too whenever it tells how far things are.
    #[must_use]
    pub fn beside(mut self, call: impl Fn() + 'f) -> Self {
        self.beside = Some(Box::new(call));
        self
    }

    fn progress(&mut self, now: Instant) {
        self.told = now;
        let since = now.duration_since(self.games.0);
        if since >= Duration::from_secs(1) {
            let speed = self.games.1 as f64 / since.as_secs_f64();
            let weight = (since.as_secs_f64() / SPEED.as_secs_f64()).min(1.0);
            self.speed = if self.speed > 0.0 { self.speed + weight * (speed - self.speed) } else { speed };
            self.games = (now, 0);
        }
        if let Some(call) = &self.beside {
            call();
        }
        let boards = self.gallery.boards();
        self.figures.games.store(boards.len() as u64, Ordering::Relaxed);
        let playing = self.playing(now, boards);
        self.figures.speed.store((self.speed * 1000.0) as u64, Ordering::Relaxed);
        let progress = Progress {
            phase: self.phase + 1,
            stage: &self.stage,
            matches: self.matches,
            expected: self.expected,
            games_per_second: (self.speed * 10.0).round() / 10.0,
            playing,
        };
        if let Ok(bytes) = serde_json::to_vec(&progress) {
            self.arena.publish(FeedEvent::Progress(bytes.into()));
        }
    }

    fn playing(&self, now: Instant, boards: Vec<LiveGame>) -> Vec<Board> {
        let at = Timestamp::now().0;
        let seat = |(seat, entrant): (usize, &Entrant)| Seated {
            entrant: entrant.0,
            role: self.info.role(Seat(seat as u8)).name,
        };
        let board = |one: LiveGame| Board {
            number: one.board,
            phase: one.key.phase + 1,
            key: format!("{}-{}", one.key.stage + 1, one.key.number + 1),
            game: one.game + 1,
            seats: one.seats.iter().enumerate().map(seat).collect(),
            since: at - now.duration_since(one.since).as_millis() as i64,
            turn: one.turn,
            hidden: self.competition.hidden(self.info, one.key.phase),
        };
        boards.into_iter().take(BOARDS).map(board).collect()
    }

    fn table(&mut self, now: Instant) {
        self.dirty = false;
        self.table = now;
        let revision = self.arena.changed();
        self.arena.publish(FeedEvent::Table { phase: self.phase, revision });
    }
}

impl Listener for RunEvents<'_> {
    fn event(&mut self, event: &Event<'_>) {
        let now = Instant::now();
        let at_once = match event {
            Event::Phase { phase, expected, done, .. } => {
                self.phase = *phase;
                self.matches = *done;
                self.expected = (expected.0 == expected.1).then_some(expected.1);
                self.dirty = true;
                true
            }
            Event::Stage { name, .. } => {
                self.stage.clone_from(name);
                true
            }
            Event::Match { result, .. } => {
                self.matches += 1;
                self.games.1 += result.games.len() as u64;
                self.dirty = true;
                false
            }
            Event::Published { .. }
            | Event::Barred { .. }
            | Event::Outvoted { .. }
            | Event::Disputed { .. }
            | Event::Waiting { .. }
            | Event::Over { .. } => {
                self.dirty = true;
                true
            }
            Event::Opened { .. } | Event::Balance { .. } | Event::Tick { .. } => false,
        };
        if self.dirty && (at_once || now.duration_since(self.table) >= TABLE) {
            self.table(now);
        }
        if at_once || now.duration_since(self.told) >= PROGRESS {
            self.progress(now);
        }
    }
}
