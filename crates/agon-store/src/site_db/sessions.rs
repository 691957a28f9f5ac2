//! Who is signed in. Of a session's token only the hash is kept: whoever reads the file can be nobody by it.

use agon_core::record::Digest;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::{
    Account, AccountId, FromSiteRow, SecretString, NewSession, SiteDb, SiteDbError, Result, Session, TOUCH,
    account_in, error, names, time,
};
use crate::Timestamp;

const DAY: i64 = 24 * 60 * 60 * 1000;
/// A session ends when it was not used for so long: milliseconds.
pub const SESSION_SLIDING: i64 = 14 * DAY;
/// However much it is used, a session ends after so long: milliseconds.
pub const SESSION_ABSOLUTE: i64 = 90 * DAY;
/// So much is kept of what a browser calls itself, in characters.
const AGENT: usize = 200;

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

    /// When it ends if it is used now and never again.
    const fn end(created: Timestamp, now: Timestamp) -> Timestamp {
        let (sliding, absolute) =
            (now.0.saturating_add(SESSION_SLIDING), created.0.saturating_add(SESSION_ABSOLUTE));
        Timestamp(if sliding < absolute { sliding } else { absolute })
    }
}

impl SiteDb {
    /// Somebody signs in. `Conflict` if the account is disabled.
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
            expires: Session::end(new.at, new.at),
            agent: names::cut(&new.agent, AGENT).to_owned(),
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

    /// The session whose token has this hash, and whose it is; `None` if there is none, it has expired or its account is disabled.
    /// That it was seen is written down once a minute.
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
        if now.0.saturating_sub(session.seen.0) >= TOUCH {
            (session.seen, session.expires) = (now, Session::end(session.created, now));
            // A disk that is full is no reason to show nobody anything: who is signed in stays so.
            let _ = self.touch_session(token, &session).await;
        }
        Ok(Some((session, account)))
    }

    async fn touch_session(&self, token: Digest, session: &Session) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        // Many requests of one page come at once: the first of them writes.
        let done =
            sqlx::query("UPDATE session SET seen = ?1, expires = ?2 WHERE token = ?3 AND seen <= ?1 - ?4")
                .bind(session.seen.0)
                .bind(session.expires.0)
                .bind(&token.0[..])
                .bind(TOUCH)
                .execute(&mut *change)
                .await
                .map_err(self.failed())?;
        if done.rows_affected() > 0 {
            change.commit().await.map_err(self.failed())?;
        }
        Ok(())
    }

    /// Somebody signs out. A session that is not there is ended too.
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

    /// Signs somebody out everywhere; gives how many sessions that were.
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

    /// Removes sessions that have expired; gives how many. For now and then: they are of no use before either.
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
