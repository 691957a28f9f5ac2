//! Workers of a competition: admitted, lost and banned.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::connectivity::Connectivity;
use crate::messages::{Heartbeat, JoinRequest, LiveGameInfo};
use crate::worker_directory::WORKER_LOST_AFTER;

/// Maximum time to wait for a worker that sends heartbeats but has not joined.
const JOIN_GRACE: Duration = Duration::from_secs(20);

/// Number of strikes that ban a worker.
const STRIKES_TO_BAN: u32 = 2;

/// A worker that has joined.
#[derive(Debug)]
pub struct RegisteredWorker {
    /// Changes when the worker restarts.
    pub session: String,
    /// Number of games that the worker plays in parallel.
    pub cores: u32,
    /// Relative speed from the worker's calibration.
    pub speed: f64,
    /// Time of the last message.
    pub last_heard: Instant,
    /// Whether it takes no more jobs, because it drains or has left.
    pub leaving: bool,
    /// Whether [`WorkerRegistry::newly_lost`] has returned it since its last heartbeat.
    lost: bool,
    /// Number of failed jobs since its last report.
    failures: u32,
    /// Games being played, and the time of that heartbeat.
    pub live_games: (Instant, Vec<LiveGameInfo>),
}

/// Workers admitted to the competition, banned workers and strikes.
#[derive(Debug)]
pub struct WorkerRegistry {
    workers: BTreeMap<String, RegisteredWorker>,
    banned: BTreeMap<String, String>,
    strikes: BTreeMap<String, Vec<String>>,
    /// Workers that send heartbeats but have not joined: times of the first and last heartbeat.
    pending: BTreeMap<String, (Instant, Instant)>,
    /// Workers present at the last query, and the time of the last change.
    last_present: (Vec<String>, Instant),
    /// No worker is lost because the server is away.
    connectivity: Connectivity,
}

/// Outcome of a strike.
#[derive(PartialEq, Eq, Debug)]
pub enum StrikeOutcome {
    /// All matches of the worker are checked from now on.
    Watched,
    /// The worker is to be banned, with the reasons.
    Banned(String),
}

impl WorkerRegistry {
    /// Without workers, with the banned ones.
    pub fn new(banned: impl IntoIterator<Item = (String, String)>) -> Self {
        Self {
            workers: BTreeMap::new(),
            banned: banned.into_iter().collect(),
            strikes: BTreeMap::new(),
            pending: BTreeMap::new(),
            last_present: (Vec::new(), Instant::now()),
            connectivity: Connectivity::default(),
        }
    }

    /// The same registry, for this connection.
    pub fn with_connectivity(self, connectivity: Connectivity) -> Self {
        Self { connectivity, ..self }
    }

    /// Whether a worker with its last message at this time is lost.
    fn is_silent(connectivity: &Connectivity, last_heard: Instant) -> bool {
        connectivity.silence(last_heard, Instant::now()) >= WORKER_LOST_AFTER
    }

    /// Counts a failed job of a worker. Returns the number of failures since its last report.
    pub fn count_failure(&mut self, worker: &str) -> u32 {
        self.workers.get_mut(worker).map_or(0, |one| {
            one.failures += 1;
            one.failures
        })
    }

    /// Notes that a worker has played a job.
    pub fn count_success(&mut self, worker: &str) {
        if let Some(one) = self.workers.get_mut(worker) {
            one.failures = 0;
        }
    }

    /// Admits a worker.
    pub fn admit(&mut self, request: &JoinRequest) {
        let worker = RegisteredWorker {
            session: request.session.clone(),
            cores: request.cores.clamp(1, 4096),
            speed: if request.speed.is_finite() && request.speed > 0.0 { request.speed } else { 1.0 },
            last_heard: Instant::now(),
            leaving: false,
            lost: false,
            failures: 0,
            live_games: (Instant::now(), Vec::new()),
        };
        self.pending.remove(&request.worker);
        self.workers.insert(request.worker.clone(), worker);
    }

