//! The coordinator: an executor that lets workers play the matches.
//!
//! [`listener`] receives the messages of workers during the run: [`workers`] registers them, [`chunks`] assembles reports, [`validate`]
//! checks them. [`stage`] coordinates one stage: it publishes jobs to the [`job_queue`] ([`batch_size`] chooses how many), processes
//! reports, acknowledges them when they are in the ledger, and lets other workers check some matches ([`cross_check`], [`rank_checks`]).
//! [`phase_files`] holds the files that workers need for a phase, [`bot_data`] the data that bots keep from match to match.

mod batch_size;
mod bot_data;
mod chunks;
mod competition;
mod cross_check;
mod job_queue;
mod listener;
mod phase_files;
mod rank_checks;
mod stage;
mod validate;
mod workers;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use agon_competition::LoadedCompetition;
use agon_core::LockIgnoringPoison as _;
use agon_engine::AnyGame;
use agon_league::MatchKey;
use agon_runner::event::NOTICE_TARGET;
use agon_runner::phase_context::PhaseContext;
use agon_runner::queue::MatchQueue;
use agon_runner::{ActiveMatches, Executor, ExecutorEvent, RunError};
use agon_store::{FinishedMatch, Ledger, PhaseState};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

pub use competition::grid_competition_id;

use self::batch_size::BatchSizer;
use self::bot_data::PhaseBotData;
use self::competition::GridCompetition;
use self::cross_check::MatchDigest;
use self::job_queue::JobQueue;
use self::listener::{CoordinatorContext, StageEvent};
use self::phase_files::{PhaseFiles, PhaseOptions};
use self::rank_checks::RankChecks;
use self::stage::StageCoordinator;
use self::workers::WorkerRegistry;
use crate::blobs::Blobs;
use crate::{GridError, NatsConnection, WorkerDirectory};

/// Maximum time to delete the queue at the end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// Delay before the coordinator retries an upload.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// Options of a coordinator.
#[derive(Clone, PartialEq, Debug)]
pub struct CoordinatorOptions {
    /// Share of matches that another worker plays again, 0 to 1.
    pub cross_check_share: f64,
    /// A job without a progress ack for this time goes to another worker.
    pub lease: Duration,
    /// Maximum number of deliveries of a job. After that its matches are tried one by one.
    pub max_deliveries: u32,
    /// Target duration of a job.
    pub target_job_duration: Duration,
    /// Whether bots' time limits follow the speed of the worker.
    pub scale_clocks: bool,
    /// Maximum size of the file stream.
    pub max_blob_bytes: i64,
    /// Required Agon version of workers.
    pub engine: String,
    /// The user is told about a lost NATS connection after this time.
    pub disconnect_notice_after: Duration,
    /// Maximum time to wait for running jobs after a stop.
    pub stop_timeout: Duration,
}

impl Default for CoordinatorOptions {
    fn default() -> Self {
        Self {
            cross_check_share: 0.02,
            lease: Duration::from_secs(20),
            max_deliveries: 4,
            target_job_duration: Duration::from_secs(1),
            scale_clocks: false,
            max_blob_bytes: 4 << 30,
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            disconnect_notice_after: Duration::from_secs(2),
            stop_timeout: Duration::from_secs(10),
        }
    }
}

/// A match that failed on every worker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnplayableMatch {
    /// Match key.
    pub key: MatchKey,
    /// Errors of the workers, oldest first.
    pub errors: Vec<String>,
}

/// A match with different valid results from different workers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DisputedMatch {
    /// Match key.
    pub key: MatchKey,
    /// Workers that played it. The result of the first one counts.
    pub workers: Vec<String>,
}

/// Revocation of results, kept until the ledger has executed it.
#[derive(Clone, Debug)]
enum Revocation {
    /// Revokes all matches of a banned worker.
    Ban { worker: String, why: String },
    /// Revokes one match.
    RevokeMatch { key: MatchKey, worker: String, why: String },
}

/// State of a coordinator that outlives a stage.
struct RunState {
    phase_files: Option<PhaseFiles>,
    bot_data: Option<PhaseBotData>,
    batch_sizer: (u32, BatchSizer),
    rank_checks: (u32, RankChecks),
    unplayable: Vec<UnplayableMatch>,
    /// Stored matches with an open cross-check: worker and digest.
    pending_checks: Vec<(MatchKey, String, MatchDigest)>,
    disputed: Vec<DisputedMatch>,
    /// Revocations by number. A restarted stage executes them again, because the run may have processed only the first one.
    revocations: BTreeMap<u64, Revocation>,
    /// Winning results of matches whose stored result was outvoted.
    majority_results: Vec<FinishedMatch>,
    stats: GridRunStats,
}

/// Counters of a run. All but the first two count since its start.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct GridRunStats {
    /// Jobs that no worker has taken, at the last query.
    pub waiting_jobs: u64,
    /// Jobs that workers have taken, at the last query.
    pub taken_jobs: u64,
    /// Matches whose cross-check gave the same result.
    pub checked: u64,
    /// Matches whose cross-check was given up for lack of a worker.
    pub unchecked: u64,
    /// Matches whose first two results differ.
    pub disagreed: u64,
    /// Matches with different results and no majority.
    pub disputed: u64,
    /// Banned workers.
    pub banned: u64,
    /// Matches that failed on every worker.
    pub unplayable: u64,
}

