//! Handing in: a report is said until its receipt comes, then the job is acked; meanwhile its lease is held.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::{Duration, Instant};

use async_nats::jetstream::AckKind;
use async_nats::jetstream::message::Acker;
use bytes::Bytes;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::control::{self, OVER};
use super::state::{WorkerState, JobSource};
use super::blob_fetcher::JobFailure;
use crate::GridError;
use crate::subjects;
use crate::messages::{self, Job, PIECE, PROTOCOL, ReportAck, JobReport, ReportChunk, JobError, JobErrorKind};

/// How long to wait before a question is asked again: at first, and at most.
const RETRY_DELAY_RANGE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));
/// Who leaves waits no longer for a coordinator that is away: its jobs are played by somebody else then.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);
/// How often an ack is tried.
const MAX_ACK_TRIES: u32 = 3;
/// A job that failed here is given to somebody in this time: or here again, if there is nobody.
const REDELIVERY_DELAY: Duration = Duration::from_secs(1);

/// A job in this worker's hands. As long as this is there, its lease is held.
pub struct LeasedJob {
    /// Of which competition.
    pub cup: String,
    /// What is to be played.
    pub job: Job,
    /// What bots' time limits are multiplied by.
    pub scale: Option<f64>,
    /// How long it may go without a word.
    pub lease: Duration,
    acker: Arc<Acker>,
    keeper: JoinHandle<()>,
}

impl LeasedJob {
    /// Holds the lease from now on. In the runtime.
    pub fn new(cup: String, job: Job, acker: Acker, terms: &JobSource) -> Self {
        let (lease, scale) = (terms.lease, terms.scale);
        let acker = Arc::new(acker);
        let keeper = tokio::spawn({
            let acker = Arc::clone(&acker);
            async move {
                loop {
                    sleep(lease / 3).await;
                    // A server that is away hears of it when it is back.
                    let _ = acker.ack_with(AckKind::Progress).await;
                }
            }
        });
        Self { cup, job, scale, lease, acker, keeper }
    }

    /// Gives the job back.
    pub async fn give_back(self, after: Duration) {
        self.keeper.abort();
        // Without it somebody else gets the job when the lease is over.
        let _ = self.acker.ack_with(AckKind::Nak(Some(after))).await;
    }

    /// The job is done, or nobody is to try it again. If this is lost the job comes again, and its report is dropped.
    async fn end(self, kind: AckKind) {
        for _ in 0..MAX_ACK_TRIES {
            if self.acker.double_ack_with(kind).await.is_ok() {
                return;
            }
        }
    }
}

