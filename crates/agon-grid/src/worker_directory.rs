//! Directory of all workers that send heartbeats. Also sends them commands.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agon_core::LockIgnoringPoison as _;
use async_nats::client::RequestErrorKind;
use futures_util::StreamExt as _;
use tokio::task::JoinHandle;

use crate::messages::{self, CommandReply, Heartbeat, LostWorkers, PROTOCOL, WorkerCommand};
use crate::{GridError, NatsConnection, nats, subjects};

/// Interval of heartbeats.
pub const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(2);
/// A worker is lost after this time without a heartbeat: a little more than three intervals.
pub const WORKER_LOST_AFTER: Duration = Duration::from_secs(7);
/// A lost worker is removed from the directory after this time.
const WORKER_FORGOTTEN_AFTER: Duration = Duration::from_hours(1);
/// Maximum number of workers in a reply to a query, so that it fits into a message.
const MAX_LOST_WORKERS: usize = 500;
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
    /// Its last jobs all failed, and it waits before it takes another.
    Failing,
    /// A coordinator refused it, and it plays no other game.
    Refused,
    /// Sent no heartbeat for too long.
    Lost,
}

impl WorkerStatus {
    /// All states.
    pub const ALL: [Self; 6] =
        [Self::Playing, Self::Idle, Self::Draining, Self::Failing, Self::Refused, Self::Lost];

