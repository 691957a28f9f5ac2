//! Competitions and results that nobody played, the same for the same numbers.
#![allow(dead_code, clippy::unwrap_used, reason = "each test uses some of it; helpers of tests are tests")]

use std::future::Future;

use agon_core::record::Digest;
use agon_core::{Fault, FaultReport, QuickRng};
use agon_league::{Entrant, FixedPoint, GameResult, MatchKey, MatchResult, SeatResult};
use agon_store::{DataFolder, ConfigVersion, FinishedMatch, NewLedger, StoredGame, MatchFault, SecretSeed, Timestamp};

/// Runs it to its end, on this thread.
pub fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

pub fn founding(phases: u32) -> NewLedger {
    NewLedger {
        name: "Autumn Cup".to_owned(),
        game: "solitude".to_owned(),
        rules: 1,
        engine: "0.1.0".to_owned(),
        edition: ConfigVersion {
            file: "# ours\nname = \"Autumn Cup\"\n".to_owned(),
            normal: r#"{"name":"Autumn Cup"}"#.to_owned(),
            at: Timestamp(1_000),
        },
        phases,
        secret: SecretSeed::new("nobody knows"),
    }
}

pub const fn key(phase: u32, stage: u32, number: u64) -> MatchKey {
    MatchKey { phase, stage, number }
}

/// What a match is made of.
#[derive(Clone, Copy)]
pub struct Shape {
    /// How many take part in all.
    pub entrants: u32,
    /// How many sit at a game.
    pub seats: u32,
    /// Games of a match.
    pub games: u32,
    /// Bytes of a record; 0: no record.
    pub record: usize,
    /// One match of so many has faults; 0: none has.
    pub faulty: u64,
}

pub const SMALL: Shape = Shape { entrants: 9, seats: 4, games: 2, record: 40, faulty: 5 };

/// The match of this key: a function of key and shape.
pub fn finished(key: MatchKey, shape: Shape) -> FinishedMatch {
    let start = key.number ^ (u64::from(key.stage) << 40) ^ (u64::from(key.phase) << 52);
    let mut rng = QuickRng::new(start.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let first = rng.below(shape.entrants);
    let seated: Vec<Entrant> =
        (0..shape.seats).map(|seat| Entrant((first + seat) % shape.entrants)).collect();
    let games: Vec<GameResult> = (0..shape.games).map(|game| game_result(&mut rng, &seated, game)).collect();
    let kept = (0..shape.games).map(|_| kept_game(&mut rng, shape)).collect();
    let points = seated.iter().map(|_| FixedPoint::whole(i64::from(rng.below(3)) - 1)).collect();
    let faults =
        if shape.faulty > 0 && key.number % shape.faulty == 1 { faults(&seated) } else { Vec::new() };
    FinishedMatch {
        result: MatchResult { key, games, points },
        games: kept,
        faults,
        data: Vec::new(),
        logs: Vec::new(),
        worker: None,
        finished: Timestamp(10_000 + key.number as i64),
    }
}

fn game_result(rng: &mut QuickRng, seated: &[Entrant], game: u32) -> GameResult {
    let seed = rng.next_u64();
    let turns = 1 + rng.below(50);
    let seats = seated.iter().map(|&entrant| SeatResult {
        entrant,
        score: FixedPoint(i64::from(rng.below(10_000_000))),
        place: 1 + rng.below(4) as u8,
        stats: [FixedPoint(i64::from(rng.below(5_000_000))), FixedPoint::ZERO, -FixedPoint::whole(1)],
        answers: rng.below(100),
        faults: [0, 0, rng.below(2), 0],
        thought_ns: u64::from(rng.below(2_000_000)),
        longest_ns: u64::from(rng.below(90_000)),
    });
    GameResult {
        part: (game % 2) as u8,
        seed,
        turns,
        ended: "10 rounds were played".to_owned(),
        match_lost_by: (game == 1).then_some(1),
        seats: seats.collect(),
    }
}

fn kept_game(rng: &mut QuickRng, shape: Shape) -> StoredGame {
    let mut byte = || rng.below(256) as u8;
    let digest = Digest(std::array::from_fn(|_| byte()));
    let record = (shape.record > 0).then(|| (0..shape.record).map(|_| byte()).collect());
    StoredGame { digest, record }
}

fn faults(seated: &[Entrant]) -> Vec<MatchFault> {
    let fault = |seat: usize, fault, says: &str| MatchFault {
        game: 0,
        turn: 3 + seat as u32,
        seat: seat as u8,
        entrant: seated[seat],
        report: FaultReport { fault, says: says.to_owned(), stderr: "Traceback\n  'ÿ'".to_owned() },
    };
    vec![fault(0, Fault::Crash, "IndexError: list index out of range"), fault(1, Fault::Illegal, "")]
}

/// A folder with this in it.
pub fn folder(entrant: u32, content: &str) -> DataFolder {
    let hash = SecretSeed::new(content).commitment();
    DataFolder { entrant: Entrant(entrant), hash, bytes: content.as_bytes().to_vec() }
}

/// In another order.
pub fn shuffled<T>(mut list: Vec<T>, seed: u64) -> Vec<T> {
    QuickRng::new(seed).shuffle(&mut list);
    list
}
