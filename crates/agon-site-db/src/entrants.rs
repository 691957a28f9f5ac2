//! Entrants of competitions.

use agon_store::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::competitions::check_state;
use super::names::{self, Name};
use super::{
    AccountId, CompetitionState, Entrant, EntrantId, FromSiteRow, HostedCompetition, NewEntrant, Result,
    SiteDb, SiteDbError, TeamId, account_in, error, optional_time, time,
};

impl FromSiteRow for Entrant {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: EntrantId(row.try_get("id")?),
            competition: row.try_get("competition_id")?,
            account: row.try_get::<Option<i64>, _>("account")?.map(AccountId),
            name: row.try_get("name")?,
            role: row.try_get("role")?,
            bot: row.try_get("bot")?,
            created: time(row, "created")?,
            withdrawn: optional_time(row, "withdrawn")?,
            number: row.try_get("number")?,
            practice: row.try_get("practice")?,
            team: row.try_get::<Option<i64>, _>("team")?.map(TeamId),
        })
    }
}

impl SiteDb {
    /// Adds an entrant, if the competition is in one of the states `allowed_states` and has not started. Fails with `TooMany` if the
    /// account has reached its limit, with `Taken` if the name exists.
    pub async fn add_entrant(
        &self,
        new: &NewEntrant,
        allowed_states: &[CompetitionState],
    ) -> Result<Entrant> {
        self.add_entrant_for(new, None, allowed_states).await
    }

