//! State shared by all handlers.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Instant;

use agon_competition::LedgerLocation;
use agon_site_db::SiteDb;
use agon_store::PostgresLedger;

use crate::config::Config;
use crate::error::StartError;
use crate::grid::GridClient;
use crate::health::HealthMonitor;
use crate::metrics::HttpMetrics;
use crate::middleware::rate_limit::RateLimiter;
use crate::notify::NotifyQueue;
use crate::notify::mail::{self, Mailer};
use crate::notify::webhooks::WebhookClient;
use crate::passwords::Passwords;
use crate::play::PlaySessions;
use crate::played_games::PlayedGames;
use crate::practice::Practice;
use crate::read_model::CompetitionRegistry;
use crate::runs::RunManager;
use crate::sharing::PictureService;
use crate::stream_limits::StreamCounts;
use crate::uploads::CheckQueue;
use crate::uploads::budget::UploadSlots;
use crate::uploads::draft_checks::DraftChecks;

/// State shared by all handlers; cheap to clone.
#[derive(Clone)]
pub struct AppState(Arc<AppStateInner>);

/// Content of an [`AppState`].
pub struct AppStateInner {
    /// Configuration of the server.
    pub config: Config,
    /// Site database: accounts, submissions, audit log.
    pub site_db: SiteDb,
    /// All competitions.
    pub competitions: CompetitionRegistry,
    /// Wakes the threads that check submitted bots.
    pub check_queue: CheckQueue,
    /// Checks of drafts that authors have not submitted.
    pub draft_checks: DraftChecks,
    /// Places for uploads that are being received.
    pub upload_slots: UploadSlots,
    /// Connection to the workers, if games are played on other machines.
    pub grid: Option<GridClient>,
    /// Competitions being played.
    pub runs: RunManager,
    /// Games that persons play in the browser.
    pub play: PlaySessions,
    /// Wakes the tasks that send mails and webhook requests.
    pub notify: NotifyQueue,
    /// Sends mails, if the organiser set a mail server.
    pub mailer: Option<Mailer>,
    /// Sends requests of webhooks.
    pub webhooks: WebhookClient,
    /// Store of games outside of competitions.
    pub played_games: PlayedGames,
    /// Practice ladders and challenges.
    pub practice: Practice,
    /// Open live streams.
    pub streams: StreamCounts,
    /// Makes pictures and GIFs of games, and cards of pages.
    pub share_pictures: PictureService,
    /// State of the parts of the server.
    pub health: HealthMonitor,
    /// Counters and gauges for `/metrics`.
    pub meters: HttpMetrics,
    /// Rate limiter.
    pub limiter: RateLimiter,
    /// Hashes passwords.
    pub passwords: Passwords,
    /// When the server started.
    pub started: Instant,
    /// Becomes true when the server must stop: streams end, nothing new starts.
    pub stopping: tokio::sync::watch::Sender<bool>,
}

impl AppState {
    /// Opens everything in the data folder and creates the folder if needed. Starts nothing: [`crate::serve`] does.
    pub async fn open(config: Config) -> Result<Self, StartError> {
        std::fs::create_dir_all(&config.data)
            .map_err(|error| StartError::data_folder(&config.data, &error))?;
        let site_db =
            SiteDb::open(config.database.clone().unwrap_or_else(|| config.data.join("office.db"))).await?;
        if let LedgerLocation::Database(url) = &config.ledgers {
            // Fails at the start of the server rather than at the start of the first competition.
            PostgresLedger::list(url).await.map_err(|error| StartError::Other(error.into()))?;
        }
        let competitions = CompetitionRegistry::open(&config, &site_db).await?;
        let grid = match &config.nats {
            Some(options) => Some(GridClient::open(options).await?),
            None => None,
        };
        Ok(Self(Arc::new(AppStateInner {
            check_queue: CheckQueue::new(&config),
            draft_checks: DraftChecks::default(),
            upload_slots: UploadSlots::new(&config.uploads),
            runs: RunManager::new(&config),
            played_games: PlayedGames::new(site_db.clone(), &config.data, config.played_games),
            practice: Practice::new(&config),
            play: PlaySessions::new(&config),
            grid,
            limiter: RateLimiter::new(config.limits),
            notify: NotifyQueue::default(),
            mailer: mail::open(config.mail.as_ref())?,
            webhooks: WebhookClient::new(config.private_webhooks),
            streams: StreamCounts::default(),
            share_pictures: PictureService::default(),
            health: HealthMonitor::default(),
            meters: HttpMetrics::default(),
            passwords: Passwords::new(),
            started: Instant::now(),
            stopping: tokio::sync::watch::Sender::new(false),
            config,
            site_db,
            competitions,
        })))
    }

    /// Whether the server is stopping.
    pub fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Returns when the server is stopping.
    pub async fn wait_for_stop(&self) {
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
