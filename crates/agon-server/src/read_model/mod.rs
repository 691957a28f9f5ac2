//! Competitions, open for reading: the file, the ledger, and what happens in them. Who plays them is [`crate::running`].
//!
//! What is shown is computed from the ledger when somebody asks for it, and kept for as long as nothing changes ([`CompetitionHandle::revision`]):
//! [`overview`] what a competition is and how far, [`figures`] a phase's tables, [`ratings`] how they came about, [`planned`] what is
//! to be played. [`shelf`] keeps it, [`ready`] has the bytes that are sent, [`wire`] those of events.

pub mod standings;
pub mod film_cache;
mod open;
pub mod overview;
pub mod schedule;
pub mod ratings;
pub mod encoded_json;
mod visible;
pub mod response_cache;
pub mod sse;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use agon_runner::LiveGames;
use agon_store::Ledger;
use agon_store::site_db::{HostedCompetition, SiteDb, CompetitionState};
use agon_venue::Sitting;
use agon_venue::competing::Where;
use bytes::Bytes;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, broadcast};

use crate::config::Config;
use crate::error::{ApiError, ApiResult, StartError};
use film_cache::FilmCache;
use response_cache::ResponseCache;

pub use open::{free_id, reopen, show};
pub use visible::{VisibleCompetition, is_shown};

/// Events that wait for a slow reader; whoever is slower than that misses some.
const WAITING: usize = 64;
/// What the office says of a competition is looked up at most so often, unless it is known to have changed.
const ROW: Duration = Duration::from_secs(1);
/// So many things are computed at once, for all who look on.
const AT_ONCE: usize = 4;

/// Something happened in a competition: for its page's stream.
#[derive(Clone, Debug)]
pub enum FeedEvent {
    /// How far it is, and what is being played (`Progress` of the API, as JSON).
    Progress(Bytes),
    /// The table of this phase (from 0) has changed.
    Table {
        /// From 0.
        phase: u32,
        /// The arena's revision since.
        revision: u64,
    },
    /// Its state has changed.
    State {
        /// To this.
        state: CompetitionState,
        /// Why, if it failed.
        message: Option<String>,
    },
}

/// A competition.
pub struct CompetitionHandle {
    /// Its id, as in addresses.
    pub id: String,
    /// The game's id.
    pub game: &'static str,
    sitting: RwLock<Option<Arc<Sitting>>>,
    ledger: RwLock<Option<Arc<dyn Ledger>>>,
    /// Where its ledger is kept.
    pub ledgers: Where,
    gallery: RwLock<Option<Arc<LiveGames>>>,
    revision: AtomicU64,
    feed: broadcast::Sender<Bytes>,
    /// How many events there were.
    told: AtomicU64,
    /// The latest progress, for who comes between two.
    progress: RwLock<Option<Bytes>>,
    row: RwLock<Option<Row>>,
    tables: ResponseCache<u32, standings::PhaseStandings>,
    overviews: ResponseCache<(), overview::Overview>,
    plans: ResponseCache<u32, schedule::StageProgress>,
    histories: ResponseCache<u32, encoded_json::EncodedJson>,
    /// Eliminations, drawn.
    pub brackets: ResponseCache<u32, encoded_json::EncodedJson>,
    /// Whether somebody will be told that the table they got is an old one.
    reminding: AtomicBool,
}

struct Row {
    says: Arc<HostedCompetition>,
    revision: u64,
    at: Instant,
}

fn read<T: Clone>(lock: &RwLock<T>) -> T {
    lock.read().unwrap_or_else(PoisonError::into_inner).clone()
}

fn write<T>(lock: &RwLock<T>, value: T) {
    *lock.write().unwrap_or_else(PoisonError::into_inner) = value;
}

impl CompetitionHandle {
    fn new(id: String, game: &'static str, ledgers: Where) -> Self {
        Self {
            id,
            game,
            ledgers,
            sitting: RwLock::default(),
            ledger: RwLock::default(),
            gallery: RwLock::default(),
            revision: AtomicU64::new(1),
            feed: broadcast::Sender::new(WAITING),
            told: AtomicU64::new(0),
            progress: RwLock::default(),
            row: RwLock::default(),
            tables: ResponseCache::default(),
            overviews: ResponseCache::default(),
            plans: ResponseCache::default(),
            histories: ResponseCache::default(),
            brackets: ResponseCache::default(),
            reminding: AtomicBool::new(false),
        }
    }

    /// Its file, read and checked; `None` while it is a draft whose file is not whole yet.
    pub fn sitting(&self) -> Option<Arc<Sitting>> {
        read(&self.sitting)
    }

    /// Its ledger, for reading; `None` before it was started.
    pub fn ledger(&self) -> Option<Arc<dyn Ledger>> {
        read(&self.ledger)
    }

    /// File and ledger of a competition that was started, or 409.
    pub fn started(&self) -> ApiResult<(Arc<Sitting>, Arc<dyn Ledger>)> {
        match (self.sitting(), self.ledger()) {
            (Some(sitting), Some(ledger)) => Ok((sitting, ledger)),
            _ => Err(ApiError::conflict("not_started", "the competition was not started yet")),
        }
    }

