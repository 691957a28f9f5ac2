//! Directory of all workers that send heartbeats. Also sends them commands.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agon_core::LockIgnoringPoison as _;
use async_nats::client::RequestErrorKind;
use futures_util::StreamExt as _;
use tokio::task::JoinHandle;

use crate::messages::{self, CommandReply, Heartbeat, WorkerCommand};
use crate::{GridError, NatsConnection, nats, subjects};

/// Interval of heartbeats.
pub const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(2);
/// A worker is lost after this time without a heartbeat: a little more than three intervals.
pub const WORKER_LOST_AFTER: Duration = Duration::from_secs(7);
/// A lost worker is removed from the directory after this time.
const WORKER_FORGOTTEN_AFTER: Duration = Duration::from_hours(1);
/// Maximum number of workers, so that forged heartbeats cannot fill the memory.
const MAX_WORKERS: usize = 10_000;

/// Status of a worker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WorkerStatus {
    /// Plays at least one game.
    Playing,
    /// Waits for jobs.
    Idle,
    /// Finishes its jobs and then leaves.
    Draining,
    /// A coordinator refused it, and it plays no other game.
    Refused,
    /// Sent no heartbeat for too long.
    Lost,
}

impl WorkerStatus {
    /// Lower-case name, for output and JSON.
    pub const fn as_str(self) -> &'static str {
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
        f.pad(self.as_str())
    }
}

/// Latest state of a worker.
#[derive(Clone, PartialEq, Debug)]
pub struct WorkerInfo {
    /// Latest heartbeat.
    pub heartbeat: Heartbeat,
    /// Time since the heartbeat, by the local clock.
    pub age: Duration,
    /// Status derived from heartbeat and age.
    pub status: WorkerStatus,
}

/// Latest heartbeats by worker name and session. Two workers with the same name both appear.
#[derive(Debug, Default)]
struct HeartbeatLog(BTreeMap<(String, String), (Heartbeat, Instant)>);

impl HeartbeatLog {
    /// Records a heartbeat that arrived on the subject of `worker`.
    fn record(&mut self, worker: &str, heartbeat: Heartbeat, now: Instant) {
        // NATS permissions protect the subject, not the content of the message.
        if heartbeat.worker != worker || heartbeat.protocol != messages::PROTOCOL {
            return;
        }
        let key = (heartbeat.worker.clone(), heartbeat.session.clone());
        if heartbeat.gone {
            self.0.remove(&key);
            return;
        }
        // Drop the old session of a worker that has restarted.
        self.0.retain(|known, (_, last_heard)| {
            let age = now.saturating_duration_since(*last_heard);
            age < WORKER_FORGOTTEN_AFTER && (known.0 != key.0 || known.1 == key.1 || age < WORKER_LOST_AFTER)
        });
        if self.0.len() < MAX_WORKERS || self.0.contains_key(&key) {
            self.0.insert(key, (heartbeat, now));
        }
    }

    fn workers(&self, now: Instant) -> Vec<WorkerInfo> {
        let info = |(heartbeat, last_heard): &(Heartbeat, Instant)| {
            let age = now.saturating_duration_since(*last_heard);
            WorkerInfo { heartbeat: heartbeat.clone(), age, status: status_of(heartbeat, age) }
        };
        self.0.values().map(info).filter(|one| one.age < WORKER_FORGOTTEN_AFTER).collect()
    }
}

fn status_of(heartbeat: &Heartbeat, age: Duration) -> WorkerStatus {
    if age >= WORKER_LOST_AFTER {
        WorkerStatus::Lost
    } else if heartbeat.draining {
        WorkerStatus::Draining
    } else if heartbeat.busy > 0 {
        WorkerStatus::Playing
    } else if !heartbeat.refused.is_empty() {
        WorkerStatus::Refused
    } else {
        WorkerStatus::Idle
    }
}

/// All workers that sent a heartbeat since the directory was created.
#[derive(Clone)]
pub struct WorkerDirectory {
    link: NatsConnection,
    heartbeats: Arc<Mutex<HeartbeatLog>>,
    /// Aborted when the last clone of the directory is dropped.
    _listening: Arc<ListenTask>,
}

struct ListenTask(JoinHandle<()>);

impl Drop for ListenTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl fmt::Debug for WorkerDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkerDirectory({})", self.link.url())
    }
}

