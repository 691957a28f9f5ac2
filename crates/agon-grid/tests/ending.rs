//! End of a run: it ends when all results are checked, not before, and it always ends.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod scripted;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agon_grid::messages::{Job, encode};
use agon_grid::subjects;
use agon_grid::{CoordinatorOptions, NatsConnection};
use agon_runner::{RunOutcome, StopFlag};
use agon_store::Ledger as _;
use agon_test_servers::Nats;
use scripted::fixture::{Fixture, MATCHES, pause, some};
use scripted::{ScriptedWorker, lies, link, options};

/// Publishes a job that no worker may take.
async fn put(link: &NatsConnection, competition: &str, job: &Job) {
    let sent = link.jetstream().publish(subjects::work(competition), encode(job).unwrap().into()).await;
    sent.unwrap().await.unwrap();
}

#[test]
fn job_that_no_worker_may_take_does_not_hide_a_lost_job() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let fixture = Fixture::new(options());
    let script = async {
        let hand = fixture.hand("one").await;
        let lost = some(&hand).await;
        // The leftover of an abandoned cross-check: it excludes all workers.
        let own = link(&fixture.nats, "coordinator").await;
        for number in 0..3 {
            let (id, not) = (format!("given-up-{number}"), vec!["one".to_owned()]);
            put(
                &own,
                fixture.fleet.competition_id(),
                &Job { id, excluded_workers: not, max_deliveries: 1000, ..lost.job.clone() },
            )
            .await;
        }
        // The job is acked without a report.
        lost.message.double_ack().await.unwrap();
        hand.work().await;
    };
    let (ended, ..) = fixture.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    fixture.check_result();
}

#[test]
fn stage_does_not_end_before_its_cross_checks() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let checked = || CoordinatorOptions { cross_check_share: 1.0, ..options() };
    let fixture = Fixture::new(checked());
    let stop = StopFlag::new();
    let script = async {
        // The liar plays everything. The other worker could check it, but waits.
        let (liar, _other) = tokio::join!(fixture.hand("liar"), fixture.hand("other"));
        let all = async {
            while fixture.ledger.counts(0).await.unwrap().matches < MATCHES {
                pause(20).await;
            }
        };
        tokio::select! {
            () = lies(&liar, u32::MAX) => {}
            () = all => {}
        }
        stop.request();
    };
    let (ended, told, _) = fixture.led().while_playing(&stop, script);
    assert_eq!((ended, told.matches), (Ok(RunOutcome::Stopped), MATCHES));

    let fixture = fixture.restart_coordinator(checked());
    let work = async |name: &str| fixture.hand(name).await.work().await;
    let script = async {
        // Longer than the timeout of a check without a second worker, although there is one.
        pause(6500).await;
        tokio::join!(work("one"), work("two"))
    };
    let (ended, told, _) = fixture.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    let barred: Vec<&str> = told.barred.iter().map(|(worker, _)| worker.as_str()).collect();
    assert_eq!(barred, ["liar"]);
    // The liar may have replaced the match of its first strike itself.
    assert!((MATCHES - 1..=MATCHES).contains(&told.barred[0].1), "{:?}", told.barred);
    assert_eq!(fixture.runtime.block_on(fixture.ledger.matches_played_by(0, "liar")).unwrap(), []);
    fixture.check_result();
}

/// A nats-server that is killed with an empty queue may remember the position of a consumer and count the stream from 1 again.
#[test]
fn queue_behind_its_consumer_is_recreated() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let mut fixture = Fixture::new(options());
    let mut nats = std::mem::replace(&mut fixture.nats, Nats::start());
    let script = async {
        let hand = ScriptedWorker::join(&nats, "one", fixture.fleet.competition_id()).await;
        let own = link(&nats, "coordinator").await;
        let first = some(&hand).await;
        // More messages than the rest of the competition will have.
        for number in 0..40 {
            put(
                &own,
                fixture.fleet.competition_id(),
                &Job { id: format!("long-ago-{number}"), ..first.job.clone() },
            )
            .await;
        }
        for _ in 0..40 {
            some(&hand).await.message.double_ack().await.unwrap();
        }
        // The position of the consumer is written to disk a moment later.
        tokio::time::sleep(Duration::from_secs(1)).await;
        nats.kill();
        let messages = nats.folder().join("store/jetstream/$G/streams/AGON_WORK/msgs");
        std::fs::remove_dir_all(&messages).unwrap();
        std::fs::create_dir(&messages).unwrap();
        nats.restart();
        hand.work().await;
    };
    let (ended, ..) = fixture.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    fixture.check_result();
}

#[test]
fn match_missing_in_a_report_is_published_again() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let (fixture, left_out) = (Fixture::new(options()), AtomicUsize::new(0));
    let script = async {
        let leave_out = |matches: &mut Vec<_>| {
            left_out.fetch_add(matches.len() - 1, Ordering::Relaxed);
            matches.truncate(1);
        };
        fixture.hand("one").await.work_with(&leave_out).await;
    };
    let (ended, told, _) = fixture.led().while_playing(&StopFlag::new(), script);
    assert_eq!((ended, told.matches), (Ok(RunOutcome::Finished), MATCHES));
    assert!(left_out.into_inner() > 0, "every job had only one match");
    fixture.check_result();
}
