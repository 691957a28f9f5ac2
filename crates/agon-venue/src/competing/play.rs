//! Carrying a competition out: its bots are read for each phase, with what was published of the phases before.

use agon_host::intake::PrivateFolder;
use agon_runner::{ActiveMatches, RunOutcome, Executor, Listener, CompetitionRun, StopFlag};
use agon_store::Ledger;
use tokio::runtime::Runtime;

use super::{Sitting, export, lineup};
use crate::{Failure, Tell};

/// With what it is carried out.
pub struct Means<'m> {
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
pub fn carry_out(
    sitting: &Sitting,
    ledger: &dyn Ledger,
    means: Means<'_>,
    listener: &mut dyn Listener,
    tell: Tell<'_>,
) -> Result<RunOutcome, Failure> {
    let Means { runtime, executor, stop, boards } = means;
    let run = CompetitionRun {
        competition: &sitting.competition,
        table: sitting.table.as_ref(),
        assets: &sitting.assets,
        ledger,
        runtime,
        executor,
        stop,
        boards,
    };
    // What was published of earlier phases lies beside the bots of later ones.
    let shelf = PrivateFolder::new("history")?;
    let mut bots = |phase: u32| {
        let path = shelf.path().join("history.json");
        let told = phase > 0 && {
            let history = export::history(sitting, ledger, 0..phase, &path);
            runtime.block_on(history)?.is_some()
        };
        let known = runtime.block_on(ledger.bots())?.into_iter().map(|one| one.hash).collect::<Vec<_>>();
        lineup::load(sitting, phase, told.then_some(&*path), &known, tell)
    };
    run.run(&mut bots, listener)
}
