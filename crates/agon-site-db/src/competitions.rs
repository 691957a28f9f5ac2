//! Competitions hosted by a server. Their results are in their ledgers.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::{
    AccountId, CompetitionPatch, CompetitionState, FromSiteRow, HostedCompetition, NewCompetition, Origin,
    PageRequest, Result, ResultPage, SiteDb, SiteDbError, UploadLimits, account_in, cursor, enum_column,
    error, names, optional_time, result_page, row_limit, time,
};

/// Maximum length of a competition's name.
const MAX_NAME_CHARS: usize = 80;
/// Longer messages are truncated.
const MAX_MESSAGE_CHARS: usize = 4_000;
/// SQLite has signed 64-bit integers.
const MAX_STORED_BYTES: u64 = i64::MAX as u64;

impl FromSiteRow for HostedCompetition {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let max_bytes: Option<i64> = row.try_get("max_bytes")?;
        Ok(Self {
            id: row.try_get("id")?,
            name: row.try_get("name")?,
            game: row.try_get("game")?,
            file: row.try_get("file")?,
            origin: enum_column(row, "origin", Origin::by_name)?,
            state: enum_column(row, "state", CompetitionState::by_name)?,
            message: row.try_get("message")?,
            public: row.try_get("public")?,
            limits: UploadLimits {
                per_contributor: row.try_get("per_contributor")?,
                max_bytes: max_bytes.map(|bytes| bytes.max(0) as u64),
            },
            preset: row.try_get("preset")?,
            by: row.try_get::<Option<i64>, _>("by")?.map(AccountId),
            created: time(row, "created")?,
            numbers_assigned: optional_time(row, "seated")?,
            allowed_phase: row.try_get("allowed_phase")?,
            closed_between_phases: row.try_get("closed_between_phases")?,
        })
    }
}

/// Selects competitions of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CompetitionFilter {
    /// All competitions.
    All,
    /// Only public competitions.
    Public,
}

impl SiteDb {
    /// Creates a competition. Fails with `Taken` if the id exists.
    pub async fn create_competition(&self, new: &NewCompetition) -> Result<HostedCompetition> {
        names::check_slug("id", &new.id)?;
        names::check_line("name", &new.name, 1, MAX_NAME_CHARS)?;
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        if let Some(by) = new.by {
            account_in(&mut change, by, self.path()).await?;
        }
        let row = sqlx::query(
            "INSERT INTO competition
                (id, name, game, file, origin, state, public, per_contributor, max_bytes, preset, by, created)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *",
        )
        .bind(&new.id)
        .bind(&new.name)
        .bind(&new.game)
        .bind(&new.file)
        .bind(new.origin.name())
        .bind(new.state.name())
        .bind(new.public)
        .bind(new.limits.per_contributor)
        .bind(new.limits.max_bytes.map(|bytes| bytes.min(MAX_STORED_BYTES) as i64))
        .bind(&new.preset)
        .bind(new.by.map(|by| by.0))
        .bind(new.at.0)
        .fetch_one(&mut *change)
        .await
        .map_err(error::unless_taken(self.path(), "id"))?;
        change.commit().await.map_err(self.failed())?;
        HostedCompetition::read(&row).map_err(self.failed())
    }

    /// The competition with this id.
    pub async fn competition(&self, id: &str) -> Result<HostedCompetition> {
        let mut reader = self.0.readers.acquire().await.map_err(self.failed())?;
        Ok(self.competition_in(&mut reader, id).await?.1)
    }

    /// Competitions, newest first.
    pub async fn competitions(
        &self,
        filter: CompetitionFilter,
        page: PageRequest,
    ) -> Result<ResultPage<HostedCompetition>> {
        let rows =
            sqlx::query("SELECT * FROM competition WHERE seq < ? AND public >= ? ORDER BY seq DESC LIMIT ?")
                .bind(cursor(page))
                .bind(filter == CompetitionFilter::Public)
                .bind(row_limit(page))
                .fetch_all(&self.0.readers)
                .await
                .map_err(self.failed())?;
        result_page(page, &rows, "seq").map_err(self.failed())
    }

