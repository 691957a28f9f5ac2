//! Workers that cannot play: refused before they take a job, slowed down when their jobs fail, and reported to the organiser.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod harness;
mod scripted;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_core::record::Recorder;
use agon_engine::Reporter;
use agon_engine::any_game::PlayError;
use agon_grid::blobs::Blobs;
use agon_grid::messages::{JobErrorKind, JoinResponse, RenewalRequest, encode};
use agon_grid::subjects::{self, BLOB_STREAM};
use agon_grid::worker::MatchBackend;
use agon_grid::worker_directory::WorkerStatus;
use agon_grid::{CoordinatorOptions, WorkerDirectory};
use agon_league::{Entrant, MatchKey};
use agon_runner::{LoadedEntrant, MatchRunner, RunOutcome, StopFlag};
use agon_store::FinishedMatch;
use agon_test_servers::wait_until as until;
use async_nats::jetstream::stream::Config;
use harness::{Harness, Script, house_brief, job};
use scripted::fixture::{Fixture, pause, some};
use scripted::{hello, link, options, say_hello};

const NO_PROGRAM: &str = "no-such-program-7";

/// A backend that fails at every match.
struct Broken;

impl MatchBackend for Broken {
    fn play<'p>(
        &self,
        _: &MatchRunner<'_>,
        _: MatchKey,
        _: &[(Entrant, &LoadedEntrant)],
        _: u64,
        _: &'p mut Recorder,
        _: Option<&'p mut (dyn Reporter + 'p)>,
    ) -> Result<FinishedMatch, PlayError> {
        Err(PlayError::Io(std::io::Error::other("this machine is broken")))
    }
}

#[test]
fn worker_that_lacks_a_program_is_refused_with_the_reason() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let fixture = Fixture::new(options());
    let response = fixture.runtime.block_on(async {
        let mut request = hello("w1", "1");
        request.missing = vec![("python".to_owned(), "no Python to run the bot with".to_owned())];
        say_hello(&link(&fixture.nats, "w1").await, fixture.fleet.competition_id(), &request).await
    });
    let JoinResponse::Refused { why } = response else { panic!("{response:?}") };
    assert!(why.contains("python: no Python to run the bot with") && why.contains("install"), "{why}");
}

#[test]
fn worker_tells_which_programs_it_lacks_when_it_joins() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let harness = Harness::set(Script {
        needs: vec!["sh".to_owned(), NO_PROGRAM.to_owned()],
        welcome: Box::new(|hello| match &hello.missing[..] {
            [(name, why)] if name == NO_PROGRAM => JoinResponse::Refused { why: why.clone() },
            other => panic!("{other:?}"),
        }),
        ..Script::default()
    });
    let roster = harness.roster();
    let worker = harness.worker(|_| {});
    until("the worker is listed as refused, with the reason", || {
        roster.workers().iter().any(|one| {
            one.status == WorkerStatus::Refused
                && one.heartbeat.refused.iter().any(|(_, why)| why.contains(NO_PROGRAM))
        })
    });
    worker.leave();
}

#[test]
fn worker_that_lacks_a_program_of_the_phase_gives_its_job_back_and_leaves() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let harness = Harness::set(Script::default());
    let mut brief = house_brief("connect-five", &["tactician", "random"]);
    brief.needs = vec![NO_PROGRAM.to_owned()];
    let brief = harness.brief(&brief);
    let roster = harness.roster();
    let worker = harness.worker(|_| {});
    harness.publish(&job(&brief, "one", 0..1));
    until("the job comes back", || harness.troubles().len() == 1);
    assert_eq!(harness.troubles()[0].kind, JobErrorKind::Unfit);
    assert!(harness.troubles()[0].message.contains(NO_PROGRAM), "{:?}", harness.troubles());
    until("the worker is listed as refused", || {
        roster.workers().iter().any(|one| one.status == WorkerStatus::Refused)
    });
    assert_eq!((harness.queued(), harness.troubles().len()), (1, 1), "another worker may take the job");
    worker.leave();
}

#[test]
fn worker_whose_jobs_fail_waits_longer_each_time_and_says_why() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let harness = Harness::set(Script::default());
    let brief = harness.brief(&house_brief("connect-five", &["tactician", "random"]));
    let roster = harness.roster();
    let worker = harness.worker(|options| options.backend = Arc::new(Broken));
    let mut task = job(&brief, "one", 0..1);
    task.max_deliveries = 100;
    harness.publish(&task);
    let failing = || roster.workers().into_iter().find_map(|one| Some((one.status, one.heartbeat.failing?)));
    until("it waits for more than a second", || {
        failing().is_some_and(|(status, failing)| {
            status == WorkerStatus::Failing && failing.failures >= 4 && failing.retry_ms > 1_000
        })
    });
    let (_, failing) = failing().unwrap();
    assert!(failing.why.contains("this machine is broken"), "{failing:?}");
    worker.leave();
}

#[test]
fn worker_whose_jobs_all_fail_is_reported_to_the_organiser() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let fixture = Fixture::new(CoordinatorOptions { lease: Duration::from_mins(5), ..options() });
    let said = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&said);
    fixture.fleet.set_message_sink(move |words| hears.lock().unwrap().push(words.to_owned()));
    let script = async {
        let broken = fixture.hand("broken").await;
        for _ in 0..3 {
            let task = some(&broken).await;
            broken.trouble(&task.job, JobErrorKind::Failed, "no Python\nmore").await;
            task.message.ack_with(async_nats::jetstream::AckKind::Nak(None)).await.unwrap();
        }
        fixture.hand("one").await.work().await;
    };
    let (ended, ..) = fixture.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    let said = said.lock().unwrap();
    let told: Vec<&String> = said.iter().filter(|one| one.contains("worker broken fails")).collect();
    assert!(
        told.len() == 1 && told[0].contains("3 in a row") && told[0].ends_with(": no Python"),
        "{said:?}"
    );
}

