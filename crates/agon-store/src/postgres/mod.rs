//! A ledger in a PostgreSQL database: one schema for each competition. Whatever is asked is asked again while the server is away, and
//! every change is one transaction that is safe to repeat.

mod append;
mod bots;
mod check;
mod run_lock;
mod connection_pool;
mod logs;
mod archive_io;
mod open;
mod page;
mod probe;
mod progress;
mod rulings;
mod state;
mod database_url;
mod text;
mod db_error;
mod workers;

use std::sync::Weak;
use std::time::Duration;

use agon_core::record::Digest;
use agon_league::{Entrant, MatchKey};
use async_trait::async_trait;
use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection as _, PgConnection, Postgres, Transaction};
use tokio::sync::{Mutex, MutexGuard};

use self::run_lock::{PgRunLock, LockHolder};
use self::connection_pool::{QUERY_TIMEOUT, FULL_SCAN_TIMEOUT, ConnectionPool, changes, reads};
pub use self::open::Found;
pub use self::probe::{Answers, probe};
use self::db_error::AttemptError;
use crate::archive::RowSink;
use crate::filter::{FaultFilter, MatchFilter};
use crate::model::{
    AppendResult, BannedWorker, BotVersion, LedgerInfo, Counts, DataFolder, ConfigVersion, FinishedMatch, NewLedger,
    StoredFault, StoredMatch, StoredRecord, PhaseStatus, PhaseProgress, SecretSeed, Snapshot, NewBotVersion, Timestamp,
};
use crate::ledger::{Ledger, Rows};
use crate::bot_output::BotOutput;
use crate::ruling::{Lifted, NewRuling, Ruling, look_over};
use crate::{RunLock, Result, StoreError, incoming, pagination};

/// A competition's ledger in a database.
#[derive(Debug)]
pub struct PostgresLedger {
    schema: String,
    slug: String,
    /// How a session that writes is made.
    to_write: PgConnectOptions,
    /// One of us writes at a time. `None` if it was opened for reading.
    writing: Option<Mutex<()>>,
    lanes: ConnectionPool,
    /// That we play it.
    held: std::sync::Mutex<Weak<PgRunLock>>,
}

impl PostgresLedger {
    /// Makes the ledger of a competition that starts: whole or not at all, and never where there is one of that name.
    pub async fn create(url: &str, slug: &str, founding: &NewLedger) -> Result<Self> {
        open::create(url, slug, founding).await?;
        Self::open(url, slug).await
    }

    /// Opens a ledger for reading and writing; one of an older version is brought up to date.
    pub async fn open(url: &str, slug: &str) -> Result<Self> {
        open::open(url, slug, false).await
    }

    /// Opens a ledger for reading alone.
    pub async fn open_to_read(url: &str, slug: &str) -> Result<Self> {
        open::open(url, slug, true).await
    }

    /// Whether there is a ledger of that name.
    pub async fn exists(url: &str, slug: &str) -> Result<bool> {
        open::exists(url, slug).await
    }

    /// The ledgers of a database, by name, as far as the user may read them.
    pub async fn list(url: &str) -> Result<Vec<Found>> {
        open::list(url).await
    }

    /// Gives a ledger another name, which is returned, so that its own is free. Refused while it is being played.
    pub async fn put_aside(url: &str, slug: &str) -> Result<String> {
        open::rename_old(url, slug).await
    }

    /// The name it is opened by.
    pub fn slug(&self) -> &str {
        &self.slug
    }

    /// The schema it is in.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// For how long the server may be away: a minute, unless told otherwise.
    #[must_use]
    pub const fn with_patience(mut self, patience: Duration) -> Self {
        self.lanes.patience = patience;
        self
    }

    /// The right to write, once nobody else in this process does.
    async fn writing(&self) -> Result<MutexGuard<'_, ()>> {
        match &self.writing {
            Some(writing) => Ok(writing.lock().await),
            None => Err(StoreError::ReadOnly {
                place: self.lanes.place.clone(),
                what: "it was opened for reading".to_owned(),
            }),
        }
    }

    /// Begins a change: alone with it, and only if nobody else has begun to play meanwhile.
    async fn begin<'c>(&self, connection: &'c mut PgConnection) -> Result<Transaction<'c, Postgres>, AttemptError> {
        let mut change = connection.begin().await?;
        LockHolder::read(&mut change, true).await?.must_be_us(self)?;
        Ok(change)
    }
}

#[async_trait]
impl Ledger for PostgresLedger {
    async fn competition(&self) -> Result<LedgerInfo> {
        reads!(self, QUERY_TIMEOUT, |own| state::competition(own))
    }

    async fn secret(&self) -> Result<SecretSeed> {
        reads!(self, QUERY_TIMEOUT, |own| state::secret(own))
    }

    async fn reveal(&self, at: Timestamp) -> Result<()> {
        changes!(self, |change, _again| state::reveal(change, at))
    }

