//! Competitions as they are played: each in a thread of its own, all of them on the machine's cores together.
//!
//! How far a competition is stands in the office and is moved on by compare-and-set; what was played stands in its ledger. So a server
//! that was killed goes on with whatever was `running`. [`cup`] is a competition's file, [`shares`] who gets how many cores, [`run`] the
//! thread, [`feed`] what it tells the pages.

pub mod competition_file;
pub mod events;
pub mod entrants;
pub mod run;
pub mod core_pool;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agon_runner::StopFlag;
use agon_store::site_db::{Origin, PageRequest, CompetitionFilter, CompetitionState};

use crate::config::Config;
use crate::error::StartError;
use crate::state::AppState;
use events::RunStats;
use core_pool::CorePool;

/// What is played just now.
pub struct RunManager {
    runs: Mutex<BTreeMap<String, ActiveRun>>,
    /// The places games are played at.
    pub shares: CorePool,
}

/// A competition that runs.
struct ActiveRun {
    stop: Arc<StopFlag>,
    figures: Arc<RunStats>,
    /// It was asked to go on while it was stopping.
    again: bool,
}

impl RunManager {
    /// Nothing yet.
    pub fn new(config: &Config) -> Self {
        Self { runs: Mutex::default(), shares: CorePool::new(config.jobs) }
    }

    fn runs(&self) -> MutexGuard<'_, BTreeMap<String, ActiveRun>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What runs, and its figures.
    pub fn all(&self) -> Vec<(String, Arc<RunStats>)> {
        self.runs().iter().map(|(id, now)| (id.clone(), Arc::clone(&now.figures))).collect()
    }

    /// Asks a run to stop after the games that are being played.
    pub fn stop(&self, id: &str) {
        if let Some(now) = self.runs().get_mut(id) {
            now.again = false;
            now.stop.request();
        }
    }
}

/// Plays a competition whose state is `running`. One that is just stopping goes on.
pub fn play(app: &AppState, id: &str) {
    let mut runs = app.running.runs();
    if let Some(now) = runs.get_mut(id) {
        now.again = true;
        return;
    }
    let now = ActiveRun { stop: Arc::default(), figures: Arc::default(), again: false };
    runs.insert(id.to_owned(), now);
    drop(runs);
    app.running.shares.enter(id);
    let (app, id) = (app.clone(), id.to_owned());
    let handle = tokio::runtime::Handle::current();
    let name = format!("run {id}");
    let spawned = std::thread::Builder::new().name(name).spawn({
        let (app, id) = (app.clone(), id.clone());
        move || run::thread(&app, &id, &handle)
    });
    if let Err(error) = spawned {
        let _ = crate::error::ApiError::broke(error);
        app.running.shares.leave(&id);
        app.running.runs().remove(&id);
    }
}

/// The server has started: what was cut off goes on (checks, competitions).
pub async fn begin(app: &AppState) -> Result<(), StartError> {
    crate::uploads::begin(app).await?;
    let mut page = PageRequest { after: None, limit: 100 };
    loop {
        let listed = app.office.competitions(CompetitionFilter::All, page).await?;
        for one in listed.items {
            if one.origin == Origin::Hosted && matches!(one.state, CompetitionState::Draft | CompetitionState::Open | CompetitionState::Closed)
            {
                // One that cannot be read is shown without its phases: its organiser mends it.
                let _ = entrants::rewrite_file(app, &one).await;
            }
            if one.state == CompetitionState::Running {
                play(app, &one.id);
            }
        }
        match listed.next {
            Some(after) => page.after = Some(after),
            None => return Ok(()),
        }
    }
}

/// The server stops (`app.is_stopping()` is true by now): asks everything that runs to end and comes back when it has. Whoever
/// calls it waits no longer than `config.grace`.
pub async fn shut_down(app: &AppState) {
    app.intake.wake();
    loop {
        {
            let runs = app.running.runs();
            for now in runs.values().filter(|now| !now.stop.is_requested()) {
                now.stop.request();
            }
            if runs.is_empty() && app.intake.is_idle() {
                return;
            }
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
