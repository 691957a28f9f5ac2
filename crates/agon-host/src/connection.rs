//! Something that is asked and answers on a clock, whatever runs it and however it is reached.

use std::fmt::Debug;
use std::time::Duration;

use agon_core::{AnswerTimes, Fault, FaultReport};

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AnswerError {
    /// Not within the limit.
    Late,
    /// It ended; how, in words.
    Ended(String),
    /// A line longer than [`crate::process::LONGEST_LINE`], and how it begins.
    TooLong(String),
    /// It wrote this before it was asked.
    Unasked(String),
}

/// A bot's program while it runs. Dropped, it is ended with all it has started.
pub trait BotConnection: Debug + Send {
    /// The number of its process.
    fn id(&self) -> u32;

    /// Whether turns in a game's own short form are understood.
    fn reads_packed(&self) -> bool {
        false
    }

    /// Whether [`Self::wait`] tells by itself what was written before the question, so that nobody needs to look first.
    fn tells_strays(&self) -> bool {
        false
    }

    /// What it has written without being asked.
    fn unsolicited_output(&mut self) -> Option<String>;

    /// Sends text and expects so many lines. The clock starts; nothing blocks.
    fn ask(&mut self, text: &[u8], lines: usize, limit: Duration);

    /// The next question begins a game.
    fn mark_game_start(&mut self) {}

    /// Waits for the expected lines, no longer than the limit (without the time it waited for a processor). Returns what
    /// they took; the lines are fetched with [`Self::line`].
    fn wait(&mut self) -> (AnswerTimes, Result<(), AnswerError>);

    /// The next line of those that have arrived. Without one, the program has ended.
    fn line(&mut self) -> Result<Vec<u8>, AnswerError>;

    /// The end of what it printed.
    fn log(&mut self) -> String;

    /// What it printed since this was last asked.
    fn printed(&mut self) -> String;

    /// Sends a last text and lets it end by itself for so long. Then it is killed.
    fn shut_down(self: Box<Self>, text: &[u8], time: Duration);

    /// A report of a fault, with the end of the log.
    fn report(&mut self, fault: Fault, says: &str) -> FaultReport {
        FaultReport { fault, message: says.to_owned(), stderr: self.log() }
    }
}
