//! What the engine sees of a bot: something that is asked and answers, in time or not.

use std::time::Duration;

use crate::fault::{Fault, FaultReport};
use crate::game::Game;

/// One seat's answer to one request, as the rules take it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reply<A> {
    /// An answer; [`Game::apply`] treats one that is not legal as [`Fault::Illegal`].
    Answer(A),
    /// No usable answer.
    Fault(Fault),
}

impl<A: Copy> Reply<A> {
    /// The answer, if there is one.
    #[inline]
    pub const fn answer(self) -> Option<A> {
        match self {
            Self::Answer(answer) => Some(answer),
            Self::Fault(_) => None,
        }
    }
}

/// What an answer cost in time, measured from outside the bot.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Times {
    /// From the request to the answer.
    pub wall: Duration,
    /// On a processor.
    pub cpu: Duration,
    /// Ready, but waiting for a processor: not the bot's fault.
    pub wait: Duration,
}

impl Times {
    /// The same, with so much charged at least.
    #[must_use]
    pub fn at_least(self, charged: Duration) -> Self {
        Self { wall: self.wall + charged.saturating_sub(self.charged()), ..self }
    }

    /// What the clock charges: wall time without the time spent waiting for a processor.
    #[inline]
    pub const fn charged(self) -> Duration {
        self.wall.saturating_sub(self.wait)
    }
}

/// What came back from a bot.
#[derive(Clone, Debug)]
pub struct Response<A> {
    /// An answer, or why there is none.
    pub reply: Result<A, Box<FaultReport>>,
    /// What it took.
    pub times: Times,
}

/// A bot at a seat, whatever it runs in. The engine first asks all seats of a turn, then collects,
/// so that players in processes of their own think at the same time.
pub trait Player<G: Game>: Send {
    /// A game begins. `seed` is the bot's own.
    fn begin(&mut self, seed: u64) {
        let _ = seed;
    }

    /// Hands over what the seat sees, and how long the answer may take.
    fn ask(&mut self, seen: &G::Observation<'_>, limit: Duration);

    /// Waits for the answer to the last [`Player::ask`].
    fn answer(&mut self) -> Response<G::Answer>;

    /// Waits until the bot can be asked, so that what it prints while it starts can be told from what it prints in its
    /// first turn. Never needed before [`Player::ask`].
    fn ready(&mut self) {}

    /// What the bot has printed since this was last asked, safe to show; bounded, so that a flood is cut.
    fn printed(&mut self) -> String {
        String::new()
    }

    /// The game is over.
    fn game_over(&mut self) {}

    /// The match is over.
    fn match_over(&mut self) {}
}
