//! Teams of several accounts. A team always has one owner, who alone invites, removes and renames. Every member manages its bots.

use agon_core::record::Digest;
use agon_store::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::names::Name;
use super::profiles::{self, MAX_ABOUT_CHARS};
use super::{
    AccountId, FromSiteRow, Result, SiteDb, SiteDbError, TeamId, account_in, error, optional_time, time,
};

/// Maximum number of members of a team.
pub const MAX_TEAM_MEMBERS: u32 = 10;
/// Maximum number of teams of one account.
pub const MAX_TEAMS: u32 = 10;
/// Maximum number of open invitations of a team.
pub const MAX_TEAM_INVITATIONS: u32 = 20;

/// A team.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Team {
    /// Id.
    pub id: TeamId,
    /// Name as entered, in NFC.
    pub name: String,
    /// A short text.
    pub about: String,
    /// Time of creation.
    pub created: Timestamp,
    /// When its last member left.
    pub dissolved: Option<Timestamp>,
}

impl FromSiteRow for Team {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: TeamId(row.try_get("id")?),
            name: row.try_get("name")?,
            about: row.try_get("about")?,
            created: time(row, "created")?,
            dissolved: optional_time(row, "dissolved")?,
        })
    }
}

/// A member of a team.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TeamMember {
    /// The account.
    pub account: AccountId,
    /// Its name.
    pub name: String,
    /// Whether it owns the team.
    pub owner: bool,
    /// When it joined.
    pub joined: Timestamp,
}

impl FromSiteRow for TeamMember {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            account: AccountId(row.try_get("account")?),
            name: row.try_get("name")?,
            owner: row.try_get("owner")?,
            joined: time(row, "joined")?,
        })
    }
}

/// An invitation to a team.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TeamInvitation {
    /// Id.
    pub id: i64,
    /// The team.
    pub team: TeamId,
    /// The invited account; `None` for a link.
    pub account: Option<AccountId>,
    /// Name of the invited account.
    pub account_name: Option<String>,
    /// Name of the account that invites.
    pub by: String,
    /// Time of creation.
    pub created: Timestamp,
    /// Time of expiry.
    pub expires: Timestamp,
}

impl FromSiteRow for TeamInvitation {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: row.try_get("id")?,
            team: TeamId(row.try_get("team")?),
            account: row.try_get::<Option<i64>, _>("account")?.map(AccountId),
            account_name: row.try_get("account_name")?,
            by: row.try_get("by_name")?,
            created: time(row, "created")?,
            expires: time(row, "expires")?,
        })
    }
}

/// Who is invited to a team.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TeamInvitee {
    /// One account.
    Account(AccountId),
    /// Anyone with the link whose code has this hash.
    Link(Digest),
}

const INVITATIONS: &str = "SELECT team_invitation.*, invited.name AS account_name, inviter.name AS by_name
    FROM team_invitation JOIN account AS inviter ON inviter.id = team_invitation.by
    LEFT JOIN account AS invited ON invited.id = team_invitation.account";

