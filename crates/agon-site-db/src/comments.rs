//! Comments on competitions, bots and games.

use agon_store::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::profiles::check_text;
use super::{
    AccountId, FromSiteRow, PageRequest, Result, ResultPage, SiteDb, SiteDbError, cursor, names,
    optional_time, result_page, row_limit, time,
};

/// Maximum length of a comment.
pub const MAX_COMMENT_CHARS: usize = 2_000;
/// Maximum length of a reason.
const MAX_REASON_CHARS: usize = 300;
/// Maximum number of comments on one subject.
const MAX_COMMENTS: u32 = 2_000;
/// Reads a comment with its author and the number of open reports.
const COMMENTS: &str = "SELECT comment.*, account.name AS author, (
        SELECT count(*) FROM comment_report WHERE comment_report.comment = comment.id AND settled IS NULL) AS reports
    FROM comment JOIN account ON account.id = comment.account";

/// A comment to add.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewComment {
    /// Id of the competition.
    pub competition: String,
    /// What it is about: empty for the competition, `bot/ID`, or `game/PHASE/MATCH/GAME`.
    pub subject: String,
    /// Author.
    pub account: AccountId,
    /// Comment that it answers.
    pub parent: Option<i64>,
    /// Plain text.
    pub text: String,
    /// Time of creation.
    pub at: Timestamp,
}

/// A comment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comment {
    /// Id.
    pub id: i64,
    /// Content.
    pub comment: NewComment,
    /// Name of the author.
    pub author: String,
    /// When it was last edited.
    pub edited: Option<Timestamp>,
    /// When its author deleted it.
    pub deleted: Option<Timestamp>,
    /// When an organiser hid it.
    pub hidden: Option<Timestamp>,
    /// Why it is hidden.
    pub reason: Option<String>,
    /// Number of reports that no organiser has decided.
    pub reports: u32,
}

impl FromSiteRow for Comment {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let comment = NewComment {
            competition: row.try_get("competition")?,
            subject: row.try_get("subject")?,
            account: AccountId(row.try_get("account")?),
            parent: row.try_get("parent")?,
            text: row.try_get("text")?,
            at: time(row, "created")?,
        };
        Ok(Self {
            id: row.try_get("id")?,
            comment,
            author: row.try_get("author")?,
            edited: optional_time(row, "edited")?,
            deleted: optional_time(row, "deleted")?,
            hidden: optional_time(row, "hidden")?,
            reason: row.try_get("reason")?,
            reports: row.try_get("reports")?,
        })
    }
}

