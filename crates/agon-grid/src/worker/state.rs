//! What the threads and tasks of a worker share.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_runner::LiveGames;
use async_nats::jetstream::consumer::PullConsumer;
use tokio::runtime::Handle;
use tokio::sync::Notify;

use super::WorkerOptions;
use super::live::LiveStreams;
use super::metrics::WorkerMetrics;
use super::blob_fetcher::BlobFetcher;
use super::bot_cache::{BotCache, PhaseCaches};
use crate::NatsConnection;

/// Coordinators call every two seconds: who is not heard for so long is away. One that comes back empties its queue: there is nothing to take meanwhile.
const SILENT: Duration = Duration::from_secs(10);

/// How a competition stands to this worker.
#[derive(Clone)]
pub enum JoinStatus {
    /// It asks to take part.
    Asking,
    /// It gets work.
    Welcome(Arc<JobSource>),
    /// It does not, and why.
    Refused(String),
}

/// How work is had from a competition.
pub struct JobSource {
    /// Where it is pulled from.
    pub consumer: PullConsumer,
    /// A job whose progress nobody hears of for so long is given to somebody else.
    pub lease: Duration,
    /// What bots' time limits are multiplied by.
    pub scale: Option<f64>,
}

/// A competition that was heard of.
pub struct JoinedCompetition {
    /// Its name, for people.
    pub name: String,
    /// The coordinator's session.
    pub session: String,
    /// How it stands.
    pub standing: JoinStatus,
    /// When its coordinator was last heard.
    pub heard: Instant,
    /// Where its games can be seen, and the files that its settings name.
    gallery: Option<(Vec<String>, Arc<LiveGames>)>,
}

/// What the threads and tasks of a worker share.
pub struct WorkerState {
    /// What it was started with.
    pub options: WorkerOptions,
    /// The connection.
    pub link: NatsConnection,
    /// What waits from threads that play.
    pub handle: Handle,
    /// Changes when it starts anew.
    pub session: String,
    /// How fast it is.
    pub speed: f64,
    /// Files.
    pub shelf: BlobFetcher,
    /// What is ready to be played.
    pub troupes: PhaseCaches,
    /// How busy it is.
    pub meters: WorkerMetrics,
    /// Boards that are being shown.
    pub shows: LiveStreams,
    /// Reports that have no receipt yet.
    pub unreceipted: AtomicUsize,
    /// Competitions, by id.
    cups: Mutex<BTreeMap<String, JoinedCompetition>>,
    draining: AtomicBool,
    /// Something about the competitions has changed.
    pub changed: Notify,
    /// What is to be said to people.
    news: Sender<String>,
}

impl WorkerState {
    /// For a worker that is about to start.
    #[allow(clippy::too_many_arguments, reason = "once")]
    pub fn new(
        options: WorkerOptions,
        link: NatsConnection,
        handle: Handle,
        session: String,
        speed: f64,
        shelf: BlobFetcher,
        news: Sender<String>,
    ) -> Self {
        Self {
            meters: WorkerMetrics::new(options.cores.max(1) as usize),
            shows: LiveStreams::new(link.clone(), &options.name),
            options,
            link,
            handle,
            session,
            speed,
            shelf,
            troupes: PhaseCaches::default(),
            unreceipted: AtomicUsize::new(0),
            cups: Mutex::default(),
            draining: AtomicBool::new(false),
            changed: Notify::new(),
            news,
        }
    }

    /// Says something to people.
    pub fn log(&self, what: impl Into<String>) {
        // Nobody listens any more when everything ends.
        let _ = self.news.send(what.into());
    }

    /// Takes nothing more, finishes what there is.
    pub fn drain(&self) {
        if !self.draining.swap(true, SeqCst) {
            self.changed.notify_waiters();
        }
    }

    /// Whether nothing more is taken.
    pub fn draining(&self) -> bool {
        self.draining.load(SeqCst)
    }

    /// A coordinator was heard. Says whether it must be asked to take part: it is new, or started anew.
    pub fn note_announcement(&self, id: &str, name: &str, session: &str) -> bool {
        let mut cups = self.cups();
        if let Some(cup) = cups.get_mut(id) {
            cup.heard = Instant::now();
            if cup.session == session {
                return false;
            }
            session.clone_into(&mut cup.session);
            // Who had work goes on with it meanwhile.
            if matches!(cup.standing, JoinStatus::Refused(_)) {
                cup.standing = JoinStatus::Asking;
            }
            return true;
        }
        let cup = JoinedCompetition {
            name: name.to_owned(),
            session: session.to_owned(),
            standing: JoinStatus::Asking,
            heard: Instant::now(),
            gallery: None,
        };
        cups.insert(id.to_owned(), cup);
        true
    }

