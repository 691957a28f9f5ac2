//! Read side of the competitions: their file, their ledger and their events. [`crate::runs`] plays them.
//!
//! Responses are computed from the ledger on demand and cached until something changes ([`CompetitionHandle::revision`]). [`overview`]
//! computes state and entrants, [`standings`] the tables of a phase, [`ratings`] the ratings over time, [`schedule`] the stages.
//! [`response_cache`] caches them, [`encoded_json`] holds the serialised responses, [`sse`] serialises events.

pub mod chart_scales;
pub mod encoded_json;
pub mod film_cache;
pub mod freeze;
mod open;
pub mod overview;
pub mod ratings;
pub mod response_cache;
pub mod schedule;
pub mod sse;
pub mod standings;
mod visible;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};

use agon_competition::LedgerLocation;
use agon_competition::LoadedCompetition;
use agon_core::RwLockIgnoringPoison as _;
use agon_runner::LiveGames;
use agon_site_db::{CompetitionState, HostedCompetition, SiteDb};
use agon_store::Ledger;
use bytes::Bytes;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, broadcast};

use crate::config::Config;
use crate::error::{ApiError, ApiResult, StartError};
use film_cache::FilmCache;
use response_cache::ResponseCache;

pub use open::{all_competitions, free_id, load};
pub use visible::{VisibleCompetition, is_public};

/// Number of events buffered for a slow subscriber. A subscriber that is slower misses some.
const EVENT_QUEUE_CAPACITY: usize = 64;
/// Interval at which the row of the site database is read again, unless the revision shows that it changed.
const SITE_ROW_REFRESH_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of responses computed at the same time, for all clients.
const MAX_PARALLEL_COMPUTATIONS: usize = 4;

/// An event of a competition, for its event stream.
#[derive(Clone, Debug)]
pub enum FeedEvent {
    /// Progress and the games being played (`Progress` of the API, as JSON).
    Progress(Bytes),
    /// The table of a phase has changed.
    Table {
        /// The phase, from 0.
        phase: u32,
        /// The new revision of the competition.
        revision: u64,
    },
    /// The state has changed.
    State {
        /// The new state.
        state: CompetitionState,
        /// Why the competition failed, if it did.
        message: Option<String>,
    },
    /// The standings are frozen, or no longer, or places were revealed.
    Freeze {
        /// The last moment whose results everyone sees; `None` after the freeze.
        since: Option<agon_store::Timestamp>,
        /// Number of places that are revealed, from the last one upwards.
        revealed: u32,
    },
}

/// A competition, with its caches.
pub struct CompetitionHandle {
    /// The id, as in URLs.
    pub id: String,
    /// The game's id.
    pub game: &'static str,
    loaded: RwLock<Option<Arc<LoadedCompetition>>>,
    ledger: RwLock<Option<Arc<dyn Ledger>>>,
    /// Where the ledger is stored.
    pub ledgers: LedgerLocation,
    live_games: RwLock<Option<Arc<LiveGames>>>,
    revision: AtomicU64,
    events: broadcast::Sender<Bytes>,
    /// Events for everyone. While the standings are frozen, they tell nothing about results.
    public_events: broadcast::Sender<Bytes>,
    /// The latest freeze of the standings.
    freeze: RwLock<Option<agon_site_db::StandingsFreeze>>,
    /// Whether the viewers know that the standings are frozen.
    freeze_published: AtomicBool,
    /// The moment that this view shows, if it is the view of a frozen competition.
    as_of: Option<agon_store::Timestamp>,
    frozen_view: RwLock<Option<freeze::FrozenView>>,
    /// Number of events published so far.
    event_count: AtomicU64,
    /// The latest progress event, for new subscribers.
    progress: RwLock<Option<Bytes>>,
    row: RwLock<Option<CachedSiteRow>>,
    tables: ResponseCache<u32, standings::PhaseStandings>,
    overviews: ResponseCache<(), overview::Overview>,
    plans: ResponseCache<u32, schedule::StageProgress>,
    histories: ResponseCache<u32, encoded_json::EncodedJson>,
    /// Brackets of elimination phases.
    pub brackets: ResponseCache<u32, encoded_json::EncodedJson>,
    /// Whether a delayed table event is scheduled.
    reminder_pending: AtomicBool,
}

struct CachedSiteRow {
    competition: Arc<HostedCompetition>,
    revision: u64,
    at: Instant,
}

fn read<T: Clone>(lock: &RwLock<T>) -> T {
    lock.read_ignoring_poison().clone()
}

