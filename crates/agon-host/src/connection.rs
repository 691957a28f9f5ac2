//! The request/answer interface of a running bot, independent of how it was started and how it is reached.

use std::fmt::Debug;
use std::time::Duration;

use agon_core::{AnswerTimes, Fault, FaultReport, MeterKind};

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AnswerError {
    /// No answer within the limit.
    Late,
    /// The bot ended. The text says how.
    Ended(String),
    /// A line longer than [`crate::process::MAX_LINE_BYTES`]. The text is its beginning.
    TooLong(String),
    /// The bot wrote this text before it was asked.
    Unsolicited(String),
}

/// What a bot said after the last message to it.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct LastWords {
    /// Its last line. Only a bot host says something then: a fault of its bot.
    pub line: Option<Vec<u8>>,
    /// Its stderr since it was last read, sanitised.
    pub printed: String,
}

/// A running bot. Dropping it ends the bot and everything the bot has started.
pub trait BotConnection: Debug + Send {
    /// The process id.
    fn id(&self) -> u32;

    /// Whether the bot understands turns in a game's packed form.
    fn reads_packed(&self) -> bool {
        false
    }

    /// Whether [`Self::wait`] reports output from before the request, so that the caller need not check first.
    fn wait_reports_unsolicited(&self) -> bool {
        false
    }

    /// Output that the bot wrote without being asked.
    fn unsolicited_output(&mut self) -> Option<String>;

    /// How its CPU time is measured.
    fn meter(&self) -> MeterKind;

    /// A process or thread that must not run, because it could carry something from one game to the next: one that the bot has started
    /// while it was loaded.
    fn leftover(&self) -> Option<&'static str> {
        None
    }

    /// Sends text, expects this number of lines and starts the clock. Does not block.
    fn ask(&mut self, text: &[u8], lines: usize, limit: Duration);

    /// Marks the next request as the start of a game.
    fn mark_game_start(&mut self) {}

    /// Waits for the expected lines until the limit. Time spent waiting for a processor does not count. Returns the times;
    /// [`Self::line`] returns the lines.
    fn wait(&mut self) -> (AnswerTimes, Result<(), AnswerError>);

    /// The next line that has arrived. If there is none, the bot has ended.
    fn line(&mut self) -> Result<Vec<u8>, AnswerError>;

    /// The end of the bot's stderr.
    fn log(&mut self) -> String;

    /// The bot's stderr since the last call.
    fn printed(&mut self) -> String;

    /// Sends a last text, gives the bot this time to end by itself, then kills it. Returns what it still had to say.
    fn shut_down(self: Box<Self>, text: &[u8], time: Duration) -> LastWords;

    /// A fault report with the end of the bot's stderr.
    fn report(&mut self, fault: Fault, says: &str) -> FaultReport {
        FaultReport { fault, message: says.to_owned(), stderr: self.log() }
    }
}
