//! Notifications of accounts, and the choice of channels.

use agon_store::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::model::named_enum;
use super::{
    AccountId, FromSiteRow, PageRequest, Result, ResultPage, SiteDb, SiteDbError, cursor, enum_column, names,
    optional_time, result_page, row_limit, time,
};

/// Maximum number of notifications that an account keeps. Older ones are removed.
pub const MAX_NOTIFICATIONS: i64 = 500;
/// Maximum length of the text of a notification.
pub const MAX_NOTIFICATION_CHARS: usize = 300;

named_enum! {
    /// What a notification is about.
    NotificationKind {
        /// The check of a submission is finished.
        CheckDone = "check_done",
        /// A bot lost a rank.
        Overtaken = "overtaken",
        /// A bot had faults.
        Crashed = "crashed",
        /// A phase of a competition begins.
        PhaseBegins = "phase_begins",
        /// Someone answered a comment.
        CommentReply = "comment_reply",
        /// Someone invites to a team.
        TeamInvitation = "team_invitation",
        /// A challenge is finished.
        ChallengeDone = "challenge_done",
    }
}

named_enum! {
    /// How notifications are delivered.
    NotificationChannel {
        /// On the site.
        Site = "site",
        /// By mail.
        Mail = "mail",
        /// By webhook.
        Webhook = "webhook",
    }
}

impl NotificationChannel {
    /// Whether the channel is used for a kind, unless the account chose otherwise. An address or a webhook is itself a choice, so all
    /// channels are on.
    pub const fn is_usual(self, kind: NotificationKind) -> bool {
        match self {
            Self::Site | Self::Webhook => true,
            // Frequent kinds would fill a mailbox.
            Self::Mail => !matches!(kind, NotificationKind::Overtaken | NotificationKind::ChallengeDone),
        }
    }
}

/// A notification to add.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewNotification {
    /// Recipient.
    pub account: AccountId,
    /// What it is about.
    pub kind: NotificationKind,
    /// One sentence.
    pub text: String,
    /// Path of this site with more about it.
    pub link: String,
    /// What it is about, such as `bot/12`. See [`SiteDb::is_notified_since`].
    pub topic: String,
    /// Whether the site shows it. One that it does not show still counts for [`SiteDb::is_notified_since`].
    pub shown: bool,
    /// Time of the event.
    pub at: Timestamp,
}

/// A notification.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Notification {
    /// Id.
    pub id: i64,
    /// What it is about.
    pub kind: NotificationKind,
    /// One sentence.
    pub text: String,
    /// Path of this site with more about it.
    pub link: String,
    /// Time of the event.
    pub created: Timestamp,
    /// When it was read.
    pub read: Option<Timestamp>,
}

impl FromSiteRow for Notification {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: row.try_get("id")?,
            kind: enum_column(row, "kind", NotificationKind::by_name)?,
            text: row.try_get("text")?,
            link: row.try_get("link")?,
            created: time(row, "created")?,
            read: optional_time(row, "read")?,
        })
    }
}

/// Choice of one channel for one kind.
pub type ChannelChoice = (NotificationKind, NotificationChannel, bool);

