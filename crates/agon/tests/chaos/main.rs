//! A league on many machines while everything breaks: kills of workers, of the coordinator, of nats-server and of PostgreSQL, cut, slow and half-dead networks,
//! a full disk, wrong clocks, and a worker that lies. What happens is drawn from a seed and told; when it happens is up to the machine.
//! At the end nothing is lost, nothing is there twice, the liar is barred, and the table is that of a local run. One event of each kind, spread over
//! three competitions; under `AGON_SOAK` a hundred in all, over as many as it takes. `AGON_CHAOS_SEED` draws others;
//! with `AGON_CHAOS_KEEP` what everybody said stays in `target/tmp`.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr, reason = "a test that tells what it does")]

mod cluster;
#[path = "../common/mod.rs"]
mod common;
mod cups;
mod liar;
mod proof;

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::{Duration, Instant};

use agon_core::random::FastRng;
use cluster::{Theatre, WORKERS};
use cups::{CUPS, Cup};

/// What can happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
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

/// All but the liar, which comes when there is something to lie about.
const KINDS: [Kind; 10] = [
    Kind::WorkerKilled,
    Kind::CoordinatorKilled,
    Kind::NatsKilled,
    Kind::PostgresKilled,
    Kind::NetworkCut,
    Kind::NetworkSevered,
    Kind::NetworkSlow,
    Kind::NetworkDeadOneWay,
    Kind::DiskFull,
    Kind::ClockWrong,
];
/// One of each kind.
const SHORT: u32 = KINDS.len() as u32 + 1;
/// No more happens in one competition than this, in the short form and in the long one: all of them have their share, and each can end.
const SHARES: (u32, u32) = (4, 12);
/// A liar that comes late has little time to lie: then it is there from the start of the next competition, so often at most.
const ENCORES: u32 = 3;

impl Kind {
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

/// What is broken just now, and until when.
struct Broken {
    until: Instant,
    kind: Kind,
    /// A worker; a network (see [`Theatre::wires`]); else 0.
    whom: usize,
}

/// The whole story.
struct Story {
    rng: FastRng,
    begun: Instant,
    /// Kinds still to come before all of them come again.
    hat: Vec<Kind>,
    broken: Vec<Broken>,
    happened: BTreeMap<Kind, u32>,
    left: u32,
}

impl Story {
    fn new(seed: u64, events: u32) -> Self {
        let (rng, begun) = (FastRng::new(seed), Instant::now());
        Self { rng, begun, hat: Vec::new(), broken: Vec::new(), happened: BTreeMap::new(), left: events }
    }

    fn below(&mut self, most: usize) -> usize {
        (self.rng.next_u64() % most as u64) as usize
    }

    fn tell(&self, what: &str) {
        eprintln!("{:>7.1} s  {what}", self.begun.elapsed().as_secs_f64());
    }

    /// Something happens, unless it cannot happen now: then it comes later.
    fn event(&mut self, theatre: &mut Theatre) {
        if self.hat.is_empty() {
            self.hat = KINDS.to_vec();
        }
        let drawn = self.below(self.hat.len());
        let kind = self.hat[drawn];
        let is_network = matches!(
            kind,
            Kind::NetworkCut | Kind::NetworkSevered | Kind::NetworkSlow | Kind::NetworkDeadOneWay
        );
        let whom = match kind {
            Kind::WorkerKilled | Kind::DiskFull | Kind::ClockWrong => self.below(WORKERS),
            _ if is_network => self.below(theatre.wires.len()),
            _ => 0,
        };
        let both = |one: &Broken| one.whom == whom && (one.kind == kind || !is_network);
        if self.broken.iter().any(both) {
            return;
        }
        if !theatre.is_possible(kind) {
            let why = format!("its event `{}` cannot be done on this machine", kind.says());
            agon_test_servers::cannot_run(agon_test_servers::Lacks::Machine, &why);
        } else if theatre.can(kind, whom) {
            self.happens(kind, whom, theatre);
        } else {
            return;
        }
        self.hat.swap_remove(drawn);
        self.left -= 1;
    }

    fn happens(&mut self, kind: Kind, whom: usize, theatre: &mut Theatre) {
        let millis = 300 + self.below(2500) as u64;
        let name = theatre.break_it(kind, whom, self.rng.next_u64());
        *self.happened.entry(kind).or_default() += 1;
        self.tell(&format!("{}: {name}, for {:.1} s", kind.says(), millis as f64 / 1e3));
        self.broken.push(Broken { until: Instant::now() + Duration::from_millis(millis), kind, whom });
    }

    /// Repairs what is due; all of it when the story is over.
    fn repair(&mut self, theatre: &mut Theatre, all: bool) {
        let now = Instant::now();
        let due: Vec<Broken> = self.broken.extract_if(.., |one| all || one.until <= now).collect();
        for one in due {
            theatre.mend(one.kind, one.whom);
        }
    }

    /// Plays one competition to its end, whatever happens: at most so many things.
    fn round(&mut self, cup: Cup, most: u32, theatre: &mut Theatre) {
        let enough = self.left.saturating_sub(most);
        if cup == Cup::House && self.left > 0 && !theatre.has_liar() {
            // Others after it are not counted: they would come in the place of something that has not happened yet.
            self.left -= u32::from(!self.happened.contains_key(&Kind::Liar));
            self.happens(Kind::Liar, 0, theatre);
        }
        theatre.raise_the_curtain(cup);
        let (begun, mut next) = (Instant::now(), Instant::now() + Duration::from_secs(1));
        while !theatre.is_over() {
            self.repair(theatre, false);
            if self.left > enough && self.broken.len() < 3 && Instant::now() >= next {
                self.event(theatre);
                let pause = 200 + self.below(1500) as u64;
                next = Instant::now() + Duration::from_millis(pause);
            }
            theatre.look_after();
            assert!(
                begun.elapsed() < 5 * agon_test_servers::WAIT_TIMEOUT,
                "it does not end:\n{}",
                theatre.words()
            );
            sleep(Duration::from_millis(20));
        }
        self.repair(theatre, true);
        let told = theatre.verify();
        self.tell(&told);
    }
}

#[test]
fn nothing_is_lost_and_nothing_is_there_twice_whatever_breaks() {
    let is_long = std::env::var_os("AGON_SOAK").is_some();
    let (events, share) = if is_long { (100, SHARES.1) } else { (SHORT, SHARES.0) };
    let seed = std::env::var("AGON_CHAOS_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(6);
    let Some(mut theatre) = Theatre::build() else { return };
    let mut story = Story::new(seed, events);
    story.tell(&format!("seed {seed}, {events} events"));
    for cup in CUPS.into_iter().cycle() {
        if story.left == 0 {
            break;
        }
        story.round(cup, share, &mut theatre);
    }
    for _ in 0..ENCORES {
        if theatre.has_liar() {
            story.round(Cup::House, 0, &mut theatre);
        }
    }
    eprintln!("\n{:<24} events", "what");
    for (kind, count) in &story.happened {
        eprintln!("{:<24} {count:>6}", kind.says());
    }
    eprintln!("{}", theatre.recovered.summary());
    assert!(!theatre.has_liar() && theatre.recovered.liars_barred > 0, "the liar was not found");
}
