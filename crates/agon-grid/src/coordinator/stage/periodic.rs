//! Periodic tasks: find lost jobs, recreate streams, give up impossible checks, stop.

use std::time::{Duration, Instant};

use agon_league::{Entrant, MatchKey};
use agon_runner::ActiveMatch;
use agon_runner::event::NOTICE_TARGET;
use async_nats::Subject;

use super::{POLL_INTERVAL, REPUBLISH_DELAY, StageCoordinator};
use crate::blobs::Blobs;
use crate::coordinator::job_queue::QueueCounts;
use crate::coordinator::listener::StageEvent;
use crate::subjects::WORK_STREAM;

/// Checks that no worker can do are given up after this time without a change of workers.
const CHECK_GIVE_UP_AFTER: Duration = Duration::from_secs(5);
/// The same while no worker is connected. Longer, because workers reconnect soon after a restart of the coordinator or a network failure.
const CHECK_GIVE_UP_AFTER_NO_WORKERS: Duration = Duration::from_secs(30);
/// A job published this many comparisons ago is looked up by its sequence, even if the counts match.
const LOOKUP_AFTER_COMPARISONS: u32 = 4;
/// Maximum time for a NATS operation. After that it is retried later.
const NATS_TIMEOUT: Duration = Duration::from_secs(10);

