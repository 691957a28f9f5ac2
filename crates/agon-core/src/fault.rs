//! The four faults, their penalties, and reasons for rejecting an answer.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Kind of a bad or missing answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fault {
    /// No answer within the time limit.
    Timeout,
    /// The bot exited or raised an exception instead of answering.
    Crash,
    /// Well-formed, but not allowed.
    Illegal,
    /// Not a well-formed answer.
    Garbled,
}

impl Fault {
    /// All four, in the order of tables.
    pub const ALL: [Self; 4] = [Self::Timeout, Self::Crash, Self::Illegal, Self::Garbled];

    /// Name in records, JSON and messages: `timeout`, `crash`, `illegal`, `garbled`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Crash => "crash",
            Self::Illegal => "illegal",
            Self::Garbled => "garbled",
        }
    }

    /// A number of these faults, for people: `1 crash`, `9 crashes`, `3 illegal`.
    pub fn count_text(self, count: u64) -> String {
        let word = match self {
            Self::Timeout if count != 1 => "timeouts",
            Self::Crash if count != 1 => "crashes",
            other => other.name(),
        };
        format!("{count} {word}")
    }

    /// The index of this fault in [`Fault::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Penalty for a fault in a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultPenalty {
    /// The bot makes no move this turn and scores nothing.
    ForfeitMove,
    /// The bot stays where it is.
    Stay,
    /// The bot loses the game.
    LoseGame,
    /// The bot loses the whole match.
    LoseMatch,
}

impl FaultPenalty {
    /// Text for help pages.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::ForfeitMove => "forfeits the move",
            Self::Stay => "stays where it is",
            Self::LoseGame => "loses the game",
            Self::LoseMatch => "loses the match",
        }
    }
}

/// A fault with its details, as stored in the record.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FaultReport {
    /// Kind of the fault.
    pub fault: Fault,
    /// Exception text, invalid line, or reasons why the answer is illegal.
    #[serde(rename = "says")]
    pub message: String,
    /// Last part of the bot's stderr (at most 8 KiB).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}

impl FaultReport {
    /// A report without stderr.
    pub fn new(fault: Fault, message: impl Into<String>) -> Self {
        Self { fault, message: message.into(), stderr: String::new() }
    }
}

/// All reasons why an answer is not allowed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IllegalAnswer {
    /// At least one reason.
    pub reasons: Vec<String>,
}

impl IllegalAnswer {
    /// An error with one reason.
    pub fn because(reason: impl Into<String>) -> Self {
        Self { reasons: vec![reason.into()] }
    }

    /// `Ok` without reasons, else an error with them.
    pub fn unless_empty(reasons: Vec<String>) -> Result<(), Self> {
        if reasons.is_empty() { Ok(()) } else { Err(Self { reasons }) }
    }
}

impl fmt::Display for IllegalAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reasons.join("; "))
    }
}

impl std::error::Error for IllegalAnswer {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn count_text_uses_the_plural_for_every_number_but_one() {
        let texts = |count: u64| Fault::ALL.map(|fault| fault.count_text(count));
        assert_eq!(texts(1), ["1 timeout", "1 crash", "1 illegal", "1 garbled"]);
        assert_eq!(texts(9), ["9 timeouts", "9 crashes", "9 illegal", "9 garbled"]);
        assert_eq!(Fault::Crash.count_text(0), "0 crashes");
    }
}
