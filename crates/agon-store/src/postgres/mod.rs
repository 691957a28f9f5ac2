//! Ledger in a PostgreSQL database, one schema per competition. Operations are retried while the server is unreachable. Every change is
//! one transaction that is safe to repeat.

mod append;
mod archive_io;
mod bot_output;
mod bots;
mod check;
mod connection_pool;
mod connectivity;
mod database_url;
mod db_error;
mod open;
mod page;
mod probe;
mod progress;
mod rulings;
mod run_lock;
mod state;
mod text;
mod workers;

use std::io;
use std::sync::Weak;
use std::time::{Duration, Instant};

use agon_core::record::Digest;
use agon_league::{Entrant, MatchKey};
use async_trait::async_trait;
use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection as _, PgConnection, Postgres, Transaction};
use tokio::sync::{Mutex, MutexGuard};

use self::connection_pool::{ConnectionPool, FULL_SCAN_TIMEOUT, QUERY_TIMEOUT, run_read, run_write};
pub use self::connectivity::{DatabaseOutage, DatabaseStatus, connectivity};
use self::db_error::AttemptError;
pub use self::open::FoundLedger;
pub use self::probe::probe;
use self::run_lock::{LockHolder, PgRunLock};
use crate::archive::{LedgerDigest, RowSink};
use crate::bot_output::BotOutput;
use crate::filter::{FaultFilter, MatchFilter};
use crate::ledger::{Ledger, Rows};
use crate::model::{
    AppendResult, BannedWorker, BotVersion, ConfigVersion, Counts, DataFolder, FinishedMatch, LedgerInfo,
    NewBotVersion, NewLedger, PhaseProgress, PhaseStatus, SecretSeed, Snapshot, StoredFault, StoredMatch,
    StoredRecord, Timestamp,
};
use crate::ruling::{NewRuling, Ruling, RulingLift, validate};
use crate::{Result, RunLock, StoreError, incoming, pagination};

/// Timeout of [`Ledger::ping`].
const PING_TIMEOUT: Duration = Duration::from_secs(3);

/// Ledger of a competition in a database.
#[derive(Debug)]
pub struct PostgresLedger {
    schema: String,
    slug: String,
    /// Options of a session that writes.
    write_options: PgConnectOptions,
    /// Serialises the writers of this process. `None` if the ledger was opened read-only.
    write_mutex: Option<Mutex<()>>,
    pool: ConnectionPool,
    /// Run lock, while this process holds it.
    run_lock: std::sync::Mutex<Weak<PgRunLock>>,
}

impl PostgresLedger {
    /// Creates the ledger of a competition, completely or not at all. Fails if the name exists.
    pub async fn create(url: &str, slug: &str, new_ledger: &NewLedger) -> Result<Self> {
        open::create(url, slug, new_ledger).await?;
        Self::open(url, slug).await
    }

    /// Opens a ledger for reading and writing. Migrates an older version.
    pub async fn open(url: &str, slug: &str) -> Result<Self> {
        open::open(url, slug, false).await
    }

    /// Opens a ledger for reading only.
    pub async fn open_to_read(url: &str, slug: &str) -> Result<Self> {
        open::open(url, slug, true).await
    }

    /// Whether a ledger with this name exists.
    pub async fn exists(url: &str, slug: &str) -> Result<bool> {
        open::exists(url, slug).await
    }

    /// Ledgers of a database that the user may read, by name.
    pub async fn list(url: &str) -> Result<Vec<FoundLedger>> {
        open::list(url).await
    }

    /// Renames a ledger to free its name. Returns the new name. Fails while the competition runs.
    pub async fn rename_old(url: &str, slug: &str) -> Result<String> {
        open::rename_old(url, slug).await
    }

    /// Name of the ledger.
    pub fn slug(&self) -> &str {
        &self.slug
    }

    /// Schema of the ledger.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// Sets how long operations are retried while the server is unreachable; one minute by default.
    #[must_use]
    pub const fn with_reconnect_timeout(mut self, timeout: Duration) -> Self {
        self.pool.reconnect_timeout = timeout;
        self
    }

