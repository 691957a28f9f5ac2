//! Second looks at results that only one worker saw and that decide a rank.
//!
//! The matches that are checked anyway are drawn by chance. A forged result pays most where it moves an entrant past its neighbour in the
//! table. So at the end of a stage some more matches are checked: those of entrants with close neighbours, the top of the table first.

use std::collections::BTreeMap;
use std::time::Duration;

use agon_league::{MatchKey, MatchResult};

use super::cross_check::MatchDigest;

/// Maximum number of results that are kept. In larger stages no single match decides much.
const MAX_RESULTS: usize = 100_000;
/// Maximum number of checks at the end of a stage.
const MAX_CHECKS: usize = 64;
/// The checks may take this share of the time of the stage, or at least [`MIN_ALLOWANCE`].
const ALLOWED_SHARE: f64 = 0.02;
/// Time that the checks may take even after a short stage.
const MIN_ALLOWANCE: Duration = Duration::from_millis(250);

/// A result that only one worker saw.
#[derive(Clone, PartialEq, Debug)]
pub struct SingleResult {
    /// Match number.
    pub number: u64,
    /// Worker that played it.
    pub worker: String,
    /// Digest of the match.
    pub digest: MatchDigest,
    /// Table points by entrant.
    points: Vec<(u32, f64)>,
}

impl SingleResult {
    /// For a match of this worker.
    pub fn new(result: &MatchResult, worker: &str, digest: MatchDigest) -> Self {
        let points = result.table_points();
        let entrants = result.games.first().map_or(&[][..], |game| &game.seats);
        let points = entrants.iter().zip(points).map(|(seat, points)| (seat.entrant.0, points.to_f64()));
        Self { number: result.key.number, worker: worker.to_owned(), digest, points: points.collect() }
    }

    /// Difference between the best and the worst entrant of the match.
    fn swing(&self) -> f64 {
        let points = || self.points.iter().map(|(_, points)| *points);
        points().fold(f64::MIN, f64::max) - points().fold(f64::MAX, f64::min)
    }
}

/// Results of a phase: total points, and the results of this stage that only one worker saw.
#[derive(Clone, Default, Debug)]
pub struct RankChecks {
    totals: BTreeMap<u32, f64>,
    single: Vec<SingleResult>,
    is_full: bool,
}

impl RankChecks {
    /// For the next stage of the phase: the totals stay.
    pub fn next_stage(mut self) -> Self {
        self.single = Vec::new();
        self
    }

    /// Adds a result. `is_checked`: another worker plays the match anyway.
    pub fn add(&mut self, result: SingleResult, is_checked: bool) {
        for (entrant, points) in &result.points {
            *self.totals.entry(*entrant).or_default() += points;
        }
        if self.single.len() >= MAX_RESULTS {
            self.is_full = true;
        } else if !is_checked {
            self.single.push(result);
        }
    }

    /// Takes the results to check: at most `max`, those that matter for the highest ranks first, equal ones in a secret order.
    pub fn take_deciding(&mut self, max: usize, secret_order: impl Fn(u64) -> u64) -> Vec<SingleResult> {
        let single = std::mem::take(&mut self.single);
        if self.is_full || max == 0 {
            return Vec::new();
        }
        let gaps = self.gaps();
        let rank_of: BTreeMap<u32, usize> =
            gaps.iter().enumerate().map(|(rank, (entrant, _))| (*entrant, rank)).collect();
        // A drawn match could have been won: it counts as much as the most decisive one.
        let max_swing = single.iter().map(SingleResult::swing).fold(0.0, f64::max);
        let decided_rank = |one: &SingleResult| {
            // A false result moves the entrant by up to the swing, and its neighbour too if it played the same match.
            let is_close = |rank: usize| gaps.get(rank).is_some_and(|(_, gap)| *gap <= 2.0 * max_swing);
            let ranks = one
                .points
                .iter()
                .filter_map(|(entrant, _)| rank_of.get(entrant).copied().filter(|rank| is_close(*rank)));
            ranks.min()
        };
        let mut deciding: Vec<(usize, u64, SingleResult)> = single
            .into_iter()
            .filter_map(|one| Some((decided_rank(&one)?, secret_order(one.number), one)))
            .collect();
        deciding.sort_by_key(|(rank, secret, _)| (*rank, *secret));
        deciding.truncate(max);
        deciding.into_iter().map(|(_, _, one)| one).collect()
    }

