//! A competition that is run here and played elsewhere.

use std::sync::mpsc;

use agon_bots::Failure;
use agon_competition::LoadedCompetition;
use agon_grid::{Coordinator, CoordinatorOptions, NatsConnection, WorkerDirectory};
use agon_runner::{Executor, RunOutcome};
use agon_store::Ledger;
use tokio::runtime::Runtime;

use super::cli::seconds;
use super::worker_monitor::WorkerMonitor;
use crate::cli;
use crate::competition::progress;
use crate::output;

/// How workers are reached, and what is wanted of them.
pub type CoordinatorSetup = (NatsConnection, CoordinatorOptions);

/// What was asked for, if it makes sense.
pub fn options(args: &cli::Run) -> Result<CoordinatorOptions, Failure> {
    let fleet = &args.fleet;
    if args.jobs.is_some() {
        let hint = "leave it out; `agon worker --jobs N` says how many games a worker plays at once";
        return Err(Failure::wrong_use(
            "--jobs is for games on this machine, --nats has them played elsewhere",
            hint,
        ));
    }
    if !(0.0..=100.0).contains(&fleet.checked) {
        let what = format!("--checked: {} is not between 0 and 100", fleet.checked);
        return Err(Failure::wrong_use(
            what,
            "2 of a hundred matches are played again unless you say otherwise",
        ));
    }
    Ok(CoordinatorOptions {
        cross_check_share: fleet.checked / 100.0,
        lease: seconds("--lease", fleet.lease, 2.0, 3600.0)?,
        target_job_duration: seconds("--batch", fleet.batch, 0.01, 60.0)?,
        scale_clocks: fleet.scale_clocks,
        ..CoordinatorOptions::default()
    })
}

/// Has it played by whoever comes; matches that fail everywhere are listed at the end.
pub fn play(
    sitting: &LoadedCompetition,
    runtime: &Runtime,
    ledger: &dyn Ledger,
    (link, options): CoordinatorSetup,
    play: impl FnOnce(&dyn Executor, Option<WorkerMonitor>) -> Result<RunOutcome, Failure>,
) -> Result<RunOutcome, Failure> {
    let url = link.url().to_owned();
    let roster = runtime.block_on(WorkerDirectory::listen(&link))?;
    let fleet = Coordinator::open(link, runtime.handle().clone(), sitting, ledger, options)?;
    output::note(&format!("matches are played by the workers of {url}"));
    let (say, said) = mpsc::channel();
    // Nobody listens any more when all is over.
    fleet.set_message_sink(move |words| drop(say.send(words.to_owned())));
    let ended = play(&fleet, Some(WorkerMonitor::new(roster, said)));
    for one in fleet.unplayable() {
        output::note(&format!("set aside: match {}: {}", one.key, one.errors.join("; ")));
    }
    for one in fleet.disputed() {
        output::note(&format!("disputed: {}", progress::disputed(one.key, &one.workers)));
    }
    match fleet.unchecked() {
        0 => {}
        count => output::note(&format!(
            "{count} matches should have been played twice, and nobody else was there to do it"
        )),
    }
    ended
}
