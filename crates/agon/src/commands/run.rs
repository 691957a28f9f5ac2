//! `agon run FILE`: runs a competition, or goes on with it.

use std::fs;
use std::path::{Path, PathBuf};

use agon_grid::permissions::Role;
use agon_host::intake::players;
use agon_runner::{ActiveMatches, RunOutcome, Executor, LocalExecutor};
use agon_venue::competing::Where;
use agon_venue::competing::play::{self, Means};
use agon_venue::failure::{Failure, NO};
use agon_venue::{Sitting, report};

use crate::cli::{self, Switch};
use crate::competing::{self, line, signals};
use crate::grid::company::Company;
use crate::grid::{self, fleet};
use crate::{output, setup};
use tokio::runtime::Runtime;

const STOPPING: &str =
    "finishing the games that are being played; once more to leave at once (they are played again next time)";

/// Runs it: on this machine, or by workers.
pub fn run(args: &cli::Run) -> Result<(), Failure> {
    match args.fleet.nats.options("coordinator")? {
        None => go(args, &competing::runtime()?, None),
        Some(nats) => {
            let options = fleet::options(args)?;
            grid::with_runtime(|runtime| {
                let link = grid::connect(runtime, &nats, Role::Coordinator)?;
                go(args, runtime, Some((link, options)))
            })
        }
    }
}

fn go(args: &cli::Run, runtime: &Runtime, fleet: Option<fleet::Led>) -> Result<(), Failure> {
    let sitting = match &args.base {
        None if players::is_list(&args.file) => {
            let hint = format!("say where its bots are: agon run {} --base DIR", args.file.display());
            return Err(Failure::wrong_use("a players.yml is run with --base", hint));
        }
        None => Sitting::read(&args.file)?,
        Some(base) => Sitting::of_players(&args.file, base)?,
    };
    let place = args.kept.place();
    if args.fresh || (args.base.is_some() && is_over(&sitting, &place, runtime)?) {
        put_aside(&sitting, &place, runtime)?;
    }
    let ended = carry_out(&sitting, &place, runtime, args, fleet)?;
    if let (RunOutcome::Over, Some(_)) = (&ended, &args.base) {
        return results(&sitting, &place, runtime, args.json);
    }
    if args.json {
        return stopped(ended, "");
    }
    let mut file = agon_venue::manifest::quoted(&sitting.place.named);
    if place != Where::File {
        file += " --database URL";
    }
    let next = match ended {
        RunOutcome::Stopped => return stopped(ended, &format!("stopped; go on with: agon run {file}")),
        RunOutcome::Waiting(_) => {
            format!("agon table {file} shows the table, agon export {file} DIR writes the history")
        }
        RunOutcome::Over => {
            format!("agon table {file} shows the table, agon report {file} DIR writes pages about it")
        }
    };
    output::note(&next);
    Ok(())
}

/// The pages of a competition from a `players.yml`, where its document has them: all games can be watched.
fn results(sitting: &Sitting, place: &Where, runtime: &Runtime, quiet: bool) -> Result<(), Failure> {
    let written = runtime.block_on(async {
        let ledger = sitting.ledger_to_read_at(place).await?;
        report::beside_ledger(sitting, &*ledger, &sitting.place.folder.join("results")).await
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
fn is_over(sitting: &Sitting, place: &Where, runtime: &Runtime) -> Result<bool, Failure> {
    if !runtime.block_on(sitting.is_begun_at(place))? {
        return Ok(false);
    }
    let ledger = runtime.block_on(sitting.ledger_to_read_at(place))?;
    Ok(runtime.block_on(ledger.competition())?.revealed.is_some())
}

/// Plays until it is over, waits or is stopped.
fn carry_out(
    sitting: &Sitting,
    place: &Where,
    runtime: &Runtime,
    args: &cli::Run,
    fleet: Option<fleet::Led>,
) -> Result<RunOutcome, Failure> {
    let ledger = runtime.block_on(sitting.ledger_at(place))?;
    let stop = signals::listen(STOPPING)?;
    let ended = {
        let play = |executor: &dyn Executor, company: Option<Company>| {
            let mut listener = line::listener(&sitting.competition, sitting.table.info(), args.json, company);
            let means = Means { runtime, executor, stop: &stop, boards: ActiveMatches::default() };
            play::carry_out(sitting, &*ledger, means, &mut *listener, &mut output::note)
        };
        match fleet {
            None => play(&LocalExecutor { jobs: setup::jobs(args.jobs)?, pin: args.pin == Switch::On }, None),
            Some(led) => fleet::play(sitting, runtime, &*ledger, led, play),
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
            Err(Failure { code: NO, message: String::new() })
        }
        _ => Ok(()),
    }
}

/// Moves an old ledger out of the way: nothing that was played is lost.
fn put_aside(sitting: &Sitting, place: &Where, runtime: &Runtime) -> Result<(), Failure> {
    let Where::Database(url) = place else { return move_away(&sitting.place.ledger) };
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
