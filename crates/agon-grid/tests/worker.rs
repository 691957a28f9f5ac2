//! A worker with a real nats-server and a scripted coordinator.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod harness;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use agon_core::record::Recorder;
use agon_core::{Assets, Settings};
use agon_engine::any_game::PlayError;
use agon_engine::{PlayerSpec, Reporter};
use agon_grid::blobs::hash;
use agon_grid::messages::{self, JobErrorKind, JoinResponse, PhaseBot, ReportAck, WorkerCommand};
use agon_grid::worker::{MatchBackend, RealBackend, WorkerOptions};
use agon_grid::worker_directory::WorkerStatus;
use agon_league::{Entrant, MatchKey};
use agon_runner::match_progress::ResolvedPart;
use agon_runner::{LoadedEntrant, MatchRunner};
use agon_store::FinishedMatch;
use agon_test_servers::wait_until as until;
use harness::{COMPETITION_ID, Harness, Script, house_brief, job, older};

/// A backend that runs a function of the test before each match, and counts.
struct TestBackend<F>(F, AtomicU32);

impl<F: Fn(u32) -> Option<PlayError> + Send + Sync> MatchBackend for TestBackend<F> {
    fn play<'p>(
        &self,
        runner: &MatchRunner<'_>,
        key: MatchKey,
        members: &[(Entrant, &LoadedEntrant)],
        seed: u64,
        recorder: &'p mut Recorder,
        reporter: Option<&'p mut (dyn Reporter + 'p)>,
    ) -> Result<FinishedMatch, PlayError> {
        match (self.0)(self.1.fetch_add(1, SeqCst)) {
            Some(error) => Err(error),
            None => RealBackend.play(runner, key, members, seed, recorder, reporter),
        }
    }
}

fn odd<F: Fn(u32) -> Option<PlayError> + Send + Sync>(what: F) -> Arc<TestBackend<F>> {
    Arc::new(TestBackend(what, AtomicU32::new(0)))
}

/// A backend that plays nothing before it is released.
fn held(
    released: &Arc<AtomicBool>,
) -> Arc<TestBackend<impl Fn(u32) -> Option<PlayError> + Send + Sync + use<>>> {
    let released = Arc::clone(released);
    odd(move |_| {
        until("the match is released", || released.load(SeqCst));
        None
    })
}

fn broken() -> PlayError {
    PlayError::Io(std::io::Error::new(std::io::ErrorKind::StorageFull, "no space left on device"))
}

/// Digest of a game of these house bots with a seed, played locally.
fn local_digest(game: &str, bots: [&str; 2], seed: u64) -> [u8; 32] {
    let table = agon_engine::any_game(game).unwrap();
    let settings = Settings::defaults(table.info().settings);
    let members = bots.map(|name| LoadedEntrant {
        name: name.to_owned(),
        player: PlayerSpec::House(name.to_owned()),
        commit: None,
        extra_file: None,
        says: agon_core::SelfDescription::default(),
    });
    let seats: Vec<(Entrant, &LoadedEntrant)> =
        members.iter().enumerate().map(|(n, one)| (Entrant(n as u32), one)).collect();
    let parts = [ResolvedPart { games: 1, first_to: 1, settings }];
    let runner = MatchRunner {
        game: table.as_ref(),
        assets: &Assets::none(),
        parts: &parts,
        parts_give_points: false,
    };
    let key = MatchKey { phase: 0, stage: 0, number: 0 };
    runner.play(key, &seats, seed, &mut Recorder::new(), None).unwrap().games[0].digest.0
}

const BOTS: [&str; 2] = ["tactician", "random"];

#[test]
fn jobs_give_the_games_of_a_local_run_and_leave_the_queue() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let harness = Harness::set(Script::default());
    let brief = harness.brief(&house_brief("connect-five", &BOTS));
    let roster = harness.roster();
    let worker = harness.worker(|options| options.cores = 2);
    for number in 0..6 {
        harness.publish(&job(&brief, &format!("job-{number}"), number * 3..number * 3 + 3));
    }
    until("all reports", || harness.reports().len() == 6);
    until("nothing queued", || harness.queued() == 0);
    let mut matches: Vec<_> = harness.reports().into_iter().flat_map(|report| report.matches).collect();
    matches.sort_by_key(|one| one.result.key.number);
    for (number, one) in (0..).zip(&matches) {
        assert_eq!(
            (one.result.key.number, one.games[0].0),
            (number, local_digest("connect-five", BOTS, 1000 + number))
        );
    }
    let hello = harness.script.hellos.lock().unwrap()[0].clone();
    assert_eq!((hello.worker.as_str(), hello.cores, hello.rules.len()), ("w1", 2, 5));
    until("a heartbeat with the counts", || {
        roster.workers().iter().any(|one| one.heartbeat.games == 18 && one.heartbeat.games_per_second > 0.0)
    });
    worker.leave();
    until("the last heartbeat", || {
        roster.workers().iter().all(|one| one.status == WorkerStatus::Lost || one.heartbeat.gone)
    });
}