    /// Lower-case name, for output and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Playing => "playing",
            Self::Idle => "idle",
            Self::Draining => "draining",
            Self::Failing => "failing",
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
        if heartbeat.worker != worker || heartbeat.protocol != PROTOCOL {
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

    /// All workers. `silence` gives the time without a heartbeat that counts, from the time of the last one.
    fn workers(&self, now: Instant, silence: impl Fn(Instant) -> Duration) -> Vec<WorkerInfo> {
        let info = |(heartbeat, last_heard): &(Heartbeat, Instant)| {
            let age = now.saturating_duration_since(*last_heard);
            let status = status_of(heartbeat, silence(*last_heard));
            WorkerInfo { heartbeat: heartbeat.clone(), age, status }
        };
        self.0.values().map(info).filter(|one| one.age < WORKER_FORGOTTEN_AFTER).collect()
    }

    /// Adds a worker that a coordinator has lost, unless it was heard meanwhile.
    fn add_lost(&mut self, heartbeat: Heartbeat, last_heard: Instant) {
        let is_known = self.0.keys().any(|(worker, _)| *worker == heartbeat.worker);
        if !is_known && self.0.len() < MAX_WORKERS && heartbeat.protocol == PROTOCOL {
            self.0.insert((heartbeat.worker.clone(), heartbeat.session.clone()), (heartbeat, last_heard));
        }
    }
}

fn status_of(heartbeat: &Heartbeat, age: Duration) -> WorkerStatus {
    if age >= WORKER_LOST_AFTER {
        WorkerStatus::Lost
    } else if heartbeat.draining {
        WorkerStatus::Draining
    } else if heartbeat.busy > 0 {
        WorkerStatus::Playing
    } else if heartbeat.failing.is_some() {
        WorkerStatus::Failing
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
    tasks: Arc<ListenTasks>,
}

#[derive(Default)]
struct ListenTasks(Mutex<Vec<JoinHandle<()>>>);

impl ListenTasks {
    fn add(&self, task: JoinHandle<()>) {
        self.0.lock_ignoring_poison().push(task);
    }
}

impl Drop for ListenTasks {
    fn drop(&mut self) {
        for task in self.0.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner) {
            task.abort();
        }
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
        let tasks = Arc::new(ListenTasks::default());
        tasks.add(task);
        Ok(Self { link: link.clone(), heartbeats: log, tasks })
    }

    /// Answers queries for lost workers from now on, in the current runtime. For coordinators and servers.
    pub async fn answer_queries(&self) -> Result<(), GridError> {
        let queries = self.link.client().subscribe(subjects::LOST_WORKERS).await;
        let mut queries =
            queries.map_err(|error| self.link.jetstream_error("subscribe to queries", &error))?;
        let (link, heartbeats) = (self.link.clone(), Arc::clone(&self.heartbeats));
        self.tasks.add(tokio::spawn(async move {
            while let Some(query) = queries.next().await {
                let lost = lost_workers(&link, &heartbeats);
                if let (Some(reply), Ok(bytes)) = (query.reply, messages::encode(&lost)) {
                    // The requester may be gone.
                    let _ = link.client().publish(reply, bytes.into()).await;
                }
            }
        }));
        Ok(())
    }

    /// Asks all coordinators which workers they have lost. They are listed when the replies arrive. A user without the permission to ask
    /// sees only the workers that it hears.
    pub async fn query_lost(&self) -> Result<(), GridError> {
        let failed = |error: &dyn std::error::Error| self.link.jetstream_error("ask for lost workers", error);
        let (client, inbox) = (self.link.client(), self.link.client().new_inbox());
        let mut replies = client.subscribe(inbox.clone()).await.map_err(|error| failed(&error))?;
        let asked = client.publish_with_reply(subjects::LOST_WORKERS, inbox, "".into()).await;
        asked.map_err(|error| failed(&error))?;
        let heartbeats = Arc::clone(&self.heartbeats);
        self.tasks.add(tokio::spawn(async move {
            while let Some(reply) = replies.next().await {
                let Ok(lost) = messages::decode::<LostWorkers>(&reply.payload) else { continue };
                let mut log = heartbeats.lock_ignoring_poison();
                for (heartbeat, age_ms) in lost.workers {
                    let age = Duration::from_millis(age_ms).max(WORKER_LOST_AFTER);
                    if let Some(last_heard) = Instant::now().checked_sub(age) {
                        log.add_lost(heartbeat, last_heard);
                    }
                }
            }
        }));
        Ok(())
    }

    /// All workers, by name.
    pub fn workers(&self) -> Vec<WorkerInfo> {
        list(&self.link, &self.heartbeats)
    }

    /// The connection of this directory.
    pub const fn link(&self) -> &NatsConnection {
        &self.link
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

/// All workers, by name. Outages of the server do not make workers lost.
fn list(link: &NatsConnection, heartbeats: &Mutex<HeartbeatLog>) -> Vec<WorkerInfo> {
    let now = Instant::now();
    let silence = |last_heard| link.connectivity().silence(last_heard, now);
    heartbeats.lock_ignoring_poison().workers(now, silence)
}

fn lost_workers(link: &NatsConnection, heartbeats: &Mutex<HeartbeatLog>) -> LostWorkers {
    let lost = list(link, heartbeats).into_iter().filter(|one| one.status == WorkerStatus::Lost);
    let heartbeat = |mut one: WorkerInfo| {
        one.heartbeat.live_games.clear();
        (one.heartbeat, one.age.as_millis() as u64)
    };
    LostWorkers { protocol: PROTOCOL, workers: lost.take(MAX_LOST_WORKERS).map(heartbeat).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::FailingInfo;

    fn heartbeat(worker: &str, session: &str) -> Heartbeat {
        Heartbeat { engine: "0.1.0".to_owned(), cores: 2, ..Heartbeat::new(worker, session) }
    }

    fn all(log: &HeartbeatLog, now: Instant) -> Vec<WorkerInfo> {
        log.workers(now, |last| now.saturating_duration_since(last))
    }

    #[test]
    fn lost_workers_of_a_coordinator_are_listed_until_they_are_heard() {
        let (mut log, start) = (HeartbeatLog::default(), Instant::now());
        let now = start + WORKER_LOST_AFTER;
        log.record("here", heartbeat("here", "2"), now);
        log.add_lost(heartbeat("gone", "1"), start);
        log.add_lost(heartbeat("here", "1"), start);
        let listed: Vec<String> =
            all(&log, now).iter().map(|one| format!("{}:{}", one.heartbeat.worker, one.status)).collect();
        assert_eq!(listed, ["gone:lost", "here:idle"]);
        log.record("gone", heartbeat("gone", "2"), now);
        assert_eq!(all(&log, now).len(), 2, "the restarted worker replaces the lost one");
        assert!(all(&log, now).iter().all(|one| one.status == WorkerStatus::Idle));
    }

    #[test]
    fn worker_with_failing_jobs_is_listed_as_failing() {
        let (mut log, start) = (HeartbeatLog::default(), Instant::now());
        let failing = FailingInfo { failures: 3, why: "no Python".to_owned(), retry_ms: 1000 };
        log.record("a", Heartbeat { failing: Some(failing), ..heartbeat("a", "1") }, start);
        assert_eq!(all(&log, start)[0].status, WorkerStatus::Failing);
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
            log.workers(now, |last| now.saturating_duration_since(last))
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
        assert!(all(&log, start).is_empty());
        log.record("a", heartbeat("a", "1"), start);
        log.record("a", heartbeat("a", "2"), start + HEARTBEAT_INTERVAL);
        assert_eq!(all(&log, start + HEARTBEAT_INTERVAL).len(), 2);
        // The first session is lost by now, so the worker has only restarted.
        log.record("a", heartbeat("a", "2"), start + WORKER_LOST_AFTER);
        assert_eq!(all(&log, start + WORKER_LOST_AFTER).len(), 1);
    }
}
