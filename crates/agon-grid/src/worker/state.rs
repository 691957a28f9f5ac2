//! State shared by the threads and tasks of a worker.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use agon_core::LockIgnoringPoison as _;
use agon_runner::LiveGames;
use async_nats::jetstream::consumer::PullConsumer;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tracing::Level;

use super::WorkerOptions;
use super::blob_fetcher::BlobFetcher;
use super::bot_cache::{BotCache, PhaseCaches};
use super::live::LiveStreams;
use super::metrics::WorkerMetrics;
use crate::NatsConnection;
use crate::messages::FailingInfo;

/// A coordinator without announcements for this time is away. The worker then pulls no jobs from it, because it purges its queue when it
/// restarts.
const COORDINATOR_SILENT_AFTER: Duration = Duration::from_secs(10);

/// First and maximum delay after failed jobs.
const FAILURE_DELAY_RANGE: (Duration, Duration) = (Duration::from_millis(300), Duration::from_mins(1));

/// Failures of jobs in a row.
struct Failing {
    failures: u32,
    why: String,
    /// The worker takes no job before.
    until: Instant,
}

/// Relation of the worker to a competition.
#[derive(Clone)]
pub enum JoinStatus {
    /// Asked to join, or about to ask.
    Requested,
    /// Joined.
    Accepted(Arc<JobSource>),
    /// Refused, with the reason.
    Refused(String),
}

/// Source of jobs of a competition.
pub struct JobSource {
    /// Consumer to pull from.
    pub consumer: PullConsumer,
    /// A job without a progress ack for this time goes to another worker.
    pub lease: Duration,
    /// Factor for the bots' time limits.
    pub clock_scale: Option<f64>,
}

/// A competition that was announced.
pub struct JoinedCompetition {
    /// Display name.
    pub name: String,
    /// Session of the coordinator.
    pub session: String,
    /// Relation to this worker.
    pub join_status: JoinStatus,
    /// Programs that the phase being played needs.
    pub needs: Vec<String>,
    /// Time of the last announcement.
    pub last_heard: Instant,
    /// Live games, and the settings' files that they were created with.
    live_games: Option<(Vec<String>, Arc<LiveGames>)>,
}

/// State shared by the threads and tasks of a worker.
pub struct WorkerState {
    /// Options of the worker.
    pub options: WorkerOptions,
    /// NATS connection.
    pub link: NatsConnection,
    /// Runtime of the connection.
    pub runtime: Handle,
    /// Changes when the worker restarts.
    pub session: String,
    /// Relative speed.
    pub speed: f64,
    /// Source of files.
    pub blobs: BlobFetcher,
    /// Loaded phases.
    pub phases: PhaseCaches,
    /// Metrics.
    pub metrics: WorkerMetrics,
    /// Active live streams.
    pub live_streams: LiveStreams,
    /// Number of unacknowledged reports.
    pub unacked_reports: AtomicUsize,
    /// Competitions by grid id.
    competitions: Mutex<BTreeMap<String, JoinedCompetition>>,
    draining: AtomicBool,
    /// Failures since the last job that was played.
    failing: Mutex<Option<Failing>>,
    /// Notified when the competitions change.
    pub changed: Notify,
    /// Messages for the user.
    messages: Sender<String>,
}

impl WorkerState {
    /// For a worker that starts.
    #[allow(clippy::too_many_arguments, reason = "once")]
    pub fn new(
        options: WorkerOptions,
        link: NatsConnection,
        runtime: Handle,
        session: String,
        speed: f64,
        blobs: BlobFetcher,
        messages: Sender<String>,
    ) -> Self {
        Self {
            metrics: WorkerMetrics::new(options.cores.max(1) as usize),
            live_streams: LiveStreams::new(link.clone(), &options.name),
            options,
            link,
            runtime,
            session,
            speed,
            blobs,
            phases: PhaseCaches::default(),
            unacked_reports: AtomicUsize::new(0),
            competitions: Mutex::default(),
            draining: AtomicBool::new(false),
            failing: Mutex::new(None),
            changed: Notify::new(),
            messages,
        }
    }