    /// [`SiteDb::add_entrant`] for a team of the account. The bot counts against the limits of all members, and of those who join later.
    pub async fn add_entrant_for(
        &self,
        new: &NewEntrant,
        team: Option<TeamId>,
        allowed_states: &[CompetitionState],
    ) -> Result<Entrant> {
        let name = Name::new("name", &new.name)?;
        if new.account.is_none() && new.bot.is_none() {
            return Err(SiteDbError::invalid("bot", "an entrant without an account needs a bot"));
        }
        if let Some(role) = &new.role {
            names::check_line("role", role, 1, 40)?;
        }
        if let Some(bot) = &new.bot {
            names::check_line("bot", bot, 1, 1_000)?;
        }
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let (seq, competition) = self.competition_in(&mut change, &new.competition).await?;
        check_state(&competition, allowed_states)?;
        check_not_started(&competition)?;
        let people = self.people_of(&mut change, new.account, team).await?;
        for person in &people {
            self.check_entrant_limit(&mut change, seq, &competition, *person).await?;
        }
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO entrant (competition, account, name, name_key, role, bot, created, team)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
        )
        .bind(seq)
        .bind(new.account.map(|account| account.0))
        .bind(&name.display)
        .bind(&name.key)
        .bind(&new.role)
        .bind(&new.bot)
        .bind(new.at.0)
        .bind(team.map(|team| team.0))
        .fetch_one(&mut *change)
        .await
        .map_err(error::unless_taken(self.path(), "name"))?;
        for person in &people {
            sqlx::query("INSERT INTO entrant_person (entrant, account) VALUES (?, ?)")
                .bind(id)
                .bind(person.0)
                .execute(&mut *change)
                .await
                .map_err(self.failed())?;
        }
        let entrant = self.entrant_in(&mut change, EntrantId(id)).await?;
        change.commit().await.map_err(self.failed())?;
        Ok(entrant)
    }

    /// The accounts whose limits a new entrant counts against: all members of the team, or only the account.
    async fn people_of(
        &self,
        change: &mut SqliteConnection,
        account: Option<AccountId>,
        team: Option<TeamId>,
    ) -> Result<Vec<AccountId>> {
        let Some(account) = account else { return Ok(Vec::new()) };
        account_in(change, account, self.path()).await?;
        let Some(team) = team else { return Ok(vec![account]) };
        let people: Vec<AccountId> =
            self.members_in(change, team).await?.iter().map(|member| member.account).collect();
        if people.contains(&account) { Ok(people) } else { Err(SiteDbError::NotFound { what: "team" }) }
    }

    async fn check_entrant_limit(
        &self,
        change: &mut SqliteConnection,
        seq: i64,
        competition: &HostedCompetition,
        account: AccountId,
    ) -> Result<()> {
        let Some(limit) = competition.limits.per_contributor else { return Ok(()) };
        let has: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM entrant_person JOIN entrant ON entrant.id = entrant_person.entrant
             WHERE entrant_person.account = ? AND competition = ? AND withdrawn IS NULL",
        )
        .bind(account.0)
        .bind(seq)
        .fetch_one(change)
        .await
        .map_err(self.failed())?;
        if has >= i64::from(limit) { Err(SiteDbError::TooMany { limit }) } else { Ok(()) }
    }

    /// The entrant with this id.
    pub async fn entrant(&self, id: EntrantId) -> Result<Entrant> {
        let mut reader = self.0.readers.acquire().await.map_err(self.failed())?;
        self.entrant_in(&mut reader, id).await
    }

    /// The entrant with this name in a competition, in any spelling. Ignores withdrawn entrants.
    pub async fn entrant_by_name(&self, competition: &str, name: &str) -> Result<Option<Entrant>> {
        let row = sqlx::query(
            "SELECT * FROM entrant_shown WHERE competition_id = ? AND name_key = ? AND withdrawn IS NULL",
        )
        .bind(competition)
        .bind(names::key(names::truncated(name, 4 * super::MAX_NAME_CHARS)))
        .fetch_optional(&self.0.readers)
        .await
        .map_err(self.failed())?;
        row.as_ref().map(Entrant::read).transpose().map_err(self.failed())
    }

    /// All entrants of a competition in the order of entry, including withdrawn ones.
    pub async fn entrants(&self, competition: &str) -> Result<Vec<Entrant>> {
        let mut reader = self.0.readers.begin().await.map_err(self.failed())?;
        let (seq, _) = self.competition_in(&mut reader, competition).await?;
        self.entrants_in(&mut reader, seq).await
    }

    /// Withdraws an entrant and frees its name. Fails with `Conflict` once the competition has started. Calling it again changes
    /// nothing.
    pub async fn withdraw(&self, id: EntrantId, at: Timestamp) -> Result<Entrant> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let mut entrant = self.entrant_in(&mut change, id).await?;
        if entrant.withdrawn.is_some() {
            return Ok(entrant);
        }
        let (_, competition) = self.competition_in(&mut change, &entrant.competition).await?;
        check_not_started(&competition)?;
        sqlx::query("UPDATE entrant SET withdrawn = ? WHERE id = ?")
            .bind(at.0)
            .bind(id.0)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())?;
        entrant.withdrawn = Some(at);
        Ok(entrant)
    }

    /// Gives an entrant another name, cut to the maximum length. Fails with `Taken` if the name exists, with `Conflict` once the
    /// competition has started.
    pub async fn rename_entrant(&self, id: EntrantId, name: &str) -> Result<Entrant> {
        let name = Name::new("name", names::truncated(name.trim(), super::MAX_NAME_CHARS).trim_end())?;
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let entrant = self.entrant_in(&mut change, id).await?;
        let (_, competition) = self.competition_in(&mut change, &entrant.competition).await?;
        check_not_started(&competition)?;
        sqlx::query("UPDATE entrant SET name = ?, name_key = ? WHERE id = ?")
            .bind(&name.display)
            .bind(&name.key)
            .bind(id.0)
            .execute(&mut *change)
            .await
            .map_err(error::unless_taken(self.path(), "name"))?;
        let entrant = self.entrant_in(&mut change, id).await?;
        change.commit().await.map_err(self.failed())?;
        Ok(entrant)
    }

    /// Starts the competition for its entrants: every entrant that can play (not withdrawn, with a bot spec or an accepted submission)
    /// gets a number from 0 without gaps, in the order of entry. Returns them. From then on no entrant can enter or withdraw. Calling it
    /// again returns the same.
    pub async fn assign_numbers(&self, competition: &str, at: Timestamp) -> Result<Vec<Entrant>> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let (seq, found) = self.competition_in(&mut change, competition).await?;
        if found.numbers_assigned.is_none() {
            sqlx::query(
                "UPDATE entrant SET number = playing.number FROM (
                    SELECT id, row_number() OVER (ORDER BY id) - 1 AS number FROM entrant e
                    WHERE competition = ? AND withdrawn IS NULL AND (bot IS NOT NULL OR EXISTS
                        (SELECT 1 FROM submission s WHERE s.entrant = e.id AND s.state = 'accepted'))
                 ) AS playing WHERE entrant.id = playing.id",
            )
            .bind(seq)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
            sqlx::query("UPDATE competition SET seated = ? WHERE seq = ?")
                .bind(at.0)
                .bind(seq)
                .execute(&mut *change)
                .await
                .map_err(self.failed())?;
        }
        let mut entrants = self.entrants_in(&mut change, seq).await?;
        change.commit().await.map_err(self.failed())?;
        entrants.retain(|entrant| entrant.number.is_some());
        Ok(entrants)
    }

    /// Removes the numbers after a failed start, so that entrants can enter and withdraw again. The caller must know that nothing was
    /// played.
    pub async fn clear_numbers(&self, competition: &str) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let (seq, _) = self.competition_in(&mut change, competition).await?;
        for step in [
            "UPDATE entrant SET number = NULL WHERE competition = ?",
            "UPDATE competition SET seated = NULL WHERE seq = ?",
        ] {
            sqlx::query(step).bind(seq).execute(&mut *change).await.map_err(self.failed())?;
        }
        change.commit().await.map_err(self.failed())
    }

    pub(super) async fn entrant_in(
        &self,
        connection: &mut SqliteConnection,
        id: EntrantId,
    ) -> Result<Entrant> {
        let row = sqlx::query("SELECT * FROM entrant_shown WHERE id = ?")
            .bind(id.0)
            .fetch_optional(connection)
            .await
            .map_err(self.failed())?
            .ok_or(SiteDbError::NotFound { what: "entrant" })?;
        Entrant::read(&row).map_err(self.failed())
    }

    async fn entrants_in(&self, connection: &mut SqliteConnection, seq: i64) -> Result<Vec<Entrant>> {
        let rows = sqlx::query("SELECT * FROM entrant_shown WHERE competition = ? ORDER BY id")
            .bind(seq)
            .fetch_all(connection)
            .await
            .map_err(self.failed())?;
        rows.iter().map(Entrant::read).collect::<Result<_, _>>().map_err(self.failed())
    }
}

/// Fails once the entrants have their numbers.
fn check_not_started(competition: &HostedCompetition) -> Result<()> {
    match competition.numbers_assigned {
        None => Ok(()),
        Some(_) => Err(SiteDbError::conflict("the competition has started")),
    }
}
