//! Reads the stderr of forked bots. While the engine waits for one of them, it reads the others' stderr too: a bot that writes more
//! than a pipe holds must not block because the engine waits for another bot.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use agon_core::LockIgnoringPoison as _;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

use crate::stderr_pipe::StderrPipe;

/// A bot's stderr that its owner and the thread's poller share.
#[derive(Clone, Debug)]
pub(super) struct SharedLog(Arc<Mutex<StderrPipe>>);

struct LogPoller {
    epoll: OwnedFd,
    logs: HashMap<u64, Weak<Mutex<StderrPipe>>>,
}

thread_local! {
    static POLLER: RefCell<Option<LogPoller>> = const { RefCell::new(None) };
}

impl SharedLog {
    /// A pipe that this thread reads whenever it waits for a bot.
    pub(super) fn new(pipe: OwnedFd) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        rustix::io::ioctl_fionbio(&pipe, true)?;
        let shared = Arc::new(Mutex::new(StderrPipe::new(pipe)));
        POLLER.with_borrow_mut(|poller| -> io::Result<()> {
            if poller.is_none() {
                *poller =
                    Some(LogPoller { epoll: epoll::create(CreateFlags::CLOEXEC)?, logs: HashMap::new() });
            }
            let Some(poller) = poller else { return Ok(()) };
            if let Some(fd) = lock(&shared).fd() {
                epoll::add(&poller.epoll, fd, EventData::new_u64(number), EventFlags::IN)?;
            }
            poller.logs.retain(|_, log| log.strong_count() > 0);
            poller.logs.insert(number, Arc::downgrade(&shared));
            Ok(())
        })?;
        Ok(Self(shared))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, StderrPipe> {
        lock(&self.0)
    }
}

fn lock(log: &Arc<Mutex<StderrPipe>>) -> MutexGuard<'_, StderrPipe> {
    log.lock_ignoring_poison()
}

/// Calls with a descriptor that is readable when one of this thread's bots has written to stderr.
pub(super) fn with_poller<T>(call: impl FnOnce(Option<BorrowedFd<'_>>) -> T) -> T {
    POLLER.with_borrow(|poller| call(poller.as_ref().map(|poller| poller.epoll.as_fd())))
}

/// Reads all stderr pipes with new output.
pub(super) fn read_all() {
    POLLER.with_borrow_mut(|poller| {
        let Some(poller) = poller else { return };
        let mut events = Vec::with_capacity(16);
        let none = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        if epoll::wait(&poller.epoll, rustix::buffer::spare_capacity(&mut events), Some(&none)).is_err() {
            return;
        }
        for event in events {
            let data = event.data;
            let log = poller.logs.get(&data.u64()).and_then(Weak::upgrade);
            match log {
                Some(log) => lock(&log).read(),
                None => drop(poller.logs.remove(&data.u64())),
            }
        }
    });
}
