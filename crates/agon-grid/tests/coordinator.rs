//! The coordinator with a real nats-server and scripted workers.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod scripted;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use agon_grid::messages::match_report::MatchReport;
use agon_grid::messages::{JobErrorKind, JoinResponse, MAX_CHUNK_BYTES, ReportAck};
use agon_grid::subjects::WORK_STREAM;
use agon_grid::{CoordinatorOptions, NatsConnection};
use agon_league::FixedPoint;
use agon_runner::{RunOutcome, StopFlag};
use agon_store::Ledger as _;
use agon_test_servers::Nats;
use async_nats::jetstream::AckKind;
use scripted::fixture::{Fixture, MATCHES, pause, some};
use scripted::{
    CoordinatedRun, LEAGUE, ScriptedWorker, TestCompetition, WORDS, called, hello, lies, link, options,
    runtime, say_hello, tables,
};

/// Number of jobs in the queue, waiting or leased.
async fn held(link: &NatsConnection, competition: &str) -> u64 {
    let stream = link.jetstream().get_stream_no_info(WORK_STREAM).await.unwrap();
    let info = stream.consumer_info(competition).await.unwrap();
    info.num_pending + info.num_ack_pending as u64
}

/// Waits until the queue has this number of jobs, waiting or leased.
async fn until_held(link: &NatsConnection, competition: &str, wanted: u64) {
    let begun = Instant::now();
    while held(link, competition).await != wanted {
        assert!(begun.elapsed() < agon_test_servers::WAIT_TIMEOUT, "the queue never has {wanted} jobs");
        pause(20).await;
    }
}

#[test]
fn competition_with_several_phases_gives_the_tables_of_a_local_run() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let (nats, runtime, competition) = (Nats::start(), runtime(), TestCompetition::new(&[LEAGUE, LEAGUE]));
    let ledger = competition.ledger(&runtime);
    let fleet = competition.fleet(&nats, &runtime, &ledger, options());
    let led = CoordinatedRun { competition: &competition, runtime: &runtime, ledger: &ledger, fleet: &fleet };
    let work =
        async |name: &str| ScriptedWorker::join(&nats, name, fleet.competition_id()).await.work().await;
    let (ended, told, _) =
        led.while_playing(&StopFlag::new(), async { tokio::join!(work("one"), work("two")) });
    assert_eq!((ended, told.matches), (Ok(RunOutcome::Finished), 2 * MATCHES));
    let phases = runtime.block_on(ledger.phases()).unwrap();
    assert_eq!(tables(&phases), tables(&competition.alone(&runtime)));
}

#[test]
fn round_robin_gives_the_table_of_a_local_run() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let fixture = Fixture::new(options());
    let work = async |name: &str| fixture.hand(name).await.work().await;
    let (ended, told, _) =
        fixture.led().while_playing(&StopFlag::new(), async { tokio::join!(work("one"), work("two")) });
    assert_eq!((ended, told.matches), (Ok(RunOutcome::Finished), MATCHES));
    fixture.check_result();
}

#[test]
fn competition_is_announced_and_chunked_report_is_accepted() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let fixture = Fixture::new(options());
    let script = async {
        let called = called(&link(&fixture.nats, "ear").await).await;
        assert_eq!(
            (called.competition_id.as_str(), called.game.as_str()),
            (fixture.fleet.competition_id(), "word-racer")
        );
        let hand = fixture.hand("one").await;
        loop {
            let task = some(&hand).await;
            let report = hand.report(&task.job, hand.play(&task.job).await);
            assert_eq!(hand.send_report(&report, 300).await, Some(ReportAck::Stored));
            task.message.double_ack().await.unwrap();
        }
    };
    let (ended, ..) = fixture.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    fixture.check_result();
}

#[test]
fn acknowledged_report_is_in_the_ledger() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let fixture = Fixture::new(options());
    let script = async {
        let hand = fixture.hand("one").await;
        for done in 1.. {
            let task = some(&hand).await;
            assert_eq!(task.job.matches.len(), 1, "the first jobs have one match each");
            assert_eq!(hand.do_job(task, &|_| {}).await, Some(ReportAck::Stored));
            assert_eq!(fixture.ledger.counts(0).await.unwrap().matches, done);
            if done == 2 {
                break;
            }
        }
        hand.work().await;
    };
    let (ended, ..) = fixture.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
}

