//! Test data: competitions and results that depend only on their arguments.
#![allow(dead_code, clippy::unwrap_used, reason = "each test uses some of it; test helpers are tests")]

use std::future::Future;

use agon_core::record::Digest;
use agon_core::{FastRng, Fault, FaultReport};
use agon_league::{Entrant, FixedPoint, GameResult, MatchKey, MatchResult, SeatResult};
use agon_store::{
    ConfigVersion, DataFolder, FinishedMatch, MatchFault, NewLedger, SecretSeed, StoredGame, Timestamp,
};

/// Runs a future to completion on this thread.
pub fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

pub fn new_ledger(phases: u32) -> NewLedger {
    NewLedger {
        name: "Autumn Cup".to_owned(),
        game: "solitude".to_owned(),
        rules: 1,
        engine: "0.1.0".to_owned(),
        config: ConfigVersion {
            text: "# ours\nname = \"Autumn Cup\"\n".to_owned(),
            normalised: r#"{"name":"Autumn Cup"}"#.to_owned(),
            at: Timestamp(1_000),
        },
        phases,
        secret: SecretSeed::new("unguessable words"),
    }
}

pub const fn key(phase: u32, stage: u32, number: u64) -> MatchKey {
    MatchKey { phase, stage, number }
}

/// Shape of a match.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Number of entrants of the competition.
    pub entrants: u32,
    /// Seats per game.
    pub seats: u32,
    /// Games per match.
    pub games: u32,
    /// Size of a record in bytes; 0: no record.
    pub record: usize,
    /// One in this many matches has faults; 0: none.
    pub faulty: u64,
}

pub const SMALL: Shape = Shape { entrants: 9, seats: 4, games: 2, record: 40, faulty: 5 };

/// The match with this key; depends only on key and shape.
pub fn finished(key: MatchKey, shape: Shape) -> FinishedMatch {
    let start = key.number ^ (u64::from(key.stage) << 40) ^ (u64::from(key.phase) << 52);
    let mut rng = FastRng::new(start.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let first = rng.below(shape.entrants);
    let seated: Vec<Entrant> =
        (0..shape.seats).map(|seat| Entrant((first + seat) % shape.entrants)).collect();
    let games: Vec<GameResult> = (0..shape.games).map(|game| game_result(&mut rng, &seated, game)).collect();
    let kept = (0..shape.games).map(|_| stored_game(&mut rng, shape)).collect();
    let points = seated.iter().map(|_| FixedPoint::from_int(i64::from(rng.below(3)) - 1)).collect();
    let faults =
        if shape.faulty > 0 && key.number % shape.faulty == 1 { faults(&seated) } else { Vec::new() };
    FinishedMatch {
        result: MatchResult { key, games, points },
        games: kept,
        faults,
        data: Vec::new(),
        bot_outputs: Vec::new(),
        worker: None,
        finished: Timestamp(10_000 + key.number as i64),
    }
}

fn game_result(rng: &mut FastRng, seated: &[Entrant], game: u32) -> GameResult {
    let seed = rng.next_u64();
    let turns = 1 + rng.below(50);
    let seats = seated.iter().map(|&entrant| SeatResult {
        entrant,
        score: FixedPoint(i64::from(rng.below(10_000_000))),
        place: 1 + rng.below(4) as u8,
        stats: [FixedPoint(i64::from(rng.below(5_000_000))), FixedPoint::ZERO, -FixedPoint::from_int(1)],
        answers: rng.below(100),
        faults: [0, 0, rng.below(2), 0],
        thought_ns: u64::from(rng.below(2_000_000)),
        longest_ns: u64::from(rng.below(90_000)),
        meter: None,
        empty_ns: 0,
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

fn stored_game(rng: &mut FastRng, shape: Shape) -> StoredGame {
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
        report: FaultReport { fault, message: says.to_owned(), stderr: "Traceback\n  'ÿ'".to_owned() },
    };
    vec![fault(0, Fault::Crash, "IndexError: list index out of range"), fault(1, Fault::Illegal, "")]
}

/// A data folder with this content.
pub fn folder(entrant: u32, content: &str) -> DataFolder {
    let hash = SecretSeed::new(content).commitment();
    DataFolder { entrant: Entrant(entrant), hash, bytes: content.as_bytes().to_vec() }
}

/// The list in a random order.
pub fn shuffled<T>(mut list: Vec<T>, seed: u64) -> Vec<T> {
    FastRng::new(seed).shuffle(&mut list);
    list
}
