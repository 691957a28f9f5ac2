//! A game thread: pulls a job, plays it, starts sending the report, and pulls the next one.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use agon_core::LockIgnoringPoison as _;
use agon_core::record::Recorder;
use agon_engine::Reporter;
use agon_league::{Entrant, MatchKey};
use agon_runner::live::LiveReporter;
use agon_runner::{LoadedEntrant, MatchRunner};
use agon_store::FinishedMatch;
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::{AckKind, Message};
use futures_util::StreamExt as _;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tracing::{Instrument as _, Level};

use super::blob_fetcher::JobFailure;
use super::bot_cache::{BotCache, CachedBot};
use super::reporting::{self, LeasedJob};
use super::state::{JobSource, WorkerState};
use crate::blobs::hash;
use crate::messages::{self, BotDataRefs, Job, JobMatch, JobReport, PROTOCOL, match_report};

/// Maximum time of a pull request. A draining worker waits for its end, so that a job delivered meanwhile is not lost.
const PULL_TIMEOUT: Duration = Duration::from_secs(2);
/// The same while several competitions have jobs.
const PULL_TIMEOUT_SHARED: Duration = Duration::from_millis(300);
/// Extra time for the consumer's reply. Shorter than the timeout after which the client library treats a missing reply as no job.
const CONSUMER_TIMEOUT: Duration = Duration::from_secs(3);
/// Delay before a job that this worker cannot decode is delivered again.
const UNKNOWN_JOB_DELAY: Duration = Duration::from_secs(5);
/// Maximum number of unacknowledged reports of a thread.
const MAX_UNACKED_REPORTS: usize = 3;
/// First and maximum mean delay before a job that excludes this worker is delivered again, from the second delivery on. The first time it
/// goes back at once: usually another worker waits.
const EXCLUDED_JOB_DELAY_RANGE: (Duration, Duration) = (Duration::from_millis(4), Duration::from_millis(32));
/// The same after many deliveries: the other workers play long games.
const BUSY_WORKERS_DELAY: Duration = Duration::from_millis(300);
/// Number of deliveries after which [`BUSY_WORKERS_DELAY`] applies.
const BUSY_WORKERS_AFTER: u64 = 100;
/// Delay after a failure, or when there is nothing to do.
const IDLE_DELAY: Duration = Duration::from_millis(300);

/// Runs until the worker drains.
pub fn run(worker: &Arc<WorkerState>, thread: usize) {
    let unacked = Arc::new(Semaphore::new(MAX_UNACKED_REPORTS));
    let mut recorder = Recorder::new();
    let mut turn = thread;
    while !worker.is_draining() {
        let backoff = worker.backoff();
        if !backoff.is_zero() {
            thread::sleep(backoff.min(IDLE_DELAY));
            continue;
        }
        // Limits the number of unacknowledged reports.
        let permit = worker.runtime.block_on(Arc::clone(&unacked).acquire_owned());
        turn += 1;
        let Some((leased, deliveries)) = worker.runtime.block_on(pull_job(worker, turn)) else {
            clear_live_slot(worker, thread);
            continue;
        };
        let _in_job = tracing::error_span!("job", job = leased.job.id).entered();
        if leased.job.excluded_workers.contains(&worker.options.name) {
            tracing::debug!("job excludes this worker; giving it back");
            worker.runtime.block_on(leased.release(excluded_job_delay(&worker.options.name, deliveries)));
            continue;
        }
        if deliveries > u64::from(leased.job.max_deliveries) {
            worker.runtime.block_on(reporting::report_poison_job(worker, leased, deliveries));
            continue;
        }
        log_received(&leased, deliveries);
        worker.metrics.set_playing(thread, true);
        let played = catch_unwind(AssertUnwindSafe(|| play_job(worker, thread, &leased, &mut recorder)));
        worker.metrics.set_playing(thread, false);
        match played.unwrap_or_else(|_| Err(JobFailure::failed("the engine panicked during a game"))) {
            Ok((matches, duration)) => {
                worker.note_success();
                count_games(worker, &matches);
                let report = JobReport {
                    protocol: PROTOCOL,
                    job: leased.job.id.clone(),
                    phase_spec: leased.job.phase_spec.clone(),
                    worker: worker.options.name.clone(),
                    session: worker.session.clone(),
                    duration_us: duration.as_micros() as u64,
                    matches: matches.into_iter().map(match_report::MatchReport::from).collect(),
                };
                worker.unacked_reports.fetch_add(1, SeqCst);
                let (worker, runtime) = (Arc::clone(worker), worker.runtime.clone());
                let sending = async move {
                    reporting::send_report(worker, leased, report).await;
                    drop(permit);
                };
                runtime.spawn(sending.in_current_span());
            }
            Err(failure) => {
                recorder = Recorder::new();
                if let JobFailure::Failed(_) = &failure {
                    worker.note_failure(&failure.message());
                }
                worker.runtime.block_on(reporting::report_failure(worker, leased, failure));
            }
        }
    }
    clear_live_slot(worker, thread);
}

