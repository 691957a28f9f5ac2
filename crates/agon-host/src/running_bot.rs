//! A running bot, started in the fastest way that its program allows.

use std::io;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use crate::connection::{BotConnection, LastWords};
use crate::process::LineProcess;
use crate::program::Program;
use crate::zygote::{BotPoolKey, ForkedBot, bot_pool};

/// A running bot.
#[derive(Debug)]
pub enum RunningBot {
    /// A started process that speaks lines.
    Started(Box<LineProcess>),
    /// A fork of a zygote that speaks packets, with its pool key.
    Forked(BotPoolKey, Box<ForkedBot>),
}

impl RunningBot {
    /// Starts a program, or takes an idle bot from the pool. `role` is the role it was loaded for, if that matters.
    pub fn start(
        program: &Program,
        environment: &[(&str, String)],
        hold: bool,
        role: &str,
    ) -> io::Result<Self> {
        let Some(zygote) = program.zygote.as_ref().filter(|_| program.sandboxed) else {
            return Ok(Self::Started(Box::new(LineProcess::start(program, environment, hold)?)));
        };
        let key = BotPoolKey::new(program, role);
        let bot = if let Some(waiting) = bot_pool::take(key).and_then(ForkedBot::ready_again) {
            waiting
        } else {
            let forked = Box::new(ForkedBot::start(program, zygote, environment)?);
            tracing::debug!(folder = %program.folder.display(), pid = forked.id(), "bot process forked");
            forked
        };
        Ok(Self::Forked(key, bot))
    }

    /// Returns a bot that has answered everything to the pool. If it cannot play again, it is sent `bye` or ended.
    pub fn release(self, bye: Option<(&[u8], Duration)>) {
        match (self, bye) {
            (Self::Forked(key, bot), _) if bot.can_play_again() => bot_pool::put(key, bot),
            (Self::Forked(_, bot), _) => drop(bot),
            (Self::Started(process), Some((bye, time))) => drop(process.shut_down(bye, time)),
            (Self::Started(process), None) => drop(process),
        }
    }

    /// Sends `bye` and ends the bot. Returns what it still had to say.
    pub fn say_bye(self, bye: &[u8], time: Duration) -> LastWords {
        match self {
            Self::Started(process) => process.shut_down(bye, time),
            Self::Forked(key, bot) => {
                let (words, loaded) = bot.end_match(bye, time);
                if let Some(bot) = loaded {
                    bot_pool::put(key, bot);
                }
                words
            }
        }
    }
}

impl Deref for RunningBot {
    type Target = dyn BotConnection;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Started(process) => process.as_ref(),
            Self::Forked(_, bot) => bot.as_ref(),
        }
    }
}

impl DerefMut for RunningBot {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::Started(process) => process.as_mut(),
            Self::Forked(_, bot) => bot.as_mut(),
        }
    }
}
