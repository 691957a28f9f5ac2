//! Tests the permissions of a NATS user by trying them. The server reports a missing permission separately, never as a reply, so a request
//! without permission would only time out.

use std::time::{Duration, Instant};

use futures_util::StreamExt as _;

use crate::{GridError, NatsConnection, nats, subjects};

/// Time for the client library's task to deliver server errors.
const SERVER_ERROR_DELAY: Duration = Duration::from_millis(50);

/// Role of a NATS user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role<'r> {
    /// Publishes jobs: `agon run`, `agon serve`.
    Coordinator,
    /// Plays jobs, under this worker name.
    Worker(&'r str),
    /// Lists workers: `agon workers`.
    Spectator,
}

impl Role<'_> {
    /// Unused subjects for the test: one to publish to, some to subscribe to.
    fn subjects(self) -> (Option<String>, Vec<String>) {
        match self {
            Self::Coordinator => (
                Some("agon.doctor.here".to_owned()),
                vec![subjects::report("*", "doctor"), subjects::ALL_HEARTBEATS.to_owned()],
            ),
            Self::Worker(name) => (
                Some(format!("agon.up.{name}.doctor")),
                vec![subjects::ANNOUNCEMENTS.to_owned(), format!("agon.down.{name}.doctor")],
            ),
            Self::Spectator => {
                (None, vec![subjects::ANNOUNCEMENTS.to_owned(), subjects::ALL_HEARTBEATS.to_owned()])
            }
        }
    }

    /// Description, after "this user may ...".
    pub fn describe(self) -> String {
        match self {
            Self::Coordinator => "coordinate".to_owned(),
            Self::Worker(name) => format!("work as {name}"),
            Self::Spectator => "see the workers".to_owned(),
        }
    }
}

/// Checks that this user may act in the role.
pub async fn check(link: &NatsConnection, role: Role<'_>) -> Result<(), GridError> {
    match (try_role(link, role).await, role, link.user()) {
        (Err(GridError::Permission { what, .. }), Role::Worker(name), Some(user)) if user != name => {
            let what = format!("the NATS user {user} may not work as {name}: {what}");
            let hint =
                format!("use `--name {user}`, or the user {name} in the address: both must be the same");
            Err(GridError::Usage { what, hint })
        }
        (outcome, ..) => outcome,
    }
}

async fn try_role(link: &NatsConnection, role: Role<'_>) -> Result<(), GridError> {
    link.take_server_errors();
    let (publish, subscribe) = role.subjects();
    let mut subscriptions = Vec::new();
    for subject in subscribe {
        let subscription = link.client().subscribe(subject).await;
        subscriptions.push(subscription.map_err(|error| link.jetstream_error("subscribe", &error))?);
    }
    if let Some(subject) = publish {
        let published = link.client().publish(subject, "".into()).await;
        published.map_err(|error| link.jetstream_error("publish", &error))?;
    }
    round_trip(link).await?;
    match permission_violation(link) {
        None => Ok(()),
        Some(what) => Err(GridError::Permission {
            url: link.url().to_owned(),
            doing: role.describe(),
            what,
            hint: match role {
                Role::Worker(_) => {
                    "use the name of the NATS user as the worker's --name; deploy/nats/users.conf lists its permissions"
                }
                _ => "docs/grid.md lists the permissions; deploy/nats/users.conf has users to copy",
            },
        }),
    }
}

/// Waits until the server has processed all messages sent so far. Returns the round-trip time.
pub async fn round_trip(link: &NatsConnection) -> Result<Duration, GridError> {
    let (inbox, started) = (link.client().new_inbox(), Instant::now());
    let inbox_messages = link.client().subscribe(inbox.clone()).await;
    let mut inbox_messages = inbox_messages.map_err(|error| link.jetstream_error("subscribe", &error))?;
    let published = link.client().publish(inbox, "".into()).await;
    published.map_err(|error| link.jetstream_error("publish", &error))?;
    let echo = tokio::time::timeout(nats::REQUEST_TIMEOUT, inbox_messages.next()).await;
    let duration = started.elapsed();
    tokio::time::sleep(SERVER_ERROR_DELAY).await;
    if matches!(echo, Ok(Some(_))) {
        return Ok(duration);
    }
    let (url, seconds) = (link.url().to_owned(), nats::REQUEST_TIMEOUT.as_secs());
    Err(match permission_violation(link) {
        Some(what) => GridError::Permission {
            url,
            doing: "receive replies".to_owned(),
            what,
            hint: "let the user publish and subscribe below _INBOX_ and its own name, as in deploy/nats/users.conf",
        },
        None => GridError::Unreachable { url, what: "no reply".to_owned(), seconds },
    })
}

fn permission_violation(link: &NatsConnection) -> Option<String> {
    link.take_server_errors().into_iter().find(|text| text.to_lowercase().contains("permissions violation"))
}
