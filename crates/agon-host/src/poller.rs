//! Polls all bots that one thread has asked. While the thread waits for one of them, it records when each of the others
//! answers. So no bot is charged for the time the engine waits for another.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, Timespec, poll};

use crate::pipes::{BotPipes, PollSource};
use crate::timing::own_wait;

/// Pipes that their owner and the poller share.
pub type SharedPipes = Arc<Mutex<BotPipes>>;

thread_local! {
    static ASKED: RefCell<Vec<SharedPipes>> = const { RefCell::new(Vec::new()) };
}

/// Locks the pipes, even if another thread panicked while it held them: what a bot wrote is untrusted anyway.
pub fn lock(wire: &SharedPipes) -> MutexGuard<'_, BotPipes> {
    wire.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Adds a bot to those that this thread polls.
pub fn watch(wire: &SharedPipes) {
    ASKED.with_borrow_mut(|asked| {
        // The owner was dropped on another thread; only this list holds the pipes.
        asked.retain(|other| Arc::strong_count(other) > 1);
        if !asked.iter().any(|other| Arc::ptr_eq(other, wire)) {
            asked.push(Arc::clone(wire));
        }
    });
}

/// Removes a bot from those that this thread polls.
pub fn forget(wire: &SharedPipes) {
    // A thread that is ending has no list any more.
    let _ = ASKED.try_with(|asked| {
        if let Ok(mut asked) = asked.try_borrow_mut() {
            asked.retain(|other| !Arc::ptr_eq(other, wire));
        }
    });
}

/// Waits until everything expected from this bot has arrived, or until the given time. Returns whether it has arrived.
pub fn wait(wire: &SharedPipes, until: Instant) -> bool {
    // A bot that another thread asked is not in this thread's list. Then poll only that bot.
    let mut watched: Vec<SharedPipes> = ASKED.with_borrow(Clone::clone);
    if !watched.iter().any(|other| Arc::ptr_eq(other, wire)) {
        watched.push(Arc::clone(wire));
    }
    // Nothing was polled since the bots were asked, so the first poll does not wait.
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

/// Handles everything that becomes ready within this time.
fn look(wires: &[SharedPipes], time: Duration, first: bool) {
    let mut wires: Vec<MutexGuard<'_, BotPipes>> =
        wires.iter().filter_map(|wire| wire.try_lock().ok()).collect();
    let waited = own_wait();
    let ready = ready(&wires, time);
    let now = Instant::now();
    let after = own_wait();
    // This thread cannot check while it waits for a processor itself.
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

/// The descriptors that become ready within this time.
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
    // An interrupted call counts as nothing ready: the caller polls again.
    if poll(&mut fds, Some(&timeout)).is_err() {
        return Vec::new();
    }
    names.into_iter().zip(&fds).filter(|(_, fd)| !fd.revents().is_empty()).map(|(name, _)| name).collect()
}
