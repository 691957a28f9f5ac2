//! The coordinator: an executor that has matches played by whoever comes, and hands in what they came to.
//!
//! [`gate`] hears workers as long as the competition is run here: [`company`] is who was let in, [`pieces`] puts reports together, [`sense`] looks at
//! them. A [`desk`] sees to one stage: it publishes jobs to a [`line`], as many as [`pace`] says, takes results, gives receipts when they are
//! in the ledger, and has some matches played twice ([`trust`]). [`kit`] is what workers need for a phase, [`luggage`] what bots take from match to match.

mod workers;
mod competition;
mod stage;
mod listener;
mod phase_files;
mod job_queue;
mod bot_data;
mod batch_size;
mod chunks;
mod validate;
mod cross_check;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use agon_engine::Table;
use agon_league::MatchKey;
use agon_runner::match_runner::PhaseContext;
use agon_runner::queue::Queue;
use agon_runner::{ActiveMatches, Executor, ExecutorEvent, RunError};
use agon_store::{FinishedMatch, Ledger, PhaseState};
use agon_venue::Sitting;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

pub use competition::grid_competition_id;

use self::workers::WorkerRegistry;
use self::competition::GridCompetition;
use self::stage::StageCoordinator;
use self::listener::{StageEvent, CoordinatorContext};
use self::phase_files::{PhaseFiles, PhaseOptions};
use self::job_queue::JobQueue;
use self::bot_data::PhaseBotData;
use self::batch_size::BatchSizer;
use self::cross_check::MatchDigest;
use crate::blobs::Blobs;
use crate::{GridError, NatsConnection, WorkerDirectory};

/// How long taking the queue down may take when all is over.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// What cannot be reached is asked again after so long.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// How a fleet is led.
#[derive(Clone, PartialEq, Debug)]
pub struct CoordinatorOptions {
    /// The share of matches that are played again by another worker.
    pub checked: f64,
    /// A job whose progress nobody hears of for so long is given to somebody else.
    pub lease: Duration,
    /// So often a job is delivered before its matches are tried one by one, and set aside.
    pub tries: u32,
    /// About so much work is in a job.
    pub batch: Duration,
    /// Whether bots' time limits follow the speed of the worker they play on.
    pub scale_clocks: bool,
    /// The most that files for workers may take in NATS.
    pub blob_bytes: i64,
    /// The version of Agon that workers must have: this one's.
    pub engine: String,
    /// A server that is away for so long is worth a word.
    pub silence: Duration,
    /// After a stop, so long it is waited for what is being played.
    pub last_results: Duration,
}

impl Default for CoordinatorOptions {
    fn default() -> Self {
        Self {
            checked: 0.02,
            lease: Duration::from_secs(20),
            tries: 4,
            batch: Duration::from_secs(1),
            scale_clocks: false,
            blob_bytes: 4 << 30,
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            silence: Duration::from_mins(1),
            last_results: Duration::from_secs(10),
        }
    }
}

/// A match that nobody could play, and what each of them said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnplayableMatch {
    /// Which.
    pub key: MatchKey,
    /// What went wrong, the first first.
    pub errors: Vec<String>,
}

/// A match that came to different ends with different workers, each of them by the rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DisputedMatch {
    /// Which.
    pub key: MatchKey,
    /// Who played it; what the first of them handed in counts.
    pub workers: Vec<String>,
}

/// What is to be done to what a worker played, until the ledger has it.
#[derive(Clone, Debug)]
enum Revocation {
    /// Nothing of it counts.
    Bar { worker: String, why: String },
    /// This match does not.
    Outvote { key: MatchKey, worker: String, why: String },
}

/// What a fleet knows from stage to stage.
struct RunState {
    kit: Option<PhaseFiles>,
    baggage: Option<PhaseBotData>,
    pace: (u32, BatchSizer),
    aside: Vec<UnplayableMatch>,
    /// Matches that are in the ledger and are still to be looked at twice: who played them, and what they came to.
    doubts: Vec<(MatchKey, String, MatchDigest)>,
    disputed: Vec<DisputedMatch>,
    /// By the number they were handed on under: a stage that is begun anew hears only the first of several.
    sentences: BTreeMap<u64, Revocation>,
    /// What two came to in matches that a third one was outvoted in.
    settled: Vec<FinishedMatch>,
    figures: GridRunStats,
}

