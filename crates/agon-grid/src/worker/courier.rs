//! Handing in: a report is said until its receipt comes, then the job is acked; meanwhile its lease is held.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::{Duration, Instant};

use async_nats::jetstream::AckKind;
use async_nats::jetstream::message::Acker;
use bytes::Bytes;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::company::{self, OVER};
use super::house::{House, Terms};
use super::shelf::Mishap;
use crate::GridError;
use crate::subjects;
use crate::wire::{self, Job, PIECE, PROTOCOL, Receipt, Report, ReportPart, Trouble, TroubleKind};

/// How long to wait before a question is asked again: at first, and at most.
const PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));
/// Who leaves waits no longer for a coordinator that is away: its jobs are played by somebody else then.
const LEAVING: Duration = Duration::from_secs(30);
/// How often an ack is tried.
const ACKS: u32 = 3;
/// A job that failed here is given to somebody in this time: or here again, if there is nobody.
const LATER: Duration = Duration::from_secs(1);

/// A job in this worker's hands. As long as this is there, its lease is held.
pub struct Held {
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

impl Held {
    /// Holds the lease from now on. In the runtime.
    pub fn new(cup: String, job: Job, acker: Acker, terms: &Terms) -> Self {
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
        for _ in 0..ACKS {
            if self.acker.double_ack_with(kind).await.is_ok() {
                return;
            }
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

/// Hands a report in. It was counted as one without a receipt before.
pub async fn hand_in(house: Arc<House>, held: Held, report: Report) {
    let told = said(&house, &held.cup, &report).await;
    match told {
        Some(Receipt::Refused { why }) => {
            house.leave(&held.cup, &why);
            held.give_back(LATER).await;
        }
        Some(_) => held.end(AckKind::Ack).await,
        None => held.give_back(Duration::ZERO).await,
    }
    house.unreceipted.fetch_sub(1, SeqCst);
}

/// Says a report until somebody has it; `None` if nobody will.
async fn said(house: &House, cup: &str, report: &Report) -> Option<Receipt> {
    let bytes = match wire::encode(report) {
        Ok(bytes) => bytes,
        Err(error) => {
            house.say(format!("a report cannot be written: {error}"));
            return None;
        }
    };
    // The same whenever it is said again, and no other report's.
    let name = format!("{}-{}", report.job, house.session);
    let subject = subjects::report(&house.options.name, cup);
    let mut patience = Patience::new();
    loop {
        match pieces(house, &subject, &name, &bytes).await {
            Ok(Receipt::Again) => company::ask(house, cup, cup).await,
            Ok(receipt @ (Receipt::Kept | Receipt::Refused { .. })) => return Some(receipt),
            Ok(Receipt::More) | Err(_) => {}
        }
        // By a coordinator of another version, say: it will not take this either.
        if let Some(why) = house.refusal(cup) {
            return Some(Receipt::Refused { why });
        }
        if !patience.again(house, cup).await {
            return None;
        }
    }
}

/// All pieces once, each after the receipt of the one before. Gives the last receipt.
async fn pieces(house: &House, subject: &str, report: &str, bytes: &[u8]) -> Result<Receipt, GridError> {
    let pieces = bytes.len().div_ceil(PIECE).max(1) as u32;
    let mut receipt = Receipt::Again;
    for piece in 0..pieces {
        let from = piece as usize * PIECE;
        let part = bytes[from..bytes.len().min(from + PIECE)].to_vec();
        let part = ReportPart { protocol: PROTOCOL, report: report.to_owned(), piece, pieces, bytes: part };
        receipt = request(house, subject, wire::encode(&part)?.into()).await?;
        if receipt != Receipt::More {
            break;
        }
    }
    Ok(receipt)
}

async fn request(house: &House, subject: &str, bytes: Bytes) -> Result<Receipt, GridError> {
    let answer = house.link.client().request(subject.to_owned(), bytes).await;
    wire::decode(&answer.map_err(|error| house.link.refused("carry a report", &error))?.payload)
}

/// A job could not be played.
pub async fn complain(house: &House, held: Held, mishap: Mishap) {
    house.meters.failed.fetch_add(1, Relaxed);
    let kind = match &mishap {
        Mishap::Missing(hash) => TroubleKind::Missing { hash: hash.clone() },
        Mishap::Failed(_) | Mishap::Unwilling(_) => TroubleKind::Failed,
    };
    let says = mishap.says();
    house.say(format!("{}: a job failed here: {says}", held.cup));
    if let Mishap::Unwilling(why) = &mishap {
        house.leave(&held.cup, why);
    }
    // Once: the job itself goes back to the queue whether or not anybody hears of it.
    let _ = tell(house, &held, kind, says).await;
    held.give_back(LATER).await;
}

/// A job was delivered too often: it is put aside, once the coordinator knows.
pub async fn poison(house: &House, held: Held, deliveries: u64) {
    let says = format!("given out {deliveries} times, and nobody has handed it in");
    house.say(format!("{}: a job is put aside: {says}", held.cup));
    let mut patience = Patience::new();
    loop {
        if let Ok(Receipt::Kept | Receipt::Refused { .. }) =
            tell(house, &held, TroubleKind::Poison { deliveries }, says.clone()).await
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

async fn tell(house: &House, held: &Held, kind: TroubleKind, says: String) -> Result<Receipt, GridError> {
    let trouble = Trouble {
        protocol: PROTOCOL,
        worker: house.options.name.clone(),
        job: held.job.id.clone(),
        kind,
        says,
    };
    let subject = subjects::trouble(&house.options.name, &held.cup);
    request(house, &subject, wire::encode(&trouble)?.into()).await
}

/// How long something is tried.
struct Patience {
    pause: Duration,
    leaving: Option<Instant>,
}

impl Patience {
    const fn new() -> Self {
        Self { pause: PAUSE.0, leaving: None }
    }

    /// Waits before the next time; `false` if there is to be none.
    async fn again(&mut self, house: &House, cup: &str) -> bool {
        if house.draining() {
            let since = *self.leaving.get_or_insert_with(Instant::now);
            if since.elapsed() > LEAVING {
                return false;
            }
        }
        if house.silence(cup).is_none_or(|silence| silence > OVER) {
            return false;
        }
        sleep(self.pause).await;
        self.pause = (self.pause * 2).min(PAUSE.1);
        true
    }
}