    /// Changes the state, if the competition is in one of the states `from`, and replaces the message. If two organisers start a
    /// competition at the same time, one succeeds and the other gets `Conflict`.
    pub async fn set_state(
        &self,
        id: &str,
        from: &[CompetitionState],
        to: CompetitionState,
        message: Option<&str>,
    ) -> Result<HostedCompetition> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let (seq, found) = self.competition_in(&mut change, id).await?;
        check_state(&found, from)?;
        let row = sqlx::query("UPDATE competition SET state = ?, message = ? WHERE seq = ? RETURNING *")
            .bind(to.name())
            .bind(message.map(|message| names::truncated(message, MAX_MESSAGE_CHARS)))
            .bind(seq)
            .fetch_one(&mut *change)
            .await
            .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())?;
        HostedCompetition::read(&row).map_err(self.failed())
    }

    /// Sets the message shown with the state, truncated to 4,000 characters.
    pub async fn set_message(&self, id: &str, message: Option<&str>) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let done = sqlx::query("UPDATE competition SET message = ? WHERE id = ?")
            .bind(message.map(|message| names::truncated(message, MAX_MESSAGE_CHARS)))
            .bind(id)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        if done.rows_affected() == 0 {
            return Err(SiteDbError::NotFound { what: "competition" });
        }
        change.commit().await.map_err(self.failed())
    }

    /// Applies a patch, if the competition is in one of the states `from`.
    pub async fn edit_competition(
        &self,
        id: &str,
        from: &[CompetitionState],
        edit: &CompetitionPatch,
    ) -> Result<HostedCompetition> {
        if let Some(name) = &edit.name {
            names::check_line("name", name, 1, MAX_NAME_CHARS)?;
        }
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let (seq, mut found) = self.competition_in(&mut change, id).await?;
        check_state(&found, from)?;
        found.name = edit.name.clone().unwrap_or(found.name);
        found.file = edit.file.clone().unwrap_or(found.file);
        found.public = edit.public.unwrap_or(found.public);
        found.limits = edit.limits.unwrap_or(found.limits);
        found.preset = edit.preset.clone().unwrap_or(found.preset);
        found.allowed_phase = edit.allowed_phase.unwrap_or(found.allowed_phase);
        found.closed_between_phases = edit.closed_between_phases.unwrap_or(found.closed_between_phases);
        sqlx::query(
            "UPDATE competition SET name = ?, file = ?, public = ?, per_contributor = ?, max_bytes = ?, preset = ?,
                 allowed_phase = ?, closed_between_phases = ?
             WHERE seq = ?",
        )
        .bind(&found.name)
        .bind(&found.file)
        .bind(found.public)
        .bind(found.limits.per_contributor)
        .bind(found.limits.max_bytes.map(|bytes| bytes.min(MAX_STORED_BYTES) as i64))
        .bind(&found.preset)
        .bind(found.allowed_phase)
        .bind(found.closed_between_phases)
        .bind(seq)
        .execute(&mut *change)
        .await
        .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())?;
        Ok(found)
    }

    /// Deletes a competition and its entrants, if it is a draft without submissions.
    pub async fn delete_competition(&self, id: &str) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let (seq, found) = self.competition_in(&mut change, id).await?;
        check_state(&found, &[CompetitionState::Draft])?;
        let has_submissions: bool =
            sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM submission WHERE competition = ?)")
                .bind(seq)
                .fetch_one(&mut *change)
                .await
                .map_err(self.failed())?;
        if has_submissions {
            return Err(SiteDbError::conflict("the competition has submissions"));
        }
        for removal in ["DELETE FROM entrant WHERE competition = ?", "DELETE FROM competition WHERE seq = ?"]
        {
            sqlx::query(removal).bind(seq).execute(&mut *change).await.map_err(self.failed())?;
        }
        change.commit().await.map_err(self.failed())
    }

    /// The competition and its sequence number, or `NotFound`.
    pub(super) async fn competition_in(
        &self,
        connection: &mut SqliteConnection,
        id: &str,
    ) -> Result<(i64, HostedCompetition)> {
        let row = sqlx::query("SELECT * FROM competition WHERE id = ?")
            .bind(id)
            .fetch_optional(connection)
            .await
            .map_err(self.failed())?
            .ok_or(SiteDbError::NotFound { what: "competition" })?;
        let read = || Ok((row.try_get("seq")?, HostedCompetition::read(&row)?));
        read().map_err(self.failed())
    }
}

/// Fails if the competition is in none of these states.
pub(super) fn check_state(competition: &HostedCompetition, states: &[CompetitionState]) -> Result<()> {
    if states.contains(&competition.state) {
        return Ok(());
    }
    let expected: Vec<&str> = states.iter().map(|state| state.name()).collect();
    Err(SiteDbError::conflict(format!(
        "the competition is {}, not {}",
        competition.state,
        expected.join(" or ")
    )))
}
