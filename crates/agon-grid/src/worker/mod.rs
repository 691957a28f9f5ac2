//! Whoever plays: waits for coordinators, takes jobs, plays them, hands results in.
//!
//! [`mod@lane`] is a thread that plays, one for each core; `courier` hands in what it played; `company` hears coordinators and orders and says how the
//! worker is; [`live`] shows games to whoever looks on. `troupe` is what a phase needs, its bots among it, `bags` what they find before a match; `shelf` and
//! `cache` are where files come from. `house` is what all of them share, `identity` what a worker says of itself, `pins` which core is whose.

mod bot_data;
mod blob_cache;
mod control;
mod reporting;
mod state;
mod capabilities;
mod game_thread;
pub mod live;
mod metrics;
mod core_locks;
mod blob_fetcher;
mod bot_cache;

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use agon_runner::StopFlag;
use tokio::runtime::Runtime;

pub use capabilities::{MatchBackend, RealBackend, WorkerCapabilities, calibrate};

use crate::blobs::Blobs;
use crate::{GridError, NatsConnection, subjects, messages};
use blob_cache::BlobCache;
use state::WorkerState;
use blob_fetcher::BlobFetcher;

/// The most a cache holds unless somebody says otherwise.
const CACHE: u64 = 2 << 30;
/// How often the thread that waits looks up.
const LOOK: Duration = Duration::from_millis(50);

/// How a worker is started.
#[derive(Clone)]
pub struct WorkerOptions {
    /// Its name: no two have the same.
    pub name: String,
    /// Games it plays at once.
    pub cores: u32,
    /// Whether each game stays on a core of its own.
    pub pin: bool,
    /// Where files are kept.
    pub cache: PathBuf,
    /// The most that is kept there.
    pub cache_bytes: u64,
    /// What it says of itself; tests may pretend.
    pub identity: WorkerCapabilities,
    /// Who plays; tests may pass one that lies.
    pub hands: Arc<dyn MatchBackend>,
    /// Whether bots may run without the sandbox where a competition says so.
    pub allow_unguarded: bool,
    /// How fast it is; measured at the start if it is not known.
    pub speed: Option<f64>,
}

impl WorkerOptions {
    /// This machine, with all its cores.
    pub fn new(name: String) -> Self {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
        Self {
            name,
            cores: thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
            pin: true,
            cache: cache.or_else(home).unwrap_or_else(std::env::temp_dir).join("agon/worker"),
            cache_bytes: CACHE,
            identity: WorkerCapabilities::here(),
            hands: Arc::new(RealBackend),
            allow_unguarded: false,
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

/// Plays for competitions that are run elsewhere.
#[derive(Debug)]
pub struct Worker;

impl Worker {
    /// Plays until it is stopped or drained: then it finishes what is being played, hands it in and says goodbye. `tell` gets what is to be said to people.
    /// The runtime must have threads of its own; not from inside it.
    pub fn run(
        link: NatsConnection,
        runtime: &Runtime,
        options: WorkerOptions,
        stop: &StopFlag,
        tell: &(dyn Fn(&str) + Sync),
    ) -> Result<(), GridError> {
        if !subjects::is_name(&options.name) {
            let hint = format!("letters, digits, - and _, 48 at most: {}", subjects::name_of(&options.name));
            return Err(GridError::WrongUse {
                what: format!("`{}` cannot be a worker's name", options.name),
                hint,
            });
        }
        let speed = options.speed.unwrap_or_else(calibrate);
        let blobs = runtime.block_on(Blobs::open(&link))?;
        let handle = runtime.handle().clone();
        let shelf = BlobFetcher::new(BlobCache::new(options.cache.clone(), options.cache_bytes), blobs, handle.clone());
        let (news, heard) = mpsc::channel();
        let lanes = options.cores.max(1) as usize;
        let pins = if options.pin { core_locks::lock_cores(lanes) } else { Vec::new() };
        let house = Arc::new(WorkerState::new(options, link, handle, messages::new_session()?, speed, shelf, news));
        // Before anybody is heard: whoever calls first is answered.
        let tasks = [
            runtime.spawn(aloud(Arc::clone(&house), control::listen_announcements(Arc::clone(&house)))),
            runtime.spawn(aloud(Arc::clone(&house), control::listen_commands(Arc::clone(&house)))),
            runtime.spawn(control::heartbeat_loop(Arc::clone(&house))),
        ];
        thread::scope(|scope| {
            let playing: Vec<_> = (0..lanes)
                .map(|lane| {
                    let (house, pin) = (Arc::clone(&house), pins.get(lane));
                    scope.spawn(move || {
                        if let Some(pin) = pin {
                            pin.pin_thread();
                        }
                        game_thread::run(&house, lane);
                    })
                })
                .collect();
            let busy = || playing.iter().any(|one| !one.is_finished()) || house.unreceipted.load(SeqCst) > 0;
            while busy() {
                if let Ok(news) = heard.recv_timeout(LOOK) {
                    tell(&news);
                }
                if stop.is_requested() {
                    house.drain();
                }
            }
        });
        for news in heard.try_iter() {
            tell(&news);
        }
        for task in tasks {
            task.abort();
        }
        runtime.block_on(async {
            control::beat(&house, true).await;
            // A server that is away does not hear it; it will miss the beats.
            let _ = tokio::time::timeout(Duration::from_secs(2), house.link.client().flush()).await;
        });
        Ok(())
    }
}

/// Says it if something cannot be listened to.
async fn aloud(house: Arc<WorkerState>, listening: impl Future<Output = Result<(), GridError>>) {
    if let Err(error) = listening.await {
        house.log(error.to_string());
    }
}