#[test]
fn lease_of_a_job_that_is_held_for_long_is_renewed_by_the_coordinator() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let fixture = Fixture::new(options());
    let script = async {
        let (slow, other) = (fixture.hand("slow").await, fixture.hand("other").await);
        let held = some(&slow).await;
        let request = RenewalRequest {
            protocol: 1,
            worker: "slow".to_owned(),
            job: held.job.id.clone(),
            ack: held.message.reply.clone().unwrap().to_string(),
        };
        let subject = subjects::renewal("slow", fixture.fleet.competition_id());
        let renewing = async {
            // Longer than two leases.
            for _ in 0..12 {
                let bytes = encode(&request).unwrap();
                slow.link.client().publish(subject.clone(), bytes.into()).await.unwrap();
                pause(400).await;
            }
        };
        let taking = async {
            loop {
                if let Some(task) = other.pull().await {
                    assert_ne!(task.job.id, held.job.id, "the lease has expired");
                    other.do_job(task, &|_| {}).await;
                }
            }
        };
        tokio::select! {
            () = renewing => {}
            () = taking => {}
        }
        slow.do_job(held, &|_| {}).await;
        tokio::join!(slow.work(), other.work())
    };
    let (ended, ..) = fixture.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    fixture.check_result();
}

#[test]
fn worker_reports_an_outage_of_the_server_and_its_end() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let mut harness = Harness::set(Script::default());
    let worker = harness.worker(|_| {});
    until("the worker has joined", || worker.has_said(": joined"));
    harness.nats.kill();
    until("the outage is reported", || worker.has_said("does not answer since"));
    harness.nats.restart();
    until("its end is reported", || worker.has_said("is back after"));
    worker.leave();
}

#[test]
fn lost_worker_is_listed_by_a_program_that_never_heard_it() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let harness = Harness::set(Script::default());
    let first = harness.roster();
    harness.runtime.block_on(first.answer_queries()).unwrap();
    harness.runtime.block_on(async {
        let beat = agon_grid::messages::Heartbeat::new("w9", "1");
        let bytes = encode(&beat).unwrap();
        harness.link.client().publish(subjects::heartbeat("w9"), bytes.into()).await.unwrap();
    });
    until("it is lost", || first.workers().iter().any(|one| one.status == WorkerStatus::Lost));
    let second = harness.runtime.block_on(async {
        let second = WorkerDirectory::listen(&link(&harness.nats, "spectator").await).await.unwrap();
        second.query_lost().await.unwrap();
        second
    });
    until("it is listed as lost", || {
        second.workers().iter().any(|one| one.heartbeat.worker == "w9" && one.status == WorkerStatus::Lost)
    });
}

#[test]
fn workers_are_not_lost_while_the_server_is_away() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let mut harness = Harness::set(Script::default());
    let (roster, worker) = (harness.roster(), harness.worker(|_| {}));
    until("a heartbeat", || !roster.workers().is_empty());
    harness.nats.kill();
    until("no heartbeat for longer than a worker may be silent", || {
        roster.workers().iter().all(|one| one.age > Duration::from_secs(8))
    });
    assert!(roster.workers().iter().all(|one| one.status == WorkerStatus::Idle), "{:?}", roster.workers());
    harness.nats.restart();
    until("a heartbeat again", || roster.workers().iter().any(|one| one.age < Duration::from_secs(1)));
    assert!(roster.workers().iter().all(|one| one.status == WorkerStatus::Idle), "{:?}", roster.workers());
    worker.leave();
}

#[test]
fn stored_files_have_an_age_limit_also_in_an_old_stream() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let (nats, runtime) = (agon_test_servers::Nats::start(), scripted::runtime());
    runtime.block_on(async {
        let link = link(&nats, "coordinator").await;
        // As an earlier version created it.
        let config = Config {
            name: BLOB_STREAM.to_owned(),
            subjects: vec![subjects::ALL_BLOBS.to_owned()],
            max_messages_per_subject: 1,
            allow_direct: true,
            ..Config::default()
        };
        link.jetstream().create_stream(config).await.unwrap();
        let hash = Blobs::create(&link, 64 << 20).await.unwrap().put(b"a bot").await.unwrap();
        let found = link.jetstream().get_stream(BLOB_STREAM).await.unwrap();
        let age = found.cached_info().config.max_age;
        assert!(age > Duration::from_hours(24) && age < Duration::from_hours(60 * 24), "{age:?}");
        assert_eq!(Blobs::open(&link).await.unwrap().get(&hash).await.unwrap().unwrap(), b"a bot");
    });
}

#[test]
fn folders_of_killed_bots_are_removed_when_a_worker_starts() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let left = std::env::temp_dir().join(format!("agon-bot-left-behind-{}", std::process::id()));
    std::fs::create_dir_all(left.join("inside")).unwrap();
    let harness = Harness::set(Script::default());
    let worker = harness.worker(|_| {});
    until("the folder is removed", || !left.exists());
    worker.leave();
}
