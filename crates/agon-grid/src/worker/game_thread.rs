//! One game at a time, on a core of its own: takes a job, plays it, has the result handed in, and takes the next.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use agon_core::record::Recorder;
use agon_engine::Reporter;
use agon_league::{Entrant, MatchKey};
use agon_runner::live::LiveReporter;
use agon_runner::{MatchRunner, LoadedEntrant};
use agon_store::FinishedMatch;
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::{AckKind, Message};
use futures_util::StreamExt as _;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::reporting::{self, LeasedJob};
use super::state::{WorkerState, JobSource};
use super::blob_fetcher::JobFailure;
use super::bot_cache::{CachedBot, BotCache};
use crate::blobs::hash;
use crate::messages::{self, Job, JobMatch, BotDataRefs, PROTOCOL, JobReport, match_report};

/// How long a question for work stays with the server. Whoever is asked to leave waits for it to end: a job that comes then is not lost.
const PULL_TIMEOUT: Duration = Duration::from_secs(2);
/// The same where several competitions have work.
const PULL_TIMEOUT_SHARED: Duration = Duration::from_millis(300);
/// Beyond that, nobody answers at all. Less than after what the library itself takes an answer to be lost, and no error.
const CONSUMER_TIMEOUT: Duration = Duration::from_secs(3);
/// A job that is not understood is left to others for so long.
const NOT_OURS: Duration = Duration::from_secs(5);
/// Reports of one lane that may wait for their receipt.
const MAX_UNACKED_REPORTS: usize = 3;
/// A job that is for others goes back to the queue for so long.
const FOR_OTHERS: Duration = Duration::from_millis(300);
/// How long to wait after something went wrong, or when there is nothing to do.
const REST: Duration = Duration::from_millis(300);

/// What one thread does, until the worker leaves.
pub fn run(house: &Arc<WorkerState>, lane: usize) {
    let waiting = Arc::new(Semaphore::new(MAX_UNACKED_REPORTS));
    let mut recorder = Recorder::new();
    let mut turn = lane;
    while !house.draining() {
        // What was played and not handed in is bounded: then this waits.
        let permit = house.handle.block_on(Arc::clone(&waiting).acquire_owned());
        turn += 1;
        let Some((held, deliveries)) = house.handle.block_on(pull(house, turn)) else {
            clear_live_slot(house, lane);
            continue;
        };
        if held.job.excluded_workers.contains(&house.options.name) {
            house.handle.block_on(held.give_back(for_others(&house.options.name, deliveries)));
            continue;
        }
        if deliveries > u64::from(held.job.tries) {
            house.handle.block_on(reporting::report_poison_job(house, held, deliveries));
            continue;
        }
        house.meters.plays(lane, true);
        let begun = Instant::now();
        let played = catch_unwind(AssertUnwindSafe(|| play(house, lane, &held, &mut recorder)));
        house.meters.plays(lane, false);
        match played
            .unwrap_or_else(|_| Err(JobFailure::Failed("the engine gave up in the middle of a game".to_owned())))
        {
            Ok(matches) => {
                count(house, &matches);
                let report = JobReport {
                    protocol: PROTOCOL,
                    job: held.job.id.clone(),
                    brief: held.job.brief.clone(),
                    worker: house.options.name.clone(),
                    session: house.session.clone(),
                    took_us: begun.elapsed().as_micros() as u64,
                    matches: matches.into_iter().map(match_report::MatchReport::from).collect(),
                };
                house.unreceipted.fetch_add(1, SeqCst);
                let house = Arc::clone(house);
                house.handle.clone().spawn(async move {
                    reporting::send_report(house, held, report).await;
                    drop(permit);
                });
            }
            Err(mishap) => {
                recorder = Recorder::new();
                house.handle.block_on(reporting::report_failure(house, held, mishap));
                thread::sleep(REST);
            }
        }
    }
    clear_live_slot(house, lane);
}

fn count(house: &WorkerState, matches: &[FinishedMatch]) {
    let games: usize = matches.iter().map(|one| one.result.games.len()).sum();
    let faults: usize = matches.iter().map(|one| one.faults.len()).sum();
    house.meters.games.fetch_add(games as u64, Relaxed);
    house.meters.faults.fetch_add(faults as u64, Relaxed);
}

/// Nothing is played here just now.
fn clear_live_slot(house: &WorkerState, lane: usize) {
    for (_, gallery) in house.galleries() {
        gallery.board(lane).rest();
    }
}

/// How long a job is left to others: not always the same, or two who each get what only the other may take would give it back in step for ever.
fn for_others(name: &str, deliveries: u64) -> Duration {
    let mut hasher = DefaultHasher::new();
    (name, deliveries).hash(&mut hasher);
    FOR_OTHERS.mul_f64(0.5 + (hasher.finish() % 100) as f64 / 50.0)
}

/// A job, from one competition after the other, and how often it was given out. `None` if there is nothing just now.
async fn pull(house: &WorkerState, turn: usize) -> Option<(LeasedJob, u64)> {
    let mut cups = house.accepted_competitions();
    if cups.is_empty() {
        let _ = timeout(REST, house.changed.notified()).await;
        return None;
    }
    let first = turn % cups.len();
    cups.rotate_left(first);
    if let [(cup, terms)] = &cups[..] {
        return try_pull(house, cup, terms, Some(PULL_TIMEOUT)).await;
    }
    // Whoever has something is asked before anybody is waited for.
    for (cup, terms) in &cups {
        if let Some(found) = try_pull(house, cup, terms, None).await {
            return Some(found);
        }
    }
    let (cup, terms) = cups.first()?;
    try_pull(house, cup, terms, Some(PULL_TIMEOUT_SHARED)).await
}

