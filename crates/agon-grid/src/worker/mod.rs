//! Whoever plays: waits for coordinators, takes jobs, plays them, hands results in.
//!
//! [`mod@lane`] is a thread that plays, one for each core; `courier` hands in what it played; `company` hears coordinators and orders and says how the
//! worker is; [`live`] shows games to whoever looks on. `troupe` is what a phase needs, its bots among it, `bags` what they find before a match; `shelf` and
//! `cache` are where files come from. `house` is what all of them share, `identity` what a worker says of itself, `pins` which core is whose.

mod bags;
mod cache;
mod company;
mod courier;
mod house;
mod identity;
mod lane;
pub mod live;
mod meters;
mod pins;
mod shelf;
mod troupe;

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use agon_runner::Stop;
use tokio::runtime::Runtime;

pub use identity::{Hands, Honest, Identity, calibrate};

use crate::blobs::Blobs;
use crate::{GridError, Link, subjects, wire};
use cache::Cache;
use house::House;
use shelf::Shelf;

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
    pub identity: Identity,
    /// Who plays; tests may pass one that lies.
    pub hands: Arc<dyn Hands>,
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
            identity: Identity::here(),
            hands: Arc::new(Honest),
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
        link: Link,
        runtime: &Runtime,
        options: WorkerOptions,
        stop: &Stop,
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
        let shelf = Shelf::new(Cache::new(options.cache.clone(), options.cache_bytes), blobs, handle.clone());
        let (news, heard) = mpsc::channel();
        let lanes = options.cores.max(1) as usize;
        let pins = if options.pin { pins::take(lanes) } else { Vec::new() };
        let house = Arc::new(House::new(options, link, handle, wire::new_session()?, speed, shelf, news));
        // Before anybody is heard: whoever calls first is answered.
        let tasks = [
            runtime.spawn(aloud(Arc::clone(&house), company::hear_calls(Arc::clone(&house)))),
            runtime.spawn(aloud(Arc::clone(&house), company::hear_orders(Arc::clone(&house)))),
            runtime.spawn(company::beats(Arc::clone(&house))),
        ];
        thread::scope(|scope| {
            let playing: Vec<_> = (0..lanes)
                .map(|lane| {
                    let (house, pin) = (Arc::clone(&house), pins.get(lane));
                    scope.spawn(move || {
                        if let Some(pin) = pin {
                            pin.hold();
                        }
                        lane::work(&house, lane);
                    })
                })
                .collect();
            let busy = || playing.iter().any(|one| !one.is_finished()) || house.unreceipted.load(SeqCst) > 0;
            while busy() {
                if let Ok(news) = heard.recv_timeout(LOOK) {
                    tell(&news);
                }
                if stop.soon() {
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
            company::beat(&house, true).await;
            // A server that is away does not hear it; it will miss the beats.
            let _ = tokio::time::timeout(Duration::from_secs(2), house.link.client().flush()).await;
        });
        Ok(())
    }
}

/// Says it if something cannot be listened to.
async fn aloud(house: Arc<House>, listening: impl Future<Output = Result<(), GridError>>) {
    if let Err(error) = listening.await {
        house.say(error.to_string());
    }
}
