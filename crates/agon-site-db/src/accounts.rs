//! Accounts. They are never deleted, because the records of their actions stay. They can be disabled.

use agon_core::record::Digest;
use agon_store::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::names::Name;
use super::{
    Account, AccountId, Credentials, FromSiteRow, InvitationId, NewAccount, PageRequest, Result, ResultPage,
    Role, SecretString, SignUpGrant, SiteDb, SiteDbError, account_in, cursor, enum_column, error,
    optional_time, result_page, row_limit, time,
};

impl FromSiteRow for Account {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: AccountId(row.try_get("id")?),
            name: row.try_get("name")?,
            role: enum_column(row, "role", Role::by_name)?,
            invitation: row.try_get::<Option<i64>, _>("invitation")?.map(InvitationId),
            created: time(row, "created")?,
            disabled: optional_time(row, "disabled")?,
        })
    }
}

impl SiteDb {
    /// Creates an account. With an invitation, the same transaction consumes one use of it; an error consumes none.
    /// Errors: `Taken` for the name, `NotFound` if there is no such invitation, `Conflict` if the invitation is no longer usable.
    pub async fn create_account(&self, new: &NewAccount) -> Result<Account> {
        let name = Name::new("name", &new.name)?;
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let (role, invitation) = match new.grant {
            SignUpGrant::Open(role) => (role, None),
            SignUpGrant::Invited(code) => {
                let (id, role) = self.use_invitation(&mut change, code, new.at).await?;
                (role, Some(id.0))
            }
        };
        if self.is_team_name(&mut change, &name.key).await? {
            return Err(SiteDbError::Taken { what: "name" });
        }
        let row = sqlx::query(
            "INSERT INTO account (name, name_key, password, role, invitation, created) VALUES (?, ?, ?, ?, ?, ?)
             RETURNING *",
        )
        .bind(&name.display)
        .bind(&name.key)
        .bind(new.password_hash.expose())
        .bind(role.name())
        .bind(invitation)
        .bind(new.at.0)
        .fetch_one(&mut *change)
        .await
        .map_err(error::unless_taken(self.path(), "name"))?;
        change.commit().await.map_err(self.failed())?;
        Account::read(&row).map_err(self.failed())
    }

    /// The account with this id.
    pub async fn account(&self, id: AccountId) -> Result<Account> {
        let mut reader = self.0.readers.acquire().await.map_err(self.failed())?;
        account_in(&mut reader, id, self.path()).await
    }

    /// The account with this name, in any spelling.
    pub async fn account_by_name(&self, name: &str) -> Result<Option<Account>> {
        Ok(self.credentials(name).await?.map(|found| found.account))
    }

    /// For signing in: the account with this name, in any spelling, and its password hash. Includes disabled accounts.
    pub async fn credentials(&self, name: &str) -> Result<Option<Credentials>> {
        // An invalid name belongs to no account. This also rejects very long names cheaply.
        let Ok(name) = Name::new("name", name.trim()) else { return Ok(None) };
        let row = sqlx::query("SELECT * FROM account WHERE name_key = ?")
            .bind(&name.key)
            .fetch_optional(&self.0.readers)
            .await
            .map_err(self.failed())?;
        row.map(|row| {
            let password_hash = SecretString::new(row.try_get::<String, _>("password")?);
            Ok(Credentials { account: Account::read(&row)?, password_hash })
        })
        .transpose()
        .map_err(self.failed())
    }

    /// Password hash of an account.
    pub async fn password_hash(&self, id: AccountId) -> Result<SecretString> {
        sqlx::query_scalar::<_, String>("SELECT password FROM account WHERE id = ?")
            .bind(id.0)
            .fetch_optional(&self.0.readers)
            .await
            .map_err(self.failed())?
            .map(SecretString::new)
            .ok_or(SiteDbError::NotFound { what: "account" })
    }

    /// All accounts, newest first.
    pub async fn accounts(&self, page: PageRequest) -> Result<ResultPage<Account>> {
        let rows = sqlx::query("SELECT * FROM account WHERE id < ? ORDER BY id DESC LIMIT ?")
            .bind(cursor(page))
            .bind(row_limit(page))
            .fetch_all(&self.0.readers)
            .await
            .map_err(self.failed())?;
        result_page(page, &rows, "id").map_err(self.failed())
    }

    /// Number of enabled organisers.
    pub async fn count_organisers(&self) -> Result<u64> {
        let mut reader = self.0.readers.acquire().await.map_err(self.failed())?;
        count_enabled_organisers(&mut reader).await.map_err(self.failed())
    }

    /// Changes the role of an account. Fails with `Conflict` for the last organiser.
    pub async fn set_role(&self, id: AccountId, role: Role) -> Result<Account> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let mut account = account_in(&mut change, id, self.path()).await?;
        if role != Role::Organiser {
            self.check_other_organiser(&mut change, &account).await?;
        }
        sqlx::query("UPDATE account SET role = ? WHERE id = ?")
            .bind(role.name())
            .bind(id.0)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())?;
        account.role = role;
        Ok(account)
    }

    /// Disables an account, which ends its sessions and revokes its tokens, or enables it again, which restores neither. Fails with
    /// `Conflict` for the last organiser.
    pub async fn set_disabled(&self, id: AccountId, disabled: bool, at: Timestamp) -> Result<Account> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let mut account = account_in(&mut change, id, self.path()).await?;
        if disabled == account.disabled.is_some() {
            return Ok(account);
        }
        account.disabled = if disabled {
            self.check_other_organiser(&mut change, &account).await?;
            sqlx::query("DELETE FROM session WHERE account = ?")
                .bind(id.0)
                .execute(&mut *change)
                .await
                .map_err(self.failed())?;
            sqlx::query("UPDATE token SET revoked = ? WHERE account = ? AND revoked IS NULL")
                .bind(at.0)
                .bind(id.0)
                .execute(&mut *change)
                .await
                .map_err(self.failed())?;
            Some(at)
        } else {
            None
        };
        sqlx::query("UPDATE account SET disabled = ? WHERE id = ?")
            .bind(account.disabled.map(|at| at.0))
            .bind(id.0)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())?;
        Ok(account)
    }

    /// Sets a new password. Ends all sessions of the account except the one whose token has the hash `kept_session`.
    pub async fn set_password_hash(
        &self,
        id: AccountId,
        password_hash: &SecretString,
        kept_session: Option<Digest>,
    ) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let done = sqlx::query("UPDATE account SET password = ? WHERE id = ?")
            .bind(password_hash.expose())
            .bind(id.0)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        if done.rows_affected() == 0 {
            return Err(SiteDbError::NotFound { what: "account" });
        }
        sqlx::query("DELETE FROM session WHERE account = ? AND token IS NOT ?")
            .bind(id.0)
            .bind(kept_session.as_ref().map(|token| &token.0[..]))
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())
    }

    /// Fails if this is the last enabled organiser.
    async fn check_other_organiser(&self, change: &mut SqliteConnection, account: &Account) -> Result<()> {
        let counts = account.role == Role::Organiser && account.disabled.is_none();
        if counts && count_enabled_organisers(change).await.map_err(self.failed())? == 1 {
            return Err(SiteDbError::conflict(format!("{} is the last organiser", account.name)));
        }
        Ok(())
    }
}

async fn count_enabled_organisers(connection: &mut SqliteConnection) -> Result<u64, sqlx::Error> {
    let count = sqlx::query_scalar::<_, i64>(
        "SELECT count(*) FROM account WHERE role = 'organiser' AND disabled IS NULL",
    );
    Ok(count.fetch_one(connection).await?.max(0) as u64)
}
