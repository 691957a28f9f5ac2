//! Ledger in an SQLite file in WAL mode. One connection writes, a few read. Readers never wait for the writer.

mod append;
mod archive_io;
mod bot_output;
mod bots;
mod check;
pub(crate) mod companions;
pub(crate) mod db_error;
mod delayed_sync;
mod file_identity;
mod insert;
pub(crate) mod open;
mod page;
mod progress;
mod rulings;
mod state;
mod workers;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agon_core::record::Digest;
use agon_league::{Entrant, MatchKey};
use async_trait::async_trait;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{
    ConnectOptions as _, Connection as _, Executor as _, Sqlite, SqliteConnection, SqlitePool, Transaction,
};
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard};

use self::delayed_sync::DelayedSync;
use self::file_identity::FileIdentity;
use crate::archive::{LedgerDigest, RowSink};
use crate::bot_output::BotOutput;
use crate::filter::{FaultFilter, MatchFilter};
use crate::ledger::{Ledger, Rows};
use crate::model::{
    AppendResult, BannedWorker, BotVersion, ConfigVersion, Counts, DataFolder, FinishedMatch, LedgerInfo,
    NewBotVersion, NewLedger, PhaseProgress, PhaseStatus, SecretSeed, Snapshot, StoredFault, StoredMatch,
    StoredRecord, Timestamp,
};
use crate::postgres::DatabaseStatus;
use crate::ruling::{NewRuling, Ruling, RulingLift};
use crate::{Result, RunLock, StoreError, pagination, run_lock};

/// Appended matches are synced to disk within this interval. A power cut loses at most the matches since then.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// Ledger of a competition in a file.
#[derive(Debug)]
pub struct SqliteLedger {
    path: PathBuf,
    /// `None` if opened read-only; contains `None` after [`Self::disconnect`].
    writer: Option<Mutex<Option<Writer>>>,
    readers: SqlitePool,
    /// The file that was opened.
    identity: FileIdentity,
}

/// The connection that writes.
#[derive(Debug)]
pub struct Writer {
    connection: SqliteConnection,
    /// Options for reconnecting.
    options: SqliteConnectOptions,
    /// Start of the last transaction that was synced to disk.
    last_sync: Instant,
    /// Whether transactions are synced to disk at the moment.
    is_synchronous: bool,
    /// The file that was opened.
    identity: FileIdentity,
    /// Syncs commits that were not synced at once. Started with the first of them.
    delayed_sync: Option<DelayedSync>,
}

impl Writer {
    /// Wraps a connection that was opened with these options.
    pub fn new(connection: SqliteConnection, options: SqliteConnectOptions) -> Self {
        let identity = FileIdentity::of(options.get_filename());
        Self {
            connection,
            options,
            last_sync: Instant::now(),
            is_synchronous: false,
            identity,
            delayed_sync: None,
        }
    }

    /// Closes the connection.
    pub async fn close(self) -> Result<(), sqlx::Error> {
        self.connection.close().await
    }

