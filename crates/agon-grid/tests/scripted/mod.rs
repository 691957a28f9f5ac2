//! Scripted workers that use only the messages of `docs/grid.md`.
#![allow(
    dead_code,
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "for tests; not every test uses everything"
)]

pub mod fixture;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use agon_bots::Diagnostic;
use agon_competition::LoadedCompetition;
use agon_competition::run::{self, RunContext};
use agon_core::record::{self, Digest, Recorder};
use agon_core::{Assets, Settings};
use agon_engine::{PlayerSpec, any_game};
use agon_grid::blobs::Blobs;
use agon_grid::messages::match_report::MatchReport;
use agon_grid::messages::{
    Announcement, Heartbeat, Job, JobError, JobErrorKind, JobMatch, JobReport, JoinRequest, JoinResponse,
    MAX_CHUNK_BYTES, PROTOCOL, PhaseBot, PhaseSpec, ReportAck, ReportChunk, decode, encode,
};
use agon_grid::subjects::{self, WORK_STREAM};
use agon_grid::{Coordinator, CoordinatorOptions, NatsConnection, NatsOptions};
use agon_league::{Entrant, MatchKey};
use agon_runner::match_progress::ResolvedPart;
use agon_runner::{
    ActiveMatches, Executor, LoadedEntrant, LocalExecutor, MatchRunner, RunEvent, RunListener, RunOutcome,
    StopFlag,
};
use agon_store::{Ledger as _, PhaseStatus, SqliteLedger};
use agon_test_servers::Nats;
use async_nats::jetstream::{self, AckKind, consumer};
use futures_util::StreamExt as _;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use tokio::runtime::Runtime;

pub fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

pub async fn link(nats: &Nats, name: &str) -> NatsConnection {
    let options = NatsOptions { url: nats.url(), name: name.to_owned(), ..NatsOptions::default() };
    NatsConnection::connect(&options).await.unwrap()
}

/// A competition of house bots in a separate folder.
pub struct TestCompetition {
    pub loaded: LoadedCompetition,
    pub folder: TempDir,
}

pub const LEAGUE: &str =
    "format = \"round-robin\"\nlegs = 2\nparts = [{ games = 1, first_to = 1, seconds = 1 }]\n";

/// A phase with one stage, in any order.
pub const WORDS: &str = "format = \"round-robin\"\nlegs = 2\nswap = false\n";

impl TestCompetition {
    /// Word Racer with house bots, in one phase with one harness.
    pub fn words(phase: &str) -> Self {
        let bots = ["rows", "z-racer", "filler", "random"].map(|name| format!("house:{name}"));
        Self::of("word-racer", &[phase], &bots)
    }

    /// Connect Five with house bots, in these phases.
    pub fn new(phases: &[&str]) -> Self {
        let bots = ["tactician", "line-counter", "stacker", "random"].map(|name| format!("house:{name}"));
        Self::of("connect-five", phases, &bots)
    }

    pub fn of(game: &str, phases: &[&str], bots: &[String]) -> Self {
        let folder = TempDir::new().unwrap();
        let mut text = format!("name = \"Scripted\"\ngame = \"{game}\"\nseed = \"for tests\"\n");
        for (number, phase) in phases.iter().enumerate() {
            text += &format!("\n[[phase]]\nname = \"Phase {}\"\n{phase}", number + 1);
        }
        for bot in bots {
            text += &format!("\n[[entrant]]\nbot = \"{bot}\"\n");
        }
        let file = folder.path().join("cup.toml");
        std::fs::write(&file, text).unwrap();
        let loaded = LoadedCompetition::read(&file).unwrap_or_else(|failure| panic!("{failure}"));
        Self { loaded, folder }
    }

    pub fn ledger(&self, runtime: &Runtime) -> SqliteLedger {
        runtime.block_on(self.loaded.ledger()).unwrap_or_else(|failure| panic!("{failure}"))
    }

    /// Runs the competition with this executor.
    pub fn run(
        &self,
        runtime: &Runtime,
        ledger: &SqliteLedger,
        executor: &dyn Executor,
        stop: &StopFlag,
        listener: &mut dyn RunListener,
    ) -> Result<RunOutcome, Diagnostic> {
        let means =
            RunContext { runtime, executor, stop, boards: ActiveMatches::default(), run_through: false };
        run::run_competition(&self.loaded, ledger, means, listener, &mut |_| {})
    }

