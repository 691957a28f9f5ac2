//! What happens while a competition runs. Progress bars, logs and pages only read it.

use agon_league::config::CompetitionConfig;
use agon_league::format::BalanceReport;
use agon_league::tally::Tally;
use agon_league::{Entrant, MatchKey, MatchResult};
use agon_store::MatchFault;

use crate::local::ActiveMatch;

/// Something happened.
#[derive(Debug)]
pub enum Event<'e> {
    /// The run begins, or goes on.
    Opened {
        /// What is run.
        competition: &'e CompetitionConfig,
        /// SHA-256 of the secret seed.
        commitment: String,
        /// Whether something was played before.
        resumed: bool,
    },
    /// A phase begins, or goes on.
    Phase {
        /// From 0.
        phase: u32,
        /// Its name.
        name: &'e str,
        /// How many matches it has, at least and at most.
        expected: (u64, u64),
        /// How many of them were played before.
        done: u64,
    },
    /// How evenly a phase's schedule is spread: before it where it is known by then, else after it.
    Balance {
        /// From 0.
        phase: u32,
        /// The report.
        report: &'e BalanceReport,
    },
    /// A stage begins, or goes on.
    Stage {
        /// From 0.
        phase: u32,
        /// From 0.
        stage: u32,
        /// `round 3`, `quarter-finals`.
        name: String,
        /// How many matches it has.
        matches: u64,
        /// How many of them were played before.
        done: u64,
    },
    /// Time passes, some twice a second: for views that move.
    Tick {
        /// What is being played.
        playing: &'e [ActiveMatch],
        /// What the phase has come to.
        tally: &'e Tally,
    },
    /// A match was played and is kept.
    Match {
        /// What came of it.
        result: &'e MatchResult,
        /// What went wrong in it.
        faults: &'e [MatchFault],
    },
    /// A worker is not believed any more.
    Barred {
        /// Its name.
        worker: &'e str,
        /// What it did, in words.
        why: &'e str,
        /// So many matches are played again.
        again: u64,
    },
    /// A match of a worker came to something else with two others: theirs counts.
    Outvoted {
        /// Which.
        key: MatchKey,
        /// Whose it was.
        worker: &'e str,
        /// So many matches are played again.
        again: u64,
    },
    /// A match came to different ends, and nothing tells which is right: it stays as it is.
    Disputed {
        /// Which.
        key: MatchKey,
        /// Who played it; what the first of them handed in counts.
        workers: &'e [String],
    },
    /// A phase is over and its table published.
    Published {
        /// From 0.
        phase: u32,
        /// Its name.
        name: &'e str,
        /// Matches played.
        matches: u64,
    },
    /// The next phase waits for bots to be handed in anew.
    Waiting {
        /// From 0.
        phase: u32,
        /// Its name.
        name: &'e str,
    },
    /// All was played: the seed is no secret any more.
    Over {
        /// The secret seed.
        seed: String,
    },
}

/// Who reads it.
pub trait Listener {
    /// Takes note.
    fn event(&mut self, event: &Event<'_>);
}

/// Nobody.
impl Listener for () {
    fn event(&mut self, _: &Event<'_>) {}
}

/// For a line of a log: who played and what came of it.
pub fn summary(result: &MatchResult) -> (MatchKey, Vec<(Entrant, f64)>) {
    let points = result.table_points();
    let points = points.iter().map(|points| points.real());
    (result.key, result.entrants().into_iter().zip(points).collect())
}
