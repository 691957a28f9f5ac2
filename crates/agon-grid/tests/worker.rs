//! A worker against a real nats-server and a coordinator that does what the test says.
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
use harness::{CUP, Script, Stage, house_brief, job, older};

/// Plays as it should, after whatever the test wants, and counts.
struct Odd<F>(F, AtomicU32);

impl<F: Fn(u32) -> Option<PlayError> + Send + Sync> MatchBackend for Odd<F> {
    fn play<'p>(
        &self,
        bout: &MatchRunner<'_>,
        key: MatchKey,
        members: &[(Entrant, &LoadedEntrant)],
        seed: u64,
        recorder: &'p mut Recorder,
        reporter: Option<&'p mut (dyn Reporter + 'p)>,
    ) -> Result<FinishedMatch, PlayError> {
        match (self.0)(self.1.fetch_add(1, SeqCst)) {
            Some(error) => Err(error),
            None => RealBackend.play(bout, key, members, seed, recorder, reporter),
        }
    }
}

fn odd<F: Fn(u32) -> Option<PlayError> + Send + Sync>(what: F) -> Arc<Odd<F>> {
    Arc::new(Odd(what, AtomicU32::new(0)))
}

/// Plays nothing before it is let go.
fn held(let_go: &Arc<AtomicBool>) -> Arc<Odd<impl Fn(u32) -> Option<PlayError> + Send + Sync + use<>>> {
    let let_go = Arc::clone(let_go);
    odd(move |_| {
        until("it is let go", || let_go.load(SeqCst));
        None
    })
}

fn broken() -> PlayError {
    PlayError::Io(std::io::Error::new(std::io::ErrorKind::StorageFull, "no space left on device"))
}

/// What these house bots come to on a seed, played here.
fn at_home(game: &str, bots: [&str; 2], seed: u64) -> [u8; 32] {
    let table = agon_engine::any_game(game).unwrap();
    let settings = Settings::defaults(table.info().settings);
    let members = bots.map(|name| LoadedEntrant {
        name: name.to_owned(),
        player: PlayerSpec::House(name.to_owned()),
        commit: None,
        extra_file: None,
    });
    let seats: Vec<(Entrant, &LoadedEntrant)> =
        members.iter().enumerate().map(|(n, one)| (Entrant(n as u32), one)).collect();
    let parts = [ResolvedPart { games: 1, first_to: 1, settings }];
    let bout = MatchRunner {
        game: table.as_ref(),
        assets: &Assets::none(),
        parts: &parts,
        parts_give_points: false,
    };
    let key = MatchKey { phase: 0, stage: 0, number: 0 };
    bout.play(key, &seats, seed, &mut Recorder::new(), None).unwrap().games[0].digest.0
}

const BOTS: [&str; 2] = ["tactician", "random"];

#[test]
fn jobs_are_played_as_they_would_be_at_home_and_gone_from_the_queue() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let stage = Stage::set(Script::default());
    let brief = stage.brief(&house_brief("connect-five", &BOTS));
    let roster = stage.roster();
    let worker = stage.worker(|options| options.cores = 2);
    for number in 0..6 {
        stage.publish(&job(&brief, &format!("job-{number}"), number * 3..number * 3 + 3));
    }
    until("all reports", || stage.reports().len() == 6);
    until("nothing queued", || stage.queued() == 0);
    let mut matches: Vec<_> = stage.reports().into_iter().flat_map(|report| report.matches).collect();
    matches.sort_by_key(|one| one.result.key.number);
    for (number, one) in (0..).zip(&matches) {
        assert_eq!(
            (one.result.key.number, one.games[0].0),
            (number, at_home("connect-five", BOTS, 1000 + number))
        );
    }
    let hello = stage.script.hellos.lock().unwrap()[0].clone();
    assert_eq!((hello.worker.as_str(), hello.cores, hello.rules.len()), ("w1", 2, 5));
    until("a beat that counts", || {
        roster.workers().iter().any(|one| one.heartbeat.games == 18 && one.heartbeat.games_per_second > 0.0)
    });
    worker.leave();
    until("its last beat", || {
        roster.workers().iter().all(|one| one.status == WorkerStatus::Lost || one.heartbeat.gone)
    });
}