    /// Phases with the hashes of their tables after a run on this machine.
    pub fn alone(&self, runtime: &Runtime) -> Vec<PhaseStatus> {
        let other = Self::again(self);
        let ledger = other.ledger(runtime);
        let local = LocalExecutor { jobs: 1, pin: false };
        let ended = other
            .run(runtime, &ledger, &local, &StopFlag::new(), &mut ())
            .unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(ended, RunOutcome::Finished);
        runtime.block_on(ledger.phases()).unwrap()
    }

    /// The same competition without results.
    fn again(&self) -> Self {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("cup.toml");
        std::fs::write(&file, &self.loaded.text).unwrap();
        Self { loaded: LoadedCompetition::read(&file).unwrap_or_else(|failure| panic!("{failure}")), folder }
    }

    pub fn fleet(
        &self,
        nats: &Nats,
        runtime: &Runtime,
        ledger: &SqliteLedger,
        options: CoordinatorOptions,
    ) -> Coordinator {
        let link = runtime.block_on(link(nats, "coordinator"));
        let fleet = Coordinator::open(link, runtime.handle().clone(), &self.loaded, ledger, options).unwrap();
        fleet.set_message_sink(|words| eprintln!("fleet: {words}"));
        fleet
    }
}

/// Requests a stop on drop, so that a failing test does not hang.
struct StopOnDrop<'s>(&'s StopFlag);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.request();
    }
}

/// A run with a coordinator.
pub struct CoordinatedRun<'l> {
    pub competition: &'l TestCompetition,
    pub runtime: &'l Runtime,
    pub ledger: &'l SqliteLedger,
    pub fleet: &'l Coordinator,
}

impl CoordinatedRun<'_> {
    /// Runs the competition to its end beside the script, and returns both results. The script is cancelled at the end of the run.
    pub fn while_playing<R>(
        &self,
        stop: &StopFlag,
        script: impl Future<Output = R>,
    ) -> (Result<RunOutcome, String>, RunEvents, Option<R>) {
        let mut told = RunEvents::default();
        let (ended, script) = std::thread::scope(|scope| {
            let Self { competition, runtime, ledger, fleet } = *self;
            let told = &mut told;
            let running = scope.spawn(move || competition.run(runtime, ledger, fleet, stop, told));
            let ends = StopOnDrop(stop);
            let script = self.runtime.block_on(async {
                let over = async {
                    let begun = std::time::Instant::now();
                    while !running.is_finished() {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                        assert!(
                            begun.elapsed() < 2 * agon_test_servers::WAIT_TIMEOUT,
                            "the run does not end"
                        );
                    }
                };
                tokio::pin!(over);
                let mut result = None;
                let scripted = async { result = Some(script.await) };
                tokio::select! {
                    () = scripted => over.await,
                    () = &mut over => {}
                }
                result
            });
            let ended = running.join().unwrap();
            std::mem::forget(ends);
            (ended, script)
        });
        (ended.map_err(|failure| failure.to_string()), told, script)
    }

    /// Runs the competition until the run reports that it goes on ([`RunEvent::Tick`]), and stops it then.
    pub fn until_first_tick(&self) -> Result<RunOutcome, String> {
        let stop = &StopFlag::new();
        std::thread::scope(|scope| {
            let Self { competition, runtime, ledger, fleet } = *self;
            let running =
                scope.spawn(move || competition.run(runtime, ledger, fleet, stop, &mut StopAtTick(stop)));
            let ends = StopOnDrop(stop);
            agon_test_servers::wait_until("the run goes on", || running.is_finished());
            std::mem::forget(ends);
            running.join().unwrap().map_err(|failure| failure.to_string())
        })
    }
}

/// Stops a run at its first tick.
struct StopAtTick<'s>(&'s StopFlag);

impl RunListener for StopAtTick<'_> {
    fn event(&mut self, event: &RunEvent<'_>) {
        if matches!(event, RunEvent::Tick { .. }) {
            self.0.request();
        }
    }
}

pub fn tables(phases: &[PhaseStatus]) -> Vec<String> {
    phases.iter().map(|phase| phase.table_hash.unwrap().to_string()).collect()
}

/// Options with short timeouts, for tests in which workers die.
pub fn options() -> CoordinatorOptions {
    CoordinatorOptions {
        cross_check_share: 0.0,
        lease: Duration::from_secs(2),
        ..CoordinatorOptions::default()
    }
}

/// Collects the events of a run.
#[derive(Default)]
pub struct RunEvents {
    pub matches: u64,
    pub barred: Vec<(String, u64)>,
    /// Matches with a result that two others contradicted, and their workers.
    pub outvoted: Vec<(u64, String)>,
    /// Matches without a majority, and their workers.
    pub disputed: Vec<(u64, Vec<String>)>,
}

