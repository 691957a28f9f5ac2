//! A competition's thread: plays until it is over, waits, is stopped or fails, and says so in the office.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use agon_grid::fleet::{Fleet, FleetOptions};
use agon_grid::live::Mirror;
use agon_league::competition::Competition;
use agon_runner::{Boards, Ended, Executor, Gallery, Local, Stop};
use agon_store::PhaseState;
use agon_store::office::State;
use agon_venue::competing::play::{Means, carry_out};
use agon_venue::{Failure, Sitting};
use tokio::runtime::Handle;

use super::feed::Feed;
use super::lineup;
use crate::arena::{FeedEvent, show};
use crate::grid::{Grid, Seen};
use crate::state::App;

/// How a turn of playing ended.
enum Turn {
    /// The competition's own end.
    Ended(Ended),
    /// It is not wanted any more.
    Gone,
}

/// What the thread does. Nothing that happens in it ends the server.
pub fn thread(app: &App, id: &str, handle: &Handle) {
    loop {
        let stop: Arc<Stop> = Arc::default();
        if let Some(now) = app.running.runs().get_mut(id) {
            now.stop = Arc::clone(&stop);
        }
        let turn = if app.is_stopping() {
            Ok(Turn::Gone)
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
enum Players<'p> {
    /// This machine.
    Here(Local),
    /// Others; and what was seen of them in earlier runs.
    There(&'p Grid, Box<Fleet>, Seen),
}

impl Players<'_> {
    fn executor(&self) -> &dyn Executor {
        match self {
            Self::Here(local) => local,
            Self::There(_, fleet, _) => &**fleet,
        }
    }

    /// What others came to is kept for who looks at the desk.
    fn look(&self, id: &str) {
        let Self::There(grid, fleet, before) = self else { return };
        let aside = fleet.aside().into_iter().map(|one| (one.key, one.errors)).collect();
        let run = fleet.figures();
        let seen = Seen {
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
fn turn(app: &App, id: &str, handle: &Handle, stop: &Arc<Stop>) -> Result<Turn, Failure> {
    let competition = handle.block_on(app.office.competition(id)).map_err(broke)?;
    if competition.state != State::Running {
        return Ok(Turn::Gone);
    }
    let arena = app.arenas.get(id).map_err(|error| broke(error.message()))?;
    let file = Path::new(&competition.file);
    let sitting = Arc::new(Sitting::read(file)?);
    // With a thread of its own: a ledger on a server answers to whoever asks, in whichever runtime that is.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let ledger = runtime.block_on(sitting.ledger_at(&app.config.ledgers))?;
    handle.block_on(show(&arena, Arc::clone(&sitting))).map_err(broke)?;
    let allowed = handle.block_on(lineup::allowed(app, id)).map_err(broke)?;
    if let Some(phase) = waits(&sitting.competition, &runtime.block_on(ledger.phases())?, allowed) {
        return Ok(Turn::Ended(Ended::Waiting(phase)));
    }
    let contributors: Vec<Option<String>> =
        sitting.competition.entrants.iter().map(|one| one.contributor.clone()).collect();
    let gallery = Gallery::new(sitting.assets.clone(), contributors.clone());
    let players = match &app.grid {
        Some(grid) => {
            let fleet =
                Fleet::open(grid.link.clone(), handle.clone(), &sitting, &*ledger, FleetOptions::default())?;
            let mirror = Mirror::open(grid.link.clone(), handle, fleet.cup(), contributors, 0);
            gallery.add(mirror);
            Players::There(grid, Box::new(fleet), grid.seen(id))
        }
        None => match app.running.shares.take(id, stop, || stop.soon() || app.is_stopping()) {
            0 => return Ok(Turn::Ended(Ended::Stopped)),
            jobs => Players::Here(Local { jobs, pin: app.config.pin }),
        },
    };
    arena.show(Some(Arc::clone(&gallery)));
    let figures = app.running.runs().get(id).map(|now| Arc::clone(&now.figures)).unwrap_or_default();
    let info = sitting.table.info();
    let feed = Feed::new(arena.clone(), &sitting.competition, info, Arc::clone(&gallery), figures);
    let mut feed = feed.beside(|| players.look(id));
    let means = Means {
        runtime: &runtime,
        executor: players.executor(),
        stop,
        boards: Boards::with_gallery(gallery),
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
    Ok(Turn::Ended(ended))
}

/// The phase before which it waits, if nobody has said `next`: a run that was stopped between two phases does not know it.
fn waits(competition: &Competition, phases: &[agon_store::PhaseStatus], allowed: u32) -> Option<u32> {
    let next = phases.iter().find(|phase| phase.state < PhaseState::Published)?;
    let resubmit = competition.phases.get(next.phase as usize).is_some_and(|phase| phase.resubmit);
    let waits = next.phase > allowed && next.state == PhaseState::Waiting && resubmit;
    waits.then_some(next.phase)
}

/// Says in the office what came of it. Whether it is to go on.
fn settle(app: &App, id: &str, handle: &Handle, turn: Result<Turn, Failure>) -> bool {
    let (state, message) = match turn {
        Ok(Turn::Gone) => return false,
        // Asked to give places back, or to pause: the state knows.
        Ok(Turn::Ended(Ended::Stopped)) => {
            let found = handle.block_on(app.office.competition(id));
            return found.is_ok_and(|found| found.state == State::Running);
        }
        Ok(Turn::Ended(Ended::Over)) => (State::Over, None),
        Ok(Turn::Ended(Ended::Waiting(_))) => (State::Waiting, None),
        Err(failure) => (State::Failed, Some(plain(app, &failure.message))),
    };
    // One that was paused in its last game is over all the same.
    let from = [State::Running, State::Paused];
    match handle.block_on(app.office.set_state(id, &from, state, message.as_deref())) {
        Ok(_) => {
            if let Ok(arena) = app.arenas.get(id) {
                arena.changed();
                arena.tell(FeedEvent::State { state, message });
            }
        }
        Err(error) => drop(crate::error::ApiError::broke(format!("competition {id}: {error}"))),
    }
    false
}

/// Without the way to the data folder: that is nobody's business.
fn plain(app: &App, words: &str) -> String {
    let data = app.config.data.canonicalize().unwrap_or_else(|_| app.config.data.clone());
    words.replace(&format!("{}/", data.display()), "")
}

/// Games that are played just now, in all competitions.
fn count(app: &App) {
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
