//! A ledger in a file: SQLite, in WAL mode. One connection writes, a few read; readers never wait for the writer.

mod append;
mod bots;
mod check;
mod insert;
mod logs;
mod archive_io;
pub(crate) mod open;
mod page;
mod progress;
mod rulings;
mod state;
pub(crate) mod db_error;
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

use crate::archive::RowSink;
use crate::filter::{FaultFilter, MatchFilter};
use crate::model::{
    AppendResult, BannedWorker, BotVersion, LedgerInfo, Counts, DataFolder, ConfigVersion, FinishedMatch, NewLedger,
    StoredFault, StoredMatch, StoredRecord, PhaseStatus, PhaseProgress, SecretSeed, Snapshot, NewBotVersion, Timestamp,
};
use crate::ledger::{Ledger, Rows};
use crate::bot_output::BotOutput;
use crate::ruling::{Lifted, NewRuling, Ruling};
use crate::{RunLock, Result, StoreError, run_lock, pagination};

/// Matches wait for the disk this often, and not each time: a power cut costs at most what was played since.
const SYNC: Duration = Duration::from_secs(1);

/// A competition's ledger in a file.
#[derive(Debug)]
pub struct SqliteLedger {
    path: PathBuf,
    /// `None` if it was opened for reading; in it nothing once it was let go of.
    writer: Option<Mutex<Option<Writer>>>,
    readers: SqlitePool,
}

/// The one connection that writes.
#[derive(Debug)]
pub(crate) struct Writer {
    connection: SqliteConnection,
    /// How it was made.
    options: SqliteConnectOptions,
    /// When the last transaction that waits for the disk was begun.
    synced: Instant,
    /// Whether transactions wait for the disk.
    full: bool,
}

impl Writer {
    /// A connection that was made with these options.
    pub(crate) fn new(connection: SqliteConnection, options: SqliteConnectOptions) -> Self {
        Self { connection, options, synced: Instant::now(), full: false }
    }

    /// Lets go of the file in good order.
    pub(crate) async fn close(self) -> Result<(), sqlx::Error> {
        self.connection.close().await
    }

    /// Begins a transaction. `durable` ones are on the disk when they are over, and all before them. The others are safe from
    /// then on whatever happens to this program; of those, only what a power cut catches within [`SYNC`] is lost.
    pub(crate) async fn begin(&mut self, durable: bool, path: &Path) -> Result<Transaction<'_, Sqlite>> {
        let failed = db_error::at(path);
        self.recover().await.map_err(&failed)?;
        let full = durable || self.synced.elapsed() >= SYNC;
        if full != self.full {
            let pragma = if full { "PRAGMA synchronous = FULL" } else { "PRAGMA synchronous = NORMAL" };
            self.connection.execute(pragma).await.map_err(&failed)?;
            self.full = full;
        }
        if full {
            self.synced = Instant::now();
        }
        self.connection.begin_with("BEGIN IMMEDIATE").await.map_err(&failed)
    }

    /// After a full disk or a failed write SQLite has ended the transaction by itself, and the driver does not know: it would
    /// begin none on this connection any more.
    async fn recover(&mut self) -> Result<(), sqlx::Error> {
        if self.connection.is_in_transaction() {
            // An ordinary rollback may still be on its way.
            self.connection.ping().await?;
            if self.connection.is_in_transaction() {
                self.connection = self.options.connect().await?;
                self.full = false;
            }
        }
        Ok(())
    }
}

/// SHA-256 as it is kept.
fn digest(bytes: &[u8]) -> Result<Digest, sqlx::Error> {
    bytes.try_into().map(Digest).map_err(|_| sqlx::Error::Decode("a digest that is not 32 bytes long".into()))
}

impl SqliteLedger {
    /// Makes the ledger of a competition that starts. The file appears whole or not at all, and never over another.
    pub async fn create(path: impl AsRef<Path>, founding: &NewLedger) -> Result<Self> {
        open::create(path.as_ref(), founding).await?;
        Self::open(path).await
    }

