//! The coordinator against a real nats-server, with workers that do what each test says.
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
use scripted::fixture::{Ground, MATCHES, pause, some};
use scripted::{
    Cup, Hand, LEAGUE, Led, WORDS, called, hello, lies, link, options, runtime, say_hello, tables,
};

/// Jobs in the queue, waiting or taken.
async fn held(link: &NatsConnection, cup: &str) -> u64 {
    let stream = link.jetstream().get_stream_no_info(WORK_STREAM).await.unwrap();
    let info = stream.consumer_info(cup).await.unwrap();
    info.num_pending + info.num_ack_pending as u64
}

/// Waits until so many jobs are in the queue, waiting or taken.
async fn until_held(link: &NatsConnection, cup: &str, wanted: u64) {
    let begun = Instant::now();
    while held(link, cup).await != wanted {
        assert!(
            begun.elapsed() < agon_test_servers::WAIT_TIMEOUT,
            "there are never {wanted} jobs in the queue"
        );
        pause(20).await;
    }
}

#[test]
fn rounds_and_phases_end_in_the_tables_of_one_machine() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let (nats, runtime, cup) = (Nats::start(), runtime(), Cup::new(&[LEAGUE, LEAGUE]));
    let ledger = cup.ledger(&runtime);
    let fleet = cup.fleet(&nats, &runtime, &ledger, options());
    let led = Led { cup: &cup, runtime: &runtime, ledger: &ledger, fleet: &fleet };
    let work = async |name: &str| Hand::join(&nats, name, fleet.competition_id()).await.work().await;
    let (ended, told, _) =
        led.while_playing(&StopFlag::new(), async { tokio::join!(work("one"), work("two")) });
    assert_eq!((ended, told.matches), (Ok(RunOutcome::Finished), 2 * MATCHES));
    let phases = runtime.block_on(ledger.phases()).unwrap();
    assert_eq!(tables(&phases), tables(&cup.alone(&runtime)));
}

#[test]
fn a_round_robin_ends_in_the_table_of_one_machine() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let ground = Ground::new(options());
    let work = async |name: &str| ground.hand(name).await.work().await;
    let (ended, told, _) =
        ground.led().while_playing(&StopFlag::new(), async { tokio::join!(work("one"), work("two")) });
    assert_eq!((ended, told.matches), (Ok(RunOutcome::Finished), MATCHES));
    ground.is_right();
}

#[test]
fn everybody_is_called_and_a_report_may_come_in_pieces() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let ground = Ground::new(options());
    let script = async {
        let called = called(&link(&ground.nats, "ear").await).await;
        assert_eq!(
            (called.competition_id.as_str(), called.game.as_str()),
            (ground.fleet.competition_id(), "word-racer")
        );
        let hand = ground.hand("one").await;
        loop {
            let task = some(&hand).await;
            let report = hand.report(&task.job, hand.play(&task.job).await);
            assert_eq!(hand.hand_in(&report, 300).await, Some(ReportAck::Stored));
            task.message.double_ack().await.unwrap();
        }
    };
    let (ended, ..) = ground.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    ground.is_right();
}

#[test]
fn a_receipt_means_that_it_is_in_the_ledger() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let ground = Ground::new(options());
    let script = async {
        let hand = ground.hand("one").await;
        for done in 1.. {
            let task = some(&hand).await;
            assert_eq!(task.job.matches.len(), 1, "the first jobs are one match each");
            assert_eq!(hand.do_job(task, &|_| {}).await, Some(ReportAck::Stored));
            assert_eq!(ground.ledger.counts(0).await.unwrap().matches, done);
            if done == 2 {
                break;
            }
        }
        hand.work().await;
    };
    let (ended, ..) = ground.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
}

#[test]
fn the_same_match_twice_is_kept_once() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let ground = Ground::new(options());
    let script = async {
        let (one, two) = (ground.hand("one").await, ground.hand("two").await);
        let task = some(&one).await;
        let matches = one.play(&task.job).await;
        let report = one.report(&task.job, matches.clone());
        assert_eq!(one.hand_in(&report, MAX_CHUNK_BYTES).await, Some(ReportAck::Stored));
        assert_eq!(
            one.hand_in(&report, MAX_CHUNK_BYTES).await,
            Some(ReportAck::Stored),
            "its receipt was lost"
        );
        assert_eq!(
            two.hand_in(&two.report(&task.job, matches), MAX_CHUNK_BYTES).await,
            Some(ReportAck::Stored)
        );
        task.message.double_ack().await.unwrap();
        two.work().await;
    };
    let (ended, told, _) = ground.led().while_playing(&StopFlag::new(), script);
    assert_eq!((ended, told.matches), (Ok(RunOutcome::Finished), MATCHES));
    ground.is_right();
}

