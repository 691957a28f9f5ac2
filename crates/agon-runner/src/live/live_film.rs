//! Renders the live film of a slot. A renderer thread replays the game from the turn buffer and makes each part of the film once for all
//! subscribers. It runs only while there are subscribers, and polls the slot a few times a second, so the playing thread never wakes it.

use std::io;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Condvar, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use agon_core::record::{FaultRecord, SITS_OUT_TOKEN};
use agon_engine::film::json::FilmExtras;
use agon_engine::film::live::{PlayedTurn, film_part};
use agon_engine::{LiveFilm, LiveTurn, ReplayError, TurnReplayer};
use tokio::sync::broadcast::{self, Receiver, Sender};

use super::subscriber::{LiveGameKey, LiveUpdate};
use super::turn_buffer::{TurnBuffer, TurnCursor};
use super::{LiveConfig, LiveSlot};

/// Maximum number of updates that a subscriber may be behind. A slower subscriber gets the film so far instead.
const BROADCAST_CAPACITY: usize = 16;

/// Maximum delay between two updates, even on a very busy machine.
const MAX_REST_DELAY: Duration = Duration::from_secs(1);

/// State that the subscribers of a slot share.
pub(super) struct LiveBroadcast {
    running: bool,
    /// The film that is shown, for late subscribers.
    current: Option<CurrentFilm>,
    idle: bool,
    /// `None` once live viewing has ended.
    sender: Option<Sender<LiveUpdate>>,
}

struct CurrentFilm {
    game: Arc<LiveGameKey>,
    film: LiveFilm,
    /// The encoded film. Computed on demand and cleared when the film grows.
    bytes: Option<Arc<[u8]>>,
    /// Whether the end of the game was shown.
    over: bool,
}

impl Default for LiveBroadcast {
    fn default() -> Self {
        let sender = Some(broadcast::channel(BROADCAST_CAPACITY).0);
        Self { running: false, current: None, idle: false, sender }
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

    /// The current film, and a receiver for all later updates. `None` once live viewing has ended.
    pub(super) fn subscribe(&mut self) -> Option<(Receiver<LiveUpdate>, Option<LiveUpdate>)> {
        let receiver = self.sender.as_ref()?.subscribe();
        let now = self.current.as_mut().map(CurrentFilm::update).or(self.idle.then_some(LiveUpdate::Idle));
        Some((receiver, now))
    }

    /// Sends an update to all subscribers.
    fn send(&self, update: LiveUpdate) {
        if let Some(sender) = &self.sender {
            // Sending fails if there are no subscribers now.
            let _ = sender.send(update);
        }
    }

    fn reset(&mut self) {
        (self.running, self.idle, self.current) = (false, false, None);
    }
}

impl CurrentFilm {
    fn update(&mut self) -> LiveUpdate {
        let film = self.bytes.get_or_insert_with(|| self.film.json().into());
        LiveUpdate::Film { game: Arc::clone(&self.game), film: Arc::clone(film), over: self.over }
    }
}

/// Adds a subscriber. The first one starts the renderer.
pub(super) fn add_subscriber(slot: &Arc<LiveSlot>) -> io::Result<(Receiver<LiveUpdate>, Option<LiveUpdate>)> {
    let mut broadcast = slot.broadcast();
    let closed = || io::Error::other("live viewing has ended");
    let subscription = broadcast.subscribe().ok_or_else(closed)?;
    if !broadcast.running {
        let renderer = LiveFilmRenderer::new(Arc::clone(slot));
        thread::Builder::new().name(format!("live {}", slot.index)).spawn(move || renderer.run())?;
        broadcast.running = true;
    }
    slot.subscribers.fetch_add(1, Relaxed);
    Ok(subscription)
}

/// Removes a subscriber. The last one stops the renderer.
pub(super) fn remove_subscriber(slot: &LiveSlot) {
    // The count changes under the lock, so that a stopping renderer and a new subscriber cannot miss each other.
    let _broadcast = slot.broadcast();
    if slot.subscribers.fetch_sub(1, Relaxed) == 1 {
        slot.wake.notify_all();
    }
}

struct LiveFilmRenderer {
    slot: Arc<LiveSlot>,
    /// The game that is shown.
    view: Option<RenderedGame>,
    /// Sequence number of the game that was shown last.
    last_sequence: u64,
    /// The game at the time of the first subscription. It is shown first, even if it ends at once.
    initial: Option<Arc<TurnBuffer>>,
}

/// Position in a [`TurnCursor`].
#[derive(Default)]
struct CursorPosition {
    bytes: usize,
    times: usize,
    faults: usize,
    turns: u32,
}

/// A game while it is shown.
struct RenderedGame {
    buffer: Arc<TurnBuffer>,
    replayer: Box<dyn TurnReplayer>,
    game: Arc<LiveGameKey>,
    cursor: TurnCursor,
    /// How much of the cursor's data was shown.
    position: CursorPosition,
    /// Number of ticks since the end of the game was shown.
    ended_ticks: Option<u32>,
    /// Whether the result of the match was sent.
    result_sent: bool,
}

impl LiveFilmRenderer {
    fn new(slot: Arc<LiveSlot>) -> Self {
        let initial = slot.current().buffer.clone();
        Self { slot, view: None, last_sequence: 0, initial }
    }

