//! Submissions: a check queue that survives a crash of the server, and the results of the checks.

use agon_store::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::competitions::check_state;
use super::{
    AccountId, CompetitionState, DiskQuota, EntrantId, FromSiteRow, NewSubmission, PageRequest,
    RequeueCounts, Result, ResultPage, SiteDb, SiteDbError, Submission, SubmissionFilter, SubmissionId,
    SubmissionState, SubmissionVerdict, account_in, cursor, digest, enum_column, error, names, optional_time,
    result_page, row_limit, time,
};

/// Maximum total size of the trial records of a submission.
pub const MAX_TRIALS_BYTES: usize = 2 * 1024 * 1024;
/// Maximum number of interrupted checks. More attempts are not made, because the submission may be what stops the server.
pub const MAX_CHECK_ATTEMPTS: u32 = 3;
/// Longer file names are truncated.
const MAX_FILE_NAME_CHARS: usize = 200;

impl FromSiteRow for Submission {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let id: &str = row.try_get("id")?;
        Ok(Self {
            id: SubmissionId::parse(id).ok_or_else(|| sqlx::Error::Decode("a submission's id".into()))?,
            competition: row.try_get("competition_id")?,
            entrant: EntrantId(row.try_get("entrant")?),
            account: AccountId(row.try_get("account")?),
            version: row.try_get("version")?,
            file: row.try_get("file")?,
            bytes: row.try_get::<i64, _>("bytes")?.max(0) as u64,
            hash: digest(row, "hash")?,
            state: enum_column(row, "state", SubmissionState::by_name)?,
            report: row.try_get("report")?,
            folder: row.try_get("folder")?,
            from_phase: row.try_get("from_phase")?,
            attempts: row.try_get("attempts")?,
            created: time(row, "created")?,
            started: optional_time(row, "started")?,
            finished: optional_time(row, "finished")?,
        })
    }
}

impl SiteDb {
    /// [`SiteDb::enqueue_within`] for a submission without files.
    pub async fn enqueue(
        &self,
        new: &NewSubmission,
        allowed_states: &[CompetitionState],
    ) -> Result<Submission> {
        self.enqueue_within(new, allowed_states, 0, DiskQuota::UNLIMITED).await
    }