/// A run in figures. All but the first two since it began.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct GridRunStats {
    /// Jobs that nobody has taken yet, when it was last asked.
    pub waiting: u64,
    /// Jobs that workers have.
    pub out: u64,
    /// Matches that were played twice, and came to the same.
    pub checked: u64,
    /// Matches that should have been looked at twice, and nobody was there for it.
    pub unchecked: u64,
    /// Matches that two workers came to something else in.
    pub disagreed: u64,
    /// Matches that came to different ends, and nobody could say which is right.
    pub disputed: u64,
    /// Workers that are not believed any more.
    pub barred: u64,
    /// Matches that nobody could play.
    pub aside: u64,
}

/// The coordinator of one competition, for a run of it.
pub struct Coordinator {
    shared: Arc<CoordinatorContext>,
    options: CoordinatorOptions,
    terms: PhaseOptions,
    line: JobQueue,
    blobs: Blobs,
    table: Arc<dyn Table>,
    salt: [u8; 32],
    /// Numbers of jobs, and of what is handed on.
    numbers: AtomicU64,
    inbox: Mutex<Receiver<StageEvent>>,
    memory: Mutex<RunState>,
    roster: WorkerDirectory,
    tasks: Vec<JoinHandle<()>>,
}

impl Coordinator {
    /// Makes the streams, empties the competition's queue and begins to call workers. The runtime needs threads of its own: what is heard
    /// is heard while nobody waits for it. Not from inside a runtime.
    pub fn open(
        link: NatsConnection,
        runtime: Handle,
        sitting: &Sitting,
        ledger: &dyn Ledger,
        options: CoordinatorOptions,
    ) -> Result<Self, GridError> {
        if options.checked.is_nan() || !(0.0..=1.0).contains(&options.checked) {
            return Err(GridError::WrongUse {
                what: format!("a share of {} of all matches cannot be played again", options.checked),
                hint: "from 0 (none) to 1 (every match)".to_owned(),
            });
        }
        let store = |error: agon_store::StoreError| GridError::Venue(error.into());
        let table: Arc<dyn Table> = agon_engine::table(sitting.competition.game)
            .map_err(|error| GridError::Venue(error.into()))?
            .into();
        let (said, inbox) = channel();
        let handle = runtime.clone();
        handle.block_on(async move {
            let commitment = ledger.competition().await.map_err(store)?.commitment;
            let cup = GridCompetition::new(sitting, commitment, &options.engine)?;
            let barred = ledger.barred().await.map_err(store)?;
            let salt = cross_check::salt(&ledger.secret().await.map_err(store)?);
            let doubts = pending_checks(ledger, &cross_check::CrossChecks::new(salt, options.checked)).await.map_err(store)?;
            let company = WorkerRegistry::new(barred.into_iter().map(|one| (one.worker, one.why)));
            let line = JobQueue::new(link.clone(), cup.id.clone(), options.lease);
            line.make().await?;
            line.purge().await?;
            let blobs = Blobs::make(&link, options.blob_bytes).await?;
            let terms = PhaseOptions::new(sitting, cup.id.clone());
            let speed = options.scale_clocks.then(crate::worker::calibrate);
            let shared = CoordinatorContext::new((link, runtime), cup, &options, speed, said, company);
            let shared = Arc::new(shared);
            let roster = WorkerDirectory::listen(&shared.link).await?;
            let tasks = listener::open(&shared).await?;
            let memory = RunState {
                kit: None,
                baggage: None,
                pace: (0, BatchSizer::new(options.batch)),
                aside: Vec::new(),
                doubts,
                disputed: Vec::new(),
                sentences: BTreeMap::new(),
                settled: Vec::new(),
                figures: GridRunStats::default(),
            };
            let (inbox, memory) = (Mutex::new(inbox), Mutex::new(memory));
            let numbers = AtomicU64::new(0);
            Ok(Self {
                shared,
                options,
                terms,
                line,
                blobs,
                table,
                salt,
                numbers,
                inbox,
                memory,
                roster,
                tasks,
            })
        })
    }

    /// The competition's id on the grid.
    pub fn cup(&self) -> &str {
        &self.shared.cup.id
    }

