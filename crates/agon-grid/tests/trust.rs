//! Workers that come to different ends: which of them counts, and what people are told.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod harness;
mod scripted;

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex};
use std::time::{Duration, Instant};

use agon_core::outcome::Outcome;
use agon_core::record::{self, Digest, Recorder};
use agon_engine::Reporter;
use agon_engine::any_game::PlayError;
use agon_grid::messages::match_report::MatchReport;
use agon_grid::messages::{JoinResponse, ReportAck};
use agon_grid::worker::{MatchBackend, RealBackend, WorkerOptions};
use agon_grid::{CoordinatorOptions, DisputedMatch};
use agon_league::{Entrant, FixedPoint, MatchKey};
use agon_runner::{LoadedEntrant, MatchRunner, RunOutcome, StopFlag};
use agon_store::{FinishedMatch, Ledger as _};
use harness::Hired;
use scripted::fixture::{Ground, MATCHES, pause, some};
use scripted::{hello, lies, link, options, say_hello};
use serde_json::json;
use sha2::{Digest as _, Sha256};

/// Everything is looked at.
fn all() -> CoordinatorOptions {
    CoordinatorOptions { cross_check_share: 1.0, ..options() }
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < agon_test_servers::WAIT_TIMEOUT, "waited in vain: {what}");
        pause(10).await;
    }
}

#[test]
fn what_two_differ_in_waits_for_a_third_and_the_majority_counts() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    // The lease is long: what the liar holds stays with it, however slow the machine is.
    let ground = Ground::new(CoordinatorOptions { lease: Duration::from_mins(5), ..all() });
    let script = async {
        let (liar, one) = (ground.hand("liar").await, ground.hand("one").await);
        lies(&liar, 1).await;
        // Something is left to wait for, for longer than a comparison that nobody can do.
        let held = some(&liar).await;
        let later = async {
            until("they do not differ", || ground.fleet.stats().disagreed == 1).await;
            pause(6000).await;
            assert_eq!(ground.fleet.stats().disputed, 0);
            // The third worker joins while something is left to wait for: once the last match is kept and checked, the coordinator may
            // settle the dispute without it.
            let third = ground.hand("third").await;
            assert_eq!(liar.do_job(held, &|_| {}).await, Some(ReportAck::Stored));
            tokio::join!(liar.work(), third.work())
        };
        tokio::join!(one.work(), later)
    };
    let (ended, told, _) = ground.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    // Jobs come in any order: which match it lied about is for the fleet to say.
    let [(number, who)] = &told.outvoted[..] else { panic!("{:?}", told.outvoted) };
    assert_eq!((who.as_str(), told.disputed), ("liar", Vec::new()));
    assert_eq!(told.barred, [], "once is not enough");
    ground.is_right();
    assert_ne!(ground.witness(*number), "liar", "what two others came to is there");
}

#[test]
fn a_match_that_nobody_can_decide_stays_and_people_are_told() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let ground = Ground::new(all());
    let script = async {
        let (liar, one) = (ground.hand("liar").await, ground.hand("one").await);
        lies(&liar, 1).await;
        tokio::join!(liar.work(), one.work())
    };
    let (ended, told, _) = ground.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    let workers = vec!["liar".to_owned(), "one".to_owned()];
    let [(number, two)] = &told.disputed[..] else { panic!("{:?}", told.disputed) };
    assert_eq!((two, told.barred), (&workers, Vec::new()));
    let disputed = ground.fleet.disputed();
    assert!(
        matches!(&disputed[..], [DisputedMatch { key, workers: two }] if key.number == *number && *two == workers)
    );
    let figures = ground.fleet.stats();
    assert_eq!((figures.disputed, figures.unchecked, figures.checked), (1, 0, MATCHES - 1), "{figures:?}");
    assert_eq!(ground.played(), MATCHES);
    assert_eq!(ground.witness(*number), "liar", "what came first counts");
}

