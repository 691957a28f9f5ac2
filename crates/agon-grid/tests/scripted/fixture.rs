//! Test fixture: a server, a competition of house bots and its coordinator.

use std::time::Duration;

use agon_grid::{Coordinator, CoordinatorOptions};
use agon_store::{Ledger as _, SqliteLedger};
use agon_test_servers::Nats;
use tokio::runtime::Runtime;

use super::{CoordinatedRun, LeasedJob, ScriptedWorker, TestCompetition, WORDS, runtime, tables};

/// Matches of a league of four entrants that meet twice.
pub const MATCHES: u64 = 12;

/// A server, a competition and its coordinator.
pub struct Fixture {
    pub fleet: Coordinator,
    pub ledger: SqliteLedger,
    pub competition: TestCompetition,
    pub runtime: Runtime,
    pub nats: Nats,
}

impl Fixture {
    pub fn new(options: CoordinatorOptions) -> Self {
        let (nats, runtime, competition) = (Nats::start(), runtime(), TestCompetition::words(WORDS));
        let ledger = competition.ledger(&runtime);
        let fleet = competition.fleet(&nats, &runtime, &ledger, options);
        Self { fleet, ledger, competition, runtime, nats }
    }

    /// The same fixture with another coordinator, after this one has ended.
    pub fn restart_coordinator(self, options: CoordinatorOptions) -> Self {
        let Self { fleet, ledger, competition, runtime, nats } = self;
        drop(fleet);
        let fleet = competition.fleet(&nats, &runtime, &ledger, options);
        Self { fleet, ledger, competition, runtime, nats }
    }

    pub fn led(&self) -> CoordinatedRun<'_> {
        CoordinatedRun {
            competition: &self.competition,
            runtime: &self.runtime,
            ledger: &self.ledger,
            fleet: &self.fleet,
        }
    }

    pub async fn hand(&self, name: &str) -> ScriptedWorker {
        ScriptedWorker::join(&self.nats, name, self.fleet.competition_id()).await
    }

    pub fn played(&self) -> u64 {
        self.runtime.block_on(self.ledger.counts(0)).unwrap().matches
    }

    /// Worker whose result of a match is in the ledger.
    pub fn stored_worker(&self, number: u64) -> String {
        let rows = self.runtime.block_on(self.ledger.matches_with_workers(0)).unwrap();
        rows.into_iter().find(|(key, ..)| key.number == number).unwrap().1
    }

    /// Checks that every match is in the ledger once, and that the table is that of one machine.
    pub fn check_result(&self) {
        assert_eq!(self.played(), MATCHES);
        let phases = self.runtime.block_on(self.ledger.phases()).unwrap();
        assert_eq!(tables(&phases), tables(&self.competition.alone(&self.runtime)));
        assert_eq!(self.runtime.block_on(self.ledger.check()).unwrap(), Vec::<String>::new());
    }
}

pub async fn some(hand: &ScriptedWorker) -> LeasedJob {
    loop {
        if let Some(task) = hand.pull().await {
            return task;
        }
    }
}

pub async fn pause(millis: u64) {
    tokio::time::sleep(Duration::from_millis(millis)).await;
}