/// Logs a job that this worker plays.
fn log_received(leased: &LeasedJob, deliveries: u64) {
    let lease_ms = leased.lease.as_millis() as u64;
    tracing::debug!(matches = leased.job.matches.len(), deliveries, lease_ms, "job received");
    // A job that some workers must not take is given back by them, which counts as a delivery.
    if deliveries > 1 && leased.job.excluded_workers.is_empty() {
        tracing::warn!(deliveries, "job was delivered before: its lease expired, or it failed");
    }
}

fn count_games(worker: &WorkerState, matches: &[FinishedMatch]) {
    let games: usize = matches.iter().map(|one| one.result.games.len()).sum();
    let faults: usize = matches.iter().map(|one| one.faults.len()).sum();
    worker.metrics.games.fetch_add(games as u64, Relaxed);
    worker.metrics.faults.fetch_add(faults as u64, Relaxed);
}

/// Marks the live slot of this thread as idle.
fn clear_live_slot(worker: &WorkerState, thread: usize) {
    for (_, live_games) in worker.all_live_games() {
        live_games.slot(thread).set_idle();
    }
}

/// Delay before a job that excludes this worker is delivered again. It grows with the deliveries, because the other workers are busy. It
/// varies, otherwise two workers that each get a job only the other may take could give them back in step forever.
fn excluded_job_delay(name: &str, deliveries: u64) -> Duration {
    let (first, max) = EXCLUDED_JOB_DELAY_RANGE;
    if deliveries <= 1 {
        return Duration::ZERO;
    }
    let mean = if deliveries > BUSY_WORKERS_AFTER {
        BUSY_WORKERS_DELAY
    } else {
        (first * 2u32.saturating_pow(deliveries.saturating_sub(2).min(10) as u32)).min(max)
    };
    let mut hasher = DefaultHasher::new();
    (name, deliveries).hash(&mut hasher);
    mean.mul_f64(0.5 + (hasher.finish() % 100) as f64 / 50.0)
}

/// Pulls a job, taking the competitions in turn. Returns it with its number of deliveries. `None` if there is no job now.
async fn pull_job(worker: &WorkerState, turn: usize) -> Option<(LeasedJob, u64)> {
    let mut competitions = worker.accepted_competitions();
    if competitions.is_empty() {
        let _ = timeout(IDLE_DELAY, worker.changed.notified()).await;
        return None;
    }
    let start = turn % competitions.len();
    competitions.rotate_left(start);
    if let [(competition_id, source)] = &competitions[..] {
        return try_pull(worker, competition_id, source, Some(PULL_TIMEOUT)).await;
    }
    // Ask all competitions without waiting first.
    for (competition_id, source) in &competitions {
        if let Some(found) = try_pull(worker, competition_id, source, None).await {
            return Some(found);
        }
    }
    let (competition_id, source) = competitions.first()?;
    try_pull(worker, competition_id, source, Some(PULL_TIMEOUT_SHARED)).await
}

