//! Receives messages of workers during a run: join requests, reports, job errors and heartbeats.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use agon_core::Diagnostic;
use agon_core::LockIgnoringPoison as _;
use agon_core::record::Recorder;
use agon_core::text_format::plural;
use agon_runner::event::NOTICE_TARGET;
use async_nats::connection::State;
use async_nats::{Message, Subject, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt as _;
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tracing::Instrument as _;

use super::CoordinatorOptions;
use super::chunks::{AssembleResult, ReportAssembler};
use super::competition::GridCompetition;
use super::validate::{self, ReadMatch};
use super::workers::WorkerRegistry;
use crate::messages::{
    Heartbeat, JobError, JobReport, JoinRequest, JoinResponse, PROTOCOL, RenewalRequest, ReportAck,
    ReportChunk, decode, encode,
};
use crate::{GridError, NatsConnection, permissions, subjects};

/// Interval of announcements.
const ANNOUNCE_INTERVAL: Duration = Duration::from_secs(2);
/// Time for the last owner of a worker name to send a heartbeat, before another session may take the name. Shorter than the request
/// timeout.
const NAME_CLAIM_TIMEOUT: Duration = Duration::from_millis(4500);

/// Callback that receives messages for the user.
pub type MessageSink = Box<dyn Fn(&str) + Send + Sync>;

/// Sends the reply to a request.
#[derive(Clone)]
pub struct ReplyHandle {
    link: NatsConnection,
    runtime: Handle,
    subject: Option<Subject>,
}

impl ReplyHandle {
    /// Sends the reply. If it is lost, the requester asks again.
    pub fn send<T: Serialize>(self, reply: &T) {
        let (Some(subject), Ok(bytes)) = (self.subject, encode(reply)) else { return };
        let client = self.link.client().clone();
        self.runtime.spawn(async move { client.publish(subject, Bytes::from(bytes)).await });
    }
}

/// Event for the stage being played.
pub enum StageEvent {
    /// Report of a worker. With the records of each match, replayed, or the reason why the report is impossible.
    Report(String, Box<JobReport>, Result<Vec<ReadMatch>, String>, ReplyHandle),
    /// A worker could not play a job.
    JobError(String, JobError, ReplyHandle),
    /// A worker asks to renew the lease of a job; with its name and the acknowledgement subject.
    Renewal(String, String, Subject),
    /// The commit or revocation with this number is in the ledger.
    Stored(u64),
    /// A job was published, with its stream sequence.
    Published(String, u64),
    /// A job could not be published, with the error.
    PublishFailed(String, Diagnostic),
    /// State of the queue, `None` if it does not exist.
    QueueState(Option<super::job_queue::QueueCounts>),
    /// These jobs are no longer in the queue.
    LostJobs(Vec<String>),
    /// A match of this worker was replayed, under this number; with the violation of the rules, if any.
    Replayed(String, u64, Option<String>),
    /// Wakes the stage up.
    Wake,
}

/// State shared by listeners and stages.
pub struct CoordinatorContext {
    /// NATS connection.
    pub link: NatsConnection,
    /// Runtime for tasks.
    pub runtime: Handle,
    /// The competition.
    pub competition: GridCompetition,
    /// Lease of a job.
    pub lease: Duration,
    /// The user is told about a lost NATS connection after this time.
    pub disconnect_notice_after: Duration,
    /// Speed of this machine, if clocks are scaled.
    pub speed: Option<f64>,
    /// Events for the stage.
    pub events: Sender<StageEvent>,
    /// Programs that the phase being played needs.
    needs: watch::Sender<Vec<String>>,
    workers: Mutex<WorkerRegistry>,
    message_sink: Mutex<Option<MessageSink>>,
}

impl CoordinatorContext {
    /// For a competition, with its registry of workers.
    pub fn new(
        (link, runtime): (NatsConnection, Handle),
        competition: GridCompetition,
        options: &CoordinatorOptions,
        speed: Option<f64>,
        events: Sender<StageEvent>,
        workers: WorkerRegistry,
    ) -> Self {
        let (workers, message_sink) = (Mutex::new(workers), Mutex::new(None));
        let (lease, disconnect_notice_after) = (options.lease, options.disconnect_notice_after);
        Self {
            link,
            runtime,
            competition,
            lease,
            disconnect_notice_after,
            speed,
            events,
            needs: watch::Sender::new(Vec::new()),
            workers,
            message_sink,
        }
    }

    /// Sets the programs that the phase being played needs. Workers are asked again if they differ from those of the phase before.
    pub fn set_needs(&self, needs: &[String]) {
        self.needs.send_if_modified(|known| {
            let differs = *known != needs;
            needs.clone_into(known);
            differs
        });
    }

    /// Registry of workers.
    pub fn workers(&self) -> MutexGuard<'_, WorkerRegistry> {
        self.workers.lock_ignoring_poison()
    }

    /// Sets the callback for user messages.
    pub fn set_message_sink(&self, sink: MessageSink) {
        *self.message_sink.lock_ignoring_poison() = Some(sink);
    }

    /// Whether NATS is connected.
    pub fn is_connected(&self) -> bool {
        self.link.client().connection_state() == State::Connected
    }

    /// Sends a message to the user.
    pub fn notify(&self, message: &str) {
        if let Some(sink) = &*self.message_sink.lock_ignoring_poison() {
            sink(message);
        }
    }

    fn reply_handle(&self, message: &Message) -> ReplyHandle {
        ReplyHandle { link: self.link.clone(), runtime: self.runtime.clone(), subject: message.reply.clone() }
    }

    /// Publishes a message without waiting for a reply.
    pub fn publish<T: Serialize>(&self, subject: String, what: &T) {
        let Ok(bytes) = encode(what) else { return };
        let client = self.link.client().clone();
        self.runtime.spawn(async move { client.publish(subject, Bytes::from(bytes)).await });
    }
}

