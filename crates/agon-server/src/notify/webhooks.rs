//! Sends the queued requests of webhooks.
//!
//! A request is a POST with a JSON body and a signature. It follows no redirect, uses no proxy, and reaches only addresses of the public
//! Internet unless the organiser allows others. Addresses are checked after the name was resolved and the request uses the checked
//! addresses, so that a name cannot change between the check and the request.

use std::time::Duration;

use agon_site_db::{Webhook, WebhookDelivery};
use agon_store::Timestamp;
use futures_util::future::join_all;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use ureq::config::Config as ClientConfig;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};

use super::address_rules::is_public;
use super::unsubscribe::hex;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Timeout of a request, with the resolution of its name.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest wait before the queue is read again.
const QUEUE_INTERVAL: Duration = Duration::from_secs(30);
/// Delay before the second attempt. Each further one is four times as long: 10 s, 40 s, 3 min, 11 min, 43 min.
const RETRY_DELAY_MS: i64 = 10_000;

/// Resolves names to addresses that webhooks may reach.
#[derive(Debug)]
struct CheckedResolver {
    inner: DefaultResolver,
    allow_private: bool,
}

impl Resolver for CheckedResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &ClientConfig,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.inner.resolve(uri, config, timeout)?;
        let mut allowed = self.empty();
        for address in found.iter().filter(|address| self.allow_private || is_public(address.ip())) {
            allowed.push(*address);
        }
        if allowed.is_empty() { Err(ureq::Error::HostNotFound) } else { Ok(allowed) }
    }
}

/// Sends requests.
pub struct WebhookClient {
    agent: ureq::Agent,
}

impl WebhookClient {
    /// A client. `allow_private` permits all addresses, and requests without TLS.
    pub fn new(allow_private: bool) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(REQUEST_TIMEOUT))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .https_only(!allow_private)
            .proxy(None)
            .max_response_header_size(16 * 1024)
            .user_agent(concat!("Agon/", env!("CARGO_PKG_VERSION")))
            // A connection is not kept: the next request may be hours later.
            .max_idle_connections(0)
            .build();
        let resolver = CheckedResolver { inner: DefaultResolver::default(), allow_private };
        Self { agent: ureq::Agent::with_parts(config, DefaultConnector::default(), resolver) }
    }

    /// Sends a delivery. Blocks.
    fn send(&self, delivery: &WebhookDelivery, now: Timestamp) -> Result<(), String> {
        let signature = signature(&delivery.webhook, now, &delivery.body)?;
        let sent = self
            .agent
            .post(&delivery.webhook.url)
            .header("Content-Type", "application/json")
            .header("X-Agon-Delivery", delivery.id.to_string())
            .header("X-Agon-Timestamp", now.0.to_string())
            .header("X-Agon-Signature", format!("sha256={signature}"))
            .send(delivery.body.as_str());
        match sent {
            Ok(response) if response.status().is_success() => Ok(()),
            Ok(response) => Err(format!("the server answered with status {}", response.status().as_u16())),
            Err(error) => Err(describe(&error)),
        }
    }
}

/// HMAC-SHA256 of `TIMESTAMP.BODY` with the secret of the webhook, as hexadecimal digits. The time keeps old requests from being sent again.
fn signature(webhook: &Webhook, at: Timestamp, body: &str) -> Result<String, String> {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(webhook.secret.expose().as_bytes()).map_err(|e| e.to_string())?;
    mac.update(format!("{}.{body}", at.0).as_bytes());
    Ok(hex(&mac.finalize().into_bytes()))
}

/// Why a request failed, for the owner of the webhook.
fn describe(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(_) => "the request took too long".to_owned(),
        ureq::Error::HostNotFound => "the host was not found, or its address is not allowed".to_owned(),
        ureq::Error::RequireHttpsOnly(_) => "the URL must begin with https://".to_owned(),
        ureq::Error::Io(error) => format!("the connection failed: {}", error.kind()),
        _ => "the request failed".to_owned(),
    }
}

/// Checks the URL of a new webhook.
pub fn check_url(app: &AppState, url: &str) -> ApiResult<()> {
    let invalid = |what: &str| ApiError::invalid("url", format!("url: {what}"));
    let parsed: Uri = url.parse().map_err(|_| invalid("this is not a web address"))?;
    let Some(host) = parsed.host().filter(|host| !host.is_empty()) else {
        return Err(invalid("this is not a web address").hint("write https://HOST/PATH"));
    };
    if parsed.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(invalid("it contains a user name").hint("use the signature to check who sends a request"));
    }
    match parsed.scheme_str() {
        Some("https") => {}
        Some("http") if app.config.private_webhooks => {}
        _ => return Err(invalid("it must begin with https://")),
    }
    let literal: Option<std::net::IpAddr> = host.trim_start_matches('[').trim_end_matches(']').parse().ok();
    if literal.is_some_and(|address| !app.config.private_webhooks && !is_public(address)) {
        return Err(invalid("this address is not on the public Internet")
            .hint("an organiser can allow private addresses: agon serve --private-webhooks"));
    }
    Ok(())
}

/// Sends queued requests until the server stops.
pub async fn run(app: AppState) {
    while !app.is_stopping() {
        match send_due(&app).await {
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => tracing::error!(error = error.message(), "the webhook queue failed"),
        }
        let wait = app.site_db.next_delivery_due().await.ok().flatten().map_or(QUEUE_INTERVAL, |due| {
            let ms = due.0.saturating_sub(Timestamp::now().0).max(100);
            Duration::from_millis(ms as u64).min(QUEUE_INTERVAL)
        });
        tokio::select! {
            () = app.notify.deliveries.notified() => {}
            () = tokio::time::sleep(wait) => {}
            () = app.wait_for_stop() => return,
        }
    }
}

/// Sends the requests that are due, one for each webhook at a time. Returns whether there were any.
async fn send_due(app: &AppState) -> ApiResult<bool> {
    let due = app.site_db.due_deliveries(Timestamp::now()).await?;
    if due.is_empty() {
        return Ok(false);
    }
    for done in join_all(due.into_iter().map(|delivery| deliver(app, delivery))).await {
        done?;
    }
    Ok(true)
}

async fn deliver(app: &AppState, delivery: WebhookDelivery) -> ApiResult<()> {
    let client = app.clone();
    let copy = delivery.clone();
    let sent = tokio::task::spawn_blocking(move || client.webhooks.send(&copy, Timestamp::now()));
    let sent = sent.await.map_err(ApiError::internal)?;
    let now = Timestamp::now();
    match sent {
        Ok(()) => {
            app.meters.webhook("sent");
            app.site_db.delivery_done(&delivery).await?;
        }
        Err(why) => {
            app.meters.webhook("failed");
            let delay = RETRY_DELAY_MS << (2 * delivery.attempts.min(8));
            let disabled =
                app.site_db.delivery_failed(&delivery, &why, Timestamp(now.0 + delay), now).await?;
            tracing::debug!(webhook = delivery.webhook.id, error = why, disabled, "a webhook request failed");
            if disabled {
                tracing::warn!(
                    webhook = delivery.webhook.id,
                    error = why,
                    "webhook disabled after many failures"
                );
            }
        }
    }
    Ok(())
}
