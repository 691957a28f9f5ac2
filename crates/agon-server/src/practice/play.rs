//! Plays single games outside of competitions.

use std::io;
use std::time::{Duration, Instant};

use agon_core::record::{RecordHeader, Recorder};
use agon_core::{Assets, Diagnostic, FaultReport, Outcome, Seat, Settings};
use agon_engine::any_game::{MatchSetup, hooks_with_recorder};
use agon_engine::film::json::BotOutputLine;
use agon_engine::turn_log::{TurnLog, TurnLogEntry};
use agon_engine::{AnyGame, PlayerSpec};
use agon_store::Timestamp;

use crate::played_games::MAX_OUTPUT_BYTES;

/// A game to play.
#[derive(Clone, Copy)]
pub struct GameToPlay<'g> {
    /// The rules.
    pub game: &'g dyn AnyGame,
    /// Settings of the game.
    pub settings: &'g Settings,
    /// Files that replace the game's own.
    pub assets: &'g Assets,
    /// Players in seat order.
    pub seats: &'g [PlayerSpec],
    /// Seed of the series of this one game.
    pub seed: u64,
    /// The game is ended without a result after this time.
    pub timeout: Duration,
}

/// A game that was played to its end.
#[derive(Debug)]
pub struct FinishedPracticeGame {
    /// The outcome.
    pub outcome: Outcome,
    /// Seed of the game.
    pub seed: u64,
    /// Number of faults by seat.
    pub faults: Vec<u32>,
    /// The compressed record.
    pub record: Vec<u8>,
    /// What the bots printed.
    pub output: Vec<BotOutputLine>,
    /// Start of the game.
    pub started: Timestamp,
    /// End of the game.
    pub ended: Timestamp,
}

impl FinishedPracticeGame {
    /// Opponents that a seat has beaten; a shared place counts half.
    pub fn beaten(&self, seat: usize) -> f64 {
        let Some(own) = self.outcome.seats.get(seat) else { return 0.0 };
        let others = self.outcome.seats.iter().enumerate().filter(|(other, _)| *other != seat);
        others.map(|(_, other)| share(own.place, other.place)).sum()
    }

    /// 1 if the first seat has beaten the second, 0 if it lost, one half if they share a place.
    pub fn won(&self, first: usize, second: usize) -> f64 {
        let place = |seat: usize| self.outcome.seats.get(seat).map(|one| one.place);
        match (place(first), place(second)) {
            (Some(first), Some(second)) => share(first, second),
            _ => 0.5,
        }
    }
}

fn share(own: u8, other: u8) -> f64 {
    match own.cmp(&other) {
        std::cmp::Ordering::Less => 1.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Greater => 0.0,
    }
}

/// Why a game has no result.
#[derive(Debug)]
pub enum GameAborted {
    /// The caller wanted it to end.
    Stopped,
    /// It took too long. The seat has used the most time.
    TooLong(Seat),
    /// It could not be played.
    Failed(Diagnostic),
}

/// Plays a game. `is_stopped` is asked after each answer, so that a game ends within one answer.
pub fn play_game(
    game: GameToPlay<'_>,
    is_stopped: &dyn Fn() -> bool,
) -> Result<FinishedPracticeGame, GameAborted> {
    if is_stopped() {
        return Err(GameAborted::Stopped);
    }
    let GameToPlay { game: table, settings, assets, seats, seed, timeout } = game;
    let setup = MatchSetup { settings, seed, seats, assets };
    let started = Timestamp::now();
    let mut recorder = Recorder::new();
    let mut log = PracticeLog::new(is_stopped, seats.len(), timeout);
    let mut finished = None;
    let mut hooks = hooks_with_recorder(Some(&mut recorder));
    hooks.log = Some(&mut log);
    let result = table.play(&setup, 0..1, &mut hooks, &mut |played| finished = Some(played));
    match (result, log.end, finished) {
        (_, Some(LogEnd::Stopped), _) => Err(GameAborted::Stopped),
        (_, Some(LogEnd::TooLong), _) => Err(GameAborted::TooLong(log.slowest())),
        (Err(error), ..) => Err(GameAborted::Failed(error.diagnostic())),
        (Ok(_), None, None) => Err(GameAborted::Failed(Diagnostic::internal("no game was played"))),
        (Ok(_), None, Some(mut played)) => {
            let mut faults = vec![0; seats.len()];
            for fault in &played.faults {
                if let Some(count) = faults.get_mut(fault.seat.index()) {
                    *count += 1;
                }
            }
            Ok(FinishedPracticeGame {
                seed: played.seed,
                faults,
                record: played.record.take().map(|(bytes, _)| bytes).unwrap_or_default(),
                outcome: played.outcome,
                output: log.output,
                started,
                ended: Timestamp::now(),
            })
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LogEnd {
    Stopped,
    TooLong,
}

/// Collects what bots print, and ends the game when it must.
struct PracticeLog<'s> {
    is_stopped: &'s dyn Fn() -> bool,
    deadline: Option<Instant>,
    end: Option<LogEnd>,
    turn: u32,
    /// Charged time by seat.
    used: Vec<Duration>,
    output: Vec<BotOutputLine>,
    output_bytes: usize,
}

impl<'s> PracticeLog<'s> {
    fn new(is_stopped: &'s dyn Fn() -> bool, seats: usize, timeout: Duration) -> Self {
        Self {
            is_stopped,
            deadline: Instant::now().checked_add(timeout),
            end: None,
            turn: 0,
            used: vec![Duration::ZERO; seats],
            output: Vec::new(),
            output_bytes: 0,
        }
    }

    fn slowest(&self) -> Seat {
        let slowest = Seat::all(self.used.len()).zip(&self.used).max_by_key(|(_, used)| **used);
        slowest.map_or(Seat(0), |(seat, _)| seat)
    }

    fn add(&mut self, seat: Seat, turn: u32, text: &str) {
        if text.is_empty() || self.output_bytes >= MAX_OUTPUT_BYTES {
            return;
        }
        self.output_bytes += text.len();
        self.output.push(BotOutputLine { turn, seat, text: text.to_owned() });
    }

    /// An error ends the game.
    fn check(&mut self) -> io::Result<()> {
        if (self.is_stopped)() {
            self.end = Some(LogEnd::Stopped);
        } else if self.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            self.end = Some(LogEnd::TooLong);
        } else {
            return Ok(());
        }
        Err(io::ErrorKind::Interrupted.into())
    }
}

impl TurnLog for PracticeLog<'_> {
    fn begin_game(&mut self, _: u32, _: &RecordHeader) -> io::Result<()> {
        self.check()
    }

    fn output(&mut self, seat: Seat, printed: &str) -> io::Result<()> {
        self.add(seat, self.turn, printed);
        Ok(())
    }

    fn answer(&mut self, entry: &TurnLogEntry<'_>) -> io::Result<()> {
        self.turn = entry.turn;
        if let Some(used) = self.used.get_mut(entry.seat.index()) {
            *used += entry.times.charged();
        }
        self.add(entry.seat, entry.turn, entry.output);
        if let (true, Some(fault)) = (entry.output.is_empty(), entry.fault) {
            // What a process printed before it was killed is only in the fault.
            self.add(entry.seat, entry.turn, &fault.stderr);
        }
        self.check()
    }

    fn end_game(&mut self, _: &Outcome) -> io::Result<()> {
        Ok(())
    }

    fn match_over(&mut self, seat: Seat, printed: &str, _: Option<&FaultReport>) -> io::Result<()> {
        self.add(seat, self.turn, printed);
        Ok(())
    }
}