/// Name of the worker that sent a message. NATS permissions protect the subject.
fn sender_name(message: &Message) -> Option<&str> {
    message.subject.as_str().strip_prefix("agon.up.")?.split('.').next()
}

/// Starts the listeners. All subscriptions are active on the server when this returns.
pub async fn start_listeners(
    context: &Arc<CoordinatorContext>,
) -> Result<Vec<tokio::task::JoinHandle<()>>, GridError> {
    let (client, competition_id) = (context.link.client(), &context.competition.id);
    let subscribe = async |subject: String| -> Result<Subscriber, GridError> {
        client
            .subscribe(subject)
            .await
            .map_err(|error| context.link.jetstream_error("subscribe to worker messages", &error))
    };
    let join_requests = subscribe(subjects::join("*", competition_id)).await?;
    let reports = subscribe(subjects::report("*", competition_id)).await?;
    let job_errors = subscribe(subjects::job_error("*", competition_id)).await?;
    let renewals = subscribe(subjects::renewal("*", competition_id)).await?;
    let heartbeats = subscribe(subjects::ALL_HEARTBEATS.to_owned()).await?;
    permissions::round_trip(&context.link).await?;
    let span = tracing::error_span!("coordinator", competition = %competition_id);
    Ok(vec![
        tokio::spawn(listen_join_requests(Arc::clone(context), join_requests).instrument(span.clone())),
        tokio::spawn(listen_reports(Arc::clone(context), reports).instrument(span.clone())),
        tokio::spawn(listen_job_errors(Arc::clone(context), job_errors).instrument(span.clone())),
        tokio::spawn(listen_heartbeats(Arc::clone(context), heartbeats).instrument(span.clone())),
        tokio::spawn(listen_renewals(Arc::clone(context), renewals).instrument(span.clone())),
        tokio::spawn(report_outages(Arc::clone(context)).instrument(span.clone())),
        tokio::spawn(announce_loop(Arc::clone(context)).instrument(span)),
    ])
}

/// Announces the competition, at intervals and when its needs change.
async fn announce_loop(context: Arc<CoordinatorContext>) {
    let mut needs = context.needs.subscribe();
    loop {
        let announcement = context.competition.announcement(&needs.borrow_and_update());
        if context.is_connected()
            && let Ok(bytes) = encode(&announcement)
        {
            let _ = context.link.client().publish(subjects::ANNOUNCEMENTS, bytes.into()).await;
        }
        let _ = tokio::time::timeout(ANNOUNCE_INTERVAL, needs.changed()).await;
    }
}

