//! Who is there: everybody whose beat was heard, and how to tell one of them what to do.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_nats::client::RequestErrorKind;
use futures_util::StreamExt as _;
use tokio::task::JoinHandle;

use crate::messages::{self, Heartbeat, CommandReply, WorkerCommand};
use crate::{GridError, NatsConnection, nats, subjects};

/// How often workers say that they are there.
pub const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(2);
/// Who was not heard for so long is lost: three beats and a little.
pub const LOST: Duration = Duration::from_secs(7);
/// Who was lost for so long is forgotten.
const WORKER_FORGOTTEN_AFTER: Duration = Duration::from_hours(1);
/// More are not remembered: whoever may publish beats cannot fill the memory.
const MOST: usize = 10_000;

/// How a worker is, in a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WorkerStatus {
    /// It plays.
    Playing,
    /// It waits for something to play.
    Idle,
    /// It finishes what it has and leaves.
    Draining,
    /// A coordinator does not want it, and it has nothing else to do.
    Refused,
    /// It was not heard for too long.
    Lost,
}

impl WorkerStatus {
    /// For people and programs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Playing => "playing",
            Self::Idle => "idle",
            Self::Draining => "draining",
            Self::Refused => "refused",
            Self::Lost => "lost",
        }
    }
}

impl fmt::Display for WorkerStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// A worker as it was last heard.
#[derive(Clone, PartialEq, Debug)]
pub struct WorkerInfo {
    /// What it said.
    pub beat: Heartbeat,
    /// How long ago that was, by our own clock.
    pub ago: Duration,
    /// How it is.
    pub state: WorkerStatus,
}

/// What was heard, by name and session: two workers that bear one name by mistake are both seen.
#[derive(Debug, Default)]
struct HeartbeatLog(BTreeMap<(String, String), (Heartbeat, Instant)>);

impl HeartbeatLog {
    /// Takes note of a beat that came on the subject of `worker`.
    fn hear(&mut self, worker: &str, beat: Heartbeat, now: Instant) {
        // Who may publish there is decided by the subject; what the message says of itself is worth nothing.
        if beat.worker != worker || beat.protocol != messages::PROTOCOL {
            return;
        }
        let key = (beat.worker.clone(), beat.session.clone());
        if beat.gone {
            self.0.remove(&key);
            return;
        }
        // Who was started anew does not stay lost beside itself.
        self.0.retain(|known, (_, heard)| {
            let ago = now.saturating_duration_since(*heard);
            ago < WORKER_FORGOTTEN_AFTER && (known.0 != key.0 || known.1 == key.1 || ago < LOST)
        });
        if self.0.len() < MOST || self.0.contains_key(&key) {
            self.0.insert(key, (beat, now));
        }
    }

    fn list(&self, now: Instant) -> Vec<WorkerInfo> {
        let seen = |(beat, heard): &(Heartbeat, Instant)| {
            let ago = now.saturating_duration_since(*heard);
            WorkerInfo { beat: beat.clone(), ago, state: state(beat, ago) }
        };
        self.0.values().map(seen).filter(|one| one.ago < WORKER_FORGOTTEN_AFTER).collect()
    }
}

fn state(beat: &Heartbeat, ago: Duration) -> WorkerStatus {
    if ago >= LOST {
        WorkerStatus::Lost
    } else if beat.draining {
        WorkerStatus::Draining
    } else if beat.busy > 0 {
        WorkerStatus::Playing
    } else if !beat.refused.is_empty() {
        WorkerStatus::Refused
    } else {
        WorkerStatus::Idle
    }
}

/// Everybody whose beat was heard since it began to listen.
#[derive(Clone)]
pub struct WorkerDirectory {
    link: NatsConnection,
    book: Arc<Mutex<HeartbeatLog>>,
    /// Listens as long as somebody has the roster.
    _listening: Arc<Listening>,
}

struct Listening(JoinHandle<()>);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl fmt::Debug for WorkerDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Roster({})", self.link.url())
    }
}

