//! Connection pool with retries: every operation is retried while the server is unreachable.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agon_core::LockIgnoringPoison as _;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, PgConnection};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::error::Elapsed;

use super::connectivity::{DatabaseMonitor, NO_ANSWER_AFTER};
use super::database_url::DatabaseUrl;
use super::db_error::{self, AttemptError};
use crate::{Result, StoreError};

/// Timeout for connecting.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for one operation that does not read the whole ledger.
pub const QUERY_TIMEOUT: Duration = Duration::from_mins(1);
/// Timeout for an operation that reads the whole ledger.
pub const FULL_SCAN_TIMEOUT: Duration = Duration::from_hours(6);
/// How long operations are retried after the server became unreachable.
pub const RECONNECT_TIMEOUT: Duration = Duration::from_mins(1);
/// Maximum number of parallel connections.
const MAX_CONNECTIONS: usize = 4;
/// First and longest delay between retries.
const RETRY_DELAY_RANGE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// A pool of connections, opened on demand.
#[derive(Debug)]
pub struct ConnectionPool {
    pub target: DatabaseUrl,
    /// Location for messages.
    pub place: String,
    options: PgConnectOptions,
    idle: Mutex<Vec<PgConnection>>,
    permits: Semaphore,
    /// Maximum number of idle connections. A site may show many competitions, and a server allows 100 connections by default.
    max_idle: usize,
    /// Number of connections lost so far.
    lost_connections: AtomicU64,
    pub reconnect_timeout: Duration,
    /// Follows outages of the database.
    pub monitor: Arc<DatabaseMonitor>,
}

impl ConnectionPool {
    pub fn new(target: DatabaseUrl, place: String, options: PgConnectOptions, max_idle: usize) -> Self {
        let permits = Semaphore::new(MAX_CONNECTIONS);
        let monitor = DatabaseMonitor::of(&target.place());
        Self {
            target,
            place,
            options,
            idle: Mutex::default(),
            permits,
            max_idle,
            lost_connections: AtomicU64::new(0),
            reconnect_timeout: RECONNECT_TIMEOUT,
            monitor,
        }
    }

    /// Runs an attempt with a timeout. A database that does not answer for some seconds is reported before the timeout ends, unless the
    /// attempt reads the whole ledger.
    pub async fn attempt<T>(
        &self,
        limit: Duration,
        work: impl Future<Output = Result<T, AttemptError>>,
    ) -> Result<Result<T, AttemptError>, Elapsed> {
        let start = Instant::now();
        let mut attempt = pin!(tokio::time::timeout(limit, work));
        loop {
            match tokio::time::timeout(NO_ANSWER_AFTER, &mut attempt).await {
                Ok(done) => return done,
                Err(_) if limit <= QUERY_TIMEOUT => self.monitor.no_answer_since(start),
                Err(_) => {}
            }
        }
    }

    /// Waits until another connection may be used.
    pub async fn permit(&self) -> Option<SemaphorePermit<'_>> {
        self.permits.acquire().await.ok()
    }

    /// An idle or a new connection. The caller returns it with [`Self::give_back`] after success and drops it after an error.
    pub async fn take(&self) -> Result<PgConnection, AttemptError> {
        let idle = self.idle.lock_ignoring_poison().pop();
        match idle {
            Some(connection) => Ok(connection),
            None => Ok(connect(&self.options).await?),
        }
    }

    pub fn give_back(&self, connection: PgConnection) {
        let mut idle = self.idle.lock_ignoring_poison();
        if idle.len() < self.max_idle {
            idle.push(connection);
        }
    }

    /// Number of connections lost so far.
    pub fn lost_connections(&self) -> u64 {
        self.lost_connections.load(Ordering::Relaxed)
    }

    /// Records a lost connection and closes the idle ones, which are lost too.
    fn connection_lost(&self) {
        self.lost_connections.fetch_add(1, Ordering::Relaxed);
        self.clear();
    }

    /// Closes all idle connections.
    pub fn clear(&self) {
        self.idle.lock_ignoring_poison().clear();
    }

    /// Starts an operation that may be retried.
    pub fn start_retry(&self) -> Retry<'_> {
        Retry { pool: self, failing_since: None, attempt_start: Instant::now(), delay: RETRY_DELAY_RANGE.0 }
    }

    pub fn explain(&self, error: &sqlx::Error) -> StoreError {
        db_error::explain(&self.target, &self.place, error, 0)
    }
}

/// Opens a connection within [`CONNECT_TIMEOUT`].
pub async fn connect(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    tokio::time::timeout(CONNECT_TIMEOUT, options.connect()).await.unwrap_or_else(|_| {
        let what = format!("no connection within {} s", CONNECT_TIMEOUT.as_secs());
        Err(sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, what)))
    })
}

