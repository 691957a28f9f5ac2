//! Drafts of bots: what authors write in the editor before they submit it.

use agon_store::Timestamp;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::{AccountId, FromSiteRow, Result, SiteDb, SiteDbError, time};

/// Maximum size of the files of a draft as stored, in bytes.
pub const MAX_DRAFT_BYTES: usize = 512 << 10;
/// Maximum number of drafts of an account.
pub const MAX_DRAFTS: u32 = 40;

/// Which draft: one for each account, competition and bot.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct DraftKey {
    /// The author.
    pub account: AccountId,
    /// The competition.
    pub competition: String,
    /// The bot of which it becomes a version; 0 for a new bot.
    pub bot: i64,
}

/// A stored draft.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BotDraft {
    /// The files, in the format of the caller.
    pub files: String,
    /// Increases with each change.
    pub revision: i64,
    /// When it was changed.
    pub changed: Timestamp,
}

impl FromSiteRow for BotDraft {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            files: row.try_get("files")?,
            revision: row.try_get("revision")?,
            changed: time(row, "changed")?,
        })
    }
}

impl SiteDb {
    /// A draft, if there is one.
    pub async fn bot_draft(&self, key: &DraftKey) -> Result<Option<BotDraft>> {
        let row = sqlx::query("SELECT * FROM bot_draft WHERE account = ? AND competition = ? AND bot = ?")
            .bind(key.account.0)
            .bind(&key.competition)
            .bind(key.bot)
            .fetch_optional(&self.0.readers)
            .await
            .map_err(self.failed())?;
        row.as_ref().map(BotDraft::read).transpose().map_err(self.failed())
    }

    /// Stores a draft if its revision is still `revision`, 0 for a new one. Returns the draft, or `Conflict` if it was changed elsewhere.
    pub async fn put_bot_draft(
        &self,
        key: &DraftKey,
        files: &str,
        revision: i64,
        at: Timestamp,
    ) -> Result<BotDraft> {
        if files.len() > MAX_DRAFT_BYTES {
            let what = format!("they are longer than {} KiB", MAX_DRAFT_BYTES >> 10);
            return Err(SiteDbError::invalid("files", what));
        }
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let found: Option<i64> = sqlx::query_scalar(
            "SELECT revision FROM bot_draft WHERE account = ? AND competition = ? AND bot = ?",
        )
        .bind(key.account.0)
        .bind(&key.competition)
        .bind(key.bot)
        .fetch_optional(&mut *change)
        .await
        .map_err(self.failed())?;
        if found.unwrap_or(0) != revision {
            return Err(SiteDbError::Conflict { what: "the draft was changed elsewhere".to_owned() });
        }
        if found.is_none() {
            let count: u32 = sqlx::query_scalar("SELECT COUNT(*) FROM bot_draft WHERE account = ?")
                .bind(key.account.0)
                .fetch_one(&mut *change)
                .await
                .map_err(self.failed())?;
            if count >= MAX_DRAFTS {
                return Err(SiteDbError::TooMany { limit: MAX_DRAFTS });
            }
        }
        sqlx::query(
            "INSERT INTO bot_draft (account, competition, bot, files, bytes, revision, changed) VALUES (?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT (account, competition, bot) DO UPDATE SET
             files = excluded.files, bytes = excluded.bytes, revision = excluded.revision, changed = excluded.changed",
        )
        .bind(key.account.0)
        .bind(&key.competition)
        .bind(key.bot)
        .bind(files)
        .bind(files.len() as i64)
        .bind(revision + 1)
        .bind(at.0)
        .execute(&mut *change)
        .await
        .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())?;
        Ok(BotDraft { files: files.to_owned(), revision: revision + 1, changed: at })
    }

    /// Deletes a draft, if there is one.
    pub async fn delete_bot_draft(&self, key: &DraftKey) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        sqlx::query("DELETE FROM bot_draft WHERE account = ? AND competition = ? AND bot = ?")
            .bind(key.account.0)
            .bind(&key.competition)
            .bind(key.bot)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())
    }
}
