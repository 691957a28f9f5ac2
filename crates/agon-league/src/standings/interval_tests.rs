//! No table of any league, however small, shows a reversed interval.

use proptest::prelude::*;

use super::*;
use crate::result::{FixedPoint, GameResult, MatchKey, MatchResult};
use crate::simulated::{self, League, game_of};

/// A game of all entrants with these scores, on a board of its own or one of two.
fn game(scores: &[f64], seed: u64) -> GameResult {
    let seats: Vec<(u32, f64)> = (0..).zip(scores.iter().copied()).collect();
    GameResult { seed, ..game_of(&seats) }
}

/// A match of one game, with points or without.
fn match_number(number: usize, scores: &[f64], points: &[i64], seed: u64) -> MatchResult {
    let key = MatchKey { phase: 0, stage: 0, number: number as u64 };
    let points = points.iter().map(|&points| FixedPoint::from_int(points)).collect();
    MatchResult { key, games: vec![game(scores, seed)], points }
}

/// The mean and the interval of each row of the tables of confidence.
fn intervals(standings: &Standings) -> Vec<(f64, f64, f64)> {
    let tables = standings.tables.iter().filter(|table| table.id.starts_with("confidence"));
    let cells = tables.flat_map(|table| &table.rows).map(|row| (&row.cells[2], &row.cells[3]));
    cells
        .filter_map(|cells| match cells {
            (TableCell::Real(mean, ..), TableCell::Interval(low, high, _)) => Some((*low, *mean, *high)),
            _ => None,
        })
        .collect()
}

proptest! {
    #[test]
    fn interval_of_every_entrant_of_a_small_league_contains_its_mean(
        (entrants, games) in (2usize..22, 2usize..7),
        values in prop::collection::vec(prop_oneof![Just(0.0), Just(3.0), 0.0..100.0f64, 0.0..4000.0f64], 22 * 7),
        points in prop::collection::vec(-2i64..3, 22 * 7),
        (with_points, boards) in (any::<bool>(), 1u64..4),
    ) {
        let names: Vec<String> = (0..entrants).map(|number| format!("bot {number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for info in agon_games::infos() {
            let results = (0..games).map(|number| {
                let own = number * entrants..(number + 1) * entrants;
                let given = if with_points { &points[own.clone()] } else { &[] };
                match_number(number, &values[own], given, number as u64 % boards)
            });
            let league = League { game: info, entrants: simulated::entrants(&names), results: results.collect() };
            let request = StandingsRequest {
                competition: "Test",
                phase: "phase 1",
                game: info,
                entrants: &league.entrants,
                placing: &[],
                rulings: &[],
            };
            let found = intervals(&standings(&league.tally(), &request));
            prop_assert_eq!(found.len(), entrants, "{}", info.id);
            for (low, mean, high) in found {
                prop_assert!(low <= mean && mean <= high, "{}: {} {} {}", info.id, low, mean, high);
            }
        }
    }
}
