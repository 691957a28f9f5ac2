//! Sends a job report until the coordinator acknowledges it. Renews the job lease while waiting. Acks the job afterwards.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::{Duration, Instant};

use async_nats::jetstream::AckKind;
use async_nats::jetstream::message::Acker;
use bytes::Bytes;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tracing::{Instrument as _, Level};

use super::blob_fetcher::JobFailure;
use super::control::{self, COMPETITION_FORGOTTEN_AFTER};
use super::state::{JobSource, WorkerState};
use crate::messages::{
    self, Job, JobError, JobErrorKind, JobReport, MAX_CHUNK_BYTES, PROTOCOL, RenewalRequest, ReportAck,
    ReportChunk,
};
use crate::{GridError, NatsConnection, subjects};

/// First and maximum delay between attempts.
const RETRY_DELAY_RANGE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));
/// A draining worker gives up unacknowledged reports after this time. Other workers then play the jobs.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum number of attempts to ack a job.
const MAX_ACK_TRIES: u32 = 3;
/// Delay before a job is delivered again whose file is missing, or whose report was refused.
const REDELIVERY_DELAY: Duration = Duration::from_secs(1);

/// A worker acknowledges a job itself for this time after its delivery. NATS lets it do so for ten minutes, and not after a reconnection
/// (`allow_responses` in deploy/nats/users.conf). Later, the coordinator renews the lease and deletes the job.
pub const OWN_ACK_PERIOD: Duration = Duration::from_mins(8);

/// A job taken by this worker. Its lease is renewed until this is dropped.
pub struct LeasedJob {
    /// Grid id of the competition.
    pub competition_id: String,
    /// The job.
    pub job: Job,
    /// Factor for the bots' time limits.
    pub clock_scale: Option<f64>,
    /// Lease of the job.
    pub lease: Duration,
    acker: Arc<Acker>,
    own_ack: OwnAck,
    renewal: JoinHandle<()>,
}

/// Whether a worker may still acknowledge a job itself.
#[derive(Clone)]
struct OwnAck {
    link: NatsConnection,
    since: Instant,
}

impl OwnAck {
    fn is_allowed(&self) -> bool {
        self.since.elapsed() < OWN_ACK_PERIOD && !self.link.connectivity().was_lost_since(self.since)
    }

    /// Whether an attempt does no harm. A user with permissions would get an error from the server.
    fn is_worth_a_try(&self) -> bool {
        self.is_allowed() || self.link.user().is_none()
    }
}

impl LeasedJob {
    /// Starts to renew the lease, in the current runtime.
    pub fn new(
        worker: &WorkerState,
        competition_id: String,
        job: Job,
        (acker, ack): (Acker, String),
        source: &JobSource,
    ) -> Self {
        let (lease, clock_scale) = (source.lease, source.clock_scale);
        let acker = Arc::new(acker);
        let own_ack = OwnAck { link: worker.link.clone(), since: Instant::now() };
        let subject = subjects::renewal(&worker.options.name, &competition_id);
        let request = RenewalRequest {
            protocol: PROTOCOL,
            worker: worker.options.name.clone(),
            job: job.id.clone(),
            ack,
        };
        let span = tracing::error_span!("job", job = job.id);
        let renewal = tokio::spawn({
            let (acker, own_ack) = (Arc::clone(&acker), own_ack.clone());
            async move {
                loop {
                    sleep(lease / 3).await;
                    // Retried at the next interval.
                    let renewed = if own_ack.is_allowed() {
                        acker.ack_with(AckKind::Progress).await.map_err(|error| error.to_string())
                    } else {
                        ask_for_renewal(&own_ack.link, &subject, &request).await
                    };
                    match renewed {
                        Ok(()) => tracing::trace!("lease renewed"),
                        Err(error) => tracing::warn!(error, "cannot renew the lease of a job"),
                    }
                }
            }
            .instrument(span)
        });
        Self { competition_id, job, clock_scale, lease, acker, own_ack, renewal }
    }

    /// Returns the job to the queue.
    pub async fn release(self, after: Duration) {
        self.renewal.abort();
        // If this is lost, another worker gets the job when the lease ends.
        if self.own_ack.is_worth_a_try() {
            let _ = self.acker.ack_with(AckKind::Nak(Some(after))).await;
        }
    }

