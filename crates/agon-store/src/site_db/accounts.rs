//! Who there is. Accounts are never deleted: what they did stays theirs. They are disabled.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::names::Name;
use super::{
    Account, AccountId, SignUpGrant, Credentials, FromSiteRow, SecretString, InvitationId, ResultPage, NewAccount, SiteDb,
    SiteDbError, PageRequest, Result, Role, account_in, before, error, limit, listed, time, time_if, word,
};
use crate::Timestamp;
use agon_core::record::Digest;

impl FromSiteRow for Account {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: AccountId(row.try_get("id")?),
            name: row.try_get("name")?,
            role: word(row, "role", Role::by_name)?,
            invitation: row.try_get::<Option<i64>, _>("invitation")?.map(InvitationId),
            created: time(row, "created")?,
            disabled: time_if(row, "disabled")?,
        })
    }
}

impl SiteDb {
    /// Somebody comes. With an invitation: one use of it less, in the same transaction; a refusal leaves it as it was.
    /// `Taken` if the name is, `NotFound` if there is no such invitation, `Conflict` if it is no good any more.
    pub async fn create_account(&self, new: &NewAccount) -> Result<Account> {
        let name = Name::new("name", &new.name)?;
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let (role, invitation) = match new.by {
            SignUpGrant::Open(role) => (role, None),
            SignUpGrant::Invited(code) => {
                let (id, role) = self.use_invitation(&mut change, code, new.at).await?;
                (role, Some(id.0))
            }
        };
        let row = sqlx::query(
            "INSERT INTO account (name, name_key, password, role, invitation, created) VALUES (?, ?, ?, ?, ?, ?)
             RETURNING *",
        )
        .bind(&name.shown)
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

    /// An account by its number.
    pub async fn account(&self, id: AccountId) -> Result<Account> {
        let mut reader = self.0.readers.acquire().await.map_err(self.failed())?;
        account_in(&mut reader, id, self.path()).await
    }

    /// An account by its name, however that is written.
    pub async fn account_by_name(&self, name: &str) -> Result<Option<Account>> {
        Ok(self.credentials(name).await?.map(|found| found.account))
    }

    /// For signing in: an account by its name, however that is written, with what the password is held against. Disabled ones too.
    pub async fn credentials(&self, name: &str) -> Result<Option<Credentials>> {
        // A name that is not allowed is nobody's; and a huge one costs nothing.
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

    /// What the password of an account is held against.
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
            .bind(before(page))
            .bind(limit(page))
            .fetch_all(&self.0.readers)
            .await
            .map_err(self.failed())?;
        listed(page, &rows, "id").map_err(self.failed())
    }

    /// How many organisers there are that may sign in.
    pub async fn count_organisers(&self) -> Result<u64> {
        let mut reader = self.0.readers.acquire().await.map_err(self.failed())?;
        organisers(&mut reader).await.map_err(self.failed())
    }

    /// What somebody may do from now on. The last organiser stays one (`Conflict`).
    pub async fn set_role(&self, id: AccountId, role: Role) -> Result<Account> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let mut account = account_in(&mut change, id, self.path()).await?;
        if role != Role::Organiser {
            self.not_the_last(&mut change, &account).await?;
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

    /// Disables an account, which ends its sessions and tokens, or enables it again, which brings neither back. The last
    /// organiser cannot be disabled (`Conflict`).
    pub async fn set_disabled(&self, id: AccountId, disabled: bool, at: Timestamp) -> Result<Account> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let mut account = account_in(&mut change, id, self.path()).await?;
        if disabled == account.disabled.is_some() {
            return Ok(account);
        }
        account.disabled = if disabled {
            self.not_the_last(&mut change, &account).await?;
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

    /// A new password. Ends all sessions of the account but the one whose token has the hash `stays`.
    pub async fn set_password_hash(
        &self,
        id: AccountId,
        password_hash: &SecretString,
        stays: Option<Digest>,
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
            .bind(stays.as_ref().map(|token| &token.0[..]))
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())
    }

    /// Refuses if nobody would be left who may do everything.
    async fn not_the_last(&self, change: &mut SqliteConnection, account: &Account) -> Result<()> {
        let counts = account.role == Role::Organiser && account.disabled.is_none();
        if counts && organisers(change).await.map_err(self.failed())? == 1 {
            return Err(SiteDbError::conflict(format!("{} is the last organiser", account.name)));
        }
        Ok(())
    }
}

async fn organisers(connection: &mut SqliteConnection) -> Result<u64, sqlx::Error> {
    let count = sqlx::query_scalar::<_, i64>(
        "SELECT count(*) FROM account WHERE role = 'organiser' AND disabled IS NULL",
    );
    Ok(count.fetch_one(connection).await?.max(0) as u64)
}
