//! Settings of the site: keys with text values.

use super::{Result, SiteDb, SiteDbError};

/// Maximum length of a value in bytes.
const MAX_VALUE_BYTES: usize = 64 * 1024;

impl SiteDb {
    /// Value of a setting, if it is set.
    pub async fn setting(&self, key: &str) -> Result<Option<String>> {
        sqlx::query_scalar("SELECT value FROM setting WHERE key = ?")
            .bind(key)
            .fetch_optional(&self.0.readers)
            .await
            .map_err(self.failed())
    }

    /// All settings, by key.
    pub async fn settings(&self) -> Result<Vec<(String, String)>> {
        sqlx::query_as("SELECT key, value FROM setting ORDER BY key")
            .fetch_all(&self.0.readers)
            .await
            .map_err(self.failed())
    }

    /// Sets a value; `None` removes it.
    pub async fn set_setting(&self, key: &str, value: Option<&str>) -> Result<()> {
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.');
        if !(1..=64).contains(&key.len()) || !key.bytes().all(allowed) {
            let what = "it must be 1 to 64 lowercase letters (a-z), digits, hyphens, underscores and dots";
            return Err(SiteDbError::invalid("key", what));
        }
        if value.is_some_and(|value| value.len() > MAX_VALUE_BYTES) {
            return Err(SiteDbError::invalid("value", format!("it is longer than {MAX_VALUE_BYTES} bytes")));
        }
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let query = match value {
            Some(value) => sqlx::query(
                "INSERT INTO setting (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            )
            .bind(key)
            .bind(value),
            None => sqlx::query("DELETE FROM setting WHERE key = ?").bind(key),
        };
        query.execute(&mut *change).await.map_err(self.failed())?;
        change.commit().await.map_err(self.failed())
    }
}
