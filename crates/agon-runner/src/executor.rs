//! The interface between a run and the place where its matches are played: this machine ([`crate::LocalExecutor`]) or many workers.

use std::sync::mpsc::Receiver;

use agon_league::MatchKey;
use agon_store::FinishedMatch;

use crate::RunError;
use crate::local::ActiveMatches;
use crate::phase_context::PhaseContext;
use crate::queue::MatchQueue;

/// Plays the matches of a queue.
pub trait Executor {
    /// Plays all matches of the queue. Calls `consume` once, on this thread. `consume` receives the events in any order. It returns when
    /// all matches were played, the queue was stopped, or an error occurred.
    fn play(
        &self,
        context: &PhaseContext<'_>,
        stage: u32,
        queue: &MatchQueue<'_>,
        active_matches: &ActiveMatches,
        consume: &mut dyn FnMut(Receiver<ExecutorEvent>) -> Result<(), RunError>,
    ) -> Result<(), RunError>;

    /// Whether matches use the bots' folders on this machine. Then a match has already written the logs of its own games when it ends.
    fn is_local(&self) -> bool;

    /// Whether stored matches of this stage still wait for a cross-check. The stage is not finished before all checks are.
    fn has_pending_checks(&self, _phase: u32, _stage: u32) -> bool {
        false
    }
}

/// An event that an executor reports to the run.
pub enum ExecutorEvent {
    /// Matches that were played. Each match is reported once.
    Played {
        /// The matches, in any order.
        matches: Vec<FinishedMatch>,
        /// Called when all matches are in the ledger.
        on_stored: Option<OnStored>,
    },
    /// A worker is banned. All its matches of this phase are revoked and played again.
    Banned {
        /// Name of the worker.
        worker: String,
        /// Reason for the ban.
        reason: String,
        /// Called when the ledger is updated.
        on_stored: Option<OnStored>,
    },
    /// Other workers agree on a different result of a match. The match is revoked and played again if the stored result is still this
    /// worker's.
    Outvoted {
        /// The match.
        key: MatchKey,
        /// Worker whose result was outvoted.
        worker: String,
        /// Result of the other workers, as text.
        reason: String,
        /// Called when the ledger is updated.
        on_stored: Option<OnStored>,
    },
    /// Workers disagree about a match and there is no majority. The stored result stays.
    Disputed {
        /// The match.
        key: MatchKey,
        /// Workers that played it. The result of the first one counts.
        workers: Vec<String>,
    },
    /// The executor needs the records of a stored match.
    RecordsRequested {
        /// The match.
        key: MatchKey,
        /// Receives the records of the match's games.
        reply: Box<dyn FnOnce(Vec<Vec<u8>>) + Send>,
    },
    /// The executor cannot continue.
    Failed(RunError),
}

/// Callback for the time when the ledger has stored a change.
pub type OnStored = Box<dyn FnOnce() + Send>;

impl std::fmt::Debug for ExecutorEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Played { matches, .. } => write!(f, "Played({})", matches.len()),
            Self::Banned { worker, reason, .. } => write!(f, "Banned({worker}: {reason})"),
            Self::Outvoted { key, worker, reason, .. } => {
                write!(f, "Outvoted({worker}, match {key}: {reason})")
            }
            Self::Disputed { key, workers } => write!(f, "Disputed({key}: {})", workers.join(", ")),
            Self::RecordsRequested { key, .. } => write!(f, "RecordsRequested({key})"),
            Self::Failed(error) => write!(f, "Failed({error})"),
        }
    }
}
