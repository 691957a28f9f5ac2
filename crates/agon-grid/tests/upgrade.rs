//! A rolling upgrade: machines get a new version of Agon one after the other, and the competition continues.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod harness;
mod scripted;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use agon_competition::LoadedCompetition;
use agon_core::record::Recorder;
use agon_engine::Reporter;
use agon_engine::any_game::PlayError;
use agon_grid::CoordinatorOptions;
use agon_grid::WorkerDirectory;
use agon_grid::worker::{MatchBackend, RealBackend, WorkerCapabilities, WorkerOptions};
use agon_grid::worker_directory::WorkerStatus;
use agon_league::{Entrant, MatchKey};
use agon_runner::{LoadedEntrant, MatchRunner, RunOutcome, StopFlag};
use agon_store::{ConfigVersion, FinishedMatch, Ledger as _, NewLedger, SecretSeed, SqliteLedger, Timestamp};
use agon_test_servers::Nats;
use agon_test_servers::wait_until as until;
use harness::{RunningWorker, older};
use scripted::{CoordinatedRun, TestCompetition, WORDS, link, options, runtime, tables};

/// The version before the upgrade.
const OLD: &str = "0.0.1";
/// Matches of a league of four entrants that meet thirty times.
const MATCHES: u64 = 180;

/// A ledger that was created by this version of Agon.
async fn begun_by(loaded: &LoadedCompetition, path: &Path, engine: &str) -> SqliteLedger {
    let (competition, info) = (&loaded.competition, loaded.table.info());
    let founding = NewLedger {
        name: competition.name.clone(),
        game: info.id.to_owned(),
        rules: info.rules_version,
        engine: engine.to_owned(),
        config: ConfigVersion {
            text: loaded.text.clone(),
            normalised: competition.normalised().to_string(),
            at: Timestamp::now(),
        },
        phases: 1,
        secret: SecretSeed::new("for tests"),
    };
    SqliteLedger::create(path, &founding).await.unwrap()
}

fn worker(
    nats: &Nats,
    competition: &TestCompetition,
    name: &str,
    identity: WorkerCapabilities,
    hands: Arc<dyn MatchBackend>,
) -> RunningWorker {
    let cache = competition.folder.path().join(format!("cache-{name}"));
    let new = WorkerOptions::new(name.to_owned());
    let options = WorkerOptions {
        cores: 1,
        pin_cores: false,
        cache_folder: cache,
        capabilities: identity,
        speed: Some(1.0),
        backend: hands,
        ..new
    };
    RunningWorker::start(&nats.url(), options)
}

/// A backend that plays a few matches, and the next one only after the stop request, so that the league does not finish earlier.
struct UntilStopped {
    matches: AtomicU32,
    stop: Arc<StopFlag>,
}

impl MatchBackend for UntilStopped {
    fn play<'p>(
        &self,
        runner: &MatchRunner<'_>,
        key: MatchKey,
        members: &[(Entrant, &LoadedEntrant)],
        seed: u64,
        recorder: &'p mut Recorder,
        reporter: Option<&'p mut (dyn Reporter + 'p)>,
    ) -> Result<FinishedMatch, PlayError> {
        if self.matches.fetch_add(1, SeqCst) >= 5 {
            until("the stop is requested", || self.stop.is_requested());
        }
        RealBackend.play(runner, key, members, seed, recorder, reporter)
    }
}

#[test]
fn newer_coordinator_resumes_and_rejects_older_workers_with_the_reason() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let (nats, runtime, competition) =
        (Nats::start(), runtime(), TestCompetition::words(&WORDS.replace("= 2", "= 30")));
    let ledger =
        runtime.block_on(begun_by(&competition.loaded, &competition.folder.path().join("old.ledger"), OLD));
    let stop = Arc::new(StopFlag::new());
    let few = Arc::new(UntilStopped { matches: AtomicU32::new(0), stop: Arc::clone(&stop) });
    let old = worker(&nats, &competition, "old", older(), few);
    let late = worker(&nats, &competition, "late", WorkerCapabilities::detect(), Arc::new(RealBackend));

    // Everything has the old version except one worker that was upgraded too early.
    let quick = CoordinatorOptions { target_job_duration: std::time::Duration::from_millis(20), ..options() };
    let fleet = competition.fleet(
        &nats,
        &runtime,
        &ledger,
        CoordinatorOptions { engine: OLD.to_owned(), ..quick.clone() },
    );
    let led = CoordinatedRun { competition: &competition, runtime: &runtime, ledger: &ledger, fleet: &fleet };
    until("both workers have a response", || old.has_said(": joined") && late.has_said("refused"));
    let script = async {
        while ledger.counts(0).await.unwrap().matches == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        stop.request();
    };
    let (ended, ..) = led.while_playing(&stop, script);
    assert_eq!(ended, Ok(RunOutcome::Stopped));
    drop(fleet);
    let before = runtime.block_on(ledger.matches_played_by(0, "old")).unwrap();
    assert!(!before.is_empty() && (before.len() as u64) < MATCHES, "{}", before.len());
    assert_eq!(runtime.block_on(ledger.matches_played_by(0, "late")).unwrap(), []);

    // The coordinator is upgraded while only the old worker is connected.
    let fleet = competition.fleet(&nats, &runtime, &ledger, quick);
    let roster =
        runtime.block_on(async { WorkerDirectory::listen(&link(&nats, "eye").await).await.unwrap() });
    let led = CoordinatedRun { competition: &competition, runtime: &runtime, ledger: &ledger, fleet: &fleet };
    let (ended, told, _) = led.while_playing(&StopFlag::new(), std::future::pending::<()>());
    assert_eq!(
        (ended, told.matches),
        (Ok(RunOutcome::Finished), MATCHES - before.len() as u64),
        "no match is played again"
    );
    until("the old worker prints the reason", || old.has_said("this worker is Agon 0.0.1"));
    assert!(old.has_said("hint: install Agon"));
    let refused = || {
        let of_old = |one: &agon_grid::worker_directory::WorkerInfo| {
            one.heartbeat.worker == "old" && one.status == WorkerStatus::Refused
        };
        roster.workers().into_iter().find(of_old)
    };
    until("the rejection is visible", || refused().is_some());
    assert!(refused().unwrap().heartbeat.refused[0].1.contains("Agon 0.0.1"));

    // No match is lost or duplicated, and the table is that of one machine.
    assert_eq!(runtime.block_on(ledger.matches_played_by(0, "old")).unwrap(), before);
    let late = runtime.block_on(ledger.matches_played_by(0, "late")).unwrap().len();
    assert_eq!((before.len() + late) as u64, MATCHES);
    assert_eq!(tables(&runtime.block_on(ledger.phases()).unwrap()), tables(&competition.alone(&runtime)));
    assert_eq!(runtime.block_on(ledger.check()).unwrap(), Vec::<String>::new());
}
