//! Answers that are worth keeping: made once for a revision, by one at a time, and handed to all who ask.

use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use crate::error::ApiResult;

/// While a competition runs, what was made is good for so long, whatever has happened since.
const FRESH: Duration = Duration::from_secs(1);
/// And for so many times as long as it took to make: nothing may take more than a few hundredths of a core.
const WORTH: u32 = 20;

/// Something that was made.
#[derive(Debug)]
pub struct CachedValue<V> {
    /// What.
    pub value: Arc<V>,
    /// Of which revision it is.
    pub revision: u64,
    /// For how much longer it may be handed out though there is a newer revision.
    pub good_for: Duration,
}

struct CacheEntry<V> {
    value: Arc<V>,
    revision: u64,
    at: Instant,
    took: Duration,
}

impl<V> CacheEntry<V> {
    /// How long it may still be handed out while things change.
    fn good_for(&self) -> Duration {
        FRESH.max(self.took * WORTH).saturating_sub(self.at.elapsed())
    }

    fn kept(&self) -> CachedValue<V> {
        CachedValue { value: Arc::clone(&self.value), revision: self.revision, good_for: self.good_for() }
    }
}

struct Slot<V> {
    made: RwLock<Option<CacheEntry<V>>>,
    making: tokio::sync::Mutex<()>,
}

impl<V> Slot<V> {
    /// What there is, if it is good enough: of this revision, or of an older one while things change all the time.
    fn good(&self, revision: u64, moving: bool) -> Option<CachedValue<V>> {
        let made = self.made.read().unwrap_or_else(PoisonError::into_inner);
        let made = made.as_ref()?;
        (made.revision == revision || (moving && !made.good_for().is_zero())).then(|| made.kept())
    }

    fn last(&self) -> Option<CachedValue<V>> {
        self.made.read().unwrap_or_else(PoisonError::into_inner).as_ref().map(CacheEntry::kept)
    }
}

/// Answers of one kind, by what they are about. The keys are few: phases that there are.
pub struct ResponseCache<K, V>(Mutex<HashMap<K, Arc<Slot<V>>>>);

impl<K, V> Default for ResponseCache<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V> ResponseCache<K, V> {
    /// What was made for this revision; made now if it was not. While the competition is `moving`, the last one is good enough for
    /// a while, and for everybody who comes while the next one is made.
    pub async fn get<F: Future<Output = ApiResult<V>>>(
        &self,
        key: K,
        revision: u64,
        moving: bool,
        make: impl FnOnce() -> F,
    ) -> ApiResult<CachedValue<V>> {
        let slot = self.slot(key);
        if let Some(kept) = slot.good(revision, moving) {
            return Ok(kept);
        }
        let _making = if let Ok(making) = slot.making.try_lock() {
            making
        } else {
            if let Some(last) = slot.last().filter(|_| moving) {
                return Ok(last);
            }
            let making = slot.making.lock().await;
            if let Some(kept) = slot.good(revision, moving) {
                return Ok(kept);
            }
            making
        };
        let at = Instant::now();
        let value = Arc::new(make().await?);
        let made = CacheEntry { value, revision, at: Instant::now(), took: at.elapsed() };
        let kept = made.kept();
        *slot.made.write().unwrap_or_else(PoisonError::into_inner) = Some(made);
        Ok(kept)
    }

    fn slot(&self, key: K) -> Arc<Slot<V>> {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = || Arc::new(Slot { made: RwLock::default(), making: tokio::sync::Mutex::default() });
        Arc::clone(slots.entry(key).or_insert_with(fresh))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use super::*;

    #[tokio::test]
    async fn an_answer_is_made_once_for_a_revision_however_many_ask() {
        let (shelf, made) = (Arc::new(ResponseCache::<u32, u64>::default()), Arc::new(AtomicU32::new(0)));
        let ask = |revision: u64, moving: bool| {
            let (shelf, made) = (Arc::clone(&shelf), Arc::clone(&made));
            tokio::spawn(async move {
                let make = async || {
                    made.fetch_add(1, Relaxed);
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    Ok(revision)
                };
                let kept = shelf.get(7, revision, moving, make).await.unwrap();
                (*kept.value, kept.revision)
            })
        };
        let all: Vec<_> = (0..50).map(|_| ask(1, false)).collect();
        for one in all {
            assert_eq!(one.await.unwrap(), (1, 1));
        }
        assert_eq!(made.load(Relaxed), 1);
        // While it moves the last one is good for a while; when it has come to rest it is not.
        assert_eq!(ask(2, true).await.unwrap(), (1, 1));
        assert_eq!(ask(2, false).await.unwrap(), (2, 2));
        assert_eq!(made.load(Relaxed), 2);
    }

    #[tokio::test]
    async fn what_could_not_be_made_is_tried_again() {
        let shelf = ResponseCache::<u32, u32>::default();
        let broken = async || Err(crate::error::ApiError::not_found("thing"));
        assert!(shelf.get(1, 1, false, broken).await.is_err());
        assert_eq!(*shelf.get(1, 1, false, async || Ok(5)).await.unwrap().value, 5);
    }
}
