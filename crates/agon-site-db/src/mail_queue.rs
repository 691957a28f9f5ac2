//! Mails that wait to be sent. They survive a restart of the server.

use agon_store::Timestamp;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::{AccountId, FromSiteRow, Result, SiteDb, SiteDbError, time};

/// Maximum number of mails that wait for one account. More are dropped: the site has the notifications.
pub const MAX_QUEUED_MAILS: u32 = 100;
/// Maximum number of attempts to send a mail.
pub const MAX_MAIL_ATTEMPTS: u32 = 8;

/// A mail to queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewMail {
    /// Recipient.
    pub account: AccountId,
    /// Address of the recipient.
    pub address: String,
    /// Subject.
    pub subject: String,
    /// Plain text.
    pub body: String,
    /// Whether it may be sent together with others, and counts for the limit per hour. Links that the account asked for do not.
    pub digest: bool,
    /// Time of creation.
    pub at: Timestamp,
}

/// A mail that waits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueuedMail {
    /// Id.
    pub id: i64,
    /// The mail.
    pub mail: NewMail,
    /// Number of failed attempts.
    pub attempts: u32,
}

impl FromSiteRow for QueuedMail {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let mail = NewMail {
            account: AccountId(row.try_get("account")?),
            address: row.try_get("address")?,
            subject: row.try_get("subject")?,
            body: row.try_get("body")?,
            digest: row.try_get("digest")?,
            at: time(row, "created")?,
        };
        Ok(Self { id: row.try_get("id")?, mail, attempts: row.try_get("attempts")? })
    }
}

impl SiteDb {
    /// Queues a mail. Fails with `TooMany` if too many wait for the account.
    pub async fn queue_mail(&self, new: &NewMail) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let waiting: i64 = sqlx::query_scalar("SELECT count(*) FROM mail_queue WHERE account = ?")
            .bind(new.account.0)
            .fetch_one(&mut *change)
            .await
            .map_err(self.failed())?;
        if waiting >= i64::from(MAX_QUEUED_MAILS) {
            return Err(SiteDbError::TooMany { limit: MAX_QUEUED_MAILS });
        }
        sqlx::query(
            "INSERT INTO mail_queue (account, address, subject, body, digest, created, due) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)",
        )
        .bind(new.account.0)
        .bind(&new.address)
        .bind(&new.subject)
        .bind(&new.body)
        .bind(new.digest)
        .bind(new.at.0)
        .execute(&mut *change)
        .await
        .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())
    }

    /// The next mails to send: one that is due, and if it may be sent with others, all others of its account that may. Mails of accounts
    /// that got `per_hour` mails in the last hour wait, unless they are links that the account asked for.
    pub async fn due_mails(&self, now: Timestamp, per_hour: u32) -> Result<Vec<QueuedMail>> {
        let row = sqlx::query(
            "SELECT * FROM mail_queue WHERE due <= ?1 AND (digest = 0 OR (
                SELECT count(*) FROM mail_sent WHERE mail_sent.account = mail_queue.account AND at > ?1 - 3600000) < ?2)
             ORDER BY digest, due, id LIMIT 1",
        )
        .bind(now.0)
        .bind(per_hour)
        .fetch_optional(&self.0.readers)
        .await
        .map_err(self.failed())?;
        let Some(row) = row else { return Ok(Vec::new()) };
        let first = QueuedMail::read(&row).map_err(self.failed())?;
        if !first.mail.digest {
            return Ok(vec![first]);
        }
        let rows = sqlx::query(
            "SELECT * FROM mail_queue WHERE account = ? AND address = ? AND digest = 1 AND due <= ? ORDER BY id",
        )
        .bind(first.mail.account.0)
        .bind(&first.mail.address)
        .bind(now.0)
        .fetch_all(&self.0.readers)
        .await
        .map_err(self.failed())?;
        rows.iter().map(QueuedMail::read).collect::<Result<_, _>>().map_err(self.failed())
    }

    /// When the next mail is due, limits aside.
    pub async fn next_mail_due(&self) -> Result<Option<Timestamp>> {
        let due: Option<i64> = sqlx::query_scalar("SELECT min(due) FROM mail_queue")
            .fetch_one(&self.0.readers)
            .await
            .map_err(self.failed())?;
        Ok(due.map(Timestamp))
    }

    /// Removes mails that were sent as one, and counts them for the limit per hour.
    pub async fn mails_sent(&self, mails: &[QueuedMail], at: Timestamp) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        for mail in mails {
            sqlx::query("DELETE FROM mail_queue WHERE id = ?")
                .bind(mail.id)
                .execute(&mut *change)
                .await
                .map_err(self.failed())?;
        }
        if let Some(first) = mails.first().filter(|first| first.mail.digest) {
            sqlx::query("INSERT INTO mail_sent (account, at) VALUES (?, ?)")
                .bind(first.mail.account.0)
                .bind(at.0)
                .execute(&mut *change)
                .await
                .map_err(self.failed())?;
        }
        sqlx::query("DELETE FROM mail_sent WHERE at <= ? - 3600000")
            .bind(at.0)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())
    }

    /// Counts a failed attempt. The mails are due again at `due`, or removed if they failed too often or `give_up` is set. Returns whether
    /// they were removed.
    pub async fn mails_failed(&self, mails: &[QueuedMail], due: Timestamp, give_up: bool) -> Result<bool> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let removed = give_up || mails.iter().any(|mail| mail.attempts + 1 >= MAX_MAIL_ATTEMPTS);
        for mail in mails {
            let query = if removed {
                sqlx::query("DELETE FROM mail_queue WHERE id = ?").bind(mail.id)
            } else {
                sqlx::query("UPDATE mail_queue SET attempts = attempts + 1, due = ? WHERE id = ?")
                    .bind(due.0)
                    .bind(mail.id)
            };
            query.execute(&mut *change).await.map_err(self.failed())?;
        }
        change.commit().await.map_err(self.failed())?;
        Ok(removed)
    }

    /// Number of mails that wait.
    pub async fn count_queued_mails(&self) -> Result<u64> {
        let count: i64 = sqlx::query_scalar("SELECT count(*) FROM mail_queue")
            .fetch_one(&self.0.readers)
            .await
            .map_err(self.failed())?;
        Ok(count.max(0) as u64)
    }
}
