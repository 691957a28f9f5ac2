//! Webhooks of accounts and competitions, and their deliveries. Deliveries survive a restart of the server.

use agon_store::Timestamp;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::{
    AccountId, FromSiteRow, Result, SecretString, SiteDb, SiteDbError, account_in, names, optional_time, time,
};

/// Maximum number of webhooks of an account.
pub const MAX_WEBHOOKS: u32 = 5;
/// Maximum number of deliveries that wait for one webhook. More are dropped.
pub const MAX_WAITING_DELIVERIES: i64 = 100;
/// Maximum number of attempts for one delivery.
pub const MAX_DELIVERY_ATTEMPTS: u32 = 6;
/// A webhook is disabled after this many failed attempts in a row.
pub const MAX_WEBHOOK_FAILURES: u32 = 20;
/// Maximum length of a URL.
const MAX_URL_CHARS: usize = 500;

/// A webhook to create.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewWebhook {
    /// Account that creates it.
    pub account: AccountId,
    /// Competition whose events it gets; `None`: the notifications of the account.
    pub competition: Option<String>,
    /// URL that gets the requests.
    pub url: String,
    /// Key of the signatures.
    pub secret: SecretString,
    /// Time of creation.
    pub at: Timestamp,
}

/// A webhook.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Webhook {
    /// Id.
    pub id: i64,
    /// Account that created it.
    pub account: AccountId,
    /// Competition whose events it gets.
    pub competition: Option<String>,
    /// URL that gets the requests.
    pub url: String,
    /// Key of the signatures.
    pub secret: SecretString,
    /// Time of creation.
    pub created: Timestamp,
    /// Number of failed attempts in a row.
    pub failures: u32,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
    /// When it was disabled.
    pub disabled: Option<Timestamp>,
}

impl FromSiteRow for Webhook {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: row.try_get("id")?,
            account: AccountId(row.try_get("account")?),
            competition: row.try_get("competition")?,
            url: row.try_get("url")?,
            secret: SecretString::new(row.try_get::<String, _>("secret")?),
            created: time(row, "created")?,
            failures: row.try_get("failures")?,
            last_error: row.try_get("last_error")?,
            disabled: optional_time(row, "disabled")?,
        })
    }
}

/// A delivery that is due, with its webhook.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WebhookDelivery {
    /// Id.
    pub id: i64,
    /// The webhook.
    pub webhook: Webhook,
    /// JSON text to send.
    pub body: String,
    /// Number of failed attempts.
    pub attempts: u32,
}

