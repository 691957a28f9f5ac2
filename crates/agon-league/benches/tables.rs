//! Speed and memory of tallies and tables. `cargo bench -p agon-league --bench tables`.

#![allow(clippy::print_stdout, reason = "prints a table of measurements")]
#![allow(missing_docs, reason = "a program")]

use std::hint::black_box;

use agon_core::random::FastRng;
use agon_league::config::{EntrantBot, EntrantSpec};
use agon_league::standings::{StandingsRequest, standings};
use agon_league::{Entrant, FixedPoint, GameResult, MatchKey, MatchResult, SeatResult, Tally};

fn main() {
    println!("{:<44} {:>12} {:>10}", "what", "measured", "wanted");
    fold("fold 1,000,000 results of four, 60 bots", 60, 1_000_000, false);
    fold("the same with finer scores (20-bot arenas)", 60, 1_000_000, true);
    fold("fold 2,000,000 results of four, 2,000 bots", 2000, 2_000_000, false);
}

/// Groups of four from a field. A small set of results is reused, so that creating them is not measured.
fn results(bots: u32, fine: bool) -> Vec<MatchResult> {
    let mut rng = FastRng::new(1);
    let seat = |entrant: u32, rng: &mut FastRng| SeatResult {
        entrant: Entrant(entrant),
        score: if fine {
            FixedPoint(i64::from(rng.below(9_000_000)))
        } else {
            FixedPoint::from_int(i64::from(rng.below(45)))
        },
        place: 1 + rng.below(4) as u8,
        stats: [FixedPoint::from_int(1); 3],
        answers: 10,
        faults: [0; 4],
        thought_ns: 100_000,
        longest_ns: 20_000,
        meter: None,
        empty_ns: 0,
    };
    let mut one = || {
        let mut who: Vec<u32> = Vec::with_capacity(4);
        while who.len() < 4 {
            let bot = rng.below(bots);
            if !who.contains(&bot) {
                who.push(bot);
            }
        }
        MatchResult {
            key: MatchKey { phase: 0, stage: 0, number: 0 },
            games: vec![GameResult {
                part: 0,
                seed: 0,
                turns: 10,
                ended: String::new(),
                match_lost_by: None,
                seats: who.into_iter().map(|bot| seat(bot, &mut rng)).collect(),
            }],
            points: Vec::new(),
        }
    };
    (0..100_000).map(|_| one()).collect()
}

fn fold(what: &str, bots: u32, matches: usize, fine: bool) {
    let mut results = results(bots, fine);
    let mut rng = FastRng::new(2);
    let mut tally = Tally::default();
    let mut took = 0.0;
    for _ in 0..matches / results.len() {
        // Use other groups each time, so that every pair of a large field meets.
        let shift = rng.below(bots);
        for seat in results.iter_mut().flat_map(|result| &mut result.games[0].seats) {
            seat.entrant.0 = (seat.entrant.0 + shift * (1 + seat.entrant.0 % 7)) % bots;
        }
        for result in &mut results {
            spread(&mut result.games[0].seats, bots);
        }
        let start = cpu_seconds();
        for result in &results {
            tally.add(result);
        }
        took += cpu_seconds() - start;
    }
    line(what, &format!("{:.2} M/s", matches as f64 / took / 1e6), "1 M/s");
    line("    memory including results", &memory(), "");
    let start = cpu_seconds();
    let bytes = tally.to_bytes();
    line("    to bytes", &ms(start), "");
    line("    size", &format!("{:.2} MB", bytes.len() as f64 / 1e6), if bots < 100 { "1 MB" } else { "" });
    let start = cpu_seconds();
    let again = Tally::from_bytes(&bytes);
    line("    from bytes", &ms(start), "1000 ms");
    assert!(again.is_ok());
    drop((again, bytes));
    let entrants: Vec<EntrantSpec> = (0..bots).map(entrant).collect();
    let game = agon_games::infos()[0];
    let request = StandingsRequest {
        competition: "",
        phase: "",
        game,
        entrants: &entrants,
        placing: &[],
        rulings: &[],
    };
    let start = cpu_seconds();
    black_box(standings(&tally, &request));
    line(&format!("    standings, {} pairs", tally.pairs().len()), &ms(start), "1000 ms");
}

/// Makes the entrants of a game different.
fn spread(seats: &mut [SeatResult], bots: u32) {
    for at in 1..seats.len() {
        while seats[..at].iter().any(|seat| seat.entrant == seats[at].entrant) {
            seats[at].entrant.0 = (seats[at].entrant.0 + 1) % bots;
        }
    }
}

fn entrant(number: u32) -> EntrantSpec {
    EntrantSpec {
        name: format!("bot {number}"),
        name_given: true,
        bot: EntrantBot::Spec("house:random".to_owned()),
        contributor: None,
        marks: Vec::new(),
        role: None,
    }
}

fn ms(start: f64) -> String {
    format!("{:.0} ms", (cpu_seconds() - start) * 1e3)
}

/// CPU time of this thread in seconds, independent of other load.
fn cpu_seconds() -> f64 {
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    spent.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or_default() / 1e9
}

fn line(what: &str, measured: &str, target: &str) {
    println!("{what:<44} {measured:>12} {target:>10}");
}

/// Resident memory of this process.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let most = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    most.map_or_else(|| "unknown".to_owned(), |most| most.trim().to_owned())
}
