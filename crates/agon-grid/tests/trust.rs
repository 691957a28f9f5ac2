//! Workers with different results: which result counts, and which messages are sent.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod harness;
mod scripted;

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex};
use std::time::{Duration, Instant};

use agon_core::outcome::Outcome;
use agon_core::record::{self, Recorder};
use agon_engine::Reporter;
use agon_engine::any_game::PlayError;
use agon_grid::messages::match_report::MatchReport;
use agon_grid::messages::{Job, JoinResponse, PhaseSpec, ReportAck};
use agon_grid::worker::{MatchBackend, RealBackend, WorkerOptions};
use agon_grid::{CoordinatorOptions, DisputedMatch};
use agon_league::{Entrant, FixedPoint, MatchKey};
use agon_runner::{LoadedEntrant, MatchRunner, RunOutcome, StopFlag};
use agon_store::{FinishedMatch, Ledger as _};
use harness::RunningWorker;
use scripted::fixture::{Fixture, MATCHES, pause, some};
use scripted::{ScriptedWorker, change_record, hello, lies, link, options, say_hello};
use serde_json::json;

/// Options with a cross-check of every match.
fn all() -> CoordinatorOptions {
    CoordinatorOptions { cross_check_share: 1.0, ..options() }
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < agon_test_servers::WAIT_TIMEOUT, "timeout while waiting for: {what}");
        pause(10).await;
    }
}

#[test]
fn dispute_of_two_workers_waits_for_a_third_and_the_majority_counts() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    // A long lease, so that the liar keeps its jobs even on a slow machine.
    let fixture = Fixture::new(CoordinatorOptions { lease: Duration::from_mins(5), ..all() });
    let script = async {
        let (liar, one) = (fixture.hand("liar").await, fixture.hand("one").await);
        lies(&liar, 1).await;
        // A held job keeps the run alive for longer than the timeout of a check without a second worker.
        let held = some(&liar).await;
        let later = async {
            until("the results differ", || fixture.fleet.stats().disagreed == 1).await;
            pause(6000).await;
            assert_eq!(fixture.fleet.stats().disputed, 0);
            // The third worker joins while a job is held. After the last match is stored and checked, the coordinator may settle the
            // dispute without it.
            let third = fixture.hand("third").await;
            assert_eq!(liar.do_job(held, &|_| {}).await, Some(ReportAck::Stored));
            tokio::join!(liar.work(), third.work())
        };
        tokio::join!(one.work(), later)
    };
    let (ended, told, _) = fixture.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    // Jobs come in any order, so only the coordinator knows which match was falsified.
    let [(number, who)] = &told.outvoted[..] else { panic!("{:?}", told.outvoted) };
    assert_eq!((who.as_str(), told.disputed), ("liar", Vec::new()));
    assert_eq!(told.barred, [], "one wrong result does not ban");
    fixture.check_result();
    assert_ne!(fixture.stored_worker(*number), "liar", "the result of the two others counts");
}

#[test]
fn dispute_without_a_majority_keeps_the_first_result_and_is_reported() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let fixture = Fixture::new(all());
    let script = async {
        let (liar, one) = (fixture.hand("liar").await, fixture.hand("one").await);
        lies(&liar, 1).await;
        tokio::join!(liar.work(), one.work())
    };
    let (ended, told, _) = fixture.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    let workers = vec!["liar".to_owned(), "one".to_owned()];
    let [(number, two)] = &told.disputed[..] else { panic!("{:?}", told.disputed) };
    assert_eq!((two, told.barred), (&workers, Vec::new()));
    let disputed = fixture.fleet.disputed();
    assert!(
        matches!(&disputed[..], [DisputedMatch { key, workers: two }] if key.number == *number && *two == workers)
    );
    let figures = fixture.fleet.stats();
    assert_eq!((figures.disputed, figures.unchecked, figures.checked), (1, 0, MATCHES - 1), "{figures:?}");
    assert_eq!(fixture.played(), MATCHES);
    assert_eq!(fixture.stored_worker(*number), "liar", "the first result counts");
}

/// Forges a record with other scores, with a matching digest and a matching result.
fn forge(one: &mut MatchReport) {
    let (told, _) = record::read(one.games[0].1.as_ref().unwrap(), 1).unwrap();
    let mut outcome: Outcome = told.outcome.clone();
    for (seat, said) in outcome.seats.iter_mut().zip(&mut one.result.games[0].seats) {
        seat.score += 1.0;
        said.score = FixedPoint::from_f64(seat.score);
    }
    change_record(one, 0, |lines| {
        let (before, rest) = lines.split_at(lines.find("{\"end\"").unwrap());
        let end = json!({"end": {"turns": told.turns.len(), "outcome": outcome}});
        format!("{before}{end}\n{}", rest.split_once('\n').unwrap().1)
    });
}