#[test]
fn a_report_is_said_until_its_receipt_comes_and_played_once() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let silence = AtomicU32::new(0);
    // The first time nothing, then a question who it is, then the receipt.
    let answer = move |_: &messages::JobReport| match silence.fetch_add(1, SeqCst) {
        0 => None,
        1 => Some(ReportAck::Resend),
        _ => Some(ReportAck::Stored),
    };
    let stage = Stage::set(Script { answer: Box::new(answer), ..Script::default() });
    let brief = stage.brief(&house_brief("connect-five", &BOTS));
    let hands = odd(|_| None);
    let worker = stage.worker(|options| options.backend = hands.clone());
    stage.publish(&job(&brief, "one", 0..2));
    until("the report", || stage.reports().len() == 1);
    until("nothing queued", || stage.queued() == 0);
    assert_eq!(hands.1.load(SeqCst), 2, "two matches, each played once");
    assert_eq!(stage.script.hellos.lock().unwrap().len(), 2, "it introduced itself again");
    worker.leave();
}

#[test]
fn the_lease_is_held_while_a_long_game_is_played() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    // Longer than a worker on a busy machine is ever silent.
    let lease = Duration::from_secs(3);
    let welcome = |_: &messages::JoinRequest| JoinResponse::Accepted {
        consumer: CUP.to_owned(),
        lease_ms: 3000,
        clock_scale: None,
    };
    let stage = Stage::with_lease(Script { welcome: Box::new(welcome), ..Script::default() }, lease);
    let brief = stage.brief(&house_brief("connect-five", &BOTS));
    let hands = odd(move |_| {
        thread::sleep(lease * 5 / 2);
        None
    });
    // The second one would get it if the first did not hold it.
    let first = stage.worker(|options| options.backend = hands.clone());
    let second = stage.worker(|options| {
        options.name = "w2".to_owned();
        options.backend = hands.clone();
    });
    stage.publish(&job(&brief, "long", 0..1));
    until("the report", || stage.reports().len() == 1);
    until("nothing queued", || stage.queued() == 0);
    assert_eq!(hands.1.load(SeqCst), 1);
    first.leave();
    second.leave();
}

#[test]
fn what_fails_goes_back_and_is_put_aside_when_it_fails_everywhere() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let stage = Stage::set(Script::default());
    let brief = stage.brief(&house_brief("connect-five", &BOTS));
    // A full disk on the first try of the first job; the second job fails always.
    let hands = odd(|call| (call != 1).then(broken));
    let worker = stage.worker(|options| options.backend = hands.clone());
    stage.publish(&job(&brief, "mended", 0..1));
    until("the report", || stage.reports().len() == 1);
    let troubles = stage.troubles();
    assert_eq!(
        (troubles.len(), &troubles[0].kind, troubles[0].job.as_str()),
        (1, &JobErrorKind::Failed, "mended")
    );
    assert!(troubles[0].message.contains("no space left"), "{}", troubles[0].message);
    stage.publish(&job(&brief, "poison", 1..2));
    until("poison", || stage.troubles().iter().any(|one| matches!(one.kind, JobErrorKind::Poison { .. })));
    until("nothing queued", || stage.queued() == 0);
    let kinds: Vec<JobErrorKind> = stage.troubles().into_iter().skip(1).map(|one| one.kind).collect();
    let failed = JobErrorKind::Failed;
    assert_eq!(kinds, [failed.clone(), failed.clone(), failed, JobErrorKind::Poison { deliveries: 4 }]);
    assert_eq!(stage.reports().len(), 1);
    assert!(!worker.is_gone(), "it lives on");
    worker.leave();
}

#[test]
fn a_file_that_is_missing_is_asked_for_and_damage_on_the_disk_is_mended() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let stage = Stage::set(Script::default());
    let brief = messages::encode(&house_brief("connect-five", &BOTS)).unwrap();
    let name = hash(&brief);
    let worker = stage.worker(|_| {});
    stage.publish(&job(&name, "early", 0..1));
    until("trouble", || !stage.troubles().is_empty());
    assert_eq!(stage.troubles()[0].kind, JobErrorKind::Missing { hash: name.clone() });
    stage.put(&brief);
    until("the report", || stage.reports().len() == 1);
    worker.leave();
    // Somebody wrote over what is in the cache.
    let kept = stage.home.path().join("cache").join(&name);
    assert_eq!(std::fs::read(&kept).unwrap(), brief);
    std::fs::write(&kept, "damaged").unwrap();
    let worker = stage.worker(|_| {});
    stage.publish(&job(&name, "late", 1..2));
    until("the other report", || stage.reports().len() == 2);
    assert_eq!(std::fs::read(&kept).unwrap(), brief);
    worker.leave();
}

