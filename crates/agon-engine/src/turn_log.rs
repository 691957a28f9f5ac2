//! Log of a game for bot authors: each request with its answer or fault, times and bot output.

use std::io;

use agon_core::record::RecordHeader;
use agon_core::{AnswerTimes, FaultReport, Outcome, Seat};

/// One request with its answer.
#[derive(Clone, Debug)]
pub struct TurnLogEntry<'e> {
    /// Turn, counted from 1.
    pub turn: u32,
    /// Seat that was asked.
    pub seat: Seat,
    /// Kind of request in one word.
    pub request: &'static str,
    /// Answer in its record form; `None` with a fault.
    pub answer: Option<String>,
    /// Details of the fault.
    pub fault: Option<&'e FaultReport>,
    /// Times of the answer.
    pub times: AnswerTimes,
    /// Bot output since the previous request, sanitised for display.
    pub output: &'e str,
}

/// Log of the games of one thread, one after the other.
pub trait TurnLog {
    /// Called when a game starts. `game` is its number in the series or match.
    fn begin_game(&mut self, game: u32, header: &RecordHeader) -> io::Result<()>;

    /// Called with bot output from before the first turn or after the last.
    fn output(&mut self, seat: Seat, printed: &str) -> io::Result<()>;

    /// Called after each answer.
    fn answer(&mut self, entry: &TurnLogEntry<'_>) -> io::Result<()>;

    /// Called when the game is over.
    fn end_game(&mut self, outcome: &Outcome) -> io::Result<()>;

    /// Called when the match of the last game is over: what the bot printed since then, and the fault in what it did.
    fn match_over(&mut self, seat: Seat, printed: &str, fault: Option<&FaultReport>) -> io::Result<()> {
        let _ = (seat, printed, fault);
        Ok(())
    }
}

/// Creates a log for each thread of a series. The argument is added to the numbers of its games.
pub type MakeTurnLog<'m> = dyn Fn(u32) -> Box<dyn TurnLog + 'm> + Sync + 'm;