impl RunListener for RunEvents {
    fn event(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::MatchStored { .. } => self.matches += 1,
            RunEvent::Banned { worker, revoked: again, .. } => {
                self.barred.push(((*worker).to_owned(), *again));
            }
            RunEvent::Outvoted { key, worker, .. } => self.outvoted.push((key.number, (*worker).to_owned())),
            RunEvent::Disputed { key, workers } => self.disputed.push((key.number, workers.to_vec())),
            _ => {}
        }
    }
}

/// A scripted worker.
pub struct ScriptedWorker {
    pub link: NatsConnection,
    pub name: String,
    pub session: String,
    pub competition: String,
    pub lease: Duration,
    reports: AtomicU64,
    brief: tokio::sync::Mutex<Option<(String, Arc<PhaseSpec>)>>,
    stopped: Arc<AtomicBool>,
}

/// A leased job.
pub struct LeasedJob {
    pub job: Job,
    pub message: jetstream::Message,
}

pub fn hello(name: &str, session: &str) -> JoinRequest {
    let rules = ["connect-five", "solitude-scramble", "word-racer", "colour-battle", "hide-and-seek"];
    let rules = rules.map(|game| (game.to_owned(), any_game(game).unwrap().info().rules_version));
    JoinRequest {
        protocol: PROTOCOL,
        worker: name.to_owned(),
        session: session.to_owned(),
        engine: env!("CARGO_PKG_VERSION").to_owned(),
        rules: BTreeMap::from(rules),
        layers: Vec::new(),
        cores: 1,
        speed: 1.0,
        missing: Vec::new(),
    }
}

/// The next announcement.
pub async fn called(link: &NatsConnection) -> Announcement {
    let mut calls = link.client().subscribe(subjects::ANNOUNCEMENTS).await.unwrap();
    decode(&calls.next().await.unwrap().payload).unwrap()
}

pub async fn say_hello(link: &NatsConnection, competition: &str, hello: &JoinRequest) -> JoinResponse {
    let subject = subjects::join(&hello.worker, competition);
    let answer = link.client().request(subject, encode(hello).unwrap().into()).await.unwrap();
    decode(&answer.payload).unwrap()
}

impl ScriptedWorker {
    /// A worker that sends no heartbeats.
    pub fn new(link: NatsConnection, name: &str, competition: &str) -> Self {
        Self {
            link,
            name: name.to_owned(),
            session: format!("{name}-session"),
            competition: competition.to_owned(),
            lease: Duration::ZERO,
            reports: AtomicU64::new(0),
            brief: tokio::sync::Mutex::new(None),
            stopped: Arc::new(AtomicBool::new(false)),
        }
    }

    /// Joins, and sends heartbeats until it is dropped.
    pub async fn join(nats: &Nats, name: &str, competition: &str) -> Self {
        let mut hand = Self::new(link(nats, name).await, name, competition);
        let welcome = say_hello(&hand.link, competition, &hello(name, &hand.session)).await;
        let JoinResponse::Accepted { lease_ms, .. } = welcome else { panic!("{welcome:?}") };
        hand.lease = Duration::from_millis(lease_ms);
        tokio::spawn(beat(
            hand.link.clone(),
            name.to_owned(),
            hand.session.clone(),
            Arc::clone(&hand.stopped),
        ));
        hand
    }

    /// The next job, if one arrives.
    pub async fn pull(&self) -> Option<LeasedJob> {
        let stream = self.link.jetstream().get_stream_no_info(WORK_STREAM).await.ok()?;
        let pull: consumer::PullConsumer = stream.get_consumer(&self.competition).await.ok()?;
        let mut batch = pull.fetch().max_messages(1).expires(Duration::from_secs(1)).messages().await.ok()?;
        let message = batch.next().await?.ok()?;
        let job: Job = decode(&message.payload).unwrap();
        if job.excluded_workers.contains(&self.name) {
            // The wait varies, so that two workers that each hold a job for the other do not stay in step.
            let mut hasher = DefaultHasher::new();
            (&self.name, message.info().ok()?.delivered).hash(&mut hasher);
            let pause = Duration::from_millis(50 + hasher.finish() % 250);
            message.ack_with(AckKind::Nak(Some(pause))).await.ok()?;
            return None;
        }
        Some(LeasedJob { job, message })
    }

