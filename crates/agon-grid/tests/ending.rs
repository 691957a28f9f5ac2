//! A run ends when everything was looked at, not before, and it does end.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod scripted;

use std::time::Duration;

use agon_grid::subjects;
use agon_grid::wire::{Job, encode};
use agon_grid::{FleetOptions, Link};
use agon_rig::Nats;
use agon_runner::{Ended, Stop};
use agon_store::Ledger as _;
use scripted::{Cup, Hand, Led, WORDS, lies, link, options, runtime, tables};

/// Matches of a league of four that meet twice.
const MATCHES: u64 = 12;

/// Puts a job into the queue that is nobody's.
async fn put(link: &Link, cup: &str, job: &Job) {
    let sent = link.jetstream().publish(subjects::work(cup), encode(job).unwrap().into()).await;
    sent.unwrap().await.unwrap();
}

#[test]
fn what_nobody_takes_does_not_hide_what_is_lost() {
    if agon_rig::missing() {
        return;
    }
    let (nats, runtime, cup) = (Nats::start(), runtime(), Cup::words(WORDS));
    let ledger = cup.ledger(&runtime);
    let fleet = cup.fleet(&nats, &runtime, &ledger, options());
    let led = Led { cup: &cup, runtime: &runtime, ledger: &ledger, fleet: &fleet };
    let script = async {
        let hand = Hand::join(&nats, "one", fleet.cup()).await;
        let lost = loop {
            if let Some(task) = hand.pull().await {
                break task;
            }
        };
        // What a second look leaves behind that was given up: it is for others than everybody who is there.
        let own = link(&nats, "coordinator").await;
        for number in 0..3 {
            let (id, not) = (format!("given-up-{number}"), vec!["one".to_owned()]);
            put(&own, fleet.cup(), &Job { id, not, tries: 1000, ..lost.job.clone() }).await;
        }
        // Not said in any report.
        lost.message.double_ack().await.unwrap();
        hand.work().await;
    };
    let (ended, ..) = led.while_playing(&Stop::new(), script);
    assert_eq!(ended, Ok(Ended::Over));
    let phases = runtime.block_on(ledger.phases()).unwrap();
    assert_eq!(tables(&phases), tables(&cup.alone(&runtime)));
}

#[test]
fn a_stage_that_was_played_is_not_over_before_it_was_looked_at() {
    if agon_rig::missing() {
        return;
    }
    let (nats, runtime, cup) = (Nats::start(), runtime(), Cup::words(WORDS));
    let ledger = cup.ledger(&runtime);
    let checked = || FleetOptions { checked: 1.0, ..options() };
    let fleet = cup.fleet(&nats, &runtime, &ledger, checked());
    let led = Led { cup: &cup, runtime: &runtime, ledger: &ledger, fleet: &fleet };
    let stop = Stop::new();
    let script = async {
        // All of it; who could tell is there, and takes its time.
        let (liar, _other) =
            tokio::join!(Hand::join(&nats, "liar", fleet.cup()), Hand::join(&nats, "other", fleet.cup()));
        let all = async {
            while ledger.counts(0).await.unwrap().matches < MATCHES {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::select! {
            () = lies(&liar, u32::MAX) => {}
            () = all => {}
        }
        stop.ask();
    };
    let (ended, told, _) = led.while_playing(&stop, script);
    assert_eq!((ended, told.matches), (Ok(Ended::Stopped), MATCHES));
    drop(fleet);

    let fleet = cup.fleet(&nats, &runtime, &ledger, checked());
    let led = Led { cup: &cup, runtime: &runtime, ledger: &ledger, fleet: &fleet };
    let work = async |name: &str| Hand::join(&nats, name, fleet.cup()).await.work().await;
    let script = async {
        // Longer than a look that nobody can do is waited for while somebody is there.
        tokio::time::sleep(Duration::from_millis(6500)).await;
        tokio::join!(work("one"), work("two"))
    };
    let (ended, told, _) = led.while_playing(&Stop::new(), script);
    assert_eq!(ended, Ok(Ended::Over));
    let barred: Vec<&str> = told.barred.iter().map(|(worker, _)| worker.as_str()).collect();
    assert_eq!(barred, ["liar"]);
    // The match of its first strike may have been replaced by itself before.
    assert!((MATCHES - 1..=MATCHES).contains(&told.barred[0].1), "{:?}", told.barred);
    assert_eq!(runtime.block_on(ledger.played_by(0, "liar")).unwrap(), []);
    let phases = runtime.block_on(ledger.phases()).unwrap();
    assert_eq!(tables(&phases), tables(&cup.alone(&runtime)));
}

/// nats-server, killed when its queue is empty, may remember how far a consumer was and count the stream from 1 again.
#[test]
fn a_queue_that_fell_behind_its_consumer_is_made_anew() {
    if agon_rig::missing() {
        return;
    }
    let (mut nats, runtime, cup) = (Nats::start(), runtime(), Cup::words(WORDS));
    let ledger = cup.ledger(&runtime);
    let fleet = cup.fleet(&nats, &runtime, &ledger, options());
    let led = Led { cup: &cup, runtime: &runtime, ledger: &ledger, fleet: &fleet };
    let script = async {
        let hand = Hand::join(&nats, "one", fleet.cup()).await;
        let own = link(&nats, "coordinator").await;
        let first = loop {
            if let Some(task) = hand.pull().await {
                break task;
            }
        };
        // Further than what is left of the competition will count.
        for number in 0..40 {
            put(&own, fleet.cup(), &Job { id: format!("long-ago-{number}"), ..first.job.clone() }).await;
        }
        let mut taken = 1;
        while taken <= 40 {
            let Some(task) = hand.pull().await else { continue };
            task.message.double_ack().await.unwrap();
            taken += 1;
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
    let (ended, ..) = led.while_playing(&Stop::new(), script);
    assert_eq!(ended, Ok(Ended::Over));
    let phases = runtime.block_on(ledger.phases()).unwrap();
    assert_eq!(tables(&phases), tables(&cup.alone(&runtime)));
}

#[test]
fn what_a_report_leaves_out_is_handed_out_again() {
    if agon_rig::missing() {
        return;
    }
    let (nats, runtime, cup) = (Nats::start(), runtime(), Cup::words(WORDS));
    let ledger = cup.ledger(&runtime);
    let fleet = cup.fleet(&nats, &runtime, &ledger, options());
    let led = Led { cup: &cup, runtime: &runtime, ledger: &ledger, fleet: &fleet };
    let left_out = std::sync::atomic::AtomicUsize::new(0);
    let script = async {
        let hand = Hand::join(&nats, "one", fleet.cup()).await;
        hand.work_with(&|matches| {
            left_out.fetch_add(matches.len() - 1, std::sync::atomic::Ordering::Relaxed);
            matches.truncate(1);
        })
        .await;
    };
    let (ended, told, _) = led.while_playing(&Stop::new(), script);
    assert_eq!((ended, told.matches), (Ok(Ended::Over), MATCHES));
    assert!(left_out.into_inner() > 0, "every job had one match only");
    let phases = runtime.block_on(ledger.phases()).unwrap();
    assert_eq!(tables(&phases), tables(&cup.alone(&runtime)));
}
