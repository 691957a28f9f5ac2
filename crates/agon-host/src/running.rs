//! A bot's program that runs, started in whichever way is best for it.

use std::io;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use crate::process::Process;
use crate::program::Program;
use crate::talk::Talk;
use crate::warm::{Link, stable};

/// A program while it runs.
#[derive(Debug)]
pub enum Running {
    /// Started, and asked by lines.
    Started(Box<Process>),
    /// A fork of the warm parent, asked by packets; and which others could sit in its place.
    Forked(String, Box<Link>),
}

impl Running {
    /// Starts a program, or takes one that waits for a game. `role` is what it was loaded for, if that matters.
    pub fn start(
        program: &Program,
        environment: &[(&str, String)],
        hold: bool,
        role: &str,
    ) -> io::Result<Self> {
        let Some(warm) = program.warm.as_ref().filter(|_| program.guarded) else {
            return Ok(Self::Started(Box::new(Process::start(program, environment, hold)?)));
        };
        let kind = kind(program, role);
        let link = match stable::take(&kind) {
            Some(waiting) => waiting,
            None => Box::new(Link::start(program, warm, environment)?),
        };
        Ok(Self::Forked(kind, link))
    }

    /// Nobody needs it for now, and it has answered everything: it waits for another game, if it can. Otherwise it is
    /// sent away, or just ended.
    pub fn rest(self, bye: Option<(&[u8], Duration)>) {
        match (self, bye) {
            (Self::Forked(kind, link), _) => stable::put(kind, link),
            (Self::Started(process), Some((bye, time))) => process.part(bye, time),
            (Self::Started(process), None) => drop(process),
        }
    }

    /// It is sent away.
    pub fn part(self, bye: &[u8], time: Duration) {
        match self {
            Self::Started(process) => process.part(bye, time),
            Self::Forked(_, link) => link.part(bye, time),
        }
    }
}

/// Programs of one kind can sit in each other's place.
pub fn kind(program: &Program, role: &str) -> String {
    format!("{role} {program:?}")
}

impl Deref for Running {
    type Target = dyn Talk;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Started(process) => process.as_ref(),
            Self::Forked(_, link) => link.as_ref(),
        }
    }
}

impl DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::Started(process) => process.as_mut(),
            Self::Forked(_, link) => link.as_mut(),
        }
    }
}