/// A record that says somebody else has won, as a careful liar would write it: its digest is right, and so is the result that goes with it.
fn forge(one: &mut MatchReport) {
    let (_, bytes) = one.games[0].clone();
    let (told, _) = record::read(&bytes.unwrap(), 1).unwrap();
    let mut outcome: Outcome = told.outcome.clone();
    for (seat, said) in outcome.seats.iter_mut().zip(&mut one.result.games[0].seats) {
        seat.score += 1.0;
        said.score = FixedPoint::from_f64(seat.score);
    }
    let (_, bytes) = one.games[0].clone();
    let text = String::from_utf8(zstd::decode_all(&bytes.unwrap()[..]).unwrap()).unwrap();
    let (before, rest) = text.split_at(text.find("{\"end\"").unwrap());
    let mut lines = before.to_owned();
    lines += &format!("{}\n", json!({"end": {"turns": told.turns.len(), "outcome": outcome}}));
    let digest = Digest(Sha256::digest(lines.as_bytes()).into());
    for line in rest.lines().skip(1).filter(|line| !line.starts_with("{\"digest\"")) {
        lines += &format!("{line}\n");
    }
    lines += &format!("{}\n", json!({"digest": digest.to_string()}));
    let mut packed = zstd::encode_all(lines.as_bytes(), 3).unwrap();
    let seal = Sha256::digest(&packed);
    packed.extend(0x184D_2A50_u32.to_le_bytes());
    packed.extend(36_u32.to_le_bytes());
    packed.extend(b"AGON");
    packed.extend(seal);
    one.games[0] = (digest.0, Some(packed.into()));
}

#[test]
fn a_record_that_the_rules_do_not_come_to_bars_its_worker() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let ground = Ground::new(all());
    let script = async {
        let liar = ground.hand("liar").await;
        let task = some(&liar).await;
        assert_eq!(liar.do_job(task, &|_| {}).await, Some(ReportAck::Stored));
        let task = some(&liar).await;
        // It agrees with itself, so it is taken, whatever the receipt; then it is replayed.
        let _ = liar.do_job(task, &|matches: &mut Vec<MatchReport>| forge(&mut matches[0])).await;
        until("it is not barred", || ground.fleet.stats().banned == 1).await;
        tokio::join!(async { ground.hand("one").await.work().await }, async {
            ground.hand("two").await.work().await;
        })
    };
    let (ended, told, _) = ground.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    assert_eq!(told.barred.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["liar"]);
    ground.is_right();
    let barred = ground.runtime.block_on(ground.ledger.banned_workers()).unwrap();
    assert!(barred[0].reason.contains("the record of game 1"), "{barred:?}");
}

#[test]
fn two_that_are_found_out_at_once_are_both_barred() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let ground = Ground::new(options());
    let script = async {
        let (ann, bob) = (ground.hand("ann").await, ground.hand("bob").await);
        for hand in [&ann, &bob] {
            let task = some(hand).await;
            assert_eq!(hand.do_job(task, &|_| {}).await, Some(ReportAck::Stored));
        }
        let wrong = |matches: &mut Vec<MatchReport>| {
            matches[0].result.games[0].seats[0].score = FixedPoint::from_f64(99.0);
        };
        let (first, second) = (some(&ann).await, some(&bob).await);
        let receipts = tokio::join!(ann.do_job(first, &wrong), bob.do_job(second, &wrong));
        assert!(matches!(receipts, (Some(ReportAck::Refused { .. }), Some(ReportAck::Refused { .. }))));
        ground.hand("one").await.work().await;
    };
    let (ended, told, _) = ground.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    let mut names: Vec<String> = told.barred.into_iter().map(|(name, _)| name).collect();
    names.sort();
    assert_eq!(names, ["ann", "bob"]);
    assert!(ground.runtime.block_on(ground.ledger.matches_played_by(0, "bob")).unwrap().is_empty());
    ground.is_right();
}

#[test]
fn a_server_that_is_away_for_long_is_told_of_once() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let mut ground =
        Ground::new(CoordinatorOptions { disconnect_notice_after: Duration::from_millis(1500), ..options() });
    let mut nats = std::mem::replace(&mut ground.nats, agon_test_servers::Nats::start());
    let said = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&said);
    ground.fleet.set_message_sink(move |words| hears.lock().unwrap().push(words.to_owned()));
    let heard = |words: &str| said.lock().unwrap().iter().filter(|one| one.contains(words)).count();
    nats.kill();
    ground.runtime.block_on(until("nobody says so", || heard("no connection to the NATS server") == 1));
    nats.again();
    ground.runtime.block_on(until("nobody says so", || heard("reconnected to NATS") == 1));
    assert_eq!(heard("no connection to the NATS server"), 1);
}