impl WorkerDirectory {
    /// Starts to listen, in the current runtime.
    pub async fn listen(link: &NatsConnection) -> Result<Self, GridError> {
        let messages = link.client().subscribe(subjects::ALL_HEARTBEATS).await;
        let mut messages =
            messages.map_err(|error| link.jetstream_error("subscribe to heartbeats", &error))?;
        let log = Arc::new(Mutex::new(HeartbeatLog::default()));
        let log_of_task = Arc::clone(&log);
        let task = tokio::spawn(async move {
            while let Some(message) = messages.next().await {
                // Undecodable heartbeats come from another version. Such a worker is refused when it asks to join.
                let Ok(heartbeat) = messages::decode::<Heartbeat>(&message.payload) else { continue };
                let worker = message.subject.split('.').nth(2).unwrap_or_default();
                let mut log = log_of_task.lock_ignoring_poison();
                log.record(worker, heartbeat, Instant::now());
            }
        });
        Ok(Self { link: link.clone(), heartbeats: log, _listening: Arc::new(ListenTask(task)) })
    }

    /// All workers, by name.
    pub fn workers(&self) -> Vec<WorkerInfo> {
        self.heartbeats.lock_ignoring_poison().workers(Instant::now())
    }

    /// Sends a command to a worker and waits for its reply.
    pub async fn send_command(
        &self,
        worker: &str,
        command: &WorkerCommand,
    ) -> Result<CommandReply, GridError> {
        let bytes = messages::encode(command)?;
        // A wildcard as the name would reach all workers.
        if !subjects::is_valid_name(worker) {
            let hint = "use letters, digits, - and _; `agon workers` lists the names".to_owned();
            return Err(GridError::Usage { what: format!("`{worker}` is not a valid worker name"), hint });
        }
        match self.link.client().request(subjects::command(worker), bytes.into()).await {
            Ok(reply) => messages::decode(&reply.payload),
            Err(error) if error.kind() == RequestErrorKind::NoResponders => Err(GridError::NoAnswer {
                worker: worker.to_owned(),
                what: "it is not connected".to_owned(),
                hint: "run `agon workers` for the list of workers",
            }),
            Err(_) => {
                let denied = self.link.last_server_error().filter(|text| text.contains("agon.down"));
                let hint = if denied.is_some() {
                    "give this user the permission to publish on agon.down.*.order; see docs/grid.md"
                } else {
                    "run `agon workers` to see its last heartbeat"
                };
                let timed_out = || format!("waited {} s", nats::REQUEST_TIMEOUT.as_secs());
                let what = denied.unwrap_or_else(timed_out);
                Err(GridError::NoAnswer { worker: worker.to_owned(), what, hint })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heartbeat(worker: &str, session: &str) -> Heartbeat {
        Heartbeat { engine: "0.1.0".to_owned(), cores: 2, ..Heartbeat::new(worker, session) }
    }

    #[test]
    fn worker_status_follows_heartbeats_and_age() {
        let (mut log, start) = (HeartbeatLog::default(), Instant::now());
        log.record("a", heartbeat("a", "1"), start);
        log.record(
            "b",
            Heartbeat { busy: 1, refused: vec![("cup".into(), "old".into())], ..heartbeat("b", "1") },
            start,
        );
        log.record(
            "c",
            Heartbeat { refused: vec![("cup".into(), "old".into())], ..heartbeat("c", "1") },
            start,
        );
        log.record("d", Heartbeat { draining: true, busy: 2, ..heartbeat("d", "1") }, start);
        let statuses = |log: &HeartbeatLog, now| {
            log.workers(now)
                .iter()
                .map(|one| format!("{}:{}", one.heartbeat.worker, one.status))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            statuses(&log, start + HEARTBEAT_INTERVAL),
            ["a:idle", "b:playing", "c:refused", "d:draining"]
        );
        log.record("d", Heartbeat { gone: true, ..heartbeat("d", "1") }, start + HEARTBEAT_INTERVAL);
        log.record("a", heartbeat("a", "1"), start + WORKER_LOST_AFTER);
        assert_eq!(statuses(&log, start + WORKER_LOST_AFTER), ["a:idle", "b:lost", "c:lost"]);
        assert_eq!(statuses(&log, start + WORKER_FORGOTTEN_AFTER), ["a:lost"]);
    }

    #[test]
    fn record_ignores_forged_heartbeats_and_keeps_duplicate_names() {
        let (mut log, start) = (HeartbeatLog::default(), Instant::now());
        log.record("a", heartbeat("b", "1"), start);
        log.record("a", Heartbeat { protocol: 99, ..heartbeat("a", "1") }, start);
        assert!(log.workers(start).is_empty());
        log.record("a", heartbeat("a", "1"), start);
        log.record("a", heartbeat("a", "2"), start + HEARTBEAT_INTERVAL);
        assert_eq!(log.workers(start + HEARTBEAT_INTERVAL).len(), 2);
        // The first session is lost by now, so the worker has only restarted.
        log.record("a", heartbeat("a", "2"), start + WORKER_LOST_AFTER);
        assert_eq!(log.workers(start + WORKER_LOST_AFTER).len(), 1);
    }
}
