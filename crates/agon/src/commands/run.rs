//! `agon run FILE`: runs or resumes a competition.

use std::path::{Path, PathBuf};

use agon_bots::error::Diagnostic;
use agon_bots::source::players_yml;
use agon_competition::LedgerLocation;
use agon_competition::LoadedCompetition;
use agon_competition::run::{self, RunContext};
use agon_core::PUBLISHED_HISTORY;
use agon_grid::permissions::Role;
use agon_host::python_packages;
use agon_report::write::write_report_beside_ledger;
use agon_runner::{ActiveMatches, Executor, LocalExecutor, RunOutcome};
use agon_store::SqliteLedger;

use crate::args::{self, OnOff};
use crate::competition::metrics::{MeteredListener, RunMetrics};
use crate::competition::{self, progress, signals};
use crate::grid::worker_monitor::WorkerMonitor;
use crate::grid::{self, coordinator};
use crate::{output, setup};
use tokio::runtime::Runtime;

const STOPPING: &str =
    "finishing the current games; press CTRL-C again to stop at once (they are replayed next time)";

/// Runs the competition on this machine or on workers.
pub fn run(args: &args::Run) -> Result<(), Diagnostic> {
    match args.coordinator.nats.options("coordinator")? {
        None => run_with(args, &competition::runtime()?, None),
        Some(nats) => {
            let options = coordinator::options(args)?;
            grid::with_runtime(|runtime| {
                let link = grid::connect(runtime, &nats, Role::Coordinator)?;
                run_with(args, runtime, Some((link, options)))
            })
        }
    }
}

fn run_with(
    args: &args::Run,
    runtime: &Runtime,
    coordinator: Option<coordinator::CoordinatorSetup>,
) -> Result<(), Diagnostic> {
    let (file, base) = files(args)?;
    let loaded = match &base {
        None => LoadedCompetition::read(&file)?,
        Some(base) => LoadedCompetition::of_players(&file, base)?,
    };
    use_packages(&loaded, coordinator.is_some())?;
    let place = args.ledger.location();
    if args.fresh || (base.is_some() && is_finished(&loaded, &place, runtime)?) {
        rename_old_ledger(&loaded, &place, runtime)?;
    }
    let ended = play_until_end(&loaded, &place, runtime, args, coordinator)?;
    if let (RunOutcome::Finished, Some(_)) = (&ended, &base) {
        return write_result_pages(&loaded, &place, runtime, args.json);
    }
    if args.json {
        return stop_result(ended, "");
    }
    let mut file = agon_core::text_format::shell_quote_path(&loaded.place.named);
    if place != LedgerLocation::File {
        file += " --database URL";
    }
    let next = match ended {
        RunOutcome::Stopped => return stop_result(ended, &format!("stopped; resume with: agon run {file}")),
        RunOutcome::Waiting(phase) => waiting_text(&loaded, phase, &file),
        RunOutcome::Finished => {
            let steps = [
                (format!("agon table {file}"), "print the table"),
                (format!("agon report {file} DIR"), "write web pages"),
            ];
            format!("next:\n{}", output::next_steps(&steps))
        }
    };
    output::note(&next);
    Ok(())
}

/// Fetches the Python packages that the competition's bots may use, unless they are there already.
fn use_packages(loaded: &LoadedCompetition, with_workers: bool) -> Result<(), Diagnostic> {
    let Some(list) = &loaded.competition.packages else { return Ok(()) };
    if with_workers {
        let hint = "start every worker with --packages FILE, and remove `packages`";
        return Err(Diagnostic::wrong_use("`packages` does not work with workers", hint));
    }
    let folder = python_packages::build(&loaded.place.folder.join(list))?;
    python_packages::use_packages(folder);
    Ok(())
}

/// What to do when a phase is published and the next one waits for new versions of bots.
fn waiting_text(loaded: &LoadedCompetition, next: u32, file: &str) -> String {
    let phases = &loaded.competition.phases;
    let name = |phase: u32| phases.get(phase as usize).map_or("", |phase| phase.name.as_str());
    let published = next.saturating_sub(1);
    let mut exported = "write the tables and games so far as files";
    let mut text =
        format!("phase {}, {}, is published. Now bots can be resubmitted:\n", published + 1, name(published));
    if loaded.table.info().competition.publishes_history {
        exported = "write the tables and the history of all matches so far, for the authors";
        text +=
            &format!("  in the next phase each bot finds this history beside it, as {PUBLISHED_HISTORY}\n");
    }
    text += &format!("  replace the bots that have new versions: their files, or `bot` in {file}\n");
    text += "then:\n";
    let next_name = name(next);
    let steps = [
        (format!("agon table {file}"), "print the table".to_owned()),
        (format!("agon export {file} DIR"), exported.to_owned()),
        (format!("agon run {file}"), format!("play phase {}, {next_name}", next + 1)),
        (format!("agon run {file} --run-through"), "play all remaining phases without a break".to_owned()),
    ];
    text + &output::next_steps(&steps)
}

