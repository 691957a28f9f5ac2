//! Monitors the workers of a run: a summary line, changes of workers, and messages of the coordinator.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;

use agon_core::text_format::plural;
use agon_grid::WorkerDirectory;
use agon_grid::worker_directory::{WorkerInfo, WorkerStatus};

/// Workers at the last check.
pub struct WorkerMonitor {
    directory: WorkerDirectory,
    known: BTreeMap<(String, String), WorkerStatus>,
    /// Messages of the coordinator. Its threads must not print, because that would garble a progress bar.
    messages: Receiver<String>,
}

/// A change of a worker's status.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkerChange {
    /// Name of the worker.
    pub worker: String,
    /// What happened.
    pub what: WorkerChangeKind,
    /// Reason, if known.
    pub why: String,
}

/// How a worker's status changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WorkerChangeKind {
    /// It joined.
    Came,
    /// It stopped.
    Left,
    /// Its heartbeats stopped.
    Lost,
    /// The coordinator refused it.
    Refused,
    /// Its last jobs all failed.
    Failing,
    /// It finishes its games and stops then.
    Draining,
}

impl WorkerChangeKind {
    /// Name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Came => "came",
            Self::Left => "left",
            Self::Lost => "lost",
            Self::Refused => "refused",
            Self::Failing => "failing",
            Self::Draining => "draining",
        }
    }
}

impl WorkerChange {
    /// The change as text. `None` for workers that join, are rejected or fail: the coordinator reports those itself.
    fn describe(&self) -> Option<String> {
        let worker = &self.worker;
        Some(match self.what {
            WorkerChangeKind::Lost => format!("worker {worker} sends no heartbeats any more; {}", self.why),
            WorkerChangeKind::Draining => format!("worker {worker} finishes its current games and stops"),
            WorkerChangeKind::Left => format!("worker {worker} has stopped"),
            WorkerChangeKind::Came | WorkerChangeKind::Refused | WorkerChangeKind::Failing => return None,
        })
    }
}

impl WorkerMonitor {
    /// Monitors the workers of a directory. `messages` receives the coordinator's messages.
    pub const fn new(directory: WorkerDirectory, messages: Receiver<String>) -> Self {
        Self { directory, known: BTreeMap::new(), messages }
    }

    /// New messages and changes as text.
    pub fn new_messages(&mut self) -> Vec<String> {
        let changes: Vec<String> = self.changes().iter().filter_map(WorkerChange::describe).collect();
        self.coordinator_messages().into_iter().chain(changes).collect()
    }

    /// Messages of the coordinator since the last call.
    pub fn coordinator_messages(&self) -> Vec<String> {
        self.messages.try_iter().collect()
    }

    /// Changes since the last call.
    pub fn changes(&mut self) -> Vec<WorkerChange> {
        changes(&mut self.known, &self.directory.workers())
    }

    /// All workers in one line.
    pub fn summary(&self) -> String {
        summary(&self.directory.workers())
    }
}

fn changes(known: &mut BTreeMap<(String, String), WorkerStatus>, seen: &[WorkerInfo]) -> Vec<WorkerChange> {
    let mut news = Vec::new();
    let key = |one: &WorkerInfo| (one.heartbeat.worker.clone(), one.heartbeat.session.clone());
    known.retain(|known, state| {
        let stays = seen.iter().any(|one| key(one) == *known);
        // A lost worker was already reported. A worker that returns with a new session has not left.
        let has_returned = seen.iter().any(|one| one.heartbeat.worker == known.0);
        if !stays && !has_returned && *state != WorkerStatus::Lost {
            news.push(WorkerChange {
                worker: known.0.clone(),
                what: WorkerChangeKind::Left,
                why: String::new(),
            });
        }
        stays
    });
    for one in seen {
        let before = known.insert(key(one), one.status);
        let (worker, beat) = (one.heartbeat.worker.clone(), &one.heartbeat);
        let (what, why) = match (before, one.status) {
            (before, WorkerStatus::Refused) if before != Some(WorkerStatus::Refused) => (
                WorkerChangeKind::Refused,
                beat.refused.first().map_or_else(String::new, |(_, why)| why.clone()),
            ),
            (before, WorkerStatus::Lost) if before.is_some_and(|before| before != WorkerStatus::Lost) => {
                (WorkerChangeKind::Lost, what_happens_to_jobs(seen).to_owned())
            }
            (before, WorkerStatus::Failing) if before != Some(WorkerStatus::Failing) => (
                WorkerChangeKind::Failing,
                beat.failing.as_ref().map_or_else(String::new, |failing| failing.why.clone()),
            ),
            (before, WorkerStatus::Draining)
                if before.is_some_and(|before| before != WorkerStatus::Draining) =>
            {
                (WorkerChangeKind::Draining, String::new())
            }
            (
                None | Some(WorkerStatus::Lost),
                WorkerStatus::Playing | WorkerStatus::Idle | WorkerStatus::Draining,
            ) => (
                WorkerChangeKind::Came,
                format!("{}, speed {:.2}, Agon {}", cores(beat.cores), beat.speed, beat.engine),
            ),
            _ => continue,
        };
        news.push(WorkerChange { worker, what, why });
    }
    news
}

