//! Connections to the server, and patience with it: whatever is asked is asked again while the server is away.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, PgConnection};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::error::Elapsed;

use super::database_url::DatabaseUrl;
use super::db_error::{self, AttemptError};
use crate::{Result, StoreError};

/// How long a server may take to let us in.
pub const CONNECT: Duration = Duration::from_secs(10);
/// How long an answer may take, unless all that is kept is looked at.
pub const QUERY_TIMEOUT: Duration = Duration::from_mins(1);
/// The same for looking at everything.
pub const FULL_SCAN_TIMEOUT: Duration = Duration::from_hours(6);
/// For how long a server that was there may be away.
pub const RECONNECT_TIMEOUT: Duration = Duration::from_mins(1);
/// Connections at the same time.
const LANES: usize = 4;
/// Pauses between tries grow from the first to the second.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// Some connections, made when they are needed.
#[derive(Debug)]
pub struct ConnectionPool {
    pub target: DatabaseUrl,
    /// For people.
    pub place: String,
    options: PgConnectOptions,
    idle: Mutex<Vec<PgConnection>>,
    permits: Semaphore,
    /// So many are kept while nobody uses them: a site may show many competitions, and a server has a hundred connections for all.
    keep: usize,
    /// How often a connection was lost.
    losses: AtomicU64,
    pub patience: Duration,
}

impl ConnectionPool {
    pub fn new(target: DatabaseUrl, place: String, options: PgConnectOptions, keep: usize) -> Self {
        let permits = Semaphore::new(LANES);
        Self {
            target,
            place,
            options,
            idle: Mutex::default(),
            permits,
            keep,
            losses: AtomicU64::new(0),
            patience: RECONNECT_TIMEOUT,
        }
    }

    /// The right to one of them.
    pub async fn permit(&self) -> Option<SemaphorePermit<'_>> {
        self.permits.acquire().await.ok()
    }

    /// One that nobody uses, or a new one. Whoever is content gives it back; one that something went wrong on is dropped.
    pub async fn take(&self) -> Result<PgConnection, AttemptError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(connection) => Ok(connection),
            None => Ok(connect(&self.options).await?),
        }
    }

    pub fn give_back(&self, connection: PgConnection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < self.keep {
            idle.push(connection);
        }
    }

    /// How often a connection was lost so far.
    pub fn losses(&self) -> u64 {
        self.losses.load(Ordering::Relaxed)
    }

    /// One was lost: the others are, too, or will be soon.
    fn lost(&self) {
        self.losses.fetch_add(1, Ordering::Relaxed);
        self.clear();
    }

    /// Lets go of all that are idle.
    pub fn clear(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Begins to try something.
    pub const fn trying(&self) -> Retry<'_> {
        Retry { lanes: self, failing: None, pause: PAUSES.0 }
    }

    pub fn explain(&self, error: &sqlx::Error) -> StoreError {
        db_error::explain(&self.target, &self.place, error, 0)
    }
}

/// A new connection, or what is wrong, in time.
pub async fn connect(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    tokio::time::timeout(CONNECT, options.connect()).await.unwrap_or_else(|_| {
        let what = format!("nobody let us in within {} s", CONNECT.as_secs());
        Err(sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, what)))
    })
}

/// The first connection: a server that is not there is told at once, one that is just starting is waited for.
pub async fn connect_first(target: &DatabaseUrl, place: &str, options: &PgConnectOptions) -> Result<PgConnection> {
    let begun = Instant::now();
    loop {
        match connect(options).await {
            Ok(connection) => return Ok(connection),
            Err(error) if db_error::is_starting(&error) && begun.elapsed() < CONNECT => {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            Err(error) => {
                return Err(db_error::explain(target, place, &error, begun.elapsed().as_secs()));
            }
        }
    }
}

/// Something that is tried until it works, cannot work, or the server was away for too long.
pub struct Retry<'l> {
    lanes: &'l ConnectionPool,
    /// Since when it does not work.
    failing: Option<Instant>,
    pause: Duration,
}

impl Retry<'_> {
    /// Whether it was tried before: it may have been done, and the answer lost.
    pub const fn again(&self) -> bool {
        self.failing.is_some()
    }

    /// What came of a try; `None`, after a pause: once more.
    pub async fn judge<T>(&mut self, tried: Result<Result<T, AttemptError>, Elapsed>) -> Option<Result<T>> {
        let error = match tried {
            Ok(Ok(done)) => return Some(Ok(done)),
            Ok(Err(AttemptError::Store(error))) => return Some(Err(error)),
            Ok(Err(AttemptError::Sql(error))) if !db_error::is_transient(&error) => {
                return Some(Err(self.lanes.explain(&error)));
            }
            Ok(Err(AttemptError::Sql(error))) => error,
            Err(_) => {
                sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, "an answer did not come in time"))
            }
        };
        self.lanes.lost();
        let away = self.failing.get_or_insert_with(Instant::now).elapsed();
        if away >= self.lanes.patience {
            let lanes = self.lanes;
            return Some(Err(db_error::explain(&lanes.target, &lanes.place, &error, away.as_secs())));
        }
        tokio::time::sleep(self.pause.min(self.lanes.patience.saturating_sub(away))).await;
        self.pause = (self.pause * 2).min(PAUSES.1);
        None
    }
}

/// Reads: `reads!(ledger, limit, |connection| a future of Result<T, Halt>)`. A macro because no bound says that what a closure gives can be sent.
macro_rules! reads {
    ($ledger:expr, $limit:expr, |$connection:ident| $work:expr) => {{
        let _permit = $ledger.lanes.permit().await;
        let mut trying = $ledger.lanes.trying();
        loop {
            let once = async {
                let mut own = $ledger.lanes.take().await?;
                let $connection = &mut own;
                let done = $work.await?;
                $ledger.lanes.give_back(own);
                Ok::<_, $crate::postgres::db_error::AttemptError>(done)
            };
            let tried = tokio::time::timeout($limit, once).await;
            if let Some(outcome) = trying.judge(tried).await {
                break outcome;
            }
        }
    }};
}

/// Writes, in one transaction: `changes!(ledger, |change, again| a future of Result<T, Halt>)`.
macro_rules! changes {
    ($ledger:expr, |$change:ident, $again:ident| $work:expr) => {{
        let _writing = $ledger.writing().await?;
        let _permit = $ledger.lanes.permit().await;
        let mut trying = $ledger.lanes.trying();
        loop {
            let $again = trying.again();
            let once = async {
                $ledger.hold_on().await?;
                let mut own = $ledger.lanes.take().await?;
                let mut change = $ledger.begin(&mut own).await?;
                let $change = &mut *change;
                let done = $work.await?;
                change.commit().await?;
                $ledger.lanes.give_back(own);
                Ok::<_, $crate::postgres::db_error::AttemptError>(done)
            };
            let tried = tokio::time::timeout($crate::postgres::connection_pool::QUERY_TIMEOUT, once).await;
            if let Some(outcome) = trying.judge(tried).await {
                break outcome;
            }
        }
    }};
}

pub(super) use {changes, reads};
