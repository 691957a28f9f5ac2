//! LRU cache of films, so that a popular game is rendered once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use agon_core::LockIgnoringPoison as _;

use super::encoded_json::EncodedJson;

/// Maximum size of all cached films in bytes.
const MAX_CACHE_BYTES: usize = 64 << 20;

/// Recently used films, by the hash that identifies them.
#[derive(Default)]
pub struct FilmCache(Mutex<CachedFilms>);

#[derive(Default)]
struct CachedFilms {
    films: HashMap<String, (Arc<EncodedJson>, u64)>,
    bytes: usize,
    uses: u64,
}

impl FilmCache {
    /// A cached film. Marks it as used.
    pub fn get(&self, name: &str) -> Option<Arc<EncodedJson>> {
        let mut inner = self.0.lock_ignoring_poison();
        inner.uses += 1;
        let now = inner.uses;
        let (film, used) = inner.films.get_mut(name)?;
        *used = now;
        Some(Arc::clone(film))
    }

    /// Caches a film. The least recently used films are evicted.
    pub fn put(&self, name: &str, film: &Arc<EncodedJson>) {
        if film.size() > MAX_CACHE_BYTES / 4 {
            return;
        }
        let mut inner = self.0.lock_ignoring_poison();
        inner.uses += 1;
        let now = inner.uses;
        inner.bytes += film.size();
        if let Some((old, _)) = inner.films.insert(name.to_owned(), (Arc::clone(film), now)) {
            inner.bytes -= old.size();
        }
        while inner.bytes > MAX_CACHE_BYTES {
            let oldest = inner.films.iter().min_by_key(|(_, (_, used))| *used).map(|(name, _)| name.clone());
            let Some((gone, _)) = oldest.and_then(|name| inner.films.remove(&name)) else { break };
            inner.bytes -= gone.size();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn put_evicts_the_least_recently_used_films() {
        let films = FilmCache::default();
        // Random numbers, so that gzip cannot shrink them.
        let mut state = 1_u64;
        let mut noise = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 16
        };
        let numbers: Vec<u64> = (0..1_000_000).map(|_| noise()).collect();
        let film = Arc::new(EncodedJson::gzip_only(&numbers, "film").unwrap());
        let fit = MAX_CACHE_BYTES / film.size();
        assert!(fit > 3 && film.size() < MAX_CACHE_BYTES / 4, "{}", film.size());
        films.put("first", &film);
        films.put("second", &film);
        for number in 2..fit {
            films.put(&number.to_string(), &film);
        }
        assert!(films.get("first").is_some());
        films.put("another", &film);
        assert!(films.get("first").is_some() && films.get("second").is_none());
        assert!(films.0.lock().unwrap().bytes <= MAX_CACHE_BYTES);
    }
}