impl StageCoordinator<'_> {
    /// Interval of comparisons with the queue.
    fn compare_interval(&self) -> Duration {
        self.coordinator.options.lease / 2
    }

    /// Runs the tasks that are due.
    pub(super) fn run_periodic_tasks(&mut self) {
        self.recreate_streams();
        if self.last_polled.elapsed() < POLL_INTERVAL {
            return;
        }
        self.last_polled = Instant::now();
        self.log_lost_workers();
        self.update_active_matches();
        if !self.retries.is_empty() {
            self.retry_on_other_workers();
        }
        if self.queue.is_stopped() && self.stopping.is_none() {
            self.begin_stop();
        }
        if !self.checks.is_empty() {
            self.give_up_checks();
        }
        if self.last_compared.elapsed() >= self.compare_interval() && self.last_repair_attempt.is_none() {
            self.last_compared = Instant::now();
            let (job_queue, events) = (self.coordinator.job_queue.clone(), self.context().events.clone());
            self.context().runtime.spawn(async move {
                let counts = job_queue.counts().await.ok();
                let _ = events.send(StageEvent::QueueState(counts));
            });
        }
    }

    /// Logs workers without heartbeats, and what happens to their jobs.
    fn log_lost_workers(&self) {
        let mut workers = self.context().workers();
        for worker in workers.newly_lost() {
            let what = if workers.cores() > 0 {
                "other workers get its jobs when the leases expire"
            } else {
                "no other worker is connected, so its jobs wait"
            };
            tracing::warn!(target: NOTICE_TARGET, worker, "worker lost: no heartbeat; {what}");
        }
    }

    /// Renews the lease of a job for a worker that has held it for long. A worker can prolong a job this way, as it can by holding it, but
    /// not acknowledge one.
    pub(super) fn renew_lease(&self, worker: &str, job: &str, ack: Subject) {
        let sequence = self.jobs.get(job).and_then(|published| published.sequence);
        if sequence.is_none() || ack_sequence(&ack, &self.context().competition.id) != sequence {
            tracing::debug!(worker, job, "renewal of an unknown job ignored");
            return;
        }
        let client = self.context().link.client().clone();
        self.context().runtime.spawn(async move { client.publish(ack, "+WPI".into()).await });
    }

    /// Gives up checks that no worker can do.
    fn give_up_checks(&mut self) {
        let at_last = self.queue.pending_count() == 0 && self.is_all_committed();
        let mut workers = self.context().workers();
        let timeout = if workers.cores() == 0 { CHECK_GIVE_UP_AFTER_NO_WORKERS } else { CHECK_GIVE_UP_AFTER };
        if workers.stable_for() < timeout {
            return;
        }
        let (given_up, disputed) = self.checks.give_up_impossible(&workers, at_last);
        drop(workers);
        if given_up > 0 {
            tracing::warn!(given_up, "no worker can do these cross-checks; given up");
            self.coordinator.state().stats.unchecked += given_up;
        }
        for (number, workers) in disputed {
            self.report_dispute(number, workers);
        }
    }

    /// Compares the published jobs with the queue.
    pub(super) fn compare_with_queue(&mut self, counts: Option<QueueCounts>) {
        let Some(counts) = counts else {
            // The queue may be lost with the server's storage. If it is not, creating it again does no harm.
            self.last_repair_attempt = self.last_repair_attempt.or(Some(Instant::now()));
            return;
        };
        {
            let mut state = self.coordinator.state();
            (state.stats.waiting_jobs, state.stats.taken_jobs) = (counts.waiting, counts.taken);
        }
        let mut old = self.published_before(self.compare_interval());
        if counts.waiting + counts.taken >= old.len() as u64 {
            // The counts match, but may include other jobs: given-up jobs that no worker may take stay in the queue and would hide lost
            // jobs.
            old = self.published_before(self.compare_interval() * LOOKUP_AFTER_COMPARISONS);
        }
        if old.is_empty() {
            return;
        }
        let (job_queue, events) = (self.coordinator.job_queue.clone(), self.context().events.clone());
        self.context().runtime.spawn(async move {
            if let Ok(missing) = job_queue.missing(old).await {
                let _ = events.send(StageEvent::LostJobs(missing));
            }
        });
    }

    /// Jobs published longer ago than `age`: id and stream sequence.
    fn published_before(&self, age: Duration) -> Vec<(String, u64)> {
        let jobs = self.jobs.values().filter(|published| published.published_at.elapsed() > age);
        jobs.filter_map(|published| Some((published.job.id.clone(), published.sequence?))).collect()
    }

    /// Creates lost streams again, uploads files, and publishes the jobs that failed.
    fn recreate_streams(&mut self) {
        let Some(since) = self.last_repair_attempt else { return };
        if since.elapsed() < REPUBLISH_DELAY || !self.context().is_connected() {
            return;
        }
        self.last_repair_attempt = Some(Instant::now());
        let coordinator = self.coordinator;
        let recreating = async {
            coordinator.job_queue.create().await?;
            let blobs = Blobs::create(&coordinator.context.link, coordinator.options.max_blob_bytes).await?;
            self.phase_files.upload(&coordinator.phase_options, self.phase_context, &blobs, None).await
        };
        let outcome = coordinator
            .context
            .runtime
            .block_on(async { tokio::time::timeout(NATS_TIMEOUT, recreating).await });
        if !matches!(outcome, Ok(Ok(_))) {
            tracing::debug!("cannot create the job queue again yet");
            return;
        }
        tracing::warn!("job queue and files created again");
        self.last_repair_attempt = None;
        self.last_compared =
            Instant::now().checked_sub(self.compare_interval()).unwrap_or(self.last_compared);
        let take_failed = |published: &mut super::PublishedJob| {
            published.republish_at.take().map(|_| published.job.clone())
        };
        let failed: Vec<_> = self.jobs.values_mut().filter_map(take_failed).collect();
        for job in failed {
            self.send_job(&job);
        }
    }

    /// Uploads a file that a worker misses.
    pub(super) fn upload_again(&mut self, hash: &str) {
        let coordinator = self.coordinator;
        let uploading = async {
            let blobs = Blobs::create(&coordinator.context.link, coordinator.options.max_blob_bytes).await?;
            if self
                .phase_files
                .upload(&coordinator.phase_options, self.phase_context, &blobs, Some(hash))
                .await?
            {
                return Ok(());
            }
            let found = self.bot_data.as_ref().map_or(Ok(None), |all| all.find(self.phase_context, hash))?;
            if let Some(bytes) = found {
                blobs.put(&bytes).await?;
            }
            Ok::<(), crate::GridError>(())
        };
        let outcome = coordinator
            .context
            .runtime
            .block_on(async { tokio::time::timeout(NATS_TIMEOUT, uploading).await });
        if let Ok(Err(error)) = outcome {
            tracing::warn!(target: NOTICE_TARGET, %error, "cannot upload a file for workers");
            self.context().notify(&format!("cannot upload a file for workers: {error}"));
        }
    }

    /// Starts a stop: deletes the jobs that no worker has taken, and sets a deadline for the others.
    fn begin_stop(&mut self) {
        let job_queue = &self.coordinator.job_queue;
        let stopping = async {
            let counts = job_queue.counts().await;
            let _ = job_queue.purge().await;
            counts
        };
        let is_connected = self.context().is_connected();
        let counts = self.context().runtime.block_on(async {
            let timeout = if is_connected { NATS_TIMEOUT } else { Duration::ZERO };
            tokio::time::timeout(timeout, stopping).await
        });
        let playing = counts.ok().and_then(Result::ok).map_or(0, |counts| counts.taken);
        self.stopping = Some((Instant::now() + self.coordinator.options.stop_timeout, playing));
    }

    /// Counts a job that ended after a stop.
    pub(super) fn count_finished_job(&mut self) {
        if let Some((_, playing)) = &mut self.stopping {
            *playing = playing.saturating_sub(1);
        }
    }

    /// Updates the list of matches being played, from the heartbeats.
    fn update_active_matches(&self) {
        let (competition_id, stage) = (&self.context().competition.id, self.stage);
        let workers = self.context().workers();
        let mut playing = Vec::new();
        for (_, worker) in workers.present() {
            let (at, games) = &worker.live_games;
            for game in games.iter().filter(|one| one.competition_id == *competition_id && one.key.1 == stage)
            {
                let (phase, stage, number) = game.key;
                let since = at.checked_sub(Duration::from_millis(game.elapsed_ms)).unwrap_or(*at);
                let seats = game.seats.iter().map(|seat| Entrant(*seat)).collect();
                playing.push(ActiveMatch { key: MatchKey { phase, stage, number }, seats, since });
            }
        }
        drop(workers);
        self.active_matches.replace_all(playing);
    }
}

/// Stream sequence in the acknowledgement subject of a job of this competition.
fn ack_sequence(ack: &str, competition_id: &str) -> Option<u64> {
    let tokens: Vec<&str> = ack.strip_prefix("$JS.ACK.")?.split('.').collect();
    // Newer servers put the domain and the account first.
    let tokens = if tokens.len() > 7 { &tokens[2..] } else { &tokens[..] };
    match tokens {
        [WORK_STREAM, consumer, _, sequence, ..] if *consumer == competition_id => sequence.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ack_sequence_reads_both_forms_of_the_subject() {
        assert_eq!(ack_sequence("$JS.ACK.AGON_WORK.cup.1.17.3.1700000000000.5", "cup"), Some(17));
        assert_eq!(ack_sequence("$JS.ACK._.hash.AGON_WORK.cup.1.17.3.1700000000000.5.x", "cup"), Some(17));
        assert_eq!(ack_sequence("$JS.ACK.AGON_WORK.other.1.17.3.1700000000000.5", "cup"), None);
        assert_eq!(ack_sequence("agon.work.cup", "cup"), None);
    }
}