    pub async fn brief(&self, hash: &str) -> Arc<PhaseSpec> {
        let mut known = self.brief.lock().await;
        if let Some((_, brief)) = known.as_ref().filter(|(name, _)| name == hash) {
            return Arc::clone(brief);
        }
        let blobs = Blobs::open(&self.link).await.unwrap();
        let bytes = blobs.get(hash).await.unwrap().unwrap();
        let brief: Arc<PhaseSpec> = Arc::new(decode(&bytes).unwrap());
        *known = Some((hash.to_owned(), Arc::clone(&brief)));
        brief
    }

    /// Plays the matches of a job.
    pub async fn play(&self, job: &Job) -> Vec<MatchReport> {
        let brief = self.brief(&job.phase_spec).await;
        let matches = job.matches.clone();
        tokio::task::spawn_blocking(move || matches.iter().map(|one| play_one(&brief, one)).collect())
            .await
            .unwrap()
    }

    pub fn report(&self, job: &Job, matches: Vec<MatchReport>) -> JobReport {
        JobReport {
            protocol: PROTOCOL,
            job: job.id.clone(),
            phase_spec: job.phase_spec.clone(),
            worker: self.name.clone(),
            session: self.session.clone(),
            duration_us: 5_000 * matches.len() as u64,
            matches,
        }
    }

    /// Sends a report in chunks of this size. Returns the last acknowledgement.
    pub async fn send_report(&self, report: &JobReport, size: usize) -> Option<ReportAck> {
        let (bytes, id) = (encode(report).unwrap(), self.reports.fetch_add(1, Ordering::Relaxed));
        let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
        let mut last = None;
        for (number, piece) in pieces.iter().enumerate() {
            let part = ReportChunk {
                protocol: PROTOCOL,
                report: format!("{}-{id}", self.name),
                chunk: number as u32,
                chunks: pieces.len() as u32,
                bytes: piece.to_vec(),
            };
            let subject = subjects::report(&self.name, &self.competition);
            let answer = self.link.client().request(subject, encode(&part).unwrap().into()).await.ok()?;
            last = Some(decode(&answer.payload).unwrap());
            if last != Some(ReportAck::NextChunk) {
                break;
            }
        }
        last
    }

    pub async fn trouble(&self, job: &Job, kind: JobErrorKind, says: &str) -> ReportAck {
        let trouble = JobError {
            protocol: PROTOCOL,
            worker: self.name.clone(),
            job: job.id.clone(),
            kind,
            message: says.to_owned(),
        };
        let subject = subjects::job_error(&self.name, &self.competition);
        let answer = self.link.client().request(subject, encode(&trouble).unwrap().into()).await.unwrap();
        decode(&answer.payload).unwrap()
    }

    /// Plays a job, changes the report, and sends it.
    pub async fn do_job(
        &self,
        task: LeasedJob,
        change: &(dyn Fn(&mut Vec<MatchReport>) + Sync),
    ) -> Option<ReportAck> {
        let mut matches = self.play(&task.job).await;
        change(&mut matches);
        let receipt = self.send_report(&self.report(&task.job, matches), MAX_CHUNK_BYTES).await;
        if receipt == Some(ReportAck::Stored) {
            task.message.double_ack().await.ok()?;
        }
        receipt
    }

    /// Plays all jobs until there are no announcements any more.
    pub async fn work(&self) {
        self.work_with(&|_| {}).await;
    }

    /// The same with a function that falsifies reports.
    pub async fn work_with(&self, change: &(dyn Fn(&mut Vec<MatchReport>) + Sync)) {
        loop {
            if let Some(task) = self.pull().await
                && let Some(ReportAck::Refused { why }) = self.do_job(task, change).await
            {
                eprintln!("{} leaves: {why}", self.name);
                return;
            }
        }
    }
}