    /// Opens a ledger for reading and writing; one of an older version is brought up to date.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self> {
        open::open(path.as_ref()).await
    }

    /// Opens a ledger for reading alone, also while somebody else writes it, and from a disk that cannot be written.
    pub async fn open_to_read(path: impl AsRef<Path>) -> Result<Self> {
        open::open_to_read(path.as_ref()).await
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lets go of the file in good order: everything in one file, nothing beside it. Without it the next one to open the ledger
    /// tidies up.
    pub async fn disconnect(&self) -> Result<()> {
        self.readers.close().await;
        if let Some(writer) = &self.writer
            && let Some(writer) = writer.lock().await.take()
        {
            writer.close().await.map_err(db_error::at(&self.path))?;
        }
        Ok(())
    }

    /// The connection that writes, once nobody else in this process does.
    async fn writer(&self) -> Result<MappedMutexGuard<'_, Writer>> {
        let refused = |what: &str| StoreError::ReadOnly {
            place: self.path.display().to_string(),
            what: what.to_owned(),
        };
        let Some(writer) = &self.writer else { return Err(refused("it was opened for reading")) };
        MutexGuard::try_map(writer.lock().await, Option::as_mut).map_err(|_| refused("it was let go of"))
    }
}

#[async_trait]
impl Ledger for SqliteLedger {
    async fn competition(&self) -> Result<LedgerInfo> {
        self.read_competition().await
    }

    async fn secret(&self) -> Result<SecretSeed> {
        self.read_secret().await
    }

    async fn reveal(&self, at: Timestamp) -> Result<()> {
        self.write_reveal(at).await
    }

    async fn amend(&self, edition: &ConfigVersion) -> Result<()> {
        self.write_edition(edition).await
    }

    async fn phases(&self) -> Result<Vec<PhaseStatus>> {
        self.read_phases().await
    }

    async fn start(&self, phase: u32, at: Timestamp) -> Result<()> {
        self.write_start(phase, at).await
    }

    async fn publish(&self, phase: u32, table: Digest, under: &[u64], at: Timestamp) -> Result<()> {
        self.write_publish(phase, table, under, at).await
    }

    async fn close(&self, phase: u32, at: Timestamp) -> Result<()> {
        self.write_close(phase, at).await
    }

    async fn claim(&self) -> Result<RunLock> {
        run_lock::file(&self.path)
    }

    async fn submit(&self, bot: &NewBotVersion) -> Result<u32> {
        self.write_bot(bot).await
    }

    async fn bots(&self) -> Result<Vec<BotVersion>> {
        self.read_bots().await
    }

    async fn archive(&self, entrant: Entrant, version: u32) -> Result<Option<Vec<u8>>> {
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

    async fn data_before(
        &self,
        entrant: Entrant,
        phase: u32,
        stage: u32,
    ) -> Result<Option<(MatchKey, DataFolder)>> {
        self.read_data(entrant, phase, stage).await
    }

    async fn rule(&self, ruling: &NewRuling) -> Result<u64> {
        self.write_ruling(ruling).await
    }

    async fn lift(&self, ruling: u64, lifted: &Lifted) -> Result<()> {
        self.write_lift(ruling, lifted).await
    }

    async fn rulings(&self) -> Result<Vec<Ruling>> {
        self.read_rulings().await
    }

    async fn forfeits(&self, phase: u32) -> Result<Vec<(MatchKey, Entrant)>> {
        self.read_forfeits(phase).await
    }

    async fn log(&self, key: MatchKey, game: u32, seat: u8) -> Result<Option<BotOutput>> {
        self.read_log(key, game, seat).await
    }

    async fn ban_worker(&self, worker: &str, why: &str, at: Timestamp) -> Result<()> {
        self.write_barred(worker, why, at).await
    }

    async fn barred(&self) -> Result<Vec<BannedWorker>> {
        self.read_barred().await
    }

    async fn played_by(&self, phase: u32, worker: &str) -> Result<Vec<MatchKey>> {
        self.read_played_by(phase, worker).await
    }

    async fn matches_with_workers(&self, phase: u32) -> Result<Vec<(MatchKey, String, Digest)>> {
        self.read_witnessed(phase).await
    }

    async fn revoke_matches(&self, phase: u32, keys: &[MatchKey], why: &str, at: Timestamp) -> Result<u64> {
        self.write_withdrawal(phase, keys, why, at).await
    }

    async fn check(&self) -> Result<Vec<String>> {
        self.look_for_damage().await
    }

    async fn dump(&self, sink: &mut dyn RowSink) -> Result<()> {
        self.hand_over(sink).await
    }

    async fn disconnect(&self) -> Result<()> {
        Self::disconnect(self).await
    }
}
