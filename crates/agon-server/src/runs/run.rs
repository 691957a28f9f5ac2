//! Thread of a competition: plays until it is finished, waits, is stopped or fails, and stores the new state in the site database.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use agon_bots::Diagnostic;
use agon_competition::run::{RunContext, run_competition};
use agon_grid::coordinator::{Coordinator, CoordinatorOptions};
use agon_grid::live::RemoteLiveGames;
use agon_league::config::CompetitionConfig;
use agon_runner::{ActiveMatches, Executor, LiveGames, LocalExecutor, RunOutcome, StopFlag};
use agon_site_db::{CompetitionState, StandingsFreeze};
use agon_store::PhaseState;
use tokio::runtime::Handle;

use super::entrants;
use super::events::RunEvents;
use crate::grid::{GridClient, WorkerStats};
use crate::read_model::{FeedEvent, load};
use crate::state::AppState;

/// How a stretch of playing ended.
enum RunSlice {
    /// The run ended with this outcome.
    Ended(RunOutcome),
    /// The competition is no longer in state `running`.
    NotRunning,
}

/// Body of the thread. Errors and panics in it do not affect the server.
pub fn run_thread(app: &AppState, id: &str, handle: &Handle) {
    // The run's own span has the id that match keys start with; this is the id of the site.
    let _in_competition = tracing::error_span!("hosted", id).entered();
    loop {
        let stop: Arc<StopFlag> = Arc::default();
        if let Some(active_run) = app.runs.lock_active().get_mut(id) {
            active_run.stop = Arc::clone(&stop);
        }
        let slice = if app.is_stopping() {
            Ok(RunSlice::NotRunning)
        } else {
            let slice = catch_unwind(AssertUnwindSafe(|| play_slice(app, id, handle, &stop)));
            slice.unwrap_or_else(|panic| Err(panic_failure(&*panic)))
        };
        app.runs.core_pool.release(id);
        let again = store_outcome(app, id, handle, slice);
        let mut runs = app.runs.lock_active();
        let asked = runs.get_mut(id).is_some_and(|active_run| std::mem::take(&mut active_run.restart));
        if !(again || asked) || app.is_stopping() {
            runs.remove(id);
            break;
        }
    }
    app.runs.core_pool.leave(id);
    update_game_count(app);
}

/// Where the games are played.
enum ExecutorChoice<'p> {
    /// On this machine.
    Local(LocalExecutor),
    /// On workers; with their statistics from earlier runs.
    Grid(&'p GridClient, Box<Coordinator>, WorkerStats),
}

impl ExecutorChoice<'_> {
    fn executor(&self) -> &dyn Executor {
        match self {
            Self::Local(local) => local,
            Self::Grid(_, coordinator, _) => &**coordinator,
        }
    }

    /// Stores the statistics of the workers, for the dashboard.
    fn update_worker_stats(&self, id: &str) {
        let Self::Grid(grid, coordinator, before) = self else { return };
        let unplayable = coordinator.unplayable().into_iter().map(|one| (one.key, one.errors)).collect();
        let run = coordinator.stats();
        let stats = WorkerStats {
            competition_id: coordinator.competition_id().to_owned(),
            unplayable,
            checked: before.checked + run.checked,
            unchecked: before.unchecked + run.unchecked,
            disagreed: before.disagreed + run.disagreed,
            banned: before.banned + run.banned,
        };
        grid.saw(id, stats);
    }
}

/// Plays until the run ends or must give up its cores.
fn play_slice(
    app: &AppState,
    id: &str,
    handle: &Handle,
    stop: &Arc<StopFlag>,
) -> Result<RunSlice, Diagnostic> {
    let competition = handle.block_on(app.site_db.competition(id))?;
    if competition.state != CompetitionState::Running {
        return Ok(RunSlice::NotRunning);
    }
    let competition_handle =
        app.competitions.get(id).map_err(|error| Diagnostic::internal(error.message()))?;
    let loaded = handle.block_on(entrants::load_competition(&app.config, &app.site_db, &competition));
    let loaded = Arc::new(loaded?);
    // A runtime with its own thread: the PostgreSQL ledger must make progress for callers in any runtime.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let ledger = runtime.block_on(loaded.ledger_at(&app.config.ledgers))?;
    handle.block_on(load(&competition_handle, Arc::clone(&loaded)))?;
    let phases = runtime.block_on(ledger.phases())?;
    if let Some(phase) = phase_waited_for(&loaded.competition, &phases, competition.allowed_phase) {
        return Ok(RunSlice::Ended(RunOutcome::Waiting(phase)));
    }
    let contributors: Vec<Option<String>> =
        loaded.competition.entrants.iter().map(|one| one.contributor.clone()).collect();
    let live_games = LiveGames::new(loaded.assets.clone(), contributors.clone());
    let executor = match &app.grid {
        Some(grid) => {
            let coordinator = Coordinator::open(
                grid.link.clone(),
                handle.clone(),
                &loaded,
                &*ledger,
                CoordinatorOptions::default(),
            )?;
            let remote = RemoteLiveGames::open(
                grid.link.clone(),
                handle,
                coordinator.competition_id(),
                contributors,
                0,
            );
            live_games.set_remote(remote);
            ExecutorChoice::Grid(grid, Box::new(coordinator), grid.stats(id))
        }
        None => match app.runs.core_pool.acquire(id, stop, || stop.is_requested() || app.is_stopping()) {
            0 => return Ok(RunSlice::Ended(RunOutcome::Stopped)),
            jobs => ExecutorChoice::Local(LocalExecutor { jobs, pin: app.config.pin }),
        },
    };
    competition_handle.show(Some(Arc::clone(&live_games)));
    let stats =
        app.runs.lock_active().get(id).map(|active_run| Arc::clone(&active_run.stats)).unwrap_or_default();
    let info = loaded.table.info();
    let events =
        RunEvents::new(competition_handle.clone(), &loaded.competition, info, Arc::clone(&live_games), stats);
    let mut events = events
        .with_on_progress(|| executor.update_worker_stats(id))
        .with_on_freeze(|freeze| store_freeze(app, id, handle, freeze));
    let context = RunContext {
        runtime: &runtime,
        executor: executor.executor(),
        stop,
        boards: ActiveMatches::with_live_games(live_games),
        run_through: false,
    };
    update_game_count(app);
    let ended = run_competition(&loaded, &*ledger, context, &mut events, &mut |_| {});
    drop(events);
    executor.update_worker_stats(id);
    competition_handle.show(None);
    competition_handle.changed();
    let closed = runtime.block_on(ledger.disconnect());
    let ended = ended?;
    closed?;
    Ok(RunSlice::Ended(ended))
}