#[test]
fn report_is_resent_until_acknowledged_and_matches_are_played_once() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let silence = AtomicU32::new(0);
    // First no reply, then a request to join, then the acknowledgement.
    let answer = move |_: &messages::JobReport| match silence.fetch_add(1, SeqCst) {
        0 => None,
        1 => Some(ReportAck::Resend),
        _ => Some(ReportAck::Stored),
    };
    let harness = Harness::set(Script { answer: Box::new(answer), ..Script::default() });
    let brief = harness.brief(&house_brief("connect-five", &BOTS));
    let hands = odd(|_| None);
    let worker = harness.worker(|options| options.backend = hands.clone());
    harness.publish(&job(&brief, "one", 0..2));
    until("the report", || harness.reports().len() == 1);
    until("nothing queued", || harness.queued() == 0);
    assert_eq!(hands.1.load(SeqCst), 2, "two matches, each played once");
    assert_eq!(harness.script.hellos.lock().unwrap().len(), 2, "the worker joined again");
    worker.leave();
}

#[test]
fn lease_is_renewed_during_a_long_game() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    // Longer than a worker on a busy machine is ever silent.
    let lease = Duration::from_secs(3);
    let welcome = |_: &messages::JoinRequest| JoinResponse::Accepted {
        consumer: COMPETITION_ID.to_owned(),
        lease_ms: 3000,
        clock_scale: None,
    };
    let harness = Harness::with_lease(Script { welcome: Box::new(welcome), ..Script::default() }, lease);
    let brief = harness.brief(&house_brief("connect-five", &BOTS));
    let hands = odd(move |_| {
        thread::sleep(lease * 5 / 2);
        None
    });
    // The second worker would get the job if the first did not renew the lease.
    let first = harness.worker(|options| options.backend = hands.clone());
    let second = harness.worker(|options| {
        options.name = "w2".to_owned();
        options.backend = hands.clone();
    });
    harness.publish(&job(&brief, "long", 0..1));
    until("the report", || harness.reports().len() == 1);
    until("nothing queued", || harness.queued() == 0);
    assert_eq!(hands.1.load(SeqCst), 1);
    first.leave();
    second.leave();
}

#[test]
fn failed_job_is_retried_and_reported_as_poison_if_it_fails_everywhere() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let harness = Harness::set(Script::default());
    let brief = harness.brief(&house_brief("connect-five", &BOTS));
    // A full disk at the first try of the first job. The second job always fails.
    let hands = odd(|call| (call != 1).then(broken));
    let worker = harness.worker(|options| options.backend = hands.clone());
    harness.publish(&job(&brief, "repaired", 0..1));
    until("the report", || harness.reports().len() == 1);
    let troubles = harness.troubles();
    assert_eq!(
        (troubles.len(), &troubles[0].kind, troubles[0].job.as_str()),
        (1, &JobErrorKind::Failed, "repaired")
    );
    assert!(troubles[0].message.contains("no space left"), "{}", troubles[0].message);
    harness.publish(&job(&brief, "poison", 1..2));
    until("poison", || harness.troubles().iter().any(|one| matches!(one.kind, JobErrorKind::Poison { .. })));
    until("nothing queued", || harness.queued() == 0);
    let kinds: Vec<JobErrorKind> = harness.troubles().into_iter().skip(1).map(|one| one.kind).collect();
    let failed = JobErrorKind::Failed;
    assert_eq!(kinds, [failed.clone(), failed.clone(), failed, JobErrorKind::Poison { deliveries: 4 }]);
    assert_eq!(harness.reports().len(), 1);
    assert!(!worker.is_gone(), "the worker has ended");
    worker.leave();
}

