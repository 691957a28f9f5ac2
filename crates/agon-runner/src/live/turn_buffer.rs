//! Buffer between the playing thread, which writes the turns of a game, and the renderer, which reads them.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use agon_core::LockIgnoringPoison as _;
use agon_core::record::{ClockExpiry, FaultRecord, RecordHeader};
use agon_engine::film::json::add_win;
use agon_engine::{GameEvent, Reporter, TurnAnswers};
use agon_league::{Entrant, MatchKey, MatchResult};

use super::LiveSlot;

/// Maximum number of bytes that a reader copies while it holds the lock, so that the playing thread never waits long.
const MAX_COPY_BYTES: usize = 1 << 16;

/// The turns of a game so far.
pub(super) struct TurnBuffer {
    /// Number of games started in this slot, including this one.
    pub(super) sequence: u64,
    pub(super) key: MatchKey,
    /// Game of the match, from 0.
    pub(super) game: u32,
    pub(super) seats: Vec<Entrant>,
    pub(super) since: Instant,
    pub(super) header: RecordHeader,
    /// Games of the match that each seat has won before this one. Empty for the first game.
    pub(super) wins: Vec<u32>,
    turns: Mutex<TurnData>,
    /// Result of the match. Set if this was its last game and there were subscribers.
    pub(super) result: OnceLock<Arc<MatchResult>>,
}

/// The data that grows with each turn.
#[derive(Default)]
struct TurnData {
    /// One line per turn.
    answers: Vec<u8>,
    charged: Vec<Duration>,
    faults: Vec<FaultRecord>,
    count: u32,
    expired: Option<ClockExpiry>,
    over: bool,
}

/// A reader's copy of the turns.
#[derive(Default)]
pub(super) struct TurnCursor {
    pub(super) answers: Vec<u8>,
    pub(super) charged: Vec<Duration>,
    pub(super) faults: Vec<FaultRecord>,
    pub(super) expired: Option<ClockExpiry>,
    /// Number of turns.
    pub(super) count: u32,
    /// Whether the game has ended.
    pub(super) over: bool,
}

/// A game that starts.
#[derive(Clone, Copy)]
pub(super) struct StartedGame<'g> {
    pub(super) key: MatchKey,
    /// Game of the match, from 0.
    pub(super) game: u32,
    pub(super) seats: &'g [Entrant],
    /// Games of the match that each seat has won before. Empty for the first game.
    pub(super) wins: &'g [u32],
    pub(super) header: &'g RecordHeader,
}

impl TurnBuffer {
    pub(super) fn new(sequence: u64, since: Instant, started: &StartedGame<'_>) -> Self {
        let StartedGame { key, game, .. } = *started;
        Self {
            sequence,
            key,
            game,
            seats: started.seats.to_vec(),
            since,
            header: started.header.clone(),
            wins: started.wins.to_vec(),
            turns: Mutex::default(),
            result: OnceLock::new(),
        }
    }

    /// Reuses the buffer and its allocations for another game.
    pub(super) fn reuse(&mut self, sequence: u64, since: Instant, started: &StartedGame<'_>) {
        (self.sequence, self.key, self.game, self.since) = (sequence, started.key, started.game, since);
        self.seats.clear();
        self.seats.extend_from_slice(started.seats);
        self.wins.clear();
        self.wins.extend_from_slice(started.wins);
        self.header.seed = started.header.seed;
        if self.header != *started.header {
            self.header = started.header.clone();
        }
        self.result = OnceLock::new();
        let turns = self.turns.get_mut().unwrap_or_else(PoisonError::into_inner);
        turns.answers.clear();
        turns.charged.clear();
        turns.faults.clear();
        (turns.count, turns.expired, turns.over) = (0, None, false);
    }

    pub(super) fn turn_count(&self) -> u32 {
        self.turns().count
    }

    fn turns(&self) -> MutexGuard<'_, TurnData> {
        self.turns.lock_ignoring_poison()
    }

    fn add(&self, deeds: &TurnAnswers<'_>) {
        let mut turns = self.turns();
        turns.answers.extend_from_slice(deeds.answers());
        turns.answers.push(b'\n');
        turns.charged.extend(deeds.charged());
        turns.count += 1;
        turns.expired = deeds.expired;
    }

    /// Copies new turns to the reader, in small steps: the playing thread must never wait long.
    pub(super) fn read(&self, cursor: &mut TurnCursor) {
        loop {
            let turns = self.turns();
            let copied = copy(&turns.answers, &mut cursor.answers)
                + copy(&turns.charged, &mut cursor.charged)
                + copy(&turns.faults, &mut cursor.faults);
            (cursor.count, cursor.expired, cursor.over) = (turns.count, turns.expired, turns.over);
            if copied < MAX_COPY_BYTES {
                return;
            }
        }
    }
}

/// Copies new elements, up to the limit. Returns the limit in bytes if there may be more, otherwise 0.
fn copy<T: Clone>(from: &[T], to: &mut Vec<T>) -> usize {
    let most = MAX_COPY_BYTES / size_of::<T>();
    let new = from.get(to.len()..).unwrap_or_default();
    let new = &new[..new.len().min(most)];
    to.extend_from_slice(new);
    if new.len() == most { MAX_COPY_BYTES } else { 0 }
}

/// Reporter that writes the games of one match into the buffer of a slot.
pub struct LiveReporter<'p> {
    slot: &'p LiveSlot,
    key: MatchKey,
    seats: &'p [Entrant],
    /// Games of the match that each seat has won so far. Empty before the end of the first game.
    wins: Vec<u32>,
    buffer: Option<Arc<TurnBuffer>>,
}

impl<'p> LiveReporter<'p> {
    /// Creates a reporter for a match that is about to start in `slot`. `seats` are its entrants, in seat order.
    pub fn new(slot: &'p LiveSlot, key: MatchKey, seats: &'p [Entrant]) -> Self {
        Self { slot, key, seats, wins: Vec::new(), buffer: None }
    }

    /// Stores the result of the match for the subscribers.
    pub fn match_finished(&self, result: &MatchResult) {
        if let Some(buffer) = &self.buffer
            && self.slot.subscribers() > 0
        {
            // Fails only if it was set before, and a match ends once.
            let _ = buffer.result.set(Arc::new(result.clone()));
        }
    }
}

impl Reporter for LiveReporter<'_> {
    fn event(&mut self, event: &GameEvent<'_>) {
        if let GameEvent::Started { game, header, .. } = event {
            // Release the old buffer, so that the slot can reuse it.
            self.buffer = None;
            let Self { key, seats, wins, .. } = &*self;
            let started = StartedGame { key: *key, game: *game, seats, wins, header };
            self.buffer = Some(self.slot.start_game(&started));
            return;
        }
        if let GameEvent::Over { outcome, .. } = event {
            add_win(&mut self.wins, outcome);
        }
        let Some(buffer) = &self.buffer else { return };
        match event {
            GameEvent::Turn { answers: Some(deeds), .. } => buffer.add(deeds),
            GameEvent::Fault { fault, .. } => buffer.turns().faults.push((*fault).clone()),
            GameEvent::Over { .. } => buffer.turns().over = true,
            GameEvent::Started { .. } | GameEvent::Turn { .. } => {}
        }
    }
}
