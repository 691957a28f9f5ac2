//! What submissions occupy on disk: their unpacked files and their trial records, old versions included. A quota is checked in the
//! transaction that adds a submission, so that concurrent uploads cannot exceed it together.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::{AccountId, EntrantId, FromSiteRow, Result, SiteDb, SiteDbError, SubmissionId};

/// Maximum bytes on disk for submissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DiskQuota {
    /// For all submissions of one account.
    pub per_account: u64,
    /// For all submissions of the site.
    pub total: u64,
}

impl DiskQuota {
    /// No limits.
    pub const UNLIMITED: Self = Self { per_account: u64::MAX, total: u64::MAX };
}

/// What is needed to find the files of a submission.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SubmissionPlace {
    /// The submission.
    pub id: SubmissionId,
    /// Id of its competition.
    pub competition: String,
    /// Its entrant.
    pub entrant: EntrantId,
}

impl FromSiteRow for SubmissionPlace {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let id: &str = row.try_get("id")?;
        Ok(Self {
            id: SubmissionId::parse(id).ok_or_else(|| sqlx::Error::Decode("a submission's id".into()))?,
            competition: row.try_get("competition_id")?,
            entrant: EntrantId(row.try_get("entrant")?),
        })
    }
}

impl SiteDb {
    /// Fails if `more` bytes exceed the quota of the account or of the site.
    pub(super) async fn check_disk_quota(
        &self,
        connection: &mut SqliteConnection,
        account: AccountId,
        more: u64,
        quota: DiskQuota,
    ) -> Result<()> {
        let row = sqlx::query(
            "SELECT (SELECT coalesce(sum(bytes), 0) FROM submission_disk WHERE account = ?) AS own,
                (SELECT coalesce(sum(bytes), 0) FROM submission_disk) AS total",
        )
        .bind(account.0)
        .fetch_one(connection)
        .await
        .map_err(self.failed())?;
        let used = |column: &str| row.try_get::<i64, _>(column).map(|sum| sum.max(0) as u64);
        let (own, total) = (used("own").map_err(self.failed())?, used("total").map_err(self.failed())?);
        if own.saturating_add(more) > quota.per_account {
            let (used, limit) = (own, quota.per_account);
            return Err(SiteDbError::QuotaExceeded { of_site: false, used, more, limit });
        }
        if total.saturating_add(more) > quota.total {
            let (used, limit) = (total, quota.total);
            return Err(SiteDbError::QuotaExceeded { of_site: true, used, more, limit });
        }
        Ok(())
    }

    /// Stores what a submission occupies on disk.
    pub(super) async fn set_disk_bytes_in(
        &self,
        connection: &mut SqliteConnection,
        id: &SubmissionId,
        bytes: u64,
    ) -> Result<()> {
        sqlx::query(
            "INSERT INTO submission_disk (submission, account, bytes) SELECT seq, account, ?2 FROM submission WHERE id = ?1
             ON CONFLICT (submission) DO UPDATE SET bytes = excluded.bytes",
        )
        .bind(id.as_str())
        .bind(i64::try_from(bytes).unwrap_or(i64::MAX))
        .execute(connection)
        .await
        .map_err(self.failed())?;
        Ok(())
    }

    /// Stores what a submission occupies on disk: after its check, and after its files were deleted.
    pub async fn set_disk_bytes(&self, id: &SubmissionId, bytes: u64) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        self.set_disk_bytes_in(&mut change, id, bytes).await?;
        change.commit().await.map_err(self.failed())
    }

    /// What all submissions of an account occupy on disk; of all accounts with `None`.
    pub async fn disk_bytes(&self, account: Option<AccountId>) -> Result<u64> {
        let sum: i64 = sqlx::query_scalar(
            "SELECT coalesce(sum(bytes), 0) FROM submission_disk WHERE ?1 IS NULL OR account = ?1",
        )
        .bind(account.map(|account| account.0))
        .fetch_one(&self.0.readers)
        .await
        .map_err(self.failed())?;
        Ok(sum.max(0) as u64)
    }

    /// Submissions with files, but without a stored size: they come from an earlier version of the program.
    pub async fn unmeasured_submissions(&self) -> Result<Vec<SubmissionPlace>> {
        let rows = sqlx::query(
            "SELECT id, competition_id, entrant FROM submission_shown
             WHERE (folder IS NOT NULL OR state IN ('queued', 'checking'))
                AND seq NOT IN (SELECT submission FROM submission_disk) ORDER BY seq",
        )
        .fetch_all(&self.0.readers)
        .await
        .map_err(self.failed())?;
        rows.iter().map(SubmissionPlace::read).collect::<Result<_, _>>().map_err(self.failed())
    }

    /// Deletes the trial records of rejected submissions of an account, except those of the latest `keep`. They no longer count. Returns
    /// these submissions.
    pub async fn prune_trials(&self, account: AccountId, keep: u32) -> Result<Vec<SubmissionPlace>> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let rows = sqlx::query(
            "SELECT seq, id, competition_id, entrant FROM (
                SELECT * FROM submission_shown WHERE account = ? AND state IN ('refused', 'broke')
                ORDER BY seq DESC LIMIT -1 OFFSET ?
             ) WHERE seq IN (SELECT submission FROM submission_disk WHERE bytes > 0)",
        )
        .bind(account.0)
        .bind(keep)
        .fetch_all(&mut *change)
        .await
        .map_err(self.failed())?;
        for row in &rows {
            let seq: i64 = row.try_get("seq").map_err(self.failed())?;
            for text in [
                "DELETE FROM trial WHERE submission = ?",
                "UPDATE submission_disk SET bytes = 0 WHERE submission = ?",
            ] {
                sqlx::query(text).bind(seq).execute(&mut *change).await.map_err(self.failed())?;
            }
        }
        change.commit().await.map_err(self.failed())?;
        rows.iter().map(SubmissionPlace::read).collect::<Result<_, _>>().map_err(self.failed())
    }
}
