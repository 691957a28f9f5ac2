//! Films that were asked for lately: a game that many look at is computed once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::encoded_json::EncodedJson;

/// Bytes kept in all.
const MOST: usize = 64 << 20;

/// The latest films, by their names.
#[derive(Default)]
pub struct FilmCache(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    kept: HashMap<String, (Arc<EncodedJson>, u64)>,
    bytes: usize,
    uses: u64,
}

impl FilmCache {
    /// One that was asked for lately.
    pub fn get(&self, name: &str) -> Option<Arc<EncodedJson>> {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.uses += 1;
        let now = inner.uses;
        let (film, used) = inner.kept.get_mut(name)?;
        *used = now;
        Some(Arc::clone(film))
    }

    /// Keeps one; those that were not asked for longest make room.
    pub fn put(&self, name: &str, film: &Arc<EncodedJson>) {
        if film.size() > MOST / 4 {
            return;
        }
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.uses += 1;
        let now = inner.uses;
        inner.bytes += film.size();
        if let Some((old, _)) = inner.kept.insert(name.to_owned(), (Arc::clone(film), now)) {
            inner.bytes -= old.size();
        }
        while inner.bytes > MOST {
            let oldest = inner.kept.iter().min_by_key(|(_, (_, used))| *used).map(|(name, _)| name.clone());
            let Some((gone, _)) = oldest.and_then(|name| inner.kept.remove(&name)) else { break };
            inner.bytes -= gone.size();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_are_not_asked_for_make_room() {
        let films = FilmCache::default();
        // Noise, so that packing does not make it small.
        let mut state = 1_u64;
        let mut noise = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 16
        };
        let numbers: Vec<u64> = (0..1_000_000).map(|_| noise()).collect();
        let film = Arc::new(EncodedJson::large(&numbers, "film").unwrap());
        let fit = MOST / film.size();
        assert!(fit > 3 && film.size() < MOST / 4, "{}", film.size());
        films.put("first", &film);
        films.put("second", &film);
        for number in 2..fit {
            films.put(&number.to_string(), &film);
        }
        assert!(films.get("first").is_some());
        films.put("another", &film);
        assert!(films.get("first").is_some() && films.get("second").is_none());
        assert!(films.0.lock().unwrap().bytes <= MOST);
    }
}
