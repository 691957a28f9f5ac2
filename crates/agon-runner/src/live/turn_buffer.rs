//! What is written down of the game on a board: by the thread that plays it, for whoever looks on.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use agon_core::record::{Expiry, FaultRecord, Header};
use agon_engine::{Deeds, Event, Reporter};
use agon_league::{Entrant, MatchKey, MatchResult};

use super::LiveSlot;

/// Nobody holds up the thread that plays for longer than copying so many bytes takes.
const AT_ONCE: usize = 1 << 16;

/// A game as far as it was played.
pub(super) struct TurnBuffer {
    /// How many games were begun on this board, this one included.
    pub(super) number: u64,
    pub(super) key: MatchKey,
    /// Its number in its match, from 0.
    pub(super) game: u32,
    pub(super) seats: Vec<Entrant>,
    pub(super) since: Instant,
    pub(super) header: Header,
    turns: Mutex<Turns>,
    /// What came of its match, if it was the last game of it and somebody looked on.
    pub(super) result: OnceLock<Arc<MatchResult>>,
}

/// The part that grows.
#[derive(Default)]
struct Turns {
    /// A line for each turn.
    answers: Vec<u8>,
    charged: Vec<Duration>,
    faults: Vec<FaultRecord>,
    count: u32,
    expired: Option<Expiry>,
    over: bool,
}

/// What somebody has read of a sheet, and has not shown yet.
#[derive(Default)]
pub(super) struct TurnCursor {
    pub(super) answers: Vec<u8>,
    pub(super) charged: Vec<Duration>,
    pub(super) faults: Vec<FaultRecord>,
    pub(super) expired: Option<Expiry>,
    /// How many turns there are.
    pub(super) count: u32,
    /// Whether there will be no more.
    pub(super) over: bool,
}

impl TurnBuffer {
    pub(super) fn new(
        number: u64,
        key: MatchKey,
        game: u32,
        seats: &[Entrant],
        since: Instant,
        header: &Header,
    ) -> Self {
        let (seats, header) = (seats.to_vec(), header.clone());
        let (turns, result) = (Mutex::default(), OnceLock::new());
        Self { number, key, game, seats, since, header, turns, result }
    }

    /// The same sheet for another game: what need not be allocated again is not.
    pub(super) fn reuse(
        &mut self,
        number: u64,
        key: MatchKey,
        game: u32,
        seats: &[Entrant],
        since: Instant,
        header: &Header,
    ) {
        (self.number, self.key, self.game, self.since) = (number, key, game, since);
        self.seats.clear();
        self.seats.extend_from_slice(seats);
        self.header.seed = header.seed;
        if self.header != *header {
            self.header = header.clone();
        }
        self.result = OnceLock::new();
        let turns = self.turns.get_mut().unwrap_or_else(PoisonError::into_inner);
        turns.answers.clear();
        turns.charged.clear();
        turns.faults.clear();
        (turns.count, turns.expired, turns.over) = (0, None, false);
    }

    pub(super) fn turn(&self) -> u32 {
        self.turns().count
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, deeds: &Deeds<'_>) {
        let mut turns = self.turns();
        turns.answers.extend_from_slice(deeds.answers());
        turns.answers.push(b'\n');
        turns.charged.extend(deeds.charged());
        turns.count += 1;
        turns.expired = deeds.expired;
    }

    /// Reads on, bit by bit: the thread that plays must never wait for long.
    pub(super) fn read(&self, reading: &mut TurnCursor) {
        loop {
            let turns = self.turns();
            let copied = copy(&turns.answers, &mut reading.answers)
                + copy(&turns.charged, &mut reading.charged)
                + copy(&turns.faults, &mut reading.faults);
            (reading.count, reading.expired, reading.over) = (turns.count, turns.expired, turns.over);
            if copied < AT_ONCE {
                return;
            }
        }
    }
}

/// Copies on from where the last copy ended, but not too much at once; how many bytes, nearly.
fn copy<T: Clone>(from: &[T], to: &mut Vec<T>) -> usize {
    let most = AT_ONCE / size_of::<T>();
    let new = from.get(to.len()..).unwrap_or_default();
    let new = &new[..new.len().min(most)];
    to.extend_from_slice(new);
    if new.len() == most { AT_ONCE } else { 0 }
}

/// Writes down the games of one match, as the reporter of whoever plays them.
pub struct LiveReporter<'p> {
    board: &'p LiveSlot,
    key: MatchKey,
    seats: &'p [Entrant],
    sheet: Option<Arc<TurnBuffer>>,
}

impl<'p> LiveReporter<'p> {
    /// For a match that is about to begin there, between these (in seat order).
    pub fn new(board: &'p LiveSlot, key: MatchKey, seats: &'p [Entrant]) -> Self {
        Self { board, key, seats, sheet: None }
    }

    /// The match is over.
    pub fn finished(&self, result: &MatchResult) {
        if let Some(sheet) = &self.sheet
            && self.board.followers() > 0
        {
            // Set once: a match is finished once.
            let _ = sheet.result.set(Arc::new(result.clone()));
        }
    }
}

impl Reporter for LiveReporter<'_> {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::Started { game, header, .. } = event {
            // Not ours any more: the board may use it again.
            self.sheet = None;
            self.sheet = Some(self.board.begin(self.key, *game, self.seats, header));
            return;
        }
        let Some(sheet) = &self.sheet else { return };
        match event {
            Event::Turn { deeds: Some(deeds), .. } => sheet.add(deeds),
            Event::Fault { fault, .. } => sheet.turns().faults.push((*fault).clone()),
            Event::Over { .. } => sheet.turns().over = true,
            Event::Started { .. } | Event::Turn { .. } => {}
        }
    }
}
