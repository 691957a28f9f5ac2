//! Links that prove something once: an e-mail address, or the right to choose a new password.

use agon_core::record::Digest;
use agon_store::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::model::named_enum;
use super::{
    AccountId, FromSiteRow, Result, SecretString, SiteDb, SiteDbError, account_in, enum_column, error, time,
};

/// Maximum number of links of one account for one purpose. The oldest is replaced.
const MAX_LINKS: i64 = 5;

named_enum! {
    /// What a link is for.
    LinkPurpose {
        /// Proves that the account reads mails at an address.
        VerifyMail = "verify-mail",
        /// Permits to choose a new password.
        ResetPassword = "reset-password",
    }
}

/// A link to create.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewAccountLink {
    /// [`crate::token_hash`] of its code.
    pub code: Digest,
    /// The account.
    pub account: AccountId,
    /// What it is for.
    pub purpose: LinkPurpose,
    /// The address that it proves.
    pub address: Option<String>,
    /// Time of expiry.
    pub expires: Timestamp,
    /// Time of creation.
    pub at: Timestamp,
}

struct StoredLink {
    account: AccountId,
    purpose: LinkPurpose,
    address: Option<String>,
    expires: Timestamp,
}

impl FromSiteRow for StoredLink {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            account: AccountId(row.try_get("account")?),
            purpose: enum_column(row, "purpose", LinkPurpose::by_name)?,
            address: row.try_get("address")?,
            expires: time(row, "expires")?,
        })
    }
}

impl SiteDb {
    /// Creates a link. An account has at most five links for one purpose; the oldest ends.
    pub async fn create_account_link(&self, new: &NewAccountLink) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        account_in(&mut change, new.account, self.path()).await?;
        sqlx::query("DELETE FROM account_link WHERE expires <= ?")
            .bind(new.at.0)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        sqlx::query(
            "DELETE FROM account_link WHERE account = ?1 AND purpose = ?2 AND code NOT IN (
                SELECT code FROM account_link WHERE account = ?1 AND purpose = ?2 ORDER BY created DESC LIMIT ?3)",
        )
        .bind(new.account.0)
        .bind(new.purpose.name())
        .bind(MAX_LINKS - 1)
        .execute(&mut *change)
        .await
        .map_err(self.failed())?;
        sqlx::query(
            "INSERT INTO account_link (code, account, purpose, address, created, expires) VALUES (?, ?, ?, ?, ?, ?)",
        )
        .bind(&new.code.0[..])
        .bind(new.account.0)
        .bind(new.purpose.name())
        .bind(&new.address)
        .bind(new.at.0)
        .bind(new.expires.0)
        .execute(&mut *change)
        .await
        .map_err(error::unless_taken(self.path(), "link"))?;
        change.commit().await.map_err(self.failed())
    }

    /// The account of a valid link, without using the link.
    pub async fn account_of_link(
        &self,
        code: Digest,
        purpose: LinkPurpose,
        now: Timestamp,
    ) -> Result<AccountId> {
        let mut reader = self.0.readers.acquire().await.map_err(self.failed())?;
        Ok(self.link_in(&mut reader, code, purpose, now).await?.account)
    }

    /// Uses a link to verify an e-mail address. Fails with `NotFound` if the link does not exist or has expired.
    pub async fn verify_mail(&self, code: Digest, now: Timestamp) -> Result<AccountId> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let link = self.link_in(&mut change, code, LinkPurpose::VerifyMail, now).await?;
        let address = link.address.unwrap_or_default();
        self.verify_address(&mut change, link.account, &address, now).await?;
        self.remove_links(&mut change, link.account, LinkPurpose::VerifyMail).await?;
        change.commit().await.map_err(self.failed())?;
        Ok(link.account)
    }

    /// Uses a link to set a new password. All sessions and other links of the account for this purpose end, in the same transaction.
    pub async fn reset_password(
        &self,
        code: Digest,
        password_hash: &SecretString,
        now: Timestamp,
    ) -> Result<AccountId> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let link = self.link_in(&mut change, code, LinkPurpose::ResetPassword, now).await?;
        sqlx::query("UPDATE account SET password = ? WHERE id = ?")
            .bind(password_hash.expose())
            .bind(link.account.0)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        // A browser or address that was known may be the reason for the reset.
        for removal in ["DELETE FROM session WHERE account = ?", "DELETE FROM known_client WHERE account = ?"]
        {
            sqlx::query(removal).bind(link.account.0).execute(&mut *change).await.map_err(self.failed())?;
        }
        self.remove_links(&mut change, link.account, LinkPurpose::ResetPassword).await?;
        change.commit().await.map_err(self.failed())?;
        Ok(link.account)
    }

    async fn link_in(
        &self,
        connection: &mut SqliteConnection,
        code: Digest,
        purpose: LinkPurpose,
        now: Timestamp,
    ) -> Result<StoredLink> {
        let row = sqlx::query(
            "SELECT account_link.* FROM account_link JOIN account ON account.id = account_link.account
             WHERE code = ? AND disabled IS NULL",
        )
        .bind(&code.0[..])
        .fetch_optional(connection)
        .await
        .map_err(self.failed())?;
        let link = row.as_ref().map(StoredLink::read).transpose().map_err(self.failed())?;
        link.filter(|link| link.purpose == purpose && link.expires > now)
            .ok_or(SiteDbError::NotFound { what: "link" })
    }

    async fn remove_links(
        &self,
        change: &mut SqliteConnection,
        account: AccountId,
        purpose: LinkPurpose,
    ) -> Result<()> {
        sqlx::query("DELETE FROM account_link WHERE account = ? AND purpose = ?")
            .bind(account.0)
            .bind(purpose.name())
            .execute(change)
            .await
            .map_err(self.failed())?;
        Ok(())
    }
}
