//! Syncs the log of a ledger to disk some time after a commit that was not synced. Without it, matches at the end of a burst would stay
//! unsynced until the next transaction, which may come much later.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use agon_core::LockIgnoringPoison as _;

use super::companions::with_suffix;
use crate::{Result, StoreError};

/// A thread that syncs one file. It ends when this value is dropped.
#[derive(Debug)]
pub struct DelayedSync {
    path: PathBuf,
    requests: SyncSender<()>,
    /// Error of a failed sync.
    failure: Arc<Mutex<Option<io::Error>>>,
}

impl DelayedSync {
    /// Starts the thread for the ledger at this path. It syncs the `-wal` file `delay` after a request.
    pub fn start(path: PathBuf, delay: Duration) -> io::Result<Self> {
        let log = with_suffix(&path, "-wal");
        Self::start_with(path, delay, move || match File::open(&log) {
            Ok(file) => file.sync_data(),
            // The last connection was closed, which syncs the ledger and removes the file.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        })
    }

    fn start_with(
        path: PathBuf,
        delay: Duration,
        sync: impl Fn() -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        // One waiting request is enough: the next sync covers all commits before it.
        let (requests, received) = mpsc::sync_channel(1);
        let failure = Arc::default();
        let shared = Arc::clone(&failure);
        thread::Builder::new()
            .name("ledger sync".to_owned())
            .spawn(move || run(&received, delay, &sync, &shared))?;
        Ok(Self { path, requests, failure })
    }

    /// Asks for a sync after the delay.
    pub fn request(&self) {
        match self.requests.try_send(()) {
            Ok(()) | Err(TrySendError::Full(())) => {}
            Err(TrySendError::Disconnected(())) => {
                let lost = io::Error::other("the thread that syncs it has ended");
                self.failure.lock_ignoring_poison().get_or_insert(lost);
            }
        }
    }

    /// Fails once after a sync failed: commits before it may not be on the disk.
    pub fn check(&self) -> Result<()> {
        match self.failure.lock_ignoring_poison().take() {
            None => Ok(()),
            Some(error) => Err(StoreError::Io {
                place: self.path.display().to_string(),
                doing: "sync",
                error,
                hint: "check the disk (`dmesg`); the latest matches may be lost if the machine stops; run again",
            }),
        }
    }
}

fn run(
    received: &Receiver<()>,
    delay: Duration,
    sync: &dyn Fn() -> io::Result<()>,
    failure: &Mutex<Option<io::Error>>,
) {
    while received.recv().is_ok() {
        thread::sleep(delay);
        // Requests during the delay are covered by this sync.
        let _ = received.try_recv();
        if let Err(error) = sync() {
            tracing::error!(%error, "cannot sync the ledger to disk");
            failure.lock_ignoring_poison().get_or_insert(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_requests_are_covered_by_few_syncs_and_none_is_forgotten() {
        let (done, synced) = mpsc::channel();
        let delay = Duration::from_millis(50);
        let syncing = DelayedSync::start_with("cup.ledger".into(), delay, move || {
            done.send(()).map_err(io::Error::other)
        })
        .unwrap();
        for _ in 0..100 {
            syncing.request();
        }
        synced.recv_timeout(Duration::from_secs(20)).unwrap();
        syncing.request();
        synced.recv_timeout(Duration::from_secs(20)).unwrap();
        syncing.check().unwrap();
        drop(syncing);
        assert!(synced.iter().count() <= 2);
    }

    #[test]
    fn failed_sync_is_reported() {
        let (done, synced) = mpsc::channel();
        let syncing = DelayedSync::start_with("cup.ledger".into(), Duration::ZERO, move || {
            let _ = done.send(());
            Err(io::Error::other("input/output error"))
        })
        .unwrap();
        syncing.request();
        synced.recv_timeout(Duration::from_secs(20)).unwrap();
        let error = loop {
            if let Err(error) = syncing.check() {
                break error.to_string();
            }
            thread::yield_now();
        };
        assert!(error.contains("cannot sync cup.ledger: input/output error\nhint: "), "{error}");
    }
}
