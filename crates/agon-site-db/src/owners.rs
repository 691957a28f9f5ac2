//! Who owns and manages entrants: an account, or all members of a team.

use super::{AccountId, Entrant, EntrantId, FromSiteRow, Result, SiteDb, TeamId};

/// Maximum number of entrants in a list.
const MAX_LISTED: i64 = 200;

impl SiteDb {
    /// Entrants of an account that play for no team, newest first, at most 200.
    pub async fn entrants_of_account(&self, account: AccountId) -> Result<Vec<Entrant>> {
        self.list_entrants(
            "SELECT * FROM entrant_shown WHERE account = ? AND team IS NULL ORDER BY id DESC LIMIT ?",
            account.0,
        )
        .await
    }

    /// Entrants of a team, newest first, at most 200.
    pub async fn entrants_of_team(&self, team: TeamId) -> Result<Vec<Entrant>> {
        self.list_entrants("SELECT * FROM entrant_shown WHERE team = ? ORDER BY id DESC LIMIT ?", team.0)
            .await
    }

    /// Entrants of all teams of an account, newest first, at most 200.
    pub async fn entrants_of_teams_of(&self, account: AccountId) -> Result<Vec<Entrant>> {
        let query =
            "SELECT * FROM entrant_shown WHERE team IN (SELECT team FROM team_member WHERE account = ?)
             ORDER BY id DESC LIMIT ?";
        self.list_entrants(query, account.0).await
    }

    async fn list_entrants(&self, query: &'static str, value: i64) -> Result<Vec<Entrant>> {
        let rows = sqlx::query(query)
            .bind(value)
            .bind(MAX_LISTED)
            .fetch_all(&self.0.readers)
            .await
            .map_err(self.failed())?;
        rows.iter().map(Entrant::read).collect::<Result<_, _>>().map_err(self.failed())
    }

    /// The accounts that manage an entrant: all current members of its team, or its account. House bots have none.
    pub async fn managers(&self, entrant: &Entrant) -> Result<Vec<AccountId>> {
        let Some(team) = entrant.team else { return Ok(entrant.account.into_iter().collect()) };
        let mut reader = self.0.readers.acquire().await.map_err(self.failed())?;
        Ok(self.members_in(&mut reader, team).await?.into_iter().map(|member| member.account).collect())
    }

    /// Whether an account manages an entrant.
    pub async fn manages(&self, entrant: &Entrant, account: AccountId) -> Result<bool> {
        match entrant.team {
            Some(team) => self.is_member(team, account).await,
            None => Ok(entrant.account == Some(account)),
        }
    }

    /// Name of the contributor that tables show: the team, or the account.
    pub async fn contributor_name(&self, entrant: &Entrant) -> Result<Option<String>> {
        Ok(match (entrant.team, entrant.account) {
            (Some(team), _) => Some(self.team(team).await?.name),
            (None, Some(account)) => Some(self.account(account).await?.name),
            (None, None) => None,
        })
    }

    /// Entrants of a competition that count against the limit of an account.
    pub async fn counted_entrants(&self, competition: &str, account: AccountId) -> Result<Vec<EntrantId>> {
        let ids: Vec<i64> = sqlx::query_scalar(
            "SELECT entrant_shown.id FROM entrant_person JOIN entrant_shown ON entrant_shown.id = entrant_person.entrant
             WHERE entrant_person.account = ? AND competition_id = ? AND withdrawn IS NULL",
        )
        .bind(account.0)
        .bind(competition)
        .fetch_all(&self.0.readers)
        .await
        .map_err(self.failed())?;
        Ok(ids.into_iter().map(EntrantId).collect())
    }

    /// Accounts with a bot that takes part in a competition.
    pub async fn people_of_competition(&self, competition: &str) -> Result<Vec<AccountId>> {
        let ids: Vec<i64> = sqlx::query_scalar(
            "SELECT DISTINCT entrant_person.account FROM entrant_person
             JOIN entrant_shown ON entrant_shown.id = entrant_person.entrant
             WHERE competition_id = ? AND number IS NOT NULL",
        )
        .bind(competition)
        .fetch_all(&self.0.readers)
        .await
        .map_err(self.failed())?;
        Ok(ids.into_iter().map(AccountId).collect())
    }
}
