//! Shows a board: computes its game again from what was written down, and makes each part of the film once for all who follow. It runs only
//! while somebody does, and looks at the board by itself a few times a second: the thread that plays has nobody to wake.

use std::io;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Condvar, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use agon_core::record::{FaultRecord, SITS_OUT};
use agon_engine::film::live::{PlayedTurn, part};
use agon_engine::{LiveFilm, LiveTurn, Reel, ReplayError};
use tokio::sync::broadcast::{self, Receiver, Sender};

use super::subscriber::{LiveGameKey, LiveUpdate};
use super::turn_buffer::{TurnCursor, TurnBuffer};
use super::{LiveSlot, LiveConfig};

/// Who is further behind than so many updates gets the film so far instead.
const BEHIND: usize = 16;

/// Even on a machine that is very busy something moves.
const LONGEST_REST: Duration = Duration::from_secs(1);

/// What those who follow a board share.
pub(super) struct LiveBroadcast {
    running: bool,
    /// What is shown, for those who come late.
    showing: Option<CurrentFilm>,
    idle: bool,
    /// Nothing once the gallery is closed.
    sender: Option<Sender<LiveUpdate>>,
}

struct CurrentFilm {
    game: Arc<LiveGameKey>,
    film: LiveFilm,
    /// The film as bytes, since somebody wanted it, until it grows.
    bytes: Option<Arc<[u8]>>,
    /// Whether its end was shown.
    over: bool,
}

impl Default for LiveBroadcast {
    fn default() -> Self {
        let sender = Some(broadcast::channel(BEHIND).0);
        Self { running: false, showing: None, idle: false, sender }
    }
}

impl LiveBroadcast {
    #[cfg(test)]
    pub(super) fn is_running(&self) -> bool {
        self.running
    }

    pub(super) fn close(&mut self) {
        self.sender = None;
    }

    /// What is shown now, and all that follows it. Nothing once the gallery is closed.
    pub(super) fn subscribe(&mut self) -> Option<(Receiver<LiveUpdate>, Option<LiveUpdate>)> {
        let receiver = self.sender.as_ref()?.subscribe();
        let now = self.showing.as_mut().map(CurrentFilm::update).or(self.idle.then_some(LiveUpdate::Idle));
        Some((receiver, now))
    }

    /// Hands something to everybody.
    fn send(&self, update: LiveUpdate) {
        if let Some(sender) = &self.sender {
            // It fails when nobody follows just now.
            let _ = sender.send(update);
        }
    }

    fn switch_off(&mut self) {
        (self.running, self.idle, self.showing) = (false, false, None);
    }
}

impl CurrentFilm {
    fn update(&mut self) -> LiveUpdate {
        let film = self.bytes.get_or_insert_with(|| self.film.json().into());
        LiveUpdate::Film { game: Arc::clone(&self.game), film: Arc::clone(film), over: self.over }
    }
}

/// One more follows; the first one starts the projector.
pub(super) fn join(board: &Arc<LiveSlot>) -> io::Result<(Receiver<LiveUpdate>, Option<LiveUpdate>)> {
    let mut screen = board.screen();
    let closed = || io::Error::other("the gallery is closed");
    let joined = screen.subscribe().ok_or_else(closed)?;
    if !screen.running {
        let projector = LiveFilmRenderer::new(Arc::clone(board));
        thread::Builder::new().name(format!("board {}", board.number)).spawn(move || projector.run())?;
        screen.running = true;
    }
    board.followers.fetch_add(1, Relaxed);
    Ok(joined)
}

/// One less follows; the last one ends the projector.
pub(super) fn leave(board: &LiveSlot) {
    // Counted under the lock: a projector that ends and one that is started do not miss each other.
    let _screen = board.screen();
    if board.followers.fetch_sub(1, Relaxed) == 1 {
        board.wake.notify_all();
    }
}

struct LiveFilmRenderer {
    board: Arc<LiveSlot>,
    /// The game that is shown.
    view: Option<View>,
    /// The number of the game that was shown last.
    last: u64,
    /// What was on when the first one came: that is what they came for, however soon it is over.
    first: Option<Arc<TurnBuffer>>,
}

