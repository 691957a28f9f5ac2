//! The four named faults, what they cost, and why an answer was refused.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Every bad answer ends in one of these.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fault {
    /// No answer within the clock.
    Timeout,
    /// The bot ended or raised instead of answering.
    Crash,
    /// Well-formed, not allowed.
    Illegal,
    /// Not an answer at all.
    Garbled,
}

impl Fault {
    /// All four, in the order tables show them.
    pub const ALL: [Self; 4] = [Self::Timeout, Self::Crash, Self::Illegal, Self::Garbled];

    /// The name used everywhere: `timeout`, `crash`, `illegal`, `garbled`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Crash => "crash",
            Self::Illegal => "illegal",
            Self::Garbled => "garbled",
        }
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

/// What a fault costs in a game, as data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cost {
    /// The bot makes no move this turn and scores nothing.
    ForfeitMove,
    /// The bot stays where it is.
    Stay,
    /// The game is lost.
    LoseGame,
    /// The whole match is lost.
    LoseMatch,
}

impl Cost {
    /// In words, for help texts.
    pub const fn words(self) -> &'static str {
        match self {
            Self::ForfeitMove => "forfeits the move",
            Self::Stay => "stays where it is",
            Self::LoseGame => "loses the game",
            Self::LoseMatch => "loses the match",
        }
    }
}

/// A fault with the bot's own words, as it goes into the record.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FaultReport {
    /// Which of the four.
    pub fault: Fault,
    /// Exception text, offending line, or the reasons why an answer was refused.
    pub says: String,
    /// The end of what the bot wrote to stderr (at most 8 KiB).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}

impl FaultReport {
    /// A report without stderr.
    pub fn new(fault: Fault, says: impl Into<String>) -> Self {
        Self { fault, says: says.into(), stderr: String::new() }
    }
}

/// Why an answer is not allowed: every reason, not just the first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// At least one.
    pub reasons: Vec<String>,
}

impl Refusal {
    /// A refusal for one reason.
    pub fn because(reason: impl Into<String>) -> Self {
        Self { reasons: vec![reason.into()] }
    }

    /// `Ok` without reasons, a refusal with them.
    pub fn unless_empty(reasons: Vec<String>) -> Result<(), Self> {
        if reasons.is_empty() { Ok(()) } else { Err(Self { reasons }) }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reasons.join("; "))
    }
}

impl std::error::Error for Refusal {}
