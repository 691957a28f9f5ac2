//! `agon run FILE`: runs a competition, or goes on with it.

use std::fs;
use std::path::{Path, PathBuf};

use agon_bots::error::Failure;
use agon_bots::source::players_yml;
use agon_competition::LedgerLocation;
use agon_competition::LoadedCompetition;
use agon_competition::run::{self, RunContext};
use agon_core::ErrorKind;
use agon_grid::permissions::Role;
use agon_report::write::write_report_beside_ledger;
use agon_runner::{ActiveMatches, Executor, LocalExecutor, RunOutcome};

use crate::cli::{self, OnOff};
use crate::competition::{self, progress, signals};
use crate::grid::worker_monitor::WorkerMonitor;
use crate::grid::{self, coordinator};
use crate::{output, setup};
use tokio::runtime::Runtime;

const STOPPING: &str =
    "finishing the games that are being played; once more to leave at once (they are played again next time)";

/// Runs it: on this machine, or by workers.
pub fn run(args: &cli::Run) -> Result<(), Failure> {
    match args.fleet.nats.options("coordinator")? {
        None => go(args, &competition::runtime()?, None),
        Some(nats) => {
            let options = coordinator::options(args)?;
            grid::with_runtime(|runtime| {
                let link = grid::connect(runtime, &nats, Role::Coordinator)?;
                go(args, runtime, Some((link, options)))
            })
        }
    }
}

fn go(
    args: &cli::Run,
    runtime: &Runtime,
    fleet: Option<coordinator::CoordinatorSetup>,
) -> Result<(), Failure> {
    let sitting = match &args.base {
        None if players_yml::is_list(&args.file) => {
            let hint = format!("say where its bots are: agon run {} --base DIR", args.file.display());
            return Err(Failure::wrong_use("a players.yml is run with --base", hint));
        }
        None => LoadedCompetition::read(&args.file)?,
        Some(base) => LoadedCompetition::of_players(&args.file, base)?,
    };
    let place = args.kept.place();
    if args.fresh || (args.base.is_some() && is_over(&sitting, &place, runtime)?) {
        put_aside(&sitting, &place, runtime)?;
    }
    let ended = carry_out(&sitting, &place, runtime, args, fleet)?;
    if let (RunOutcome::Finished, Some(_)) = (&ended, &args.base) {
        return results(&sitting, &place, runtime, args.json);
    }
    if args.json {
        return stopped(ended, "");
    }
    let mut file = agon_bots::manifest::quoted(&sitting.place.named);
    if place != LedgerLocation::File {
        file += " --database URL";
    }
    let next = match ended {
        RunOutcome::Stopped => return stopped(ended, &format!("stopped; go on with: agon run {file}")),
        RunOutcome::Waiting(_) => {
            format!("agon table {file} shows the table, agon export {file} DIR writes the history")
        }
        RunOutcome::Finished => {
            format!("agon table {file} shows the table, agon report {file} DIR writes pages about it")
        }
    };
    output::note(&next);
    Ok(())
}

/// The pages of a competition from a `players.yml`, where its document has them: all games can be watched.
fn results(
    sitting: &LoadedCompetition,
    place: &LedgerLocation,
    runtime: &Runtime,
    quiet: bool,
) -> Result<(), Failure> {
    let written = runtime.block_on(async {
        let ledger = sitting.ledger_to_read_at(place).await?;
        write_report_beside_ledger(sitting, &*ledger, &sitting.place.folder.join("results")).await
    })?;
    if !quiet {
        output::note(&format!(
            "open {}: the table, and each of {} games",
            written.summary.display(),
            written.games
        ));
    }
    Ok(())
}

/// Whether everything was played.
fn is_over(sitting: &LoadedCompetition, place: &LedgerLocation, runtime: &Runtime) -> Result<bool, Failure> {
    if !runtime.block_on(sitting.is_begun_at(place))? {
        return Ok(false);
    }
    let ledger = runtime.block_on(sitting.ledger_to_read_at(place))?;
    Ok(runtime.block_on(ledger.competition())?.revealed.is_some())
}

/// Plays until it is over, waits or is stopped.
fn carry_out(
    sitting: &LoadedCompetition,
    place: &LedgerLocation,
    runtime: &Runtime,
    args: &cli::Run,
    fleet: Option<coordinator::CoordinatorSetup>,
) -> Result<RunOutcome, Failure> {
    let ledger = runtime.block_on(sitting.ledger_at(place))?;
    let stop = signals::listen(STOPPING)?;
    let ended = {
        let play = |executor: &dyn Executor, company: Option<WorkerMonitor>| {
            let mut listener =
                progress::listener(&sitting.competition, sitting.table.info(), args.json, company);
            let means = RunContext { runtime, executor, stop: &stop, boards: ActiveMatches::default() };
            run::run_competition(sitting, &*ledger, means, &mut *listener, &mut output::note)
        };
        match fleet {
            None => play(&LocalExecutor { jobs: setup::jobs(args.jobs)?, pin: args.pin == OnOff::On }, None),
            Some(led) => coordinator::play(sitting, runtime, &*ledger, led, play),
        }
    }?;
    runtime.block_on(ledger.disconnect())?;
    Ok(ended)
}

fn stopped(ended: RunOutcome, words: &str) -> Result<(), Failure> {
    match ended {
        RunOutcome::Stopped => {
            if !words.is_empty() {
                output::note(words);
            }
            Err(Failure { kind: ErrorKind::Rejected, message: String::new() })
        }
        _ => Ok(()),
    }
}

/// Moves an old ledger out of the way: nothing that was played is lost.
fn put_aside(sitting: &LoadedCompetition, place: &LedgerLocation, runtime: &Runtime) -> Result<(), Failure> {
    let LedgerLocation::Database(url) = place else { return move_away(&sitting.place.ledger) };
    if let Some(name) = runtime.block_on(sitting.put_aside_in(url))? {
        output::note(&format!("the old ledger is now called {name}"));
    }
    Ok(())
}

fn move_away(ledger: &Path) -> Result<(), Failure> {
    if !ledger.exists() {
        return Ok(());
    }
    let name = |number: u32| PathBuf::from(format!("{}.{number}", ledger.display()));
    let Some(free) = (1..10_000).map(name).find(|path| !path.exists()) else {
        return Err(Failure::wrong_use("there are too many old ledgers", "remove some of them"));
    };
    // What a killed run has left beside it belongs to it.
    for ending in ["-wal", "-shm"] {
        let beside = |path: &Path| PathBuf::from(format!("{}{ending}", path.display()));
        if beside(ledger).exists() {
            fs::rename(beside(ledger), beside(&free))?;
        }
    }
    fs::rename(ledger, &free).map_err(|e| Failure::io("move away", ledger, &e, "may you write there?"))?;
    output::note(&format!("the old ledger is now {}", free.display()));
    Ok(())
}
