//! What all handlers share.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Instant;

use agon_store::PostgresLedger;
use agon_store::office::Office;
use agon_venue::competing::Where;

use crate::arena::Arenas;
use crate::config::Config;
use crate::error::StartError;
use crate::gate::limits::Limiter;
use crate::grid::Grid;
use crate::intake::Intake;
use crate::meters::Meters;
use crate::passwords::Passwords;
use crate::running::Running;

/// What all handlers share; cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Shared>);

/// What an [`App`] leads to.
pub struct Shared {
    /// How it was set up.
    pub config: Config,
    /// Accounts, submissions, the audit log.
    pub office: Office,
    /// The competitions.
    pub arenas: Arenas,
    /// Bots that were handed in, on their way to being checked.
    pub intake: Intake,
    /// Other machines, if games are played there.
    pub grid: Option<Grid>,
    /// Competitions that are played just now.
    pub running: Running,
    /// What is counted.
    pub meters: Meters,
    /// How often somebody may do what.
    pub limiter: Limiter,
    /// Hashes passwords, few at once.
    pub passwords: Passwords,
    /// Since when it runs.
    pub started: Instant,
    /// Becomes true when it is asked to stop: streams end, nothing new is begun.
    pub stopping: tokio::sync::watch::Sender<bool>,
}

impl App {
    /// Opens everything in the data folder, which is made if it is not there. Nothing runs yet: [`crate::serve`] begins that.
    pub async fn open(config: Config) -> Result<Self, StartError> {
        std::fs::create_dir_all(&config.data).map_err(|error| StartError::folder(&config.data, &error))?;
        let office =
            Office::open(config.database.clone().unwrap_or_else(|| config.data.join("office.db"))).await?;
        if let Where::Database(url) = &config.ledgers {
            // Better now than when the first competition is started.
            PostgresLedger::list(url).await.map_err(|error| StartError::Ledgers(error.into()))?;
        }
        let arenas = Arenas::open(&config, &office).await?;
        let grid = match &config.nats {
            Some(options) => Some(Grid::open(options).await?),
            None => None,
        };
        Ok(Self(Arc::new(Shared {
            intake: Intake::new(&config),
            running: Running::new(&config),
            grid,
            limiter: Limiter::new(config.limits),
            meters: Meters::default(),
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

impl Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}