    /// Queues a submission for its check, if the competition is in one of the states `allowed_states`. `disk_bytes` is what its files
    /// occupy on disk. Fails with `Conflict` if the entrant has withdrawn, and with `QuotaExceeded` if the files do not fit.
    pub async fn enqueue_within(
        &self,
        new: &NewSubmission,
        allowed_states: &[CompetitionState],
        disk_bytes: u64,
        quota: DiskQuota,
    ) -> Result<Submission> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        account_in(&mut change, new.account, self.path()).await?;
        let entrant = self.entrant_in(&mut change, new.entrant).await?;
        if entrant.withdrawn.is_some() {
            return Err(SiteDbError::conflict(format!("{} has withdrawn", entrant.name)));
        }
        let (seq, competition) = self.competition_in(&mut change, &entrant.competition).await?;
        check_state(&competition, allowed_states)?;
        self.check_disk_quota(&mut change, new.account, disk_bytes, quota).await?;
        // The name is only displayed. Control characters in it have no use and could garble the display.
        let file: String =
            names::truncated(&new.file, MAX_FILE_NAME_CHARS).chars().filter(|c| !c.is_control()).collect();
        sqlx::query(
            "INSERT INTO submission (id, competition, entrant, account, file, bytes, hash, state, from_phase, created)
             VALUES (?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?)",
        )
        .bind(new.id.as_str())
        .bind(seq)
        .bind(new.entrant.0)
        .bind(new.account.0)
        .bind(&file)
        .bind(i64::try_from(new.bytes).unwrap_or(i64::MAX))
        .bind(&new.hash.0[..])
        .bind(new.from_phase)
        .bind(new.at.0)
        .execute(&mut *change)
        .await
        .map_err(error::unless_taken(self.path(), "submission id"))?;
        self.set_disk_bytes_in(&mut change, &new.id, disk_bytes).await?;
        let submission = self.submission_in(&mut change, &new.id).await?.1;
        change.commit().await.map_err(self.failed())?;
        Ok(submission)
    }

    /// [`SiteDb::claim_next_fairly`] without a limit for one account.
    pub async fn claim_next(&self, at: Timestamp) -> Result<Option<Submission>> {
        self.claim_next_fairly(at, u32::MAX).await
    }

    /// Takes the next submission from the queue and marks it as being checked. Each is returned once. First come the accounts with the
    /// fewest running checks, then those that used the least check time in the last hour, then the order of upload: an account with
    /// many or slow submissions delays itself, not others. An account never has more than `max_per_account` checks at a time. Two
    /// submissions of one entrant are never checked at the same time, so that later uploads get later versions.
    pub async fn claim_next_fairly(&self, at: Timestamp, max_per_account: u32) -> Result<Option<Submission>> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let id: Option<String> = sqlx::query_scalar(
            "WITH running AS (SELECT account, count(*) AS checks FROM submission WHERE state = 'checking' GROUP BY account)
             UPDATE submission SET state = 'checking', started = ?1, attempts = attempts + 1
             WHERE seq = (
                SELECT next.seq FROM submission AS next LEFT JOIN running ON running.account = next.account
                WHERE next.state = 'queued' AND coalesce(running.checks, 0) < ?2 AND NOT EXISTS (
                    SELECT 1 FROM submission AS other WHERE other.entrant = next.entrant AND other.state = 'checking'
                )
                ORDER BY coalesce(running.checks, 0), (
                    SELECT coalesce(sum(past.finished - past.started), 0) FROM submission AS past
                    WHERE past.account = next.account AND past.finished > ?1 - 3600000
                ), next.seq LIMIT 1
             ) RETURNING id",
        )
        .bind(at.0)
        .bind(max_per_account)
        .fetch_optional(&mut *change)
        .await
        .map_err(self.failed())?;
        let Some(id) = id.as_deref().and_then(SubmissionId::parse) else { return Ok(None) };
        let submission = self.submission_in(&mut change, &id).await?.1;
        change.commit().await.map_err(self.failed())?;
        Ok(Some(submission))
    }

    /// Queues interrupted checks again at their old position. Call it when a server starts, before [`SiteDb::claim_next`], and never while
    /// another server runs ([`SiteDb::acquire_server_lock`]). Gives up submissions that were interrupted [`MAX_CHECK_ATTEMPTS`] times.
    pub async fn requeue_checking(&self, at: Timestamp) -> Result<RequeueCounts> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let given_up = sqlx::query(
            "UPDATE submission SET state = 'broke', finished = ? WHERE state = 'checking' AND attempts >= ?",
        )
        .bind(at.0)
        .bind(MAX_CHECK_ATTEMPTS)
        .execute(&mut *change)
        .await
        .map_err(self.failed())?;
        let queued =
            sqlx::query("UPDATE submission SET state = 'queued', started = NULL WHERE state = 'checking'")
                .execute(&mut *change)
                .await
                .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())?;
        Ok(RequeueCounts { queued: queued.rows_affected(), given_up: given_up.rows_affected() })
    }

    /// Stores the verdict of a check. An accepted bot gets its version. Fails with `Conflict` if the submission was not being checked.
    pub async fn finish(&self, id: &SubmissionId, verdict: &SubmissionVerdict) -> Result<Submission> {
        validate_verdict(verdict)?;
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let (seq, found) = self.submission_in(&mut change, id).await?;
        if found.state != SubmissionState::Checking {
            return Err(SiteDbError::conflict(format!("the submission is {}, not checking", found.state)));
        }
        sqlx::query(
            "UPDATE submission SET state = ?1, report = ?2, folder = ?3, finished = ?4, version = iif(?1 = 'accepted',
                (SELECT 1 + coalesce(max(version), 0) FROM submission AS other WHERE other.entrant = submission.entrant), NULL)
             WHERE seq = ?5",
        )
        .bind(verdict.state.name())
        .bind(&verdict.report)
        .bind(&verdict.folder)
        .bind(verdict.at.0)
        .bind(seq)
        .execute(&mut *change)
        .await
        .map_err(self.failed())?;
        for (trial, record) in verdict.trials.iter().enumerate() {
            sqlx::query("INSERT INTO trial (submission, trial, record) VALUES (?, ?, ?)")
                .bind(seq)
                .bind(trial as i64)
                .bind(&record[..])
                .execute(&mut *change)
                .await
                .map_err(self.failed())?;
        }
        let submission = self.submission_in(&mut change, id).await?.1;
        change.commit().await.map_err(self.failed())?;
        Ok(submission)
    }

    /// The submission with this id.
    pub async fn submission(&self, id: &SubmissionId) -> Result<Submission> {
        let mut reader = self.0.readers.acquire().await.map_err(self.failed())?;
        Ok(self.submission_in(&mut reader, id).await?.1)
    }

    /// Records of the trial games of a submission.
    pub async fn trials(&self, id: &SubmissionId) -> Result<Vec<Vec<u8>>> {
        sqlx::query_scalar(
            "SELECT record FROM trial JOIN submission ON submission.seq = trial.submission WHERE id = ? ORDER BY trial",
        )
        .bind(id.as_str())
        .fetch_all(&self.0.readers)
        .await
        .map_err(self.failed())
    }

    /// Submissions, newest first.
    pub async fn submissions(
        &self,
        filter: SubmissionFilter<'_>,
        page: PageRequest,
    ) -> Result<ResultPage<Submission>> {
        let text = match filter {
            SubmissionFilter::All => "SELECT * FROM submission_shown WHERE seq < ?2 ORDER BY seq DESC LIMIT ?3",
            SubmissionFilter::Entrant(_) => {
                "SELECT * FROM submission_shown WHERE entrant = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3"
            }
            SubmissionFilter::Account(_) => {
                "SELECT * FROM submission_shown WHERE account = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3"
            }
            SubmissionFilter::Competition(_) => {
                "SELECT * FROM submission_shown WHERE competition = (SELECT seq FROM competition WHERE id = ?1) AND seq < ?2
                 ORDER BY seq DESC LIMIT ?3"
            }
        };
        let query = match filter {
            SubmissionFilter::All => sqlx::query(text).bind(0),
            SubmissionFilter::Entrant(id) => sqlx::query(text).bind(id.0),
            SubmissionFilter::Account(id) => sqlx::query(text).bind(id.0),
            SubmissionFilter::Competition(id) => sqlx::query(text).bind(id),
        };
        let rows = query
            .bind(cursor(page))
            .bind(row_limit(page))
            .fetch_all(&self.0.readers)
            .await
            .map_err(self.failed())?;
        result_page(page, &rows, "seq").map_err(self.failed())
    }

    /// Bots for a phase: for each entrant that has not withdrawn, its latest accepted submission up to that phase, in the order of
    /// entry. Does not include house bots.
    pub async fn accepted_for_phase(&self, competition: &str, phase: u32) -> Result<Vec<Submission>> {
        let rows = sqlx::query(
            "SELECT s.* FROM submission_shown s JOIN entrant e ON e.id = s.entrant
             WHERE s.competition_id = ?1 AND s.version = (SELECT max(version) FROM submission AS latest
                WHERE latest.entrant = e.id AND latest.state = 'accepted' AND latest.from_phase <= ?2)
                AND e.withdrawn IS NULL
             ORDER BY e.id",
        )
        .bind(competition)
        .bind(phase)
        .fetch_all(&self.0.readers)
        .await
        .map_err(self.failed())?;
        rows.iter().map(Submission::read).collect::<Result<_, _>>().map_err(self.failed())
    }

    /// Number of submissions that wait for their check.
    pub async fn count_queued(&self) -> Result<u64> {
        let count: i64 = sqlx::query_scalar("SELECT count(*) FROM submission WHERE state = 'queued'")
            .fetch_one(&self.0.readers)
            .await
            .map_err(self.failed())?;
        Ok(count.max(0) as u64)
    }

    /// Number of submissions that wait before this one.
    pub async fn count_before(&self, id: &SubmissionId) -> Result<u64> {
        let count: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM submission WHERE state = 'queued' AND seq < (SELECT seq FROM submission WHERE id = ?)",
        )
        .bind(id.as_str())
        .fetch_one(&self.0.readers)
        .await
        .map_err(self.failed())?;
        Ok(count.max(0) as u64)
    }

    /// Number of submissions of a competition whose check is not finished.
    pub async fn count_pending(&self, competition: &str) -> Result<u64> {
        let count: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM submission WHERE state IN ('queued', 'checking')
                AND competition = (SELECT seq FROM competition WHERE id = ?)",
        )
        .bind(competition)
        .fetch_one(&self.0.readers)
        .await
        .map_err(self.failed())?;
        Ok(count.max(0) as u64)
    }

    /// Number of trial records of a submission.
    pub async fn count_trials(&self, id: &SubmissionId) -> Result<u64> {
        let count: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM trial WHERE submission = (SELECT seq FROM submission WHERE id = ?)",
        )
        .bind(id.as_str())
        .fetch_one(&self.0.readers)
        .await
        .map_err(self.failed())?;
        Ok(count.max(0) as u64)
    }

    async fn submission_in(
        &self,
        connection: &mut SqliteConnection,
        id: &SubmissionId,
    ) -> Result<(i64, Submission)> {
        let row = sqlx::query("SELECT * FROM submission_shown WHERE id = ?")
            .bind(id.as_str())
            .fetch_optional(connection)
            .await
            .map_err(self.failed())?
            .ok_or(SiteDbError::NotFound { what: "submission" })?;
        let read = || Ok((row.try_get("seq")?, Submission::read(&row)?));
        read().map_err(self.failed())
    }
}

/// Rejects a verdict that cannot be the outcome of a check.
fn validate_verdict(verdict: &SubmissionVerdict) -> Result<()> {
    if matches!(verdict.state, SubmissionState::Queued | SubmissionState::Checking) {
        return Err(SiteDbError::invalid("state", format!("a check cannot end as {}", verdict.state)));
    }
    match &verdict.folder {
        Some(folder) => names::check_relative_path("folder", folder)?,
        None if verdict.state == SubmissionState::Accepted => {
            return Err(SiteDbError::invalid("folder", "an accepted bot needs a folder"));
        }
        None => {}
    }
    if verdict.trials.iter().map(Vec::len).sum::<usize>() > MAX_TRIALS_BYTES {
        return Err(SiteDbError::invalid("trials", format!("they are longer than {MAX_TRIALS_BYTES} bytes")));
    }
    Ok(())
}