    /// The same, and which phase (from 0) this is of those that people count from 1; 404 if there is none.
    pub fn phase(&self, number: u32) -> ApiResult<(Arc<Sitting>, Arc<dyn Ledger>, u32)> {
        let (sitting, ledger) = self.started()?;
        let phase = number.checked_sub(1).filter(|at| (*at as usize) < sitting.competition.phases.len());
        Ok((sitting, ledger, phase.ok_or_else(|| ApiError::not_found("phase"))?))
    }

    /// The games that are being played, while it runs.
    pub fn gallery(&self) -> Option<Arc<LiveGames>> {
        read(&self.gallery)
    }

    /// The run begins or ends.
    pub fn show(&self, gallery: Option<Arc<LiveGames>>) {
        if gallery.is_none() {
            write(&self.progress, None);
        }
        write(&self.gallery, gallery);
    }

    /// The file was written anew, or the ledger was made.
    pub fn replace(&self, sitting: Option<Arc<Sitting>>, ledger: Option<Arc<dyn Ledger>>) {
        write(&self.sitting, sitting);
        write(&self.ledger, ledger);
        self.changed();
    }

    /// Rises whenever something that is shown may have changed: caches are valid for one revision.
    pub fn revision(&self) -> u64 {
        self.revision.load(Ordering::Acquire)
    }

    /// Something that is shown has changed (in the ledger, or in what the office says of it); gives the new revision.
    pub fn changed(&self) -> u64 {
        self.revision.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Tells whoever listens. Nobody is waited for.
    #[allow(clippy::needless_pass_by_value, reason = "it is over with what is told")]
    pub fn publish(&self, event: FeedEvent) {
        if matches!(event, FeedEvent::State { .. }) {
            self.changed();
        }
        let id = self.told.fetch_add(1, Ordering::Relaxed) + 1;
        let wire = sse::feed(id, &event);
        if matches!(event, FeedEvent::Progress(_)) {
            write(&self.progress, Some(wire.clone()));
        }
        // No listener is no error.
        let _ = self.feed.send(wire);
    }

    /// Everything that happens from now on, as it goes into a stream; and before that how far it is.
    pub fn subscribe(&self) -> (Option<Bytes>, broadcast::Receiver<Bytes>) {
        let feed = self.feed.subscribe();
        (read(&self.progress), feed)
    }

    /// What the office says of it, as it was at most a second ago.
    pub async fn site_row(&self, office: &SiteDb) -> ApiResult<Arc<HostedCompetition>> {
        let revision = self.revision();
        {
            let kept = self.row.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(kept) =
                kept.as_ref().filter(|kept| kept.revision == revision && kept.at.elapsed() < ROW)
            {
                return Ok(Arc::clone(&kept.says));
            }
        }
        let row = Arc::new(office.competition(&self.id).await?);
        write(&self.row, Some(Row { says: Arc::clone(&row), revision, at: Instant::now() }));
        Ok(row)
    }

    /// Whoever got a table of an older revision learns a little later that there is another: the last change of a run is missed
    /// by nobody.
    fn remind(self: &Arc<Self>, phase: u32, after: Duration) {
        if self.reminding.swap(true, Ordering::AcqRel) {
            return;
        }
        let arena = Arc::clone(self);
        tokio::spawn(async move {
            tokio::time::sleep(after + Duration::from_millis(50)).await;
            arena.reminding.store(false, Ordering::Release);
            arena.publish(FeedEvent::Table { phase, revision: arena.revision() });
        });
    }
}

/// All competitions the server knows.
pub struct CompetitionRegistry {
    known: RwLock<BTreeMap<String, Arc<CompetitionHandle>>>,
    ledgers: Where,
    room: Arc<Semaphore>,
    /// Films that were asked for lately.
    pub films: FilmCache,
}

impl CompetitionRegistry {
    /// Those of the office, and the files it was started with.
    pub async fn open(config: &Config, office: &SiteDb) -> Result<Self, StartError> {
        let arenas = Self {
            known: RwLock::default(),
            ledgers: config.ledgers.clone(),
            room: Arc::new(Semaphore::new(AT_ONCE)),
            films: FilmCache::default(),
        };
        open::files(config, office).await?;
        open::known(office, &arenas).await?;
        Ok(arenas)
    }

    /// One of them, or 404.
    pub fn get(&self, id: &str) -> ApiResult<Arc<CompetitionHandle>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(id).cloned().ok_or_else(|| ApiError::not_found("competition"))
    }

    /// A new one, or one that is known already.
    pub fn add(&self, id: &str, game: &'static str) -> Arc<CompetitionHandle> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known
            .entry(id.to_owned())
            .or_insert_with(|| Arc::new(CompetitionHandle::new(id.to_owned(), game, self.ledgers.clone())))
            .clone()
    }

    /// One that was deleted.
    pub fn remove(&self, id: &str) {
        self.known.write().unwrap_or_else(PoisonError::into_inner).remove(id);
    }

    /// All of them, by id.
    pub fn all(&self) -> Vec<Arc<CompetitionHandle>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Computes something away from the threads that answer, a few at once. The ledger is asked through the handle.
    pub async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Handle) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let room = Arc::clone(&self.room).acquire_owned().await.map_err(ApiError::broke)?;
        let handle = Handle::current();
        let done = tokio::task::spawn_blocking(move || {
            let _room = room;
            work(&handle)
        });
        done.await.map_err(ApiError::broke)?
    }
}