#[test]
fn match_reported_twice_is_stored_once() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let fixture = Fixture::new(options());
    let script = async {
        let (one, two) = (fixture.hand("one").await, fixture.hand("two").await);
        let task = some(&one).await;
        let matches = one.play(&task.job).await;
        let report = one.report(&task.job, matches.clone());
        assert_eq!(one.send_report(&report, MAX_CHUNK_BYTES).await, Some(ReportAck::Stored));
        assert_eq!(
            one.send_report(&report, MAX_CHUNK_BYTES).await,
            Some(ReportAck::Stored),
            "the acknowledgement was lost"
        );
        assert_eq!(
            two.send_report(&two.report(&task.job, matches), MAX_CHUNK_BYTES).await,
            Some(ReportAck::Stored)
        );
        task.message.double_ack().await.unwrap();
        two.work().await;
    };
    let (ended, told, _) = fixture.led().while_playing(&StopFlag::new(), script);
    assert_eq!((ended, told.matches), (Ok(RunOutcome::Finished), MATCHES));
    fixture.check_result();
}

#[test]
fn restarted_coordinator_resumes_and_accepts_old_jobs() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let fixture = Fixture::new(options());
    let stop = StopFlag::new();
    let mut kept = None;
    let script = async {
        let hand = fixture.hand("one").await;
        let task = some(&hand).await;
        assert_eq!(hand.do_job(task, &|_| {}).await, Some(ReportAck::Stored));
        let task = some(&hand).await;
        kept = Some(hand.report(&task.job, hand.play(&task.job).await));
        stop.request();
    };
    let (ended, told, _) = fixture.led().while_playing(&stop, script);
    assert_eq!((ended, told.matches), (Ok(RunOutcome::Stopped), 1));
    let Fixture { fleet, ledger, competition, runtime, nats } = fixture;
    drop(fleet);
    let fleet = competition.fleet(&nats, &runtime, &ledger, options());
    let report = kept.unwrap();
    let number = report.matches[0].result.key.number;
    let asked_again = AtomicU64::new(0);
    let script = async {
        // The new coordinator does not know the worker: it joins again and resends its report.
        let link = link(&nats, "one").await;
        let stranger = ScriptedWorker::new(link, "one", fleet.competition_id());
        assert_eq!(stranger.send_report(&report, MAX_CHUNK_BYTES).await, Some(ReportAck::Resend));
        let hand = ScriptedWorker::join(&nats, "one", fleet.competition_id()).await;
        assert_eq!(hand.send_report(&report, MAX_CHUNK_BYTES).await, Some(ReportAck::Stored));
        hand.work_with(&|matches: &mut Vec<MatchReport>| {
            let same = matches.iter().filter(|one| one.result.key.number == number).count();
            asked_again.fetch_add(same as u64, Ordering::Relaxed);
        })
        .await;
    };
    let led = CoordinatedRun { competition: &competition, runtime: &runtime, ledger: &ledger, fleet: &fleet };
    let (ended, told, _) = led.while_playing(&StopFlag::new(), script);
    assert_eq!((ended, told.matches), (Ok(RunOutcome::Finished), MATCHES - 1));
    let fixture = Fixture { fleet, ledger, competition, runtime, nats };
    fixture.check_result();
}

#[test]
fn job_of_a_lost_worker_is_given_to_another() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let fixture = Fixture::new(options());
    let script = async {
        let gone = fixture.hand("gone").await;
        let task = some(&gone).await;
        drop((gone, task));
        fixture.hand("there").await.work().await;
    };
    let (ended, ..) = fixture.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    fixture.check_result();
}

#[test]
fn job_that_is_in_no_queue_is_published_again() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let fixture = Fixture::new(options());
    let script = async {
        let hand = fixture.hand("one").await;
        let task = some(&hand).await;
        // The job is acked without a report.
        task.message.double_ack().await.unwrap();
        hand.work().await;
    };
    let (ended, ..) = fixture.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    fixture.check_result();
}

#[test]
fn server_that_lost_its_storage_causes_no_loss() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let mut fixture = Fixture::new(options());
    let mut nats = std::mem::replace(&mut fixture.nats, Nats::start());
    let led = fixture.led();
    let script = async {
        let hand = ScriptedWorker::join(&nats, "one", fixture.fleet.competition_id()).await;
        let task = some(&hand).await;
        assert_eq!(hand.do_job(task, &|_| {}).await, Some(ReportAck::Stored));
        nats.kill();
        std::fs::remove_dir_all(nats.folder().join("store")).unwrap();
        nats.restart();
        hand.work().await;
    };
    let (ended, told, _) = led.while_playing(&StopFlag::new(), script);
    assert_eq!((ended, told.matches), (Ok(RunOutcome::Finished), MATCHES));
    fixture.check_result();
}