/// How much of a reading.
#[derive(Default)]
struct Place {
    bytes: usize,
    times: usize,
    faults: usize,
    turns: u32,
}

/// A game while it is shown.
struct View {
    sheet: Arc<TurnBuffer>,
    reel: Box<dyn Reel>,
    game: Arc<LiveGameKey>,
    reading: TurnCursor,
    /// How much of the reading was shown.
    at: Place,
    /// For how many ticks its end has been shown.
    ended: Option<u32>,
    /// Whether what came of the match was told.
    told: bool,
}

impl LiveFilmRenderer {
    fn new(board: Arc<LiveSlot>) -> Self {
        let first = board.slot().sheet.clone();
        Self { board, view: None, last: 0, first }
    }

    fn run(mut self) {
        let _guard = Guard(Arc::clone(&self.board));
        loop {
            let begun = Instant::now();
            self.step();
            let next = begun + self.pause(begun.elapsed());
            let mut screen = self.board.screen();
            loop {
                if screen.sender.is_none() || self.board.followers() == 0 {
                    screen.switch_off();
                    return;
                }
                let left = next.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                let woken = Condvar::wait_timeout(&self.board.wake, screen, left);
                screen = woken.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }

    /// How long after the last step the next one comes, if that one took so long.
    fn pause(&self, took: Duration) -> Duration {
        let pace = &self.board.house.pace;
        let crowd = pace.each.saturating_mul(self.board.followers() as u32);
        pace.tick.max(crowd).max(took.saturating_mul(pace.rest).min(LONGEST_REST))
    }

    /// At most one update.
    fn step(&mut self) {
        let board = Arc::clone(&self.board);
        let pace = &board.house.pace;
        match &mut self.view {
            Some(view) if view.ended.is_none() => view.go_on(&board),
            Some(view) => {
                if view.tell(&board) || view.hold() < pace.hold {
                    return;
                }
                self.next(&board);
            }
            None => self.next(&board),
        }
    }

    /// Shows what is on now; what was played since the last game was shown is passed over.
    fn next(&mut self, board: &LiveSlot) {
        let (sheet, resting) = {
            let slot = board.slot();
            let sheet = self.first.take().or_else(|| slot.sheet.clone());
            (sheet.filter(|sheet| sheet.number > self.last), slot.resting)
        };
        let catch_up = self.last == 0;
        if let Some(sheet) = sheet {
            self.last = sheet.number;
            // A game that cannot be computed again is not shown.
            self.view = View::open(board, sheet, catch_up).ok();
        } else if resting || self.last == 0 {
            self.view = None;
            let mut screen = board.screen();
            if !screen.idle {
                (screen.idle, screen.showing) = (true, None);
                screen.send(LiveUpdate::Idle);
            }
        }
    }
}

/// Should the projector die, the next follower starts another.
struct Guard(Arc<LiveSlot>);

impl Drop for Guard {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.screen().switch_off();
        }
    }
}

impl View {
    /// A game that was not shown before, with what was played of it.
    fn open(board: &LiveSlot, sheet: Arc<TurnBuffer>, catch_up: bool) -> Result<Self, ReplayError> {
        let LiveConfig { assets, contributors, pace } = &*board.house;
        let by = |seat: &agon_league::Entrant| contributors.get(seat.index()).cloned().flatten();
        let by: Vec<Option<String>> = sheet.seats.iter().map(by).collect();
        let missing = |_| ReplayError::Differs { turn: 0, what: "there is no such game".to_owned() };
        let table = agon_engine::table(&sheet.header.game).map_err(missing)?;
        let (mut film, reel) = table.reel(&sheet.header, &by, assets)?;
        let game = Arc::new(LiveGameKey {
            board: board.number,
            number: sheet.number,
            key: sheet.key,
            game: sheet.game,
            seats: sheet.seats.clone(),
        });
        let reading = TurnCursor::default();
        let mut view = Self { sheet, reel, game, reading, at: Place::default(), ended: None, told: false };
        for turn in view.develop(board, if catch_up { pace.catch_up } else { pace.work }) {
            film.push(&turn);
        }
        if view.is_at_end() {
            view.ended = Some(0);
            if let Some(outcome) = view.reel.outcome() {
                film.end(outcome);
            }
        }
        let over = view.ended.is_some();
        let mut showing = CurrentFilm { game: Arc::clone(&view.game), film, bytes: None, over };
        let update = showing.update();
        let mut screen = board.screen();
        (screen.idle, screen.showing) = (false, Some(showing));
        screen.send(update);
        Ok(view)
    }