impl SiteDb {
    /// Creates a webhook. Fails with `TooMany` if the account has too many.
    pub async fn create_webhook(&self, new: &NewWebhook) -> Result<Webhook> {
        names::check_line("url", &new.url, 1, MAX_URL_CHARS)?;
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        account_in(&mut change, new.account, self.path()).await?;
        if let Some(competition) = &new.competition {
            self.competition_in(&mut change, competition).await?;
        }
        let has: i64 = sqlx::query_scalar("SELECT count(*) FROM webhook WHERE account = ?")
            .bind(new.account.0)
            .fetch_one(&mut *change)
            .await
            .map_err(self.failed())?;
        if has >= i64::from(MAX_WEBHOOKS) {
            return Err(SiteDbError::TooMany { limit: MAX_WEBHOOKS });
        }
        let row = sqlx::query(
            "INSERT INTO webhook (account, competition, url, secret, created) VALUES (?, ?, ?, ?, ?) RETURNING *",
        )
        .bind(new.account.0)
        .bind(&new.competition)
        .bind(&new.url)
        .bind(new.secret.expose())
        .bind(new.at.0)
        .fetch_one(&mut *change)
        .await
        .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())?;
        Webhook::read(&row).map_err(self.failed())
    }

    /// Webhooks that an account created.
    pub async fn webhooks_of(&self, account: AccountId) -> Result<Vec<Webhook>> {
        let rows = sqlx::query("SELECT * FROM webhook WHERE account = ? ORDER BY id")
            .bind(account.0)
            .fetch_all(&self.0.readers)
            .await
            .map_err(self.failed())?;
        rows.iter().map(Webhook::read).collect::<Result<_, _>>().map_err(self.failed())
    }

    /// Removes a webhook of an account and its waiting deliveries.
    pub async fn delete_webhook(&self, account: AccountId, id: i64) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        // Its deliveries go with it.
        let done = sqlx::query("DELETE FROM webhook WHERE id = ? AND account = ?")
            .bind(id)
            .bind(account.0)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        if done.rows_affected() == 0 {
            return Err(SiteDbError::NotFound { what: "webhook" });
        }
        change.commit().await.map_err(self.failed())
    }

    /// Enables a webhook of an account again.
    pub async fn enable_webhook(&self, account: AccountId, id: i64) -> Result<Webhook> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let row = sqlx::query(
            "UPDATE webhook SET disabled = NULL, failures = 0 WHERE id = ? AND account = ? RETURNING *",
        )
        .bind(id)
        .bind(account.0)
        .fetch_optional(&mut *change)
        .await
        .map_err(self.failed())?
        .ok_or(SiteDbError::NotFound { what: "webhook" })?;
        change.commit().await.map_err(self.failed())?;
        Webhook::read(&row).map_err(self.failed())
    }

    /// Queues a delivery for the enabled webhooks of an account, or of a competition. Returns their number.
    pub async fn queue_deliveries(
        &self,
        account: Option<AccountId>,
        competition: Option<&str>,
        body: &str,
        at: Timestamp,
    ) -> Result<u64> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let done = sqlx::query(
            "INSERT INTO webhook_delivery (webhook, body, created, due) SELECT id, ?3, ?4, ?4 FROM webhook
             WHERE disabled IS NULL AND ((account = ?1 AND competition IS NULL) OR competition = ?2)
                AND (SELECT count(*) FROM webhook_delivery WHERE webhook = webhook.id) < ?5",
        )
        .bind(account.map(|account| account.0))
        .bind(competition)
        .bind(body)
        .bind(at.0)
        .bind(MAX_WAITING_DELIVERIES)
        .execute(&mut *change)
        .await
        .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())?;
        Ok(done.rows_affected())
    }

    /// Queues a delivery for one webhook of an account: a test.
    pub async fn queue_test_delivery(
        &self,
        account: AccountId,
        id: i64,
        body: &str,
        at: Timestamp,
    ) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let done = sqlx::query(
            "INSERT INTO webhook_delivery (webhook, body, created, due) SELECT id, ?3, ?4, ?4 FROM webhook
             WHERE id = ?1 AND account = ?2 AND disabled IS NULL",
        )
        .bind(id)
        .bind(account.0)
        .bind(body)
        .bind(at.0)
        .execute(&mut *change)
        .await
        .map_err(self.failed())?;
        if done.rows_affected() == 0 {
            return Err(SiteDbError::NotFound { what: "enabled webhook" });
        }
        change.commit().await.map_err(self.failed())
    }

    /// Deliveries that are due, at most one for each webhook and eight in total.
    pub async fn due_deliveries(&self, now: Timestamp) -> Result<Vec<WebhookDelivery>> {
        let rows = sqlx::query(
            "SELECT webhook.*, webhook_delivery.id AS delivery, body, attempts FROM webhook_delivery
             JOIN webhook ON webhook.id = webhook_delivery.webhook
             WHERE webhook_delivery.id IN (SELECT min(id) FROM webhook_delivery WHERE due <= ? GROUP BY webhook)
                AND disabled IS NULL ORDER BY due, webhook_delivery.id LIMIT 8",
        )
        .bind(now.0)
        .fetch_all(&self.0.readers)
        .await
        .map_err(self.failed())?;
        let read = |row: &SqliteRow| {
            Ok(WebhookDelivery {
                id: row.try_get("delivery")?,
                webhook: Webhook::read(row)?,
                body: row.try_get("body")?,
                attempts: row.try_get("attempts")?,
            })
        };
        rows.iter().map(read).collect::<Result<_, _>>().map_err(self.failed())
    }

    /// When the next delivery is due.
    pub async fn next_delivery_due(&self) -> Result<Option<Timestamp>> {
        let due: Option<i64> = sqlx::query_scalar("SELECT min(due) FROM webhook_delivery")
            .fetch_one(&self.0.readers)
            .await
            .map_err(self.failed())?;
        Ok(due.map(Timestamp))
    }

    /// Removes a delivery that succeeded.
    pub async fn delivery_done(&self, delivery: &WebhookDelivery) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        sqlx::query("DELETE FROM webhook_delivery WHERE id = ?")
            .bind(delivery.id)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        sqlx::query("UPDATE webhook SET failures = 0, last_error = NULL WHERE id = ?")
            .bind(delivery.webhook.id)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())
    }

    /// Counts a failed attempt. The delivery is due again at `due`, or removed after the last attempt. After too many failures in a row
    /// the webhook is disabled and its deliveries are removed; then it returns true.
    pub async fn delivery_failed(
        &self,
        delivery: &WebhookDelivery,
        why: &str,
        due: Timestamp,
        now: Timestamp,
    ) -> Result<bool> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let disabled = delivery.webhook.failures + 1 >= MAX_WEBHOOK_FAILURES;
        sqlx::query("UPDATE webhook SET failures = failures + 1, last_error = ?, disabled = ? WHERE id = ?")
            .bind(names::truncated(why, 300))
            .bind(disabled.then_some(now.0))
            .bind(delivery.webhook.id)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        let query = if disabled {
            sqlx::query("DELETE FROM webhook_delivery WHERE webhook = ?").bind(delivery.webhook.id)
        } else if delivery.attempts + 1 >= MAX_DELIVERY_ATTEMPTS {
            sqlx::query("DELETE FROM webhook_delivery WHERE id = ?").bind(delivery.id)
        } else {
            sqlx::query("UPDATE webhook_delivery SET attempts = attempts + 1, due = ? WHERE id = ?")
                .bind(due.0)
                .bind(delivery.id)
        };
        query.execute(&mut *change).await.map_err(self.failed())?;
        change.commit().await.map_err(self.failed())?;
        Ok(disabled)
    }
}
