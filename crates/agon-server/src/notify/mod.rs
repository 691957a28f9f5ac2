//! Notifications: on the site, by mail and by webhook.
//!
//! [`send`] stores a notification and queues its mail and its webhook requests. [`mail`] and [`webhooks`] send what is queued, [`watch`]
//! looks at running competitions and tells authors what happened to their bots.

pub mod address_rules;
pub mod mail;
pub mod unsubscribe;
pub mod watch;
pub mod webhooks;

use agon_site_db::{
    AccountId, Entrant, NewMail, NewNotification, NotificationChannel, NotificationKind, SiteDbError,
};
use agon_store::Timestamp;
use serde::Serialize;
use tokio::sync::Notify;

use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

const HOUR_MS: i64 = 60 * 60 * 1000;

/// Wakes the tasks that send mails and webhook requests.
#[derive(Debug, Default)]
pub struct NotifyQueue {
    mails: Notify,
    deliveries: Notify,
}

impl NotifyQueue {
    /// A mail was queued.
    pub fn wake_mails(&self) {
        self.mails.notify_one();
    }

    /// A webhook request was queued.
    pub fn wake_deliveries(&self) {
        self.deliveries.notify_one();
    }
}

/// What an account is notified of.
#[derive(Clone, Debug)]
pub struct Notice {
    /// Kind, by which the account chooses channels.
    pub kind: NotificationKind,
    /// What it is about, such as `bot/12`. Frequent kinds are sent at most once an hour for a topic.
    pub topic: String,
    /// Path of this site with more about it.
    pub link: String,
    /// One sentence.
    pub text: String,
}

/// Body of a webhook request.
#[derive(Debug, Serialize)]
struct WebhookPayload<'n> {
    event: &'n str,
    text: &'n str,
    link: String,
    at: i64,
}

/// Starts the tasks that send and watch. They end when the server stops.
pub fn start(app: &AppState) -> Vec<tokio::task::JoinHandle<()>> {
    vec![
        tokio::spawn(mail::run(app.clone())),
        tokio::spawn(webhooks::run(app.clone())),
        tokio::spawn(watch::run(app.clone())),
    ]
}

/// Notifies an account by the channels it chose. Errors go to the log: no action fails because a notification does.
pub async fn send(app: &AppState, account: AccountId, notice: &Notice) {
    if let Err(error) = try_send(app, account, notice).await {
        tracing::error!(account = %account, kind = notice.kind.name(), error = error.message(), "notification lost");
    }
}

/// Notifies all accounts that manage a bot.
pub async fn send_to_managers(app: &AppState, entrant: &Entrant, notice: &Notice) {
    match app.site_db.managers(entrant).await {
        Ok(managers) => {
            for account in managers {
                send(app, account, notice).await;
            }
        }
        Err(error) => drop(ApiError::from(error)),
    }
}

async fn try_send(app: &AppState, account: AccountId, notice: &Notice) -> ApiResult<()> {
    let now = Timestamp::now();
    let is_frequent = matches!(notice.kind, NotificationKind::Overtaken | NotificationKind::Crashed);
    let since = Timestamp(now.0 - HOUR_MS);
    if is_frequent && app.site_db.is_notified_since(account, notice.kind, &notice.topic, since).await? {
        return Ok(());
    }
    let choices = app.site_db.channel_choices(account).await?;
    let wants = |channel| choices.iter().any(|one| *one == (notice.kind, channel, true));
    let new = NewNotification {
        account,
        kind: notice.kind,
        text: notice.text.clone(),
        link: notice.link.clone(),
        topic: notice.topic.clone(),
        shown: wants(NotificationChannel::Site),
        at: now,
    };
    app.site_db.add_notification(&new).await?;
    if app.config.mail.is_some() && wants(NotificationChannel::Mail) {
        queue_notification_mail(app, account, notice, now).await?;
    }
    if wants(NotificationChannel::Webhook) {
        let body = webhook_body(app, notice, now);
        if app.site_db.queue_deliveries(Some(account), None, &body, now).await? > 0 {
            app.notify.wake_deliveries();
        }
    }
    Ok(())
}

/// Tells the webhooks of a competition about an event.
pub async fn tell_competition(app: &AppState, competition: &str, notice: &Notice) {
    let now = Timestamp::now();
    let body = webhook_body(app, notice, now);
    match app.site_db.queue_deliveries(None, Some(competition), &body, now).await {
        Ok(0) => {}
        Ok(_) => app.notify.wake_deliveries(),
        Err(error) => drop(ApiError::from(error)),
    }
}

fn webhook_body(app: &AppState, notice: &Notice, now: Timestamp) -> String {
    let link = format!("{}{}", app.config.url(), notice.link);
    let body = WebhookPayload { event: notice.kind.name(), text: &notice.text, link, at: now.0 };
    serde_json::to_string(&body).unwrap_or_default()
}

async fn queue_notification_mail(
    app: &AppState,
    account: AccountId,
    notice: &Notice,
    now: Timestamp,
) -> ApiResult<()> {
    let Some(address) = app.site_db.mail_address(account).await?.filter(|mail| mail.verified.is_some())
    else {
        return Ok(());
    };
    let mail = NewMail {
        account,
        address: address.address,
        subject: notice.text.clone(),
        body: format!("{}\n{}{}\n", notice.text, app.config.url(), notice.link),
        digest: true,
        at: now,
    };
    match app.site_db.queue_mail(&mail).await {
        Ok(()) => app.notify.wake_mails(),
        // The site has the notification.
        Err(SiteDbError::TooMany { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