    /// Logs a message, and sends it to the user.
    pub fn log(&self, level: Level, what: impl Into<String>) {
        let what = what.into();
        if level == Level::WARN {
            tracing::warn!("{what}");
        } else {
            tracing::info!("{what}");
        }
        // Fails only at the end.
        let _ = self.messages.send(what);
    }

    /// Starts to drain: takes no more jobs and finishes the current ones.
    pub fn drain(&self) {
        if !self.draining.swap(true, SeqCst) {
            self.changed.notify_waiters();
        }
    }

    /// Whether the worker drains.
    pub fn is_draining(&self) -> bool {
        self.draining.load(SeqCst)
    }

    /// Notes an announcement. Returns whether the worker must ask to join: the competition or its session is new.
    pub fn note_announcement(&self, id: &str, name: &str, session: &str, needs: Vec<String>) -> bool {
        let mut competitions = self.competitions();
        if let Some(competition) = competitions.get_mut(id) {
            competition.last_heard = Instant::now();
            if competition.session == session {
                return false;
            }
            session.clone_into(&mut competition.session);
            competition.needs = needs;
            // A worker that has joined keeps its jobs meanwhile.
            if matches!(competition.join_status, JoinStatus::Refused(_)) {
                competition.join_status = JoinStatus::Requested;
            }
            return true;
        }
        let competition = JoinedCompetition {
            name: name.to_owned(),
            session: session.to_owned(),
            join_status: JoinStatus::Requested,
            needs,
            last_heard: Instant::now(),
            live_games: None,
        };
        competitions.insert(id.to_owned(), competition);
        true
    }

    /// Programs that the phase being played needs.
    pub fn needs(&self, id: &str) -> Vec<String> {
        self.competitions().get(id).map_or_else(Vec::new, |competition| competition.needs.clone())
    }

    /// Notes that a job failed on this worker. After the first failure in a row, the worker takes no job for a time that doubles with each.
    pub fn note_failure(&self, why: &str) {
        let mut failing = self.failing.lock_ignoring_poison();
        let failures = failing.as_ref().map_or(0, |one| one.failures) + 1;
        let factor = 2u32.saturating_pow(failures.saturating_sub(1).min(16));
        let delay = (FAILURE_DELAY_RANGE.0 * factor).min(FAILURE_DELAY_RANGE.1);
        let why = why.lines().next().unwrap_or_default().to_owned();
        *failing = Some(Failing { failures, why, until: Instant::now() + delay });
    }

    /// Notes that a job was played.
    pub fn note_success(&self) {
        *self.failing.lock_ignoring_poison() = None;
    }

    /// Time until the worker takes the next job, after failures.
    pub fn backoff(&self) -> Duration {
        let failing = self.failing.lock_ignoring_poison();
        failing.as_ref().map_or(Duration::ZERO, |one| one.until.saturating_duration_since(Instant::now()))
    }

    /// Failures in a row, for heartbeats, if there are several.
    pub fn failing(&self) -> Option<FailingInfo> {
        let failing = self.failing.lock_ignoring_poison();
        let one = failing.as_ref().filter(|one| one.failures > 1)?;
        let retry = one.until.saturating_duration_since(Instant::now());
        Some(FailingInfo { failures: one.failures, why: one.why.clone(), retry_ms: retry.as_millis() as u64 })
    }

    /// Sets the relation to a competition. Returns whether it changed.
    pub fn set_join_status(&self, id: &str, join_status: JoinStatus) -> bool {
        let mut changed = false;
        if let Some(competition) = self.competitions().get_mut(id) {
            changed = match (&competition.join_status, &join_status) {
                (JoinStatus::Refused(old), JoinStatus::Refused(new)) => old != new,
                (old, new) => std::mem::discriminant(old) != std::mem::discriminant(new),
            };
            competition.join_status = join_status;
        }
        self.changed.notify_waiters();
        changed
    }

    /// Asks to join again at the next announcement, because there was no response.
    pub fn retry_join(&self, id: &str) {
        if let Some(competition) = self.competitions().get_mut(id) {
            competition.session.clear();
        }
    }