/// Opens the first connection. Waits for a server that is starting; fails at once if there is no server.
pub async fn connect_first(
    target: &DatabaseUrl,
    place: &str,
    options: &PgConnectOptions,
) -> Result<PgConnection> {
    let start = Instant::now();
    loop {
        match connect(options).await {
            Ok(connection) => return Ok(connection),
            Err(error) if db_error::is_starting(&error) && start.elapsed() < CONNECT_TIMEOUT => {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            Err(error) => {
                return Err(db_error::explain(target, place, &error, start.elapsed().as_secs()));
            }
        }
    }
}

/// An operation that is retried until it succeeds, fails permanently, or the server was unreachable for too long.
pub struct Retry<'l> {
    pool: &'l ConnectionPool,
    /// Time of the first failed attempt.
    failing_since: Option<Instant>,
    /// Start of the current attempt.
    attempt_start: Instant,
    delay: Duration,
}

impl Retry<'_> {
    /// Whether an attempt failed before. That attempt may have succeeded on the server.
    pub const fn is_retry(&self) -> bool {
        self.failing_since.is_some()
    }

    /// Outcome of an attempt. Returns `None`, after a delay, if the caller must try again.
    pub async fn handle_attempt<T>(
        &mut self,
        attempt: Result<Result<T, AttemptError>, Elapsed>,
    ) -> Option<Result<T>> {
        let pool = self.pool;
        let error = match attempt {
            Ok(Ok(done)) => {
                pool.monitor.answered();
                return Some(Ok(done));
            }
            Ok(Err(AttemptError::Store(error))) => {
                pool.monitor.answered();
                return Some(Err(error));
            }
            Ok(Err(AttemptError::Sql(error))) if !db_error::is_transient(&error) => {
                if matches!(error, sqlx::Error::Database(_)) {
                    pool.monitor.answered();
                }
                return Some(Err(pool.explain(&error)));
            }
            Ok(Err(AttemptError::Sql(error))) => error,
            Err(_) => sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, "no response in time")),
        };
        pool.connection_lost();
        if db_error::is_conflict(&error) {
            tracing::debug!(ledger = %pool.place, %error, "another transaction was in the way; retrying");
        } else {
            pool.monitor.attempt_failed(self.attempt_start, &error);
        }
        let unreachable_for = self.failing_since.get_or_insert_with(Instant::now).elapsed();
        if unreachable_for >= pool.reconnect_timeout {
            if !db_error::is_conflict(&error) {
                pool.monitor.gave_up(&error);
            }
            return Some(Err(db_error::explain(
                &pool.target,
                &pool.place,
                &error,
                unreachable_for.as_secs(),
            )));
        }
        tokio::time::sleep(self.delay.min(self.pool.reconnect_timeout.saturating_sub(unreachable_for))).await;
        self.delay = (self.delay * 2).min(RETRY_DELAY_RANGE.1);
        self.attempt_start = Instant::now();
        None
    }
}

/// Runs a read: `run_read!(ledger, timeout, |connection| future)` with a future of `Result<T, AttemptError>`. A macro, because no
/// trait bound can say that the future of a closure is `Send`.
macro_rules! run_read {
    ($ledger:expr, $limit:expr, |$connection:ident| $work:expr) => {{
        let _permit = $ledger.pool.permit().await;
        let mut retry = $ledger.pool.start_retry();
        loop {
            let attempt_once = async {
                let mut pooled = $ledger.pool.take().await?;
                let $connection = &mut pooled;
                let done = $work.await?;
                $ledger.pool.give_back(pooled);
                Ok::<_, $crate::postgres::db_error::AttemptError>(done)
            };
            let attempt = $ledger.pool.attempt($limit, attempt_once).await;
            if let Some(outcome) = retry.handle_attempt(attempt).await {
                break outcome;
            }
        }
    }};
}

/// Runs a write in one transaction: `run_write!(ledger, |change, is_retry| future)` with a future of `Result<T, AttemptError>`.
macro_rules! run_write {
    ($ledger:expr, |$change:ident, $is_retry:ident| $work:expr) => {{
        let _write_guard = $ledger.lock_for_writing().await?;
        let _permit = $ledger.pool.permit().await;
        let mut retry = $ledger.pool.start_retry();
        loop {
            let $is_retry = retry.is_retry();
            let attempt_once = async {
                $ledger.ensure_run_lock().await?;
                let mut pooled = $ledger.pool.take().await?;
                let mut change = $ledger.begin(&mut pooled).await?;
                let $change = &mut *change;
                let done = $work.await?;
                change.commit().await?;
                $ledger.pool.give_back(pooled);
                Ok::<_, $crate::postgres::db_error::AttemptError>(done)
            };
            let limit = $crate::postgres::connection_pool::QUERY_TIMEOUT;
            let attempt = $ledger.pool.attempt(limit, attempt_once).await;
            if let Some(outcome) = retry.handle_attempt(attempt).await {
                break outcome;
            }
        }
    }};
}

pub(super) use {run_read, run_write};
