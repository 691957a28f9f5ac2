//! The competitions a server hosts. What is played in them is in their ledgers.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::{
    AccountId, HostedCompetition, CompetitionPatch, FromSiteRow, UploadLimits, ResultPage, NewCompetition, SiteDb, SiteDbError, Origin,
    PageRequest, Result, CompetitionState, account_in, before, error, limit, listed, names, time, time_if, word,
};

/// Of a competition's name, in characters.
const NAME: usize = 80;
/// What is kept of a message, in characters.
const MESSAGE: usize = 4_000;
/// SQLite counts to 2^63.
const MOST_BYTES: u64 = i64::MAX as u64;

impl FromSiteRow for HostedCompetition {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let max_bytes: Option<i64> = row.try_get("max_bytes")?;
        Ok(Self {
            id: row.try_get("id")?,
            name: row.try_get("name")?,
            game: row.try_get("game")?,
            file: row.try_get("file")?,
            origin: word(row, "origin", Origin::by_name)?,
            state: word(row, "state", CompetitionState::by_name)?,
            message: row.try_get("message")?,
            public: row.try_get("public")?,
            limits: UploadLimits {
                per_contributor: row.try_get("per_contributor")?,
                max_bytes: max_bytes.map(|bytes| bytes.max(0) as u64),
            },
            preset: row.try_get("preset")?,
            by: row.try_get::<Option<i64>, _>("by")?.map(AccountId),
            created: time(row, "created")?,
            seated: time_if(row, "seated")?,
        })
    }
}

/// Which competitions a list has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CompetitionFilter {
    /// All of them.
    All,
    /// Those that everybody may see.
    Public,
}

impl SiteDb {
    /// Makes a competition. `Taken` if another has the id.
    pub async fn create_competition(&self, new: &NewCompetition) -> Result<HostedCompetition> {
        names::slug("id", &new.id)?;
        names::line("name", &new.name, 1, NAME)?;
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
        .bind(new.limits.max_bytes.map(|bytes| bytes.min(MOST_BYTES) as i64))
        .bind(&new.preset)
        .bind(new.by.map(|by| by.0))
        .bind(new.at.0)
        .fetch_one(&mut *change)
        .await
        .map_err(error::unless_taken(self.path(), "id"))?;
        change.commit().await.map_err(self.failed())?;
        HostedCompetition::read(&row).map_err(self.failed())
    }

    /// A competition by its id.
    pub async fn competition(&self, id: &str) -> Result<HostedCompetition> {
        let mut reader = self.0.readers.acquire().await.map_err(self.failed())?;
        Ok(self.competition_in(&mut reader, id).await?.1)
    }

    /// Competitions, newest first.
    pub async fn competitions(&self, shown: CompetitionFilter, page: PageRequest) -> Result<ResultPage<HostedCompetition>> {
        let rows =
            sqlx::query("SELECT * FROM competition WHERE seq < ? AND public >= ? ORDER BY seq DESC LIMIT ?")
                .bind(before(page))
                .bind(shown == CompetitionFilter::Public)
                .bind(limit(page))
                .fetch_all(&self.0.readers)
                .await
                .map_err(self.failed())?;
        listed(page, &rows, "seq").map_err(self.failed())
    }

    /// Moves a competition on, if it is in one of the states `from`: of two organisers who start it, one does, the other gets
    /// `Conflict`. The message becomes this one.
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
        is_in(&found, from)?;
        let row = sqlx::query("UPDATE competition SET state = ?, message = ? WHERE seq = ? RETURNING *")
            .bind(to.name())
            .bind(message.map(|message| names::cut(message, MESSAGE)))
            .bind(seq)
            .fetch_one(&mut *change)
            .await
            .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())?;
        HostedCompetition::read(&row).map_err(self.failed())
    }

    /// What is said beside the state; it is cut to 4,000 characters.
    pub async fn set_message(&self, id: &str, message: Option<&str>) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let done = sqlx::query("UPDATE competition SET message = ? WHERE id = ?")
            .bind(message.map(|message| names::cut(message, MESSAGE)))
            .bind(id)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        if done.rows_affected() == 0 {
            return Err(SiteDbError::NotFound { what: "competition" });
        }
        change.commit().await.map_err(self.failed())
    }

    /// Changes what is given of a competition, if it is in one of the states `from`.
    pub async fn edit_competition(&self, id: &str, from: &[CompetitionState], edit: &CompetitionPatch) -> Result<HostedCompetition> {
        if let Some(name) = &edit.name {
            names::line("name", name, 1, NAME)?;
        }
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let (seq, mut found) = self.competition_in(&mut change, id).await?;
        is_in(&found, from)?;
        found.name = edit.name.clone().unwrap_or(found.name);
        found.file = edit.file.clone().unwrap_or(found.file);
        found.public = edit.public.unwrap_or(found.public);
        found.limits = edit.limits.unwrap_or(found.limits);
        found.preset = edit.preset.clone().unwrap_or(found.preset);
        sqlx::query(
            "UPDATE competition SET name = ?, file = ?, public = ?, per_contributor = ?, max_bytes = ?, preset = ?
             WHERE seq = ?",
        )
        .bind(&found.name)
        .bind(&found.file)
        .bind(found.public)
        .bind(found.limits.per_contributor)
        .bind(found.limits.max_bytes.map(|bytes| bytes.min(MOST_BYTES) as i64))
        .bind(&found.preset)
        .bind(seq)
        .execute(&mut *change)
        .await
        .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())?;
        Ok(found)
    }

    /// Removes a competition and its entrants, if it is a draft and nobody handed anything in.
    pub async fn delete_competition(&self, id: &str) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let (seq, found) = self.competition_in(&mut change, id).await?;
        is_in(&found, &[CompetitionState::Draft])?;
        let handed_in: bool =
            sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM submission WHERE competition = ?)")
                .bind(seq)
                .fetch_one(&mut *change)
                .await
                .map_err(self.failed())?;
        if handed_in {
            return Err(SiteDbError::conflict("bots were handed in for the competition"));
        }
        for removal in ["DELETE FROM entrant WHERE competition = ?", "DELETE FROM competition WHERE seq = ?"]
        {
            sqlx::query(removal).bind(seq).execute(&mut *change).await.map_err(self.failed())?;
        }
        change.commit().await.map_err(self.failed())
    }

    /// A competition and its place in lists, or that there is none.
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

/// Refuses if it is in none of these states.
pub(super) fn is_in(competition: &HostedCompetition, states: &[CompetitionState]) -> Result<()> {
    if states.contains(&competition.state) {
        return Ok(());
    }
    let wanted: Vec<&str> = states.iter().map(|state| state.name()).collect();
    Err(SiteDbError::conflict(format!(
        "the competition is {}, not {}",
        competition.state,
        wanted.join(" or ")
    )))
}
