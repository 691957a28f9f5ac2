//! Site database: everything that a server stores outside of ledgers. Accounts, sessions, API tokens, invitations, hosted competitions
//! with entrants and submissions, the audit log and settings, in one SQLite file.
//!
//! [`SiteDb`] is a handle that is cheap to clone and can be shared by tasks. One connection writes, a few read, and readers never
//! wait for the writer. Every change is one short transaction that is on disk when the call returns. Checks (is the name free, has the
//! invitation uses left, is the limit reached) run in the same transaction as the change that depends on them.
//! Needs a tokio runtime with timers enabled.

mod accounts;
mod audit;
mod challenges;
mod comments;
mod competitions;
mod counts;
mod disk_usage;
mod drafts;
mod entrants;
mod error;
mod freezes;
mod hosted;
mod invitations;
mod known_clients;
mod links;
mod mail_queue;
mod marks;
mod model;
mod names;
mod notifications;
mod open;
mod owners;
mod played_games;
mod practice;
mod profiles;
mod search;
mod sessions;
mod settings;
mod submissions;
mod teams;
mod tokens;
mod webhooks;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_core::record::Digest;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, Sqlite, SqliteConnection, SqlitePool, Transaction};
use tokio::sync::{Mutex, MutexGuard};

pub use challenges::{CHALLENGE_TURN_GAMES, Challenge, ChallengeId, ChallengeState, NewChallenge, OpenChallengeLimits};
pub use comments::{Comment, MAX_COMMENT_CHARS, NewComment};
pub use competitions::CompetitionFilter;
pub use disk_usage::{DiskQuota, SubmissionPlace};
pub use drafts::{BotDraft, DraftKey, MAX_DRAFT_BYTES, MAX_DRAFTS};
pub use error::SiteDbError;
pub use freezes::StandingsFreeze;
pub use hosted::{
    CompetitionPatch, CompetitionState, Entrant, HostedCompetition, NewCompetition, NewEntrant,
    NewSubmission, Origin, RequeueCounts, Submission, SubmissionFilter, SubmissionId, SubmissionState,
    SubmissionVerdict, UploadLimits,
};
pub use known_clients::KNOWN_CLIENT_TIMEOUT_MS;
pub use links::{LinkPurpose, NewAccountLink};
pub use mail_queue::{MAX_MAIL_ATTEMPTS, MAX_QUEUED_MAILS, NewMail, QueuedMail};
pub use marks::{MAX_MARK_CHARS, MAX_MARK_NOTE_CHARS, MAX_MARKS, StoredMark};
pub use model::{
    Account, AccountId, AuditEntry, AuditFilter, AuditId, Credentials, EntrantId, Invitation, InvitationId,
    NewAccount, NewAuditEntry, NewInvitation, NewSession, NewToken, PageRequest, ResultPage, Role,
    SecretString, Session, SignUpGrant, TeamId, Token, TokenId, token_hash,
};
pub use names::{MAX_NAME_CHARS, name_key};
pub use notifications::{
    ChannelChoice, MAX_NOTIFICATION_CHARS, MAX_NOTIFICATIONS, NewNotification, Notification,
    NotificationChannel, NotificationKind,
};
pub use played_games::{
    PlayedGameFilter, PlayedGameId, PlayedGameQuota, PlayedGameRow, PlayedGameViewer, PlayedKind, PlayedSeat,
};
pub use practice::{
    MAX_FORM_RESULTS, NewPracticePlayer, PracticeBot, PracticePair, PracticePlayer, PracticeRating,
    PracticeScore,
};
pub use profiles::{AccountProfile, MAX_ABOUT_CHARS, MAX_LINK_CHARS, MAX_MAIL_CHARS, MailAddress};
pub use search::{MAX_QUERY_CHARS, SearchHit, SearchKind};
pub use sessions::{SESSION_IDLE_TIMEOUT_MS, SESSION_TOTAL_TIMEOUT_MS};
pub use submissions::{MAX_CHECK_ATTEMPTS, MAX_TRIALS_BYTES};
pub use teams::{
    MAX_TEAM_INVITATIONS, MAX_TEAM_MEMBERS, MAX_TEAMS, Team, TeamInvitation, TeamInvitee, TeamMember,
};
pub use tokens::MAX_TOKENS;
pub use webhooks::{
    MAX_DELIVERY_ATTEMPTS, MAX_WAITING_DELIVERIES, MAX_WEBHOOK_FAILURES, MAX_WEBHOOKS, NewWebhook, Webhook,
    WebhookDelivery,
};

use agon_store::sqlite_file::{self, Writer};
use agon_store::{RunLock, Timestamp};

/// Result of a site database operation.
pub type Result<T, E = SiteDbError> = std::result::Result<T, E>;

