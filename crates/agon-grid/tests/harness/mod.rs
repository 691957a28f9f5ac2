//! A scripted coordinator on a real nats-server, and workers in this process.
#![allow(missing_docs, dead_code, clippy::print_stdout, clippy::unwrap_used, reason = "tests")]

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use agon_core::Settings;
use agon_grid::blobs::Blobs;
use agon_grid::messages::{
    self, Announcement, Hash, Job, JobError, JobMatch, JobReport, JoinRequest, JoinResponse, PROTOCOL,
    PhaseBot, PhaseEntrant, PhasePart, PhaseSpec, ReportAck, ReportChunk,
};
use agon_grid::worker::{Worker, WorkerCapabilities, WorkerOptions};
use agon_grid::{GridError, NatsConnection, NatsOptions, WorkerDirectory, subjects};
use agon_runner::StopFlag;
use agon_test_servers::Nats;
use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::stream::{Config, RetentionPolicy};
use futures_util::StreamExt as _;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

pub const COMPETITION_ID: &str = "cup-0123";

/// Reply to a complete report; `None` for no reply.
pub type Answer = dyn Fn(&JobReport) -> Option<ReportAck> + Send + Sync;

/// Received messages and scripted replies of the coordinator.
pub struct Script {
    pub hellos: Mutex<Vec<JoinRequest>>,
    pub reports: Mutex<Vec<JobReport>>,
    pub troubles: Mutex<Vec<JobError>>,
    /// Reply to reports.
    pub answer: Box<Answer>,
    pub welcome: Box<dyn Fn(&JoinRequest) -> JoinResponse + Send + Sync>,
    /// Number of received chunks.
    pub pieces: AtomicU32,
    pub calls: AtomicBool,
    pub session: Mutex<String>,
    /// Programs that the announcement names.
    pub needs: Vec<String>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            hellos: Mutex::default(),
            reports: Mutex::default(),
            troubles: Mutex::default(),
            answer: Box::new(|_| Some(ReportAck::Stored)),
            welcome: Box::new(|_| JoinResponse::Accepted {
                consumer: COMPETITION_ID.to_owned(),
                lease_ms: 2000,
                clock_scale: None,
            }),
            pieces: AtomicU32::new(0),
            calls: AtomicBool::new(true),
            session: Mutex::new("first".to_owned()),
            needs: Vec::new(),
        }
    }
}

impl Script {
    /// Restarts the coordinator.
    pub fn restart(&self, session: &str) {
        session.clone_into(&mut self.session.lock().unwrap());
    }
}

pub struct Harness {
    pub nats: Nats,
    pub runtime: Runtime,
    pub link: NatsConnection,
    pub blobs: Blobs,
    pub script: Arc<Script>,
    pub home: TempDir,
}

pub fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

impl Harness {
    /// A long lease, so that on a slow machine no job goes to another worker.
    pub fn set(script: Script) -> Self {
        Self::with_lease(script, Duration::from_mins(5))
    }

    pub fn with_lease(script: Script, lease: Duration) -> Self {
        let (nats, runtime) = (Nats::start(), runtime());
        let options =
            NatsOptions { url: nats.url(), name: "coordinator".to_owned(), ..NatsOptions::default() };
        let script = Arc::new(script);
        let (link, blobs) = runtime.block_on(async {
            let link = NatsConnection::connect(&options).await.unwrap();
            let blobs = Blobs::create(&link, 64 << 20).await.unwrap();
            let work = Config {
                name: subjects::WORK_STREAM.to_owned(),
                subjects: vec![subjects::ALL_WORK.to_owned()],
                retention: RetentionPolicy::WorkQueue,
                ..Config::default()
            };
            let stream = link.jetstream().get_or_create_stream(work).await.unwrap();
            let consumer = pull::Config {
                durable_name: Some(COMPETITION_ID.to_owned()),
                filter_subject: subjects::work(COMPETITION_ID),
                ack_policy: AckPolicy::Explicit,
                ack_wait: lease,
                ..pull::Config::default()
            };
            stream.create_consumer(consumer).await.unwrap();
            tokio::spawn(coordinate(link.clone(), Arc::clone(&script)));
            (link, blobs)
        });
        Self { nats, runtime, link, blobs, script, home: tempfile::tempdir().unwrap() }
    }

