//! Who plays for a competition: who was let in, who is still heard of, who is not believed.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::messages::{Heartbeat, LiveGameInfo, JoinRequest};

/// Who is not heard of for so long is not counted on. Beats come every two seconds.
const WORKER_LOST_AFTER: Duration = Duration::from_secs(7);

/// Who beats and was not let in is expected to ask for so long.
const JOIN_GRACE: Duration = Duration::from_secs(20);

/// Strikes that bar a worker.
const STRIKES_TO_BAN: u32 = 2;

/// A worker that was let in.
#[derive(Debug)]
pub struct RegisteredWorker {
    /// Its session: changes when it starts anew.
    pub session: String,
    /// Games it plays at once.
    pub cores: u32,
    /// How fast it is, by its own calibration.
    pub speed: f64,
    /// When it was last heard of.
    pub heard: Instant,
    /// Whether it takes no more work: it drains, or has left.
    pub leaving: bool,
    /// What is on its boards, and when that was said.
    pub boards: (Instant, Vec<LiveGameInfo>),
}

/// All of them.
#[derive(Debug)]
pub struct WorkerRegistry {
    people: BTreeMap<String, RegisteredWorker>,
    barred: BTreeMap<String, String>,
    strikes: BTreeMap<String, Vec<String>>,
    /// Who beats and was not let in: first and last heard.
    door: BTreeMap<String, (Instant, Instant)>,
    /// Who was there when it was last looked at, and since when nobody came or went.
    present: (Vec<String>, Instant),
}

/// What comes of a strike.
#[derive(PartialEq, Eq, Debug)]
pub enum StrikeOutcome {
    /// It is watched from now on.
    Watched,
    /// That was one too many: what it did, in words.
    Out(String),
}

impl WorkerRegistry {
    /// Nobody yet, and who may not come.
    pub fn new(barred: impl IntoIterator<Item = (String, String)>) -> Self {
        Self {
            people: BTreeMap::new(),
            barred: barred.into_iter().collect(),
            strikes: BTreeMap::new(),
            door: BTreeMap::new(),
            present: (Vec::new(), Instant::now()),
        }
    }

    /// Lets a worker in.
    pub fn admit(&mut self, hello: &JoinRequest) {
        let person = RegisteredWorker {
            session: hello.session.clone(),
            cores: hello.cores.clamp(1, 4096),
            speed: if hello.speed.is_finite() && hello.speed > 0.0 { hello.speed } else { 1.0 },
            heard: Instant::now(),
            leaving: false,
            boards: (Instant::now(), Vec::new()),
        };
        self.door.remove(&hello.worker);
        self.people.insert(hello.worker.clone(), person);
    }

    /// A worker is heard of.
    pub fn hear(&mut self, beat: Heartbeat) {
        let Some(person) = self.people.get_mut(&beat.worker).filter(|one| one.session == beat.session) else {
            return self.note_pending_worker(beat);
        };
        person.heard = Instant::now();
        person.cores = beat.cores.clamp(1, 4096);
        person.leaving = beat.draining || beat.gone;
        person.boards = (Instant::now(), if beat.gone { Vec::new() } else { beat.boards });
    }

    /// Somebody beats who was not let in yet: it will ask, unless it was told no (by whomever) or leaves.
    fn note_pending_worker(&mut self, beat: Heartbeat) {
        let now = Instant::now();
        if beat.draining || beat.gone || !beat.refused.is_empty() || self.barred.contains_key(&beat.worker) {
            self.door.remove(&beat.worker);
        } else {
            self.door.entry(beat.worker).or_insert((now, now)).1 = now;
        }
    }

    /// Anything else that a worker says shows that it is there.
    pub fn heard(&mut self, worker: &str) {
        if let Some(person) = self.people.get_mut(worker) {
            person.heard = Instant::now();
        }
    }

    /// A worker that was let in.
    pub fn person(&self, worker: &str) -> Option<&RegisteredWorker> {
        self.people.get(worker)
    }

    /// Why nobody believes it, if that is so.
    pub fn barred(&self, worker: &str) -> Option<&str> {
        self.barred.get(worker).map(String::as_str)
    }