    /// Entrants in the order of their points, each with the distance to its nearest neighbour.
    fn gaps(&self) -> Vec<(u32, f64)> {
        let mut order: Vec<(u32, f64)> =
            self.totals.iter().map(|(entrant, points)| (*entrant, *points)).collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1));
        let gap = |rank: usize| {
            let to = |other: Option<usize>| {
                other
                    .and_then(|other| order.get(other))
                    .map_or(f64::MAX, |(_, points)| (points - order[rank].1).abs())
            };
            (order[rank].0, to(rank.checked_sub(1)).min(to(rank.checked_add(1))))
        };
        (0..order.len()).map(gap).collect()
    }
}

/// Maximum number of checks at the end of a stage with this number of matches that lasted this long, if a match takes this time.
pub fn max_checks(share: f64, matches: u64, stage: Duration, match_seconds: f64, cores: u64) -> usize {
    let wanted = (share * matches as f64).ceil() as usize;
    let allowance = stage.mul_f64(ALLOWED_SHARE).max(MIN_ALLOWANCE).as_secs_f64();
    let affordable = (allowance / match_seconds.max(1e-6)) as usize * cores as usize;
    wanted.min(affordable).min(MAX_CHECKS)
}

/// Position of a match in an order that workers cannot predict.
pub fn secret_order(salt: &[u8; 32], key: MatchKey) -> u64 {
    super::cross_check::secret_number(salt, b"rank", key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(number: u64, points: &[(u32, f64)]) -> SingleResult {
        SingleResult { number, worker: "a".to_owned(), digest: [0; 32], points: points.to_vec() }
    }

    #[test]
    fn take_deciding_prefers_matches_of_close_neighbours_at_the_top() {
        let mut checks = RankChecks::default();
        // 1 and 2 are two points apart, 3 is far behind, 4 and 5 are equal.
        checks.add(result(0, &[(1, 100.0)]), true);
        checks.add(result(1, &[(2, 98.0)]), true);
        checks.add(result(2, &[(3, 50.0)]), true);
        checks.add(result(3, &[(4, 10.0), (5, 10.0)]), true);
        checks.add(result(10, &[(3, 1.0), (9, 0.0)]), false);
        checks.add(result(11, &[(4, 1.0), (5, 0.0)]), false);
        checks.add(result(12, &[(2, 1.0), (9, 0.0)]), false);
        checks.add(result(13, &[(1, 1.0), (3, 0.0)]), false);
        let numbers = |max| -> Vec<u64> {
            let mut checks = checks.clone();
            checks.take_deciding(max, |number| number).iter().map(|one| one.number).collect()
        };
        assert_eq!(numbers(10), [13, 12, 11], "the matches of 3 and 9 decide nothing");
        assert_eq!(numbers(1), [13]);
        assert_eq!(numbers(0), [0; 0]);
    }

    #[test]
    fn totals_count_the_stages_before() {
        let mut checks = RankChecks::default();
        checks.add(result(0, &[(1, 100.0)]), false);
        checks.add(result(1, &[(2, 50.0)]), false);
        let mut checks = checks.next_stage();
        checks.add(result(0, &[(1, 1.0), (2, 0.0)]), false);
        assert_eq!(checks.take_deciding(9, |number| number), [], "51 points apart");
    }

    #[test]
    fn max_checks_is_limited_by_the_share_and_the_time() {
        let minute = Duration::from_mins(1);
        assert_eq!(max_checks(0.02, 2400, minute, 0.005, 2), 48);
        assert_eq!(max_checks(0.0, 2400, minute, 0.005, 2), 0);
        assert_eq!(max_checks(0.02, 6, Duration::from_secs(1), 0.01, 2), 1);
        assert_eq!(
            max_checks(0.02, 6, Duration::from_secs(30), 10.0, 2),
            0,
            "one match would take ten seconds"
        );
        assert_eq!(max_checks(1.0, 1_000_000, Duration::from_hours(9), 0.01, 2), MAX_CHECKS);
    }
}
