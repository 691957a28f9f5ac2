//! What a user may do over NATS, found by trying. A server says no beside the conversation, never as an answer: who does not ask waits in vain.

use std::time::{Duration, Instant};

use futures_util::StreamExt as _;

use crate::{GridError, NatsConnection, nats, subjects};

/// What the server says beside the conversation is handed on by a task of its own.
const ASIDE: Duration = Duration::from_millis(50);

/// What somebody wants to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role<'r> {
    /// Hands matches out: `agon run`, `agon serve`.
    Coordinator,
    /// Plays them, under this name.
    Worker(&'r str),
    /// Sees who is there: `agon workers`.
    Spectator,
}

impl Role<'_> {
    /// Subjects nobody listens to, or speaks on, that this role may use.
    fn subjects(self) -> (Option<String>, Vec<String>) {
        match self {
            Self::Coordinator => (
                Some("agon.doctor.here".to_owned()),
                vec![subjects::report("*", "doctor"), subjects::ALL_BEATS.to_owned()],
            ),
            Self::Worker(name) => (
                Some(format!("agon.up.{name}.doctor")),
                vec![subjects::CALL.to_owned(), format!("agon.down.{name}.doctor")],
            ),
            Self::Spectator => (None, vec![subjects::CALL.to_owned(), subjects::ALL_BEATS.to_owned()]),
        }
    }

    /// For people.
    pub fn words(self) -> String {
        match self {
            Self::Coordinator => "coordinate".to_owned(),
            Self::Worker(name) => format!("work as {name}"),
            Self::Spectator => "see the workers".to_owned(),
        }
    }
}

/// Whether this user may be that.
pub async fn check(link: &NatsConnection, role: Role<'_>) -> Result<(), GridError> {
    link.take_complaints();
    let (publish, subscribe) = role.subjects();
    let mut heard = Vec::new();
    for subject in subscribe {
        let listening = link.client().subscribe(subject).await;
        heard.push(listening.map_err(|error| link.refused("let us listen", &error))?);
    }
    if let Some(subject) = publish {
        let said = link.client().publish(subject, "".into()).await;
        said.map_err(|error| link.refused("let us speak", &error))?;
    }
    round_trip(link).await?;
    match denied(link) {
        None => Ok(()),
        Some(what) => Err(GridError::Permission {
            url: link.url().to_owned(),
            doing: role.words(),
            what,
            hint: match role {
                Role::Worker(_) => {
                    "a worker's --name is the name of its user; deploy/nats/users.conf has what it may"
                }
                _ => "docs/grid.md lists who may what, deploy/nats/users.conf has users to copy",
            },
        }),
    }
}

/// Waits until the server has read everything that was said so far, and gives the time of a round trip.
pub async fn round_trip(link: &NatsConnection) -> Result<Duration, GridError> {
    let (inbox, begun) = (link.client().new_inbox(), Instant::now());
    let back = link.client().subscribe(inbox.clone()).await;
    let mut back = back.map_err(|error| link.refused("let us listen", &error))?;
    let said = link.client().publish(inbox, "".into()).await;
    said.map_err(|error| link.refused("let us speak", &error))?;
    let heard = tokio::time::timeout(nats::REQUEST_TIMEOUT, back.next()).await;
    let took = begun.elapsed();
    tokio::time::sleep(ASIDE).await;
    if matches!(heard, Ok(Some(_))) {
        return Ok(took);
    }
    let (url, seconds) = (link.url().to_owned(), nats::REQUEST_TIMEOUT.as_secs());
    Err(match denied(link) {
        Some(what) => GridError::Permission {
            url,
            doing: "hear answers".to_owned(),
            what,
            hint: "a user may publish and subscribe below _INBOX_ and its own name: deploy/nats/users.conf",
        },
        None => GridError::Unreachable { url, what: "it fell silent".to_owned(), seconds },
    })
}

fn denied(link: &NatsConnection) -> Option<String> {
    link.take_complaints().into_iter().find(|text| text.to_lowercase().contains("permissions violation"))
}