/// Tells the user about outages of the server.
async fn report_outages(context: Arc<CoordinatorContext>) {
    let meanwhile =
        "no worker can be heard: they finish their jobs and keep the results until it is back; reconnecting";
    let tell = |words: &str| {
        tracing::warn!(target: NOTICE_TARGET, "{words}");
        context.notify(words);
    };
    let (link, after) = (&context.link, context.disconnect_notice_after);
    link.connectivity().report_outages(link.url(), after, meanwhile, tell).await;
}

async fn listen_heartbeats(context: Arc<CoordinatorContext>, mut heartbeats: Subscriber) {
    while let Some(message) = heartbeats.next().await {
        if let Ok(heartbeat) = decode::<Heartbeat>(&message.payload)
            && sender_name(&message) == Some(heartbeat.worker.as_str())
        {
            context.workers().record_heartbeat(heartbeat);
        }
    }
}

async fn listen_join_requests(context: Arc<CoordinatorContext>, mut join_requests: Subscriber) {
    while let Some(message) = join_requests.next().await {
        let reply = context.reply_handle(&message);
        match decode::<JoinRequest>(&message.payload) {
            Ok(request) if sender_name(&message) == Some(request.worker.as_str()) => {
                // Admission waits if the name is in use, so it must not block the other requests.
                let admission = admit_worker(Arc::clone(&context), request, reply);
                tokio::spawn(admission.in_current_span());
            }
            Ok(_) => {
                reply.send(&JoinResponse::Refused { why: "this name belongs to another worker".to_owned() });
            }
            Err(error) => reply.send(&JoinResponse::Refused { why: error.to_string() }),
        }
    }
}

/// Replies to a join request.
async fn admit_worker(context: Arc<CoordinatorContext>, request: JoinRequest, reply: ReplyHandle) {
    let why = match context.competition.requirement_error(&request) {
        Some(why) => Some(why),
        None => worker_rejection(&context, &request).await,
    };
    let name = &request.worker;
    if let Some(why) = why {
        let reason = why.summary();
        tracing::warn!(target: NOTICE_TARGET, worker = name, reason, "worker refused");
        context.workers().remove(name, &request.session);
        context.notify(&format!("worker {name} refused: {}", why.summary()));
        return reply.send(&JoinResponse::Refused { why: why.to_string() });
    }
    let known = context.workers().get(name).is_some_and(|one| one.session == request.session);
    context.workers().admit(&request);
    if !known {
        let cores = plural(request.cores, "core", "cores");
        tracing::info!(worker = name, cores = request.cores, speed = request.speed, "worker joined");
        context.notify(&format!("worker {name} joined with {cores}"));
    }
    let _ = context.events.send(StageEvent::Wake);
    let speed = context.workers().get(name).map_or(1.0, |one| one.speed);
    reply.send(&JoinResponse::Accepted {
        consumer: context.competition.id.clone(),
        lease_ms: context.lease.as_millis() as u64,
        clock_scale: context.speed.map(|own| own / speed),
    });
}

