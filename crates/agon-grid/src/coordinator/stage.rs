//! Sees to one stage: what is handed out, who has it, what came back.

mod disputes;
mod reports;
mod failures;
mod periodic;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use agon_league::{Fixture, MatchKey};
use agon_runner::match_runner::PhaseContext;
use agon_runner::queue::Queue;
use agon_runner::{ActiveMatches, ExecutorEvent, RunError};

use super::listener::{ReplyHandle, StageEvent, CoordinatorContext};
use super::phase_files::PhaseFiles;
use super::bot_data::PhaseBotData;
use super::batch_size::BatchSizer;
use super::cross_check::{CrossChecks, MatchDigest};
use super::{Coordinator, UnplayableMatch};
use crate::messages::{Job, JobMatch, PROTOCOL, ReportAck, encode};

/// How often the desk looks up when nothing is said.
const LOOK_UP: Duration = Duration::from_millis(100);
/// A job that cannot be published is tried again after so long.
const AGAIN: Duration = Duration::from_secs(1);
/// Emptying the queue takes no longer, or is left to the next run.
const PURGE: Duration = Duration::from_secs(5);
/// A job that some workers may not take is given back by them again and again: those deliveries do not count.
const GIVEN_BACK: u32 = 1000;

/// A job that is out.
struct PublishedJob {
    job: Job,
    /// Its place in the stream, once it is there.
    place: Option<u64>,
    /// When it was published.
    since: Instant,
    /// When it is to be published again, if that failed.
    again: Option<Instant>,
    kind: JobPurpose,
    /// What its workers said, by worker.
    errors: Vec<(String, String)>,
    /// How often it failed since it was published.
    failures: u32,
    /// How often its match was tried everywhere.
    round: u32,
}

/// What a job is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JobPurpose {
    /// Its matches were not played yet.
    Play,
    /// To see whether somebody else comes to the same.
    Check,
}

/// A match that waits for somebody who has not failed at it.
struct RetryMatch {
    one: JobMatch,
    errors: Vec<(String, String)>,
    round: u32,
    deliveries: u64,
}

/// Matches on their way into the ledger.
struct PendingCommit {
    answers: Vec<ReplyHandle>,
    matches: Vec<JobMatch>,
    /// What bots keep, in a phase that is played in order.
    data: Vec<(u32, Vec<u8>)>,
}

/// Sees to one stage.
pub struct StageCoordinator<'d> {
    fleet: &'d Coordinator,
    kit: PhaseFiles,
    hall: &'d PhaseContext<'d>,
    stage: u32,
    queue: &'d Queue<'d>,
    boards: &'d ActiveMatches,
    lots: Sender<ExecutorEvent>,
    pace: BatchSizer,
    baggage: Option<PhaseBotData>,
    jobs: HashMap<String, PublishedJob>,
    /// How many of them are there for a second look.
    checking: u64,
    /// Matches that are out, each in the job that it was last published with.
    asked: HashMap<u64, (JobMatch, String)>,
    keeping: HashMap<u64, PendingCommit>,
    /// The number that a match is being kept under.
    on_their_way: HashMap<u64, u64>,
    checks: CrossChecks,
    /// Who played what in this stage: numbers and digests.
    played: HashMap<String, Vec<(u64, MatchDigest)>>,
    /// Matches that are being replayed here.
    replaying: HashSet<u64>,
    /// Matches that one worker alone has failed at: they wait for another.
    postponed: Vec<RetryMatch>,
    aside: Vec<UnplayableMatch>,
    /// Whether something of the queue or of the files is gone; when mending it was last tried.
    broken: Option<Instant>,
    compared: Instant,
    looked: Instant,
    /// The last time it is waited for results, once somebody asked for a stop, and jobs that are being played.
    stopping: Option<(Instant, u64)>,
    /// Whether nobody takes results any more.
    over: bool,
}