#[test]
fn a_cache_that_cannot_be_written_does_not_keep_anybody_from_playing() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let stage = Stage::set(Script::default());
    let brief = stage.brief(&house_brief("connect-five", &BOTS));
    let file = stage.home.path().join("file");
    std::fs::write(&file, "").unwrap();
    let worker = stage.worker(|options| options.cache_folder = file.join("below"));
    stage.publish(&job(&brief, "one", 0..1));
    until("the report", || stage.reports().len() == 1);
    worker.leave();
}

#[test]
fn who_is_named_in_not_leaves_a_job_to_others() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let stage = Stage::set(Script::default());
    let brief = stage.brief(&house_brief("connect-five", &BOTS));
    let first = stage.worker(|_| {});
    stage.publish(&messages::Job {
        excluded_workers: vec!["w1".to_owned()],
        max_deliveries: 100,
        ..job(&brief, "check", 0..1)
    });
    thread::sleep(Duration::from_millis(700));
    assert!(stage.reports().is_empty());
    let second = stage.worker(|options| options.name = "w2".to_owned());
    until("the report", || stage.reports().len() == 1);
    assert_eq!(stage.reports()[0].worker, "w2");
    first.leave();
    second.leave();
}

#[test]
fn who_is_not_believed_leaves_the_competition_and_asks_again_when_it_begins_anew() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let answer = |report: &messages::JobReport| {
        let why = "its results were wrong".to_owned();
        Some(if report.worker == "w1" { ReportAck::Refused { why } } else { ReportAck::Stored })
    };
    let stage = Stage::set(Script { answer: Box::new(answer), ..Script::default() });
    let brief = stage.brief(&house_brief("connect-five", &BOTS));
    let roster = stage.roster();
    let worker = stage.worker(|_| {});
    stage.publish(&job(&brief, "one", 0..1));
    until("it left", || worker.has_said("leaving: its results were wrong"));
    until("others see it", || {
        roster
            .workers()
            .iter()
            .any(|one| one.heartbeat.refused == [(CUP.to_owned(), "its results were wrong".to_owned())])
    });
    let other = stage.worker(|options| options.name = "w2".to_owned());
    until("the report", || stage.reports().len() == 1);
    until("nothing queued", || stage.queued() == 0);
    let hellos = || stage.script.hellos.lock().unwrap().iter().filter(|one| one.worker == "w1").count();
    assert_eq!(hellos(), 1);
    stage.script.anew("second");
    until("it asks again", || hellos() == 2);
    // Told to leave, it leaves.
    let why = "not today".to_owned();
    let done = stage
        .runtime
        .block_on(roster.send_command("w2", &WorkerCommand::Leave { competition_id: CUP.to_owned(), why }))
        .unwrap();
    assert_eq!(done, messages::CommandReply::Yes);
    until("it left too", || other.has_said("leaving: not today"));
    worker.leave();
    other.leave();
}

#[test]
fn an_older_worker_is_refused_politely() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let welcome = |hello: &messages::JoinRequest| {
        if hello.engine == "0.0.1" {
            JoinResponse::Refused {
                why: "its Agon is 0.0.1, this competition needs 0.1.0\nhint: update Agon there".to_owned(),
            }
        } else {
            JoinResponse::Accepted { consumer: CUP.to_owned(), lease_ms: 2000, clock_scale: None }
        }
    };
    let stage = Stage::set(Script { welcome: Box::new(welcome), ..Script::default() });
    let brief = stage.brief(&house_brief("connect-five", &BOTS));
    stage.publish(&job(&brief, "one", 0..1));
    let worker = stage.worker(|options| options.capabilities = older());
    until("it says so", || worker.has_said("Cup: refused: its Agon is 0.0.1"));
    thread::sleep(Duration::from_millis(300));
    assert!(stage.reports().is_empty());
    worker.leave();
}

