//! How running competitions share the machine: never more games at once than it has places, everybody as many as the next.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use agon_runner::StopFlag;

/// Who runs, in the order they came.
#[derive(Default)]
struct Table {
    runs: Vec<Entry>,
}

struct Entry {
    id: String,
    /// Places it holds just now.
    holds: usize,
    stop: Option<Arc<StopFlag>>,
}

/// The places of a machine.
pub struct CorePool {
    places: usize,
    table: Mutex<Table>,
    changed: Condvar,
}

impl CorePool {
    /// So many games at once.
    pub fn new(places: usize) -> Self {
        Self { places: places.max(1), table: Mutex::default(), changed: Condvar::new() }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody comes. Those who have more than their share now are asked to give it back: they stop, and go on with less.
    pub fn enter(&self, id: &str) {
        let mut table = self.table();
        table.runs.push(Entry { id: id.to_owned(), holds: 0, stop: None });
        self.rebalance(&table);
    }

    /// Somebody goes; the others may take more.
    pub fn leave(&self, id: &str) {
        let mut table = self.table();
        table.runs.retain(|one| one.id != id);
        self.rebalance(&table);
        self.changed.notify_all();
    }

    /// Waits until there is room and takes it: as many places as are its share. 0 when `gone` says that it is not wanted any more.
    pub fn take(&self, id: &str, stop: &Arc<StopFlag>, gone: impl Fn() -> bool) -> usize {
        let mut table = self.table();
        loop {
            if gone() {
                return 0;
            }
            let share = self.share(&table, id);
            let held: usize = table.runs.iter().map(|one| one.holds).sum();
            if share > 0 && held + share <= self.places {
                if let Some(entry) = table.runs.iter_mut().find(|one| one.id == id) {
                    entry.holds = share;
                    entry.stop = Some(Arc::clone(stop));
                }
                return share;
            }
            let waited = self.changed.wait_timeout(table, std::time::Duration::from_millis(500));
            table = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Gives its places back, for now.
    pub fn give_back(&self, id: &str) {
        let mut table = self.table();
        if let Some(entry) = table.runs.iter_mut().find(|one| one.id == id) {
            entry.holds = 0;
            entry.stop = None;
        }
        self.changed.notify_all();
    }

    /// Places each holds: for who looks at the machine.
    pub fn held(&self, id: &str) -> usize {
        self.table().runs.iter().find(|one| one.id == id).map_or(0, |one| one.holds)
    }

    /// What is fair: the first of `n` get one more where it does not go up; who finds no place waits.
    fn share(&self, table: &Table, id: &str) -> usize {
        let Some(place) = table.runs.iter().position(|one| one.id == id) else { return 0 };
        let playing = table.runs.len().min(self.places);
        if place >= playing {
            return 0;
        }
        self.places / playing + usize::from(place < self.places % playing)
    }

    fn rebalance(&self, table: &Table) {
        for one in &table.runs {
            let share = self.share(table, &one.id);
            if let Some(stop) = one.stop.as_ref().filter(|_| one.holds > 0 && one.holds != share) {
                stop.request();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stop() -> Arc<StopFlag> {
        Arc::new(StopFlag::new())
    }

    #[test]
    fn places_are_shared_evenly_and_never_exceeded() {
        let shares = CorePool::new(3);
        let (one, two) = (stop(), stop());
        shares.enter("a");
        assert_eq!(shares.take("a", &one, || false), 3);
        shares.enter("b");
        assert!(one.is_requested(), "the first is asked to give some back");
        assert_eq!(shares.take("b", &two, || true), 0, "there is no room yet");
        shares.give_back("a");
        assert_eq!(shares.take("a", &stop(), || false), 2);
        assert_eq!(shares.take("b", &two, || false), 1);
        shares.leave("a");
        assert!(two.is_requested(), "the second may have all now");
        shares.give_back("b");
        assert_eq!(shares.take("b", &stop(), || false), 3);
    }

    #[test]
    fn who_finds_no_place_waits_for_one() {
        let shares = CorePool::new(1);
        shares.enter("a");
        assert_eq!(shares.take("a", &stop(), || false), 1);
        shares.enter("b");
        assert_eq!(shares.take("b", &stop(), || true), 0);
        shares.leave("a");
        assert_eq!(shares.take("b", &stop(), || false), 1);
    }
}