/// Changes the reports of a job before they are sent.
type Falsification<'a> = dyn Fn(&ScriptedWorker, &PhaseSpec, &mut Vec<MatchReport>, &Job) + Sync + 'a;

/// Has a worker falsify its second job. Returns the reason for its ban. Without cross-checks, so that only the report itself can tell.
fn ban_reason_of(change: &Falsification<'_>) -> String {
    let fixture = Fixture::new(options());
    let script = async {
        let liar = fixture.hand("liar").await;
        let task = some(&liar).await;
        assert_eq!(liar.do_job(task, &|_| {}).await, Some(ReportAck::Stored));
        let task = some(&liar).await;
        let (job, brief) = (task.job.clone(), liar.brief(&task.job.phase_spec).await);
        let receipt = liar.do_job(task, &|matches| change(&liar, &brief, matches, &job)).await;
        assert!(matches!(receipt, Some(ReportAck::Refused { .. })), "{receipt:?}");
        until("the worker is banned", || fixture.fleet.stats().banned == 1).await;
        fixture.hand("one").await.work().await;
    };
    let (ended, told, _) = fixture.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    assert_eq!(told.barred.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["liar"]);
    fixture.check_result();
    let barred = fixture.runtime.block_on(fixture.ledger.banned_workers()).unwrap();
    barred[0].reason.clone()
}

#[test]
fn report_with_other_settings_than_asked_for_is_refused() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let why = ban_reason_of(&|_, brief, matches, job| {
        let mut other = brief.clone();
        for (name, text) in other.variants.iter_mut().flatten().flat_map(|part| &mut part.settings) {
            if name == "seconds" {
                "2".clone_into(text);
            }
        }
        matches[0] = scripted::play_one(&other, &job.matches[0]);
    });
    assert!(why.contains("game 1 was not played with the settings asked for"), "{why}");
}

#[test]
fn report_with_another_seed_is_refused() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let why = ban_reason_of(&|_, brief, matches, job| {
        let mut other = job.matches[0].clone();
        other.seed += 1;
        matches[0] = scripted::play_one(brief, &other);
    });
    assert!(why.contains("wrong seed in game 1"), "{why}");
}

#[test]
fn report_with_false_points_is_refused() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let why = ban_reason_of(&|_, _, matches, _| {
        matches[0].result.points = vec![FixedPoint::from_int(1), FixedPoint::from_int(-1)];
    });
    assert!(why.contains("its points do not follow from its games"), "{why}");
}

#[test]
fn record_that_contradicts_the_rules_is_refused_without_a_cross_check() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let why = ban_reason_of(&|_, _, matches, _| forge(&mut matches[0]));
    assert!(why.contains("the record of game 1"), "{why}");
}

#[test]
fn record_that_contradicts_the_rules_bans_its_worker() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let fixture = Fixture::new(all());
    let script = async {
        let liar = fixture.hand("liar").await;
        let task = some(&liar).await;
        assert_eq!(liar.do_job(task, &|_| {}).await, Some(ReportAck::Stored));
        let task = some(&liar).await;
        // The report is consistent, so it is stored, whatever the acknowledgement. Then it is replayed.
        let _ = liar.do_job(task, &|matches: &mut Vec<MatchReport>| forge(&mut matches[0])).await;
        until("the worker is banned", || fixture.fleet.stats().banned == 1).await;
        tokio::join!(async { fixture.hand("one").await.work().await }, async {
            fixture.hand("two").await.work().await;
        })
    };
    let (ended, told, _) = fixture.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    assert_eq!(told.barred.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["liar"]);
    fixture.check_result();
    let barred = fixture.runtime.block_on(fixture.ledger.banned_workers()).unwrap();
    assert!(barred[0].reason.contains("the record of game 1"), "{barred:?}");
}

#[test]
fn two_workers_with_wrong_results_are_both_banned() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let fixture = Fixture::new(options());
    let script = async {
        let (ann, bob) = (fixture.hand("ann").await, fixture.hand("bob").await);
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
        fixture.hand("one").await.work().await;
    };
    let (ended, told, _) = fixture.led().while_playing(&StopFlag::new(), script);
    assert_eq!(ended, Ok(RunOutcome::Finished));
    let mut names: Vec<String> = told.barred.into_iter().map(|(name, _)| name).collect();
    names.sort();
    assert_eq!(names, ["ann", "bob"]);
    assert!(fixture.runtime.block_on(fixture.ledger.matches_played_by(0, "bob")).unwrap().is_empty());
    fixture.check_result();
}