    /// Processes a heartbeat.
    pub fn record_heartbeat(&mut self, heartbeat: Heartbeat) {
        let Some(worker) =
            self.workers.get_mut(&heartbeat.worker).filter(|one| one.session == heartbeat.session)
        else {
            return self.note_pending_worker(heartbeat);
        };
        if std::mem::take(&mut worker.lost) {
            tracing::warn!(worker = heartbeat.worker, "lost worker sends heartbeats again");
        }
        if (heartbeat.draining || heartbeat.gone) && !worker.leaving {
            tracing::info!(worker = heartbeat.worker, "worker takes no more jobs and leaves");
        }
        worker.last_heard = Instant::now();
        worker.cores = heartbeat.cores.clamp(1, 4096);
        worker.leaving = heartbeat.draining || heartbeat.gone;
        worker.live_games = (Instant::now(), if heartbeat.gone { Vec::new() } else { heartbeat.live_games });
    }

    /// Notes a worker that has not joined yet. It is expected to, unless a coordinator refused it or it leaves.
    fn note_pending_worker(&mut self, heartbeat: Heartbeat) {
        let now = Instant::now();
        if heartbeat.draining
            || heartbeat.gone
            || !heartbeat.refused.is_empty()
            || self.banned.contains_key(&heartbeat.worker)
        {
            self.pending.remove(&heartbeat.worker);
        } else {
            self.pending.entry(heartbeat.worker).or_insert((now, now)).1 = now;
        }
    }

    /// Removes a worker that may not take jobs any more.
    pub fn remove(&mut self, worker: &str, session: &str) {
        if self.workers.get(worker).is_some_and(|one| one.session == session) {
            self.workers.remove(worker);
        }
    }

    /// Notes that a worker is alive.
    pub fn mark_heard(&mut self, worker: &str) {
        if let Some(worker) = self.workers.get_mut(worker) {
            worker.last_heard = Instant::now();
        }
    }

    /// A worker that has joined.
    pub fn get(&self, worker: &str) -> Option<&RegisteredWorker> {
        self.workers.get(worker)
    }

    /// Reason for the ban, if the worker is banned.
    pub fn ban_reason(&self, worker: &str) -> Option<&str> {
        self.banned.get(worker).map(String::as_str)
    }

    /// Workers without a sign of life for too long, each once. Other workers get their jobs when the leases expire. None while the server
    /// is away.
    pub fn newly_lost(&mut self) -> Vec<String> {
        let is_lost = |one: &RegisteredWorker| {
            !one.lost && !one.leaving && Self::is_silent(&self.connectivity, one.last_heard)
        };
        let lost = self.workers.iter_mut().filter(|(_, one)| is_lost(one));
        lost.map(|(name, one)| {
            one.lost = true;
            name.clone()
        })
        .collect()
    }

    /// Workers that take jobs.
    pub fn present(&self) -> impl Iterator<Item = (&str, &RegisteredWorker)> {
        let takes_jobs = |(name, one): &(&String, &RegisteredWorker)| {
            !one.leaving
                && !Self::is_silent(&self.connectivity, one.last_heard)
                && !self.banned.contains_key(*name)
        };
        self.workers.iter().filter(takes_jobs).map(|(name, one)| (name.as_str(), one))
    }

    /// Number of cores of the workers that take jobs.
    pub fn cores(&self) -> u64 {
        self.present().map(|(_, one)| u64::from(one.cores)).sum()
    }

    /// Whether a worker other than these takes jobs.
    pub fn has_other_than(&self, than: &[String]) -> bool {
        self.present().any(|(name, _)| !than.iter().any(|one| one == name))
    }

    /// Time since a worker last joined or left. Zero while a worker is expected to join.
    pub fn stable_for(&mut self) -> Duration {
        let now: Vec<String> = self.present().map(|(name, _)| name.to_owned()).collect();
        let is_joining = |(first, last): &(Instant, Instant)| {
            first.elapsed() < JOIN_GRACE && last.elapsed() < WORKER_LOST_AFTER
        };
        if now != self.last_present.0 || self.pending.values().any(is_joining) {
            self.last_present = (now, Instant::now());
        }
        self.last_present.1.elapsed()
    }

