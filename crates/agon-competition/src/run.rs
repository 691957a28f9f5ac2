//! Runs a competition: loads the bots for each phase, with the published history of the earlier phases.

use agon_bots::{Diagnostic, MessageSink};
use agon_core::PUBLISHED_HISTORY;
use agon_host::ScratchDir;
use agon_runner::{ActiveMatches, CompetitionRun, Executor, RunListener, RunOutcome, StopFlag};
use agon_store::Ledger;
use tokio::runtime::Runtime;

use crate::history::write_history;
use crate::{LoadedCompetition, load_bots};

/// Environment of a run.
pub struct RunContext<'m> {
    /// Runtime for the ledger. The run blocks on it, so do not call it from inside a runtime.
    pub runtime: &'m Runtime,
    /// Executor that plays the matches.
    pub executor: &'m dyn Executor,
    /// Flag that stops the run.
    pub stop: &'m StopFlag,
    /// Current matches, for watching.
    pub boards: ActiveMatches,
    /// Whether to play all phases without a break, also those before which bots can be resubmitted.
    pub run_through: bool,
}

/// Plays until the competition is finished, waits for new versions, or is stopped.
pub fn run_competition(
    loaded: &LoadedCompetition,
    ledger: &dyn Ledger,
    context: RunContext<'_>,
    listener: &mut dyn RunListener,
    notify: MessageSink<'_>,
) -> Result<RunOutcome, Diagnostic> {
    let RunContext { runtime, executor, stop, boards, run_through } = context;
    let run = CompetitionRun {
        competition: &loaded.competition,
        game: loaded.table.as_ref(),
        assets: &loaded.assets,
        ledger,
        runtime,
        executor,
        stop,
        active_matches: boards,
        run_through,
    };
    // Files with the published history for bots of later phases.
    let history_folder = ScratchDir::new("history")?;
    let mut bots = |phase: u32| {
        let path = history_folder.path().join(PUBLISHED_HISTORY);
        let has_history = phase > 0 && {
            let history = write_history(loaded, ledger, 0..phase, &path);
            runtime.block_on(history)?.is_some()
        };
        let known =
            runtime.block_on(ledger.bot_versions())?.into_iter().map(|one| one.hash).collect::<Vec<_>>();
        load_bots::load_bots(loaded, phase, has_history.then_some(&*path), &known, notify)
    };
    run.run(&mut bots, listener)
}
