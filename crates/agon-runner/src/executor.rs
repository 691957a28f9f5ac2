//! Where the matches of a stage are played: on this machine ([`crate::Local`]), or on many.

use std::sync::mpsc::Receiver;

use agon_store::FinishedMatch;

use crate::RunError;
use crate::hall::Hall;
use crate::local::Boards;
use crate::queue::Queue;

/// Plays the matches that a queue holds.
pub trait Executor {
    /// Plays all of them. `take` is called once, on this thread, and gets what was played, in whatever order it comes, until everything was
    /// played, the queue was stopped or `take` itself ends.
    fn play(
        &self,
        hall: &Hall<'_>,
        stage: u32,
        queue: &Queue<'_>,
        boards: &Boards,
        take: &mut dyn FnMut(Receiver<Lot>) -> Result<(), RunError>,
    ) -> Result<(), RunError>;

    /// Whether it plays with the bots' folders of this machine: then bots that read logs have those of their own games when these are over.
    fn is_here(&self) -> bool;

    /// Whether something of this stage that is in the ledger is still to be looked at: it is not over before that, however much of it was played.
    fn owes(&self, _phase: u32, _stage: u32) -> bool {
        false
    }
}

/// What an executor hands in.
pub enum Lot {
    /// Matches that were played. No match is handed in twice.
    Played {
        /// In any order.
        matches: Vec<FinishedMatch>,
        /// To be called when all of them are in the ledger.
        kept: Option<Kept>,
    },
    /// A worker is not believed any more: whatever it has played of this phase does not count and is played again.
    Barred {
        /// Its name.
        worker: String,
        /// What it did, in words.
        why: String,
    },
    /// It cannot go on.
    Failed(RunError),
}

/// What is done when matches are in the ledger.
pub type Kept = Box<dyn FnOnce() + Send>;

impl std::fmt::Debug for Lot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Played { matches, .. } => write!(f, "Played({})", matches.len()),
            Self::Barred { worker, why } => write!(f, "Barred({worker}: {why})"),
            Self::Failed(error) => write!(f, "Failed({error})"),
        }
    }
}