fn write<T>(lock: &RwLock<T>, value: T) {
    *lock.write_ignoring_poison() = value;
}

impl CompetitionHandle {
    fn new(id: String, game: &'static str, ledgers: LedgerLocation) -> Self {
        Self {
            id,
            game,
            ledgers,
            loaded: RwLock::default(),
            ledger: RwLock::default(),
            live_games: RwLock::default(),
            revision: AtomicU64::new(1),
            events: broadcast::Sender::new(EVENT_QUEUE_CAPACITY),
            public_events: broadcast::Sender::new(EVENT_QUEUE_CAPACITY),
            freeze: RwLock::default(),
            freeze_published: AtomicBool::new(false),
            as_of: None,
            frozen_view: RwLock::default(),
            event_count: AtomicU64::new(0),
            progress: RwLock::default(),
            row: RwLock::default(),
            tables: ResponseCache::default(),
            overviews: ResponseCache::default(),
            plans: ResponseCache::default(),
            histories: ResponseCache::default(),
            brackets: ResponseCache::default(),
            reminder_pending: AtomicBool::new(false),
        }
    }

    /// The loaded competition; `None` while the file of a draft is incomplete.
    pub fn loaded(&self) -> Option<Arc<LoadedCompetition>> {
        read(&self.loaded)
    }

    /// The ledger for reading; `None` before the start.
    pub fn ledger(&self) -> Option<Arc<dyn Ledger>> {
        read(&self.ledger)
    }

    /// File and ledger of a started competition, or 409.
    pub fn started(&self) -> ApiResult<(Arc<LoadedCompetition>, Arc<dyn Ledger>)> {
        match (self.loaded(), self.ledger()) {
            (Some(loaded), Some(ledger)) => Ok((loaded, ledger)),
            _ => Err(ApiError::conflict("not_started", "the competition has not started yet")),
        }
    }

    /// The same, with the index of a phase (from 0) for its number (from 1); 404 if there is no such phase.
    pub fn phase(&self, number: u32) -> ApiResult<(Arc<LoadedCompetition>, Arc<dyn Ledger>, u32)> {
        let (loaded, ledger) = self.started()?;
        let phase = number.checked_sub(1).filter(|at| (*at as usize) < loaded.competition.phases.len());
        Ok((loaded, ledger, phase.ok_or_else(|| ApiError::not_found("phase"))?))
    }

    /// The games being played, while the competition runs.
    pub fn live_games(&self) -> Option<Arc<LiveGames>> {
        read(&self.live_games)
    }

    /// Sets the games being played when a run starts, and `None` when it ends.
    pub fn show(&self, live_games: Option<Arc<LiveGames>>) {
        if live_games.is_none() {
            write(&self.progress, None);
        }
        write(&self.live_games, live_games);
    }

    /// Sets file and ledger after the file was rewritten or the ledger was created.
    pub fn replace(&self, loaded: Option<Arc<LoadedCompetition>>, ledger: Option<Arc<dyn Ledger>>) {
        write(&self.loaded, loaded);
        write(&self.ledger, ledger);
        self.changed();
    }

    /// Increases with every visible change. Cached responses are valid for one revision.
    pub fn revision(&self) -> u64 {
        self.revision.load(Ordering::Acquire)
    }