#[test]
fn clocks_follow_the_speed_that_a_worker_says_it_has() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let scale_of = |ground: &Ground, name: &str, speed: f64| {
        ground.runtime.block_on(async {
            let mut hello = hello(name, "1");
            hello.speed = speed;
            let welcome =
                say_hello(&link(&ground.nats, name).await, ground.fleet.competition_id(), &hello).await;
            let JoinResponse::Accepted { clock_scale: scale, .. } = welcome else { panic!("{welcome:?}") };
            scale
        })
    };
    let plain = Ground::new(options());
    assert_eq!(scale_of(&plain, "slow", 0.5), None, "off unless told otherwise");
    let scaled = Ground::new(CoordinatorOptions { scale_clocks: true, ..options() });
    let (slow, even) = (scale_of(&scaled, "slow", 0.5).unwrap(), scale_of(&scaled, "even", 1.0).unwrap());
    assert!(even > 0.0 && (slow / even - 2.0).abs() < 1e-9, "{slow} and {even}");
    // Nonsense is taken for a usual machine.
    let odd = scale_of(&scaled, "odd", f64::NAN).unwrap();
    assert!((odd - even).abs() < 1e-9);
}

/// Plays by the rules; before its first match it waits until the other worker has one, too.
struct Together {
    both: Arc<Barrier>,
    has_met: AtomicBool,
}

impl MatchBackend for Together {
    fn play<'p>(
        &self,
        bout: &MatchRunner<'_>,
        key: MatchKey,
        members: &[(Entrant, &LoadedEntrant)],
        seed: u64,
        recorder: &'p mut Recorder,
        reporter: Option<&'p mut (dyn Reporter + 'p)>,
    ) -> Result<FinishedMatch, PlayError> {
        if !self.has_met.swap(true, SeqCst) {
            self.both.wait();
        }
        RealBackend.play(bout, key, members, seed, recorder, reporter)
    }
}

#[test]
fn scaled_clocks_are_in_the_records_and_change_no_result() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let ground = Ground::new(CoordinatorOptions { scale_clocks: true, ..all() });
    let both = Arc::new(Barrier::new(2));
    let worker = |name: &str, speed: f64| {
        let cache = ground.cup.folder.path().join(name);
        let new = WorkerOptions::new(name.to_owned());
        let hands = Arc::new(Together { both: Arc::clone(&both), has_met: AtomicBool::new(false) });
        let options = WorkerOptions {
            cores: 1,
            pin_cores: false,
            cache_folder: cache,
            speed: Some(speed),
            backend: hands,
            ..new
        };
        Hired::start(&ground.nats.url(), options)
    };
    let workers = [worker("slow", 0.25), worker("fast", 1.0)];
    // Both are there before the first match, so that neither has it all to itself.
    agon_test_servers::wait_until("both take part", || workers.iter().all(|one| one.has_said(": joined")));
    let (ended, ..) = ground.led().while_playing(&StopFlag::new(), std::future::pending::<()>());
    assert_eq!(ended, Ok(RunOutcome::Finished));
    ground.is_right();
    let figures = ground.fleet.stats();
    assert_eq!((figures.checked, figures.disagreed), (MATCHES, 0), "{figures:?}");
    let scales = |name: &str| -> Vec<f64> {
        ground.runtime.block_on(async {
            let mut scales = Vec::new();
            for key in ground.ledger.matches_played_by(0, name).await.unwrap() {
                let bytes = ground.ledger.record(key, 0).await.unwrap().unwrap();
                scales.push(record::read(&bytes, 1).unwrap().0.clock_scale.unwrap());
            }
            scales
        })
    };
    let (slow, fast) = (scales("slow"), scales("fast"));
    assert!(!slow.is_empty() && !fast.is_empty(), "{} and {}", slow.len(), fast.len());
    for scale in slow {
        assert!((scale / fast[0] - 4.0).abs() < 1e-6, "{scale} and {}", fast[0]);
    }
    for worker in workers {
        worker.leave();
    }
}