    /// Those who take work: names and cores.
    pub fn present(&self) -> impl Iterator<Item = (&str, &RegisteredWorker)> {
        let here = |(name, one): &(&String, &RegisteredWorker)| {
            !one.leaving && one.heard.elapsed() < WORKER_LOST_AFTER && !self.barred.contains_key(*name)
        };
        self.people.iter().filter(here).map(|(name, one)| (name.as_str(), one))
    }

    /// The cores of those who take work.
    pub fn cores(&self) -> u64 {
        self.present().map(|(_, one)| u64::from(one.cores)).sum()
    }

    /// Whether somebody else than these takes work.
    pub fn has_other_than(&self, than: &[String]) -> bool {
        self.present().any(|(name, _)| !than.iter().any(|one| one == name))
    }

    /// For how long nobody came or went, or is about to come.
    pub fn stable_for(&mut self) -> Duration {
        let now: Vec<String> = self.present().map(|(name, _)| name.to_owned()).collect();
        let coming = |(first, last): &(Instant, Instant)| first.elapsed() < JOIN_GRACE && last.elapsed() < WORKER_LOST_AFTER;
        if now != self.present.0 || self.door.values().any(coming) {
            self.present = (now, Instant::now());
        }
        self.present.1.elapsed()
    }

    /// Whether it has a strike.
    pub fn is_watched(&self, worker: &str) -> bool {
        self.strikes.contains_key(worker)
    }

    /// It was wrong, and how.
    pub fn strike(&mut self, worker: &str, why: &str) -> StrikeOutcome {
        let strikes = self.strikes.entry(worker.to_owned()).or_default();
        strikes.push(why.to_owned());
        if (strikes.len() as u32) < STRIKES_TO_BAN { StrikeOutcome::Watched } else { StrikeOutcome::Out(strikes.join("; ")) }
    }

    /// Nobody believes it any more; says whether that is news.
    pub fn bar(&mut self, worker: &str, why: &str) -> bool {
        self.barred.insert(worker.to_owned(), why.to_owned()).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(worker: &str, session: &str) -> JoinRequest {
        JoinRequest {
            protocol: 1,
            worker: worker.to_owned(),
            session: session.to_owned(),
            engine: String::new(),
            rules: BTreeMap::new(),
            layers: Vec::new(),
            cores: 2,
            speed: f64::NAN,
        }
    }

    #[test]
    fn who_is_not_believed_is_not_counted_on() {
        let mut company = WorkerRegistry::new([("old".to_owned(), "lied".to_owned())]);
        for name in ["a", "b", "old"] {
            company.admit(&hello(name, "1"));
        }
        assert_eq!((company.cores(), company.person("a").unwrap().speed), (4, 1.0));
        assert!(company.bar("a", "wrong") && !company.bar("a", "again"));
        assert_eq!((company.cores(), company.has_other_than(&["b".to_owned()])), (2, false));
    }

    #[test]
    fn who_is_about_to_come_is_waited_for() {
        let ago = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds)).unwrap();
        let mut company = WorkerRegistry::new([]);
        company.admit(&hello("a", "1"));
        company.stable_for();
        company.present.1 = ago(10);
        assert!(company.stable_for() >= Duration::from_secs(10));
        company.hear(Heartbeat { refused: vec![("cup".to_owned(), "no".to_owned())], ..Heartbeat::new("unfit", "1") });
        assert!(company.stable_for() >= Duration::from_secs(10), "it will not come");
        company.hear(Heartbeat::new("b", "1"));
        assert!(company.stable_for() < Duration::from_secs(10));
        company.present.1 = ago(10);
        company.door.get_mut("b").unwrap().0 = ago(30);
        assert!(company.stable_for() >= Duration::from_secs(10), "it was waited for long enough");
    }

    #[test]
    fn two_strikes_are_one_too_many() {
        let mut company = WorkerRegistry::new([]);
        assert_eq!(company.strike("a", "x"), StrikeOutcome::Watched);
        assert!(company.is_watched("a") && !company.is_watched("b"));
        assert_eq!(company.strike("a", "y"), StrikeOutcome::Out("x; y".to_owned()));
    }
}