#[test]
fn missing_file_is_requested_and_damaged_cache_is_repaired() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let harness = Harness::set(Script::default());
    let brief = messages::encode(&house_brief("connect-five", &BOTS)).unwrap();
    let name = hash(&brief);
    let worker = harness.worker(|_| {});
    harness.publish(&job(&name, "early", 0..1));
    until("trouble", || !harness.troubles().is_empty());
    assert_eq!(harness.troubles()[0].kind, JobErrorKind::Missing { hash: name.clone() });
    harness.put(&brief);
    until("the report", || harness.reports().len() == 1);
    worker.leave();
    // The file in the cache is overwritten.
    let kept = harness.home.path().join("cache").join(&name);
    assert_eq!(std::fs::read(&kept).unwrap(), brief);
    std::fs::write(&kept, "damaged").unwrap();
    let worker = harness.worker(|_| {});
    harness.publish(&job(&name, "late", 1..2));
    until("the other report", || harness.reports().len() == 2);
    assert_eq!(std::fs::read(&kept).unwrap(), brief);
    worker.leave();
}

#[test]
fn unwritable_cache_does_not_prevent_playing() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let harness = Harness::set(Script::default());
    let brief = harness.brief(&house_brief("connect-five", &BOTS));
    let file = harness.home.path().join("file");
    std::fs::write(&file, "").unwrap();
    let worker = harness.worker(|options| options.cache_folder = file.join("below"));
    harness.publish(&job(&brief, "one", 0..1));
    until("the report", || harness.reports().len() == 1);
    worker.leave();
}

#[test]
fn excluded_worker_leaves_the_job_to_others() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let harness = Harness::set(Script::default());
    let brief = harness.brief(&house_brief("connect-five", &BOTS));
    let first = harness.worker(|_| {});
    harness.publish(&messages::Job {
        excluded_workers: vec!["w1".to_owned()],
        max_deliveries: 100,
        ..job(&brief, "check", 0..1)
    });
    thread::sleep(Duration::from_millis(700));
    assert!(harness.reports().is_empty());
    let second = harness.worker(|options| options.name = "w2".to_owned());
    until("the report", || harness.reports().len() == 1);
    assert_eq!(harness.reports()[0].worker, "w2");
    first.leave();
    second.leave();
}

#[test]
fn banned_worker_leaves_the_competition_and_joins_again_after_a_restart() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let answer = |report: &messages::JobReport| {
        let why = "its results were wrong".to_owned();
        Some(if report.worker == "w1" { ReportAck::Refused { why } } else { ReportAck::Stored })
    };
    let harness = Harness::set(Script { answer: Box::new(answer), ..Script::default() });
    let brief = harness.brief(&house_brief("connect-five", &BOTS));
    let roster = harness.roster();
    let worker = harness.worker(|_| {});
    harness.publish(&job(&brief, "one", 0..1));
    until("the worker leaves", || worker.has_said("leaving: its results were wrong"));
    until("the ban is visible", || {
        roster.workers().iter().any(|one| {
            one.heartbeat.refused == [(COMPETITION_ID.to_owned(), "its results were wrong".to_owned())]
        })
    });
    let other = harness.worker(|options| options.name = "w2".to_owned());
    until("the report", || harness.reports().len() == 1);
    until("nothing queued", || harness.queued() == 0);
    let hellos = || harness.script.hellos.lock().unwrap().iter().filter(|one| one.worker == "w1").count();
    assert_eq!(hellos(), 1);
    harness.script.restart("second");
    until("the worker asks again", || hellos() == 2);
    // A worker that is told to leave leaves.
    let why = "not today".to_owned();
    let done = harness
        .runtime
        .block_on(
            roster
                .send_command("w2", &WorkerCommand::Leave { competition_id: COMPETITION_ID.to_owned(), why }),
        )
        .unwrap();
    assert_eq!(done, messages::CommandReply::Yes);
    until("the other worker leaves", || other.has_said("leaving: not today"));
    worker.leave();
    other.leave();
}

#[test]
fn older_worker_is_rejected_with_a_hint() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let welcome = |hello: &messages::JoinRequest| {
        if hello.engine == "0.0.1" {
            JoinResponse::Refused {
                why: "its Agon is 0.0.1, this competition needs 0.1.0\nhint: update Agon there".to_owned(),
            }
        } else {
            JoinResponse::Accepted { consumer: COMPETITION_ID.to_owned(), lease_ms: 2000, clock_scale: None }
        }
    };
    let harness = Harness::set(Script { welcome: Box::new(welcome), ..Script::default() });
    let brief = harness.brief(&house_brief("connect-five", &BOTS));
    harness.publish(&job(&brief, "one", 0..1));
    let worker = harness.worker(|options| options.capabilities = older());
    until("the rejection is printed", || worker.has_said("Cup: refused: its Agon is 0.0.1"));
    thread::sleep(Duration::from_millis(300));
    assert!(harness.reports().is_empty());
    worker.leave();
}

