//! A run ends when everything was looked at, not before, and it does end.
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
use scripted::fixture::{Ground, MATCHES, pause, some};
use scripted::{Hand, lies, link, options};

/// Puts a job into the queue that is nobody's.
async fn put(link: &NatsConnection, cup: &str, job: &Job) {
    let sent = link.jetstream().publish(subjects::work(cup), encode(job).unwrap().into()).await;
    sent.unwrap().await.unwrap();
}

#[test]
fn what_nobody_takes_does_not_hide_what_is_lost() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let ground = Ground::new(options());
    let script = async {
        let hand = ground.hand("one").await;
        let lost = some(&hand).await;
        // What a second look leaves behind that was given up: it is for others than everybody who is there.
        let own = link(&ground.nats, "coordinator").await;
        for number in 0..3 {
            let (id, not) = (format!("given-up-{number}"), vec!["one".to_owned()]);
            put(
                &own,
                ground.fleet.competition_id(),
                &Job { id, excluded_workers: not, max_deliveries: 1000, ..lost.job.clone() },
            )
            .await;
        }
        // Not said in any report.
        lost.message.double_ack().await.unwrap();
        hand.work().await;
    };
    let (ended, ..) = ground.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    ground.is_right();
}

#[test]
fn a_stage_that_was_played_is_not_over_before_it_was_looked_at() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let checked = || CoordinatorOptions { cross_check_share: 1.0, ..options() };
    let ground = Ground::new(checked());
    let stop = StopFlag::new();
    let script = async {
        // All of it; who could tell is there, and takes its time.
        let (liar, _other) = tokio::join!(ground.hand("liar"), ground.hand("other"));
        let all = async {
            while ground.ledger.counts(0).await.unwrap().matches < MATCHES {
                pause(20).await;
            }
        };
        tokio::select! {
            () = lies(&liar, u32::MAX) => {}
            () = all => {}
        }
        stop.request();
    };
    let (ended, told, _) = ground.led().while_playing(&stop, script);
    assert_eq!((ended, told.matches), (Ok(RunOutcome::Stopped), MATCHES));

    let ground = ground.coordinated_anew(checked());
    let work = async |name: &str| ground.hand(name).await.work().await;
    let script = async {
        // Longer than a look that nobody can do is waited for while somebody is there.
        pause(6500).await;
        tokio::join!(work("one"), work("two"))
    };
    let (ended, told, _) = ground.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    let barred: Vec<&str> = told.barred.iter().map(|(worker, _)| worker.as_str()).collect();
    assert_eq!(barred, ["liar"]);
    // The match of its first strike may have been replaced by itself before.
    assert!((MATCHES - 1..=MATCHES).contains(&told.barred[0].1), "{:?}", told.barred);
    assert_eq!(ground.runtime.block_on(ground.ledger.matches_played_by(0, "liar")).unwrap(), []);
    ground.is_right();
}

/// nats-server, killed when its queue is empty, may remember how far a consumer was and count the stream from 1 again.
#[test]
fn a_queue_that_fell_behind_its_consumer_is_made_anew() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let mut ground = Ground::new(options());
    let mut nats = std::mem::replace(&mut ground.nats, Nats::start());
    let script = async {
        let hand = Hand::join(&nats, "one", ground.fleet.competition_id()).await;
        let own = link(&nats, "coordinator").await;
        let first = some(&hand).await;
        // Further than what is left of the competition will count.
        for number in 0..40 {
            put(
                &own,
                ground.fleet.competition_id(),
                &Job { id: format!("long-ago-{number}"), ..first.job.clone() },
            )
            .await;
        }
        for _ in 0..40 {
            some(&hand).await.message.double_ack().await.unwrap();
        }
        // How far the consumer is gets to the disk a moment later.
        tokio::time::sleep(Duration::from_secs(1)).await;
        nats.kill();
        let messages = nats.folder().join("store/jetstream/$G/streams/AGON_WORK/msgs");
        std::fs::remove_dir_all(&messages).unwrap();
        std::fs::create_dir(&messages).unwrap();
        nats.again();
        hand.work().await;
    };
    let (ended, ..) = ground.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    ground.is_right();
}

#[test]
fn what_a_report_leaves_out_is_handed_out_again() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let (ground, left_out) = (Ground::new(options()), AtomicUsize::new(0));
    let script = async {
        let leave_out = |matches: &mut Vec<_>| {
            left_out.fetch_add(matches.len() - 1, Ordering::Relaxed);
            matches.truncate(1);
        };
        ground.hand("one").await.work_with(&leave_out).await;
    };
    let (ended, told, _) = ground.led().while_playing(&StopFlag::new(), script);
    assert_eq!((ended, told.matches), (Ok(RunOutcome::Finished), MATCHES));
    assert!(left_out.into_inner() > 0, "every job had one match only");
    ground.is_right();
}
