//! A competition with workers while everything fails: killed workers, coordinator, nats-server and PostgreSQL; cut, slow and one-way
//! networks; a full disk, wrong clocks, and a lying worker. The events are drawn from a seed and printed; their times depend on the
//! machine. At the end no match is lost or duplicated, the lying worker is banned, and the table equals that of a local run. The test has
//! one event of each kind, spread over three competitions; with `AGON_SOAK` it has a hundred, over as many competitions as needed.
//! `AGON_CHAOS_SEED` draws other events. With `AGON_CHAOS_KEEP` all output is kept in `target/tmp`.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr, reason = "a test that prints its events")]

mod cluster;
#[path = "../common/mod.rs"]
mod common;
mod competitions;
mod liar;
mod proof;

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::{Duration, Instant};

use agon_core::random::FastRng;
use cluster::{Cluster, WORKERS};
use competitions::{COMPETITIONS, TestCompetition};

/// `EventKind` of an event.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum EventKind {
    WorkerKilled,
    CoordinatorKilled,
    NatsKilled,
    PostgresKilled,
    NetworkCut,
    NetworkSevered,
    NetworkSlow,
    NetworkDeadOneWay,
    DiskFull,
    ClockWrong,
    Liar,
}

/// All kinds except the lying worker, which comes when there are matches to lie about.
const KINDS: [EventKind; 10] = [
    EventKind::WorkerKilled,
    EventKind::CoordinatorKilled,
    EventKind::NatsKilled,
    EventKind::PostgresKilled,
    EventKind::NetworkCut,
    EventKind::NetworkSevered,
    EventKind::NetworkSlow,
    EventKind::NetworkDeadOneWay,
    EventKind::DiskFull,
    EventKind::ClockWrong,
];
/// Number of events in the short test: one of each kind.
const SHORT_TEST_EVENTS: u32 = KINDS.len() as u32 + 1;
/// Maximum number of events per competition in the short and in the soak test, so that all competitions get some, and each can end.
const MAX_EVENTS_PER_COMPETITION: (u32, u32) = (4, 12);
/// Maximum number of extra competitions with the lying worker from the start. They are needed if it came too late to lie.
const MAX_EXTRA_COMPETITIONS: u32 = 3;

impl EventKind {
    const fn says(self) -> &'static str {
        match self {
            Self::WorkerKilled => "worker killed",
            Self::CoordinatorKilled => "coordinator killed",
            Self::NatsKilled => "nats-server killed",
            Self::PostgresKilled => "PostgreSQL killed",
            Self::NetworkCut => "network cut",
            Self::NetworkSevered => "connections reset",
            Self::NetworkSlow => "network slow",
            Self::NetworkDeadOneWay => "network dead one way",
            Self::DiskFull => "disk full",
            Self::ClockWrong => "clock wrong",
            Self::Liar => "liar",
        }
    }
}

/// An active failure, and when it ends.
struct ActiveFailure {
    until: Instant,
    kind: EventKind,
    /// Index of a worker or of a network (see [`Cluster::wires`]); otherwise 0.
    target: usize,
}

/// The sequence of events.
struct EventSequence {
    rng: FastRng,
    begun: Instant,
    /// Kinds that are still to come before all kinds come again.
    remaining_kinds: Vec<EventKind>,
    broken: Vec<ActiveFailure>,
    happened: BTreeMap<EventKind, u32>,
    left: u32,
}

impl EventSequence {
    fn new(seed: u64, events: u32) -> Self {
        let (rng, begun) = (FastRng::new(seed), Instant::now());
        Self {
            rng,
            begun,
            remaining_kinds: Vec::new(),
            broken: Vec::new(),
            happened: BTreeMap::new(),
            left: events,
        }
    }

    fn below(&mut self, most: usize) -> usize {
        (self.rng.next_u64() % most as u64) as usize
    }

    fn print(&self, what: &str) {
        eprintln!("{:>7.1} s  {what}", self.begun.elapsed().as_secs_f64());
    }