#[test]
fn worker_rejected_by_a_new_coordinator_drops_its_reports() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let asked = AtomicU32::new(0);
    let welcome = move |_: &messages::JoinRequest| match asked.fetch_add(1, SeqCst) {
        0 => {
            JoinResponse::Accepted { consumer: COMPETITION_ID.to_owned(), lease_ms: 2000, clock_scale: None }
        }
        _ => JoinResponse::Refused { why: "this worker is too old".to_owned() },
    };
    // A restarted coordinator does not know the worker that reports.
    let answer = |_: &messages::JobReport| Some(ReportAck::Resend);
    let harness =
        Harness::set(Script { welcome: Box::new(welcome), answer: Box::new(answer), ..Script::default() });
    let brief = harness.brief(&house_brief("connect-five", &BOTS));
    harness.publish(&job(&brief, "one", 0..1));
    let worker = harness.worker(|_| {});
    until("the worker is rejected", || worker.has_said("refused: this worker is too old"));
    let count = || (harness.script.hellos.lock().unwrap().len(), harness.script.pieces.load(SeqCst));
    // Jobs requested before the rejection may still arrive. Then the worker is silent.
    let (mut last, mut since) = (count(), Instant::now());
    until("the worker stops resending", || {
        if count() != last {
            (last, since) = (count(), Instant::now());
        }
        since.elapsed() >= Duration::from_millis(2500)
    });
    worker.leave();
}

#[test]
fn drained_worker_finishes_reports_and_stops() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let harness = Harness::set(Script::default());
    let brief = harness.brief(&house_brief("connect-five", &BOTS));
    let released = Arc::new(AtomicBool::new(false));
    let hands = held(&released);
    let roster = harness.roster();
    let worker = harness.worker(|options| options.backend = hands.clone());
    harness.publish(&job(&brief, "one", 0..1));
    until("it plays", || hands.1.load(SeqCst) == 1);
    until("the worker is listed", || !roster.workers().is_empty());
    harness.runtime.block_on(roster.send_command("w1", &WorkerCommand::Drain)).unwrap();
    harness.publish(&job(&brief, "two", 1..2));
    released.store(true, SeqCst);
    until("it leaves", || worker.is_gone());
    assert_eq!(harness.reports().len(), 1);
    assert_eq!(harness.queued(), 1, "no new job was started");
}

/// Number of matches that the worker reports of a job with eight.
fn reported_of_eight(harness: &Harness) -> usize {
    until("a report arrives", || harness.reports().len() == 1);
    until("the job leaves the queue", || harness.queued() == 0);
    harness.reports()[0].matches.len()
}

#[test]
fn stopped_worker_reports_the_played_part_of_a_job() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let harness = Harness::set(Script::default());
    let brief = harness.brief(&house_brief("connect-five", &BOTS));
    let released = Arc::new(AtomicBool::new(false));
    let hands = held(&released);
    let roster = harness.roster();
    let worker = harness.worker(|options| options.backend = hands.clone());
    harness.publish(&job(&brief, "one", 0..8));
    until("it plays", || hands.1.load(SeqCst) > 0);
    harness.runtime.block_on(roster.send_command("w1", &WorkerCommand::Drain)).unwrap();
    released.store(true, SeqCst);
    until("it leaves", || worker.is_gone());
    let matches = reported_of_eight(&harness);
    assert!((1..8).contains(&matches), "{matches}");
}

#[test]
fn job_that_exceeds_its_lease_is_reported_partially() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    // The worker has a lease of 2 s, so the sixth match starts after it at the latest.
    let harness = Harness::set(Script::default());
    let brief = harness.brief(&house_brief("connect-five", &BOTS));
    let hands = odd(|_| {
        thread::sleep(Duration::from_millis(400));
        None
    });
    let worker = harness.worker(|options| options.backend = hands.clone());
    harness.publish(&job(&brief, "one", 0..8));
    let matches = reported_of_eight(&harness);
    assert!((1..8).contains(&matches), "{matches}");
    worker.leave();
}

#[test]
fn idle_worker_replies_to_a_drain_before_it_stops() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let harness = Harness::set(Script::default());
    let roster = harness.roster();
    for round in 0..10 {
        let name = format!("w{round}");
        let worker = harness.worker(|options| options.name.clone_from(&name));
        until("the worker is listed", || roster.workers().iter().any(|one| one.heartbeat.worker == name));
        harness.runtime.block_on(roster.send_command(&name, &WorkerCommand::Drain)).unwrap();
        until("it leaves", || worker.is_gone());
    }
}