/// Fails a job that contains match `bad`, and plays any other job.
async fn fails_at(hand: &ScriptedWorker, bad: u64) {
    loop {
        let task = some(hand).await;
        if task.job.matches.iter().all(|one| one.number != bad) {
            assert_eq!(hand.do_job(task, &|_| {}).await, Some(ReportAck::Stored));
            continue;
        }
        let deliveries = task.message.info().unwrap().delivered as u64;
        if deliveries > u64::from(task.job.max_deliveries) {
            let poison = JobErrorKind::Poison { deliveries };
            assert_eq!(hand.trouble(&task.job, poison, "too often").await, ReportAck::Stored);
            task.message.ack_with(AckKind::Term).await.unwrap();
        } else {
            let says = "the disk is full";
            assert_eq!(hand.trouble(&task.job, JobErrorKind::Failed, says).await, ReportAck::Stored);
            task.message.ack_with(AckKind::Nak(None)).await.unwrap();
        }
    }
}

#[test]
fn match_that_fails_everywhere_is_unplayable_and_the_rest_is_played() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let fixture = Fixture::new(CoordinatorOptions { max_deliveries: 2, ..options() });
    let script = async {
        let (one, two) = (fixture.hand("one").await, fixture.hand("two").await);
        tokio::join!(fails_at(&one, 7), fails_at(&two, 7))
    };
    let (ended, ..) = fixture.led().while_playing(&StopFlag::new(), script);
    let error = ended.unwrap_err();
    assert!(error.starts_with("1 match is unplayable"), "{error}");
    assert!(error.contains("match 1.1.8") && error.contains("one: the disk is full"), "{error}");
    let aside = fixture.fleet.unplayable();
    assert_eq!((aside.len(), aside[0].key.number, fixture.played()), (1, 7, MATCHES - 1));
    assert!(aside[0].errors.contains(&"two: the disk is full".to_owned()), "{:?}", aside[0].errors);
    // A new run retries the match.
    let script = async { fixture.hand("three").await.work().await };
    let (ended, told, _) = fixture.led().while_playing(&StopFlag::new(), script);
    assert_eq!((ended, told.matches), (Ok(RunOutcome::Finished), 1));
    fixture.check_result();
}

#[test]
fn match_that_fails_on_one_worker_is_played_by_another() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let fixture = Fixture::new(CoordinatorOptions { max_deliveries: 2, ..options() });
    let script = async {
        let (one, two) = (fixture.hand("one").await, fixture.hand("two").await);
        let later = async {
            pause(1500).await;
            two.work().await;
        };
        tokio::join!(fails_at(&one, 3), later)
    };
    let (ended, ..) = fixture.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    fixture.check_result();
}

#[test]
fn lying_worker_is_banned_and_its_matches_are_played_again() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let fixture = Fixture::new(CoordinatorOptions { cross_check_share: 1.0, ..options() });
    let script = async {
        let (liar, one, two) = tokio::join!(fixture.hand("liar"), fixture.hand("one"), fixture.hand("two"));
        // Two lies before the others start; otherwise they may have played everything before the second lie.
        lies(&liar, 2).await;
        tokio::join!(lies(&liar, u32::MAX), one.work(), two.work())
    };
    let (ended, told, _) = fixture.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    assert_eq!(told.barred.len(), 1);
    assert!(told.barred[0].0 == "liar" && told.matches > MATCHES, "{:?}", told.barred);
    let figures = fixture.fleet.stats();
    assert!(figures.disagreed >= 2 && figures.banned == 1 && figures.checked > 0, "{figures:?}");
    fixture.check_result();
    let barred = fixture.runtime.block_on(fixture.ledger.banned_workers()).unwrap();
    assert!(barred[0].worker == "liar" && barred[0].reason.contains("two other workers"), "{barred:?}");
}

