//! What all handlers share.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Instant;

use agon_store::PostgresLedger;
use agon_store::site_db::SiteDb;
use agon_venue::competing::Where;

use crate::read_model::CompetitionRegistry;
use crate::config::Config;
use crate::error::StartError;
use crate::middleware::rate_limit::Limiter;
use crate::grid::GridClient;
use crate::uploads::CheckQueue;
use crate::metrics::HttpMetrics;
use crate::passwords::Passwords;
use crate::runs::RunManager;

/// What all handlers share; cheap to clone.
#[derive(Clone)]
pub struct AppState(Arc<AppStateInner>);

/// What an [`AppState`] leads to.
pub struct AppStateInner {
    /// How it was set up.
    pub config: Config,
    /// Accounts, submissions, the audit log.
    pub office: SiteDb,
    /// The competitions.
    pub arenas: CompetitionRegistry,
    /// Bots that were handed in, on their way to being checked.
    pub intake: CheckQueue,
    /// Other machines, if games are played there.
    pub grid: Option<GridClient>,
    /// Competitions that are played just now.
    pub running: RunManager,
    /// What is counted.
    pub meters: HttpMetrics,
    /// How often somebody may do what.
    pub limiter: Limiter,
    /// Hashes passwords, few at once.
    pub passwords: Passwords,
    /// Since when it runs.
    pub started: Instant,
    /// Becomes true when it is asked to stop: streams end, nothing new is begun.
    pub stopping: tokio::sync::watch::Sender<bool>,
}

impl AppState {
    /// Opens everything in the data folder, which is made if it is not there. Nothing runs yet: [`crate::serve`] begins that.
    pub async fn open(config: Config) -> Result<Self, StartError> {
        std::fs::create_dir_all(&config.data).map_err(|error| StartError::folder(&config.data, &error))?;
        let office =
            SiteDb::open(config.database.clone().unwrap_or_else(|| config.data.join("office.db"))).await?;
        if let Where::Database(url) = &config.ledgers {
            // Better now than when the first competition is started.
            PostgresLedger::list(url).await.map_err(|error| StartError::Ledgers(error.into()))?;
        }
        let arenas = CompetitionRegistry::open(&config, &office).await?;
        let grid = match &config.nats {
            Some(options) => Some(GridClient::open(options).await?),
            None => None,
        };
        Ok(Self(Arc::new(AppStateInner {
            intake: CheckQueue::new(&config),
            running: RunManager::new(&config),
            grid,
            limiter: Limiter::new(config.limits),
            meters: HttpMetrics::default(),
            passwords: Passwords::new(),
            started: Instant::now(),
            stopping: tokio::sync::watch::Sender::new(false),
            config,
            office,
            arenas,
        })))
    }

    /// Whether it was asked to stop.
    pub fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Comes back when it was asked to stop: for streams.
    pub async fn stopped(&self) {
        // The sender lives as long as the app, so this cannot fail.
        let _ = self.stopping.subscribe().wait_for(|stopping| *stopping).await;
    }
}

impl Deref for AppState {
    type Target = AppStateInner;

    fn deref(&self) -> &AppStateInner {
        &self.0
    }
}