    /// Removes the job from the queue: it is done, or must not be tried again. If this is lost, the job is delivered again and its report
    /// dropped.
    async fn finish(self, kind: AckKind) {
        if !self.own_ack.is_allowed() {
            // The coordinator deletes the job.
            if self.own_ack.is_worth_a_try() {
                let _ = self.acker.ack_with(kind).await;
            }
            return;
        }
        for _ in 0..MAX_ACK_TRIES {
            if self.acker.double_ack_with(kind).await.is_ok() {
                return;
            }
        }
    }
}

async fn ask_for_renewal(
    link: &NatsConnection,
    subject: &str,
    request: &RenewalRequest,
) -> Result<(), String> {
    let bytes = messages::encode(request).map_err(|error| error.to_string())?;
    link.client().publish(subject.to_owned(), bytes.into()).await.map_err(|error| error.to_string())
}

impl Drop for LeasedJob {
    fn drop(&mut self) {
        self.renewal.abort();
    }
}

/// Sends a report. The caller has counted it as unacknowledged.
pub async fn send_report(worker: Arc<WorkerState>, leased: LeasedJob, report: JobReport) {
    let ack = send_until_acked(&worker, &leased.competition_id, &report).await;
    let what = match &ack {
        Some(ReportAck::Refused { .. }) => "result refused by the coordinator",
        Some(_) => "result acknowledged by the coordinator",
        None => "report given up; another worker plays the match",
    };
    for one in &report.matches {
        let full_key = one.result.key.in_competition(&leased.competition_id);
        match &ack {
            Some(ReportAck::Refused { why }) => {
                tracing::warn!("match" = %full_key, reason = why.lines().next(), "{what}");
            }
            Some(_) => tracing::debug!("match" = %full_key, "{what}"),
            None => tracing::warn!("match" = %full_key, "{what}"),
        }
    }
    match ack {
        Some(ReportAck::Refused { why }) => {
            worker.leave(&leased.competition_id, &why);
            leased.release(REDELIVERY_DELAY).await;
        }
        Some(_) => leased.finish(AckKind::Ack).await,
        None => leased.release(Duration::ZERO).await,
    }
    worker.unacked_reports.fetch_sub(1, SeqCst);
}

/// Sends a report until it is acknowledged. `None` if it is given up.
async fn send_until_acked(
    worker: &WorkerState,
    competition_id: &str,
    report: &JobReport,
) -> Option<ReportAck> {
    let bytes = match messages::encode(report) {
        Ok(bytes) => bytes,
        Err(error) => {
            worker.log(Level::WARN, format!("cannot encode a report: {error}"));
            return None;
        }
    };
    // Unique for this report, and the same at every attempt.
    let name = format!("{}-{}", report.job, worker.session);
    let subject = subjects::report(&worker.options.name, competition_id);
    let mut backoff = Backoff::new();
    loop {
        tracing::debug!(bytes = bytes.len(), matches = report.matches.len(), "sending the report");
        match send_chunks(worker, &subject, &name, &bytes).await {
            Ok(ReportAck::Resend) => {
                tracing::debug!("the coordinator does not know this worker; joining again");
                control::join(worker, competition_id, competition_id).await;
            }
            Ok(ack @ (ReportAck::Stored | ReportAck::Refused { .. })) => return Some(ack),
            Ok(ReportAck::NextChunk) => {}
            // A warning for the first failure; the others are details.
            Err(error) if backoff.is_first() => {
                tracing::warn!(%error, "the coordinator does not acknowledge the report; retrying");
            }
            Err(error) => tracing::debug!(%error, "the report is still not acknowledged"),
        }
        // A coordinator that refused the worker, for example for its version, will not accept the report.
        if let Some(why) = worker.refusal_reason(competition_id) {
            return Some(ReportAck::Refused { why });
        }
        if !backoff.wait(worker, competition_id).await {
            return None;
        }
    }
}