impl<'d> StageCoordinator<'d> {
    /// For a stage.
    pub fn new(
        fleet: &'d Coordinator,
        kit: PhaseFiles,
        hall: &'d PhaseContext<'d>,
        stage: u32,
        queue: &'d Queue<'d>,
        boards: &'d ActiveMatches,
        lots: Sender<ExecutorEvent>,
    ) -> Result<Self, RunError> {
        let now = Instant::now();
        let mut memory = fleet.memory();
        let pace = Some(memory.pace).filter(|(phase, _)| *phase == hall.phase).map(|(_, pace)| pace);
        let mut baggage = memory.baggage.take().filter(|known| known.phase == hall.phase);
        let here = |key: &MatchKey| (key.phase, key.stage) == (hall.phase, stage);
        let doubts: Vec<_> = memory.doubts.extract_if(.., |(key, _, _)| here(key)).collect();
        drop(memory);
        if queue.in_order() {
            let mut packed = match baggage {
                Some(known) => known,
                None => PhaseBotData::pack(hall)?,
            };
            packed.begin_stage(hall)?;
            baggage = Some(packed);
        }
        let mut desk = Self {
            fleet,
            kit,
            hall,
            stage,
            queue,
            boards,
            lots,
            pace: pace.unwrap_or_else(|| BatchSizer::new(fleet.options.batch)),
            baggage,
            jobs: HashMap::new(),
            checking: 0,
            asked: HashMap::new(),
            keeping: HashMap::new(),
            on_their_way: HashMap::new(),
            checks: CrossChecks::new(fleet.salt, fleet.options.checked),
            played: HashMap::new(),
            replaying: HashSet::new(),
            postponed: Vec::new(),
            aside: Vec::new(),
            broken: None,
            compared: now,
            looked: now,
            stopping: None,
            over: false,
        };
        desk.doubt(doubts);
        Ok(desk)
    }

    /// Matches of this stage that are in the ledger, if they still are, and are still to be looked at twice. What bots had with them then is not
    /// known any more.
    fn doubt(&mut self, doubts: Vec<(MatchKey, String, MatchDigest)>) {
        if self.queue.in_order() {
            return;
        }
        for (MatchKey { number, .. }, worker, digest) in doubts {
            if let Some(fixture) = self.queue.fixture(number).filter(|_| !self.queue.is_left(number)) {
                self.checks.begin(self.match_of(number, &fixture), &worker, digest);
            }
        }
    }

