//! Divides the cores of the machine evenly among the running competitions. Background work (practice games and challenges) gets cores that no
//! competition holds, and is told at once to give them back when a competition wants them.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use agon_core::LockIgnoringPoison as _;
use agon_runner::StopFlag;

/// Running competitions in the order they started.
#[derive(Default)]
struct PoolState {
    runs: Vec<PoolEntry>,
    /// Cores lent to background work, in the order in which they were lent.
    lent: Vec<LentCore>,
    /// Number of cores lent so far, for ids.
    lent_before: u64,
}

/// Background work, the most important first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum BackgroundWork {
    /// A challenge: somebody waits for its result.
    Challenge,
    /// A game of a practice ladder.
    Ladder,
}

struct LentCore {
    id: u64,
    work: BackgroundWork,
    stop: Arc<StopFlag>,
}

/// A core that no competition holds, lent to background work. Give it back with [`CorePool::give_back`].
#[derive(Debug)]
pub struct CoreLoan {
    id: u64,
    /// Requested when a competition wants the core. The work must end then; its result does not count.
    pub stop: Arc<StopFlag>,
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
                // The competition does not wait for them: it is charged CPU time only, and they end within one answer.
                self.recall(&state);
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

    /// Lends a core that no competition holds to background work, if there is one and fewer than `max` are lent to work of this kind. A
    /// challenge that finds none takes the core of a ladder game: that game is told to end, and the caller tries again soon.
    pub fn borrow_core(&self, work: BackgroundWork, max: usize) -> Option<CoreLoan> {
        let mut state = self.lock_state();
        if state.lent.iter().filter(|one| one.work == work).count() >= max {
            return None;
        }
        if state.lent.len() >= self.cores_without_competition(&state) {
            let ladder = state.lent.iter().rev().find(|one| one.work > work && !one.stop.is_requested());
            // Only one at a time: others may be on their way back already.
            if let Some(ladder) = ladder.filter(|_| !state.lent.iter().any(|one| one.stop.is_requested())) {
                ladder.stop.request();
            }
            return None;
        }
        state.lent_before += 1;
        let (id, stop) = (state.lent_before, Arc::new(StopFlag::new()));
        state.lent.push(LentCore { id, work, stop: Arc::clone(&stop) });
        Some(CoreLoan { id, stop })
    }

    /// Takes a lent core back.
    pub fn give_back(&self, loan: &CoreLoan) {
        self.lock_state().lent.retain(|one| one.id != loan.id);
    }

    /// Whether competitions hold all cores.
    pub fn is_full(&self) -> bool {
        self.cores_without_competition(&self.lock_state()) == 0
    }

    /// Number of cores lent to background work of this kind.
    pub fn lent(&self, work: BackgroundWork) -> usize {
        self.lock_state().lent.iter().filter(|one| one.work == work).count()
    }

    fn cores_without_competition(&self, state: &PoolState) -> usize {
        self.cores.saturating_sub(state.runs.iter().map(|one| one.held).sum())
    }

    /// Tells background work beyond the cores that competitions leave to end: ladder games first, the latest first.
    fn recall(&self, state: &PoolState) {
        let excess = state.lent.len().saturating_sub(self.cores_without_competition(state));
        let mut by_importance: Vec<&LentCore> = state.lent.iter().rev().collect();
        by_importance.sort_by_key(|one| std::cmp::Reverse(one.work));
        for one in by_importance.into_iter().take(excess) {
            one.stop.request();
        }
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
    fn background_work_gets_free_cores_and_gives_them_back_to_competitions() {
        let pool = CorePool::new(2);
        let ladder = || pool.borrow_core(BackgroundWork::Ladder, 2);
        let (one, two) = (ladder().unwrap(), ladder().unwrap());
        assert!(ladder().is_none(), "there are two cores");
        assert!(!one.stop.is_requested() && !two.stop.is_requested());
        // The competition does not wait for them.
        pool.join("a");
        assert_eq!(pool.acquire("a", &stop(), || false), 2);
        assert!(one.stop.is_requested() && two.stop.is_requested() && pool.is_full());
        pool.give_back(&one);
        pool.give_back(&two);
        assert!(ladder().is_none() && pool.borrow_core(BackgroundWork::Challenge, 2).is_none());
        pool.release("a");
        assert!(ladder().is_some() && pool.lent(BackgroundWork::Ladder) == 1);
    }

    #[test]
    fn competition_recalls_only_the_cores_it_needs_and_ladder_games_first() {
        let pool = CorePool::new(4);
        for name in ["a", "b"] {
            pool.join(name);
        }
        assert_eq!(pool.acquire("a", &stop(), || false), 2);
        let challenge = pool.borrow_core(BackgroundWork::Challenge, 4).unwrap();
        let ladder = pool.borrow_core(BackgroundWork::Ladder, 4).unwrap();
        pool.leave("b");
        pool.join("b");
        pool.join("c");
        assert_eq!(pool.acquire("b", &stop(), || false), 1);
        assert!(ladder.stop.is_requested() && !challenge.stop.is_requested());
    }

    #[test]
    fn challenge_takes_the_core_of_one_ladder_game() {
        let pool = CorePool::new(2);
        let loans = [0, 1].map(|_| pool.borrow_core(BackgroundWork::Ladder, 2).unwrap());
        assert!(pool.borrow_core(BackgroundWork::Challenge, 1).is_none());
        assert!(pool.borrow_core(BackgroundWork::Challenge, 1).is_none());
        assert!(!loans[0].stop.is_requested() && loans[1].stop.is_requested());
        pool.give_back(&loans[1]);
        let challenge = pool.borrow_core(BackgroundWork::Challenge, 1).unwrap();
        assert!(pool.borrow_core(BackgroundWork::Challenge, 1).is_none(), "one challenge at a time");
        assert!(!challenge.stop.is_requested() && !loans[0].stop.is_requested());
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