/// Pulls a job of one competition.
async fn try_pull(
    worker: &WorkerState,
    competition_id: &str,
    source: &JobSource,
    wait: Option<Duration>,
) -> Option<(LeasedJob, u64)> {
    match next_message(&source.consumer, wait).await {
        Ok(Some(message)) => lease_job(worker, competition_id, source, message).await,
        Ok(None) => None,
        Err(error) => {
            tracing::debug!(competition = competition_id, %error, "cannot pull jobs; joining again");
            // The coordinator recreated the consumer, or the competition is over. The worker joins again at the next announcement.
            worker.job_source_lost(competition_id);
            None
        }
    }
}

async fn next_message(
    consumer: &PullConsumer,
    wait: Option<Duration>,
) -> Result<Option<Message>, async_nats::Error> {
    let pulling = async {
        match wait {
            Some(wait) => consumer.batch().max_messages(1).expires(wait).messages().await,
            None => consumer.fetch().max_messages(1).messages().await,
        }
    };
    let mut batch = timeout(CONSUMER_TIMEOUT, pulling).await??;
    // A deleted consumer does not reply at all.
    match timeout(wait.unwrap_or_default() + CONSUMER_TIMEOUT, batch.next()).await? {
        Some(message) => message.map(Some),
        None => Ok(None),
    }
}

async fn lease_job(
    worker: &WorkerState,
    competition_id: &str,
    source: &JobSource,
    message: Message,
) -> Option<(LeasedJob, u64)> {
    let deliveries = message.info().map_or(1, |info| info.delivered.max(1) as u64);
    let ack = message.reply.as_ref().map_or_else(String::new, ToString::to_string);
    let (message, acker) = message.split();
    let job = messages::decode::<Job>(&message.payload).ok();
    if let Some(job) = job.filter(|job| job.protocol == PROTOCOL && job.competition_id == *competition_id) {
        let leased = LeasedJob::new(worker, competition_id.to_owned(), job, (acker, ack), source);
        return Some((leased, deliveries));
    }
    let what = format!(
        "{competition_id}: cannot decode a job; check that this worker is not older than its coordinator"
    );
    worker.log(Level::WARN, what);
    let _ = acker.ack_with(AckKind::Nak(Some(UNKNOWN_JOB_DELAY))).await;
    None
}

/// Plays the matches of a job one after another. Stops early if the worker drains or the job takes longer than the lease; the coordinator
/// publishes the missing matches again. Returns the matches and the time for playing them, without the time for loading.
fn play_job(
    worker: &WorkerState,
    thread: usize,
    leased: &LeasedJob,
    recorder: &mut Recorder,
) -> Result<(Vec<FinishedMatch>, Duration), JobFailure> {
    let job = &leased.job;
    recorder.set_clock_scale(leased.clock_scale);
    let phase = worker.phases.get(
        &job.phase_spec,
        &job.competition_id,
        &worker.blobs,
        worker.options.allow_unsandboxed,
    )?;
    let (mut played, started) = (Vec::with_capacity(job.matches.len()), Instant::now());
    let mut duration = Duration::ZERO;
    for one in &job.matches {
        if !played.is_empty() && (worker.is_draining() || started.elapsed() > leased.lease) {
            break;
        }
        let bots = load_bots(worker, thread, &phase, one)?;
        let begun = Instant::now();
        played.push(play_match(worker, thread, &phase, one, &bots, recorder)?);
        duration += begun.elapsed();
    }
    Ok((played, duration))
}