    async fn amend(&self, edition: &ConfigVersion) -> Result<()> {
        changes!(self, |change, _again| state::amend(change, edition))
    }

    async fn phases(&self) -> Result<Vec<PhaseStatus>> {
        reads!(self, QUERY_TIMEOUT, |own| state::phases(own))
    }

    async fn start(&self, phase: u32, at: Timestamp) -> Result<()> {
        changes!(self, |change, _again| state::start(change, phase, at))
    }

    async fn publish(&self, phase: u32, table: Digest, under: &[u64], at: Timestamp) -> Result<()> {
        changes!(self, |change, _again| state::publish(change, phase, table, under, at))
    }

    async fn close(&self, phase: u32, at: Timestamp) -> Result<()> {
        changes!(self, |change, _again| state::close(change, phase, at))
    }

    async fn claim(&self) -> Result<RunLock> {
        self.take_claim().await
    }

    async fn submit(&self, bot: &NewBotVersion) -> Result<u32> {
        changes!(self, |change, _again| bots::submit(change, bot))
    }

    async fn bots(&self) -> Result<Vec<BotVersion>> {
        reads!(self, QUERY_TIMEOUT, |own| bots::all(own))
    }

    async fn archive(&self, entrant: Entrant, version: u32) -> Result<Option<Vec<u8>>> {
        reads!(self, QUERY_TIMEOUT, |own| bots::archive(own, entrant, version))
    }

    async fn append(&self, batch: &[FinishedMatch], snapshot: Option<&Snapshot>) -> Result<AppendResult> {
        // Whatever can be done before anybody waits.
        incoming::validate_batch(batch)?;
        changes!(self, |change, _again| append::append(change, batch, snapshot))
    }

    async fn progress(&self, phase: u32) -> Result<PhaseProgress> {
        reads!(self, FULL_SCAN_TIMEOUT, |own| progress::progress(own, phase))
    }

    async fn counts(&self, phase: u32) -> Result<Counts> {
        reads!(self, QUERY_TIMEOUT, |own| state::counts(own, phase))
    }

    async fn find(&self, key: MatchKey) -> Result<Option<StoredMatch>> {
        pagination::find(self, key).await
    }

    fn matches(&self, phase: u32, filter: MatchFilter) -> Rows<'_, StoredMatch> {
        pagination::matches(self, phase, filter)
    }

    async fn record(&self, key: MatchKey, game: u32) -> Result<Option<Vec<u8>>> {
        reads!(self, QUERY_TIMEOUT, |own| page::record(own, key, game))
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
        reads!(self, QUERY_TIMEOUT, |own| bots::data_before(own, entrant, phase, stage))
    }

    async fn rule(&self, ruling: &NewRuling) -> Result<u64> {
        look_over(&ruling.reason, &ruling.by)?;
        changes!(self, |change, again| rulings::rule(change, ruling, again))
    }

    async fn lift(&self, ruling: u64, lifted: &Lifted) -> Result<()> {
        look_over(&lifted.reason, &lifted.by)?;
        changes!(self, |change, again| rulings::lift(change, ruling, lifted, again))
    }

    async fn rulings(&self) -> Result<Vec<Ruling>> {
        reads!(self, QUERY_TIMEOUT, |own| rulings::all(own))
    }

    async fn forfeits(&self, phase: u32) -> Result<Vec<(MatchKey, Entrant)>> {
        reads!(self, QUERY_TIMEOUT, |own| rulings::forfeits(own, phase))
    }

    async fn log(&self, key: MatchKey, game: u32, seat: u8) -> Result<Option<BotOutput>> {
        reads!(self, QUERY_TIMEOUT, |own| logs::read(own, key, game, seat))
    }

    async fn ban_worker(&self, worker: &str, why: &str, at: Timestamp) -> Result<()> {
        changes!(self, |change, _again| workers::bar(change, worker, why, at))
    }

    async fn barred(&self) -> Result<Vec<BannedWorker>> {
        reads!(self, QUERY_TIMEOUT, |own| workers::barred(own))
    }

    async fn played_by(&self, phase: u32, worker: &str) -> Result<Vec<MatchKey>> {
        reads!(self, QUERY_TIMEOUT, |own| workers::played_by(own, phase, worker))
    }

    async fn matches_with_workers(&self, phase: u32) -> Result<Vec<(MatchKey, String, Digest)>> {
        reads!(self, QUERY_TIMEOUT, |own| workers::witnessed(own, phase))
    }

    async fn revoke_matches(&self, phase: u32, keys: &[MatchKey], why: &str, at: Timestamp) -> Result<u64> {
        changes!(self, |change, again| workers::withdraw(change, phase, keys, why, at, again))
    }

    async fn check(&self) -> Result<Vec<String>> {
        self.look_for_damage().await
    }

    async fn dump(&self, sink: &mut dyn RowSink) -> Result<()> {
        self.export(sink).await
    }

    async fn disconnect(&self) -> Result<()> {
        self.lanes.clear();
        Ok(())
    }
}
