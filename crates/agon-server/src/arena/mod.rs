//! Competitions, open for reading: the file, the ledger, and what happens in them. Who plays them is [`crate::running`].

mod open;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use agon_runner::Gallery;
use agon_store::SqliteLedger;
use agon_store::office::{Office, State};
use agon_venue::Sitting;
use tokio::sync::broadcast;

use crate::config::Config;
use crate::error::{ApiError, ApiResult, StartError};

/// Events that wait for a slow reader; whoever is slower than that misses some and is told so.
const WAITING: usize = 64;

/// Something happened in a competition: for its page's stream. Ready to be sent, the same bytes for all.
#[derive(Clone, Debug)]
pub enum FeedEvent {
    /// How far it is, and what is being played (`Progress` of the API, as JSON).
    Progress(bytes::Bytes),
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
        state: State,
        /// Why, if it failed.
        message: Option<String>,
    },
}

/// A competition.
pub struct Arena {
    /// Its id, as in addresses.
    pub id: String,
    /// The game's id.
    pub game: &'static str,
    sitting: RwLock<Option<Arc<Sitting>>>,
    ledger: RwLock<Option<Arc<SqliteLedger>>>,
    gallery: RwLock<Option<Arc<Gallery>>>,
    revision: AtomicU64,
    feed: broadcast::Sender<FeedEvent>,
}

impl Arena {
    fn new(id: String, game: &'static str) -> Self {
        Self {
            id,
            game,
            sitting: RwLock::default(),
            ledger: RwLock::default(),
            gallery: RwLock::default(),
            revision: AtomicU64::new(1),
            feed: broadcast::Sender::new(WAITING),
        }
    }

    /// Its file, read and checked; `None` while it is a draft whose file is not whole yet.
    pub fn sitting(&self) -> Option<Arc<Sitting>> {
        self.sitting.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Its ledger, for reading; `None` before it was started.
    pub fn ledger(&self) -> Option<Arc<SqliteLedger>> {
        self.ledger.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// File and ledger of a competition that was started, or 409.
    pub fn started(&self) -> ApiResult<(Arc<Sitting>, Arc<SqliteLedger>)> {
        match (self.sitting(), self.ledger()) {
            (Some(sitting), Some(ledger)) => Ok((sitting, ledger)),
            _ => Err(ApiError::conflict("not_started", "the competition was not started yet")),
        }
    }

    /// The games that are being played, while it runs.
    pub fn gallery(&self) -> Option<Arc<Gallery>> {
        self.gallery.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The run begins or ends.
    pub fn show(&self, gallery: Option<Arc<Gallery>>) {
        *self.gallery.write().unwrap_or_else(PoisonError::into_inner) = gallery;
    }

    /// The file was written anew, or the ledger was made.
    pub fn replace(&self, sitting: Option<Arc<Sitting>>, ledger: Option<Arc<SqliteLedger>>) {
        *self.sitting.write().unwrap_or_else(PoisonError::into_inner) = sitting;
        *self.ledger.write().unwrap_or_else(PoisonError::into_inner) = ledger;
        self.changed();
    }

    /// Rises whenever something that is shown may have changed: caches are valid for one revision.
    pub fn revision(&self) -> u64 {
        self.revision.load(Ordering::Acquire)
    }

    /// Something that is shown has changed; gives the new revision.
    pub fn changed(&self) -> u64 {
        self.revision.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Tells whoever listens. Nobody is waited for.
    pub fn tell(&self, event: FeedEvent) {
        // No listener is no error.
        let _ = self.feed.send(event);
    }

    /// Everything that happens from now on.
    pub fn listen(&self) -> broadcast::Receiver<FeedEvent> {
        self.feed.subscribe()
    }
}

/// All competitions the server knows.
#[derive(Default)]
pub struct Arenas(RwLock<BTreeMap<String, Arc<Arena>>>);

impl Arenas {
    /// Those of the office, and the files it was started with.
    pub async fn open(config: &Config, office: &Office) -> Result<Self, StartError> {
        let arenas = Self::default();
        open::files(config, office).await?;
        open::known(office, &arenas).await?;
        Ok(arenas)
    }

    /// One of them, or 404.
    pub fn get(&self, id: &str) -> ApiResult<Arc<Arena>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.get(id).cloned().ok_or_else(|| ApiError::not_found("competition"))
    }

    /// A new one, or one that is known already.
    pub fn add(&self, id: &str, game: &'static str) -> Arc<Arena> {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.entry(id.to_owned()).or_insert_with(|| Arc::new(Arena::new(id.to_owned(), game))).clone()
    }

    /// One that was deleted.
    pub fn remove(&self, id: &str) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(id);
    }

    /// All of them, by id.
    pub fn all(&self) -> Vec<Arc<Arena>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}

pub use open::reopen;