#[test]
fn a_coordinator_that_starts_anew_goes_on_and_old_jobs_count() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let ground = Ground::new(options());
    let stop = StopFlag::new();
    let mut kept = None;
    let script = async {
        let hand = ground.hand("one").await;
        let task = some(&hand).await;
        assert_eq!(hand.do_job(task, &|_| {}).await, Some(ReportAck::Stored));
        let task = some(&hand).await;
        kept = Some(hand.report(&task.job, hand.play(&task.job).await));
        stop.request();
    };
    let (ended, told, _) = ground.led().while_playing(&stop, script);
    assert_eq!((ended, told.matches), (Ok(RunOutcome::Stopped), 1));
    let Ground { fleet, ledger, cup, runtime, nats } = ground;
    drop(fleet);
    let fleet = cup.fleet(&nats, &runtime, &ledger, options());
    let report = kept.unwrap();
    let number = report.matches[0].result.key.number;
    let asked_again = AtomicU64::new(0);
    let script = async {
        // Nobody knows it yet: it says hello again, then all of it.
        let link = link(&nats, "one").await;
        let stranger = Hand::new(link, "one", fleet.competition_id());
        assert_eq!(stranger.hand_in(&report, MAX_CHUNK_BYTES).await, Some(ReportAck::Resend));
        let hand = Hand::join(&nats, "one", fleet.competition_id()).await;
        assert_eq!(hand.hand_in(&report, MAX_CHUNK_BYTES).await, Some(ReportAck::Stored));
        hand.work_with(&|matches: &mut Vec<MatchReport>| {
            let same = matches.iter().filter(|one| one.result.key.number == number).count();
            asked_again.fetch_add(same as u64, Ordering::Relaxed);
        })
        .await;
    };
    let led = Led { cup: &cup, runtime: &runtime, ledger: &ledger, fleet: &fleet };
    let (ended, told, _) = led.while_playing(&StopFlag::new(), script);
    assert_eq!((ended, told.matches), (Ok(RunOutcome::Finished), MATCHES - 1));
    let ground = Ground { fleet, ledger, cup, runtime, nats };
    ground.is_right();
}

#[test]
fn a_job_whose_worker_is_gone_is_given_to_another() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let ground = Ground::new(options());
    let script = async {
        let gone = ground.hand("gone").await;
        let task = some(&gone).await;
        drop((gone, task));
        ground.hand("there").await.work().await;
    };
    let (ended, ..) = ground.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    ground.is_right();
}

#[test]
fn a_job_that_is_in_nobodys_hands_is_published_again() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let ground = Ground::new(options());
    let script = async {
        let hand = ground.hand("one").await;
        let task = some(&hand).await;
        // Not said in any report.
        task.message.double_ack().await.unwrap();
        hand.work().await;
    };
    let (ended, ..) = ground.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    ground.is_right();
}

#[test]
fn a_server_that_lost_its_storage_costs_nothing() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let mut ground = Ground::new(options());
    let mut nats = std::mem::replace(&mut ground.nats, Nats::start());
    let led = ground.led();
    let script = async {
        let hand = Hand::join(&nats, "one", ground.fleet.competition_id()).await;
        let task = some(&hand).await;
        assert_eq!(hand.do_job(task, &|_| {}).await, Some(ReportAck::Stored));
        nats.kill();
        std::fs::remove_dir_all(nats.folder().join("store")).unwrap();
        nats.again();
        hand.work().await;
    };
    let (ended, told, _) = led.while_playing(&StopFlag::new(), script);
    assert_eq!((ended, told.matches), (Ok(RunOutcome::Finished), MATCHES));
    ground.is_right();
}

/// Gives a job back when it has a match that cannot be played there; does it otherwise.
async fn fails_at(hand: &Hand, bad: u64) {
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
fn a_match_that_fails_everywhere_is_set_aside_and_the_rest_is_played() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let ground = Ground::new(CoordinatorOptions { max_deliveries: 2, ..options() });
    let script = async {
        let (one, two) = (ground.hand("one").await, ground.hand("two").await);
        tokio::join!(fails_at(&one, 7), fails_at(&two, 7))
    };
    let (ended, ..) = ground.led().while_playing(&StopFlag::new(), script);
    let error = ended.unwrap_err();
    assert!(error.starts_with("1 match is unplayable"), "{error}");
    assert!(error.contains("match 1.1.8") && error.contains("one: the disk is full"), "{error}");
    let aside = ground.fleet.unplayable();
    assert_eq!((aside.len(), aside[0].key.number, ground.played()), (1, 7, MATCHES - 1));
    assert!(aside[0].errors.contains(&"two: the disk is full".to_owned()), "{:?}", aside[0].errors);
    // Running again tries again.
    let script = async { ground.hand("three").await.work().await };
    let (ended, told, _) = ground.led().while_playing(&StopFlag::new(), script);
    assert_eq!((ended, told.matches), (Ok(RunOutcome::Finished), 1));
    ground.is_right();
}

