//! Coordinates one stage: publishes jobs, tracks them and processes their results.

mod disputes;
mod failures;
mod periodic;
mod reports;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use agon_league::{Fixture, FullMatchKey, MatchKey};
use agon_runner::phase_context::PhaseContext;
use agon_runner::queue::MatchQueue;
use agon_runner::{ActiveMatches, ExecutorEvent, RunError};

use super::batch_size::BatchSizer;
use super::bot_data::PhaseBotData;
use super::cross_check::{CrossChecks, MatchDigest};
use super::listener::{CoordinatorContext, ReplyHandle, StageEvent};
use super::phase_files::PhaseFiles;
use super::rank_checks::RankChecks;
use super::{Coordinator, UnplayableMatch};
use crate::messages::{Job, JobMatch, PROTOCOL, ReportAck, encode};

/// Maximum time between two rounds of the event loop.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Delay before a job or a stream that failed is published or created again.
const REPUBLISH_DELAY: Duration = Duration::from_secs(1);
/// Maximum time to purge the queue. If it takes longer, the next run does it.
const PURGE_TIMEOUT: Duration = Duration::from_secs(5);
/// Extra deliveries of a job that some workers may not take: they give it back, and these deliveries do not count.
const EXTRA_DELIVERIES: u32 = 5000;

/// A published job.
struct PublishedJob {
    job: Job,
    /// Stream sequence, once published.
    sequence: Option<u64>,
    /// Time of publishing.
    published_at: Instant,
    /// Time to publish it again, after a failure.
    republish_at: Option<Instant>,
    purpose: JobPurpose,
    /// Errors, with the worker names.
    errors: Vec<(String, String)>,
    /// Number of failures since it was published.
    failures: u32,
    /// Number of earlier retry rounds of its match.
    rounds: u32,
}

/// Purpose of a job.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JobPurpose {
    /// Play new matches.
    Play,
    /// Cross-check matches.
    Check,
}

/// A failed match that waits for another worker.
struct RetryMatch {
    job_match: JobMatch,
    errors: Vec<(String, String)>,
    rounds: u32,
    deliveries: u64,
}

/// Matches being committed to the ledger.
struct PendingCommit {
    replies: Vec<ReplyHandle>,
    matches: Vec<JobMatch>,
    /// Data folders after the matches, if the phase is played in order.
    data: Vec<(u32, Vec<u8>)>,
}

/// Coordinates one stage.
pub struct StageCoordinator<'d> {
    coordinator: &'d Coordinator,
    phase_files: PhaseFiles,
    phase_context: &'d PhaseContext<'d>,
    stage: u32,
    queue: &'d MatchQueue<'d>,
    active_matches: &'d ActiveMatches,
    run_events: Sender<ExecutorEvent>,
    batch_sizer: BatchSizer,
    bot_data: Option<PhaseBotData>,
    jobs: HashMap<String, PublishedJob>,
    /// Number of jobs for cross-checks.
    check_jobs: u64,
    /// Published matches that are not reported yet, with the id of their latest job.
    requested: HashMap<u64, (JobMatch, String)>,
    pending_commits: HashMap<u64, PendingCommit>,
    /// Commit number of each match being committed.
    committing: HashMap<u64, u64>,
    checks: CrossChecks,
    rank_checks: RankChecks,
    /// Whether the checks at the end of the stage have begun.
    rank_checks_started: bool,
    started: Instant,
    /// Matches of this stage by worker: number and digest.
    played_by_worker: HashMap<String, Vec<(u64, MatchDigest)>>,
    /// Numbers of the running replays.
    replaying: HashSet<u64>,
    /// Matches that failed on only one worker and wait for another.
    retries: Vec<RetryMatch>,
    unplayable: Vec<UnplayableMatch>,
    /// Time of the last attempt to recreate streams and files; `None` if they are intact.
    last_repair_attempt: Option<Instant>,
    last_compared: Instant,
    last_polled: Instant,
    /// After a stop: the deadline for results, and the number of jobs being played.
    stopping: Option<(Instant, u64)>,
    /// Whether the run no longer receives events.
    receiver_gone: bool,
}

