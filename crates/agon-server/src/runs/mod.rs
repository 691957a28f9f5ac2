//! Runs competitions: each in its own thread, all on the same cores.
//!
//! The state of a competition is stored in the site database and changed by compare-and-set. Its matches are stored in its ledger. So a
//! server that was killed resumes all competitions in state `running`. [`competition_file`] handles the file, [`core_pool`] divides the
//! cores, [`run`] is the thread, [`events`] publishes progress.

pub mod competition_file;
pub mod core_pool;
pub mod entrants;
pub mod events;
pub mod run;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use agon_core::LockIgnoringPoison as _;
use agon_runner::StopFlag;
use agon_site_db::CompetitionState;

use crate::config::Config;
use crate::error::StartError;
use crate::read_model::all_competitions;
use crate::state::AppState;
use core_pool::CorePool;
use events::RunStats;

/// Competitions being played.
pub struct RunManager {
    active: Mutex<BTreeMap<String, ActiveRun>>,
    /// Divides the cores among the runs.
    pub core_pool: CorePool,
}

/// A competition being played.
struct ActiveRun {
    stop: Arc<StopFlag>,
    stats: Arc<RunStats>,
    /// Whether it was resumed while it was stopping.
    restart: bool,
}

impl RunManager {
    /// Without any runs.
    pub fn new(config: &Config) -> Self {
        Self { active: Mutex::default(), core_pool: CorePool::new(config.jobs) }
    }

    fn lock_active(&self) -> MutexGuard<'_, BTreeMap<String, ActiveRun>> {
        self.active.lock_ignoring_poison()
    }

    /// All runs with their statistics.
    pub fn all(&self) -> Vec<(String, Arc<RunStats>)> {
        self.lock_active().iter().map(|(id, run)| (id.clone(), Arc::clone(&run.stats))).collect()
    }

    /// Stops a run after the games being played.
    pub fn stop(&self, id: &str) {
        if let Some(run) = self.lock_active().get_mut(id) {
            run.restart = false;
            run.stop.request();
        }
    }
}

/// Plays a competition in state `running`. One that is stopping continues.
pub fn play(app: &AppState, id: &str) {
    let mut active = app.runs.lock_active();
    if let Some(run) = active.get_mut(id) {
        run.restart = true;
        return;
    }
    let run = ActiveRun { stop: Arc::default(), stats: Arc::default(), restart: false };
    active.insert(id.to_owned(), run);
    drop(active);
    app.runs.core_pool.join(id);
    let (app, id) = (app.clone(), id.to_owned());
    let handle = tokio::runtime::Handle::current();
    let name = format!("run {id}");
    let spawned = std::thread::Builder::new().name(name).spawn({
        let (app, id) = (app.clone(), id.clone());
        move || run::run_thread(&app, &id, &handle)
    });
    if let Err(error) = spawned {
        let _ = crate::error::ApiError::internal(error);
        app.runs.core_pool.leave(&id);
        app.runs.lock_active().remove(&id);
    }
}

/// Resumes checks and competitions that were interrupted when the server stopped.
pub async fn resume_all(app: &AppState) -> Result<(), StartError> {
    crate::uploads::start(app).await?;
    crate::practice::start(app).await?;
    let running = all_competitions(&app.site_db).await?.into_iter();
    for one in running.filter(|one| one.state == CompetitionState::Running) {
        play(app, &one.id);
    }
    Ok(())
}

/// Stops all runs and returns when they have ended. `app.is_stopping()` must be true. The caller waits at most `config.grace`.
pub async fn shut_down(app: &AppState) {
    app.check_queue.wake();
    app.practice.wake();
    loop {
        {
            let active = app.runs.lock_active();
            for run in active.values().filter(|run| !run.stop.is_requested()) {
                run.stop.request();
            }
            if active.is_empty() && app.check_queue.is_idle() && app.practice.is_idle() {
                return;
            }
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