impl SiteDb {
    /// Adds a notification and removes the oldest ones beyond the limit.
    pub async fn add_notification(&self, new: &NewNotification) -> Result<i64> {
        if !is_own_path(&new.link) {
            return Err(SiteDbError::invalid("link", "it must be a path of this site"));
        }
        let text = names::truncated(&new.text, MAX_NOTIFICATION_CHARS);
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO notification (account, kind, text, link, topic, shown, created) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id",
        )
        .bind(new.account.0)
        .bind(new.kind.name())
        .bind(text)
        .bind(&new.link)
        .bind(&new.topic)
        .bind(new.shown)
        .bind(new.at.0)
        .fetch_one(&mut *change)
        .await
        .map_err(self.failed())?;
        self.trim_notifications(&mut change, new.account).await?;
        change.commit().await.map_err(self.failed())?;
        Ok(id)
    }

    async fn trim_notifications(&self, change: &mut SqliteConnection, account: AccountId) -> Result<()> {
        sqlx::query(
            "DELETE FROM notification WHERE account = ?1 AND id <= (
                SELECT id FROM notification WHERE account = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)",
        )
        .bind(account.0)
        .bind(MAX_NOTIFICATIONS)
        .execute(change)
        .await
        .map_err(self.failed())?;
        Ok(())
    }

    /// Whether the account has a notification of this kind about this topic since a time.
    pub async fn is_notified_since(
        &self,
        account: AccountId,
        kind: NotificationKind,
        topic: &str,
        since: Timestamp,
    ) -> Result<bool> {
        sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM notification WHERE account = ? AND kind = ? AND topic = ? AND created > ?)",
        )
        .bind(account.0)
        .bind(kind.name())
        .bind(topic)
        .bind(since.0)
        .fetch_one(&self.0.readers)
        .await
        .map_err(self.failed())
    }

    /// Notifications of an account, newest first.
    pub async fn notifications(
        &self,
        account: AccountId,
        page: PageRequest,
    ) -> Result<ResultPage<Notification>> {
        let rows = sqlx::query(
            "SELECT * FROM notification WHERE account = ? AND shown = 1 AND id < ? ORDER BY id DESC LIMIT ?",
        )
        .bind(account.0)
        .bind(cursor(page))
        .bind(row_limit(page))
        .fetch_all(&self.0.readers)
        .await
        .map_err(self.failed())?;
        result_page(page, &rows, "id").map_err(self.failed())
    }

    /// Number of notifications that the account has not read.
    pub async fn count_unread(&self, account: AccountId) -> Result<u64> {
        let count: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM notification WHERE account = ? AND read IS NULL AND shown = 1",
        )
        .bind(account.0)
        .fetch_one(&self.0.readers)
        .await
        .map_err(self.failed())?;
        Ok(count.max(0) as u64)
    }

    /// Marks notifications up to this id as read, or only the one with this id. Returns the number of changed ones.
    pub async fn mark_read(&self, account: AccountId, id: i64, only: bool, at: Timestamp) -> Result<u64> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let query = if only {
            "UPDATE notification SET read = ? WHERE account = ? AND read IS NULL AND id = ?"
        } else {
            "UPDATE notification SET read = ? WHERE account = ? AND read IS NULL AND id <= ?"
        };
        let done = sqlx::query(query)
            .bind(at.0)
            .bind(account.0)
            .bind(id)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())?;
        Ok(done.rows_affected())
    }

    /// Whether an account wants a kind of notification by this channel.
    pub async fn wants(
        &self,
        account: AccountId,
        kind: NotificationKind,
        channel: NotificationChannel,
    ) -> Result<bool> {
        let choices = self.channel_choices(account).await?;
        let found = choices.into_iter().find(|one| (one.0, one.1) == (kind, channel));
        Ok(found.is_some_and(|(_, _, enabled)| enabled))
    }

    /// All choices of an account, with the usual ones.
    pub async fn channel_choices(&self, account: AccountId) -> Result<Vec<ChannelChoice>> {
        let rows = sqlx::query("SELECT * FROM notification_choice WHERE account = ?")
            .bind(account.0)
            .fetch_all(&self.0.readers)
            .await
            .map_err(self.failed())?;
        let mut stored: Vec<ChannelChoice> = Vec::with_capacity(rows.len());
        for row in &rows {
            let read = || {
                Ok((
                    enum_column(row, "kind", NotificationKind::by_name)?,
                    enum_column(row, "channel", NotificationChannel::by_name)?,
                    row.try_get("enabled")?,
                ))
            };
            stored.push(read().map_err(self.failed())?);
        }
        let mut choices = Vec::new();
        for &kind in NotificationKind::ALL {
            for &channel in NotificationChannel::ALL {
                let own = stored.iter().find(|one| (one.0, one.1) == (kind, channel));
                choices.push((kind, channel, own.map_or_else(|| channel.is_usual(kind), |one| one.2)));
            }
        }
        Ok(choices)
    }

    /// Stores choices of an account. Others stay.
    pub async fn set_channel_choices(&self, account: AccountId, choices: &[ChannelChoice]) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        for (kind, channel, enabled) in choices {
            sqlx::query(
                "INSERT INTO notification_choice (account, kind, channel, enabled) VALUES (?, ?, ?, ?)
                 ON CONFLICT (account, kind, channel) DO UPDATE SET enabled = excluded.enabled",
            )
            .bind(account.0)
            .bind(kind.name())
            .bind(channel.name())
            .bind(enabled)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        }
        change.commit().await.map_err(self.failed())
    }

    /// Turns off one channel for all kinds: what an unsubscribe link does.
    pub async fn turn_off_channel(&self, account: AccountId, channel: NotificationChannel) -> Result<()> {
        let choices: Vec<ChannelChoice> =
            NotificationKind::ALL.iter().map(|&kind| (kind, channel, false)).collect();
        self.set_channel_choices(account, &choices).await
    }
}

/// Whether a text is a path of this site and nothing else.
fn is_own_path(link: &str) -> bool {
    link.starts_with('/')
        && !link.starts_with("//")
        && link.len() <= 400
        && !link.contains(|c: char| c.is_control() || c == '\\')
}
