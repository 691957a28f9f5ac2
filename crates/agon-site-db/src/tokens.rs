//! API tokens for programs that act on behalf of an account.

use agon_core::record::Digest;
use agon_store::Timestamp;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::{
    Account, AccountId, NewToken, Result, SiteDb, SiteDbError, TOUCH_INTERVAL_MS, Token, TokenId, account_in,
    error, names, optional_time, time,
};

/// Maximum number of tokens of an account that are not revoked.
pub const MAX_TOKENS: u32 = 50;
/// Maximum number of tokens in a list, newest first.
const MAX_TOKENS_LISTED: i64 = 200;

impl Token {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: TokenId(row.try_get("id")?),
            account: AccountId(row.try_get("account")?),
            label: row.try_get("label")?,
            created: time(row, "created")?,
            used: optional_time(row, "used")?,
            expires: optional_time(row, "expires")?,
            revoked: optional_time(row, "revoked")?,
        })
    }
}

impl SiteDb {
    /// Creates a token. Fails with `TooMany` if the account has [`MAX_TOKENS`], with `Conflict` if it is disabled.
    pub async fn create_token(&self, new: &NewToken) -> Result<Token> {
        names::check_line("label", &new.label, 1, 60)?;
        if new.expires.is_some_and(|end| end <= new.at) {
            return Err(SiteDbError::invalid("expires", "it is in the past"));
        }
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        if account_in(&mut change, new.account, self.path()).await?.disabled.is_some() {
            return Err(SiteDbError::conflict("the account is disabled"));
        }
        let has: i64 = sqlx::query_scalar("SELECT count(*) FROM token WHERE account = ? AND revoked IS NULL")
            .bind(new.account.0)
            .fetch_one(&mut *change)
            .await
            .map_err(self.failed())?;
        if has >= i64::from(MAX_TOKENS) {
            return Err(SiteDbError::TooMany { limit: MAX_TOKENS });
        }
        let row = sqlx::query(
            "INSERT INTO token (account, label, hash, created, expires) VALUES (?, ?, ?, ?, ?) RETURNING *",
        )
        .bind(new.account.0)
        .bind(&new.label)
        .bind(&new.token.0[..])
        .bind(new.at.0)
        .bind(new.expires.map(|end| end.0))
        .fetch_one(&mut *change)
        .await
        .map_err(error::unless_taken(self.path(), "token"))?;
        change.commit().await.map_err(self.failed())?;
        Token::read(&row).map_err(self.failed())
    }

    /// The token with this hash, with its account; `None` if it does not exist, has expired, was revoked or its account is
    /// disabled. Updates the time of last use at most once a minute.
    pub async fn find_token(&self, token: Digest, now: Timestamp) -> Result<Option<(Token, Account)>> {
        let row = sqlx::query(
            "SELECT * FROM token WHERE hash = ? AND revoked IS NULL AND (expires IS NULL OR expires > ?)",
        )
        .bind(&token.0[..])
        .bind(now.0)
        .fetch_optional(&self.0.readers)
        .await
        .map_err(self.failed())?;
        let Some(row) = row else { return Ok(None) };
        let mut found = Token::read(&row).map_err(self.failed())?;
        let account = self.account(found.account).await?;
        if account.disabled.is_some() {
            return Ok(None);
        }
        if found.used.is_none_or(|used| now.0.saturating_sub(used.0) >= TOUCH_INTERVAL_MS) {
            found.used = Some(now);
            // A full disk must not lock users out.
            let _ = self.touch_token(found.id, now).await;
        }
        Ok(Some((found, account)))
    }

    async fn touch_token(&self, id: TokenId, now: Timestamp) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let done =
            sqlx::query("UPDATE token SET used = ?1 WHERE id = ?2 AND (used IS NULL OR used <= ?1 - ?3)")
                .bind(now.0)
                .bind(id.0)
                .bind(TOUCH_INTERVAL_MS)
                .execute(&mut *change)
                .await
                .map_err(self.failed())?;
        if done.rows_affected() > 0 {
            change.commit().await.map_err(self.failed())?;
        }
        Ok(())
    }

    /// Tokens of an account, newest first, including revoked ones.
    pub async fn tokens_of(&self, account: AccountId) -> Result<Vec<Token>> {
        let rows = sqlx::query("SELECT * FROM token WHERE account = ? ORDER BY id DESC LIMIT ?")
            .bind(account.0)
            .bind(MAX_TOKENS_LISTED)
            .fetch_all(&self.0.readers)
            .await
            .map_err(self.failed())?;
        rows.iter().map(Token::read).collect::<Result<_, _>>().map_err(self.failed())
    }

    /// Revokes a token of this account. Calling it again changes nothing.
    pub async fn revoke_token(&self, account: AccountId, id: TokenId, at: Timestamp) -> Result<Token> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let row = sqlx::query(
            "UPDATE token SET revoked = coalesce(revoked, ?) WHERE id = ? AND account = ? RETURNING *",
        )
        .bind(at.0)
        .bind(id.0)
        .bind(account.0)
        .fetch_optional(&mut *change)
        .await
        .map_err(self.failed())?
        .ok_or(SiteDbError::NotFound { what: "token" })?;
        change.commit().await.map_err(self.failed())?;
        Token::read(&row).map_err(self.failed())
    }
}