#[test]
fn what_fails_on_one_machine_only_is_played_on_another() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let ground = Ground::new(CoordinatorOptions { max_deliveries: 2, ..options() });
    let script = async {
        let (one, two) = (ground.hand("one").await, ground.hand("two").await);
        let later = async {
            pause(1500).await;
            two.work().await;
        };
        tokio::join!(fails_at(&one, 3), later)
    };
    let (ended, ..) = ground.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    ground.is_right();
}

#[test]
fn a_liar_is_found_and_barred_and_its_matches_are_played_again() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let ground = Ground::new(CoordinatorOptions { cross_check_share: 1.0, ..options() });
    let script = async {
        let (liar, one, two) = tokio::join!(ground.hand("liar"), ground.hand("one"), ground.hand("two"));
        // Two lies before the others begin, or they may have played everything before it lies twice.
        lies(&liar, 2).await;
        tokio::join!(lies(&liar, u32::MAX), one.work(), two.work())
    };
    let (ended, told, _) = ground.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    assert_eq!(told.barred.len(), 1);
    assert!(told.barred[0].0 == "liar" && told.matches > MATCHES, "{:?}", told.barred);
    let figures = ground.fleet.stats();
    assert!(figures.disagreed >= 2 && figures.banned == 1 && figures.checked > 0, "{figures:?}");
    ground.is_right();
    let barred = ground.runtime.block_on(ground.ledger.banned_workers()).unwrap();
    assert!(barred[0].worker == "liar" && barred[0].reason.contains("two other workers"), "{barred:?}");
}

#[test]
fn lies_from_before_a_restart_are_found_after_it() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let ground = Ground::new(CoordinatorOptions { cross_check_share: 0.0, ..options() });
    let stop = StopFlag::new();
    let script = async {
        let liar = ground.hand("liar").await;
        lies(&liar, 3).await;
        stop.request();
    };
    let (ended, ..) = ground.led().while_playing(&stop, script);
    assert_eq!(ended, Ok(RunOutcome::Stopped));
    let Ground { fleet, ledger, cup, runtime, nats } = ground;
    drop(fleet);
    let fleet =
        cup.fleet(&nats, &runtime, &ledger, CoordinatorOptions { cross_check_share: 1.0, ..options() });
    let ground = Ground { fleet, ledger, cup, runtime, nats };
    let work = async |name: &str| ground.hand(name).await.work().await;
    let (ended, told, _) =
        ground.led().while_playing(&StopFlag::new(), async { tokio::join!(work("one"), work("two")) });
    assert_eq!(ended, Ok(RunOutcome::Finished));
    assert_eq!(told.barred.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["liar"]);
    ground.is_right();
}

#[test]
fn a_result_that_is_not_its_records_bars_at_once() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let ground = Ground::new(options());
    let script = async {
        let (liar, one) = (ground.hand("liar").await, ground.hand("one").await);
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
    let (ended, told, _) = ground.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    assert_eq!(told.barred, [("liar".to_owned(), 1)]);
    ground.is_right();
}

/// What is changed in a report.
type Change = fn(&mut Vec<MatchReport>);

#[test]
fn a_match_that_nobody_asked_for_is_not_believed() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let changes: [(&str, Change); 3] = [
        ("results for 0 games", |matches| matches[0].games.clear()),
        ("wrong entrants at the seats", |matches| matches[0].result.games[0].seats.swap(0, 1)),
        ("has no record", |matches| matches[0].games[0].1 = None),
    ];
    let ground = Ground::new(options());
    let script = async {
        for (number, (words, change)) in changes.iter().enumerate() {
            let hand = ground.hand(&format!("w{number}")).await;
            let task = some(&hand).await;
            let receipt = hand.do_job(task, change).await;
            let Some(ReportAck::Refused { why }) = receipt else { panic!("{words}: {receipt:?}") };
            let close = why.contains(words) || why.contains("differs from its record");
            assert!(close, "{why}");
        }
        ground.hand("honest").await.work().await;
    };
    let (ended, told, _) = ground.led().while_playing(&StopFlag::new(), script);
    assert_eq!((ended, told.barred.len()), (Ok(RunOutcome::Finished), 3));
    ground.is_right();
}

