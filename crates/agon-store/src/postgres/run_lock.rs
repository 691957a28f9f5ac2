//! The right to play a competition, where it is kept on a server: an advisory lock that a connection of its own holds. Who holds it stands in
//! the table `running`, with a turn that grows with each new holder: whoever lost the lock with the server, and finds another turn than
//! its own, writes nothing any more.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use sqlx::{Connection as _, PgConnection, Row as _};
use tokio::sync::Mutex;

use super::db_error::AttemptError;
use super::{PostgresLedger, connection_pool};
use crate::model::Timestamp;
use crate::{RunLock, Result, StoreError};

/// The server notices within moments that a holder is gone; so long it is asked again.
const MOMENT: Duration = Duration::from_secs(1);
/// The same of a holder that is known to be gone: the server may still be busy with its last words.
const LAST_WORDS: Duration = Duration::from_secs(20);
/// A connection that is still there answers by then.
const PING: Duration = Duration::from_secs(5);

/// Held: nobody else plays this competition.
#[derive(Debug)]
pub struct PgRunLock {
    turn: i64,
    /// What holds the lock; `None` while it was lost and could not be taken again.
    connection: Mutex<Option<PgConnection>>,
    /// How often connections had been lost when the lock was last known to be held.
    losses: AtomicU64,
}

/// Who plays, or played last.
pub struct LockHolder {
    turn: i64,
    pid: u32,
    host: String,
}

impl LockHolder {
    /// Read from the row, which stays locked if this is part of a change.
    pub async fn read(connection: &mut PgConnection, for_update: bool) -> Result<Self, sqlx::Error> {
        let sql = if for_update {
            "SELECT turn, pid, host FROM running WHERE id = 1 FOR UPDATE"
        } else {
            "SELECT turn, pid, host FROM running WHERE id = 1"
        };
        let row = sqlx::query(sql).fetch_one(connection).await?;
        let pid: i64 = row.try_get(1)?;
        Ok(Self { turn: row.try_get(0)?, pid: pid as u32, host: row.try_get(2)? })
    }

    /// How long to wait for it to be gone.
    fn patience(&self) -> Duration {
        let is_gone = self.host == host() && !Path::new(&format!("/proc/{}", self.pid)).exists();
        if is_gone { LAST_WORDS } else { MOMENT }
    }

    fn refuse(self, ledger: &PostgresLedger) -> StoreError {
        StoreError::Running { place: ledger.lanes.place.clone(), pid: self.pid, host: self.host }
    }

    /// That it is we, if we play.
    pub fn must_be_us(self, ledger: &PostgresLedger) -> Result<()> {
        match ledger.held() {
            Some(held) if held.turn != self.turn => Err(self.refuse(ledger)),
            _ => Ok(()),
        }
    }
}

/// This machine's name.
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The number of a schema's lock.
pub fn number(schema: &str) -> i64 {
    let hash = Sha256::digest(format!("agon {schema}").as_bytes());
    hash.iter().take(8).fold(0, |number, byte| number << 8 | i64::from(*byte))
}

async fn lock(connection: &mut PgConnection, schema: &str) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("SELECT pg_try_advisory_lock($1)").bind(number(schema)).fetch_one(connection).await
}

impl PostgresLedger {
    /// What we hold, if we do.
    pub(super) fn held(&self) -> Option<Arc<PgRunLock>> {
        self.held.lock().unwrap_or_else(std::sync::PoisonError::into_inner).upgrade()
    }

    pub(super) async fn take_claim(&self) -> Result<RunLock> {
        let begun = Instant::now();
        let mut trying = self.lanes.trying();
        loop {
            let tried = tokio::time::timeout(connection_pool::QUERY_TIMEOUT, self.try_claim()).await;
            match trying.judge(tried).await {
                Some(Ok(Ok(held))) => {
                    let held = Arc::new(held);
                    *self.held.lock().unwrap_or_else(std::sync::PoisonError::into_inner) =
                        Arc::downgrade(&held);
                    return Ok(RunLock::of(held));
                }
                Some(Ok(Err(holder))) if begun.elapsed() < holder.patience() => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Some(Ok(Err(holder))) => return Err(holder.refuse(self)),
                Some(Err(error)) => return Err(error),
                None => {}
            }
        }
    }

    /// The lock, or who has it.
    async fn try_claim(&self) -> Result<Result<PgRunLock, LockHolder>, AttemptError> {
        let losses = self.lanes.losses();
        let mut connection = connection_pool::connect(&self.to_write).await?;
        if !lock(&mut connection, &self.schema).await? {
            return Ok(Err(LockHolder::read(&mut connection, false).await?));
        }
        let mut change = connection.begin().await?;
        let turn = sqlx::query_scalar(
            "UPDATE running SET turn = turn + 1, pid = $1, host = $2, since = $3 WHERE id = 1 RETURNING turn",
        )
        .bind(i64::from(std::process::id()))
        .bind(host())
        .bind(Timestamp::now().0)
        .fetch_one(&mut *change)
        .await?;
        change.commit().await?;
        Ok(Ok(PgRunLock { turn, connection: Mutex::new(Some(connection)), losses: AtomicU64::new(losses) }))
    }

    /// Takes the lock again if it may have been lost with a connection. Where the server still believes in the old one, that one keeps
    /// everybody else away.
    pub(super) async fn hold_on(&self) -> Result<(), AttemptError> {
        let Some(held) = self.held() else { return Ok(()) };
        let losses = self.lanes.losses();
        if held.losses.load(Ordering::Relaxed) == losses {
            return Ok(());
        }
        let mut place = held.connection.lock().await;
        if let Some(own) = place.as_mut()
            && matches!(tokio::time::timeout(PING, own.ping()).await, Ok(Ok(())))
        {
            held.losses.store(losses, Ordering::Relaxed);
            return Ok(());
        }
        *place = None;
        let mut connection = connection_pool::connect(&self.to_write).await?;
        let got = lock(&mut connection, &self.schema).await?;
        // Somebody may have been quicker, and be gone again: then our matches are no longer ours to keep either.
        LockHolder::read(&mut connection, false).await?.must_be_us(self)?;
        if got {
            *place = Some(connection);
            held.losses.store(losses, Ordering::Relaxed);
        }
        Ok(())
    }
}