/// Coordinator of one run of a competition.
pub struct Coordinator {
    context: Arc<CoordinatorContext>,
    options: CoordinatorOptions,
    phase_options: PhaseOptions,
    job_queue: JobQueue,
    blobs: Blobs,
    salt: [u8; 32],
    /// Next number for jobs, commits, revocations and replays.
    next_number: AtomicU64,
    inbox: Mutex<Receiver<StageEvent>>,
    state: Arc<Mutex<RunState>>,
    worker_directory: WorkerDirectory,
    tasks: Vec<JoinHandle<()>>,
}

impl Coordinator {
    /// Creates the streams, purges the competition's queue and starts to announce the competition. The runtime must be multi-threaded,
    /// because listeners run in the background. Must not be called from within a runtime.
    pub fn open(
        link: NatsConnection,
        runtime: Handle,
        loaded: &LoadedCompetition,
        ledger: &dyn Ledger,
        options: CoordinatorOptions,
    ) -> Result<Self, GridError> {
        if options.cross_check_share.is_nan() || !(0.0..=1.0).contains(&options.cross_check_share) {
            return Err(GridError::Usage {
                what: format!("invalid share of cross-checked matches: {}", options.cross_check_share),
                hint: "use a value from 0 (none) to 1 (all)".to_owned(),
            });
        }
        let store = |error: agon_store::StoreError| GridError::Competition(error.into());
        let game: Arc<dyn AnyGame> = agon_engine::any_game(loaded.competition.game)
            .map_err(|error| GridError::Competition(error.into()))?
            .into();
        let (sender, inbox) = channel();
        let handle = runtime.clone();
        handle.block_on(async move {
            let commitment = ledger.competition().await.map_err(store)?.commitment;
            let competition = GridCompetition::new(loaded, game, commitment, &options.engine)?;
            let banned = ledger.banned_workers().await.map_err(store)?;
            let salt = cross_check::salt(&ledger.secret_seed().await.map_err(store)?);
            let pending_checks =
                pending_checks(ledger, &cross_check::CrossChecks::new(salt, options.cross_check_share))
                    .await
                    .map_err(store)?;
            let workers = WorkerRegistry::new(banned.into_iter().map(|one| (one.worker, one.reason)))
                .with_connectivity(link.connectivity().clone());
            let job_queue = JobQueue::new(link.clone(), competition.id.clone(), options.lease);
            job_queue.create().await?;
            job_queue.purge().await?;
            let blobs = Blobs::create(&link, options.max_blob_bytes).await?;
            let phase_options = PhaseOptions::new(loaded, competition.id.clone());
            let speed = options.scale_clocks.then(crate::worker::calibrate);
            let context =
                CoordinatorContext::new((link, runtime), competition, &options, speed, sender, workers);
            let context = Arc::new(context);
            let worker_directory = WorkerDirectory::listen(&context.link).await?;
            worker_directory.answer_queries().await?;
            let tasks = listener::start_listeners(&context).await?;
            let state = RunState {
                phase_files: None,
                bot_data: None,
                batch_sizer: (0, BatchSizer::new(options.target_job_duration)),
                rank_checks: (0, RankChecks::default()),
                unplayable: Vec::new(),
                pending_checks,
                disputed: Vec::new(),
                revocations: BTreeMap::new(),
                majority_results: Vec::new(),
                stats: GridRunStats::default(),
            };
            let (inbox, state) = (Mutex::new(inbox), Arc::new(Mutex::new(state)));
            let next_number = AtomicU64::new(0);
            Ok(Self {
                context,
                options,
                phase_options,
                job_queue,
                blobs,
                salt,
                next_number,
                inbox,
                state,
                worker_directory,
                tasks,
            })
        })
    }

    /// Grid id of the competition.
    pub fn competition_id(&self) -> &str {
        &self.context.competition.id
    }

    /// Sets the callback for user messages.
    pub fn set_message_sink(&self, sink: impl Fn(&str) + Send + Sync + 'static) {
        self.context.set_message_sink(Box::new(sink));
    }

    /// All workers that send heartbeats, including those that did not join.
    pub fn worker_directory(&self) -> WorkerDirectory {
        self.worker_directory.clone()
    }

    /// Matches of this run that failed on every worker.
    pub fn unplayable(&self) -> Vec<UnplayableMatch> {
        self.state().unplayable.clone()
    }

    /// Matches of this run with different results; the first result stays.
    pub fn disputed(&self) -> Vec<DisputedMatch> {
        self.state().disputed.clone()
    }

    /// Number of cross-checks of this run that were given up for lack of a worker.
    pub fn unchecked(&self) -> u64 {
        self.state().stats.unchecked
    }

    /// Counters of the run.
    pub fn stats(&self) -> GridRunStats {
        self.state().stats
    }