/// Bots of a match, with their data folders as at the start of the match.
fn load_bots(
    worker: &WorkerState,
    thread: usize,
    phase: &BotCache,
    one: &JobMatch,
) -> Result<Vec<Arc<CachedBot>>, JobFailure> {
    let bots: Vec<Arc<CachedBot>> =
        one.seats.iter().map(|&seat| phase.bot(thread, seat, &worker.blobs)).collect::<Result<_, _>>()?;
    for (bot, &seat) in bots.iter().zip(&one.seats) {
        let refs: Option<&BotDataRefs> = one.bot_data.iter().find(|refs| refs.entrant == seat);
        if phase.phase_spec.in_order {
            let mut folders = bot.folders.lock_ignoring_poison();
            folders.prepare(&bot.loaded, refs, &|wanted| worker.blobs.get(wanted))?;
            folders.mark_unknown();
        }
    }
    Ok(bots)
}

fn play_match(
    worker: &WorkerState,
    thread: usize,
    phase: &BotCache,
    one: &JobMatch,
    bots: &[Arc<CachedBot>],
    recorder: &mut Recorder,
) -> Result<FinishedMatch, JobFailure> {
    let key = MatchKey { phase: phase.phase_spec.phase, stage: one.stage, number: one.number };
    // At the error level, so that every line about the match has its key, whatever the filter.
    let full_key = key.in_competition(&phase.phase_spec.competition_id);
    let _in_match = tracing::error_span!("match", "match" = %full_key).entered();
    let started = Instant::now();
    tracing::debug!("match started");
    let seats: Vec<Entrant> = one.seats.iter().map(|&seat| Entrant(seat)).collect();
    let Some(parts) = phase.parts(one.variant) else {
        return Err(JobFailure::failed(format!("the phase spec has no variant {}", one.variant)));
    };
    let entrants: Vec<(Entrant, &LoadedEntrant)> =
        seats.iter().copied().zip(bots.iter().map(|bot| &bot.loaded)).collect();
    let runner = MatchRunner {
        game: phase.game.as_ref(),
        assets: &phase.assets,
        parts,
        parts_give_points: phase.phase_spec.in_parts,
    };
    let slot = worker
        .live_games_for(&phase.phase_spec.competition_id, phase)
        .map(|live_games| live_games.slot(thread));
    let mut live_reporter = slot.as_ref().map(|slot| LiveReporter::new(slot, key, &seats));
    let reporter = live_reporter.as_mut().map(|live_reporter| live_reporter as &mut dyn Reporter);
    let finished = worker.options.backend.play(&runner, key, &entrants, one.seed, recorder, reporter);
    let finished = finished.map_err(|error| {
        tracing::warn!(%error, "match failed");
        JobFailure::Failed(error.into())
    })?;
    tracing::info!(
        games = finished.result.games.len(),
        faults = finished.faults.len(),
        ms = started.elapsed().as_millis() as u64,
        "match played"
    );
    if let Some(live_reporter) = &live_reporter {
        live_reporter.match_finished(&finished.result);
    }
    if phase.phase_spec.in_order {
        for (bot, seat) in bots.iter().zip(&seats) {
            let data = finished.data.iter().find(|data| data.entrant == *seat);
            let mut folders = bot.folders.lock_ignoring_poison();
            if let Some(data) = data {
                folders.set_current(hash(&data.bytes));
            }
        }
    }
    Ok(finished)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn job_that_excludes_this_worker_returns_soon_and_later_rarely() {
        for name in ["w1", "w2", "a-worker-with-a-long-name"] {
            assert_eq!(excluded_job_delay(name, 1), Duration::ZERO);
            assert!(excluded_job_delay(name, 2) <= Duration::from_millis(10));
            assert!(excluded_job_delay(name, 20) <= Duration::from_millis(80));
            let late = excluded_job_delay(name, 500);
            assert!(late >= Duration::from_millis(150) && late <= Duration::from_millis(750), "{late:?}");
        }
        assert_ne!(excluded_job_delay("w1", 5), excluded_job_delay("w2", 5), "not in step");
    }
}