#[test]
fn server_outage_loses_no_result() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    // A short lease: jobs that the server forgot during the outage are delivered again soon.
    let mut harness = Harness::with_lease(Script::default(), Duration::from_secs(2));
    let brief = harness.brief(&house_brief("connect-five", &BOTS));
    let hands = odd(|call| {
        if call == 0 {
            thread::sleep(Duration::from_millis(1500));
        }
        None
    });
    let worker = harness.worker(|options| options.backend = hands.clone());
    harness.publish(&job(&brief, "one", 0..1));
    until("it plays", || hands.1.load(SeqCst) == 1);
    harness.nats.kill();
    thread::sleep(Duration::from_millis(2500));
    harness.nats.restart();
    until("the report", || !harness.reports().is_empty());
    until("nothing queued", || harness.queued() == 0);
    harness.publish(&job(&brief, "two", 1..2));
    until("the next", || harness.reports().iter().any(|one| one.job == "two"));
    worker.leave();
}

#[test]
fn scaled_time_limits_are_recorded_and_do_not_change_the_digest() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let welcome = |_: &messages::JoinRequest| JoinResponse::Accepted {
        consumer: COMPETITION_ID.to_owned(),
        lease_ms: 2000,
        clock_scale: Some(1.25),
    };
    let harness = Harness::set(Script { welcome: Box::new(welcome), ..Script::default() });
    let brief = harness.brief(&house_brief("connect-five", &BOTS));
    let worker = harness.worker(|_| {});
    harness.publish(&job(&brief, "one", 0..1));
    until("the report", || harness.reports().len() == 1);
    let (digest, packed) = harness.reports()[0].matches[0].games[0].clone();
    let (record, _) = agon_core::record::read(&packed.unwrap(), 1).unwrap();
    assert_eq!((record.clock_scale, record.digest.0), (Some(1.25), digest));
    assert_eq!(digest, local_digest("connect-five", BOTS, 1000));
    worker.leave();
}

/// A backend whose records do not fit into one message.
struct Large;
impl MatchBackend for Large {
    fn play<'p>(
        &self,
        runner: &MatchRunner<'_>,
        key: MatchKey,
        members: &[(Entrant, &LoadedEntrant)],
        seed: u64,
        recorder: &'p mut Recorder,
        reporter: Option<&'p mut (dyn Reporter + 'p)>,
    ) -> Result<FinishedMatch, PlayError> {
        let mut finished = RealBackend.play(runner, key, members, seed, recorder, reporter)?;
        finished.games[0].record = Some(vec![7; 1_200_000]);
        Ok(finished)
    }
}

#[test]
fn large_report_is_sent_in_chunks() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let harness = Harness::set(Script::default());
    let brief = harness.brief(&house_brief("connect-five", &BOTS));
    let worker = harness.worker(|options| options.backend = Arc::new(Large));
    harness.publish(&job(&brief, "one", 0..1));
    until("the report", || harness.reports().len() == 1);
    assert_eq!(harness.script.pieces.load(SeqCst), 3);
    assert_eq!(harness.reports()[0].matches[0].games[0].1.as_ref().unwrap().len(), 1_200_000);
    worker.leave();
}

#[test]
fn bots_without_the_sandbox_are_played_only_if_allowed() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let harness = Harness::set(Script::default());
    let mut brief = house_brief("connect-five", &BOTS);
    brief.sandbox = false;
    let hash_of = |text: &str| hash(text.as_bytes());
    brief.entrants[0].bot = PhaseBot::Program {
        hash: hash_of("x"),
        spec: "./x".to_owned(),
        files: hash_of("x"),
        extra_file: None,
    };
    let brief = harness.brief(&brief);
    let worker = harness.worker(|_| {});
    harness.publish(&job(&brief, "one", 0..1));
    until("the rejection is printed", || worker.has_said("start this worker with --allow-unguarded"));
    worker.leave();
    // If allowed, the worker continues until it needs the files, which do not exist.
    let allow = |options: &mut WorkerOptions| options.allow_unsandboxed = true;
    let worker = harness.worker(allow);
    until("the worker asks for the files", || {
        harness.troubles().iter().any(|one| one.kind == JobErrorKind::Missing { hash: hash_of("x") })
    });
    worker.leave();
}