    /// Triggers the next event. An event that is not possible now comes later.
    fn event(&mut self, cluster: &mut Cluster) {
        if self.remaining_kinds.is_empty() {
            self.remaining_kinds = KINDS.to_vec();
        }
        let drawn = self.below(self.remaining_kinds.len());
        let kind = self.remaining_kinds[drawn];
        let is_network = matches!(
            kind,
            EventKind::NetworkCut
                | EventKind::NetworkSevered
                | EventKind::NetworkSlow
                | EventKind::NetworkDeadOneWay
        );
        let target = match kind {
            EventKind::WorkerKilled | EventKind::DiskFull | EventKind::ClockWrong => self.below(WORKERS),
            _ if is_network => self.below(cluster.wires.len()),
            _ => 0,
        };
        let both = |one: &ActiveFailure| one.target == target && (one.kind == kind || !is_network);
        if self.broken.iter().any(both) {
            return;
        }
        if !cluster.is_possible(kind) {
            let why = format!("the event `{}` is not possible on this machine", kind.says());
            agon_test_servers::cannot_run(agon_test_servers::Lacks::Machine, &why);
        } else if cluster.can(kind, target) {
            self.happens(kind, target, cluster);
        } else {
            return;
        }
        self.remaining_kinds.swap_remove(drawn);
        self.left -= 1;
    }

    fn happens(&mut self, kind: EventKind, target: usize, cluster: &mut Cluster) {
        let millis = 300 + self.below(2500) as u64;
        let name = cluster.trigger(kind, target, self.rng.next_u64());
        *self.happened.entry(kind).or_default() += 1;
        self.print(&format!("{}: {name}, for {:.1} s", kind.says(), millis as f64 / 1e3));
        self.broken.push(ActiveFailure {
            until: Instant::now() + Duration::from_millis(millis),
            kind,
            target,
        });
    }

    /// Repairs what is due, or everything at the end.
    fn repair(&mut self, cluster: &mut Cluster, all: bool) {
        let now = Instant::now();
        let due: Vec<ActiveFailure> = self.broken.extract_if(.., |one| all || one.until <= now).collect();
        for one in due {
            cluster.repair(one.kind, one.target);
        }
    }

    /// Plays one competition to its end, with at most `most` events.
    fn round(&mut self, competition: TestCompetition, most: u32, cluster: &mut Cluster) {
        let enough = self.left.saturating_sub(most);
        if competition == TestCompetition::House && self.left > 0 && !cluster.has_liar() {
            // Further lying workers do not count: they would replace an event that has not happened yet.
            self.left -= u32::from(!self.happened.contains_key(&EventKind::Liar));
            self.happens(EventKind::Liar, 0, cluster);
        }
        cluster.start_competition(competition);
        let (begun, mut next) = (Instant::now(), Instant::now() + Duration::from_secs(1));
        while !cluster.is_finished() {
            self.repair(cluster, false);
            if self.left > enough && self.broken.len() < 3 && Instant::now() >= next {
                self.event(cluster);
                let pause = 200 + self.below(1500) as u64;
                next = Instant::now() + Duration::from_millis(pause);
            }
            cluster.restart_exited();
            assert!(
                begun.elapsed() < 5 * agon_test_servers::WAIT_TIMEOUT,
                "it does not end:\n{}",
                cluster.words()
            );
            sleep(Duration::from_millis(20));
        }
        self.repair(cluster, true);
        let summary = cluster.verify();
        self.print(&summary);
    }
}

#[test]
fn no_match_is_lost_or_duplicated_under_any_failure() {
    let is_long = std::env::var_os("AGON_SOAK").is_some();
    let (events, share) = if is_long {
        (100, MAX_EVENTS_PER_COMPETITION.1)
    } else {
        (SHORT_TEST_EVENTS, MAX_EVENTS_PER_COMPETITION.0)
    };
    let seed = std::env::var("AGON_CHAOS_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(6);
    let Some(mut cluster) = Cluster::build() else { return };
    let mut sequence = EventSequence::new(seed, events);
    sequence.print(&format!("seed {seed}, {events} events"));
    for competition in COMPETITIONS.into_iter().cycle() {
        if sequence.left == 0 {
            break;
        }
        sequence.round(competition, share, &mut cluster);
    }
    for _ in 0..MAX_EXTRA_COMPETITIONS {
        if cluster.has_liar() {
            sequence.round(TestCompetition::House, 0, &mut cluster);
        }
    }
    eprintln!("\n{:<24} events", "what");
    for (kind, count) in &sequence.happened {
        eprintln!("{:<24} {count:>6}", kind.says());
    }
    eprintln!("{}", cluster.recovered.summary());
    assert!(!cluster.has_liar() && cluster.recovered.liars_banned > 0, "the lying worker was not banned");
}