/// Reason to reject a worker that meets the requirements.
async fn worker_rejection(context: &CoordinatorContext, request: &JoinRequest) -> Option<Diagnostic> {
    let name = &request.worker;
    if !subjects::is_valid_name(name) {
        let what = "a worker name has letters, digits, `-` and `_`, at most 48";
        return Some(Diagnostic::wrong_use(what, "use another --name"));
    }
    if let Some(why) = context.workers().ban_reason(name) {
        let hint = format!(
            "find out what is wrong with this machine; its matches no longer count in {}",
            context.competition.name
        );
        return Some(Diagnostic::wrong_use(format!("worker {name} is banned: {why}"), hint));
    }
    // The name is in use by another session. Its owner keeps it if it sends another heartbeat.
    let asked_at = Instant::now();
    loop {
        let last_heard = {
            let workers = context.workers();
            workers
                .get(name)
                .filter(|one| one.session != request.session && !one.leaving)
                .map(|one| one.last_heard)
        };
        let last_heard = last_heard?;
        if last_heard > asked_at {
            let what = format!("a worker named {name} is already connected");
            return Some(Diagnostic::wrong_use(what, "use another --name"));
        }
        if last_heard.elapsed() >= NAME_CLAIM_TIMEOUT || asked_at.elapsed() >= NAME_CLAIM_TIMEOUT {
            return None;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn listen_reports(context: Arc<CoordinatorContext>, mut reports: Subscriber) {
    let mut assembler = ReportAssembler::default();
    while let Some(message) = reports.next().await {
        let reply = context.reply_handle(&message);
        let Some(worker) = sender_name(&message).map(str::to_owned) else { continue };
        let refuse = |reply: ReplyHandle, why: String| reply.send(&ReportAck::Refused { why });
        let chunk = match decode::<ReportChunk>(&message.payload) {
            Ok(chunk) if chunk.protocol == PROTOCOL => chunk,
            Ok(chunk) => {
                refuse(
                    reply,
                    format!("protocol {} is not supported; this coordinator uses {PROTOCOL}", chunk.protocol),
                );
                continue;
            }
            Err(error) => {
                refuse(reply, error.to_string());
                continue;
            }
        };
        context.workers().mark_heard(&worker);
        match assembler.add(&worker, chunk) {
            AssembleResult::Incomplete => reply.send(&ReportAck::NextChunk),
            AssembleResult::Resend => reply.send(&ReportAck::Resend),
            AssembleResult::Invalid(what) => {
                tracing::warn!(worker, what, "invalid report");
                refuse(reply, format!("invalid report: {what}"));
            }
            AssembleResult::Complete(bytes) => {
                // Decoding long games takes time and must not block the listener.
                let (context, span) = (Arc::clone(&context), tracing::Span::current());
                tokio::task::spawn_blocking(move || {
                    span.in_scope(|| handle_report(&context, worker, bytes, reply));
                });
            }
        }
    }
}

/// Decodes a report and passes it to the stage, if the worker is registered.
fn handle_report(context: &CoordinatorContext, worker: String, bytes: Vec<u8>, reply: ReplyHandle) {
    let report = match decode::<JobReport>(&bytes) {
        Ok(report) if report.worker == worker && report.protocol == PROTOCOL => report,
        Ok(_) => {
            return reply
                .send(&ReportAck::Refused { why: "this report belongs to another worker".to_owned() });
        }
        Err(error) => return reply.send(&ReportAck::Refused { why: error.to_string() }),
    };
    drop(bytes);
    {
        let workers = context.workers();
        if let Some(why) = workers.ban_reason(&worker) {
            return reply.send(&ReportAck::Refused { why: why.to_owned() });
        }
        if workers.get(&worker).is_none_or(|one| one.session != report.session) {
            return reply.send(&ReportAck::Resend);
        }
    }
    for one in &report.matches {
        let full_key = one.result.key.in_competition(&context.competition.id);
        tracing::debug!("match" = %full_key, worker, job = report.job, "result received");
    }
    let (game, assets) = (&*context.competition.game, &context.competition.assets);
    let mut recorder = Recorder::new();
    let read =
        report.matches.iter().map(|one| validate::read_match(one, game, assets, &mut recorder)).collect();
    let _ = context.events.send(StageEvent::Report(worker, Box::new(report), read, reply));
}

async fn listen_job_errors(context: Arc<CoordinatorContext>, mut job_errors: Subscriber) {
    while let Some(message) = job_errors.next().await {
        let reply = context.reply_handle(&message);
        match decode::<JobError>(&message.payload) {
            Ok(job_error) if sender_name(&message) == Some(job_error.worker.as_str()) => {
                let worker = job_error.worker.clone();
                context.workers().mark_heard(&worker);
                if context.workers().get(&worker).is_none() {
                    reply.send(&ReportAck::Resend);
                } else {
                    let _ = context.events.send(StageEvent::JobError(worker, job_error, reply));
                }
            }
            Ok(_) => {
                reply.send(&ReportAck::Refused { why: "this name belongs to another worker".to_owned() });
            }
            Err(error) => reply.send(&ReportAck::Refused { why: error.to_string() }),
        }
    }
}

async fn listen_renewals(context: Arc<CoordinatorContext>, mut renewals: Subscriber) {
    while let Some(message) = renewals.next().await {
        let Ok(renewal) = decode::<RenewalRequest>(&message.payload) else { continue };
        if sender_name(&message) == Some(renewal.worker.as_str())
            && context.workers().get(&renewal.worker).is_some()
        {
            context.workers().mark_heard(&renewal.worker);
            let _ = context.events.send(StageEvent::Renewal(renewal.worker, renewal.job, renewal.ack.into()));
        }
    }
}