impl Drop for ScriptedWorker {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

async fn beat(link: NatsConnection, worker: String, session: String, stopped: Arc<AtomicBool>) {
    while !stopped.load(Ordering::Relaxed) {
        let beat = Heartbeat::new(&worker, &session);
        let _ = link.client().publish(subjects::heartbeat(&worker), encode(&beat).unwrap().into()).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// Plays a match of house bots.
pub fn play_one(brief: &PhaseSpec, one: &JobMatch) -> MatchReport {
    let table = any_game(&brief.game).unwrap();
    let part = |part: &agon_grid::messages::PhasePart| {
        let pairs = part.settings.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        let settings = Settings::parse(table.info().settings, pairs.filter(|(_, text)| *text != "drawn"));
        ResolvedPart { games: part.games, first_to: part.first_to, settings: settings.unwrap() }
    };
    let parts: Vec<ResolvedPart> = brief.variants[one.variant as usize].iter().map(part).collect();
    let members: Vec<(Entrant, LoadedEntrant)> = one
        .seats
        .iter()
        .map(|&seat| {
            let entrant = &brief.entrants[seat as usize];
            let PhaseBot::House(bot) = &entrant.bot else { panic!("a program") };
            let seating = PlayerSpec::House(bot.clone());
            (
                Entrant(seat),
                LoadedEntrant {
                    name: entrant.name.clone(),
                    player: seating,
                    commit: None,
                    extra_file: None,
                    says: agon_core::SelfDescription::default(),
                },
            )
        })
        .collect();
    let members: Vec<(Entrant, &LoadedEntrant)> =
        members.iter().map(|(entrant, one)| (*entrant, one)).collect();
    let runner = MatchRunner {
        game: &*table,
        assets: &Assets::none(),
        parts: &parts,
        parts_give_points: brief.in_parts,
    };
    let key = MatchKey { phase: brief.phase, stage: one.stage, number: one.number };
    runner.play(key, &members, one.seed, &mut Recorder::new(), None).unwrap().into()
}

/// Plays with another house bot at the first seat, and writes the entrant's bot into the records: the reports match their records, the
/// records match the request, and they follow the rules.
pub async fn lies(hand: &ScriptedWorker, jobs: u32) {
    let mut done = 0;
    while done < jobs {
        let Some(task) = hand.pull().await else { continue };
        let brief = hand.brief(&task.job.phase_spec).await;
        let matches = task.job.matches.iter().map(|one| false_match(&brief, one)).collect();
        let receipt = hand.send_report(&hand.report(&task.job, matches), MAX_CHUNK_BYTES).await;
        if matches!(receipt, Some(ReportAck::Refused { .. })) {
            return;
        }
        task.message.double_ack().await.unwrap();
        done += 1;
    }
}

/// A match with the moves of other bots, of which only playing it again shows that they are invented.
fn false_match(brief: &PhaseSpec, one: &JobMatch) -> MatchReport {
    let honest = play_one(brief, one);
    let read = |report: &MatchReport| record::read(report.games[0].1.as_ref().unwrap(), 1).unwrap().0;
    let plays = |name: &str| {
        one.seats
            .iter()
            .any(|seat| matches!(&brief.entrants[*seat as usize].bot, PhaseBot::House(bot) if bot == name))
    };
    for other in any_game(&brief.game).unwrap().house_bots() {
        if plays(other.name) {
            continue;
        }
        let mut changed = brief.clone();
        changed.entrants[one.seats[0] as usize].bot = PhaseBot::House(other.name.to_owned());
        let mut report = play_one(&changed, one);
        let (found, wanted) = (read(&report), read(&honest));
        if found.turns == wanted.turns {
            continue;
        }
        let (found, wanted) = (found.header, wanted.header);
        for game in 0..report.games.len() {
            change_record(&mut report, game, |mut lines| {
                let first = lines.find('\n').unwrap();
                let mut told = lines[..first].to_owned();
                for (found, wanted) in found.seats.iter().zip(&wanted.seats) {
                    told = told.replace(&found.hash, &wanted.hash);
                    told = told.replace(&format!("\"{}\"", found.bot), &format!("\"{}\"", wanted.bot));
                }
                lines.replace_range(..first, &told);
                lines
            });
        }
        return report;
    }
    panic!("all house bots play the same");
}

/// Changes the lines of a record and seals it again.
pub fn change_record(report: &mut MatchReport, game: usize, change: impl FnOnce(String) -> String) {
    let bytes = report.games[game].1.clone().unwrap();
    let lines = change(String::from_utf8(zstd::decode_all(&bytes[..]).unwrap()).unwrap());
    let end = lines.find("{\"end\"").unwrap();
    let end = end + lines[end..].find('\n').unwrap() + 1;
    let digest = Digest(Sha256::digest(&lines.as_bytes()[..end]).into());
    let mut sealed = lines[..end].to_owned();
    for line in lines[end..].lines().filter(|line| !line.starts_with("{\"digest\"")) {
        sealed += &format!("{line}\n");
    }
    sealed += &format!("{{\"digest\":\"{digest}\"}}\n");
    let mut packed = zstd::encode_all(sealed.as_bytes(), 3).unwrap();
    let seal = Sha256::digest(&packed);
    packed.extend(0x184D_2A50_u32.to_le_bytes());
    packed.extend(36_u32.to_le_bytes());
    packed.extend(b"AGON");
    packed.extend(seal);
    report.games[game] = (digest.0, Some(packed.into()));
}