#[test]
fn lies_before_a_restart_are_found_after_it() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let fixture = Fixture::new(CoordinatorOptions { cross_check_share: 0.0, ..options() });
    let stop = StopFlag::new();
    let script = async {
        let liar = fixture.hand("liar").await;
        lies(&liar, 3).await;
        stop.request();
    };
    let (ended, ..) = fixture.led().while_playing(&stop, script);
    assert_eq!(ended, Ok(RunOutcome::Stopped));
    let Fixture { fleet, ledger, competition, runtime, nats } = fixture;
    drop(fleet);
    let fleet = competition.fleet(
        &nats,
        &runtime,
        &ledger,
        CoordinatorOptions { cross_check_share: 1.0, ..options() },
    );
    let fixture = Fixture { fleet, ledger, competition, runtime, nats };
    let work = async |name: &str| fixture.hand(name).await.work().await;
    let (ended, told, _) =
        fixture.led().while_playing(&StopFlag::new(), async { tokio::join!(work("one"), work("two")) });
    assert_eq!(ended, Ok(RunOutcome::Finished));
    assert_eq!(told.barred.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["liar"]);
    fixture.check_result();
}

#[test]
fn result_that_differs_from_its_record_bans_the_worker_at_once() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let fixture = Fixture::new(options());
    let script = async {
        let (liar, one) = (fixture.hand("liar").await, fixture.hand("one").await);
        let task = some(&liar).await;
        let receipt = liar.do_job(task, &|_| {}).await;
        assert_eq!(receipt, Some(ReportAck::Stored));
        let task = some(&liar).await;
        let change = |matches: &mut Vec<MatchReport>| {
            let seats = &mut matches[0].result.games[0].seats;
            seats[0].score = FixedPoint::from_f64(99.0);
        };
        let receipt = liar.do_job(task, &change).await;
        let Some(ReportAck::Refused { why }) = receipt else { panic!("{receipt:?}") };
        assert!(why.contains("differs from its record"), "{why}");
        one.work().await;
    };
    let (ended, told, _) = fixture.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    assert_eq!(told.barred, [("liar".to_owned(), 1)]);
    fixture.check_result();
}

/// Change of a report.
type Change = fn(&mut Vec<MatchReport>);

#[test]
fn report_that_does_not_match_its_job_is_rejected() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let changes: [(&str, Change); 3] = [
        ("results for 0 games", |matches| matches[0].games.clear()),
        ("wrong entrants at the seats", |matches| matches[0].result.games[0].seats.swap(0, 1)),
        ("has no record", |matches| matches[0].games[0].1 = None),
    ];
    let fixture = Fixture::new(options());
    let script = async {
        for (number, (words, change)) in changes.iter().enumerate() {
            let hand = fixture.hand(&format!("w{number}")).await;
            let task = some(&hand).await;
            let receipt = hand.do_job(task, change).await;
            let Some(ReportAck::Refused { why }) = receipt else { panic!("{words}: {receipt:?}") };
            let close = why.contains(words) || why.contains("differs from its record");
            assert!(close, "{why}");
        }
        fixture.hand("honest").await.work().await;
    };
    let (ended, told, _) = fixture.led().while_playing(&StopFlag::new(), script);
    assert_eq!((ended, told.barred.len()), (Ok(RunOutcome::Finished), 3));
    fixture.check_result();
}

#[test]
fn checks_without_a_second_worker_are_abandoned_and_counted() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let fixture = Fixture::new(CoordinatorOptions { cross_check_share: 1.0, ..options() });
    let script = async { fixture.hand("alone").await.work().await };
    let (ended, ..) = fixture.led().while_playing(&StopFlag::new(), script);
    assert_eq!((ended, fixture.fleet.unchecked()), (Ok(RunOutcome::Finished), MATCHES));
    fixture.check_result();
}

#[test]
fn unsuitable_worker_is_rejected_with_the_reason() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let fixture = Fixture::new(options());
    let competition = fixture.fleet.competition_id();
    fixture.runtime.block_on(async {
        let link = link(&fixture.nats, "any").await;
        let refused = async |change: &dyn Fn(&mut agon_grid::messages::JoinRequest), words: &str| {
            let mut hello = hello("any", "1");
            change(&mut hello);
            let welcome = say_hello(&link, competition, &hello).await;
            let JoinResponse::Refused { why } = welcome else { panic!("{words}: {welcome:?}") };
            assert!(why.contains(words) && why.contains("hint: "), "{why}");
        };
        refused(&|hello| hello.engine = "0.0.1".to_owned(), "this worker is Agon 0.0.1").await;
        refused(&|hello| hello.protocol = 2, "protocol 2, wanted 1").await;
        let newer = |hello: &mut agon_grid::messages::JoinRequest| {
            hello.rules = [("word-racer".to_owned(), 99)].into();
        };
        refused(&newer, "has version 99").await;
        refused(&|hello| hello.rules.clear(), "does not know the game").await;
        // A name belongs to the worker that sends heartbeats with it.
        let owner = fixture.hand("any").await;
        refused(&|hello| hello.session = "2".to_owned(), "a worker named any is already connected").await;
        // The worker restarts after a crash: no heartbeats with its name arrive any more.
        drop(owner);
        let welcome = say_hello(&link, competition, &hello("any", "2")).await;
        assert!(matches!(welcome, JoinResponse::Accepted { .. }), "{welcome:?}");
    });
}