impl SiteDb {
    /// Adds a comment. An answer to an answer becomes an answer to the same comment. Fails with `Conflict` if the competition has no
    /// comments.
    pub async fn add_comment(&self, new: &NewComment) -> Result<Comment> {
        let text = valid_text(&new.text)?;
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        if !self.comments_on(&mut change, &new.competition).await? {
            return Err(SiteDbError::conflict("comments are switched off here"));
        }
        let count: i64 =
            sqlx::query_scalar("SELECT count(*) FROM comment WHERE competition = ? AND subject = ?")
                .bind(&new.competition)
                .bind(&new.subject)
                .fetch_one(&mut *change)
                .await
                .map_err(self.failed())?;
        if count >= i64::from(MAX_COMMENTS) {
            return Err(SiteDbError::TooMany { limit: MAX_COMMENTS });
        }
        let parent = match new.parent {
            Some(parent) => {
                let found = self.comment_in(&mut change, parent).await?;
                let same =
                    (&found.comment.competition, &found.comment.subject) == (&new.competition, &new.subject);
                if !same || found.deleted.is_some() || found.hidden.is_some() {
                    return Err(SiteDbError::NotFound { what: "comment" });
                }
                found.comment.parent.or(Some(parent))
            }
            None => None,
        };
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO comment (competition, subject, account, parent, text, created) VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
        )
        .bind(&new.competition)
        .bind(&new.subject)
        .bind(new.account.0)
        .bind(parent)
        .bind(&text)
        .bind(new.at.0)
        .fetch_one(&mut *change)
        .await
        .map_err(self.failed())?;
        let made = self.comment_in(&mut change, id).await?;
        change.commit().await.map_err(self.failed())?;
        Ok(made)
    }

    /// The comment with this id.
    pub async fn comment(&self, id: i64) -> Result<Comment> {
        let mut reader = self.0.readers.acquire().await.map_err(self.failed())?;
        self.comment_in(&mut reader, id).await
    }

    /// Comments on a subject, newest first, with deleted and hidden ones.
    pub async fn comments(
        &self,
        competition: &str,
        subject: &str,
        page: PageRequest,
    ) -> Result<ResultPage<Comment>> {
        let query = format!(
            "{COMMENTS} WHERE competition = ? AND subject = ? AND comment.id < ? ORDER BY comment.id DESC LIMIT ?"
        );
        let rows = sqlx::query(sqlx::AssertSqlSafe(query))
            .bind(competition)
            .bind(subject)
            .bind(cursor(page))
            .bind(row_limit(page))
            .fetch_all(&self.0.readers)
            .await
            .map_err(self.failed())?;
        result_page(page, &rows, "id").map_err(self.failed())
    }

    /// Comments with reports that no organiser has decided, newest first.
    pub async fn reported_comments(&self, page: PageRequest) -> Result<ResultPage<Comment>> {
        let query = format!(
            "{COMMENTS} WHERE comment.id < ? AND deleted IS NULL AND comment.id IN (
                SELECT comment FROM comment_report WHERE settled IS NULL) ORDER BY comment.id DESC LIMIT ?"
        );
        let rows = sqlx::query(sqlx::AssertSqlSafe(query))
            .bind(cursor(page))
            .bind(row_limit(page))
            .fetch_all(&self.0.readers)
            .await
            .map_err(self.failed())?;
        result_page(page, &rows, "id").map_err(self.failed())
    }

    /// Reasons of the open reports of a comment.
    pub async fn report_reasons(&self, id: i64) -> Result<Vec<String>> {
        sqlx::query_scalar("SELECT reason FROM comment_report WHERE comment = ? AND settled IS NULL LIMIT 20")
            .bind(id)
            .fetch_all(&self.0.readers)
            .await
            .map_err(self.failed())
    }

    /// Changes the text of a comment. Only its author may, and not after it was hidden.
    pub async fn edit_comment(&self, id: i64, by: AccountId, text: &str, at: Timestamp) -> Result<Comment> {
        let text = valid_text(text)?;
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let found = self.own_comment(&mut change, id, by).await?;
        if found.hidden.is_some() {
            return Err(SiteDbError::conflict("an organiser has hidden this comment"));
        }
        sqlx::query("UPDATE comment SET text = ?, edited = ? WHERE id = ?")
            .bind(&text)
            .bind(at.0)
            .bind(id)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        let changed = self.comment_in(&mut change, id).await?;
        change.commit().await.map_err(self.failed())?;
        Ok(changed)
    }

    /// Deletes a comment of its author: its text is gone, answers stay.
    pub async fn delete_comment(&self, id: i64, by: AccountId, at: Timestamp) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        self.own_comment(&mut change, id, by).await?;
        sqlx::query("UPDATE comment SET text = '', deleted = ? WHERE id = ?")
            .bind(at.0)
            .bind(id)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())
    }

    /// Reports a comment to the organisers. A second report of one account changes its reason.
    pub async fn report_comment(&self, id: i64, by: AccountId, reason: &str, at: Timestamp) -> Result<()> {
        names::check_line("reason", reason, 1, MAX_REASON_CHARS)?;
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let found = self.comment_in(&mut change, id).await?;
        if found.deleted.is_some() || found.hidden.is_some() {
            return Err(SiteDbError::NotFound { what: "comment" });
        }
        if found.comment.account == by {
            return Err(SiteDbError::conflict("this is your own comment"));
        }
        // A report that was decided stays decided.
        sqlx::query(
            "INSERT INTO comment_report (comment, account, reason, created) VALUES (?, ?, ?, ?)
             ON CONFLICT (comment, account) DO UPDATE SET reason = excluded.reason",
        )
        .bind(id)
        .bind(by.0)
        .bind(reason)
        .bind(at.0)
        .execute(&mut *change)
        .await
        .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())
    }

    /// Hides a comment for a reason, or shows it again (`None`). Decides its open reports.
    pub async fn hide_comment(
        &self,
        id: i64,
        by: AccountId,
        reason: Option<&str>,
        at: Timestamp,
    ) -> Result<Comment> {
        if let Some(reason) = reason {
            names::check_line("reason", reason, 1, MAX_REASON_CHARS)?;
        }
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        self.comment_in(&mut change, id).await?;
        sqlx::query("UPDATE comment SET hidden = ?, hidden_by = ?, reason = ? WHERE id = ?")
            .bind(reason.map(|_| at.0))
            .bind(reason.map(|_| by.0))
            .bind(reason)
            .bind(id)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        sqlx::query("UPDATE comment_report SET settled = ? WHERE comment = ? AND settled IS NULL")
            .bind(at.0)
            .bind(id)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        let changed = self.comment_in(&mut change, id).await?;
        change.commit().await.map_err(self.failed())?;
        Ok(changed)
    }

    /// Whether a competition has comments.
    pub async fn has_comments(&self, competition: &str) -> Result<bool> {
        let mut reader = self.0.readers.acquire().await.map_err(self.failed())?;
        self.comments_on(&mut reader, competition).await
    }

    /// Switches the comments of a competition on or off. Existing ones are kept.
    pub async fn switch_comments(&self, competition: &str, on: bool) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let done = sqlx::query("UPDATE competition SET comments = ? WHERE id = ?")
            .bind(on)
            .bind(competition)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        if done.rows_affected() == 0 {
            return Err(SiteDbError::NotFound { what: "competition" });
        }
        change.commit().await.map_err(self.failed())
    }

    async fn comments_on(&self, connection: &mut SqliteConnection, competition: &str) -> Result<bool> {
        sqlx::query_scalar("SELECT comments FROM competition WHERE id = ?")
            .bind(competition)
            .fetch_optional(connection)
            .await
            .map_err(self.failed())?
            .ok_or(SiteDbError::NotFound { what: "competition" })
    }

    async fn comment_in(&self, connection: &mut SqliteConnection, id: i64) -> Result<Comment> {
        let row = sqlx::query(sqlx::AssertSqlSafe(format!("{COMMENTS} WHERE comment.id = ?")))
            .bind(id)
            .fetch_optional(connection)
            .await
            .map_err(self.failed())?
            .ok_or(SiteDbError::NotFound { what: "comment" })?;
        Comment::read(&row).map_err(self.failed())
    }

    async fn own_comment(&self, change: &mut SqliteConnection, id: i64, by: AccountId) -> Result<Comment> {
        let found = self.comment_in(change, id).await?;
        if found.deleted.is_some() {
            return Err(SiteDbError::NotFound { what: "comment" });
        }
        if found.comment.account != by {
            return Err(SiteDbError::conflict("only the author of a comment can change it"));
        }
        Ok(found)
    }
}

/// The text as it is stored: with plain line feeds, without spaces around it.
fn valid_text(text: &str) -> Result<String> {
    let text = text.replace("\r\n", "\n").trim().to_owned();
    check_text("text", &text, 1, MAX_COMMENT_CHARS)?;
    Ok(text)
}