    fn run(mut self) {
        let _guard = ResetOnPanic(Arc::clone(&self.slot));
        loop {
            let started = Instant::now();
            self.step();
            let next = started + self.next_delay(started.elapsed());
            let mut broadcast = self.slot.broadcast();
            loop {
                if broadcast.sender.is_none() || self.slot.subscribers() == 0 {
                    broadcast.reset();
                    return;
                }
                let left = next.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                let woken = Condvar::wait_timeout(&self.slot.wake, broadcast, left);
                broadcast = woken.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }

    /// Delay from the start of a step that took this long to the next one.
    fn next_delay(&self, took: Duration) -> Duration {
        let pacing = &self.slot.config.pacing;
        let subscriber_interval =
            pacing.interval_per_subscriber.saturating_mul(self.slot.subscribers() as u32);
        pacing
            .update_interval
            .max(subscriber_interval)
            .max(took.saturating_mul(pacing.rest_factor).min(MAX_REST_DELAY))
    }

    /// Sends at most one update.
    fn step(&mut self) {
        let slot = Arc::clone(&self.slot);
        let pacing = &slot.config.pacing;
        match &mut self.view {
            Some(view) if view.ended_ticks.is_none() => view.send_new_turns(&slot),
            Some(view) => {
                if view.send_result(&slot) || view.count_end_tick() < pacing.hold_ticks {
                    return;
                }
                self.show_latest_game(&slot);
            }
            None => self.show_latest_game(&slot),
        }
    }

    /// Shows the current game of the slot. Games that were played in the meantime are skipped.
    fn show_latest_game(&mut self, slot: &LiveSlot) {
        let (buffer, idle) = {
            let current = slot.current();
            let buffer = self.initial.take().or_else(|| current.buffer.clone());
            (buffer.filter(|buffer| buffer.sequence > self.last_sequence), current.idle)
        };
        let catch_up = self.last_sequence == 0;
        if let Some(buffer) = buffer {
            self.last_sequence = buffer.sequence;
            // A game that cannot be replayed is not shown.
            self.view = RenderedGame::open(slot, buffer, catch_up).ok();
        } else if idle || self.last_sequence == 0 {
            self.view = None;
            let mut broadcast = slot.broadcast();
            if !broadcast.idle {
                (broadcast.idle, broadcast.current) = (true, None);
                broadcast.send(LiveUpdate::Idle);
            }
        }
    }
}

/// Resets the slot if the renderer panics, so that the next subscriber starts a new one.
struct ResetOnPanic(Arc<LiveSlot>);

impl Drop for ResetOnPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.broadcast().reset();
        }
    }
}

impl RenderedGame {
    /// Starts to show a game, with the turns played so far.
    fn open(slot: &LiveSlot, buffer: Arc<TurnBuffer>, catch_up: bool) -> Result<Self, ReplayError> {
        let LiveConfig { assets, contributors, pacing } = &*slot.config;
        let author = |seat: &agon_league::Entrant| contributors.get(seat.index()).cloned().flatten();
        let extras = FilmExtras {
            contributors: buffer.seats.iter().map(author).collect(),
            colours: buffer.seats.iter().map(|seat| seat.0).collect(),
            wins: buffer.wins.clone(),
            ..FilmExtras::default()
        };
        let missing = |_| ReplayError::Differs { turn: 0, what: "unknown game".to_owned() };
        let any_game = agon_engine::any_game(&buffer.header.game).map_err(missing)?;
        let (mut film, replayer) = any_game.live_film(&buffer.header, &extras, assets)?;
        let game = Arc::new(LiveGameKey {
            slot: slot.index,
            sequence: buffer.sequence,
            key: buffer.key,
            game: buffer.game,
            seats: buffer.seats.clone(),
        });
        let cursor = TurnCursor::default();
        let mut view = Self {
            buffer,
            replayer,
            game,
            cursor,
            position: CursorPosition::default(),
            ended_ticks: None,
            result_sent: false,
        };
        for turn in view.render_turns(slot, if catch_up { pacing.catch_up_time } else { pacing.render_time })
        {
            film.push(&turn);
        }
        if view.is_at_end() {
            view.ended_ticks = Some(0);
            if let Some(outcome) = view.replayer.outcome() {
                film.end(outcome);
            }
        }
        let over = view.ended_ticks.is_some();
        let mut current_film = CurrentFilm { game: Arc::clone(&view.game), film, bytes: None, over };
        let update = current_film.update();
        let mut broadcast = slot.broadcast();
        (broadcast.idle, broadcast.current) = (false, Some(current_film));
        broadcast.send(update);
        Ok(view)
    }

