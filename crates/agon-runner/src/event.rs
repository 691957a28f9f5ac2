//! Progress events of a run, for progress bars, logs and web pages.

use agon_league::config::CompetitionConfig;
use agon_league::format::BalanceReport;
use agon_league::tally::Tally;
use agon_league::{Entrant, MatchKey, MatchResult};
use agon_store::MatchFault;

use crate::local::ActiveMatch;

/// Log target of warnings that a command also shows as messages. Such a command does not log them by default.
pub const NOTICE_TARGET: &str = "agon::notice";

/// A progress event of a run.
#[derive(Debug)]
pub enum RunEvent<'e> {
    /// The run starts or resumes.
    RunStarted {
        /// The competition.
        competition: &'e CompetitionConfig,
        /// SHA-256 of the secret seed.
        commitment: String,
        /// Whether the competition was started before.
        resumed: bool,
    },
    /// A phase starts or resumes.
    PhaseStarted {
        /// Phase number, from 0.
        phase: u32,
        /// Name of the phase.
        name: &'e str,
        /// Minimum and maximum number of matches.
        expected: (u64, u64),
        /// Number of matches played before.
        done: u64,
    },
    /// Balance of a phase's schedule. Sent before the phase if the schedule is known by then, otherwise after it.
    Balance {
        /// Phase number, from 0.
        phase: u32,
        /// The report.
        report: &'e BalanceReport,
    },
    /// A stage starts or resumes.
    StageStarted {
        /// Phase number, from 0.
        phase: u32,
        /// Stage number, from 0.
        stage: u32,
        /// Name of the stage: `round 3`, `quarter-finals`.
        name: String,
        /// Number of matches of the stage.
        matches: u64,
        /// Number of matches played before.
        done: u64,
    },
    /// Sent about twice a second, for displays that show elapsed time.
    Tick {
        /// Matches being played.
        playing: &'e [ActiveMatch],
        /// Results of the phase so far.
        tally: &'e Tally,
    },
    /// A match was played and stored.
    MatchStored {
        /// The result.
        result: &'e MatchResult,
        /// Faults of the match.
        faults: &'e [MatchFault],
    },
    /// A worker was banned.
    Banned {
        /// Name of the worker.
        worker: &'e str,
        /// Reason for the ban.
        reason: &'e str,
        /// Number of matches that are played again.
        revoked: u64,
    },
    /// Two other workers agree on a different result of a match. Their result counts.
    Outvoted {
        /// The match.
        key: MatchKey,
        /// Worker whose result was outvoted.
        worker: &'e str,
        /// Number of matches that are played again.
        revoked: u64,
    },
    /// Workers disagree about a match and there is no majority. The stored result stays.
    Disputed {
        /// The match.
        key: MatchKey,
        /// Workers that played it. The result of the first one counts.
        workers: &'e [String],
    },
    /// A phase is finished and its table is published.
    Published {
        /// Phase number, from 0.
        phase: u32,
        /// Name of the phase.
        name: &'e str,
        /// Number of matches played.
        matches: u64,
    },
    /// The next phase waits for new submissions.
    Waiting {
        /// Phase number, from 0.
        phase: u32,
        /// Name of the phase.
        name: &'e str,
    },
    /// All phases are finished. The seed is no longer secret.
    Finished {
        /// The secret seed.
        seed: String,
    },
}

/// Receives the events of a run.
pub trait RunListener {
    /// Handles an event.
    fn event(&mut self, event: &RunEvent<'_>);
}

/// Ignores all events.
impl RunListener for () {
    fn event(&mut self, _: &RunEvent<'_>) {}
}

/// Key of a match, and the points of each entrant in it. Used for log lines.
pub fn match_points(result: &MatchResult) -> (MatchKey, Vec<(Entrant, f64)>) {
    let points = result.table_points();
    let points = points.iter().map(|points| points.to_f64());
    (result.key, result.entrants().into_iter().zip(points).collect())
}