    /// Starts a worker that stops when the returned value is dropped.
    pub fn worker(&self, change: impl FnOnce(&mut WorkerOptions)) -> RunningWorker {
        let mut options = WorkerOptions {
            cores: 1,
            pin_cores: false,
            cache_folder: self.home.path().join("cache"),
            speed: Some(1.0),
            ..WorkerOptions::new("w1".to_owned())
        };
        change(&mut options);
        RunningWorker::start(&self.nats.url(), options)
    }

    pub fn put(&self, bytes: &[u8]) -> Hash {
        self.runtime.block_on(self.blobs.put(bytes)).unwrap()
    }

    pub fn brief(&self, brief: &PhaseSpec) -> Hash {
        self.put(&messages::encode(brief).unwrap())
    }

    pub fn publish(&self, job: &Job) {
        self.runtime.block_on(async {
            let bytes = messages::encode(job).unwrap();
            let sent =
                self.link.jetstream().publish(subjects::work(COMPETITION_ID), bytes.into()).await.unwrap();
            sent.await.unwrap();
        });
    }

    /// Number of jobs in the queue, including leased ones.
    pub fn queued(&self) -> u64 {
        self.runtime.block_on(async {
            let mut stream = self.link.jetstream().get_stream(subjects::WORK_STREAM).await.unwrap();
            stream.info().await.unwrap().state.messages
        })
    }

    pub fn roster(&self) -> WorkerDirectory {
        self.runtime.block_on(WorkerDirectory::listen(&self.link)).unwrap()
    }

    pub fn reports(&self) -> Vec<JobReport> {
        self.script.reports.lock().unwrap().clone()
    }

    pub fn troubles(&self) -> Vec<JobError> {
        self.script.troubles.lock().unwrap().clone()
    }
}

async fn coordinate(link: NatsConnection, script: Arc<Script>) {
    let client = link.client().clone();
    let mut hellos = client.subscribe(subjects::join("*", COMPETITION_ID)).await.unwrap();
    let mut parts = client.subscribe(subjects::report("*", COMPETITION_ID)).await.unwrap();
    let mut troubles = client.subscribe(subjects::job_error("*", COMPETITION_ID)).await.unwrap();
    let mut clock = tokio::time::interval(Duration::from_millis(200));
    let mut open: HashMap<String, Vec<u8>> = HashMap::new();
    loop {
        tokio::select! {
            _ = clock.tick() => if script.calls.load(SeqCst) {
                let session = script.session.lock().unwrap().clone();
                let call = Announcement { protocol: PROTOCOL, competition_id: COMPETITION_ID.to_owned(), name: "Cup".to_owned(), session, game: String::new(), needs: script.needs.clone() };
                let _ = client.publish(subjects::ANNOUNCEMENTS, messages::encode(&call).unwrap().into()).await;
            },
            Some(message) = hellos.next() => {
                let hello: JoinRequest = messages::decode(&message.payload).unwrap();
                let welcome = (script.welcome)(&hello);
                script.hellos.lock().unwrap().push(hello);
                let _ = client.publish(message.reply.unwrap(), messages::encode(&welcome).unwrap().into()).await;
            }
            Some(message) = troubles.next() => {
                let trouble = messages::decode(&message.payload).unwrap();
                script.troubles.lock().unwrap().push(trouble);
                let _ = client.publish(message.reply.unwrap(), messages::encode(&ReportAck::Stored).unwrap().into()).await;
            }
            Some(message) = parts.next() => {
                let part: ReportChunk = messages::decode(&message.payload).unwrap();
                script.pieces.fetch_add(1, SeqCst);
                if let Some(receipt) = take(&script, &mut open, part) {
                    let _ = client.publish(message.reply.unwrap(), messages::encode(&receipt).unwrap().into()).await;
                }
            }
        }
    }
}