    /// Shows what was played since.
    fn go_on(&mut self, board: &LiveSlot) {
        let from = self.at.turns as usize + 1;
        let turns = self.develop(board, board.house.pace.work);
        let over = self.is_at_end();
        if turns.is_empty() && !over {
            if self.is_abandoned(board) {
                self.ended = Some(0);
            }
            return;
        }
        let outcome = if over { self.reel.outcome() } else { None };
        let bytes = part(from, &turns, outcome.as_ref()).into();
        let mut screen = board.screen();
        if let Some(showing) = &mut screen.showing {
            for turn in &turns {
                showing.film.push(turn);
            }
            showing.bytes = None;
            showing.over = over;
            if let Some(outcome) = outcome {
                showing.film.end(outcome);
            }
        }
        screen.send(LiveUpdate::Part { game: Arc::clone(&self.game), part: bytes, over });
        drop(screen);
        if over {
            self.ended = Some(0);
        }
    }

    /// Computes turns that were not shown yet, for so long.
    fn develop(&mut self, board: &LiveSlot, work: Duration) -> Vec<LiveTurn> {
        let until = Instant::now() + work;
        self.sheet.read(&mut self.reading);
        // What is over already is shown bit by bit, so that there is something to see.
        let spread = board.house.pace.spread.max(1);
        let most = if self.reading.over { self.reading.count.div_ceil(spread) } else { u32::MAX };
        let mut turns = Vec::new();
        while self.at.turns < self.reading.count && turns.len() < most as usize {
            let Ok(turn) = self.turn() else {
                // It cannot be computed again, though it was played: there is nothing more to show of it.
                (self.reading.count, self.reading.over) = (self.at.turns, true);
                self.ended = Some(0);
                break;
            };
            turns.push(turn);
            if Instant::now() >= until {
                break;
            }
        }
        turns
    }

    fn turn(&mut self) -> Result<LiveTurn, ReplayError> {
        let Self { reading, at, .. } = self;
        let rest = reading.answers.get(at.bytes..).unwrap_or_default();
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let answers = String::from_utf8_lossy(line);
        let timed = answers.split(' ').filter(|token| *token != SITS_OUT).count();
        let number = at.turns + 1;
        let charged = reading.charged.get(at.times..at.times + timed).unwrap_or_default();
        let of_turn = |fault: &&FaultRecord| fault.turn <= number;
        let wrong = reading.faults.iter().skip(at.faults).take_while(of_turn).count();
        let faults = &reading.faults[at.faults..at.faults + wrong];
        let expired = reading.expired.filter(|expiry| expiry.turn == number);
        let turn = self.reel.push(&PlayedTurn { answers: &answers, charged, faults, expired })?;
        at.bytes += line.len() + 1;
        at.times += timed;
        at.faults += wrong;
        at.turns = number;
        Ok(turn)
    }

    fn is_at_end(&self) -> bool {
        self.reading.over && self.at.turns >= self.reading.count
    }

    /// Whether the thread plays something else, or nothing, though the game had no end: the run was broken off.
    fn is_abandoned(&mut self, board: &LiveSlot) -> bool {
        let elsewhere = {
            let slot = board.slot();
            slot.resting || slot.begun > self.sheet.number
        };
        self.sheet.read(&mut self.reading);
        elsewhere && !self.reading.over
    }

    /// Tells what came of the match, once it is known.
    fn tell(&mut self, board: &LiveSlot) -> bool {
        let Some(result) = self.sheet.result.get().filter(|_| !self.told) else { return false };
        self.told = true;
        board.screen().send(LiveUpdate::Match(Arc::clone(result)));
        true
    }

    /// For how many ticks the end has been there.
    fn hold(&mut self) -> u32 {
        let ticks = self.ended.map_or(1, |ticks| ticks + 1);
        self.ended = Some(ticks);
        ticks
    }
}
