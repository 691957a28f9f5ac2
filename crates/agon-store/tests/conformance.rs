//! Tests that every kind of ledger must pass. To add a kind, implement [`TestStorage`] and add a line at the end.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout, reason = "tests")]

mod common;
#[path = "conformance/as_of.rs"]
mod as_of;
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

use agon_store::{Ledger, PostgresLedger, SqliteLedger};
use agon_test_servers::{Database, Postgres};
use async_trait::async_trait;
use tempfile::TempDir;

/// Storage for one ledger.
#[async_trait]
pub trait TestStorage {
    /// Creates the ledger.
    async fn create(&self, phases: u32) -> Box<dyn Ledger>;
    /// Opens the ledger again, as another program would.
    async fn open(&self) -> Box<dyn Ledger>;
}

struct FileStorage(TempDir);

#[async_trait]
impl TestStorage for FileStorage {
    async fn create(&self, phases: u32) -> Box<dyn Ledger> {
        let path = self.0.path().join("cup.ledger");
        Box::new(SqliteLedger::create(path, &common::new_ledger(phases)).await.unwrap())
    }

    async fn open(&self) -> Box<dyn Ledger> {
        Box::new(SqliteLedger::open(self.0.path().join("cup.ledger")).await.unwrap())
    }
}

/// A ledger name in a database that all tests share.
struct DatabaseStorage(&'static Database, String);

impl DatabaseStorage {
    /// `None` if PostgreSQL is not installed.
    fn new() -> Option<Self> {
        static DATABASE: OnceLock<Option<Database>> = OnceLock::new();
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let database =
            DATABASE.get_or_init(|| Postgres::is_installed().then(|| Postgres::shared().database()));
        if database.is_none() {
            agon_test_servers::cannot_run(agon_test_servers::Lacks::Setup, "no PostgreSQL");
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Some(Self(database.as_ref()?, format!("Autumn cup-{number}")))
    }
}

#[async_trait]
impl TestStorage for DatabaseStorage {
    async fn create(&self, phases: u32) -> Box<dyn Ledger> {
        Box::new(PostgresLedger::create(&self.0.url, &self.1, &common::new_ledger(phases)).await.unwrap())
    }

    async fn open(&self) -> Box<dyn Ledger> {
        Box::new(PostgresLedger::open(&self.0.url, &self.1).await.unwrap())
    }
}

macro_rules! suite {
    ($kind:ident, $storage:expr) => {
        mod $kind {
            use super::*;

            suite!(@ $storage, state::new_ledger_is_stored_and_hides_the_seed_until_it_is_revealed);
            suite!(@ $storage, state::changed_config_is_stored_in_addition_to_the_first);
            suite!(@ $storage, state::phase_state_only_moves_forward);
            suite!(@ $storage, state::missing_phase_is_reported);
            suite!(@ $storage, state::bots_are_stored_by_version);
            suite!(@ $storage, state::run_lock_is_held_by_one_process_at_a_time);
            suite!(@ $storage, matches::appended_matches_are_returned_unchanged);
            suite!(@ $storage, matches::appending_stored_matches_changes_nothing);
            suite!(@ $storage, matches::different_result_is_a_conflict_and_nothing_is_stored);
            suite!(@ $storage, matches::published_phase_rejects_new_matches);
            suite!(@ $storage, matches::malformed_matches_are_rejected);
            suite!(@ $storage, matches::progress_is_the_snapshot_and_later_results);
            suite!(@ $storage, matches::matches_respect_every_filter_order_and_page);
            suite!(@ $storage, matches::records_are_returned_in_order);
            suite!(@ $storage, matches::faults_are_listed_newest_first);
            suite!(@ $storage, matches::data_folder_before_returns_the_state_at_stage_start);
            suite!(@ $storage, rulings::ruling_is_stored_and_can_be_lifted_once);
            suite!(@ $storage, rulings::invalid_rulings_are_rejected_with_a_clear_message);
            suite!(@ $storage, rulings::phase_stores_the_rulings_at_start_and_publication);
            suite!(@ $storage, rulings::matches_that_ended_during_a_disqualification_stay_forfeited);
            suite!(@ $storage, matches::bot_output_is_stored_with_its_match_and_is_not_part_of_the_digest);
            suite!(@ $storage, matches::oldest_bot_output_is_dropped_when_the_limit_is_exceeded);
            suite!(@ $storage, matches::readers_see_committed_matches_while_others_write);
            suite!(@ $storage, workers::worker_is_banned_once_and_its_matches_are_listed);
            suite!(@ $storage, workers::revoked_matches_are_removed_and_can_be_appended_with_another_result);
            suite!(@ $storage, workers::revoking_fails_in_a_phase_that_is_not_running);
            suite!(@ $storage, workers::void_matches_are_not_revoked_and_ids_are_never_reused);
            suite!(@ $storage, workers::rulings_apply_to_matches_that_are_played_again);
            suite!(@ $storage, as_of::earlier_state_shows_nothing_newer);
        }
    };
    (@ $storage:expr, $module:ident :: $case:ident) => {
        #[test]
        fn $case() {
            let Some(storage) = $storage else { return };
            common::run(async { $module::$case(&storage).await });
        }
    };
}

suite!(sqlite, Some(FileStorage(TempDir::new().unwrap())));
suite!(postgres, DatabaseStorage::new());
