//! A competition's thread: plays until it is over, waits, is stopped or fails, and says so in the office.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use agon_grid::coordinator::{Coordinator, CoordinatorOptions};
use agon_grid::live::RemoteLiveGames;
use agon_league::config::CompetitionConfig;
use agon_runner::{ActiveMatches, RunOutcome, Executor, LiveGames, LocalExecutor, StopFlag};
use agon_store::PhaseState;
use agon_store::site_db::CompetitionState;
use agon_venue::competing::play::{Means, carry_out};
use agon_venue::{Failure, Sitting};
use tokio::runtime::Handle;

use super::events::RunEvents;
use super::entrants;
use crate::read_model::{FeedEvent, show};
use crate::grid::{GridClient, WorkerStats};
use crate::state::AppState;

/// How a turn of playing ended.
enum RunSlice {
    /// The competition's own end.
    Ended(RunOutcome),
    /// It is not wanted any more.
    Gone,
}

/// What the thread does. Nothing that happens in it ends the server.
pub fn thread(app: &AppState, id: &str, handle: &Handle) {
    loop {
        let stop: Arc<StopFlag> = Arc::default();
        if let Some(now) = app.running.runs().get_mut(id) {
            now.stop = Arc::clone(&stop);
        }
        let turn = if app.is_stopping() {
            Ok(RunSlice::Gone)
        } else {
            let turn = catch_unwind(AssertUnwindSafe(|| turn(app, id, handle, &stop)));
            turn.unwrap_or_else(|panic| Err(panicked(&*panic)))
        };
        app.running.shares.give_back(id);
        let again = settle(app, id, handle, turn);
        let mut runs = app.running.runs();
        let asked = runs.get_mut(id).is_some_and(|now| std::mem::take(&mut now.again));
        if !(again || asked) || app.is_stopping() {
            runs.remove(id);
            break;
        }
    }
    app.running.shares.leave(id);
    count(app);
}

/// Who plays.
enum ExecutorChoice<'p> {
    /// This machine.
    Here(LocalExecutor),
    /// Others; and what was seen of them in earlier runs.
    There(&'p GridClient, Box<Coordinator>, WorkerStats),
}

impl ExecutorChoice<'_> {
    fn executor(&self) -> &dyn Executor {
        match self {
            Self::Here(local) => local,
            Self::There(_, fleet, _) => &**fleet,
        }
    }

    /// What others came to is kept for who looks at the desk.
    fn look(&self, id: &str) {
        let Self::There(grid, fleet, before) = self else { return };
        let aside = fleet.unplayable().into_iter().map(|one| (one.key, one.errors)).collect();
        let run = fleet.figures();
        let seen = WorkerStats {
            cup: fleet.cup().to_owned(),
            aside,
            checked: before.checked + run.checked,
            unchecked: before.unchecked + run.unchecked,
            disagreed: before.disagreed + run.disagreed,
            barred: before.barred + run.barred,
        };
        grid.saw(id, seen);
    }
}