    fn shared(&self) -> &'d Arc<CoordinatorContext> {
        &self.fleet.shared
    }

    fn key(&self, number: u64) -> MatchKey {
        MatchKey { phase: self.hall.phase, stage: self.stage, number }
    }

    /// Until everything was played, or nobody takes results any more.
    pub fn run(mut self, inbox: &Receiver<StageEvent>, over: &AtomicBool) {
        self.purge();
        // What was carried out in the meantime is said there.
        while let Ok(said) = inbox.try_recv() {
            self.handle_event(said);
        }
        self.resume_pending();
        loop {
            let nothing_left = self.publish_jobs();
            self.over |= over.load(Ordering::Relaxed);
            let done = self.is_done(nothing_left);
            if self.over || (done && self.settle_postponed()) {
                break;
            }
            match inbox.recv_timeout(LOOK_UP) {
                Ok(said) => {
                    self.handle_event(said);
                    while let Ok(said) = inbox.try_recv() {
                        self.handle_event(said);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.run_periodic_tasks();
        }
        self.leave();
    }

    /// What is left behind for the next stage.
    fn leave(self) {
        self.purge();
        // Nobody will say whether these are in the ledger: whoever waits for it says them to the next stage.
        for answer in self.keeping.into_values().flat_map(|keeping| keeping.answers) {
            answer.give(&ReportAck::Again);
        }
        let (phase, stage) = (self.hall.phase, self.stage);
        let mut memory = self.fleet.memory();
        memory.pace = (phase, self.pace);
        // What was taken back since is in the bots' folders as it was: then they are packed anew.
        memory.baggage = self.baggage.filter(|_| !self.over);
        memory.aside.extend(self.aside.iter().cloned());
        memory.figures.aside += self.aside.len() as u64;
        (memory.figures.waiting, memory.figures.out) = (0, 0);
        let open = self.checks.into_open();
        memory
            .doubts
            .extend(open.map(|(number, worker, digest)| (MatchKey { phase, stage, number }, worker, digest)));
        drop(memory);
        if !self.aside.is_empty() && !self.over {
            let aside = self.aside.into_iter().map(|one| (one.key, one.errors)).collect();
            let _ = self.lots.send(ExecutorEvent::Failed(RunError::Unplayable(aside)));
        }
    }

    fn is_done(&self, nothing_left: bool) -> bool {
        if let Some((until, playing)) = self.stopping {
            return self.keeping.is_empty() && (playing == 0 || Instant::now() >= until);
        }
        nothing_left && self.checks.is_empty() && self.is_all_kept()
    }

    /// Whether all that was handed out is in the ledger, and looked at.
    fn is_all_kept(&self) -> bool {
        self.asked.is_empty() && self.keeping.is_empty() && self.replaying.is_empty()
    }

    /// Publishes what there is room for; says whether nothing was left to publish.
    fn publish_jobs(&mut self) -> bool {
        if self.stopping.is_some() || self.queue.is_stopped() {
            return false;
        }
        let cores = self.shared().company().cores();
        while self.broken.is_none() {
            let size = self.pace.size(self.queue.left(), cores);
            let room = self.pace.max_jobs(size, cores);
            if self.checking < room {
                let company = self.shared().company();
                let again = self.checks.next(&company, if self.queue.in_order() { 1 } else { size as usize });
                drop(company);
                if let Some((not, matches)) = again {
                    self.publish(matches, not, JobPurpose::Check);
                    continue;
                }
            }
            // What others are to play again does not take the place of what was not played yet.
            if self.jobs.len() as u64 - self.checking >= room {
                return self.queue.left() == 0;
            }
            let lot = self.queue.next_batch(size);
            if lot.is_empty() {
                return true;
            }
            let matches = lot.iter().map(|(number, fixture)| self.match_of(*number, fixture)).collect();
            self.publish(matches, Vec::new(), JobPurpose::Play);
        }
        false
    }

    /// A match as workers are asked for it.
    fn match_of(&self, number: u64, fixture: &Fixture) -> JobMatch {
        let seats: Vec<u32> = fixture.seats.iter().map(|seat| seat.0).collect();
        let luggage = self.baggage.as_ref().map_or_else(Vec::new, |all| all.of(&seats));
        let (variant, seed) = (fixture.variant, self.hall.seed(fixture.seed_index));
        JobMatch { stage: self.stage, number, seats, variant, seed, luggage }
    }

    /// Publishes a job. Whoever is named in `not` does not take it.
    fn publish(&mut self, matches: Vec<JobMatch>, not: Vec<String>, kind: JobPurpose) -> String {
        let id = format!("{}-{}", self.shared().cup.session, self.fleet.number());
        let given_back = if not.is_empty() { 0 } else { GIVEN_BACK };
        let job = Job {
            protocol: PROTOCOL,
            competition_id: self.shared().cup.id.clone(),
            brief: self.kit.brief.clone(),
            id: id.clone(),
            tries: self.fleet.options.tries + given_back,
            excluded_workers: not,
            matches,
        };
        if kind == JobPurpose::Play {
            for one in &job.matches {
                self.asked.insert(one.number, (one.clone(), id.clone()));
            }
        }
        self.send(&job);
        let out = PublishedJob {
            job,
            place: None,
            since: Instant::now(),
            again: None,
            kind,
            errors: Vec::new(),
            failures: 0,
            round: 0,
        };
        self.checking += u64::from(kind == JobPurpose::Check);
        self.jobs.insert(id.clone(), out);
        id
    }

    /// A job that is not out any more.
    fn take_job(&mut self, id: &str) -> Option<PublishedJob> {
        let out = self.jobs.remove(id)?;
        self.checking -= u64::from(out.kind == JobPurpose::Check);
        Some(out)
    }

    /// Puts what a job needs where workers find it, then the job into the queue.
    fn send(&mut self, job: &Job) {
        let luggage = job.matches.iter().flat_map(|one| &one.luggage).cloned().collect::<Vec<_>>();
        let files = self.baggage.as_mut().map_or_else(Vec::new, |all| all.take_unpublished(&luggage));
        let (line, blobs) = (self.fleet.line.clone(), self.fleet.blobs.clone());
        let (id, said) = (job.id.clone(), self.shared().said.clone());
        let Ok(bytes) = encode(job) else { return };
        self.shared().runtime.spawn(async move {
            for file in files {
                if let Err(error) = blobs.put(&file).await {
                    let _ = said.send(StageEvent::Unpublished(id, error.to_string()));
                    return;
                }
            }
            let published = line.publish(&id, bytes).await;
            let _ = said.send(match published {
                Ok(place) => StageEvent::Published(id, place),
                Err(error) => StageEvent::Unpublished(id, error.to_string()),
            });
        });
    }

    fn handle_event(&mut self, said: StageEvent) {
        match said {
            StageEvent::Report(worker, report, sat, answer) => self.report(&worker, *report, sat, answer),
            StageEvent::Trouble(worker, trouble, answer) => self.trouble(&worker, trouble, answer),
            StageEvent::Kept(number) => self.kept(number),
            StageEvent::Published(id, place) => {
                if let Some(out) = self.jobs.get_mut(&id) {
                    (out.place, out.again, out.since) = (Some(place), None, Instant::now());
                }
            }
            StageEvent::Unpublished(id, why) => self.unpublished(&id, &why),
            StageEvent::Held(held) => self.compare(held),
            StageEvent::Lost(ids) => self.republish_lost(&ids),
            StageEvent::Replayed(worker, token, wrong) => {
                self.replaying.remove(&token);
                if let Some(wrong) = wrong {
                    self.bar(&worker, &wrong);
                }
            }
            StageEvent::Wake => {}
        }
    }

    fn purge(&self) {
        let purging = self.fleet.line.purge();
        let patience = if self.shared().is_connected() { PURGE } else { Duration::ZERO };
        let _ = self.shared().runtime.block_on(async { tokio::time::timeout(patience, purging).await });
    }
}
