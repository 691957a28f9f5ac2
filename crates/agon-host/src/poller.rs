//! Where the engine waits for bots. The bots asked by one thread are watched together: while it waits for one of them,
//! the time at which each of the others answers is noted, so that nobody is charged for waiting behind somebody else.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, Timespec, poll};

use crate::pipes::{BotPipes, PollSource};
use crate::timing::own_wait;

/// A wire that its owner and the desk share.
pub type SharedPipes = Arc<Mutex<BotPipes>>;

thread_local! {
    static ASKED: RefCell<Vec<SharedPipes>> = const { RefCell::new(Vec::new()) };
}

/// A wire, also if somebody panicked while holding it: what a bot wrote is read with care anyway.
pub fn lock(wire: &SharedPipes) -> MutexGuard<'_, BotPipes> {
    wire.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// From now on this bot is watched by everybody who waits on this thread.
pub fn watch(wire: &SharedPipes) {
    ASKED.with_borrow_mut(|asked| {
        // Nobody else holds a wire whose owner was dropped on another thread.
        asked.retain(|other| Arc::strong_count(other) > 1);
        if !asked.iter().any(|other| Arc::ptr_eq(other, wire)) {
            asked.push(Arc::clone(wire));
        }
    });
}

/// It is no longer watched.
pub fn forget(wire: &SharedPipes) {
    // A thread that is ending has no desk any more, and nobody to watch.
    let _ = ASKED.try_with(|asked| {
        if let Ok(mut asked) = asked.try_borrow_mut() {
            asked.retain(|other| !Arc::ptr_eq(other, wire));
        }
    });
}

/// Waits until what is wanted from this bot has arrived, or until then. Says whether it has.
pub fn wait(wire: &SharedPipes, until: Instant) -> bool {
    // Asked by another thread, it is not on this desk; then only it is watched.
    let mut watched: Vec<SharedPipes> = ASKED.with_borrow(Clone::clone);
    if !watched.iter().any(|other| Arc::ptr_eq(other, wire)) {
        watched.push(Arc::clone(wire));
    }
    // Nobody looked since the bots were asked: the first look does not wait.
    let mut first_look = true;
    loop {
        if lock(wire).arrived().is_some() {
            return true;
        }
        let left = until.saturating_duration_since(Instant::now());
        if !first_look && left.is_zero() {
            return false;
        }
        look(&watched, if first_look { Duration::ZERO } else { left }, first_look);
        first_look = false;
    }
}

/// Serves whatever is ready within this time.
fn look(wires: &[SharedPipes], time: Duration, first: bool) {
    let mut wires: Vec<MutexGuard<'_, BotPipes>> =
        wires.iter().filter_map(|wire| wire.try_lock().ok()).collect();
    let waited = own_wait();
    let ready = ready(&wires, time);
    let now = Instant::now();
    let after = own_wait();
    // While we ourselves wait for a processor, nobody looks.
    let unseen = if first { Duration::MAX } else { after.saturating_sub(waited) };
    for (index, stream) in ready {
        if let Some(wire) = wires.get_mut(index) {
            wire.serve(stream, unseen);
        }
    }
    for wire in &mut wires {
        wire.saw_nothing(now, after);
    }
}

/// The streams that are ready within this time.
fn ready(wires: &[MutexGuard<'_, BotPipes>], time: Duration) -> Vec<(usize, PollSource)> {
    let mut names = Vec::with_capacity(4 * wires.len());
    let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(4 * wires.len());
    for (index, wire) in wires.iter().enumerate() {
        for (stream, fd) in wire.streams() {
            names.push((index, stream));
            fds.push(fd);
        }
    }
    let timeout = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() };
    // Interrupted is as good as nothing ready: the caller looks again.
    if poll(&mut fds, Some(&timeout)).is_err() {
        return Vec::new();
    }
    names.into_iter().zip(&fds).filter(|(_, fd)| !fd.revents().is_empty()).map(|(name, _)| name).collect()
}
