//! What a bot's author wants to read after a game: each request with its answer or fault, its times, and what the bot
//! printed.

use std::io;

use agon_core::record::Header;
use agon_core::{FaultReport, Outcome, Seat, Times};

/// One request, and what came of it.
#[derive(Clone, Debug)]
pub struct Entry<'e> {
    /// Turns count from 1.
    pub turn: u32,
    /// Who was asked.
    pub seat: Seat,
    /// What for, in one word.
    pub request: &'static str,
    /// The answer as it stands in the record; `None` with a fault.
    pub answer: Option<String>,
    /// What was wrong, in the bot's own words.
    pub fault: Option<&'e FaultReport>,
    /// What it took.
    pub times: Times,
    /// What the bot printed since it was last asked, safe to show.
    pub printed: &'e str,
}

/// Takes down the games of one thread, one after the other.
pub trait GameLog {
    /// A game begins. `game` is its number in the series or match.
    fn begins(&mut self, game: u32, header: &Header) -> io::Result<()>;

    /// A seat printed this before its first turn, or after its last.
    fn printed(&mut self, seat: Seat, printed: &str) -> io::Result<()>;

    /// A seat was asked.
    fn answered(&mut self, entry: &Entry<'_>) -> io::Result<()>;

    /// The game is over.
    fn over(&mut self, outcome: &Outcome) -> io::Result<()>;
}

/// Makes a log for each thread of a series. `first` is added to the numbers of its games.
pub type MakeLog<'m> = dyn Fn(u32) -> Box<dyn GameLog + 'm> + Sync + 'm;
