//! Polls all bots that one thread has asked. While the thread waits for one of them, it records when each of the others
//! answers. So no bot is charged for the time the engine waits for another.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use agon_core::LockIgnoringPoison as _;
use rustix::event::{PollFd, Timespec, poll};

use crate::pipes::{BotPipes, PollSource};
use crate::timing::thread_wait;

/// Pipes that their owner and the poller share.
pub type SharedPipes = Arc<Mutex<BotPipes>>;

thread_local! {
    static POLLED: RefCell<Vec<SharedPipes>> = const { RefCell::new(Vec::new()) };
}

/// Locks the pipes, even if another thread panicked while it held them: what a bot wrote is untrusted anyway.
pub fn lock(pipes: &SharedPipes) -> MutexGuard<'_, BotPipes> {
    pipes.lock_ignoring_poison()
}

/// Adds a bot to those that this thread polls.
pub fn watch(pipes: &SharedPipes) {
    POLLED.with_borrow_mut(|polled| {
        // The owner was dropped on another thread; only this list holds the pipes.
        polled.retain(|other| Arc::strong_count(other) > 1);
        if !polled.iter().any(|other| Arc::ptr_eq(other, pipes)) {
            polled.push(Arc::clone(pipes));
        }
    });
}

/// Removes a bot from those that this thread polls.
pub fn forget(pipes: &SharedPipes) {
    // A thread that is ending has no list any more.
    let _ = POLLED.try_with(|polled| {
        if let Ok(mut polled) = polled.try_borrow_mut() {
            polled.retain(|other| !Arc::ptr_eq(other, pipes));
        }
    });
}

/// Waits until everything expected from this bot has arrived, or until the given time. Returns whether it has arrived.
pub fn wait(pipes: &SharedPipes, until: Instant) -> bool {
    // A bot that another thread asked is not in this thread's list. Then poll only that bot.
    let mut watched: Vec<SharedPipes> = POLLED.with_borrow(Clone::clone);
    if !watched.iter().any(|other| Arc::ptr_eq(other, pipes)) {
        watched.push(Arc::clone(pipes));
    }
    // Nothing was polled since the bots were asked, so the first poll does not wait.
    let mut first_poll = true;
    loop {
        if lock(pipes).arrived().is_some() {
            return true;
        }
        let left = until.saturating_duration_since(Instant::now());
        if !first_poll && left.is_zero() {
            return false;
        }
        poll_once(&watched, if first_poll { Duration::ZERO } else { left }, first_poll);
        first_poll = false;
    }
}

/// Handles everything that becomes ready within this time.
fn poll_once(all_pipes: &[SharedPipes], time: Duration, first: bool) {
    let mut all_pipes: Vec<MutexGuard<'_, BotPipes>> =
        all_pipes.iter().filter_map(|pipes| pipes.try_lock().ok()).collect();
    let waited = thread_wait();
    let ready = ready(&all_pipes, time);
    let now = Instant::now();
    let after = thread_wait();
    // This thread cannot check while it waits for a processor itself.
    let unseen = if first { Duration::MAX } else { after.saturating_sub(waited) };
    for (index, stream) in ready {
        if let Some(pipes) = all_pipes.get_mut(index) {
            pipes.serve(stream, unseen);
        }
    }
    for pipes in &mut all_pipes {
        pipes.record_nothing_ready(now, after);
    }
}

/// The descriptors that become ready within this time.
fn ready(all_pipes: &[MutexGuard<'_, BotPipes>], time: Duration) -> Vec<(usize, PollSource)> {
    let mut names = Vec::with_capacity(4 * all_pipes.len());
    let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(4 * all_pipes.len());
    for (index, pipes) in all_pipes.iter().enumerate() {
        for (stream, fd) in pipes.streams() {
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