    /// Reads the counters of the run, from any thread.
    pub fn stats_reader(&self) -> impl Fn() -> GridRunStats + Send + Sync + use<> {
        let state = Arc::clone(&self.state);
        move || state.lock_ignoring_poison().stats
    }

    fn state(&self) -> MutexGuard<'_, RunState> {
        self.state.lock_ignoring_poison()
    }

    fn next_number(&self) -> u64 {
        self.next_number.fetch_add(1, Ordering::Relaxed)
    }

    /// Files of this phase. Retries while the server is unreachable. `None` if the run is stopped meanwhile.
    fn phase_files(
        &self,
        phase_context: &PhaseContext<'_>,
        queue: &MatchQueue<'_>,
    ) -> Result<Option<PhaseFiles>, RunError> {
        if let Some(phase_files) =
            self.state().phase_files.clone().filter(|phase_files| phase_files.phase == phase_context.phase)
        {
            return Ok(Some(phase_files));
        }
        while !queue.is_stopped() {
            match self.context.runtime.block_on(PhaseFiles::create(
                &self.phase_options,
                phase_context,
                &self.blobs,
            )) {
                Ok(phase_files) => {
                    self.state().phase_files = Some(phase_files.clone());
                    return Ok(Some(phase_files));
                }
                Err(GridError::JetStream { what, .. }) => {
                    tracing::warn!(target: NOTICE_TARGET, error = what, "cannot upload files to NATS; retrying");
                    self.context.notify(&format!("cannot upload files to NATS, retrying: {what}"));
                    thread::sleep(RETRY_DELAY);
                    // The server may have lost its storage.
                    let _ = self
                        .context
                        .runtime
                        .block_on(Blobs::create(&self.context.link, self.options.max_blob_bytes));
                }
                Err(error) => return Err(RunError::CoordinatorFailed(error.into())),
            }
        }
        Ok(None)
    }

    /// Prepares a stage. `None` if the run is stopped meanwhile.
    fn stage_coordinator<'d>(
        &'d self,
        phase_context: &'d PhaseContext<'d>,
        stage: u32,
        queue: &'d MatchQueue<'d>,
        active_matches: &'d ActiveMatches,
        run_events: Sender<ExecutorEvent>,
    ) -> Result<Option<StageCoordinator<'d>>, RunError> {
        let Some(phase_files) = self.phase_files(phase_context, queue)? else { return Ok(None) };
        self.context.set_needs(&phase_files.needs);
        let new =
            StageCoordinator::new(self, phase_files, phase_context, stage, queue, active_matches, run_events);
        new.map(Some)
    }
}

/// Stored matches of running phases that are selected for a cross-check. It is unknown whether an earlier run has checked them.
async fn pending_checks(
    ledger: &dyn Ledger,
    checks: &cross_check::CrossChecks,
) -> agon_store::Result<Vec<(MatchKey, String, MatchDigest)>> {
    let mut pending_checks = Vec::new();
    for phase in ledger.phases().await?.iter().filter(|phase| phase.state == PhaseState::Running) {
        let stored = ledger.matches_with_workers(phase.phase).await?.into_iter();
        let selected = stored.filter(|(key, _, _)| checks.is_selected(*key));
        pending_checks.extend(selected.map(|(key, worker, digest)| (key, worker, digest.0)));
    }
    Ok(pending_checks)
}

impl Executor for Coordinator {
    fn play(
        &self,
        phase_context: &PhaseContext<'_>,
        stage: u32,
        queue: &MatchQueue<'_>,
        active_matches: &ActiveMatches,
        receive: &mut dyn FnMut(Receiver<ExecutorEvent>) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let (sender, receiver) = channel();
        let ended = AtomicBool::new(false);
        let run_span = tracing::Span::current();
        let result = thread::scope(|scope| {
            // The run receives from the start: it shows messages while the stage still waits for the server.
            scope.spawn(|| {
                let _in_run = run_span.enter();
                let failed = sender.clone();
                let stage = self.stage_coordinator(phase_context, stage, queue, active_matches, sender);
                match stage {
                    Ok(Some(stage)) => {
                        drop(failed);
                        stage.run(&self.inbox.lock_ignoring_poison(), &ended);
                    }
                    Ok(None) => {}
                    // If the run has ended, it has an error of its own.
                    Err(error) => drop(failed.send(ExecutorEvent::Failed(error))),
                }
            });
            let result = receive(receiver);
            // Ends the stage if it is still running.
            ended.store(true, Ordering::Relaxed);
            let _ = self.context.events.send(StageEvent::Wake);
            result
        });
        active_matches.replace_all(Vec::new());
        result
    }

    fn is_local(&self) -> bool {
        false
    }

    fn has_pending_checks(&self, phase: u32, stage: u32) -> bool {
        self.state().pending_checks.iter().any(|(key, _, _)| (key.phase, key.stage) == (phase, stage))
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
        // Within a runtime it is not possible to block. Then the next run deletes the queue.
        if Handle::try_current().is_err() {
            let closing = self.job_queue.close();
            let _ = self
                .context
                .runtime
                .block_on(async { tokio::time::timeout(SHUTDOWN_TIMEOUT, closing).await });
        }
    }
}