    /// Something came of asking. Says whether that is news.
    pub fn set_join_status(&self, id: &str, standing: JoinStatus) -> bool {
        let mut news = false;
        if let Some(cup) = self.cups().get_mut(id) {
            news = match (&cup.standing, &standing) {
                (JoinStatus::Refused(old), JoinStatus::Refused(new)) => old != new,
                (old, new) => std::mem::discriminant(old) != std::mem::discriminant(new),
            };
            cup.standing = standing;
        }
        self.changed.notify_waiters();
        news
    }

    /// The question found no answer: it is asked again when the coordinator is heard next.
    pub fn ask_again(&self, id: &str) {
        if let Some(cup) = self.cups().get_mut(id) {
            cup.session.clear();
        }
    }

    /// There is no work to be had where there was: its coordinator made the queue anew, or the competition is over. It is asked when it is heard next.
    pub fn lost(&self, id: &str) {
        if let Some(cup) = self.cups().get_mut(id) {
            cup.session.clear();
            if matches!(cup.standing, JoinStatus::Welcome(_)) {
                cup.standing = JoinStatus::Asking;
            }
        }
    }

    /// A competition nobody has heard of for so long is over.
    pub fn forget(&self, silence: Duration) {
        self.cups().retain(|_, cup| cup.heard.elapsed() < silence);
    }

    /// Leaves a competition.
    pub fn leave(&self, id: &str, why: &str) {
        let name = self.cups().get(id).map_or_else(|| id.to_owned(), |cup| cup.name.clone());
        if self.set_join_status(id, JoinStatus::Refused(why.to_owned())) {
            self.log(format!("{name}: leaving: {why}"));
        }
    }

    /// Competitions that have work for this worker.
    pub fn accepted_competitions(&self) -> Vec<(String, Arc<JobSource>)> {
        let cups = self.cups();
        let welcome = |(id, cup): (&String, &JoinedCompetition)| match &cup.standing {
            JoinStatus::Welcome(terms) if cup.heard.elapsed() < SILENT => Some((id.clone(), Arc::clone(terms))),
            _ => None,
        };
        cups.iter().filter_map(welcome).collect()
    }

    /// Competitions that have refused it, and why.
    pub fn refused(&self) -> Vec<(String, String)> {
        let cups = self.cups();
        let refused = |(id, cup): (&String, &JoinedCompetition)| match &cup.standing {
            JoinStatus::Refused(why) => Some((id.clone(), why.clone())),
            _ => None,
        };
        cups.iter().filter_map(refused).collect()
    }

    /// Why a competition has refused it, if it has.
    pub fn refusal(&self, id: &str) -> Option<String> {
        match &self.cups().get(id)?.standing {
            JoinStatus::Refused(why) => Some(why.clone()),
            _ => None,
        }
    }

    /// For how long nothing was heard of a competition; `None` if it is not known.
    pub fn silence(&self, id: &str) -> Option<Duration> {
        self.cups().get(id).map(|cup| cup.heard.elapsed())
    }

    /// Where the games of a competition can be seen, if any was played here.
    pub fn gallery(&self, id: &str) -> Option<Arc<LiveGames>> {
        self.cups().get(id).and_then(|cup| cup.gallery.as_ref().map(|(_, gallery)| Arc::clone(gallery)))
    }

    /// All galleries.
    pub fn galleries(&self) -> Vec<(String, Arc<LiveGames>)> {
        let cups = self.cups();
        cups.iter().filter_map(|(id, cup)| Some((id.clone(), Arc::clone(&cup.gallery.as_ref()?.1)))).collect()
    }

    /// The gallery for a phase. One with other files is another one.
    pub fn gallery_for(&self, id: &str, troupe: &BotCache) -> Option<Arc<LiveGames>> {
        let mut cups = self.cups();
        let cup = cups.get_mut(id)?;
        if cup.gallery.as_ref().is_none_or(|(assets, _)| *assets != troupe.brief.assets) {
            // Who wrote the bots is known where it is shown.
            let gallery = LiveGames::new(troupe.assets.clone(), vec![None; troupe.brief.entrants.len()]);
            cup.gallery = Some((troupe.brief.assets.clone(), gallery));
        }
        cup.gallery.as_ref().map(|(_, gallery)| Arc::clone(gallery))
    }

    fn cups(&self) -> MutexGuard<'_, BTreeMap<String, JoinedCompetition>> {
        self.cups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
