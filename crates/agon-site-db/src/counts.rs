//! Counts of rows.

use agon_store::Timestamp;

use super::{AccountId, Result, SiteDb};

impl SiteDb {
    /// Number of active sessions.
    pub async fn count_sessions(&self, now: Timestamp) -> Result<u64> {
        let count: i64 = sqlx::query_scalar("SELECT count(*) FROM session WHERE expires > ?")
            .bind(now.0)
            .fetch_one(&self.0.readers)
            .await
            .map_err(self.failed())?;
        Ok(count.max(0) as u64)
    }

    /// Number of entrants of an account in all competitions, without withdrawn ones.
    pub async fn count_entrants_of(&self, account: AccountId) -> Result<u64> {
        let count: i64 =
            sqlx::query_scalar("SELECT count(*) FROM entrant WHERE account = ? AND withdrawn IS NULL")
                .bind(account.0)
                .fetch_one(&self.0.readers)
                .await
                .map_err(self.failed())?;
        Ok(count.max(0) as u64)
    }
}