/// A job of a competition, if there is one in this time.
async fn try_pull(house: &WorkerState, cup: &str, terms: &JobSource, wait: Option<Duration>) -> Option<(LeasedJob, u64)> {
    match next(&terms.consumer, wait).await {
        Ok(Some(message)) => hold(house, cup, terms, message).await,
        Ok(None) => None,
        Err(_) => {
            // Its coordinator made it anew, or the competition is over: that is asked when it is heard next.
            house.lost(cup);
            None
        }
    }
}

async fn next(consumer: &PullConsumer, wait: Option<Duration>) -> Result<Option<Message>, async_nats::Error> {
    let asked = async {
        match wait {
            Some(wait) => consumer.batch().max_messages(1).expires(wait).messages().await,
            None => consumer.fetch().max_messages(1).messages().await,
        }
    };
    let mut batch = timeout(CONSUMER_TIMEOUT, asked).await??;
    // A consumer that is gone does not answer at all.
    match timeout(wait.unwrap_or_default() + CONSUMER_TIMEOUT, batch.next()).await? {
        Some(message) => message.map(Some),
        None => Ok(None),
    }
}

async fn hold(house: &WorkerState, cup: &str, terms: &JobSource, message: Message) -> Option<(LeasedJob, u64)> {
    let deliveries = message.info().map_or(1, |info| info.delivered.max(1) as u64);
    let (message, acker) = message.split();
    let job = messages::decode::<Job>(&message.payload).ok();
    if let Some(job) = job.filter(|job| job.protocol == PROTOCOL && job.competition_id == *cup) {
        return Some((LeasedJob::new(cup.to_owned(), job, acker, terms), deliveries));
    }
    house.log(format!("{cup}: a job is not understood: is this worker older than its coordinator?"));
    let _ = acker.ack_with(AckKind::Nak(Some(NOT_OURS))).await;
    None
}

/// Plays the matches of a job, one after the other. Not all of them if it is to leave, or if they take much longer than was thought: what is left
/// out of the report is handed out again.
fn play(
    house: &WorkerState,
    lane: usize,
    held: &LeasedJob,
    recorder: &mut Recorder,
) -> Result<Vec<FinishedMatch>, JobFailure> {
    let job = &held.job;
    recorder.scale_clocks(held.scale);
    let troupe = house.troupes.get(&job.brief, &job.competition_id, &house.shelf, house.options.allow_unguarded)?;
    let (mut played, begun) = (Vec::with_capacity(job.matches.len()), Instant::now());
    for one in &job.matches {
        if !played.is_empty() && (house.draining() || begun.elapsed() > held.lease) {
            break;
        }
        played.push(play_one(house, lane, &troupe, one, recorder)?);
    }
    Ok(played)
}

fn play_one(
    house: &WorkerState,
    lane: usize,
    troupe: &BotCache,
    one: &JobMatch,
    recorder: &mut Recorder,
) -> Result<FinishedMatch, JobFailure> {
    let key = MatchKey { phase: troupe.brief.phase, stage: one.stage, number: one.number };
    let seats: Vec<Entrant> = one.seats.iter().map(|&seat| Entrant(seat)).collect();
    let actors: Vec<Arc<CachedBot>> =
        one.seats.iter().map(|&seat| troupe.actor(lane, seat, &house.shelf)).collect::<Result<_, _>>()?;
    for (actor, &seat) in actors.iter().zip(&one.seats) {
        let luggage: Option<&BotDataRefs> = one.luggage.iter().find(|luggage| luggage.entrant == seat);
        if troupe.brief.in_order {
            let mut bags = actor.bags.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            bags.put(&actor.member, luggage, &|wanted| house.shelf.get(wanted))?;
            bags.mark_unknown();
        }
    }
    let Some(parts) = troupe.parts(one.variant) else {
        return Err(JobFailure::Failed(format!("the brief has no variant {}", one.variant)));
    };
    let members: Vec<(Entrant, &LoadedEntrant)> =
        seats.iter().copied().zip(actors.iter().map(|actor| &actor.member)).collect();
    let bout =
        MatchRunner { table: troupe.table.as_ref(), assets: &troupe.assets, parts, in_parts: troupe.brief.in_parts };
    let board = house.gallery_for(&troupe.brief.competition_id, troupe).map(|gallery| gallery.board(lane));
    let mut pen = board.as_ref().map(|board| LiveReporter::new(board, key, &seats));
    let reporter = pen.as_mut().map(|pen| pen as &mut dyn Reporter);
    let finished = house.options.hands.play(&bout, key, &members, one.seed, recorder, reporter);
    let finished = finished.map_err(|error| JobFailure::Failed(error.to_string()))?;
    if let Some(pen) = &pen {
        pen.finished(&finished.result);
    }
    if troupe.brief.in_order {
        for (actor, seat) in actors.iter().zip(&seats) {
            let data = finished.data.iter().find(|data| data.entrant == *seat);
            let mut bags = actor.bags.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if let Some(data) = data {
                bags.kept(hash(&data.bytes));
            }
        }
    }
    Ok(finished)
}
