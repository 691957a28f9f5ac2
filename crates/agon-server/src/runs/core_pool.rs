//! Divides the cores of the machine evenly among the running competitions.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use agon_core::LockIgnoringPoison as _;
use agon_runner::StopFlag;

/// Running competitions in the order they started.
#[derive(Default)]
struct PoolState {
    runs: Vec<PoolEntry>,
}

struct PoolEntry {
    id: String,
    /// Number of cores it holds now.
    held: usize,
    stop: Option<Arc<StopFlag>>,
}

/// The cores of the machine, as slots for parallel games.
pub struct CorePool {
    cores: usize,
    state: Mutex<PoolState>,
    changed: Condvar,
}

impl CorePool {
    /// A pool for this many parallel games.
    pub fn new(cores: usize) -> Self {
        Self { cores: cores.max(1), state: Mutex::default(), changed: Condvar::new() }
    }

    fn lock_state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock_ignoring_poison()
    }

    /// Adds a competition. Those that hold more than their new share are stopped, and continue with fewer cores.
    pub fn join(&self, id: &str) {
        let mut state = self.lock_state();
        state.runs.push(PoolEntry { id: id.to_owned(), held: 0, stop: None });
        self.rebalance(&state);
    }

    /// Removes a competition. The others may take more cores.
    pub fn leave(&self, id: &str) {
        let mut state = self.lock_state();
        state.runs.retain(|one| one.id != id);
        self.rebalance(&state);
        self.changed.notify_all();
    }

    /// Waits until the competition's share of cores is free and takes it. Returns 0 when `gone` says that the competition must not run.
    pub fn acquire(&self, id: &str, stop: &Arc<StopFlag>, gone: impl Fn() -> bool) -> usize {
        let mut state = self.lock_state();
        loop {
            if gone() {
                return 0;
            }
            let share = self.share(&state, id);
            let held: usize = state.runs.iter().map(|one| one.held).sum();
            if share > 0 && held + share <= self.cores {
                if let Some(entry) = state.runs.iter_mut().find(|one| one.id == id) {
                    entry.held = share;
                    entry.stop = Some(Arc::clone(stop));
                }
                return share;
            }
            let waited = self.changed.wait_timeout(state, std::time::Duration::from_millis(500));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Releases the cores of a competition for now.
    pub fn release(&self, id: &str) {
        let mut state = self.lock_state();
        if let Some(entry) = state.runs.iter_mut().find(|one| one.id == id) {
            entry.held = 0;
            entry.stop = None;
        }
        self.changed.notify_all();
    }

    /// Number of cores that a competition holds.
    pub fn held(&self, id: &str) -> usize {
        self.lock_state().runs.iter().find(|one| one.id == id).map_or(0, |one| one.held)
    }

    /// The fair share of a competition. The remainder goes to the first ones. Competitions beyond the number of cores wait.
    fn share(&self, state: &PoolState, id: &str) -> usize {
        let Some(index) = state.runs.iter().position(|one| one.id == id) else { return 0 };
        let playing = state.runs.len().min(self.cores);
        if index >= playing {
            return 0;
        }
        self.cores / playing + usize::from(index < self.cores % playing)
    }

    fn rebalance(&self, state: &PoolState) {
        for one in &state.runs {
            let share = self.share(state, &one.id);
            if let Some(stop) = one.stop.as_ref().filter(|_| one.held > 0 && one.held != share) {
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
    fn cores_are_shared_evenly_and_never_exceeded() {
        let pool = CorePool::new(3);
        let (one, two) = (stop(), stop());
        pool.join("a");
        assert_eq!(pool.acquire("a", &one, || false), 3);
        pool.join("b");
        assert!(one.is_requested(), "the first must release cores");
        assert_eq!(pool.acquire("b", &two, || true), 0, "no core is free yet");
        pool.release("a");
        assert_eq!(pool.acquire("a", &stop(), || false), 2);
        assert_eq!(pool.acquire("b", &two, || false), 1);
        pool.leave("a");
        assert!(two.is_requested(), "the second may take all cores");
        pool.release("b");
        assert_eq!(pool.acquire("b", &stop(), || false), 3);
    }

    #[test]
    fn acquire_waits_while_all_cores_are_taken() {
        let pool = CorePool::new(1);
        pool.join("a");
        assert_eq!(pool.acquire("a", &stop(), || false), 1);
        pool.join("b");
        assert_eq!(pool.acquire("b", &stop(), || true), 0);
        pool.leave("a");
        assert_eq!(pool.acquire("b", &stop(), || false), 1);
    }
}