impl SiteDb {
    /// Creates a team whose owner is this account. Fails with `Taken` if a team or another account has the name.
    pub async fn create_team(
        &self,
        owner: AccountId,
        name: &str,
        about: &str,
        at: Timestamp,
    ) -> Result<Team> {
        profiles::check_text("about", about, 0, MAX_ABOUT_CHARS)?;
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        account_in(&mut change, owner, self.path()).await?;
        self.check_team_count(&mut change, owner).await?;
        let name = self.free_team_name(&mut change, name).await?;
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO team (name, name_key, about, created) VALUES (?, ?, ?, ?) RETURNING id",
        )
        .bind(&name.display)
        .bind(&name.key)
        .bind(about)
        .bind(at.0)
        .fetch_one(&mut *change)
        .await
        .map_err(error::unless_taken(self.path(), "name"))?;
        insert_member(&mut change, TeamId(id), owner, true, at).await.map_err(self.failed())?;
        let team = self.team_in(&mut change, TeamId(id)).await?;
        change.commit().await.map_err(self.failed())?;
        Ok(team)
    }

    /// Changes the name and the text of a team. `by` must be its owner.
    pub async fn edit_team(&self, id: TeamId, by: AccountId, name: &str, about: &str) -> Result<Team> {
        profiles::check_text("about", about, 0, MAX_ABOUT_CHARS)?;
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        self.check_owner(&mut change, id, by).await?;
        let team = self.team_in(&mut change, id).await?;
        let key = super::names::key(&team.name);
        let name = match Name::new("name", name)? {
            name if name.key == key => name,
            name => self.free_team_name(&mut change, &name.display).await?,
        };
        sqlx::query("UPDATE team SET name = ?, name_key = ?, about = ? WHERE id = ?")
            .bind(&name.display)
            .bind(&name.key)
            .bind(about)
            .bind(id.0)
            .execute(&mut *change)
            .await
            .map_err(error::unless_taken(self.path(), "name"))?;
        let team = self.team_in(&mut change, id).await?;
        change.commit().await.map_err(self.failed())?;
        Ok(team)
    }

    /// The team with this id.
    pub async fn team(&self, id: TeamId) -> Result<Team> {
        let mut reader = self.0.readers.acquire().await.map_err(self.failed())?;
        self.team_in(&mut reader, id).await
    }

    /// Teams of an account, oldest first.
    pub async fn teams_of(&self, account: AccountId) -> Result<Vec<Team>> {
        let rows = sqlx::query(
            "SELECT team.* FROM team_member JOIN team ON team.id = team_member.team
             WHERE team_member.account = ? ORDER BY team.id",
        )
        .bind(account.0)
        .fetch_all(&self.0.readers)
        .await
        .map_err(self.failed())?;
        rows.iter().map(Team::read).collect::<Result<_, _>>().map_err(self.failed())
    }

    /// Members of a team, the owner first.
    pub async fn team_members(&self, id: TeamId) -> Result<Vec<TeamMember>> {
        let mut reader = self.0.readers.acquire().await.map_err(self.failed())?;
        self.members_in(&mut reader, id).await
    }

    /// Whether an account is a member of a team.
    pub async fn is_member(&self, id: TeamId, account: AccountId) -> Result<bool> {
        sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM team_member WHERE team = ? AND account = ?)")
            .bind(id.0)
            .bind(account.0)
            .fetch_one(&self.0.readers)
            .await
            .map_err(self.failed())
    }

    /// Invites to a team. `by` must be its owner. A second invitation of an account replaces the first.
    pub async fn invite_to_team(
        &self,
        id: TeamId,
        by: AccountId,
        invitee: TeamInvitee,
        expires: Timestamp,
        at: Timestamp,
    ) -> Result<TeamInvitation> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        self.check_owner(&mut change, id, by).await?;
        let (account, code) = match invitee {
            TeamInvitee::Account(account) => {
                account_in(&mut change, account, self.path()).await?;
                if self.members_in(&mut change, id).await?.iter().any(|member| member.account == account) {
                    return Err(SiteDbError::conflict("this account is a member already"));
                }
                (Some(account.0), None)
            }
            TeamInvitee::Link(code) => (None, Some(code)),
        };
        for (removal, value) in [
            ("DELETE FROM team_invitation WHERE team = ? AND account = ?", account),
            ("DELETE FROM team_invitation WHERE team = ? AND expires <= ?", Some(at.0)),
        ] {
            sqlx::query(removal).bind(id.0).bind(value).execute(&mut *change).await.map_err(self.failed())?;
        }
        let open: i64 = sqlx::query_scalar("SELECT count(*) FROM team_invitation WHERE team = ?")
            .bind(id.0)
            .fetch_one(&mut *change)
            .await
            .map_err(self.failed())?;
        if open >= i64::from(MAX_TEAM_INVITATIONS) {
            return Err(SiteDbError::TooMany { limit: MAX_TEAM_INVITATIONS });
        }
        let invitation: i64 = sqlx::query_scalar(
            "INSERT INTO team_invitation (team, account, code, by, created, expires) VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
        )
        .bind(id.0)
        .bind(account)
        .bind(code.as_ref().map(|code| &code.0[..]))
        .bind(by.0)
        .bind(at.0)
        .bind(expires.0)
        .fetch_one(&mut *change)
        .await
        .map_err(self.failed())?;
        let made = self.team_invitation_in(&mut change, "team_invitation.id = ?", invitation).await?;
        change.commit().await.map_err(self.failed())?;
        made.ok_or(SiteDbError::NotFound { what: "invitation" })
    }

    /// Open invitations of a team, newest first.
    pub async fn team_invitations(&self, id: TeamId, now: Timestamp) -> Result<Vec<TeamInvitation>> {
        self.list_invitations("team_invitation.team = ?", id.0, now).await
    }

    /// Open invitations of an account, newest first.
    pub async fn team_invitations_for(
        &self,
        account: AccountId,
        now: Timestamp,
    ) -> Result<Vec<TeamInvitation>> {
        self.list_invitations("team_invitation.account = ?", account.0, now).await
    }

    async fn list_invitations(
        &self,
        filter: &str,
        value: i64,
        now: Timestamp,
    ) -> Result<Vec<TeamInvitation>> {
        let query = format!("{INVITATIONS} WHERE {filter} AND expires > ? ORDER BY team_invitation.id DESC");
        let rows = sqlx::query(sqlx::AssertSqlSafe(query))
            .bind(value)
            .bind(now.0)
            .fetch_all(&self.0.readers)
            .await
            .map_err(self.failed())?;
        rows.iter().map(TeamInvitation::read).collect::<Result<_, _>>().map_err(self.failed())
    }

    /// The invitation whose link has this code, if it is open.
    pub async fn team_invitation_by_code(
        &self,
        code: Digest,
        now: Timestamp,
    ) -> Result<Option<TeamInvitation>> {
        let query = format!("{INVITATIONS} WHERE code = ? AND expires > ?");
        let row = sqlx::query(sqlx::AssertSqlSafe(query))
            .bind(&code.0[..])
            .bind(now.0)
            .fetch_optional(&self.0.readers)
            .await
            .map_err(self.failed())?;
        row.as_ref().map(TeamInvitation::read).transpose().map_err(self.failed())
    }

    /// Removes an invitation. The owner may remove all of the team, the invited account its own.
    pub async fn remove_team_invitation(&self, id: i64, by: AccountId) -> Result<TeamInvitation> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let found = self
            .team_invitation_in(&mut change, "team_invitation.id = ?", id)
            .await?
            .ok_or(SiteDbError::NotFound { what: "invitation" })?;
        if found.account != Some(by) {
            self.check_owner(&mut change, found.team, by).await?;
        }
        sqlx::query("DELETE FROM team_invitation WHERE id = ?")
            .bind(id)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())?;
        Ok(found)
    }

    /// Joins a team with an invitation, which is used up if it names the account; a link stays until it expires. Fails with `Conflict`
    /// if the bots of the team would exceed the account's limit of entrants in a competition that is not finished.
    pub async fn join_team(&self, invitation: i64, account: AccountId, now: Timestamp) -> Result<Team> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let found = self.team_invitation_in(&mut change, "team_invitation.id = ?", invitation).await?;
        let found = found
            .filter(|found| found.expires > now && found.account.is_none_or(|invited| invited == account))
            .ok_or(SiteDbError::NotFound { what: "invitation" })?;
        let team = self.team_in(&mut change, found.team).await?;
        let members = self.members_in(&mut change, team.id).await?;
        if members.iter().any(|member| member.account == account) {
            return Err(SiteDbError::conflict("you are a member already"));
        }
        if members.len() >= MAX_TEAM_MEMBERS as usize {
            return Err(SiteDbError::TooMany { limit: MAX_TEAM_MEMBERS });
        }
        self.check_team_count(&mut change, account).await?;
        self.count_team_bots(&mut change, team.id, account).await?;
        insert_member(&mut change, team.id, account, false, now).await.map_err(self.failed())?;
        sqlx::query("DELETE FROM team_invitation WHERE team = ? AND account = ?")
            .bind(team.id.0)
            .bind(account.0)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())?;
        Ok(team)
    }

    /// Counts the team's bots against the limits of an account that joins it.
    async fn count_team_bots(
        &self,
        change: &mut SqliteConnection,
        team: TeamId,
        account: AccountId,
    ) -> Result<()> {
        let full: Option<String> = sqlx::query_scalar(
            "SELECT competition.name FROM competition WHERE state != 'over' AND per_contributor IS NOT NULL
                AND EXISTS (SELECT 1 FROM entrant WHERE team = ?1 AND competition = competition.seq AND withdrawn IS NULL)
                AND (SELECT count(*) FROM entrant WHERE competition = competition.seq AND withdrawn IS NULL AND (team = ?1
                    OR EXISTS (SELECT 1 FROM entrant_person WHERE entrant = entrant.id AND account = ?2))) > per_contributor
             LIMIT 1",
        )
        .bind(team.0)
        .bind(account.0)
        .fetch_optional(&mut *change)
        .await
        .map_err(self.failed())?;
        if let Some(name) = full {
            return Err(SiteDbError::conflict(format!(
                "with the bots of this team you would have more bots in {name} than one person may have"
            )));
        }
        sqlx::query(
            "INSERT OR IGNORE INTO entrant_person (entrant, account)
             SELECT entrant.id, ?2 FROM entrant JOIN competition ON competition.seq = entrant.competition
             WHERE team = ?1 AND withdrawn IS NULL AND state != 'over'",
        )
        .bind(team.0)
        .bind(account.0)
        .execute(change)
        .await
        .map_err(self.failed())?;
        Ok(())
    }

    /// Removes a member. A member may leave, the owner may remove others. The owner can leave only as the last member; then the team is
    /// dissolved, and its bots stay under its name.
    pub async fn remove_team_member(
        &self,
        id: TeamId,
        account: AccountId,
        by: AccountId,
        at: Timestamp,
    ) -> Result<Team> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let team = self.team_in(&mut change, id).await?;
        let members = self.members_in(&mut change, id).await?;
        if account != by {
            self.check_owner(&mut change, id, by).await?;
        }
        let member = members
            .iter()
            .find(|member| member.account == account)
            .ok_or(SiteDbError::NotFound { what: "member" })?;
        if member.owner && members.len() > 1 {
            return Err(SiteDbError::conflict("make another member the owner first"));
        }
        sqlx::query("DELETE FROM team_member WHERE team = ? AND account = ?")
            .bind(id.0)
            .bind(account.0)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        if members.len() == 1 {
            sqlx::query("UPDATE team SET dissolved = ? WHERE id = ?")
                .bind(at.0)
                .bind(id.0)
                .execute(&mut *change)
                .await
                .map_err(self.failed())?;
            sqlx::query("DELETE FROM team_invitation WHERE team = ?")
                .bind(id.0)
                .execute(&mut *change)
                .await
                .map_err(self.failed())?;
        }
        change.commit().await.map_err(self.failed())?;
        Ok(team)
    }

    /// Makes another member the owner. `by` must be the owner.
    pub async fn change_team_owner(&self, id: TeamId, account: AccountId, by: AccountId) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        self.check_owner(&mut change, id, by).await?;
        if !self.members_in(&mut change, id).await?.iter().any(|member| member.account == account) {
            return Err(SiteDbError::NotFound { what: "member" });
        }
        for (step, whom) in [
            ("UPDATE team_member SET owner = 0 WHERE team = ? AND account = ?", by),
            ("UPDATE team_member SET owner = 1 WHERE team = ? AND account = ?", account),
        ] {
            sqlx::query(step).bind(id.0).bind(whom.0).execute(&mut *change).await.map_err(self.failed())?;
        }
        change.commit().await.map_err(self.failed())
    }

    /// Ids of the competitions in which a team has bots.
    pub async fn competitions_of_team(&self, id: TeamId) -> Result<Vec<String>> {
        sqlx::query_scalar("SELECT DISTINCT competition_id FROM entrant_shown WHERE team = ? LIMIT 1000")
            .bind(id.0)
            .fetch_all(&self.0.readers)
            .await
            .map_err(self.failed())
    }

    /// Whether a team has this name, in any spelling.
    pub async fn has_team_name(&self, name: &str) -> Result<bool> {
        let mut reader = self.0.readers.acquire().await.map_err(self.failed())?;
        self.is_team_name(&mut reader, &super::names::name_key(name)).await
    }

    /// Whether a team has this name in any spelling, so that an account cannot take it.
    pub(super) async fn is_team_name(&self, change: &mut SqliteConnection, key: &str) -> Result<bool> {
        sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM team WHERE name_key = ? AND dissolved IS NULL)")
            .bind(key)
            .fetch_one(change)
            .await
            .map_err(self.failed())
    }

    pub(super) async fn members_in(
        &self,
        connection: &mut SqliteConnection,
        id: TeamId,
    ) -> Result<Vec<TeamMember>> {
        let rows = sqlx::query(
            "SELECT team_member.*, account.name FROM team_member JOIN account ON account.id = team_member.account
             WHERE team = ? ORDER BY owner DESC, joined, account.id",
        )
        .bind(id.0)
        .fetch_all(connection)
        .await
        .map_err(self.failed())?;
        rows.iter().map(TeamMember::read).collect::<Result<_, _>>().map_err(self.failed())
    }

    async fn team_in(&self, connection: &mut SqliteConnection, id: TeamId) -> Result<Team> {
        let row = sqlx::query("SELECT * FROM team WHERE id = ?")
            .bind(id.0)
            .fetch_optional(connection)
            .await
            .map_err(self.failed())?
            .ok_or(SiteDbError::NotFound { what: "team" })?;
        Team::read(&row).map_err(self.failed())
    }

    async fn team_invitation_in(
        &self,
        connection: &mut SqliteConnection,
        filter: &str,
        value: i64,
    ) -> Result<Option<TeamInvitation>> {
        let row = sqlx::query(sqlx::AssertSqlSafe(format!("{INVITATIONS} WHERE {filter}")))
            .bind(value)
            .fetch_optional(connection)
            .await
            .map_err(self.failed())?;
        row.as_ref().map(TeamInvitation::read).transpose().map_err(self.failed())
    }

    /// A name that no other team and no account has.
    async fn free_team_name(&self, change: &mut SqliteConnection, name: &str) -> Result<Name> {
        let name = Name::new("name", name)?;
        let taken: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM account WHERE name_key = ?)")
            .bind(&name.key)
            .fetch_one(&mut *change)
            .await
            .map_err(self.failed())?;
        if taken || self.is_team_name(change, &name.key).await? {
            return Err(SiteDbError::Taken { what: "name" });
        }
        Ok(name)
    }

    async fn check_team_count(&self, change: &mut SqliteConnection, account: AccountId) -> Result<()> {
        let has: i64 = sqlx::query_scalar("SELECT count(*) FROM team_member WHERE account = ?")
            .bind(account.0)
            .fetch_one(change)
            .await
            .map_err(self.failed())?;
        if has >= i64::from(MAX_TEAMS) { Err(SiteDbError::TooMany { limit: MAX_TEAMS }) } else { Ok(()) }
    }

    /// Fails with `NotFound` unless the account is a member, with `Conflict` unless it is the owner.
    async fn check_owner(&self, change: &mut SqliteConnection, id: TeamId, by: AccountId) -> Result<()> {
        let owner: Option<bool> =
            sqlx::query_scalar("SELECT owner FROM team_member WHERE team = ? AND account = ?")
                .bind(id.0)
                .bind(by.0)
                .fetch_optional(change)
                .await
                .map_err(self.failed())?;
        match owner {
            Some(true) => Ok(()),
            Some(false) => Err(SiteDbError::conflict("only the owner of the team can do this")),
            None => Err(SiteDbError::NotFound { what: "team" }),
        }
    }
}

async fn insert_member(
    change: &mut SqliteConnection,
    team: TeamId,
    account: AccountId,
    owner: bool,
    at: Timestamp,
) -> Result<(), sqlx::Error> {
    sqlx::query("INSERT INTO team_member (team, account, owner, joined) VALUES (?, ?, ?, ?)")
        .bind(team.0)
        .bind(account.0)
        .bind(owner)
        .bind(at.0)
        .execute(change)
        .await?;
    Ok(())
}
