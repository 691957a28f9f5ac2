//! A bot's program that runs, started in whichever way is best for it.

use std::io;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use crate::connection::BotConnection;
use crate::process::LineProcess;
use crate::program::Program;
use crate::zygote::{ForkedBot, bot_pool};

/// A program while it runs.
#[derive(Debug)]
pub enum RunningBot {
    /// Started, and asked by lines.
    Started(Box<LineProcess>),
    /// A fork of the warm parent, asked by packets; and which others could sit in its place.
    Forked(String, Box<ForkedBot>),
}

impl RunningBot {
    /// Starts a program, or takes one that waits for a game. `role` is what it was loaded for, if that matters.
    pub fn start(
        program: &Program,
        environment: &[(&str, String)],
        hold: bool,
        role: &str,
    ) -> io::Result<Self> {
        let Some(warm) = program.warm.as_ref().filter(|_| program.guarded) else {
            return Ok(Self::Started(Box::new(LineProcess::start(program, environment, hold)?)));
        };
        let kind = kind(program, role);
        let link = if let Some(waiting) = bot_pool::take(&kind) {
            waiting
        } else {
            let forked = Box::new(ForkedBot::start(program, warm, environment)?);
            tracing::debug!(folder = %program.folder.display(), pid = forked.id(), "bot process forked");
            forked
        };
        Ok(Self::Forked(kind, link))
    }

    /// Nobody needs it for now, and it has answered everything: it waits for another game, if it can. Otherwise it is
    /// sent away, or just ended.
    pub fn release(self, bye: Option<(&[u8], Duration)>) {
        match (self, bye) {
            (Self::Forked(kind, link), _) => bot_pool::put(kind, link),
            (Self::Started(process), Some((bye, time))) => process.shut_down(bye, time),
            (Self::Started(process), None) => drop(process),
        }
    }

    /// It is sent away.
    pub fn part(self, bye: &[u8], time: Duration) {
        match self {
            Self::Started(process) => process.shut_down(bye, time),
            Self::Forked(_, link) => link.shut_down(bye, time),
        }
    }
}

/// Programs of one kind can sit in each other's place.
pub fn kind(program: &Program, role: &str) -> String {
    format!("{role} {program:?}")
}

impl Deref for RunningBot {
    type Target = dyn BotConnection;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Started(process) => process.as_ref(),
            Self::Forked(_, link) => link.as_ref(),
        }
    }
}

impl DerefMut for RunningBot {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::Started(process) => process.as_mut(),
            Self::Forked(_, link) => link.as_mut(),
        }
    }
}
