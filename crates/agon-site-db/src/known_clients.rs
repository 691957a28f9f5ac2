//! Clients that have signed in to an account before: browsers and addresses. The database stores only hashes.

use agon_core::record::Digest;
use agon_store::Timestamp;

use super::{AccountId, Result, SiteDb};

const DAY: i64 = 24 * 60 * 60 * 1000;
/// A client that has not signed in for this long is forgotten.
pub const KNOWN_CLIENT_TIMEOUT_MS: i64 = 180 * DAY;
/// Maximum number of clients of an account. The one that has not signed in for longest is forgotten first.
const MAX_KNOWN_CLIENTS: i64 = 64;

impl SiteDb {
    /// Whether this client has signed in to the account.
    pub async fn is_known_client(&self, account: AccountId, client: Digest, now: Timestamp) -> Result<bool> {
        let found: Option<i64> =
            sqlx::query_scalar("SELECT seen FROM known_client WHERE account = ? AND client = ?")
                .bind(account.0)
                .bind(&client.0[..])
                .fetch_optional(&self.0.readers)
                .await
                .map_err(self.failed())?;
        Ok(found.is_some_and(|seen| now.0.saturating_sub(seen) < KNOWN_CLIENT_TIMEOUT_MS))
    }

    /// Remembers that these clients have signed in to the account. Call it only after a successful sign-in.
    pub async fn remember_clients(
        &self,
        account: AccountId,
        clients: &[Digest],
        at: Timestamp,
    ) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        for client in clients {
            sqlx::query(
                "INSERT INTO known_client (account, client, seen) VALUES (?, ?, ?)
                 ON CONFLICT (account, client) DO UPDATE SET seen = max(seen, excluded.seen)",
            )
            .bind(account.0)
            .bind(&client.0[..])
            .bind(at.0)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        }
        sqlx::query(
            "DELETE FROM known_client WHERE account = ?1 AND (seen <= ?2 OR client NOT IN (
                SELECT client FROM known_client WHERE account = ?1 ORDER BY seen DESC, client LIMIT ?3))",
        )
        .bind(account.0)
        .bind(at.0.saturating_sub(KNOWN_CLIENT_TIMEOUT_MS))
        .bind(MAX_KNOWN_CLIENTS)
        .execute(&mut *change)
        .await
        .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())
    }
}