#[test]
fn worker_without_sandbox_layers_is_rejected_with_their_names() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let (nats, runtime) = (Nats::start(), runtime());
    let bots = ["house:random".to_owned(), "python3 missing.py".to_owned()];
    let competition = TestCompetition::of("connect-five", &[LEAGUE], &bots);
    let ledger = competition.ledger(&runtime);
    let fleet = competition.fleet(&nats, &runtime, &ledger, options());
    runtime.block_on(async {
        let link = link(&nats, "any").await;
        let mut hello = hello("any", "1");
        hello.layers = vec!["seccomp".to_owned(), "limits".to_owned(), "privileges".to_owned()];
        let welcome = say_hello(&link, fleet.competition_id(), &hello).await;
        let JoinResponse::Refused { why } = welcome else { panic!("{welcome:?}") };
        assert!(why.contains("this machine lacks landlock"), "{why}");
        hello.layers.push("landlock".to_owned());
        assert!(matches!(
            say_hello(&link, fleet.competition_id(), &hello).await,
            JoinResponse::Accepted { .. }
        ));
    });
}

#[test]
fn queue_holds_only_a_few_seconds_of_work() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let (nats, runtime) = (Nats::start(), runtime());
    let competition = TestCompetition::words(&WORDS.replace("legs = 2", "legs = 12"));
    let ledger = competition.ledger(&runtime);
    let fleet = competition.fleet(&nats, &runtime, &ledger, options());
    let led = CoordinatedRun { competition: &competition, runtime: &runtime, ledger: &ledger, fleet: &fleet };
    let script = async {
        let eye = link(&nats, "eye").await;
        let look = async |bound: u64| {
            let held = held(&eye, fleet.competition_id()).await;
            assert!(held <= bound, "{held} jobs, at most {bound}");
        };
        // No workers.
        until_held(&eye, fleet.competition_id(), 2).await;
        pause(500).await;
        look(2).await;
        let hand = ScriptedWorker::join(&nats, "slow", fleet.competition_id()).await;
        for number in 0..30 {
            let task = some(&hand).await;
            let mut report = hand.report(&task.job, hand.play(&task.job).await);
            report.duration_us = 1_000_000 * report.matches.len() as u64;
            assert_eq!(hand.send_report(&report, MAX_CHUNK_BYTES).await, Some(ReportAck::Stored));
            task.message.double_ack().await.unwrap();
            // One job is played, four seconds of work wait.
            look(5).await;
            if number == 0 {
                until_held(&eye, fleet.competition_id(), 5).await;
            }
        }
        hand.work().await;
    };
    let (ended, told, _) = led.while_playing(&StopFlag::new(), script);
    assert_eq!((ended, told.matches), (Ok(RunOutcome::Finished), 72));
}

#[test]
fn stop_empties_the_queue_and_waits_for_current_games() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let fixture = Fixture::new(options());
    let stop = StopFlag::new();
    let script = async {
        let hand = fixture.hand("one").await;
        let task = some(&hand).await;
        let eye = link(&fixture.nats, "eye").await;
        stop.request();
        // The job that is being played is removed from the queue too, and the stop waits for it.
        until_held(&eye, fixture.fleet.competition_id(), 0).await;
        assert_eq!(hand.do_job(task, &|_| {}).await, Some(ReportAck::Stored));
        eye
    };
    let (ended, told, eye) = fixture.led().while_playing(&stop, script);
    assert_eq!((ended, told.matches), (Ok(RunOutcome::Stopped), 1));
    if let Some(eye) = eye {
        assert_eq!(fixture.runtime.block_on(held(&eye, fixture.fleet.competition_id())), 0);
    }
}

#[test]
fn job_that_excludes_workers_does_not_become_poison() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let fixture = Fixture::new(CoordinatorOptions { cross_check_share: 1.0, max_deliveries: 1, ..options() });
    let script = async {
        let one = fixture.hand("one").await;
        let working = one.work();
        let two = async {
            pause(2500).await;
            fixture.hand("two").await.work().await;
        };
        tokio::join!(working, two)
    };
    let (ended, ..) = fixture.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    fixture.check_result();
}