#[test]
fn who_is_refused_by_a_new_coordinator_keeps_nothing_to_hand_in() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let asked = AtomicU32::new(0);
    let welcome = move |_: &messages::JoinRequest| match asked.fetch_add(1, SeqCst) {
        0 => JoinResponse::Accepted { consumer: CUP.to_owned(), lease_ms: 2000, clock_scale: None },
        _ => JoinResponse::Refused { why: "this worker is too old".to_owned() },
    };
    // Whoever started anew does not know who hands this in.
    let answer = |_: &messages::JobReport| Some(ReportAck::Resend);
    let stage =
        Stage::set(Script { welcome: Box::new(welcome), answer: Box::new(answer), ..Script::default() });
    let brief = stage.brief(&house_brief("connect-five", &BOTS));
    stage.publish(&job(&brief, "one", 0..1));
    let worker = stage.worker(|_| {});
    until("it is refused", || worker.has_said("refused: this worker is too old"));
    let count = || (stage.script.hellos.lock().unwrap().len(), stage.script.pieces.load(SeqCst));
    // What it had asked for before it was refused may still come; then it is silent.
    let (mut last, mut since) = (count(), Instant::now());
    until("it does not ask and say it again and again", || {
        if count() != last {
            (last, since) = (count(), Instant::now());
        }
        since.elapsed() >= Duration::from_millis(2500)
    });
    worker.leave();
}

#[test]
fn a_drained_worker_finishes_hands_in_and_leaves() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let stage = Stage::set(Script::default());
    let brief = stage.brief(&house_brief("connect-five", &BOTS));
    let let_go = Arc::new(AtomicBool::new(false));
    let hands = held(&let_go);
    let roster = stage.roster();
    let worker = stage.worker(|options| options.backend = hands.clone());
    stage.publish(&job(&brief, "one", 0..1));
    until("it plays", || hands.1.load(SeqCst) == 1);
    until("it is seen", || !roster.workers().is_empty());
    stage.runtime.block_on(roster.send_command("w1", &WorkerCommand::Drain)).unwrap();
    stage.publish(&job(&brief, "two", 1..2));
    let_go.store(true, SeqCst);
    until("it leaves", || worker.is_gone());
    assert_eq!(stage.reports().len(), 1);
    assert_eq!(stage.queued(), 1, "nothing new was begun");
}

/// How many of a job's eight matches its worker hands in.
fn handed_in_of_eight(stage: &Stage) -> usize {
    until("it hands in", || stage.reports().len() == 1);
    until("its job is done", || stage.queued() == 0);
    stage.reports()[0].matches.len()
}

#[test]
fn who_is_to_leave_hands_in_what_it_has_played_of_a_job() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let stage = Stage::set(Script::default());
    let brief = stage.brief(&house_brief("connect-five", &BOTS));
    let let_go = Arc::new(AtomicBool::new(false));
    let hands = held(&let_go);
    let roster = stage.roster();
    let worker = stage.worker(|options| options.backend = hands.clone());
    stage.publish(&job(&brief, "one", 0..8));
    until("it plays", || hands.1.load(SeqCst) > 0);
    stage.runtime.block_on(roster.send_command("w1", &WorkerCommand::Drain)).unwrap();
    let_go.store(true, SeqCst);
    until("it leaves", || worker.is_gone());
    let matches = handed_in_of_eight(&stage);
    assert!((1..8).contains(&matches), "{matches}");
}

#[test]
fn a_job_that_takes_longer_than_was_thought_is_handed_in_as_far_as_it_is_played() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    // The worker is told of a lease of 2 s: the sixth match begins after it at the latest.
    let stage = Stage::set(Script::default());
    let brief = stage.brief(&house_brief("connect-five", &BOTS));
    let hands = odd(|_| {
        thread::sleep(Duration::from_millis(400));
        None
    });
    let worker = stage.worker(|options| options.backend = hands.clone());
    stage.publish(&job(&brief, "one", 0..8));
    let matches = handed_in_of_eight(&stage);
    assert!((1..8).contains(&matches), "{matches}");
    worker.leave();
}

#[test]
fn who_has_nothing_to_finish_answers_before_it_leaves() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let stage = Stage::set(Script::default());
    let roster = stage.roster();
    for round in 0..10 {
        let name = format!("w{round}");
        let worker = stage.worker(|options| options.name.clone_from(&name));
        until("it is seen", || roster.workers().iter().any(|one| one.heartbeat.worker == name));
        stage.runtime.block_on(roster.send_command(&name, &WorkerCommand::Drain)).unwrap();
        until("it leaves", || worker.is_gone());
    }
}

