//! What every ledger must do, whatever keeps it. A second kind of ledger joins by a [`Home`] and one line at the end.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout, reason = "tests")]

mod common;
#[path = "conformance/matches.rs"]
mod matches;
#[path = "conformance/rulings.rs"]
mod rulings;
#[path = "conformance/state.rs"]
mod state;
#[path = "conformance/workers.rs"]
mod workers;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use agon_rig::{Database, Postgres};
use agon_store::{Ledger, PostgresLedger, SqliteLedger};
use async_trait::async_trait;
use tempfile::TempDir;

/// A place for one ledger.
#[async_trait]
pub trait Home {
    /// Makes the ledger.
    async fn create(&self, phases: u32) -> Box<dyn Ledger>;
    /// Opens it once more, as another program would.
    async fn open(&self) -> Box<dyn Ledger>;
}

struct File(TempDir);

#[async_trait]
impl Home for File {
    async fn create(&self, phases: u32) -> Box<dyn Ledger> {
        let path = self.0.path().join("cup.ledger");
        Box::new(SqliteLedger::create(path, &common::founding(phases)).await.unwrap())
    }

    async fn open(&self) -> Box<dyn Ledger> {
        Box::new(SqliteLedger::open(self.0.path().join("cup.ledger")).await.unwrap())
    }
}

/// A name in a database that all tests share.
struct Name(&'static Database, String);

impl Name {
    /// `None` where PostgreSQL is not installed.
    fn new() -> Option<Self> {
        static DATABASE: OnceLock<Option<Database>> = OnceLock::new();
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let database =
            DATABASE.get_or_init(|| Postgres::is_installed().then(|| Postgres::shared().database()));
        if database.is_none() {
            agon_rig::cannot_run(agon_rig::Lacks::Setup, "no PostgreSQL");
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Some(Self(database.as_ref()?, format!("Autumn cup-{number}")))
    }
}

#[async_trait]
impl Home for Name {
    async fn create(&self, phases: u32) -> Box<dyn Ledger> {
        Box::new(PostgresLedger::create(&self.0.url, &self.1, &common::founding(phases)).await.unwrap())
    }

    async fn open(&self) -> Box<dyn Ledger> {
        Box::new(PostgresLedger::open(&self.0.url, &self.1).await.unwrap())
    }
}

macro_rules! suite {
    ($kind:ident, $home:expr) => {
        mod $kind {
            use super::*;

            suite!(@ $home, state::the_founding_is_kept_and_the_seed_hidden_until_it_is_revealed);
            suite!(@ $home, state::a_changed_file_is_kept_beside_the_first);
            suite!(@ $home, state::a_phase_only_moves_on);
            suite!(@ $home, state::a_phase_that_is_not_there_is_said_to_be_so);
            suite!(@ $home, state::bots_are_kept_by_version);
            suite!(@ $home, state::one_plays_at_a_time);
            suite!(@ $home, matches::what_was_appended_comes_back);
            suite!(@ $home, matches::appending_again_changes_nothing);
            suite!(@ $home, matches::another_outcome_is_a_conflict_and_nothing_is_kept);
            suite!(@ $home, matches::a_published_phase_takes_nothing_new);
            suite!(@ $home, matches::what_makes_no_sense_is_refused);
            suite!(@ $home, matches::progress_is_snapshot_and_rest);
            suite!(@ $home, matches::every_filter_order_and_page);
            suite!(@ $home, matches::records_come_in_order);
            suite!(@ $home, matches::the_fault_list_is_newest_first);
            suite!(@ $home, matches::data_folders_as_they_were_before_a_stage);
            suite!(@ $home, rulings::a_ruling_is_kept_and_can_be_lifted_once);
            suite!(@ $home, rulings::what_cannot_be_ruled_is_refused_in_clear_words);
            suite!(@ $home, rulings::a_phase_knows_the_rulings_it_began_and_was_published_under);
            suite!(@ $home, rulings::what_ended_under_a_ruling_is_forfeited_whatever_comes_later);
            suite!(@ $home, matches::logs_are_kept_with_their_match_and_are_no_part_of_its_digest);
            suite!(@ $home, matches::of_too_many_logs_the_oldest_go);
            suite!(@ $home, matches::readers_see_what_is_committed_while_others_write);
            suite!(@ $home, workers::a_worker_is_barred_once_and_its_matches_are_known);
            suite!(@ $home, workers::what_is_withdrawn_is_gone_and_can_come_again_with_another_outcome);
            suite!(@ $home, workers::a_phase_that_is_not_running_gives_nothing_back);
            suite!(@ $home, workers::void_matches_stay_and_numbers_are_never_used_again);
            suite!(@ $home, workers::rulings_hold_for_what_is_played_again);
        }
    };
    (@ $home:expr, $module:ident :: $case:ident) => {
        #[test]
        fn $case() {
            let Some(home) = $home else { return };
            common::run(async { $module::$case(&home).await });
        }
    };
}

suite!(sqlite, Some(File(TempDir::new().unwrap())));
suite!(postgres, Name::new());