    /// Waits for the other writers of this process.
    async fn lock_for_writing(&self) -> Result<MutexGuard<'_, ()>> {
        match &self.write_mutex {
            Some(write_mutex) => Ok(write_mutex.lock().await),
            None => Err(StoreError::ReadOnly {
                place: self.pool.place.clone(),
                what: "it was opened read-only".to_owned(),
            }),
        }
    }

    /// Begins a write transaction. Locks out other writers, and fails if another process took the run lock.
    async fn begin<'c>(
        &self,
        connection: &'c mut PgConnection,
    ) -> Result<Transaction<'c, Postgres>, AttemptError> {
        let mut change = connection.begin().await?;
        LockHolder::read(&mut change, true).await?.check_is_us(self)?;
        Ok(change)
    }
}

#[async_trait]
impl Ledger for PostgresLedger {
    async fn competition(&self) -> Result<LedgerInfo> {
        run_read!(self, QUERY_TIMEOUT, |connection| state::competition(connection))
    }

    async fn secret_seed(&self) -> Result<SecretSeed> {
        run_read!(self, QUERY_TIMEOUT, |connection| state::secret(connection))
    }

    async fn reveal_seed(&self, at: Timestamp) -> Result<()> {
        run_write!(self, |change, _is_retry| state::reveal(change, at))
    }

    async fn add_config_version(&self, config: &ConfigVersion) -> Result<()> {
        run_write!(self, |change, _is_retry| state::add_config_version(change, config))
    }

    async fn phases(&self) -> Result<Vec<PhaseStatus>> {
        run_read!(self, QUERY_TIMEOUT, |connection| state::phases(connection))
    }

    async fn start_phase(&self, phase: u32, at: Timestamp) -> Result<()> {
        run_write!(self, |change, _is_retry| state::start(change, phase, at))
    }

    async fn publish_phase(
        &self,
        phase: u32,
        table_hash: Digest,
        rulings: &[u64],
        at: Timestamp,
    ) -> Result<()> {
        run_write!(self, |change, _is_retry| state::publish(change, phase, table_hash, rulings, at))
    }

    async fn close_phase(&self, phase: u32, at: Timestamp) -> Result<()> {
        run_write!(self, |change, _is_retry| state::close(change, phase, at))
    }

    async fn acquire_run_lock(&self) -> Result<RunLock> {
        self.take_run_lock().await
    }

    async fn add_bot_version(&self, bot: &NewBotVersion) -> Result<u32> {
        run_write!(self, |change, _is_retry| bots::add_version(change, bot))
    }

    async fn bot_versions(&self) -> Result<Vec<BotVersion>> {
        run_read!(self, QUERY_TIMEOUT, |connection| bots::all(connection))
    }

    async fn bot_archive(&self, entrant: Entrant, version: u32) -> Result<Option<Vec<u8>>> {
        run_read!(self, QUERY_TIMEOUT, |connection| bots::archive(connection, entrant, version))
    }

    async fn append(&self, batch: &[FinishedMatch], snapshot: Option<&Snapshot>) -> Result<AppendResult> {
        // Validated before waiting for other writers.
        incoming::validate_batch(batch)?;
        run_write!(self, |change, _is_retry| append::append(change, batch, snapshot))
    }

    async fn progress(&self, phase: u32) -> Result<PhaseProgress> {
        run_read!(self, FULL_SCAN_TIMEOUT, |connection| progress::progress(connection, phase))
    }

    async fn counts(&self, phase: u32) -> Result<Counts> {
        run_read!(self, QUERY_TIMEOUT, |connection| state::counts(connection, phase))
    }

    async fn find(&self, key: MatchKey) -> Result<Option<StoredMatch>> {
        pagination::find(self, key).await
    }