    /// Whether the worker has a strike.
    pub fn is_watched(&self, worker: &str) -> bool {
        self.strikes.contains_key(worker)
    }

    /// Gives a worker a strike.
    pub fn strike(&mut self, worker: &str, why: &str) -> StrikeOutcome {
        let strikes = self.strikes.entry(worker.to_owned()).or_default();
        strikes.push(why.to_owned());
        if (strikes.len() as u32) < STRIKES_TO_BAN {
            StrikeOutcome::Watched
        } else {
            StrikeOutcome::Banned(strikes.join("; "))
        }
    }

    /// Bans a worker. Returns whether it was not banned before.
    pub fn ban(&mut self, worker: &str, why: &str) -> bool {
        self.banned.insert(worker.to_owned(), why.to_owned()).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(worker: &str, session: &str) -> JoinRequest {
        JoinRequest {
            protocol: 1,
            worker: worker.to_owned(),
            session: session.to_owned(),
            engine: String::new(),
            rules: BTreeMap::new(),
            layers: Vec::new(),
            cores: 2,
            speed: f64::NAN,
            missing: Vec::new(),
        }
    }

    #[test]
    fn cores_of_banned_workers_do_not_count() {
        let mut registry = WorkerRegistry::new([("old".to_owned(), "lied".to_owned())]);
        for name in ["a", "b", "old"] {
            registry.admit(&request(name, "1"));
        }
        assert_eq!((registry.cores(), registry.get("a").unwrap().speed), (4, 1.0));
        assert!(registry.ban("a", "wrong") && !registry.ban("a", "again"));
        assert_eq!((registry.cores(), registry.has_other_than(&["b".to_owned()])), (2, false));
    }

    #[test]
    fn stable_for_restarts_while_a_worker_is_joining() {
        let ago = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds)).unwrap();
        let mut registry = WorkerRegistry::new([]);
        registry.admit(&request("a", "1"));
        registry.stable_for();
        registry.last_present.1 = ago(10);
        assert!(registry.stable_for() >= Duration::from_secs(10));
        registry.record_heartbeat(Heartbeat {
            refused: vec![("cup".to_owned(), "no".to_owned())],
            ..Heartbeat::new("unfit", "1")
        });
        assert!(registry.stable_for() >= Duration::from_secs(10), "a refused worker is not expected");
        registry.record_heartbeat(Heartbeat::new("b", "1"));
        assert!(registry.stable_for() < Duration::from_secs(10));
        registry.last_present.1 = ago(10);
        registry.pending.get_mut("b").unwrap().0 = ago(30);
        assert!(registry.stable_for() >= Duration::from_secs(10), "it is no longer expected");
    }

    #[test]
    fn newly_lost_names_a_silent_worker_once() {
        let mut registry = WorkerRegistry::new([]);
        for name in ["silent", "leaving", "alive"] {
            registry.admit(&request(name, "1"));
        }
        let long_ago = Instant::now().checked_sub(WORKER_LOST_AFTER).unwrap();
        for name in ["silent", "leaving"] {
            registry.workers.get_mut(name).unwrap().last_heard = long_ago;
        }
        registry.workers.get_mut("leaving").unwrap().leaving = true;
        assert_eq!(registry.newly_lost(), ["silent"]);
        assert_eq!(registry.newly_lost(), [""; 0]);
        registry.record_heartbeat(Heartbeat::new("silent", "1"));
        registry.workers.get_mut("silent").unwrap().last_heard = long_ago;
        assert_eq!(registry.newly_lost(), ["silent"], "it was heard in between");
    }

    #[test]
    fn strike_the_second_one_bans() {
        let mut registry = WorkerRegistry::new([]);
        assert_eq!(registry.strike("a", "x"), StrikeOutcome::Watched);
        assert!(registry.is_watched("a") && !registry.is_watched("b"));
        assert_eq!(registry.strike("a", "y"), StrikeOutcome::Banned("x; y".to_owned()));
    }
}
