//! Where the matches of a stage are played: on this machine ([`crate::LocalExecutor`]), or on many.

use std::sync::mpsc::Receiver;

use agon_league::MatchKey;
use agon_store::FinishedMatch;

use crate::RunError;
use crate::match_runner::PhaseContext;
use crate::local::ActiveMatches;
use crate::queue::Queue;

/// Plays the matches that a queue holds.
pub trait Executor {
    /// Plays all of them. `take` is called once, on this thread, and gets what was played, in whatever order it comes, until everything was
    /// played, the queue was stopped or `take` itself ends.
    fn play(
        &self,
        hall: &PhaseContext<'_>,
        stage: u32,
        queue: &Queue<'_>,
        boards: &ActiveMatches,
        take: &mut dyn FnMut(Receiver<ExecutorEvent>) -> Result<(), RunError>,
    ) -> Result<(), RunError>;

    /// Whether it plays with the bots' folders of this machine: then bots that read logs have those of their own games when these are over.
    fn is_local(&self) -> bool;

    /// Whether something of this stage that is in the ledger is still to be looked at: it is not over before that, however much of it was played.
    fn has_pending_checks(&self, _phase: u32, _stage: u32) -> bool {
        false
    }
}

/// What an executor hands in.
pub enum ExecutorEvent {
    /// Matches that were played. No match is handed in twice.
    Played {
        /// In any order.
        matches: Vec<FinishedMatch>,
        /// To be called when all of them are in the ledger.
        kept: Option<OnStored>,
    },
    /// A worker is not believed any more: whatever it has played of this phase does not count and is played again.
    Barred {
        /// Its name.
        worker: String,
        /// What it did, in words.
        why: String,
        /// To be called when it is done.
        then: Option<OnStored>,
    },
    /// A match that came to something else with others: it does not count and is played again, if it is still what this worker handed in.
    Outvoted {
        /// Which.
        key: MatchKey,
        /// Whose it is.
        worker: String,
        /// What the others say, in words.
        why: String,
        /// To be called when it is done.
        then: Option<OnStored>,
    },
    /// A match that came to different ends, and nothing tells which is right: it stays as it is.
    Disputed {
        /// Which.
        key: MatchKey,
        /// Who played it; what the first of them handed in counts.
        workers: Vec<String>,
    },
    /// Whoever plays it wants to look at the records of a match that was handed in before.
    RecordsRequested {
        /// Which.
        key: MatchKey,
        /// Gets the records of its games.
        reply: Box<dyn FnOnce(Vec<Vec<u8>>) + Send>,
    },
    /// It cannot go on.
    Failed(RunError),
}

/// What is done when the ledger has it.
pub type OnStored = Box<dyn FnOnce() + Send>;

impl std::fmt::Debug for ExecutorEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Played { matches, .. } => write!(f, "Played({})", matches.len()),
            Self::Barred { worker, why, .. } => write!(f, "Barred({worker}: {why})"),
            Self::Outvoted { key, worker, why, .. } => write!(f, "Outvoted({worker}, match {key}: {why})"),
            Self::Disputed { key, workers } => write!(f, "Disputed({key}: {})", workers.join(", ")),
            Self::RecordsRequested { key, .. } => write!(f, "Wanted({key})"),
            Self::Failed(error) => write!(f, "Failed({error})"),
        }
    }
}