    fn matches(&self, phase: u32, filter: MatchFilter) -> Rows<'_, StoredMatch> {
        pagination::matches(self, phase, filter)
    }

    async fn record(&self, key: MatchKey, game: u32) -> Result<Option<Vec<u8>>> {
        run_read!(self, QUERY_TIMEOUT, |connection| page::record(connection, key, game))
    }

    fn records(&self, phase: u32, filter: MatchFilter) -> Rows<'_, StoredRecord> {
        pagination::records(self, phase, filter)
    }

    fn faults(&self, filter: FaultFilter) -> Rows<'_, StoredFault> {
        pagination::faults(self, filter)
    }

    async fn data_folder_before(
        &self,
        entrant: Entrant,
        phase: u32,
        stage: u32,
    ) -> Result<Option<(MatchKey, DataFolder)>> {
        run_read!(self, QUERY_TIMEOUT, |connection| bots::data_folder_before(
            connection, entrant, phase, stage
        ))
    }

    async fn add_ruling(&self, ruling: &NewRuling) -> Result<u64> {
        validate(&ruling.reason, &ruling.by)?;
        run_write!(self, |change, is_retry| rulings::add(change, ruling, is_retry))
    }

    async fn lift_ruling(&self, ruling: u64, lifted: &RulingLift) -> Result<()> {
        validate(&lifted.reason, &lifted.by)?;
        run_write!(self, |change, is_retry| rulings::lift(change, ruling, lifted, is_retry))
    }

    async fn rulings(&self) -> Result<Vec<Ruling>> {
        run_read!(self, QUERY_TIMEOUT, |connection| rulings::all(connection))
    }

    async fn forfeits(&self, phase: u32) -> Result<Vec<(MatchKey, Entrant)>> {
        run_read!(self, QUERY_TIMEOUT, |connection| rulings::forfeits(connection, phase))
    }

    async fn bot_output(&self, key: MatchKey, game: u32, seat: u8) -> Result<Option<BotOutput>> {
        run_read!(self, QUERY_TIMEOUT, |connection| bot_output::read(connection, key, game, seat))
    }

    async fn ban_worker(&self, worker: &str, reason: &str, at: Timestamp) -> Result<()> {
        run_write!(self, |change, _is_retry| workers::ban(change, worker, reason, at))
    }

    async fn banned_workers(&self) -> Result<Vec<BannedWorker>> {
        run_read!(self, QUERY_TIMEOUT, |connection| workers::banned_workers(connection))
    }

    async fn matches_played_by(&self, phase: u32, worker: &str) -> Result<Vec<MatchKey>> {
        run_read!(self, QUERY_TIMEOUT, |connection| workers::matches_played_by(connection, phase, worker))
    }

    async fn matches_with_workers(&self, phase: u32) -> Result<Vec<(MatchKey, String, Digest)>> {
        run_read!(self, QUERY_TIMEOUT, |connection| workers::matches_with_workers(connection, phase))
    }

    async fn revoke_matches(
        &self,
        phase: u32,
        keys: &[MatchKey],
        reason: &str,
        at: Timestamp,
    ) -> Result<u64> {
        run_write!(self, |change, is_retry| workers::revoke(change, phase, keys, reason, at, is_retry))
    }

    async fn check(&self) -> Result<Vec<String>> {
        self.find_damage().await
    }

    async fn match_digest(&self) -> Result<LedgerDigest> {
        run_read!(self, FULL_SCAN_TIMEOUT, |connection| archive_io::match_digest(connection))
    }

    async fn dump(&self, sink: &mut dyn RowSink) -> Result<()> {
        self.export(sink).await
    }

    fn connectivity(&self) -> Option<DatabaseStatus> {
        Some(self.pool.monitor.status())
    }

    async fn ping(&self) -> Result<()> {
        let start = Instant::now();
        let answer = self.pool.attempt(PING_TIMEOUT, async {
            let mut connection = self.pool.take().await?;
            if connection.ping().await.is_err() {
                // It was idle and may have been lost long ago. A new one tells.
                self.pool.clear();
                connection = self.pool.take().await?;
                connection.ping().await?;
            }
            self.pool.give_back(connection);
            Ok(())
        });
        let error = match answer.await {
            Ok(Ok(())) => {
                self.pool.monitor.answered();
                return Ok(());
            }
            Ok(Err(AttemptError::Store(error))) => return Err(error),
            Ok(Err(AttemptError::Sql(error))) => error,
            Err(_) => sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, "no response in time")),
        };
        self.pool.monitor.check_failed(start, &error);
        Err(self.pool.explain(&error))
    }

    async fn disconnect(&self) -> Result<()> {
        self.pool.clear();
        Ok(())
    }
}
