//! The audit log: actions with account, subject and reason. Entries are only added.

use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row as _, Sqlite};

use super::{
    AccountId, AuditEntry, AuditFilter, AuditId, FromSiteRow, NewAuditEntry, PageRequest, Result, ResultPage,
    SiteDb, SiteDbError, account_in, cursor, names, result_page, row_limit, time,
};

impl FromSiteRow for AuditEntry {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let what = NewAuditEntry {
            at: time(row, "at")?,
            account: row.try_get::<Option<i64>, _>("account")?.map(AccountId),
            action: row.try_get("action")?,
            competition: row.try_get("competition")?,
            subject: row.try_get("subject")?,
            reason: row.try_get("reason")?,
            detail: row.try_get("detail")?,
        };
        Ok(Self { id: AuditId(row.try_get("id")?), entry: what })
    }
}

impl SiteDb {
    /// Adds an entry. A reason has at most 1,000 characters, a subject 200; `detail` must be JSON.
    pub async fn append_audit(&self, new: &NewAuditEntry) -> Result<AuditId> {
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.');
        if !(1..=40).contains(&new.action.len()) || !new.action.bytes().all(allowed) {
            let what = "it must be 1 to 40 lowercase letters (a-z), digits, hyphens, underscores and dots";
            return Err(SiteDbError::invalid("action", what));
        }
        names::check_line("subject", &new.subject, 0, 200)?;
        names::check_line("reason", &new.reason, 0, 1_000)?;
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        if let Some(account) = new.account {
            account_in(&mut change, account, self.path()).await?;
        }
        let id = sqlx::query_scalar(
            "INSERT INTO audit (at, account, action, competition, subject, reason, detail) VALUES (?, ?, ?, ?, ?, ?, ?)
             RETURNING id",
        )
        .bind(new.at.0)
        .bind(new.account.map(|account| account.0))
        .bind(&new.action)
        .bind(&new.competition)
        .bind(&new.subject)
        .bind(&new.reason)
        .bind(&new.detail)
        .fetch_one(&mut *change)
        .await
        .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())?;
        Ok(AuditId(id))
    }

    /// Entries, newest first.
    pub async fn audit(&self, filter: &AuditFilter, page: PageRequest) -> Result<ResultPage<AuditEntry>> {
        // Produces only a few different statements, so that SQLite parses each once.
        let mut query: QueryBuilder<Sqlite> = QueryBuilder::new("SELECT * FROM audit WHERE id < ");
        query.push_bind(cursor(page));
        if let Some(account) = filter.account {
            query.push(" AND account = ").push_bind(account.0);
        }
        if let Some(action) = &filter.action {
            query.push(" AND action = ").push_bind(action);
        }
        if let Some(competition) = &filter.competition {
            query.push(" AND competition = ").push_bind(competition);
        }
        query.push(" ORDER BY id DESC LIMIT ").push_bind(row_limit(page));
        let rows = query.build().fetch_all(&self.0.readers).await.map_err(self.failed())?;
        result_page(page, &rows, "id").map_err(self.failed())
    }
}