#[test]
fn checks_that_nobody_can_do_are_given_up_and_counted() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let ground = Ground::new(CoordinatorOptions { cross_check_share: 1.0, ..options() });
    let script = async { ground.hand("alone").await.work().await };
    let (ended, ..) = ground.led().while_playing(&StopFlag::new(), script);
    assert_eq!((ended, ground.fleet.unchecked()), (Ok(RunOutcome::Finished), MATCHES));
    ground.is_right();
}

#[test]
fn who_does_not_fit_is_told_why() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let ground = Ground::new(options());
    let cup = ground.fleet.competition_id();
    ground.runtime.block_on(async {
        let link = link(&ground.nats, "any").await;
        let refused = async |change: &dyn Fn(&mut agon_grid::messages::JoinRequest), words: &str| {
            let mut hello = hello("any", "1");
            change(&mut hello);
            let welcome = say_hello(&link, cup, &hello).await;
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
        // A name belongs to who beats by it.
        let owner = ground.hand("any").await;
        refused(&|hello| hello.session = "2".to_owned(), "a worker named any is already connected").await;
        // It starts anew after a crash: nobody beats by its name any more.
        drop(owner);
        let welcome = say_hello(&link, cup, &hello("any", "2")).await;
        assert!(matches!(welcome, JoinResponse::Accepted { .. }), "{welcome:?}");
    });
}

#[test]
fn who_lacks_layers_of_the_sandbox_is_told_which() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let (nats, runtime) = (Nats::start(), runtime());
    let bots = ["house:random".to_owned(), "python3 nobody.py".to_owned()];
    let cup = Cup::of("connect-five", &[LEAGUE], &bots);
    let ledger = cup.ledger(&runtime);
    let fleet = cup.fleet(&nats, &runtime, &ledger, options());
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
fn the_queue_holds_no_more_than_some_seconds_of_work() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let (nats, runtime) = (Nats::start(), runtime());
    let cup = Cup::words(&WORDS.replace("legs = 2", "legs = 12"));
    let ledger = cup.ledger(&runtime);
    let fleet = cup.fleet(&nats, &runtime, &ledger, options());
    let led = Led { cup: &cup, runtime: &runtime, ledger: &ledger, fleet: &fleet };
    let script = async {
        let eye = link(&nats, "eye").await;
        let look = async |bound: u64| {
            let held = held(&eye, fleet.competition_id()).await;
            assert!(held <= bound, "{held} jobs, at most {bound}");
        };
        // Nobody is there.
        until_held(&eye, fleet.competition_id(), 2).await;
        pause(500).await;
        look(2).await;
        let hand = Hand::join(&nats, "slow", fleet.competition_id()).await;
        for number in 0..30 {
            let task = some(&hand).await;
            let mut report = hand.report(&task.job, hand.play(&task.job).await);
            report.duration_us = 1_000_000 * report.matches.len() as u64;
            assert_eq!(hand.hand_in(&report, MAX_CHUNK_BYTES).await, Some(ReportAck::Stored));
            task.message.double_ack().await.unwrap();
            // One is played, four seconds of work wait.
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
fn a_stop_empties_the_queue_and_waits_for_what_is_played() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let ground = Ground::new(options());
    let stop = StopFlag::new();
    let script = async {
        let hand = ground.hand("one").await;
        let task = some(&hand).await;
        let eye = link(&ground.nats, "eye").await;
        stop.request();
        // What it plays is taken out of the queue as well, and waited for.
        until_held(&eye, ground.fleet.competition_id(), 0).await;
        assert_eq!(hand.do_job(task, &|_| {}).await, Some(ReportAck::Stored));
        eye
    };
    let (ended, told, eye) = ground.led().while_playing(&stop, script);
    assert_eq!((ended, told.matches), (Ok(RunOutcome::Stopped), 1));
    if let Some(eye) = eye {
        assert_eq!(ground.runtime.block_on(held(&eye, ground.fleet.competition_id())), 0);
    }
}

#[test]
fn jobs_for_others_do_not_become_poison() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let ground = Ground::new(CoordinatorOptions { cross_check_share: 1.0, max_deliveries: 1, ..options() });
    let script = async {
        let one = ground.hand("one").await;
        let working = one.work();
        let two = async {
            pause(2500).await;
            ground.hand("two").await.work().await;
        };
        tokio::join!(working, two)
    };
    let (ended, ..) = ground.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    ground.is_right();
}