impl<'d> StageCoordinator<'d> {
    /// For a stage of a phase.
    pub fn new(
        coordinator: &'d Coordinator,
        phase_files: PhaseFiles,
        phase_context: &'d PhaseContext<'d>,
        stage: u32,
        queue: &'d MatchQueue<'d>,
        active_matches: &'d ActiveMatches,
        run_events: Sender<ExecutorEvent>,
    ) -> Result<Self, RunError> {
        let now = Instant::now();
        let mut state = coordinator.state();
        let batch_sizer = Some(state.batch_sizer)
            .filter(|(phase, _)| *phase == phase_context.phase)
            .map(|(_, batch_sizer)| batch_sizer);
        let rank_checks = std::mem::take(&mut state.rank_checks);
        let rank_checks =
            Some(rank_checks).filter(|(phase, _)| *phase == phase_context.phase).unwrap_or_default().1;
        let mut bot_data = state.bot_data.take().filter(|known| known.phase == phase_context.phase);
        let here = |key: &MatchKey| (key.phase, key.stage) == (phase_context.phase, stage);
        let pending_checks: Vec<_> = state.pending_checks.extract_if(.., |(key, _, _)| here(key)).collect();
        drop(state);
        if queue.in_order() {
            let mut packed = match bot_data {
                Some(known) => known,
                None => PhaseBotData::pack(phase_context)?,
            };
            packed.begin_stage(phase_context)?;
            bot_data = Some(packed);
        }
        let mut this = Self {
            coordinator,
            phase_files,
            phase_context,
            stage,
            queue,
            active_matches,
            run_events,
            batch_sizer: batch_sizer
                .unwrap_or_else(|| BatchSizer::new(coordinator.options.target_job_duration)),
            bot_data,
            jobs: HashMap::new(),
            check_jobs: 0,
            requested: HashMap::new(),
            pending_commits: HashMap::new(),
            committing: HashMap::new(),
            checks: CrossChecks::new(coordinator.salt, coordinator.options.cross_check_share),
            rank_checks: rank_checks.next_stage(),
            rank_checks_started: false,
            started: now,
            played_by_worker: HashMap::new(),
            replaying: HashSet::new(),
            retries: Vec::new(),
            unplayable: Vec::new(),
            last_repair_attempt: None,
            last_compared: now,
            last_polled: now,
            stopping: None,
            receiver_gone: false,
        };
        this.resume_checks(pending_checks);
        Ok(this)
    }

    /// Reopens the cross-checks of stored matches. Skipped where matches are played in order, because the bots' data of that time is no
    /// longer known.
    fn resume_checks(&mut self, pending_checks: Vec<(MatchKey, String, MatchDigest)>) {
        if self.queue.in_order() {
            return;
        }
        for (MatchKey { number, .. }, worker, digest) in pending_checks {
            if let Some(fixture) = self.queue.fixture(number).filter(|_| !self.queue.is_pending(number)) {
                self.checks.start(self.job_match(number, &fixture), &worker, digest);
            }
        }
    }