/// Sends all chunks once, each after the ack of the previous one. Returns the last ack.
async fn send_chunks(
    worker: &WorkerState,
    subject: &str,
    report: &str,
    bytes: &[u8],
) -> Result<ReportAck, GridError> {
    let chunks = bytes.len().div_ceil(MAX_CHUNK_BYTES).max(1) as u32;
    let mut ack = ReportAck::Resend;
    for index in 0..chunks {
        let from = index as usize * MAX_CHUNK_BYTES;
        let chunk = bytes[from..bytes.len().min(from + MAX_CHUNK_BYTES)].to_vec();
        let chunk =
            ReportChunk { protocol: PROTOCOL, report: report.to_owned(), chunk: index, chunks, bytes: chunk };
        ack = request(worker, subject, messages::encode(&chunk)?.into()).await?;
        if ack != ReportAck::NextChunk {
            break;
        }
    }
    Ok(ack)
}

async fn request(worker: &WorkerState, subject: &str, bytes: Bytes) -> Result<ReportAck, GridError> {
    let reply = worker.link.client().request(subject.to_owned(), bytes).await;
    messages::decode(&reply.map_err(|error| worker.link.jetstream_error("send a report", &error))?.payload)
}

/// Reports that a job could not be played, and gives it back.
pub async fn report_failure(worker: &WorkerState, leased: LeasedJob, failure: JobFailure) {
    worker.metrics.failed.fetch_add(1, Relaxed);
    let kind = match &failure {
        JobFailure::Missing(hash) => JobErrorKind::Missing { hash: hash.clone() },
        JobFailure::Failed(_) => JobErrorKind::Failed,
        JobFailure::NotAllowed(_) => JobErrorKind::Unfit,
    };
    // At once: this worker takes no job for a while, so another one gets it. Only for a missing file all workers must wait.
    let delay = if let JobFailure::Missing(_) = &failure { REDELIVERY_DELAY } else { Duration::ZERO };
    let message = failure.message();
    worker.log(Level::WARN, format!("{}: a job failed: {message}", leased.competition_id));
    if let JobFailure::NotAllowed(why) = &failure {
        worker.leave(&leased.competition_id, why);
    }
    // Only once: the job goes back to the queue anyway.
    let _ = send_job_error(worker, &leased, kind, message).await;
    leased.release(delay).await;
}

/// Reports a job that was delivered too often, and terminates it once the coordinator has acknowledged this.
pub async fn report_poison_job(worker: &WorkerState, leased: LeasedJob, deliveries: u64) {
    let message = format!("delivered {deliveries} times without a report");
    worker.log(Level::WARN, format!("{}: a job is terminated: {message}", leased.competition_id));
    let mut backoff = Backoff::new();
    loop {
        if let Ok(ReportAck::Stored | ReportAck::Refused { .. }) =
            send_job_error(worker, &leased, JobErrorKind::Poison { deliveries }, message.clone()).await
        {
            leased.finish(AckKind::Term).await;
            break;
        }
        if !backoff.wait(worker, &leased.competition_id).await {
            leased.release(Duration::ZERO).await;
            break;
        }
    }
}

async fn send_job_error(
    worker: &WorkerState,
    leased: &LeasedJob,
    kind: JobErrorKind,
    message: String,
) -> Result<ReportAck, GridError> {
    let job_error = JobError {
        protocol: PROTOCOL,
        worker: worker.options.name.clone(),
        job: leased.job.id.clone(),
        kind,
        message,
    };
    let subject = subjects::job_error(&worker.options.name, &leased.competition_id);
    request(worker, &subject, messages::encode(&job_error)?.into()).await
}

/// Delays between attempts, and the decision to give up.
struct Backoff {
    delay: Duration,
    draining_since: Option<Instant>,
}

impl Backoff {
    const fn new() -> Self {
        Self { delay: RETRY_DELAY_RANGE.0, draining_since: None }
    }

    /// Whether no attempt has failed yet.
    fn is_first(&self) -> bool {
        self.delay == RETRY_DELAY_RANGE.0
    }

    /// Waits before the next attempt. `false` to give up.
    async fn wait(&mut self, worker: &WorkerState, competition_id: &str) -> bool {
        if worker.is_draining() {
            let since = *self.draining_since.get_or_insert_with(Instant::now);
            if since.elapsed() > DRAIN_TIMEOUT {
                return false;
            }
        }
        if worker.silent_for(competition_id).is_none_or(|silence| silence > COMPETITION_FORGOTTEN_AFTER) {
            return false;
        }
        sleep(self.delay).await;
        self.delay = (self.delay * 2).min(RETRY_DELAY_RANGE.1);
        true
    }
}