/// Stores a freeze of the standings. Until then, and after an error, it is in force in this process.
fn store_freeze(app: &AppState, id: &str, handle: &Handle, freeze: StandingsFreeze) {
    let (app, id) = (app.clone(), id.to_owned());
    // The caller may be inside a runtime, where it must not block.
    handle.spawn(async move {
        if let Err(error) = app.site_db.set_standings_freeze(&id, freeze).await {
            tracing::error!(%error, id, "the freeze of the standings cannot be stored");
        }
    });
}

/// The phase before which the competition waits, if no organiser allowed it to start. A run that was stopped between two phases does not
/// know it.
fn phase_waited_for(
    competition: &CompetitionConfig,
    phases: &[agon_store::PhaseStatus],
    allowed: u32,
) -> Option<u32> {
    let next = phases.iter().find(|phase| phase.state < PhaseState::Published)?;
    let resubmit = competition.phases.get(next.phase as usize).is_some_and(|phase| phase.resubmit);
    let waits = next.phase > allowed && next.state == PhaseState::Waiting && resubmit;
    waits.then_some(next.phase)
}

/// Stores the outcome in the site database. Returns whether to continue playing.
fn store_outcome(app: &AppState, id: &str, handle: &Handle, slice: Result<RunSlice, Diagnostic>) -> bool {
    let (state, message) = match slice {
        Ok(RunSlice::NotRunning) => return false,
        // It was stopped to release cores, or paused: the state tells which.
        Ok(RunSlice::Ended(RunOutcome::Stopped)) => {
            let found = handle.block_on(app.site_db.competition(id));
            return found.is_ok_and(|found| found.state == CompetitionState::Running);
        }
        Ok(RunSlice::Ended(RunOutcome::Finished)) => (CompetitionState::Finished, None),
        Ok(RunSlice::Ended(RunOutcome::Waiting(_))) => (CompetitionState::Waiting, None),
        Err(failure) => {
            tracing::error!(error = %failure, "competition failed");
            (CompetitionState::Failed, Some(hide_data_path(app, &failure.to_string())))
        }
    };
    // One that was paused during its last game is finished all the same.
    let from = [CompetitionState::Running, CompetitionState::Paused];
    match handle.block_on(app.site_db.set_state(id, &from, state, message.as_deref())) {
        Ok(_) => {
            if let Ok(competition_handle) = app.competitions.get(id) {
                competition_handle.changed();
                competition_handle.publish(FeedEvent::State { state, message });
            }
        }
        Err(error) => drop(crate::error::ApiError::internal(format!("competition {id}: {error}"))),
    }
    false
}

/// Removes the path of the data folder from a message, which users must not see.
fn hide_data_path(app: &AppState, message: &str) -> String {
    let data = app.config.data.canonicalize().unwrap_or_else(|_| app.config.data.clone());
    message.replace(&format!("{}/", data.display()), "")
}

/// Updates the metric of games being played in all competitions.
fn update_game_count(app: &AppState) {
    let cores: usize = app.runs.all().iter().map(|(id, _)| app.runs.core_pool.held(id)).sum();
    app.meters.games.store(cores as i64, Ordering::Relaxed);
}

fn panic_failure(panic: &(dyn std::any::Any + Send)) -> Diagnostic {
    let message = crate::error::panic_message(panic);
    Diagnostic::internal(format!("the run failed with an internal error: {message}"))
        .hint("resume the competition; if it fails again, report a bug in Agon")
}