    fn context(&self) -> &'d Arc<CoordinatorContext> {
        &self.coordinator.context
    }

    fn key(&self, number: u64) -> MatchKey {
        MatchKey { phase: self.phase_context.phase, stage: self.stage, number }
    }

    /// The key of a match as logs write it.
    fn full_key(&self, number: u64) -> FullMatchKey<'d> {
        self.key(number).in_competition(&self.context().competition.id)
    }

    /// Runs until all matches are played, or the run no longer receives events.
    pub fn run(mut self, inbox: &Receiver<StageEvent>, ended: &AtomicBool) {
        self.purge_queue();
        // Process revocations that were executed between two stages.
        while let Ok(event) = inbox.try_recv() {
            self.handle_event(event);
        }
        self.resume_pending();
        loop {
            let all_published = self.publish_jobs();
            self.receiver_gone |= ended.load(Ordering::Relaxed);
            let done = self.is_done(all_published);
            if done && !self.receiver_gone && self.start_rank_checks() {
                continue;
            }
            if self.receiver_gone || (done && self.finish_retries()) {
                break;
            }
            match inbox.recv_timeout(POLL_INTERVAL) {
                Ok(event) => {
                    self.handle_event(event);
                    while let Ok(event) = inbox.try_recv() {
                        self.handle_event(event);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.run_periodic_tasks();
        }
        self.finish();
    }

    /// Ends the stage and keeps the state for the next one.
    fn finish(self) {
        self.purge_queue();
        // It is unknown whether these commits succeed, so the workers send their reports to the next stage.
        for reply in self.pending_commits.into_values().flat_map(|commit| commit.replies) {
            reply.send(&ReportAck::Resend);
        }
        let (phase, stage) = (self.phase_context.phase, self.stage);
        let mut state = self.coordinator.state();
        state.batch_sizer = (phase, self.batch_sizer);
        // After an early end matches may have been revoked. The totals then start again.
        state.rank_checks =
            if self.receiver_gone { (phase, RankChecks::default()) } else { (phase, self.rank_checks) };
        // After an early end matches may have been revoked and the bots' folders restored. Then they are packed again.
        state.bot_data = self.bot_data.filter(|_| !self.receiver_gone);
        state.unplayable.extend(self.unplayable.iter().cloned());
        state.stats.unplayable += self.unplayable.len() as u64;
        (state.stats.waiting_jobs, state.stats.taken_jobs) = (0, 0);
        let open = self.checks.into_open();
        state
            .pending_checks
            .extend(open.map(|(number, worker, digest)| (MatchKey { phase, stage, number }, worker, digest)));
        drop(state);
        if !self.unplayable.is_empty() && !self.receiver_gone {
            let unplayable = self.unplayable.into_iter().map(|one| (one.key, one.errors)).collect();
            let _ = self.run_events.send(ExecutorEvent::Failed(RunError::Unplayable(unplayable)));
        }
    }

    fn is_done(&self, all_published: bool) -> bool {
        if let Some((until, playing)) = self.stopping {
            return self.pending_commits.is_empty() && (playing == 0 || Instant::now() >= until);
        }
        all_published && self.checks.is_empty() && self.is_all_committed()
    }

    /// Whether all published matches are committed and all replays done.
    fn is_all_committed(&self) -> bool {
        self.requested.is_empty() && self.pending_commits.is_empty() && self.replaying.is_empty()
    }

    /// Publishes jobs up to the maximum. Returns whether no match is left to publish.
    fn publish_jobs(&mut self) -> bool {
        if self.stopping.is_some() || self.queue.is_stopped() {
            return false;
        }
        let cores = self.context().workers().cores();
        while self.last_repair_attempt.is_none() {
            let left = self.queue.pending_count().max(self.checks.unpublished());
            let size = self.batch_sizer.matches_per_job(left, cores);
            let room = self.batch_sizer.max_jobs(size, cores);
            if self.check_jobs < room {
                let workers = self.context().workers();
                let next_check =
                    self.checks.next_batch(&workers, if self.queue.in_order() { 1 } else { size as usize });
                drop(workers);
                if let Some((excluded, matches)) = next_check {
                    self.publish_job(matches, excluded, JobPurpose::Check);
                    continue;
                }
            }
            // Cross-checks do not take the place of new matches.
            if self.jobs.len() as u64 - self.check_jobs >= room {
                return self.queue.pending_count() == 0;
            }
            let batch = self.queue.next_batch(size);
            if batch.is_empty() {
                return true;
            }
            let matches = batch.iter().map(|(number, fixture)| self.job_match(*number, fixture)).collect();
            self.publish_job(matches, Vec::new(), JobPurpose::Play);
        }
        false
    }

    /// Builds the job entry of a match.
    fn job_match(&self, number: u64, fixture: &Fixture) -> JobMatch {
        let seats: Vec<u32> = fixture.seats.iter().map(|seat| seat.0).collect();
        let bot_data = self.bot_data.as_ref().map_or_else(Vec::new, |all| all.refs_for(&seats));
        let (variant, seed) = (fixture.variant, self.phase_context.seed(fixture.seed_index));
        JobMatch { stage: self.stage, number, seats, variant, seed, bot_data }
    }

    /// Publishes a job that the workers in `not` must not take. Returns its id.
    fn publish_job(&mut self, matches: Vec<JobMatch>, excluded: Vec<String>, purpose: JobPurpose) -> String {
        let id = format!("{}-{}", self.context().competition.session, self.coordinator.next_number());
        let extra_deliveries = if excluded.is_empty() { 0 } else { EXTRA_DELIVERIES };
        let job = Job {
            protocol: PROTOCOL,
            competition_id: self.context().competition.id.clone(),
            phase_spec: self.phase_files.phase_spec.clone(),
            id: id.clone(),
            max_deliveries: self.coordinator.options.max_deliveries + extra_deliveries,
            excluded_workers: excluded,
            matches,
        };
        if purpose == JobPurpose::Play {
            for one in &job.matches {
                self.requested.insert(one.number, (one.clone(), id.clone()));
            }
        }
        let what = match purpose {
            JobPurpose::Play => "match queued",
            JobPurpose::Check => "cross-check queued",
        };
        for one in &job.matches {
            let excluded = (!job.excluded_workers.is_empty()).then_some(&job.excluded_workers);
            let excluded = excluded.map(tracing::field::debug);
            tracing::info!("match" = %self.full_key(one.number), job = id, excluded, "{what}");
        }
        self.send_job(&job);
        let published = PublishedJob {
            job,
            sequence: None,
            published_at: Instant::now(),
            republish_at: None,
            purpose,
            errors: Vec::new(),
            failures: 0,
            rounds: 0,
        };
        self.check_jobs += u64::from(purpose == JobPurpose::Check);
        self.jobs.insert(id.clone(), published);
        id
    }

    /// Removes a job from the published ones.
    fn take_job(&mut self, id: &str) -> Option<PublishedJob> {
        let published = self.jobs.remove(id)?;
        self.check_jobs -= u64::from(published.purpose == JobPurpose::Check);
        Some(published)
    }

    /// Uploads the files of a job, then publishes it.
    fn send_job(&mut self, job: &Job) {
        let refs = job.matches.iter().flat_map(|one| &one.bot_data).cloned().collect::<Vec<_>>();
        let files = self.bot_data.as_mut().map_or_else(Vec::new, |all| all.take_unpublished(&refs));
        let (job_queue, blobs) = (self.coordinator.job_queue.clone(), self.coordinator.blobs.clone());
        let (id, events) = (job.id.clone(), self.context().events.clone());
        let Ok(bytes) = encode(job) else { return };
        self.context().runtime.spawn(async move {
            for file in files {
                if let Err(error) = blobs.put(&file).await {
                    let _ = events.send(StageEvent::PublishFailed(id, error.into()));
                    return;
                }
            }
            let published = job_queue.publish(&id, bytes).await;
            let _ = events.send(match published {
                Ok(sequence) => StageEvent::Published(id, sequence),
                Err(error) => StageEvent::PublishFailed(id, error.into()),
            });
        });
    }

    fn handle_event(&mut self, event: StageEvent) {
        match event {
            StageEvent::Report(worker, report, read, reply) => {
                self.handle_report(&worker, *report, read, reply);
            }
            StageEvent::JobError(worker, job_error, reply) => {
                self.handle_job_error(&worker, job_error, reply);
            }
            StageEvent::Renewal(worker, job, ack) => self.renew_lease(&worker, &job, ack),
            StageEvent::Stored(number) => self.handle_stored(number),
            StageEvent::Published(id, sequence) => {
                tracing::debug!(job = id, sequence, "job published");
                if let Some(published) = self.jobs.get_mut(&id) {
                    (published.sequence, published.republish_at, published.published_at) =
                        (Some(sequence), None, Instant::now());
                }
            }
            StageEvent::PublishFailed(id, why) => self.handle_publish_failure(&id, &why),
            StageEvent::QueueState(counts) => self.compare_with_queue(counts),
            StageEvent::LostJobs(ids) => self.republish_lost(&ids),
            StageEvent::Replayed(worker, token, violation) => {
                self.replaying.remove(&token);
                if let Some(violation) = violation {
                    self.ban(&worker, &violation);
                }
            }
            StageEvent::Wake => {}
        }
    }

    fn purge_queue(&self) {
        let purging = self.coordinator.job_queue.purge();
        let timeout = if self.context().is_connected() { PURGE_TIMEOUT } else { Duration::ZERO };
        let _ = self.context().runtime.block_on(async { tokio::time::timeout(timeout, purging).await });
    }
}
