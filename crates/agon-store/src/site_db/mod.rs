//! The office: what a server keeps that is not of one competition. Accounts, sessions, API tokens, invitations, the competitions
//! it hosts with their entrants and submissions, the audit log and settings, in one SQLite file.
//!
//! [`SiteDb`] is a handle: cheap to clone, for any number of tasks at once. One connection writes, a few read, and readers never
//! wait for the writer. Every change is one short transaction that is on the disk when the call returns. Methods that take a
//! decision (is the name free, is there a use left, is the limit reached) take it in the transaction that acts on it.
//! It runs inside a tokio runtime whose timers are enabled.

mod accounts;
mod audit;
mod competitions;
mod counts;
mod entrants;
mod error;
mod hosted;
mod invitations;
mod kept;
mod names;
mod open;
mod sessions;
mod settings;
mod submissions;
mod tokens;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_core::record::Digest;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, Sqlite, SqliteConnection, SqlitePool, Transaction};
use tokio::sync::{Mutex, MutexGuard};

pub use competitions::CompetitionFilter;
pub use error::SiteDbError;
pub use hosted::{
    SubmissionVerdict, HostedCompetition, CompetitionPatch, Entrant, UploadLimits, NewCompetition, NewEntrant, NewSubmission, SubmissionFilter, Origin,
    Requeued, CompetitionState, Submission, SubmissionId, SubmissionState,
};
pub use kept::{
    Account, AccountId, SignUpGrant, AuditFilter, AuditId, Credentials, EntrantId, AuditEntry, SecretString, Invitation,
    InvitationId, ResultPage, NewAccount, NewAuditEntry, NewInvitation, NewSession, NewToken, PageRequest, Role, Session,
    Token, TokenId, token_hash,
};
pub use names::NAME_LENGTH;
pub use sessions::{SESSION_ABSOLUTE, SESSION_SLIDING};
pub use submissions::{MAX_CHECK_ATTEMPTS, TRIALS_BYTES};
pub use tokens::TOKENS;

use crate::sqlite::Writer;
use crate::{RunLock, Timestamp, run_lock};

/// What every call gives back.
pub type Result<T, E = SiteDbError> = std::result::Result<T, E>;

/// A list's part is never longer.
const PAGE: u32 = 200;
/// What is seen or used is written down at most this often: milliseconds.
const TOUCH: i64 = 60_000;

/// A server's office, in a file.
#[derive(Clone)]
pub struct SiteDb(Arc<Inner>);

struct Inner {
    path: PathBuf,
    /// `None` once it was disconnected.
    writer: Mutex<Option<Writer>>,
    readers: SqlitePool,
}

impl fmt::Debug for SiteDb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Office").field(&self.0.path).finish()
    }
}

impl SiteDb {
    /// Opens the office in this file; makes it if there is none, brings it up to date if it is older.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self> {
        open::open(path.as_ref()).await
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The right to be the server of this office, until it is dropped or its process ends. Others may still open it (the command
    /// line does); whoever would be a second server is told who the first is.
    pub fn claim(&self) -> Result<RunLock> {
        Ok(run_lock::file(self.path())?)
    }

    /// Lets go of the file in good order, for all handles: everything in one file, nothing beside it. Without it the next one to
    /// open the office tidies up.
    pub async fn disconnect(&self) -> Result<()> {
        self.0.readers.close().await;
        match self.0.writer.lock().await.take() {
            Some(writer) => writer.close().await.map_err(self.failed()),
            None => Ok(()),
        }
    }

    /// For `map_err`: what went wrong.
    fn failed(&self) -> impl Fn(sqlx::Error) -> SiteDbError + '_ {
        error::at(&self.0.path)
    }

    /// The connection that writes, once nobody else in this process does.
    async fn writer(&self) -> MutexGuard<'_, Option<Writer>> {
        self.0.writer.lock().await
    }

    /// Begins a change. What is not committed has not happened.
    async fn begin<'w>(&self, writer: &'w mut Option<Writer>) -> Result<Transaction<'w, Sqlite>> {
        match writer {
            Some(writer) => Ok(writer.begin(true, &self.0.path).await?),
            None => Err(self.failed()(sqlx::Error::PoolClosed)),
        }
    }
}

/// Reads what `sqlx` calls a row.
trait FromSiteRow: Sized {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error>;
}

/// The next part of a list. `rows` were asked for one more than the page has; `place` is where in the list a row stands.
fn listed<T: FromSiteRow>(page: PageRequest, rows: &[SqliteRow], place: &str) -> Result<ResultPage<T>, sqlx::Error> {
    let limit = limit(page) as usize - 1;
    let mut items = rows.iter().map(T::read).collect::<Result<Vec<T>, _>>()?;
    let mut next = None;
    if items.len() > limit {
        items.truncate(limit);
        next = rows.get(limit.saturating_sub(1)).map(|last| last.try_get(place)).transpose()?;
    }
    Ok(ResultPage { items, next })
}

/// How many rows to ask for: one more than the page has.
fn limit(page: PageRequest) -> i64 {
    i64::from(page.limit.clamp(1, PAGE)) + 1
}

/// Everything before this place.
fn before(page: PageRequest) -> i64 {
    page.after.unwrap_or(i64::MAX)
}

fn digest(row: &SqliteRow, column: &str) -> Result<Digest, sqlx::Error> {
    let bytes: &[u8] = row.try_get(column)?;
    bytes.try_into().map(Digest).map_err(|_| sqlx::Error::Decode("a hash that is not 32 bytes long".into()))
}

fn time(row: &SqliteRow, column: &str) -> Result<Timestamp, sqlx::Error> {
    row.try_get(column).map(Timestamp)
}

fn time_if(row: &SqliteRow, column: &str) -> Result<Option<Timestamp>, sqlx::Error> {
    row.try_get::<Option<i64>, _>(column).map(|time| time.map(Timestamp))
}

/// A word that must be one of ours.
fn word<T>(row: &SqliteRow, column: &str, by_name: fn(&str) -> Option<T>) -> Result<T, sqlx::Error> {
    let name: &str = row.try_get(column)?;
    by_name(name).ok_or_else(|| sqlx::Error::Decode(format!("`{name}` as {column}").into()))
}

/// The account, or that there is none.
async fn account_in(connection: &mut SqliteConnection, id: AccountId, path: &Path) -> Result<Account> {
    let row = sqlx::query("SELECT * FROM account WHERE id = ?")
        .bind(id.0)
        .fetch_optional(connection)
        .await
        .map_err(error::at(path))?
        .ok_or(SiteDbError::NotFound { what: "account" })?;
    Account::read(&row).map_err(error::at(path))
}