impl WorkerDirectory {
    /// Begins to listen, in the runtime that this is called in.
    pub async fn listen(link: &NatsConnection) -> Result<Self, GridError> {
        let heard = link.client().subscribe(subjects::ALL_BEATS).await;
        let mut heard = heard.map_err(|error| link.refused("let us hear the workers", &error))?;
        let book = Arc::new(Mutex::new(HeartbeatLog::default()));
        let kept = Arc::clone(&book);
        let listening = tokio::spawn(async move {
            while let Some(message) = heard.next().await {
                // What is not understood comes from another version: its hello is where it is told so.
                let Ok(beat) = messages::decode::<Heartbeat>(&message.payload) else { continue };
                let worker = message.subject.split('.').nth(2).unwrap_or_default();
                let mut book = kept.lock().unwrap_or_else(PoisonError::into_inner);
                book.hear(worker, beat, Instant::now());
            }
        });
        Ok(Self { link: link.clone(), book, _listening: Arc::new(Listening(listening)) })
    }

    /// Everybody, by name.
    pub fn workers(&self) -> Vec<WorkerInfo> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner).list(Instant::now())
    }

    /// Tells a worker to do something, and waits for its answer.
    pub async fn order(&self, worker: &str, order: &WorkerCommand) -> Result<CommandReply, GridError> {
        let bytes = messages::encode(order)?;
        // Nobody but workers may hear it: a name that is none would go to all of them.
        if !subjects::is_name(worker) {
            let hint = "letters, digits, - and _; `agon workers` lists the names".to_owned();
            return Err(GridError::WrongUse {
                what: format!("`{worker}` cannot be the name of a worker"),
                hint,
            });
        }
        match self.link.client().request(subjects::order(worker), bytes.into()).await {
            Ok(answer) => messages::decode(&answer.payload),
            Err(error) if error.kind() == RequestErrorKind::NoResponders => Err(GridError::NoAnswer {
                worker: worker.to_owned(),
                what: "it is not there".to_owned(),
                hint: "`agon workers` lists who is",
            }),
            Err(_) => {
                let may_not = self.link.last_server_error().filter(|text| text.contains("agon.down"));
                let hint = if may_not.is_some() {
                    "this user needs the permission to publish on agon.down.*.order: docs/grid.md"
                } else {
                    "`agon workers` says when it was last heard"
                };
                let silent = || format!("waited {} s", nats::REQUEST_TIMEOUT.as_secs());
                let what = may_not.unwrap_or_else(silent);
                Err(GridError::NoAnswer { worker: worker.to_owned(), what, hint })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beat(worker: &str, session: &str) -> Heartbeat {
        Heartbeat { engine: "0.1.0".to_owned(), cores: 2, ..Heartbeat::new(worker, session) }
    }

    #[test]
    fn a_worker_is_seen_until_it_leaves_and_lost_when_it_falls_silent() {
        let (mut book, start) = (HeartbeatLog::default(), Instant::now());
        book.hear("a", beat("a", "1"), start);
        book.hear(
            "b",
            Heartbeat { busy: 1, refused: vec![("cup".into(), "old".into())], ..beat("b", "1") },
            start,
        );
        book.hear("c", Heartbeat { refused: vec![("cup".into(), "old".into())], ..beat("c", "1") }, start);
        book.hear("d", Heartbeat { draining: true, busy: 2, ..beat("d", "1") }, start);
        let words = |book: &HeartbeatLog, now| {
            book.list(now).iter().map(|one| format!("{}:{}", one.beat.worker, one.state)).collect::<Vec<_>>()
        };
        assert_eq!(words(&book, start + HEARTBEAT_INTERVAL), ["a:idle", "b:playing", "c:refused", "d:draining"]);
        book.hear("d", Heartbeat { gone: true, ..beat("d", "1") }, start + HEARTBEAT_INTERVAL);
        book.hear("a", beat("a", "1"), start + LOST);
        assert_eq!(words(&book, start + LOST), ["a:idle", "b:lost", "c:lost"]);
        assert_eq!(words(&book, start + WORKER_FORGOTTEN_AFTER), ["a:lost"]);
    }

    #[test]
    fn nobody_speaks_for_another_and_twins_are_both_seen() {
        let (mut book, start) = (HeartbeatLog::default(), Instant::now());
        book.hear("a", beat("b", "1"), start);
        book.hear("a", Heartbeat { protocol: 99, ..beat("a", "1") }, start);
        assert!(book.list(start).is_empty());
        book.hear("a", beat("a", "1"), start);
        book.hear("a", beat("a", "2"), start + HEARTBEAT_INTERVAL);
        assert_eq!(book.list(start + HEARTBEAT_INTERVAL).len(), 2);
        // The first one has ended: the second was only started anew.
        book.hear("a", beat("a", "2"), start + LOST);
        assert_eq!(book.list(start + LOST).len(), 1);
    }
}