    /// Begins a transaction. A `durable` commit syncs this and all earlier transactions to disk. Other commits survive a crash of
    /// the program; a power cut loses them until [`Self::sync_later`] has synced them. Fails if the path does not name the opened file any more.
    pub async fn begin(&mut self, durable: bool, path: &Path) -> Result<Transaction<'_, Sqlite>> {
        let failed = db_error::in_file(path);
        self.identity.check()?;
        if let Some(delayed_sync) = &self.delayed_sync {
            delayed_sync.check()?;
        }
        self.recover().await.map_err(&failed)?;
        let is_synchronous = durable || self.last_sync.elapsed() >= SYNC_INTERVAL;
        if is_synchronous != self.is_synchronous {
            let pragma =
                if is_synchronous { "PRAGMA synchronous = FULL" } else { "PRAGMA synchronous = NORMAL" };
            self.connection.execute(pragma).await.map_err(&failed)?;
            self.is_synchronous = is_synchronous;
        }
        if is_synchronous {
            self.last_sync = Instant::now();
        }
        self.connection.begin_with("BEGIN IMMEDIATE").await.map_err(&failed)
    }

    /// Has the last commit synced within [`SYNC_INTERVAL`], if it was not synced at once.
    fn sync_later(&mut self, path: &Path) -> Result<()> {
        if self.is_synchronous {
            return Ok(());
        }
        if self.delayed_sync.is_none() {
            let started = DelayedSync::start(path.to_owned(), SYNC_INTERVAL);
            self.delayed_sync = Some(started.map_err(|error| StoreError::Io {
                place: path.display().to_string(),
                doing: "start the thread that syncs",
                error,
                hint: "raise the limit of processes and threads of this user",
            })?);
        }
        if let Some(delayed_sync) = &self.delayed_sync {
            delayed_sync.request();
        }
        Ok(())
    }

    /// Reconnects if needed. After a full disk or a failed write SQLite has ended the transaction, but the driver does not know and
    /// would not begin another one on this connection.
    async fn recover(&mut self) -> Result<(), sqlx::Error> {
        if self.connection.is_in_transaction() {
            // A normal rollback may still be pending.
            self.connection.ping().await?;
            if self.connection.is_in_transaction() {
                self.connection = self.options.connect().await?;
                self.is_synchronous = false;
            }
        }
        Ok(())
    }
}

/// Converts a stored SHA-256.
fn digest(bytes: &[u8]) -> Result<Digest, sqlx::Error> {
    bytes.try_into().map(Digest).map_err(|_| sqlx::Error::Decode("digest is not 32 bytes long".into()))
}

impl SqliteLedger {
    /// Creates the ledger of a competition. The file appears completely or not at all and never replaces another.
    pub async fn create(path: impl AsRef<Path>, new_ledger: &NewLedger) -> Result<Self> {
        open::create(path.as_ref(), new_ledger).await?;
        Self::open(path).await
    }

    /// Opens a ledger for reading and writing. Migrates an older version.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self> {
        open::open(path.as_ref()).await
    }

    /// Opens a ledger for reading only. Works while another process writes it, and on a read-only disk.
    pub async fn open_to_read(path: impl AsRef<Path>) -> Result<Self> {
        open::open_to_read(path.as_ref()).await
    }

    /// Renames a ledger file, to free its name. Returns its new path, or `None` if there is no ledger. Fails while the competition runs.
    pub fn rename_old(path: impl AsRef<Path>) -> Result<Option<PathBuf>> {
        companions::rename_old(path.as_ref())
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Closes all connections and merges the `-wal` file into the ledger. If this is not called, the next process that opens
    /// the ledger does it.
    pub async fn disconnect(&self) -> Result<()> {
        self.readers.close().await;
        if let Some(writer) = &self.writer
            && let Some(writer) = writer.lock().await.take()
        {
            writer.close().await.map_err(db_error::in_file(&self.path))?;
        }
        Ok(())
    }

    /// Waits for the connection that writes.
    async fn writer(&self) -> Result<MappedMutexGuard<'_, Writer>> {
        let refused = |what: &str| StoreError::ReadOnly {
            place: self.path.display().to_string(),
            what: what.to_owned(),
        };
        let Some(writer) = &self.writer else { return Err(refused("it was opened read-only")) };
        MutexGuard::try_map(writer.lock().await, Option::as_mut).map_err(|_| refused("it was disconnected"))
    }
}

#[async_trait]
impl Ledger for SqliteLedger {
    async fn competition(&self) -> Result<LedgerInfo> {
        self.read_competition().await
    }

    async fn secret_seed(&self) -> Result<SecretSeed> {
        self.read_secret().await
    }

    async fn reveal_seed(&self, at: Timestamp) -> Result<()> {
        self.write_reveal(at).await
    }

    async fn add_config_version(&self, config: &ConfigVersion) -> Result<()> {
        self.write_config_version(config).await
    }

    async fn phases(&self) -> Result<Vec<PhaseStatus>> {
        self.read_phases().await
    }

    async fn start_phase(&self, phase: u32, at: Timestamp) -> Result<()> {
        self.write_start(phase, at).await
    }