    /// Words for people (who came, what is waited for) go there from now on.
    pub fn tell(&self, tell: impl Fn(&str) + Send + Sync + 'static) {
        self.shared.tell_to(Box::new(tell));
    }

    /// Everybody whose beat was heard, here or not.
    pub fn roster(&self) -> WorkerDirectory {
        self.roster.clone()
    }

    /// The matches of this run that nobody could play.
    pub fn unplayable(&self) -> Vec<UnplayableMatch> {
        self.memory().aside.clone()
    }

    /// The matches of this run that came to different ends, and stay as they came first.
    pub fn disputed(&self) -> Vec<DisputedMatch> {
        self.memory().disputed.clone()
    }

    /// How many matches of this run should have been looked at twice when nobody was there for it.
    pub fn unchecked(&self) -> u64 {
        self.memory().figures.unchecked
    }

    /// The run in figures.
    pub fn figures(&self) -> GridRunStats {
        self.memory().figures
    }

    fn memory(&self) -> MutexGuard<'_, RunState> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// What workers need for this phase; waits for a server that is away. `None` if it was stopped before.
    fn kit(&self, hall: &PhaseContext<'_>, queue: &Queue<'_>) -> Result<Option<PhaseFiles>, RunError> {
        if let Some(kit) = self.memory().kit.clone().filter(|kit| kit.phase == hall.phase) {
            return Ok(Some(kit));
        }
        while !queue.is_stopped() {
            match self.shared.runtime.block_on(PhaseFiles::make(&self.terms, hall, &self.blobs)) {
                Ok(kit) => {
                    self.memory().kit = Some(kit.clone());
                    return Ok(Some(kit));
                }
                Err(GridError::JetStream { what, .. }) => {
                    self.shared
                        .tell(&format!("files for workers cannot be put into NATS, trying again: {what}"));
                    thread::sleep(RETRY_DELAY);
                    // Its storage may be gone.
                    let _ =
                        self.shared.runtime.block_on(Blobs::make(&self.shared.link, self.options.blob_bytes));
                }
                Err(error) => return Err(RunError::CoordinatorFailed(error.to_string())),
            }
        }
        Ok(None)
    }
}

/// The matches of phases that are being played which are to be looked at twice: whether they were, before a run that ended, is not known.
async fn pending_checks(
    ledger: &dyn Ledger,
    checks: &cross_check::CrossChecks,
) -> agon_store::Result<Vec<(MatchKey, String, MatchDigest)>> {
    let mut doubts = Vec::new();
    for phase in ledger.phases().await?.iter().filter(|phase| phase.state == PhaseState::Running) {
        let all = ledger.matches_with_workers(phase.phase).await?.into_iter();
        let chosen = all.filter(|(key, _, _)| checks.chosen(*key));
        doubts.extend(chosen.map(|(key, worker, digest)| (key, worker, digest.0)));
    }
    Ok(doubts)
}

impl Executor for Coordinator {
    fn play(
        &self,
        hall: &PhaseContext<'_>,
        stage: u32,
        queue: &Queue<'_>,
        boards: &ActiveMatches,
        take: &mut dyn FnMut(Receiver<ExecutorEvent>) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let Some(kit) = self.kit(hall, queue)? else { return Ok(()) };
        let (lots, receiver) = channel();
        let over = AtomicBool::new(false);
        let desk = StageCoordinator::new(self, kit, hall, stage, queue, boards, lots)?;
        let done = thread::scope(|scope| {
            scope.spawn(|| {
                let inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner);
                desk.run(&inbox, &over);
            });
            let done = take(receiver);
            // When it ends by itself nobody is at the desk any more.
            over.store(true, Ordering::Relaxed);
            let _ = self.shared.said.send(StageEvent::Wake);
            done
        });
        boards.show(Vec::new());
        done
    }

    fn is_local(&self) -> bool {
        false
    }

    fn has_pending_checks(&self, phase: u32, stage: u32) -> bool {
        self.memory().doubts.iter().any(|(key, _, _)| (key.phase, key.stage) == (phase, stage))
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
        // Inside a runtime nobody can wait; what stays there is taken down by the next run.
        if Handle::try_current().is_err() {
            let closing = self.line.close();
            let _ = self.shared.runtime.block_on(async { tokio::time::timeout(SHUTDOWN_TIMEOUT, closing).await });
        }
    }
}