fn take(script: &Script, open: &mut HashMap<String, Vec<u8>>, part: ReportChunk) -> Option<ReportAck> {
    if part.chunk == 0 {
        open.insert(part.report.clone(), Vec::new());
    }
    let bytes = open.get_mut(&part.report)?;
    bytes.extend(part.bytes);
    if part.chunk + 1 < part.chunks {
        return Some(ReportAck::NextChunk);
    }
    let report: JobReport = messages::decode(bytes).unwrap();
    let receipt = (script.answer)(&report);
    if receipt == Some(ReportAck::Stored) {
        script.reports.lock().unwrap().push(report);
    }
    receipt
}

/// A worker in a thread.
pub struct RunningWorker {
    pub stop: Arc<StopFlag>,
    pub said: Arc<Mutex<Vec<String>>>,
    thread: Option<thread::JoinHandle<Result<(), GridError>>>,
}

impl RunningWorker {
    pub fn start(url: &str, options: WorkerOptions) -> Self {
        let (stop, said) = (Arc::new(StopFlag::new()), Arc::new(Mutex::new(Vec::new())));
        let nats = NatsOptions { url: url.to_owned(), name: options.name.clone(), ..NatsOptions::default() };
        let (listens, hears) = (Arc::clone(&stop), Arc::clone(&said));
        let thread = thread::spawn(move || {
            let runtime = runtime();
            let link = runtime.block_on(NatsConnection::connect(&nats))?;
            Worker::run(link, &runtime, options, &listens, &|news| {
                // Shown when a test fails.
                println!("worker: {news}");
                hears.lock().unwrap().push(news.to_owned());
            })
        });
        Self { stop, said, thread: Some(thread) }
    }

    pub fn is_gone(&self) -> bool {
        self.thread.as_ref().is_none_or(thread::JoinHandle::is_finished)
    }

    pub fn has_said(&self, what: &str) -> bool {
        self.said.lock().unwrap().iter().any(|said| said.contains(what))
    }

    /// Stops the worker and waits for its end.
    pub fn leave(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.stop.request();
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            if !thread::panicking() {
                ended.unwrap().unwrap();
            }
        }
    }
}

impl Drop for RunningWorker {
    fn drop(&mut self) {
        self.end();
    }
}

/// A phase with house bots and default settings.
pub fn house_brief(game: &str, bots: &[&str]) -> PhaseSpec {
    let entrants = bots
        .iter()
        .map(|name| PhaseEntrant { name: (*name).to_owned(), bot: PhaseBot::House((*name).to_owned()) })
        .collect();
    let table = agon_engine::any_game(game).unwrap();
    let settings = Settings::defaults(table.info().settings);
    let settings = settings.iter().map(|(name, value)| (name.to_owned(), value.to_string())).collect();
    PhaseSpec {
        protocol: PROTOCOL,
        competition_id: COMPETITION_ID.to_owned(),
        game: game.to_owned(),
        rules: table.info().rules_version,
        phase: 0,
        in_parts: false,
        variants: vec![vec![PhasePart { games: 1, first_to: 1, settings }]],
        entrants,
        assets: Vec::new(),
        sandbox: true,
        stateless: None,
        in_order: false,
        needs: Vec::new(),
    }
}

/// A job with one match for each number, between the first two entrants.
pub fn job(brief: &str, id: &str, numbers: std::ops::Range<u64>) -> Job {
    let matches = numbers.map(|number| JobMatch {
        stage: 0,
        number,
        seats: vec![0, 1],
        variant: 0,
        seed: 1000 + number,
        bot_data: Vec::new(),
    });
    Job {
        protocol: PROTOCOL,
        competition_id: COMPETITION_ID.to_owned(),
        phase_spec: brief.to_owned(),
        id: id.to_owned(),
        max_deliveries: 3,
        excluded_workers: Vec::new(),
        matches: matches.collect(),
    }
}

/// Capabilities with another version.
pub fn older() -> WorkerCapabilities {
    WorkerCapabilities { engine: "0.0.1".to_owned(), ..WorkerCapabilities::detect() }
}

pub fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}
