//! Bots that are handed in: a queue that a killed server finds again, and what became of each.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::competitions::is_in;
use super::{
    AccountId, SubmissionVerdict, EntrantId, FromSiteRow, ResultPage, NewSubmission, SubmissionFilter, SiteDb, SiteDbError, PageRequest,
    Requeued, Result, CompetitionState, Submission, SubmissionId, SubmissionState, account_in, before, digest, error,
    limit, listed, names, time, time_if, word,
};
use crate::Timestamp;

/// Bytes of a submission's trial records, in all.
pub const TRIALS_BYTES: usize = 2 * 1024 * 1024;
/// A check that was cut off so often is not begun again: it may be what ends the server.
pub const MAX_CHECK_ATTEMPTS: u32 = 3;
/// What is kept of a file's name, in characters.
const FILE: usize = 200;

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
            state: word(row, "state", SubmissionState::by_name)?,
            report: row.try_get("report")?,
            folder: row.try_get("folder")?,
            from_phase: row.try_get("from_phase")?,
            attempts: row.try_get("attempts")?,
            created: time(row, "created")?,
            started: time_if(row, "started")?,
            finished: time_if(row, "finished")?,
        })
    }
}

impl SiteDb {
    /// A bot is handed in and waits for its check, if its competition is in one of the states `while_in`. `Conflict` if the
    /// entrant withdrew.
    pub async fn enqueue(&self, new: &NewSubmission, while_in: &[CompetitionState]) -> Result<Submission> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        account_in(&mut change, new.account, self.path()).await?;
        let entrant = self.entrant_in(&mut change, new.entrant).await?;
        if entrant.withdrawn.is_some() {
            return Err(SiteDbError::conflict(format!("{} has withdrawn", entrant.name)));
        }
        let (seq, competition) = self.competition_in(&mut change, &entrant.competition).await?;
        is_in(&competition, while_in)?;
        // Control characters in a file's name are the browser's or a prank: shown they would do harm, and it is only shown.
        let file: String = names::cut(&new.file, FILE).chars().filter(|c| !c.is_control()).collect();
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
        let submission = self.submission_in(&mut change, &new.id).await?.1;
        change.commit().await.map_err(self.failed())?;
        Ok(submission)
    }

    /// The next one to check, which is being checked from now on: each is given once. In the order they came, but never two of
    /// one entrant at the same time, so that later uploads get later versions.
    pub async fn claim_next(&self, at: Timestamp) -> Result<Option<Submission>> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let id: Option<String> = sqlx::query_scalar(
            "UPDATE submission SET state = 'checking', started = ?, attempts = attempts + 1
             WHERE seq = (
                SELECT seq FROM submission AS next WHERE state = 'queued' AND NOT EXISTS (
                    SELECT 1 FROM submission AS other WHERE other.entrant = next.entrant AND other.state = 'checking'
                ) ORDER BY seq LIMIT 1
             ) RETURNING id",
        )
        .bind(at.0)
        .fetch_optional(&mut *change)
        .await
        .map_err(self.failed())?;
        let Some(id) = id.as_deref().and_then(SubmissionId::parse) else { return Ok(None) };
        let submission = self.submission_in(&mut change, &id).await?.1;
        change.commit().await.map_err(self.failed())?;
        Ok(Some(submission))
    }

    /// For the start of a server, before its first [`SiteDb::claim_next`]: checks that were cut off wait again, at their old place.
    /// Those that were cut off [`MAX_CHECK_ATTEMPTS`] times are given up. Never while another server runs: [`SiteDb::claim`].
    pub async fn requeue_checking(&self, at: Timestamp) -> Result<Requeued> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let broke = sqlx::query(
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
        Ok(Requeued { queued: queued.rows_affected(), broke: broke.rows_affected() })
    }

    /// A check is over. An accepted bot gets its version. `Conflict` if the submission was not being checked.
    pub async fn finish(&self, id: &SubmissionId, checked: &SubmissionVerdict) -> Result<Submission> {
        fits(checked)?;
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
        .bind(checked.state.name())
        .bind(&checked.report)
        .bind(&checked.folder)
        .bind(checked.at.0)
        .bind(seq)
        .execute(&mut *change)
        .await
        .map_err(self.failed())?;
        for (trial, record) in checked.trials.iter().enumerate() {
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

    /// A submission by its id.
    pub async fn submission(&self, id: &SubmissionId) -> Result<Submission> {
        let mut reader = self.0.readers.acquire().await.map_err(self.failed())?;
        Ok(self.submission_in(&mut reader, id).await?.1)
    }

    /// The records of the games a submission was tried in.
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
    pub async fn submissions(&self, of: SubmissionFilter<'_>, page: PageRequest) -> Result<ResultPage<Submission>> {
        let text = match of {
            SubmissionFilter::Everybody => "SELECT * FROM submission_shown WHERE seq < ?2 ORDER BY seq DESC LIMIT ?3",
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
        let query = match of {
            SubmissionFilter::Everybody => sqlx::query(text).bind(0),
            SubmissionFilter::Entrant(id) => sqlx::query(text).bind(id.0),
            SubmissionFilter::Account(id) => sqlx::query(text).bind(id.0),
            SubmissionFilter::Competition(id) => sqlx::query(text).bind(id),
        };
        let rows = query
            .bind(before(page))
            .bind(limit(page))
            .fetch_all(&self.0.readers)
            .await
            .map_err(self.failed())?;
        listed(page, &rows, "seq").map_err(self.failed())
    }

    /// Who plays with what in a phase: the latest accepted submission, up to that phase, of everybody who did not withdraw; in the
    /// order of entry. House bots are not among them.
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

    /// How many wait for their check.
    pub async fn count_queued(&self) -> Result<u64> {
        let count: i64 = sqlx::query_scalar("SELECT count(*) FROM submission WHERE state = 'queued'")
            .fetch_one(&self.0.readers)
            .await
            .map_err(self.failed())?;
        Ok(count.max(0) as u64)
    }

    /// How many wait that came before this one.
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

    /// How many of a competition's are not checked yet.
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

    /// How many records of trial games a submission has.
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

/// Refuses what cannot be the end of a check.
fn fits(checked: &SubmissionVerdict) -> Result<()> {
    if matches!(checked.state, SubmissionState::Queued | SubmissionState::Checking) {
        return Err(SiteDbError::invalid("state", format!("a check does not end {}", checked.state)));
    }
    match &checked.folder {
        Some(folder) => names::below("folder", folder)?,
        None if checked.state == SubmissionState::Accepted => {
            return Err(SiteDbError::invalid("folder", "an accepted bot must lie somewhere"));
        }
        None => {}
    }
    if checked.trials.iter().map(Vec::len).sum::<usize>() > TRIALS_BYTES {
        return Err(SiteDbError::invalid("trials", format!("they are longer than {TRIALS_BYTES} bytes")));
    }
    Ok(())
}
