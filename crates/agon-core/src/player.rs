//! The engine's interface to a bot: requests, answers and their times.

use std::time::Duration;

use crate::fault::{Fault, FaultReport};
use crate::game::Game;
use crate::meter::MeterKind;

/// One seat's reply to one request, as input for the rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reply<A> {
    /// An answer. [`Game::apply`] treats an illegal one as [`Fault::Illegal`].
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

/// Times of an answer, measured outside the bot.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct AnswerTimes {
    /// Wall time from the request to the answer.
    pub wall: Duration,
    /// CPU time.
    pub cpu: Duration,
    /// Time in which the bot was runnable but had no CPU. It is not charged.
    pub wait: Duration,
}

impl AnswerTimes {
    /// The same times with wall time increased so that at least `charged` is charged.
    #[must_use]
    pub fn charged_at_least(self, charged: Duration) -> Self {
        Self { wall: self.wall + charged.saturating_sub(self.charged()), ..self }
    }

    /// Time charged by the clock: wall time minus the wait for a CPU.
    #[inline]
    pub const fn charged(self) -> Duration {
        self.wall.saturating_sub(self.wait)
    }
}

/// Response of a bot to a request.
#[derive(Clone, Debug)]
pub struct Response<A> {
    /// The answer, or the fault.
    pub reply: Result<A, Box<FaultReport>>,
    /// Times of the answer.
    pub times: AnswerTimes,
}

/// A bot at a seat, in any kind of process. The engine first asks all seats of a turn and then collects the answers, so
/// that bots in separate processes think at the same time.
pub trait Player<G: Game>: Send {
    /// Starts a game with the bot's seed.
    fn begin(&mut self, seed: u64) {
        let _ = seed;
    }

    /// Sends the observation and the time limit of the answer.
    fn ask(&mut self, observation: &G::Observation<'_>, limit: Duration);

    /// Waits for the answer to the last [`Player::ask`].
    fn answer(&mut self) -> Response<G::Answer>;

    /// Waits until the bot can be asked. This separates output during start-up from output in the first turn. Not required
    /// before [`Player::ask`].
    fn wait_until_ready(&mut self) {}

    /// Returns the bot's output since the last call, sanitised for display and limited in length.
    fn take_output(&mut self) -> String {
        String::new()
    }

    /// How the bot's CPU time is measured, for the record. `None` for a bot that is not a process.
    fn meter(&self) -> Option<MeterKind> {
        None
    }

    /// Called when the game is over. Returns the fault of a bot that fails in what it does after a game (Connect Five's
    /// `adjust`).
    fn game_over(&mut self) -> Option<Box<FaultReport>> {
        None
    }

    /// Called when the match is over. Returns the fault of a bot that fails in what it does after a match (Connect Five's
    /// `train`). It costs nothing.
    fn match_over(&mut self) -> Option<Box<FaultReport>> {
        None
    }
}