/// The file to run and, if it is a `players.yml`, the folder of its bots. The defaults are those of Word Racer's own tool:
/// `conf/players.yml` and `run`.
fn files(args: &args::Run) -> Result<(PathBuf, Option<PathBuf>), Diagnostic> {
    let (default_list, default_base) = (Path::new("conf/players.yml"), Path::new("run"));
    let file = match &args.file {
        Some(file) => file.clone(),
        None if default_list.is_file() => default_list.to_owned(),
        None => {
            let hint = "agon run FILE, or run it in a folder with conf/players.yml and run";
            return Err(Diagnostic::wrong_use(
                "there is no conf/players.yml here, and no FILE is named",
                hint,
            ));
        }
    };
    if args.base.is_some() || !players_yml::is_list(&file) {
        return Ok((file, args.base.clone()));
    }
    if default_base.is_dir() {
        return Ok((file, Some(default_base.to_owned())));
    }
    if args.file.is_none() {
        let hint = "put the bots' folders into run, or name their folder: agon run --base DIR";
        return Err(Diagnostic::wrong_use("there is no folder run for the bots of conf/players.yml", hint));
    }
    let beside = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let beside = beside.unwrap_or(Path::new(".")).to_owned();
    Ok((file, Some(beside)))
}

/// Writes the result pages of a competition from a `players.yml`, with a replay of every game.
fn write_result_pages(
    loaded: &LoadedCompetition,
    place: &LedgerLocation,
    runtime: &Runtime,
    quiet: bool,
) -> Result<(), Diagnostic> {
    let written = runtime.block_on(async {
        let ledger = loaded.ledger_to_read_at(place).await?;
        write_report_beside_ledger(loaded, &*ledger, &loaded.place.folder.join("results")).await
    })?;
    if !quiet {
        output::note(&format!(
            "open {} for the table and the replays of {} games",
            written.summary.display(),
            written.games
        ));
    }
    Ok(())
}

/// Whether the competition is finished.
fn is_finished(
    loaded: &LoadedCompetition,
    place: &LedgerLocation,
    runtime: &Runtime,
) -> Result<bool, Diagnostic> {
    if !runtime.block_on(loaded.is_begun_at(place))? {
        return Ok(false);
    }
    let ledger = runtime.block_on(loaded.ledger_to_read_at(place))?;
    Ok(runtime.block_on(ledger.competition())?.revealed.is_some())
}

/// Plays until the competition is finished, waits for new versions, or is stopped.
fn play_until_end(
    loaded: &LoadedCompetition,
    place: &LedgerLocation,
    runtime: &Runtime,
    args: &args::Run,
    coordinator: Option<coordinator::CoordinatorSetup>,
) -> Result<RunOutcome, Diagnostic> {
    let ledger = runtime.block_on(loaded.ledger_at(place))?;
    let stop = signals::stop_on_signals(STOPPING)?;
    let metrics = RunMetrics::default();
    if let Some(address) = args.metrics {
        metrics.serve(address, loaded, place)?;
    }
    let ended = {
        let play = |executor: &dyn Executor, company: Option<WorkerMonitor>| {
            let inner = progress::listener(&loaded.competition, loaded.table.info(), args.json, company);
            let mut listener = MeteredListener { inner, metrics: metrics.clone() };
            let context = RunContext {
                runtime,
                executor,
                stop: &stop,
                boards: ActiveMatches::default(),
                run_through: args.without_break,
            };
            run::run_competition(loaded, &*ledger, context, &mut listener, &mut output::note)
        };
        match coordinator {
            None => play(&LocalExecutor { jobs: setup::jobs(args.jobs)?, pin: args.pin == OnOff::On }, None),
            Some(setup) => coordinator::play(loaded, runtime, &*ledger, setup, &metrics, play),
        }
    }?;
    runtime.block_on(ledger.disconnect())?;
    Ok(ended)
}

fn stop_result(ended: RunOutcome, words: &str) -> Result<(), Diagnostic> {
    match ended {
        RunOutcome::Stopped => {
            if !words.is_empty() {
                output::note(words);
            }
            Err(Diagnostic::already_shown())
        }
        _ => Ok(()),
    }
}

/// Renames an old ledger, so that no results are lost.
fn rename_old_ledger(
    loaded: &LoadedCompetition,
    place: &LedgerLocation,
    runtime: &Runtime,
) -> Result<(), Diagnostic> {
    let LedgerLocation::Database(url) = place else { return rename_ledger_file(&loaded.place.ledger) };
    if let Some(name) = runtime.block_on(loaded.put_aside_in(url))? {
        output::note(&format!("the old ledger is now called {name}"));
    }
    Ok(())
}

fn rename_ledger_file(ledger: &Path) -> Result<(), Diagnostic> {
    if let Some(new_path) = SqliteLedger::rename_old(ledger)? {
        output::note(&format!("the old ledger is now {}", new_path.display()));
    }
    Ok(())
}