    /// Sends the turns that were played since the last update.
    fn send_new_turns(&mut self, slot: &LiveSlot) {
        let from = self.position.turns as usize + 1;
        let turns = self.render_turns(slot, slot.config.pacing.render_time);
        let over = self.is_at_end();
        if turns.is_empty() && !over {
            if self.is_abandoned(slot) {
                self.ended_ticks = Some(0);
            }
            return;
        }
        let outcome = if over { self.replayer.outcome() } else { None };
        let bytes = film_part(from, &turns, outcome.as_ref()).into();
        let mut broadcast = slot.broadcast();
        if let Some(current_film) = &mut broadcast.current {
            for turn in &turns {
                current_film.film.push(turn);
            }
            current_film.bytes = None;
            current_film.over = over;
            if let Some(outcome) = outcome {
                current_film.film.end(outcome);
            }
        }
        broadcast.send(LiveUpdate::Part { game: Arc::clone(&self.game), part: bytes, over });
        drop(broadcast);
        if over {
            self.ended_ticks = Some(0);
        }
    }

    /// Replays turns that were not shown yet, for at most this time.
    fn render_turns(&mut self, slot: &LiveSlot, max_time: Duration) -> Vec<LiveTurn> {
        let until = Instant::now() + max_time;
        self.buffer.read(&mut self.cursor);
        // A finished game is shown in several updates, so that viewers see how it went.
        let spread = slot.config.pacing.finished_game_updates.max(1);
        let max_turns = if self.cursor.over { self.cursor.count.div_ceil(spread) } else { u32::MAX };
        let mut turns = Vec::new();
        while self.position.turns < self.cursor.count && turns.len() < max_turns as usize {
            let Ok(turn) = self.render_next_turn() else {
                // The turn cannot be replayed. Stop showing this game.
                (self.cursor.count, self.cursor.over) = (self.position.turns, true);
                self.ended_ticks = Some(0);
                break;
            };
            turns.push(turn);
            if Instant::now() >= until {
                break;
            }
        }
        turns
    }

    fn render_next_turn(&mut self) -> Result<LiveTurn, ReplayError> {
        let Self { cursor, position, .. } = self;
        let rest = cursor.answers.get(position.bytes..).unwrap_or_default();
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let answers = String::from_utf8_lossy(line);
        let answer_count = answers.split(' ').filter(|token| *token != SITS_OUT_TOKEN).count();
        let number = position.turns + 1;
        let charged = cursor.charged.get(position.times..position.times + answer_count).unwrap_or_default();
        let of_turn = |fault: &&FaultRecord| fault.turn <= number;
        let fault_count = cursor.faults.iter().skip(position.faults).take_while(of_turn).count();
        let faults = &cursor.faults[position.faults..position.faults + fault_count];
        let expired = cursor.expired.filter(|expiry| expiry.turn == number);
        let turn = self.replayer.push(&PlayedTurn { answers: &answers, charged, faults, expired })?;
        position.bytes += line.len() + 1;
        position.times += answer_count;
        position.faults += fault_count;
        position.turns = number;
        Ok(turn)
    }

    fn is_at_end(&self) -> bool {
        self.cursor.over && self.position.turns >= self.cursor.count
    }

    /// Whether the thread plays another game or none although this game has no end: the run was aborted.
    fn is_abandoned(&mut self, slot: &LiveSlot) -> bool {
        let moved_on = {
            let current = slot.current();
            current.idle || current.games_started > self.buffer.sequence
        };
        self.buffer.read(&mut self.cursor);
        moved_on && !self.cursor.over
    }

    /// Sends the result of the match once it is known. Returns whether it was sent.
    fn send_result(&mut self, slot: &LiveSlot) -> bool {
        let Some(result) = self.buffer.result.get().filter(|_| !self.result_sent) else { return false };
        self.result_sent = true;
        slot.broadcast().send(LiveUpdate::Match(Arc::clone(result)));
        true
    }

    /// Counts a tick since the end of the game, and returns their number.
    fn count_end_tick(&mut self) -> u32 {
        let ticks = self.ended_ticks.map_or(1, |ticks| ticks + 1);
        self.ended_ticks = Some(ticks);
        ticks
    }
}
