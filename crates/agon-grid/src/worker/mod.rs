//! A worker: joins competitions, pulls jobs, plays them and reports the results.
//!
//! `game_thread` runs once per core. `reporting` sends reports. `control` handles announcements, commands and heartbeats. [`live`] streams
//! live games. `bot_cache` holds loaded phases with their bots, `bot_data` prepares their data folders, `blob_fetcher` and `blob_cache`
//! provide files. `state` is shared by all, `capabilities` describes the worker, `core_locks` reserves cores, `metrics` counts.

mod blob_cache;
mod blob_fetcher;
mod bot_cache;
mod bot_data;
mod capabilities;
mod control;
mod core_locks;
mod game_thread;
pub mod live;
mod metrics;
mod reporting;
mod state;

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use agon_runner::StopFlag;
use tokio::runtime::Runtime;
use tracing::{Instrument as _, Level};

pub(crate) use reporting::OWN_ACK_PERIOD;

pub use capabilities::{MatchBackend, RealBackend, WorkerCapabilities, calibrate};

use crate::blobs::Blobs;
use crate::{GridError, NatsConnection, messages, subjects};
use blob_cache::BlobCache;
use blob_fetcher::BlobFetcher;
use state::WorkerState;

/// Default maximum size of the cache.
const DEFAULT_CACHE_BYTES: u64 = 2 << 30;
/// Poll interval of the main thread.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Options of a worker.
#[derive(Clone)]
pub struct WorkerOptions {
    /// Unique name.
    pub name: String,
    /// Number of games to play in parallel.
    pub cores: u32,
    /// Whether each game thread is pinned to its own core.
    pub pin_cores: bool,
    /// Cache folder.
    pub cache_folder: PathBuf,
    /// Maximum size of the cache.
    pub max_cache_bytes: u64,
    /// Capabilities to report. Tests fake them.
    pub capabilities: WorkerCapabilities,
    /// Plays the matches. Tests fake it.
    pub backend: Arc<dyn MatchBackend>,
    /// Whether bots may run without the sandbox if the competition says so.
    pub allow_unsandboxed: bool,
    /// Relative speed; measured at the start if `None`.
    pub speed: Option<f64>,
}

impl WorkerOptions {
    /// Options for this machine, with all its cores.
    pub fn new(name: String) -> Self {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
        Self {
            name,
            cores: thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
            pin_cores: true,
            cache_folder: cache.or_else(home).unwrap_or_else(std::env::temp_dir).join("agon/worker"),
            max_cache_bytes: DEFAULT_CACHE_BYTES,
            capabilities: WorkerCapabilities::detect(),
            backend: Arc::new(RealBackend),
            allow_unsandboxed: false,
            speed: None,
        }
    }
}

impl fmt::Debug for WorkerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerOptions")
            .field("name", &self.name)
            .field("cores", &self.cores)
            .finish_non_exhaustive()
    }
}

/// Plays matches for remote coordinators.
#[derive(Debug)]
pub struct Worker;

impl Worker {
    /// Plays until it is stopped or drained. Then it finishes the current matches, reports them and says goodbye. `message_sink` receives
    /// messages for the user. The runtime must be multi-threaded; must not be called from within it.
    pub fn run(
        link: NatsConnection,
        runtime: &Runtime,
        options: WorkerOptions,
        stop: &StopFlag,
        message_sink: &(dyn Fn(&str) + Sync),
    ) -> Result<(), GridError> {
        if !subjects::is_valid_name(&options.name) {
            let hint = format!(
                "use letters, digits, - and _, at most 48, such as {}",
                subjects::sanitize_name(&options.name)
            );
            return Err(GridError::Usage {
                what: format!("`{}` is not a valid worker name", options.name),
                hint,
            });
        }
        // At the error level, so that every line names the worker, whatever the filter.
        let span = tracing::error_span!("worker", worker = options.name);
        let _in_worker = span.clone().entered();
        let speed = options.speed.unwrap_or_else(calibrate);
        tracing::info!(cores = options.cores, speed, nats = link.url(), "worker started");
        let blobs = runtime.block_on(Blobs::open(&link))?;
        let handle = runtime.handle().clone();
        let fetcher = BlobFetcher::new(
            BlobCache::new(options.cache_folder.clone(), options.max_cache_bytes),
            blobs,
            handle.clone(),
        );
        let (sender, messages) = mpsc::channel();
        let threads = options.cores.max(1) as usize;
        let locks = if options.pin_cores { core_locks::lock_cores(threads) } else { Vec::new() };
        let worker = Arc::new(WorkerState::new(
            options,
            link,
            handle,
            messages::new_session()?,
            speed,
            fetcher,
            sender,
        ));
        // Bots of a worker that was killed left their folders behind.
        agon_host::scratch_dir::remove_leftovers();
        // Started before the game threads, so that no announcement is missed.
        let tasks = [
            runtime.spawn(control::report_outages(Arc::clone(&worker)).instrument(span.clone())),
            runtime.spawn(
                log_error(Arc::clone(&worker), control::listen_announcements(Arc::clone(&worker)))
                    .instrument(span.clone()),
            ),
            runtime.spawn(
                log_error(Arc::clone(&worker), control::listen_commands(Arc::clone(&worker)))
                    .instrument(span.clone()),
            ),
            runtime.spawn(control::heartbeat_loop(Arc::clone(&worker)).instrument(span.clone())),
        ];
        thread::scope(|scope| {
            let handles: Vec<_> = (0..threads)
                .map(|thread| {
                    let (worker, lock) = (Arc::clone(&worker), locks.get(thread));
                    let span = span.clone();
                    scope.spawn(move || {
                        let _in_worker = span.entered();
                        if let Some(lock) = lock {
                            lock.pin_thread();
                        }
                        game_thread::run(&worker, thread);
                    })
                })
                .collect();
            let busy =
                || handles.iter().any(|one| !one.is_finished()) || worker.unacked_reports.load(SeqCst) > 0;
            while busy() {
                if let Ok(message) = messages.recv_timeout(POLL_INTERVAL) {
                    message_sink(&message);
                }
                if stop.is_requested() && !worker.is_draining() {
                    tracing::info!("stop requested; finishing current games");
                    worker.drain();
                }
            }
        });
        for message in messages.try_iter() {
            message_sink(&message);
        }
        for task in tasks {
            task.abort();
        }
        runtime.block_on(async {
            control::send_heartbeat(&worker, true).await;
            // If the server is unreachable, the coordinator notices the missing heartbeats.
            let _ = tokio::time::timeout(Duration::from_secs(2), worker.link.client().flush()).await;
        });
        tracing::info!("worker ended");
        Ok(())
    }
}

/// Runs a listener and logs its error.
async fn log_error(worker: Arc<WorkerState>, listening: impl Future<Output = Result<(), GridError>>) {
    if let Err(error) = listening.await {
        worker.log(Level::WARN, error.to_string());
    }
}