    /// Notes a visible change in the ledger or in the site database. Returns the new revision.
    pub fn changed(&self) -> u64 {
        self.revision.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Sends an event to all subscribers, without waiting for them.
    #[allow(clippy::needless_pass_by_value, reason = "the event is not needed afterwards")]
    pub fn publish(&self, event: FeedEvent) {
        let state = match event {
            FeedEvent::State { state, .. } => {
                self.changed();
                state
            }
            _ => CompetitionState::Running,
        };
        if self.as_of.is_some() {
            // A view of an earlier moment does not change.
            return;
        }
        let frozen = self.frozen_since(state);
        if let Some(since) = frozen.filter(|_| !matches!(event, FeedEvent::Freeze { .. }))
            && !self.freeze_published.swap(true, Ordering::AcqRel)
        {
            // The moment that the file names is over.
            self.changed();
            self.publish(FeedEvent::Freeze { since: Some(since), revealed: 0 });
        }
        let id = self.event_count.fetch_add(1, Ordering::Relaxed) + 1;
        let bytes = sse::competition_event(id, &event);
        if matches!(event, FeedEvent::Progress(_)) {
            write(&self.progress, Some(bytes.clone()));
        }
        // Having no subscribers is not an error.
        let _ = self.events.send(bytes.clone());
        // The end of the competition is shown with the results.
        let hides = frozen.is_some()
            && matches!(
                event,
                FeedEvent::State { state: CompetitionState::Finished, .. }
                    | FeedEvent::Progress(_)
                    | FeedEvent::Table { .. }
            );
        if !hides {
            let _ = self.public_events.send(bytes);
        }
    }

    /// The latest progress event, and all events from now on that a caller may see.
    pub fn subscribe(&self, is_organiser: bool) -> (Option<Bytes>, broadcast::Receiver<Bytes>) {
        let feed = if is_organiser { &self.events } else { &self.public_events };
        (read(&self.progress), feed.subscribe())
    }

    /// The row of the site database, at most one second old.
    pub async fn site_row(&self, site_db: &SiteDb) -> ApiResult<Arc<HostedCompetition>> {
        let revision = self.revision();
        {
            let cached = self.row.read_ignoring_poison();
            if let Some(cached) = cached.as_ref().filter(|cached| {
                cached.revision == revision && cached.at.elapsed() < SITE_ROW_REFRESH_INTERVAL
            }) {
                return Ok(Arc::clone(&cached.competition));
            }
        }
        let row = Arc::new(site_db.competition(&self.id).await?);
        write(&self.row, Some(CachedSiteRow { competition: Arc::clone(&row), revision, at: Instant::now() }));
        Ok(row)
    }

    /// Publishes a table event a little later. A client that got a table of an older revision then learns of the newer one, even after the
    /// last change of a run.
    fn publish_table_later(self: &Arc<Self>, phase: u32, after: Duration) {
        if self.reminder_pending.swap(true, Ordering::AcqRel) {
            return;
        }
        let competition_handle = Arc::clone(self);
        tokio::spawn(async move {
            tokio::time::sleep(after + Duration::from_millis(50)).await;
            competition_handle.reminder_pending.store(false, Ordering::Release);
            competition_handle.publish(FeedEvent::Table { phase, revision: competition_handle.revision() });
        });
    }
}

/// All competitions of the server.
pub struct CompetitionRegistry {
    by_id: RwLock<BTreeMap<String, Arc<CompetitionHandle>>>,
    ledgers: LedgerLocation,
    compute_permits: Arc<Semaphore>,
    /// Recently used films.
    pub films: FilmCache,
}

impl CompetitionRegistry {
    /// Opens the competitions of the site database and those given on the command line.
    pub async fn open(config: &Config, site_db: &SiteDb) -> Result<Self, StartError> {
        let registry = Self {
            by_id: RwLock::default(),
            ledgers: config.ledgers.clone(),
            compute_permits: Arc::new(Semaphore::new(MAX_PARALLEL_COMPUTATIONS)),
            films: FilmCache::default(),
        };
        open::register_files(config, site_db).await?;
        open::open_all(config, site_db, &registry).await?;
        Ok(registry)
    }

    /// The competition with this id, or 404.
    pub fn get(&self, id: &str) -> ApiResult<Arc<CompetitionHandle>> {
        let by_id = self.by_id.read_ignoring_poison();
        by_id.get(id).cloned().ok_or_else(|| ApiError::not_found("competition"))
    }

    /// Adds a competition, or returns it if it is already there.
    pub fn add(&self, id: &str, game: &'static str) -> Arc<CompetitionHandle> {
        let mut by_id = self.by_id.write_ignoring_poison();
        by_id
            .entry(id.to_owned())
            .or_insert_with(|| Arc::new(CompetitionHandle::new(id.to_owned(), game, self.ledgers.clone())))
            .clone()
    }

    /// Removes a deleted competition.
    pub fn remove(&self, id: &str) {
        self.by_id.write_ignoring_poison().remove(id);
    }

    /// All competitions, ordered by id.
    pub fn all(&self) -> Vec<Arc<CompetitionHandle>> {
        self.by_id.read_ignoring_poison().values().cloned().collect()
    }

    /// Runs a slow computation on a blocking thread, a few at a time. It queries the ledger through the tokio handle.
    pub async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Handle) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let permit = Arc::clone(&self.compute_permits).acquire_owned().await.map_err(ApiError::internal)?;
        let (handle, span) = (Handle::current(), tracing::Span::current());
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            span.in_scope(|| work(&handle))
        });
        done.await.map_err(ApiError::internal)?
    }
}
