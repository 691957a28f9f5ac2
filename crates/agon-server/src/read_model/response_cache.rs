//! Cache of computed responses: computed once per revision, by one task at a time, and shared by all clients.

use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant};

use agon_core::{LockIgnoringPoison as _, RwLockIgnoringPoison as _};

use crate::error::ApiResult;

/// While a competition runs, a value is reused for at least this time, even if the revision has changed.
const STALE_AFTER: Duration = Duration::from_secs(1);
/// A value is also reused for this multiple of its computation time, so that no response needs more than 5 % of a core.
const COMPUTE_TIME_FACTOR: u32 = 20;

/// A value from the cache.
#[derive(Debug)]
pub struct CachedValue<V> {
    /// The value.
    pub value: Arc<V>,
    /// Revision it was computed for.
    pub revision: u64,
    /// How much longer it may be reused although there is a newer revision.
    pub reusable_for: Duration,
}

struct CacheEntry<V> {
    value: Arc<V>,
    revision: u64,
    stored: Instant,
    compute_time: Duration,
}

impl<V> CacheEntry<V> {
    /// How much longer it may be reused while the competition runs.
    fn reusable_for(&self) -> Duration {
        STALE_AFTER.max(self.compute_time * COMPUTE_TIME_FACTOR).saturating_sub(self.stored.elapsed())
    }

    fn to_cached_value(&self) -> CachedValue<V> {
        CachedValue {
            value: Arc::clone(&self.value),
            revision: self.revision,
            reusable_for: self.reusable_for(),
        }
    }
}

struct CacheSlot<V> {
    entry: RwLock<Option<CacheEntry<V>>>,
    compute_lock: tokio::sync::Mutex<()>,
}

impl<V> CacheSlot<V> {
    /// The value, if it is usable: of this revision, or recent enough while the competition runs.
    fn usable(&self, revision: u64, running: bool) -> Option<CachedValue<V>> {
        let entry = self.entry.read_ignoring_poison();
        let entry = entry.as_ref()?;
        (entry.revision == revision || (running && !entry.reusable_for().is_zero()))
            .then(|| entry.to_cached_value())
    }

    fn latest(&self) -> Option<CachedValue<V>> {
        self.entry.read_ignoring_poison().as_ref().map(CacheEntry::to_cached_value)
    }
}

/// Cached responses of one kind, by key. Keys are phases, so there are few.
pub struct ResponseCache<K, V>(Mutex<HashMap<K, Arc<CacheSlot<V>>>>);

impl<K, V> Default for ResponseCache<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V> ResponseCache<K, V> {
    /// Returns the value for this revision and computes it if needed. While the competition is `running`, the previous value is reused for
    /// a while, and for all clients that come while the next one is computed.
    pub async fn get<F: Future<Output = ApiResult<V>>>(
        &self,
        key: K,
        revision: u64,
        running: bool,
        make: impl FnOnce() -> F,
    ) -> ApiResult<CachedValue<V>> {
        let slot = self.slot(key);
        if let Some(cached) = slot.usable(revision, running) {
            return Ok(cached);
        }
        let _guard = if let Ok(guard) = slot.compute_lock.try_lock() {
            guard
        } else {
            if let Some(last) = slot.latest().filter(|_| running) {
                return Ok(last);
            }
            let guard = slot.compute_lock.lock().await;
            if let Some(cached) = slot.usable(revision, running) {
                return Ok(cached);
            }
            guard
        };
        let at = Instant::now();
        let value = Arc::new(make().await?);
        let entry = CacheEntry { value, revision, stored: Instant::now(), compute_time: at.elapsed() };
        let cached = entry.to_cached_value();
        *slot.entry.write_ignoring_poison() = Some(entry);
        Ok(cached)
    }

    fn slot(&self, key: K) -> Arc<CacheSlot<V>> {
        let mut slots = self.0.lock_ignoring_poison();
        let new_slot =
            || Arc::new(CacheSlot { entry: RwLock::default(), compute_lock: tokio::sync::Mutex::default() });
        Arc::clone(slots.entry(key).or_insert_with(new_slot))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use super::*;

    #[tokio::test]
    async fn get_computes_once_per_revision_for_many_callers() {
        let (cache, computed) = (Arc::new(ResponseCache::<u32, u64>::default()), Arc::new(AtomicU32::new(0)));
        let ask = |revision: u64, running: bool| {
            let (cache, computed) = (Arc::clone(&cache), Arc::clone(&computed));
            tokio::spawn(async move {
                let make = async || {
                    computed.fetch_add(1, Relaxed);
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    Ok(revision)
                };
                let cached = cache.get(7, revision, running, make).await.unwrap();
                (*cached.value, cached.revision)
            })
        };
        let all: Vec<_> = (0..50).map(|_| ask(1, false)).collect();
        for one in all {
            assert_eq!(one.await.unwrap(), (1, 1));
        }
        assert_eq!(computed.load(Relaxed), 1);
        // An older value is reused while the competition runs, but not afterwards.
        assert_eq!(ask(2, true).await.unwrap(), (1, 1));
        assert_eq!(ask(2, false).await.unwrap(), (2, 2));
        assert_eq!(computed.load(Relaxed), 2);
    }

    #[tokio::test]
    async fn get_retries_after_a_failed_computation() {
        let cache = ResponseCache::<u32, u32>::default();
        let broken = async || Err(crate::error::ApiError::not_found("thing"));
        assert!(cache.get(1, 1, false, broken).await.is_err());
        assert_eq!(*cache.get(1, 1, false, async || Ok(5)).await.unwrap().value, 5);
    }
}
