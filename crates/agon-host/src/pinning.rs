//! Pins a game's thread and its bots to one core. Waking a bot on another core costs more than its answer, and on one core the
//! times of all bots are comparable.

use std::cell::Cell;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

thread_local! {
    static CORE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The cores that this program may use.
pub fn cores() -> Vec<usize> {
    sched_getaffinity(None).map_or_else(
        |_| Vec::new(),
        |allowed| (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core)).collect(),
    )
}

/// Pins this thread, and every process it starts from now on, to a core. Returns whether that worked.
pub fn pin(core: usize) -> bool {
    let mut set = CpuSet::new();
    set.set(core);
    let pinned = sched_setaffinity(None, &set).is_ok();
    CORE.set(pinned.then_some(core));
    pinned
}

/// The core that this thread was pinned to.
pub fn core() -> Option<usize> {
    CORE.get()
}