/// What happens to the jobs of a lost worker.
fn what_happens_to_jobs(seen: &[WorkerInfo]) -> &'static str {
    if seen.iter().any(|one| matches!(one.status, WorkerStatus::Playing | WorkerStatus::Idle)) {
        "other workers play its matches when its leases expire"
    } else {
        "no other worker is connected, so its matches wait"
    }
}

fn cores(cores: u32) -> String {
    plural(cores, "core", "cores")
}

fn summary(seen: &[WorkerInfo]) -> String {
    let there: Vec<&WorkerInfo> =
        seen.iter().filter(|one| matches!(one.status, WorkerStatus::Playing | WorkerStatus::Idle)).collect();
    if there.is_empty() {
        return "no workers connected; start one with `agon worker --nats URL`".to_owned();
    }
    let rate: f64 = there.iter().map(|one| one.heartbeat.games_per_second).sum();
    let busy: u32 = there.iter().map(|one| one.heartbeat.busy).sum();
    let all: u32 = there.iter().map(|one| one.heartbeat.cores).sum();
    let workers = plural(there.len(), "worker", "workers");
    format!("{workers}, {busy} of {} busy, {rate:.1} games/s", cores(all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_grid::messages::Heartbeat;
    use std::time::Duration;

    fn seen(worker: &str, session: &str, state: WorkerStatus) -> WorkerInfo {
        let beat = Heartbeat {
            engine: "0.1.0".to_owned(),
            cores: 2,
            busy: u32::from(state == WorkerStatus::Playing),
            games_per_second: 1.5,
            utilization: 0.5,
            draining: state == WorkerStatus::Draining,
            refused: vec![("cup".to_owned(), "too old".to_owned())],
            ..Heartbeat::new(worker, session)
        };
        WorkerInfo { heartbeat: beat, age: Duration::ZERO, status: state }
    }

    fn change_texts(
        known: &mut BTreeMap<(String, String), WorkerStatus>,
        seen: &[WorkerInfo],
    ) -> Vec<String> {
        changes(known, seen).iter().map(|one| format!("{} {}", one.worker, one.what.name())).collect()
    }

    #[test]
    fn joining_and_leaving_is_reported_once() {
        let mut known = BTreeMap::new();
        let (a, b) = (seen("a", "1", WorkerStatus::Idle), seen("b", "1", WorkerStatus::Refused));
        assert_eq!(change_texts(&mut known, &[a.clone(), b.clone()]), ["a came", "b refused"]);
        assert_eq!(change_texts(&mut known, &[seen("a", "1", WorkerStatus::Playing), b.clone()]), [""; 0]);
        assert_eq!(change_texts(&mut known, &[seen("a", "1", WorkerStatus::Lost), b.clone()]), ["a lost"]);
        // The worker restarted. Its old session is dropped without a message.
        assert_eq!(change_texts(&mut known, &[seen("a", "2", WorkerStatus::Idle), b.clone()]), ["a came"]);
        assert_eq!(
            change_texts(&mut known, &[seen("a", "2", WorkerStatus::Draining), b.clone()]),
            ["a draining"]
        );
        assert_eq!(change_texts(&mut known, &[b]), ["a left"]);
        assert_eq!(change_texts(&mut known, &[seen("b", "1", WorkerStatus::Playing)]), [""; 0]);
    }

    #[test]
    fn worker_that_returns_with_a_new_session_has_not_left() {
        let mut known = BTreeMap::new();
        assert_eq!(change_texts(&mut known, &[seen("a", "1", WorkerStatus::Playing)]), ["a came"]);
        let both = [seen("a", "1", WorkerStatus::Playing), seen("a", "2", WorkerStatus::Idle)];
        assert_eq!(change_texts(&mut known, &both), ["a came"]);
        assert_eq!(change_texts(&mut known, &both[1..]), [""; 0], "only its old session is gone");
    }

    #[test]
    fn lost_worker_is_replaced_only_by_others() {
        let (mut known, lost) = (BTreeMap::new(), seen("a", "1", WorkerStatus::Lost));
        let why = |known: &mut BTreeMap<_, _>, seen: &[WorkerInfo]| {
            changes(known, seen).pop().unwrap().describe().unwrap()
        };
        changes(&mut known, &[seen("a", "1", WorkerStatus::Idle), seen("b", "1", WorkerStatus::Idle)]);
        let told = why(&mut known, &[lost.clone(), seen("b", "1", WorkerStatus::Idle)]);
        assert!(told.ends_with("other workers play its matches when its leases expire"), "{told}");
        let told = why(&mut known, &[lost, seen("b", "1", WorkerStatus::Lost)]);
        assert!(told.ends_with("no other worker is connected, so its matches wait"), "{told}");
    }

    #[test]
    fn summary_counts_workers_cores_and_games() {
        let all = [
            seen("a", "1", WorkerStatus::Playing),
            seen("b", "1", WorkerStatus::Idle),
            seen("c", "1", WorkerStatus::Lost),
        ];
        assert_eq!(summary(&all), "2 workers, 1 of 4 cores busy, 3.0 games/s");
        assert!(summary(&all[2..]).starts_with("no workers"));
    }
}