    async fn publish_phase(
        &self,
        phase: u32,
        table_hash: Digest,
        rulings: &[u64],
        at: Timestamp,
    ) -> Result<()> {
        self.write_publish(phase, table_hash, rulings, at).await
    }

    async fn close_phase(&self, phase: u32, at: Timestamp) -> Result<()> {
        self.write_close(phase, at).await
    }

    async fn acquire_run_lock(&self) -> Result<RunLock> {
        run_lock::lock_beside_file(&self.path)
    }

    async fn add_bot_version(&self, bot: &NewBotVersion) -> Result<u32> {
        self.write_bot(bot).await
    }

    async fn bot_versions(&self) -> Result<Vec<BotVersion>> {
        self.read_bots().await
    }

    async fn bot_archive(&self, entrant: Entrant, version: u32) -> Result<Option<Vec<u8>>> {
        self.read_archive(entrant, version).await
    }

    async fn append(&self, batch: &[FinishedMatch], snapshot: Option<&Snapshot>) -> Result<AppendResult> {
        self.write_matches(batch, snapshot).await
    }

    async fn progress(&self, phase: u32) -> Result<PhaseProgress> {
        self.read_progress(phase).await
    }

    async fn counts(&self, phase: u32) -> Result<Counts> {
        self.read_counts(phase).await
    }

    async fn find(&self, key: MatchKey) -> Result<Option<StoredMatch>> {
        pagination::find(self, key).await
    }

    fn matches(&self, phase: u32, filter: MatchFilter) -> Rows<'_, StoredMatch> {
        pagination::matches(self, phase, filter)
    }

    async fn record(&self, key: MatchKey, game: u32) -> Result<Option<Vec<u8>>> {
        self.read_record(key, game).await
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
        self.read_data_folder(entrant, phase, stage).await
    }

    async fn add_ruling(&self, ruling: &NewRuling) -> Result<u64> {
        self.write_ruling(ruling).await
    }

    async fn lift_ruling(&self, ruling: u64, lifted: &RulingLift) -> Result<()> {
        self.write_lift(ruling, lifted).await
    }

    async fn rulings(&self) -> Result<Vec<Ruling>> {
        self.read_rulings().await
    }

    async fn forfeits(&self, phase: u32) -> Result<Vec<(MatchKey, Entrant)>> {
        self.read_forfeits(phase).await
    }

    async fn bot_output(&self, key: MatchKey, game: u32, seat: u8) -> Result<Option<BotOutput>> {
        self.read_bot_output(key, game, seat).await
    }

    async fn ban_worker(&self, worker: &str, reason: &str, at: Timestamp) -> Result<()> {
        self.write_banned_worker(worker, reason, at).await
    }

    async fn banned_workers(&self) -> Result<Vec<BannedWorker>> {
        self.read_banned_workers().await
    }

    async fn matches_played_by(&self, phase: u32, worker: &str) -> Result<Vec<MatchKey>> {
        self.read_matches_played_by(phase, worker).await
    }

    async fn matches_with_workers(&self, phase: u32) -> Result<Vec<(MatchKey, String, Digest)>> {
        self.read_matches_with_workers(phase).await
    }

    async fn revoke_matches(
        &self,
        phase: u32,
        keys: &[MatchKey],
        reason: &str,
        at: Timestamp,
    ) -> Result<u64> {
        self.write_revocation(phase, keys, reason, at).await
    }

    async fn check(&self) -> Result<Vec<String>> {
        self.find_damage().await
    }

    async fn match_digest(&self) -> Result<LedgerDigest> {
        self.read_match_digest().await
    }

    async fn dump(&self, sink: &mut dyn RowSink) -> Result<()> {
        self.export(sink).await
    }

    fn connectivity(&self) -> Option<DatabaseStatus> {
        None
    }

    async fn ping(&self) -> Result<()> {
        self.identity.check()?;
        let answer = sqlx::query("SELECT id FROM competition").execute(&self.readers).await;
        answer.map(drop).map_err(db_error::in_file(&self.path))
    }

    async fn disconnect(&self) -> Result<()> {
        Self::disconnect(self).await
    }
}