    /// The consumer does not exist any more: the coordinator recreated it, or the competition is over. The worker joins again at the next
    /// announcement.
    pub fn job_source_lost(&self, id: &str) {
        if let Some(competition) = self.competitions().get_mut(id) {
            competition.session.clear();
            if matches!(competition.join_status, JoinStatus::Accepted(_)) {
                competition.join_status = JoinStatus::Requested;
            }
        }
    }

    /// Forgets competitions without an announcement for this time.
    pub fn forget_silent(&self, silence: Duration) {
        self.competitions().retain(|_, competition| competition.last_heard.elapsed() < silence);
    }

    /// Leaves a competition.
    pub fn leave(&self, id: &str, why: &str) {
        let name =
            self.competitions().get(id).map_or_else(|| id.to_owned(), |competition| competition.name.clone());
        if self.set_join_status(id, JoinStatus::Refused(why.to_owned())) {
            self.log(Level::WARN, format!("{name}: leaving: {why}"));
        }
    }

    /// Competitions that this worker pulls jobs from.
    pub fn accepted_competitions(&self) -> Vec<(String, Arc<JobSource>)> {
        let competitions = self.competitions();
        let accepted = |(id, competition): (&String, &JoinedCompetition)| match &competition.join_status {
            JoinStatus::Accepted(source) if competition.last_heard.elapsed() < COORDINATOR_SILENT_AFTER => {
                Some((id.clone(), Arc::clone(source)))
            }
            _ => None,
        };
        competitions.iter().filter_map(accepted).collect()
    }

    /// Competitions that refused the worker, with the reason.
    pub fn refused(&self) -> Vec<(String, String)> {
        let competitions = self.competitions();
        let refused = |(id, competition): (&String, &JoinedCompetition)| match &competition.join_status {
            JoinStatus::Refused(why) => Some((id.clone(), why.clone())),
            _ => None,
        };
        competitions.iter().filter_map(refused).collect()
    }

    /// Reason why a competition refused the worker, if it did.
    pub fn refusal_reason(&self, id: &str) -> Option<String> {
        match &self.competitions().get(id)?.join_status {
            JoinStatus::Refused(why) => Some(why.clone()),
            _ => None,
        }
    }

    /// Time since the last announcement of a competition. `None` if it is unknown.
    pub fn silent_for(&self, id: &str) -> Option<Duration> {
        self.competitions().get(id).map(|competition| competition.last_heard.elapsed())
    }

    /// Live games of a competition, if any was played here.
    pub fn live_games(&self, id: &str) -> Option<Arc<LiveGames>> {
        self.competitions().get(id).and_then(|competition| {
            competition.live_games.as_ref().map(|(_, live_games)| Arc::clone(live_games))
        })
    }

    /// Live games of all competitions.
    pub fn all_live_games(&self) -> Vec<(String, Arc<LiveGames>)> {
        let competitions = self.competitions();
        competitions
            .iter()
            .filter_map(|(id, competition)| {
                Some((id.clone(), Arc::clone(&competition.live_games.as_ref()?.1)))
            })
            .collect()
    }

    /// Live games for a phase. Created again if the settings' files differ.
    pub fn live_games_for(&self, id: &str, phase: &BotCache) -> Option<Arc<LiveGames>> {
        let mut competitions = self.competitions();
        let competition = competitions.get_mut(id)?;
        if competition.live_games.as_ref().is_none_or(|(assets, _)| *assets != phase.phase_spec.assets) {
            // The coordinator adds the authors of the bots.
            let live_games =
                LiveGames::new(phase.assets.clone(), vec![None; phase.phase_spec.entrants.len()]);
            competition.live_games = Some((phase.phase_spec.assets.clone(), live_games));
        }
        competition.live_games.as_ref().map(|(_, live_games)| Arc::clone(live_games))
    }

    fn competitions(&self) -> MutexGuard<'_, BTreeMap<String, JoinedCompetition>> {
        self.competitions.lock_ignoring_poison()
    }
}
