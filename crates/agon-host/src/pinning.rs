//! One game for each core: its thread and its bots stay there. That keeps a question to a bot from waking another core,
//! which costs more than the answer, and makes time the same for all.

use std::cell::Cell;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

thread_local! {
    static CORE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The cores this program may use.
pub fn cores() -> Vec<usize> {
    sched_getaffinity(None).map_or_else(
        |_| Vec::new(),
        |allowed| (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core)).collect(),
    )
}

/// Keeps this thread, and what it starts from now on, on a core. Says whether that worked.
pub fn pin(core: usize) -> bool {
    let mut set = CpuSet::new();
    set.set(core);
    let pinned = sched_setaffinity(None, &set).is_ok();
    CORE.set(pinned.then_some(core));
    pinned
}

/// The core this thread was pinned to.
pub fn core() -> Option<usize> {
    CORE.get()
}
