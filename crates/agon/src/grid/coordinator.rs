//! Runs a competition whose matches are played by workers.

use std::sync::mpsc;

use agon_bots::Diagnostic;
use agon_competition::LoadedCompetition;
use agon_grid::{Coordinator, CoordinatorOptions, NatsConnection, WorkerDirectory};
use agon_runner::{Executor, RunOutcome};
use agon_store::Ledger;
use tokio::runtime::Runtime;

use super::worker_monitor::WorkerMonitor;
use crate::args;
use crate::args::grid::seconds;
use crate::competition::metrics::RunMetrics;
use crate::competition::progress;
use crate::output;

/// Connection and options of the coordinator.
pub type CoordinatorSetup = (NatsConnection, CoordinatorOptions);

/// Checks the options.
pub fn options(args: &args::Run) -> Result<CoordinatorOptions, Diagnostic> {
    let coordinator = &args.coordinator;
    if args.jobs.is_some() {
        let hint = "omit it; `agon worker --jobs N` sets the number of parallel games of a worker";
        return Err(Diagnostic::wrong_use(
            "--jobs and --nats cannot be combined: with --nats, workers play the games",
            hint,
        ));
    }
    if !(0.0..=100.0).contains(&coordinator.checked) {
        let what = format!("--checked: {} is not between 0 and 100", coordinator.checked);
        return Err(Diagnostic::wrong_use(what, "use a percentage; the default is 2"));
    }
    Ok(CoordinatorOptions {
        cross_check_share: coordinator.checked / 100.0,
        lease: seconds("--lease", coordinator.lease, 2.0, 3600.0)?,
        target_job_duration: seconds("--batch", coordinator.batch, 0.01, 60.0)?,
        scale_clocks: coordinator.scale_clocks,
        ..CoordinatorOptions::default()
    })
}

/// Has workers play the competition. Lists unplayable and disputed matches at the end.
pub fn play(
    loaded: &LoadedCompetition,
    runtime: &Runtime,
    ledger: &dyn Ledger,
    (link, options): CoordinatorSetup,
    metrics: &RunMetrics,
    play: impl FnOnce(&dyn Executor, Option<WorkerMonitor>) -> Result<RunOutcome, Diagnostic>,
) -> Result<RunOutcome, Diagnostic> {
    let url = link.url().to_owned();
    let directory = runtime.block_on(WorkerDirectory::listen(&link))?;
    let connection = link.clone();
    let coordinator = Coordinator::open(link, runtime.handle().clone(), loaded, ledger, options)?;
    metrics.set_grid(connection, directory.clone(), coordinator.stats_reader());
    output::note(&format!("the workers of {url} play the matches"));
    let (sender, messages) = mpsc::channel();
    // The receiver is closed at the end of the run.
    coordinator.set_message_sink(move |words| drop(sender.send(words.to_owned())));
    let ended = play(&coordinator, Some(WorkerMonitor::new(directory, messages)));
    for one in coordinator.unplayable() {
        output::note(&format!("unplayable: match {}: {}", one.key, one.errors.join("; ")));
    }
    for one in coordinator.disputed() {
        output::note(&format!("disputed: {}", progress::disputed(one.key, &one.workers)));
    }
    match coordinator.unchecked() {
        0 => {}
        count => output::note(&format!(
            "{count} matches were not cross-checked, because there was no second worker"
        )),
    }
    ended
}