#[test]
fn long_server_outage_is_reported_once() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let mut fixture = Fixture::new(CoordinatorOptions {
        disconnect_notice_after: Duration::from_millis(1500),
        ..options()
    });
    let mut nats = std::mem::replace(&mut fixture.nats, agon_test_servers::Nats::start());
    let said = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&said);
    fixture.fleet.set_message_sink(move |words| hears.lock().unwrap().push(words.to_owned()));
    let heard = |words: &str| said.lock().unwrap().iter().filter(|one| one.contains(words)).count();
    nats.kill();
    fixture.runtime.block_on(until("the outage is reported", || heard("does not answer since") == 1));
    nats.restart();
    fixture.runtime.block_on(until("the reconnection is reported", || heard("is back after") == 1));
    assert_eq!(heard("does not answer since"), 1);
}

#[test]
fn outage_before_a_stage_begins_does_not_stop_messages_of_the_run() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let mut fixture = Fixture::new(options());
    let mut nats = std::mem::replace(&mut fixture.nats, agon_test_servers::Nats::start());
    nats.kill();
    // The files of the phase cannot be uploaded. The run shows messages of the coordinator at each tick.
    assert_eq!(fixture.led().until_first_tick(), Ok(RunOutcome::Stopped));
    nats.restart();
}

#[test]
fn clock_scale_follows_the_reported_speed_of_a_worker() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let scale_of = |fixture: &Fixture, name: &str, speed: f64| {
        fixture.runtime.block_on(async {
            let mut hello = hello(name, "1");
            hello.speed = speed;
            let welcome =
                say_hello(&link(&fixture.nats, name).await, fixture.fleet.competition_id(), &hello).await;
            let JoinResponse::Accepted { clock_scale: scale, .. } = welcome else { panic!("{welcome:?}") };
            scale
        })
    };
    let plain = Fixture::new(options());
    assert_eq!(scale_of(&plain, "slow", 0.5), None, "the default is off");
    let scaled = Fixture::new(CoordinatorOptions { scale_clocks: true, ..options() });
    let (slow, even) = (scale_of(&scaled, "slow", 0.5).unwrap(), scale_of(&scaled, "even", 1.0).unwrap());
    assert!(even > 0.0 && (slow / even - 2.0).abs() < 1e-9, "{slow} and {even}");
    // An invalid speed counts as the usual speed.
    let odd = scale_of(&scaled, "odd", f64::NAN).unwrap();
    assert!((odd - even).abs() < 1e-9);
}

/// A backend that waits before its first match until the other worker has one too.
struct Together {
    both: Arc<Barrier>,
    has_met: AtomicBool,
}

impl MatchBackend for Together {
    fn play<'p>(
        &self,
        runner: &MatchRunner<'_>,
        key: MatchKey,
        members: &[(Entrant, &LoadedEntrant)],
        seed: u64,
        recorder: &'p mut Recorder,
        reporter: Option<&'p mut (dyn Reporter + 'p)>,
    ) -> Result<FinishedMatch, PlayError> {
        if !self.has_met.swap(true, SeqCst) {
            self.both.wait();
        }
        RealBackend.play(runner, key, members, seed, recorder, reporter)
    }
}

#[test]
fn scaled_clocks_are_recorded_and_do_not_change_results() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let fixture = Fixture::new(CoordinatorOptions { scale_clocks: true, ..all() });
    let both = Arc::new(Barrier::new(2));
    let worker = |name: &str, speed: f64| {
        let cache = fixture.competition.folder.path().join(name);
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
        RunningWorker::start(&fixture.nats.url(), options)
    };
    let workers = [worker("slow", 0.25), worker("fast", 1.0)];
    // Both workers join before the first match, so that none plays everything.
    agon_test_servers::wait_until("both workers join", || workers.iter().all(|one| one.has_said(": joined")));
    let (ended, ..) = fixture.led().while_playing(&StopFlag::new(), std::future::pending::<()>());
    assert_eq!(ended, Ok(RunOutcome::Finished));
    fixture.check_result();
    let figures = fixture.fleet.stats();
    assert_eq!((figures.checked, figures.disagreed), (MATCHES, 0), "{figures:?}");
    let scales = |name: &str| -> Vec<f64> {
        fixture.runtime.block_on(async {
            let mut scales = Vec::new();
            for key in fixture.ledger.matches_played_by(0, name).await.unwrap() {
                let bytes = fixture.ledger.record(key, 0).await.unwrap().unwrap();
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
