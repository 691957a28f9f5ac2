//! What is heard from workers, for as long as the competition is run here: who comes in, what they hand in.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_nats::connection::State;
use async_nats::{Message, Subject, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt as _;
use serde::Serialize;
use tokio::runtime::Handle;

use super::CoordinatorOptions;
use super::workers::WorkerRegistry;
use super::competition::GridCompetition;
use super::chunks::{AssembleResult, ReportAssembler};
use super::validate::{self, SeatBots};
use crate::messages::{Heartbeat, JoinRequest, PROTOCOL, ReportAck, JobReport, ReportChunk, JobError, JoinResponse, decode, encode};
use crate::{GridError, NatsConnection, permissions, subjects};

/// How often everybody is called.
const ANNOUNCE_INTERVAL: Duration = Duration::from_secs(2);
/// A name belongs to who beats by it: so long its last owner has to be heard again. Below what a question waits for its answer.
const NAME_CLAIM_TIMEOUT: Duration = Duration::from_millis(4500);

/// Whom words for people go to.
pub type MessageSink = Box<dyn Fn(&str) + Send + Sync>;

/// Where an answer goes.
#[derive(Clone)]
pub struct ReplyHandle {
    link: NatsConnection,
    runtime: Handle,
    to: Option<Subject>,
}

impl ReplyHandle {
    /// Gives it. Whoever does not get it asks again.
    pub fn give<T: Serialize>(self, answer: &T) {
        let (Some(to), Ok(bytes)) = (self.to, encode(answer)) else { return };
        let client = self.link.client().clone();
        self.runtime.spawn(async move { client.publish(to, Bytes::from(bytes)).await });
    }
}

/// What the stage that is being played hears.
pub enum StageEvent {
    /// A worker hands something in. Who sat at each match, if all it says agrees with its records; or what does not.
    Report(String, Box<JobReport>, Result<Vec<SeatBots>, String>, ReplyHandle),
    /// A worker could not play something.
    Trouble(String, JobError, ReplyHandle),
    /// What was handed on under this number is in the ledger.
    Kept(u64),
    /// A job is in the queue, at this place.
    Published(String, u64),
    /// A job could not be published.
    Unpublished(String, String),
    /// What the queue holds, if it is there.
    Held(Option<super::job_queue::QueueCounts>),
    /// These jobs are in nobody's hands.
    Lost(Vec<String>),
    /// A match of this worker was replayed, under this number: what does not follow from the rules, if anything.
    Replayed(String, u64, Option<String>),
    /// Look up: something has changed.
    Wake,
}

/// What tasks and stages share.
pub struct CoordinatorContext {
    /// The connection.
    pub link: NatsConnection,
    /// Where tasks run.
    pub runtime: Handle,
    /// The competition.
    pub cup: GridCompetition,
    /// How long a job may go without a word.
    pub lease: Duration,
    /// A server that is away for so long is worth a word.
    pub silence: Duration,
    /// The speed of this machine, if workers' clocks are scaled by theirs.
    pub speed: Option<f64>,
    /// What the stage hears.
    pub said: Sender<StageEvent>,
    company: Mutex<WorkerRegistry>,
    tell: Mutex<Option<MessageSink>>,
}

impl CoordinatorContext {
    /// For a competition whose barred workers are known.
    pub fn new(
        (link, runtime): (NatsConnection, Handle),
        cup: GridCompetition,
        options: &CoordinatorOptions,
        speed: Option<f64>,
        said: Sender<StageEvent>,
        company: WorkerRegistry,
    ) -> Self {
        let (company, tell) = (Mutex::new(company), Mutex::new(None));
        let (lease, silence) = (options.lease, options.silence);
        Self { link, runtime, cup, lease, silence, speed, said, company, tell }
    }

    /// Who is there.
    pub fn company(&self) -> MutexGuard<'_, WorkerRegistry> {
        self.company.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whom words for people go to from now on.
    pub fn tell_to(&self, tell: MessageSink) {
        *self.tell.lock().unwrap_or_else(PoisonError::into_inner) = Some(tell);
    }

    /// Whether the server is there.
    pub fn is_connected(&self) -> bool {
        self.link.client().connection_state() == State::Connected
    }

    /// A word for people.
    pub fn tell(&self, words: &str) {
        if let Some(tell) = &*self.tell.lock().unwrap_or_else(PoisonError::into_inner) {
            tell(words);
        }
    }

    fn answer(&self, message: &Message) -> ReplyHandle {
        ReplyHandle { link: self.link.clone(), runtime: self.runtime.clone(), to: message.reply.clone() }
    }

    /// Something is said without an answer.
    pub fn publish<T: Serialize>(&self, subject: String, what: &T) {
        let Ok(bytes) = encode(what) else { return };
        let client = self.link.client().clone();
        self.runtime.spawn(async move { client.publish(subject, Bytes::from(bytes)).await });
    }
}

/// The worker that a message is from: nobody else may publish there.
fn from(message: &Message) -> Option<&str> {
    message.subject.as_str().strip_prefix("agon.up.")?.split('.').next()
}

/// Begins to listen. Whoever asks from now on is heard: the server knows of it.
pub async fn open(shared: &Arc<CoordinatorContext>) -> Result<Vec<tokio::task::JoinHandle<()>>, GridError> {
    let (client, cup) = (shared.link.client(), &shared.cup.id);
    let subscribe = async |subject: String| -> Result<Subscriber, GridError> {
        client
            .subscribe(subject)
            .await
            .map_err(|error| shared.link.refused("let us listen to workers", &error))
    };
    let hellos = subscribe(subjects::hello("*", cup)).await?;
    let reports = subscribe(subjects::report("*", cup)).await?;
    let troubles = subscribe(subjects::trouble("*", cup)).await?;
    let beats = subscribe(subjects::ALL_BEATS.to_owned()).await?;
    permissions::round_trip(&shared.link).await?;
    Ok(vec![
        tokio::spawn(listen_hellos(Arc::clone(shared), hellos)),
        tokio::spawn(listen_reports(Arc::clone(shared), reports)),
        tokio::spawn(listen_troubles(Arc::clone(shared), troubles)),
        tokio::spawn(listen_beats(Arc::clone(shared), beats)),
        tokio::spawn(announce_loop(Arc::clone(shared))),
    ])
}

/// Calls everybody, and says when nobody could hear it for long.
async fn announce_loop(shared: Arc<CoordinatorContext>) {
    let Ok(bytes) = encode(&shared.cup.call()).map(Bytes::from) else { return };
    let (mut away, mut told): (Option<Instant>, bool) = (None, false);
    loop {
        if shared.is_connected() {
            let _ = shared.link.client().publish(subjects::CALL, bytes.clone()).await;
            if std::mem::take(&mut told) {
                shared.tell("the NATS server is there again");
            }
            away = None;
        } else {
            let since = *away.get_or_insert_with(Instant::now);
            if !told && since.elapsed() >= shared.silence {
                told = true;
                let url = shared.link.url();
                shared.tell(&format!(
                    "nothing was heard of the NATS server at {url} for {} s; waiting for it",
                    shared.silence.as_secs()
                ));
            }
        }
        tokio::time::sleep(ANNOUNCE_INTERVAL).await;
    }
}

async fn listen_beats(shared: Arc<CoordinatorContext>, mut beats: Subscriber) {
    while let Some(message) = beats.next().await {
        if let Ok(beat) = decode::<Heartbeat>(&message.payload)
            && from(&message) == Some(beat.worker.as_str())
        {
            shared.company().hear(beat);
        }
    }
}

async fn listen_hellos(shared: Arc<CoordinatorContext>, mut hellos: Subscriber) {
    while let Some(message) = hellos.next().await {
        let answer = shared.answer(&message);
        match decode::<JoinRequest>(&message.payload) {
            Ok(hello) if from(&message) == Some(hello.worker.as_str()) => {
                // Whoever comes under a name that somebody has waits a little; nobody else waits with it.
                tokio::spawn(admit_worker(Arc::clone(&shared), hello, answer));
            }
            Ok(_) => answer.give(&JoinResponse::Refused { why: "that is another worker's name".to_owned() }),
            Err(error) => answer.give(&JoinResponse::Refused { why: error.to_string() }),
        }
    }
}

/// Answers a worker that would like to play.
async fn admit_worker(shared: Arc<CoordinatorContext>, hello: JoinRequest, answer: ReplyHandle) {
    let why = match shared.cup.requirement_error(&hello) {
        Some(why) => Some(why),
        None => worker_rejection(&shared, &hello).await,
    };
    let name = &hello.worker;
    if let Some(why) = why {
        shared.tell(&format!("worker {name} is refused: {}", why.lines().next().unwrap_or_default()));
        return answer.give(&JoinResponse::Refused { why });
    }
    let known = shared.company().person(name).is_some_and(|one| one.session == hello.session);
    shared.company().admit(&hello);
    if !known {
        let cores = if hello.cores == 1 { "1 core".to_owned() } else { format!("{} cores", hello.cores) };
        shared.tell(&format!("worker {name} plays, with {cores}"));
    }
    let _ = shared.said.send(StageEvent::Wake);
    let speed = shared.company().person(name).map_or(1.0, |one| one.speed);
    answer.give(&JoinResponse::Accepted {
        consumer: shared.cup.id.clone(),
        lease_ms: shared.lease.as_millis() as u64,
        scale: shared.speed.map(|own| own / speed),
    });
}

/// Why this worker is not let in, fit as it may be.
async fn worker_rejection(shared: &CoordinatorContext, hello: &JoinRequest) -> Option<String> {
    let name = &hello.worker;
    if !subjects::is_name(name) {
        return Some("a worker's name has letters, digits, `-` and `_`, at most 48\nhint: --name".to_owned());
    }
    if let Some(why) = shared.company().barred(name) {
        return Some(format!(
            "what {name} handed in was wrong: {why}\nhint: nothing it plays counts in {} any more; \
             find out what is wrong with that machine",
            shared.cup.name
        ));
    }
    // A name that somebody has: if its owner beats again, it stays its own.
    let asked = Instant::now();
    loop {
        let heard = {
            let company = shared.company();
            company
                .person(name)
                .filter(|one| one.session != hello.session && !one.leaving)
                .map(|one| one.heard)
        };
        let heard = heard?;
        if heard > asked {
            return Some(format!(
                "there is a worker called {name} already\nhint: give this one another name: --name"
            ));
        }
        if heard.elapsed() >= NAME_CLAIM_TIMEOUT || asked.elapsed() >= NAME_CLAIM_TIMEOUT {
            return None;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn listen_reports(shared: Arc<CoordinatorContext>, mut reports: Subscriber) {
    let mut pieces = ReportAssembler::default();
    while let Some(message) = reports.next().await {
        let answer = shared.answer(&message);
        let Some(worker) = from(&message).map(str::to_owned) else { continue };
        let refuse = |answer: ReplyHandle, why: String| answer.give(&ReportAck::Refused { why });
        let part = match decode::<ReportChunk>(&message.payload) {
            Ok(part) if part.protocol == PROTOCOL => part,
            Ok(part) => {
                refuse(answer, format!("protocol {} is not understood, {PROTOCOL} is", part.protocol));
                continue;
            }
            Err(error) => {
                refuse(answer, error.to_string());
                continue;
            }
        };
        shared.company().heard(&worker);
        match pieces.take(&worker, part) {
            AssembleResult::More => answer.give(&ReportAck::More),
            AssembleResult::Again => answer.give(&ReportAck::Again),
            AssembleResult::Nonsense(what) => refuse(answer, format!("no report: {what}")),
            AssembleResult::Whole(bytes) => {
                // Long games take a while to read; nobody who only asks waits for that.
                let shared = Arc::clone(&shared);
                tokio::task::spawn_blocking(move || read(&shared, worker, bytes, answer));
            }
        }
    }
}

/// Reads a report, and hands it on if its worker is one of ours.
fn read(shared: &CoordinatorContext, worker: String, bytes: Vec<u8>, answer: ReplyHandle) {
    let report = match decode::<JobReport>(&bytes) {
        Ok(report) if report.worker == worker && report.protocol == PROTOCOL => report,
        Ok(_) => return answer.give(&ReportAck::Refused { why: "that is not your report".to_owned() }),
        Err(error) => return answer.give(&ReportAck::Refused { why: error.to_string() }),
    };
    drop(bytes);
    {
        let company = shared.company();
        if let Some(why) = company.barred(&worker) {
            return answer.give(&ReportAck::Refused { why: why.to_owned() });
        }
        if company.person(&worker).is_none_or(|one| one.session != report.session) {
            return answer.give(&ReportAck::Again);
        }
    }
    let sat = report.matches.iter().map(|one| validate::check_consistency(one, shared.cup.game)).collect();
    let _ = shared.said.send(StageEvent::Report(worker, Box::new(report), sat, answer));
}

async fn listen_troubles(shared: Arc<CoordinatorContext>, mut troubles: Subscriber) {
    while let Some(message) = troubles.next().await {
        let answer = shared.answer(&message);
        match decode::<JobError>(&message.payload) {
            Ok(trouble) if from(&message) == Some(trouble.worker.as_str()) => {
                let worker = trouble.worker.clone();
                shared.company().heard(&worker);
                if shared.company().person(&worker).is_none() {
                    answer.give(&ReportAck::Again);
                } else {
                    let _ = shared.said.send(StageEvent::Trouble(worker, trouble, answer));
                }
            }
            Ok(_) => answer.give(&ReportAck::Refused { why: "that is another worker's name".to_owned() }),
            Err(error) => answer.give(&ReportAck::Refused { why: error.to_string() }),
        }
    }
}
