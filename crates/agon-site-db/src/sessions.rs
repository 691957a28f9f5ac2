//! Sessions. The database stores only the hash of a session token, so its content cannot be used to sign in.

use agon_core::record::Digest;
use agon_store::Timestamp;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::{
    Account, AccountId, FromSiteRow, NewSession, Result, SecretString, Session, SiteDb, SiteDbError,
    TOUCH_INTERVAL_MS, account_in, error, names, time,
};

const DAY: i64 = 24 * 60 * 60 * 1000;
/// A session that is not used for this long ends.
pub const SESSION_IDLE_TIMEOUT_MS: i64 = 14 * DAY;
/// Maximum age of a session, however often it is used.
pub const SESSION_TOTAL_TIMEOUT_MS: i64 = 90 * DAY;
/// Longer user agents are truncated.
const MAX_AGENT_CHARS: usize = 200;

impl Session {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            account: AccountId(row.try_get("session_account")?),
            csrf: SecretString::new(row.try_get::<String, _>("csrf")?),
            created: time(row, "session_created")?,
            seen: time(row, "seen")?,
            expires: time(row, "expires")?,
            agent: row.try_get("agent")?,
        })
    }

    /// Time at which a session ends if it is not used after `now`.
    const fn expiry(created: Timestamp, now: Timestamp) -> Timestamp {
        let (sliding, absolute) = (
            now.0.saturating_add(SESSION_IDLE_TIMEOUT_MS),
            created.0.saturating_add(SESSION_TOTAL_TIMEOUT_MS),
        );
        Timestamp(if sliding < absolute { sliding } else { absolute })
    }
}

impl SiteDb {
    /// Creates a session. Fails with `Conflict` if the account is disabled.
    pub async fn create_session(&self, new: &NewSession) -> Result<Session> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        if account_in(&mut change, new.account, self.path()).await?.disabled.is_some() {
            return Err(SiteDbError::conflict("the account is disabled"));
        }
        let session = Session {
            account: new.account,
            csrf: new.csrf.clone(),
            created: new.at,
            seen: new.at,
            expires: Session::expiry(new.at, new.at),
            agent: names::truncated(&new.agent, MAX_AGENT_CHARS).to_owned(),
        };
        sqlx::query(
            "INSERT INTO session (token, account, csrf, created, seen, expires, agent) VALUES (?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(&new.token.0[..])
        .bind(new.account.0)
        .bind(new.csrf.expose())
        .bind(session.created.0)
        .bind(session.seen.0)
        .bind(session.expires.0)
        .bind(&session.agent)
        .execute(&mut *change)
        .await
        .map_err(error::unless_taken(self.path(), "session token"))?;
        change.commit().await.map_err(self.failed())?;
        Ok(session)
    }

    /// The session whose token has this hash, with its account; `None` if it does not exist, has expired or its account is disabled.
    /// Updates the time of last use at most once a minute.
    pub async fn find_session(&self, token: Digest, now: Timestamp) -> Result<Option<(Session, Account)>> {
        let row = sqlx::query(
            "SELECT session.account AS session_account, csrf, session.created AS session_created, seen, expires, agent, account.*
             FROM session JOIN account ON account.id = session.account
             WHERE token = ? AND expires > ? AND disabled IS NULL",
        )
        .bind(&token.0[..])
        .bind(now.0)
        .fetch_optional(&self.0.readers)
        .await
        .map_err(self.failed())?;
        let Some(row) = row else { return Ok(None) };
        let mut session = Session::read(&row).map_err(self.failed())?;
        let account = Account::read(&row).map_err(self.failed())?;
        if now.0.saturating_sub(session.seen.0) >= TOUCH_INTERVAL_MS {
            (session.seen, session.expires) = (now, Session::expiry(session.created, now));
            // A full disk must not sign users out.
            let _ = self.touch_session(token, &session).await;
        }
        Ok(Some((session, account)))
    }

    async fn touch_session(&self, token: Digest, session: &Session) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        // A page sends many requests at once: only the first one writes.
        let done =
            sqlx::query("UPDATE session SET seen = ?1, expires = ?2 WHERE token = ?3 AND seen <= ?1 - ?4")
                .bind(session.seen.0)
                .bind(session.expires.0)
                .bind(&token.0[..])
                .bind(TOUCH_INTERVAL_MS)
                .execute(&mut *change)
                .await
                .map_err(self.failed())?;
        if done.rows_affected() > 0 {
            change.commit().await.map_err(self.failed())?;
        }
        Ok(())
    }

    /// Ends a session. Does nothing if it does not exist.
    pub async fn end_session(&self, token: Digest) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        sqlx::query("DELETE FROM session WHERE token = ?")
            .bind(&token.0[..])
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())
    }

    /// Ends all sessions of an account and returns their number.
    pub async fn end_sessions_of(&self, account: AccountId) -> Result<u64> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let done = sqlx::query("DELETE FROM session WHERE account = ?")
            .bind(account.0)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())?;
        Ok(done.rows_affected())
    }

    /// Deletes expired sessions and returns their number. Run it periodically to free space: expired sessions are never used.
    pub async fn sweep_sessions(&self, now: Timestamp) -> Result<u64> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let done = sqlx::query("DELETE FROM session WHERE expires <= ?")
            .bind(now.0)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())?;
        Ok(done.rows_affected())
    }
}
