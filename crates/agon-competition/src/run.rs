//! Carrying a competition out: its bots are read for each phase, with what was published of the phases before.

use agon_bots::{Failure, MessageSink};
use agon_host::ScratchDir;
use agon_runner::{ActiveMatches, CompetitionRun, Executor, RunListener, RunOutcome, StopFlag};
use agon_store::Ledger;
use tokio::runtime::Runtime;

use crate::history::write_history;
use crate::{LoadedCompetition, load_bots};

/// With what it is carried out.
pub struct RunContext<'m> {
    /// What the ledger is asked in. It is waited for: not from inside a runtime.
    pub runtime: &'m Runtime,
    /// Where matches are played.
    pub executor: &'m dyn Executor,
    /// Who may ask it to stop.
    pub stop: &'m StopFlag,
    /// What is being played, for others to look at.
    pub boards: ActiveMatches,
}

/// Plays until it is over, waits or is stopped.
pub fn run_competition(
    sitting: &LoadedCompetition,
    ledger: &dyn Ledger,
    means: RunContext<'_>,
    listener: &mut dyn RunListener,
    tell: MessageSink<'_>,
) -> Result<RunOutcome, Failure> {
    let RunContext { runtime, executor, stop, boards } = means;
    let run = CompetitionRun {
        competition: &sitting.competition,
        game: sitting.table.as_ref(),
        assets: &sitting.assets,
        ledger,
        runtime,
        executor,
        stop,
        active_matches: boards,
    };
    // What was published of earlier phases lies beside the bots of later ones.
    let shelf = ScratchDir::new("history")?;
    let mut bots = |phase: u32| {
        let path = shelf.path().join("history.json");
        let told = phase > 0 && {
            let history = write_history(sitting, ledger, 0..phase, &path);
            runtime.block_on(history)?.is_some()
        };
        let known =
            runtime.block_on(ledger.bot_versions())?.into_iter().map(|one| one.hash).collect::<Vec<_>>();
        load_bots::load_bots(sitting, phase, told.then_some(&*path), &known, tell)
    };
    run.run(&mut bots, listener)
}