#[test]
fn a_server_that_was_away_costs_no_result() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    // A short lease: what the server forgot while it was away is given out again soon.
    let mut stage = Stage::with_lease(Script::default(), Duration::from_secs(2));
    let brief = stage.brief(&house_brief("connect-five", &BOTS));
    let hands = odd(|call| {
        if call == 0 {
            thread::sleep(Duration::from_millis(1500));
        }
        None
    });
    let worker = stage.worker(|options| options.backend = hands.clone());
    stage.publish(&job(&brief, "one", 0..1));
    until("it plays", || hands.1.load(SeqCst) == 1);
    stage.nats.kill();
    thread::sleep(Duration::from_millis(2500));
    stage.nats.again();
    until("the report", || !stage.reports().is_empty());
    until("nothing queued", || stage.queued() == 0);
    stage.publish(&job(&brief, "two", 1..2));
    until("the next", || stage.reports().iter().any(|one| one.job == "two"));
    worker.leave();
}

#[test]
fn scaled_time_limits_are_in_the_record_and_change_no_digest() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let welcome = |_: &messages::JoinRequest| JoinResponse::Accepted {
        consumer: CUP.to_owned(),
        lease_ms: 2000,
        clock_scale: Some(1.25),
    };
    let stage = Stage::set(Script { welcome: Box::new(welcome), ..Script::default() });
    let brief = stage.brief(&house_brief("connect-five", &BOTS));
    let worker = stage.worker(|_| {});
    stage.publish(&job(&brief, "one", 0..1));
    until("the report", || stage.reports().len() == 1);
    let (digest, packed) = stage.reports()[0].matches[0].games[0].clone();
    let (record, _) = agon_core::record::read(&packed.unwrap(), 1).unwrap();
    assert_eq!((record.clock_scale, record.digest.0), (Some(1.25), digest));
    assert_eq!(digest, at_home("connect-five", BOTS, 1000));
    worker.leave();
}

/// Has records that do not fit into a message.
struct Large;
impl MatchBackend for Large {
    fn play<'p>(
        &self,
        bout: &MatchRunner<'_>,
        key: MatchKey,
        members: &[(Entrant, &LoadedEntrant)],
        seed: u64,
        recorder: &'p mut Recorder,
        reporter: Option<&'p mut (dyn Reporter + 'p)>,
    ) -> Result<FinishedMatch, PlayError> {
        let mut finished = RealBackend.play(bout, key, members, seed, recorder, reporter)?;
        finished.games[0].record = Some(vec![7; 1_200_000]);
        Ok(finished)
    }
}

#[test]
fn a_large_report_comes_in_pieces() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let stage = Stage::set(Script::default());
    let brief = stage.brief(&house_brief("connect-five", &BOTS));
    let worker = stage.worker(|options| options.backend = Arc::new(Large));
    stage.publish(&job(&brief, "one", 0..1));
    until("the report", || stage.reports().len() == 1);
    assert_eq!(stage.script.pieces.load(SeqCst), 3);
    assert_eq!(stage.reports()[0].matches[0].games[0].1.as_ref().unwrap().len(), 1_200_000);
    worker.leave();
}

#[test]
fn bots_without_the_sandbox_are_played_only_where_that_is_allowed() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let stage = Stage::set(Script::default());
    let mut brief = house_brief("connect-five", &BOTS);
    brief.sandbox = false;
    let hash_of = |text: &str| hash(text.as_bytes());
    brief.entrants[0].bot = PhaseBot::Program {
        hash: hash_of("x"),
        spec: "./x".to_owned(),
        files: hash_of("x"),
        extra_file: None,
    };
    let brief = stage.brief(&brief);
    let worker = stage.worker(|_| {});
    stage.publish(&job(&brief, "one", 0..1));
    until("it says so", || worker.has_said("start this worker with --allow-unguarded"));
    worker.leave();
    // Where it is allowed it goes on, as far as it gets: the files are not there.
    let allow = |options: &mut WorkerOptions| options.allow_unsandboxed = true;
    let worker = stage.worker(allow);
    until("it asks for the files", || {
        stage.troubles().iter().any(|one| one.kind == JobErrorKind::Missing { hash: hash_of("x") })
    });
    worker.leave();
}
