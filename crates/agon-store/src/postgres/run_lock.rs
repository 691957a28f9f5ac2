//! Run lock of a ledger in a database: an advisory lock held by a separate connection. The table `running` names the holder and contains a
//! fencing token (`turn`) that increases with each new holder. A process that lost its lock, for example in a server restart, and finds
//! another token writes nothing more.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agon_core::LockIgnoringPoison as _;
use sha2::{Digest as _, Sha256};
use sqlx::{Connection as _, PgConnection, Row as _};
use tokio::sync::Mutex;

use super::db_error::AttemptError;
use super::{PostgresLedger, connection_pool};
use crate::model::Timestamp;
use crate::{Result, RunLock, StoreError};

/// How long to retry while a live process holds the lock. The server notices the end of a connection within moments.
const LIVE_HOLDER_TIMEOUT: Duration = Duration::from_secs(1);
/// How long to retry if the holder is dead: the server may still be processing its last transaction.
const DEAD_HOLDER_TIMEOUT: Duration = Duration::from_secs(20);
/// Timeout for a ping of the connection that holds the lock.
const PING_TIMEOUT: Duration = Duration::from_secs(5);

/// The held lock: no other process runs this competition.
#[derive(Debug)]
pub struct PgRunLock {
    fencing_token: i64,
    /// Connection that holds the lock; `None` while it is lost and not yet taken again.
    connection: Mutex<Option<PgConnection>>,
    /// Number of lost connections when the lock was last known to be held.
    lost_connections: AtomicU64,
}

/// Current or last holder of the lock.
pub struct LockHolder {
    fencing_token: i64,
    pid: u32,
    host: String,
}

impl LockHolder {
    /// Reads the holder. `for_update` locks the row for the rest of the transaction.
    pub async fn read(connection: &mut PgConnection, for_update: bool) -> Result<Self, sqlx::Error> {
        let sql = if for_update {
            "SELECT turn, pid, host FROM running WHERE id = 1 FOR UPDATE"
        } else {
            "SELECT turn, pid, host FROM running WHERE id = 1"
        };
        let row = sqlx::query(sql).fetch_one(connection).await?;
        let pid: i64 = row.try_get(1)?;
        Ok(Self { fencing_token: row.try_get(0)?, pid: pid as u32, host: row.try_get(2)? })
    }

    /// How long to wait for this holder to release the lock.
    fn wait_timeout(&self) -> Duration {
        let is_dead = self.host == host() && !Path::new(&format!("/proc/{}", self.pid)).exists();
        if is_dead { DEAD_HOLDER_TIMEOUT } else { LIVE_HOLDER_TIMEOUT }
    }

    fn into_error(self, ledger: &PostgresLedger) -> StoreError {
        StoreError::AlreadyRunning { place: ledger.pool.place.clone(), pid: self.pid, host: self.host }
    }

    /// Fails if this process believes to hold the lock and another process took it.
    pub fn check_is_us(self, ledger: &PostgresLedger) -> Result<()> {
        match ledger.current_run_lock() {
            Some(lock) if lock.fencing_token != self.fencing_token => Err(self.into_error(ledger)),
            _ => Ok(()),
        }
    }
}

/// Name of this machine.
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Id of the advisory lock of a schema.
pub fn lock_id(schema: &str) -> i64 {
    let hash = Sha256::digest(format!("agon {schema}").as_bytes());
    hash.iter().take(8).fold(0, |number, byte| number << 8 | i64::from(*byte))
}

async fn try_advisory_lock(connection: &mut PgConnection, schema: &str) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("SELECT pg_try_advisory_lock($1)").bind(lock_id(schema)).fetch_one(connection).await
}

impl PostgresLedger {
    /// The lock, if this process holds it.
    pub(super) fn current_run_lock(&self) -> Option<Arc<PgRunLock>> {
        self.run_lock.lock_ignoring_poison().upgrade()
    }

    pub(super) async fn take_run_lock(&self) -> Result<RunLock> {
        let start = Instant::now();
        let mut retry = self.pool.start_retry();
        loop {
            let attempt = self.pool.attempt(connection_pool::QUERY_TIMEOUT, self.try_run_lock()).await;
            match retry.handle_attempt(attempt).await {
                Some(Ok(Ok(lock))) => {
                    tracing::debug!(ledger = %self.pool.place, "run lock acquired");
                    let lock = Arc::new(lock);
                    *self.run_lock.lock_ignoring_poison() = Arc::downgrade(&lock);
                    return Ok(RunLock::holding(lock));
                }
                Some(Ok(Err(holder))) if start.elapsed() < holder.wait_timeout() => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Some(Ok(Err(holder))) => return Err(holder.into_error(self)),
                Some(Err(error)) => return Err(error),
                None => {}
            }
        }
    }

    /// Takes the lock, or returns its holder.
    async fn try_run_lock(&self) -> Result<Result<PgRunLock, LockHolder>, AttemptError> {
        let lost_connections = self.pool.lost_connections();
        let mut connection = connection_pool::connect(&self.write_options).await?;
        if !try_advisory_lock(&mut connection, &self.schema).await? {
            return Ok(Err(LockHolder::read(&mut connection, false).await?));
        }
        let mut change = connection.begin().await?;
        let fencing_token = sqlx::query_scalar(
            "UPDATE running SET turn = turn + 1, pid = $1, host = $2, since = $3 WHERE id = 1 RETURNING turn",
        )
        .bind(i64::from(std::process::id()))
        .bind(host())
        .bind(Timestamp::now().0)
        .fetch_one(&mut *change)
        .await?;
        change.commit().await?;
        Ok(Ok(PgRunLock {
            fencing_token,
            connection: Mutex::new(Some(connection)),
            lost_connections: AtomicU64::new(lost_connections),
        }))
    }

    /// Takes the lock again if it may have been lost with a connection. If the server still holds the lock for the old connection,
    /// that lock keeps all other processes out.
    pub(super) async fn ensure_run_lock(&self) -> Result<(), AttemptError> {
        let Some(lock) = self.current_run_lock() else { return Ok(()) };
        let lost_connections = self.pool.lost_connections();
        if lock.lost_connections.load(Ordering::Relaxed) == lost_connections {
            return Ok(());
        }
        let mut slot = lock.connection.lock().await;
        if let Some(connection) = slot.as_mut()
            && matches!(tokio::time::timeout(PING_TIMEOUT, connection.ping()).await, Ok(Ok(())))
        {
            lock.lost_connections.store(lost_connections, Ordering::Relaxed);
            return Ok(());
        }
        // Once for each loss: this is repeated until the server answers.
        if slot.take().is_some() {
            tracing::warn!(ledger = %self.pool.place, "the connection with the run lock was lost; taking the lock again");
        }
        let mut connection = connection_pool::connect(&self.write_options).await?;
        let is_locked = try_advisory_lock(&mut connection, &self.schema).await?;
        // Another process may have held the lock in between. Then this process must not store its matches.
        LockHolder::read(&mut connection, false).await?.check_is_us(self)?;
        if is_locked {
            *slot = Some(connection);
            lock.lost_connections.store(lost_connections, Ordering::Relaxed);
        }
        Ok(())
    }
}