impl Drop for LeasedJob {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

/// Hands a report in. It was counted as one without a receipt before.
pub async fn send_report(house: Arc<WorkerState>, held: LeasedJob, report: JobReport) {
    let told = send_until_acked(&house, &held.cup, &report).await;
    match told {
        Some(ReportAck::Refused { why }) => {
            house.leave(&held.cup, &why);
            held.give_back(REDELIVERY_DELAY).await;
        }
        Some(_) => held.end(AckKind::Ack).await,
        None => held.give_back(Duration::ZERO).await,
    }
    house.unreceipted.fetch_sub(1, SeqCst);
}

/// Says a report until somebody has it; `None` if nobody will.
async fn send_until_acked(house: &WorkerState, cup: &str, report: &JobReport) -> Option<ReportAck> {
    let bytes = match messages::encode(report) {
        Ok(bytes) => bytes,
        Err(error) => {
            house.log(format!("a report cannot be written: {error}"));
            return None;
        }
    };
    // The same whenever it is said again, and no other report's.
    let name = format!("{}-{}", report.job, house.session);
    let subject = subjects::report(&house.options.name, cup);
    let mut patience = Backoff::new();
    loop {
        match pieces(house, &subject, &name, &bytes).await {
            Ok(ReportAck::Again) => control::ask(house, cup, cup).await,
            Ok(receipt @ (ReportAck::Kept | ReportAck::Refused { .. })) => return Some(receipt),
            Ok(ReportAck::More) | Err(_) => {}
        }
        // By a coordinator of another version, say: it will not take this either.
        if let Some(why) = house.refusal(cup) {
            return Some(ReportAck::Refused { why });
        }
        if !patience.again(house, cup).await {
            return None;
        }
    }
}

/// All pieces once, each after the receipt of the one before. Gives the last receipt.
async fn pieces(house: &WorkerState, subject: &str, report: &str, bytes: &[u8]) -> Result<ReportAck, GridError> {
    let pieces = bytes.len().div_ceil(PIECE).max(1) as u32;
    let mut receipt = ReportAck::Again;
    for piece in 0..pieces {
        let from = piece as usize * PIECE;
        let part = bytes[from..bytes.len().min(from + PIECE)].to_vec();
        let part = ReportChunk { protocol: PROTOCOL, report: report.to_owned(), piece, pieces, bytes: part };
        receipt = request(house, subject, messages::encode(&part)?.into()).await?;
        if receipt != ReportAck::More {
            break;
        }
    }
    Ok(receipt)
}

async fn request(house: &WorkerState, subject: &str, bytes: Bytes) -> Result<ReportAck, GridError> {
    let answer = house.link.client().request(subject.to_owned(), bytes).await;
    messages::decode(&answer.map_err(|error| house.link.refused("carry a report", &error))?.payload)
}

/// A job could not be played.
pub async fn report_failure(house: &WorkerState, held: LeasedJob, mishap: JobFailure) {
    house.meters.failed.fetch_add(1, Relaxed);
    let kind = match &mishap {
        JobFailure::Missing(hash) => JobErrorKind::Missing { hash: hash.clone() },
        JobFailure::Failed(_) | JobFailure::Unwilling(_) => JobErrorKind::Failed,
    };
    let says = mishap.says();
    house.log(format!("{}: a job failed here: {says}", held.cup));
    if let JobFailure::Unwilling(why) = &mishap {
        house.leave(&held.cup, why);
    }
    // Once: the job itself goes back to the queue whether or not anybody hears of it.
    let _ = tell(house, &held, kind, says).await;
    held.give_back(REDELIVERY_DELAY).await;
}

/// A job was delivered too often: it is put aside, once the coordinator knows.
pub async fn report_poison_job(house: &WorkerState, held: LeasedJob, deliveries: u64) {
    let says = format!("given out {deliveries} times, and nobody has handed it in");
    house.log(format!("{}: a job is put aside: {says}", held.cup));
    let mut patience = Backoff::new();
    loop {
        if let Ok(ReportAck::Kept | ReportAck::Refused { .. }) =
            tell(house, &held, JobErrorKind::Poison { deliveries }, says.clone()).await
        {
            held.end(AckKind::Term).await;
            break;
        }
        if !patience.again(house, &held.cup).await {
            held.give_back(Duration::ZERO).await;
            break;
        }
    }
}

async fn tell(house: &WorkerState, held: &LeasedJob, kind: JobErrorKind, says: String) -> Result<ReportAck, GridError> {
    let trouble = JobError {
        protocol: PROTOCOL,
        worker: house.options.name.clone(),
        job: held.job.id.clone(),
        kind,
        says,
    };
    let subject = subjects::trouble(&house.options.name, &held.cup);
    request(house, &subject, messages::encode(&trouble)?.into()).await
}

/// How long something is tried.
struct Backoff {
    pause: Duration,
    leaving: Option<Instant>,
}

impl Backoff {
    const fn new() -> Self {
        Self { pause: RETRY_DELAY_RANGE.0, leaving: None }
    }

    /// Waits before the next time; `false` if there is to be none.
    async fn again(&mut self, house: &WorkerState, cup: &str) -> bool {
        if house.draining() {
            let since = *self.leaving.get_or_insert_with(Instant::now);
            if since.elapsed() > DRAIN_TIMEOUT {
                return false;
            }
        }
        if house.silence(cup).is_none_or(|silence| silence > OVER) {
            return false;
        }
        sleep(self.pause).await;
        self.pause = (self.pause * 2).min(RETRY_DELAY_RANGE.1);
        true
    }
}
