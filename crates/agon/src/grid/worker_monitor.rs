//! Who plays while a competition is run on many machines: in one line, who came and went, and what the coordinator has to say.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;

use agon_grid::WorkerDirectory;
use agon_grid::worker_directory::{WorkerInfo, WorkerStatus};

/// Who was there when it was last looked.
pub struct WorkerMonitor {
    roster: WorkerDirectory,
    known: BTreeMap<(String, String), WorkerStatus>,
    /// What the coordinator says, from threads that must not write into a progress bar.
    said: Receiver<String>,
}

/// Something about a worker that people want to know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkerChange {
    /// Which.
    pub worker: String,
    /// `came`, `left`, `lost`, `refused` or `draining`.
    pub what: &'static str,
    /// Why, if it was said.
    pub why: String,
}

impl WorkerChange {
    /// For people. Whom the coordinator lets in or refuses it says itself.
    fn words(&self) -> Option<String> {
        let worker = &self.worker;
        Some(match self.what {
            "lost" => format!("worker {worker} is not heard any more; what it played is played by others"),
            "draining" => format!("worker {worker} finishes what it plays and leaves"),
            "left" => format!("worker {worker} has left"),
            _ => return None,
        })
    }
}

impl WorkerMonitor {
    /// Of these, with what the coordinator says.
    pub const fn new(roster: WorkerDirectory, said: Receiver<String>) -> Self {
        Self { roster, known: BTreeMap::new(), said }
    }

    /// What is new, for people.
    pub fn news(&mut self) -> Vec<String> {
        let changes: Vec<String> = self.changes().iter().filter_map(WorkerChange::words).collect();
        self.said().into_iter().chain(changes).collect()
    }

    /// What the coordinator has said since it was last asked.
    pub fn said(&self) -> Vec<String> {
        self.said.try_iter().collect()
    }

    /// What is new since it was last asked.
    pub fn changes(&mut self) -> Vec<WorkerChange> {
        changes(&mut self.known, &self.roster.workers())
    }

    /// Everybody in a line.
    pub fn summary(&self) -> String {
        summary(&self.roster.workers())
    }
}

fn changes(known: &mut BTreeMap<(String, String), WorkerStatus>, seen: &[WorkerInfo]) -> Vec<WorkerChange> {
    let mut news = Vec::new();
    let key = |one: &WorkerInfo| (one.heartbeat.worker.clone(), one.heartbeat.session.clone());
    known.retain(|known, state| {
        let stays = seen.iter().any(|one| key(one) == *known);
        // Who was lost before was told to be; who comes back under a new session is told to come.
        if !stays && *state != WorkerStatus::Lost {
            news.push(WorkerChange { worker: known.0.clone(), what: "left", why: String::new() });
        }
        stays
    });
    for one in seen {
        let before = known.insert(key(one), one.status);
        let (worker, beat) = (one.heartbeat.worker.clone(), &one.heartbeat);
        let (what, why) = match (before, one.status) {
            (before, WorkerStatus::Refused) if before != Some(WorkerStatus::Refused) => {
                ("refused", beat.refused.first().map_or_else(String::new, |(_, why)| why.clone()))
            }
            (before, WorkerStatus::Lost) if before.is_some_and(|before| before != WorkerStatus::Lost) => {
                ("lost", String::new())
            }
            (before, WorkerStatus::Draining)
                if before.is_some_and(|before| before != WorkerStatus::Draining) =>
            {
                ("draining", String::new())
            }
            (
                None | Some(WorkerStatus::Lost),
                WorkerStatus::Playing | WorkerStatus::Idle | WorkerStatus::Draining,
            ) => ("came", format!("{}, speed {:.2}, Agon {}", cores(beat.cores), beat.speed, beat.engine)),
            _ => continue,
        };
        news.push(WorkerChange { worker, what, why });
    }
    news
}

fn cores(cores: u32) -> String {
    if cores == 1 { "1 core".to_owned() } else { format!("{cores} cores") }
}

fn summary(seen: &[WorkerInfo]) -> String {
    let there: Vec<&WorkerInfo> =
        seen.iter().filter(|one| matches!(one.status, WorkerStatus::Playing | WorkerStatus::Idle)).collect();
    if there.is_empty() {
        return "no workers: start some with `agon worker --nats URL`".to_owned();
    }
    let rate: f64 = there.iter().map(|one| one.heartbeat.games_per_second).sum();
    let busy: u32 = there.iter().map(|one| one.heartbeat.busy).sum();
    let all: u32 = there.iter().map(|one| one.heartbeat.cores).sum();
    let workers = if there.len() == 1 { "1 worker".to_owned() } else { format!("{} workers", there.len()) };
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

    fn told(known: &mut BTreeMap<(String, String), WorkerStatus>, seen: &[WorkerInfo]) -> Vec<String> {
        changes(known, seen).iter().map(|one| format!("{} {}", one.worker, one.what)).collect()
    }

    #[test]
    fn coming_and_going_is_told_once() {
        let mut known = BTreeMap::new();
        let (a, b) = (seen("a", "1", WorkerStatus::Idle), seen("b", "1", WorkerStatus::Refused));
        assert_eq!(told(&mut known, &[a.clone(), b.clone()]), ["a came", "b refused"]);
        assert_eq!(told(&mut known, &[seen("a", "1", WorkerStatus::Playing), b.clone()]), [""; 0]);
        assert_eq!(told(&mut known, &[seen("a", "1", WorkerStatus::Lost), b.clone()]), ["a lost"]);
        // Started anew: its old session is forgotten without a word.
        assert_eq!(told(&mut known, &[seen("a", "2", WorkerStatus::Idle), b.clone()]), ["a came"]);
        assert_eq!(told(&mut known, &[seen("a", "2", WorkerStatus::Draining), b.clone()]), ["a draining"]);
        assert_eq!(told(&mut known, &[b]), ["a left"]);
        assert_eq!(told(&mut known, &[seen("b", "1", WorkerStatus::Playing)]), [""; 0]);
    }

    #[test]
    fn a_line_says_who_plays() {
        let all = [
            seen("a", "1", WorkerStatus::Playing),
            seen("b", "1", WorkerStatus::Idle),
            seen("c", "1", WorkerStatus::Lost),
        ];
        assert_eq!(summary(&all), "2 workers, 1 of 4 cores busy, 3.0 games/s");
        assert!(summary(&all[2..]).starts_with("no workers"));
    }
}