/// Plays for as long as it has its places.
fn turn(app: &AppState, id: &str, handle: &Handle, stop: &Arc<StopFlag>) -> Result<RunSlice, Failure> {
    let competition = handle.block_on(app.office.competition(id)).map_err(broke)?;
    if competition.state != CompetitionState::Running {
        return Ok(RunSlice::Gone);
    }
    let arena = app.arenas.get(id).map_err(|error| broke(error.message()))?;
    let file = Path::new(&competition.file);
    let sitting = Arc::new(Sitting::read(file)?);
    // With a thread of its own: a ledger on a server answers to whoever asks, in whichever runtime that is.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let ledger = runtime.block_on(sitting.ledger_at(&app.config.ledgers))?;
    handle.block_on(show(&arena, Arc::clone(&sitting))).map_err(broke)?;
    let allowed = handle.block_on(entrants::next_open_phase(app, id)).map_err(broke)?;
    if let Some(phase) = waits(&sitting.competition, &runtime.block_on(ledger.phases())?, allowed) {
        return Ok(RunSlice::Ended(RunOutcome::Waiting(phase)));
    }
    let contributors: Vec<Option<String>> =
        sitting.competition.entrants.iter().map(|one| one.contributor.clone()).collect();
    let gallery = LiveGames::new(sitting.assets.clone(), contributors.clone());
    let players = match &app.grid {
        Some(grid) => {
            let fleet =
                Coordinator::open(grid.link.clone(), handle.clone(), &sitting, &*ledger, CoordinatorOptions::default())?;
            let mirror = RemoteLiveGames::open(grid.link.clone(), handle, fleet.cup(), contributors, 0);
            gallery.add(mirror);
            ExecutorChoice::There(grid, Box::new(fleet), grid.seen(id))
        }
        None => match app.running.shares.take(id, stop, || stop.is_requested() || app.is_stopping()) {
            0 => return Ok(RunSlice::Ended(RunOutcome::Stopped)),
            jobs => ExecutorChoice::Here(LocalExecutor { jobs, pin: app.config.pin }),
        },
    };
    arena.show(Some(Arc::clone(&gallery)));
    let figures = app.running.runs().get(id).map(|now| Arc::clone(&now.figures)).unwrap_or_default();
    let info = sitting.table.info();
    let feed = RunEvents::new(arena.clone(), &sitting.competition, info, Arc::clone(&gallery), figures);
    let mut feed = feed.beside(|| players.look(id));
    let means = Means {
        runtime: &runtime,
        executor: players.executor(),
        stop,
        boards: ActiveMatches::with_gallery(gallery),
    };
    count(app);
    let ended = carry_out(&sitting, &*ledger, means, &mut feed, &mut |_| {});
    drop(feed);
    players.look(id);
    arena.show(None);
    arena.changed();
    let closed = runtime.block_on(ledger.disconnect());
    let ended = ended?;
    closed?;
    Ok(RunSlice::Ended(ended))
}

/// The phase before which it waits, if nobody has said `next`: a run that was stopped between two phases does not know it.
fn waits(competition: &CompetitionConfig, phases: &[agon_store::PhaseStatus], allowed: u32) -> Option<u32> {
    let next = phases.iter().find(|phase| phase.state < PhaseState::Published)?;
    let resubmit = competition.phases.get(next.phase as usize).is_some_and(|phase| phase.resubmit);
    let waits = next.phase > allowed && next.state == PhaseState::Waiting && resubmit;
    waits.then_some(next.phase)
}

/// Says in the office what came of it. Whether it is to go on.
fn settle(app: &AppState, id: &str, handle: &Handle, turn: Result<RunSlice, Failure>) -> bool {
    let (state, message) = match turn {
        Ok(RunSlice::Gone) => return false,
        // Asked to give places back, or to pause: the state knows.
        Ok(RunSlice::Ended(RunOutcome::Stopped)) => {
            let found = handle.block_on(app.office.competition(id));
            return found.is_ok_and(|found| found.state == CompetitionState::Running);
        }
        Ok(RunSlice::Ended(RunOutcome::Over)) => (CompetitionState::Over, None),
        Ok(RunSlice::Ended(RunOutcome::Waiting(_))) => (CompetitionState::Waiting, None),
        Err(failure) => (CompetitionState::Failed, Some(plain(app, &failure.message))),
    };
    // One that was paused in its last game is over all the same.
    let from = [CompetitionState::Running, CompetitionState::Paused];
    match handle.block_on(app.office.set_state(id, &from, state, message.as_deref())) {
        Ok(_) => {
            if let Ok(arena) = app.arenas.get(id) {
                arena.changed();
                arena.publish(FeedEvent::State { state, message });
            }
        }
        Err(error) => drop(crate::error::ApiError::broke(format!("competition {id}: {error}"))),
    }
    false
}

/// Without the way to the data folder: that is nobody's business.
fn plain(app: &AppState, words: &str) -> String {
    let data = app.config.data.canonicalize().unwrap_or_else(|_| app.config.data.clone());
    words.replace(&format!("{}/", data.display()), "")
}

/// Games that are played just now, in all competitions.
fn count(app: &AppState) {
    let places: usize = app.running.all().iter().map(|(id, _)| app.running.shares.held(id)).sum();
    app.meters.games.store(places as i64, Ordering::Relaxed);
}

fn broke(error: impl std::fmt::Display) -> Failure {
    Failure { code: agon_venue::failure::BROKE, message: error.to_string() }
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> Failure {
    let words = crate::error::panic_words(panic);
    broke(format!("the run broke: {words}\nhint: resume it; if it breaks again, it is a bug of Agon's"))
}