/// Maximum number of items per page.
const MAX_PAGE_ITEMS: u32 = 200;
/// The time of last use of a session or token is written at most once per interval.
const TOUCH_INTERVAL_MS: i64 = 60_000;

/// Handle of a site database.
#[derive(Clone)]
pub struct SiteDb(Arc<Inner>);

struct Inner {
    path: PathBuf,
    /// `None` after [`SiteDb::disconnect`].
    writer: Mutex<Option<Writer>>,
    readers: SqlitePool,
}

impl fmt::Debug for SiteDb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SiteDb").field(&self.0.path).finish()
    }
}

impl SiteDb {
    /// Opens the database in this file. Creates it if it does not exist, and migrates an older version.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self> {
        open::open(path.as_ref()).await
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Takes the lock for serving the site. It is released on drop or when the process ends. Other processes, such as the command line,
    /// may still open the database. The error for a second server names the holder.
    pub fn acquire_server_lock(&self) -> Result<RunLock> {
        Ok(sqlite_file::lock_beside_file(self.path())?)
    }

    /// Closes all connections of all handles and merges the `-wal` file into the database. If this is not called, the next process
    /// that opens the database does it.
    pub async fn disconnect(&self) -> Result<()> {
        self.0.readers.close().await;
        match self.0.writer.lock().await.take() {
            Some(writer) => writer.close().await.map_err(self.failed()),
            None => Ok(()),
        }
    }

    /// Converts errors of this file; for `map_err`.
    fn failed(&self) -> impl Fn(sqlx::Error) -> SiteDbError + '_ {
        error::in_file(&self.0.path)
    }

    /// Waits for the connection that writes.
    async fn writer(&self) -> MutexGuard<'_, Option<Writer>> {
        self.0.writer.lock().await
    }

    /// Begins a transaction. Without a commit it has no effect.
    async fn begin<'w>(&self, writer: &'w mut Option<Writer>) -> Result<Transaction<'w, Sqlite>> {
        match writer {
            Some(writer) => Ok(writer.begin(true, &self.0.path).await?),
            None => Err(self.failed()(sqlx::Error::PoolClosed)),
        }
    }
}

/// Conversion from a row.
trait FromSiteRow: Sized {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error>;
}

/// Builds a page from `rows`, which has one row more than the page if another page follows. `cursor_column` is the sort key.
fn result_page<T: FromSiteRow>(
    page: PageRequest,
    rows: &[SqliteRow],
    cursor_column: &str,
) -> Result<ResultPage<T>, sqlx::Error> {
    let limit = row_limit(page) as usize - 1;
    let mut items = rows.iter().map(T::read).collect::<Result<Vec<T>, _>>()?;
    let mut next = None;
    if items.len() > limit {
        items.truncate(limit);
        next = rows.get(limit.saturating_sub(1)).map(|last| last.try_get(cursor_column)).transpose()?;
    }
    Ok(ResultPage { items, next })
}

/// Number of rows to read: one more than the page has.
fn row_limit(page: PageRequest) -> i64 {
    i64::from(page.limit.clamp(1, MAX_PAGE_ITEMS)) + 1
}

/// Exclusive upper bound of the sort key.
fn cursor(page: PageRequest) -> i64 {
    page.after.unwrap_or(i64::MAX)
}

fn digest(row: &SqliteRow, column: &str) -> Result<Digest, sqlx::Error> {
    let bytes: &[u8] = row.try_get(column)?;
    bytes.try_into().map(Digest).map_err(|_| sqlx::Error::Decode("hash is not 32 bytes long".into()))
}

fn time(row: &SqliteRow, column: &str) -> Result<Timestamp, sqlx::Error> {
    row.try_get(column).map(Timestamp)
}

fn optional_time(row: &SqliteRow, column: &str) -> Result<Option<Timestamp>, sqlx::Error> {
    row.try_get::<Option<i64>, _>(column).map(|time| time.map(Timestamp))
}

/// Enum value of a column.
fn enum_column<T>(row: &SqliteRow, column: &str, by_name: fn(&str) -> Option<T>) -> Result<T, sqlx::Error> {
    let name: &str = row.try_get(column)?;
    by_name(name).ok_or_else(|| sqlx::Error::Decode(format!("unknown {column} `{name}`").into()))
}

/// The account with this id, or `NotFound`.
async fn account_in(connection: &mut SqliteConnection, id: AccountId, path: &Path) -> Result<Account> {
    let row = sqlx::query("SELECT * FROM account WHERE id = ?")
        .bind(id.0)
        .fetch_optional(connection)
        .await
        .map_err(error::in_file(path))?
        .ok_or(SiteDbError::NotFound { what: "account" })?;
    Account::read(&row).map_err(error::in_file(path))
}
