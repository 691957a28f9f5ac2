//! Entrants compared by one mean, and whether the order of neighbours is settled.

use super::interval::MeanEstimate;
use super::quantile::student_quantile;
use crate::result::{Entrant, FixedPoint};
use crate::tally::{EntrantTotals, ScoreMoments, Tally};

/// The mean that decides the ranking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RankingMean {
    /// Score per game.
    Score,
    /// Points per match if given, else score per game.
    Points,
}

/// Certainty of the order of two table neighbours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NeighbourOrder {
    /// A repetition would almost certainly give the same order.
    Settled,
    /// A repetition might give another order.
    Open,
}

/// Means of the entrants that are compared with each other.
pub struct RankedMeans<'t> {
    tally: &'t Tally,
    ranking_mean: RankingMean,
    entrants: Vec<Entrant>,
    estimates: Vec<MeanEstimate>,
    /// Influence of each seed on the mean, if scores are kept by seed.
    influences: Vec<Vec<(u64, f64)>>,
}

/// Minimum games per opponent for separating opponent strength from chance.
const MIN_GAMES_PER_OPPONENT: u64 = 2;

impl<'t> RankedMeans<'t> {
    /// Means of these entrants; skips those that have not played.
    pub fn new(tally: &'t Tally, ranking_mean: RankingMean, entrants: &[Entrant]) -> Self {
        let entrants: Vec<Entrant> = entrants.iter().copied().filter(|&e| tally.of(e).is_some()).collect();
        let totals: Vec<&EntrantTotals> = entrants.iter().filter_map(|&entrant| tally.of(entrant)).collect();
        let pooled = pooled_variance(totals.iter().map(|totals| ranking_mean.moments(totals)));
        let adjustment = OpponentAdjustment::of(tally, ranking_mean);
        let mut influences = Vec::new();
        let range = score_range(totals.iter().map(|totals| ranking_mean.moments(totals)));
        let estimates = totals
            .iter()
            .zip(&entrants)
            .map(|(totals, &entrant)| {
                let moments = ranking_mean.moments(totals);
                if ranking_mean.uses_scores(totals) && totals.by_seed.len() > 1 {
                    let by_seed = seed_influences(totals);
                    let list: Vec<f64> = by_seed.iter().map(|&(_, x)| x).collect();
                    influences.push(by_seed);
                    return MeanEstimate {
                        range,
                        ..MeanEstimate::from_influences(moments.mean(), &list, pooled)
                    };
                }
                influences.push(Vec::new());
                MeanEstimate {
                    range,
                    ..MeanEstimate::from_score_moments(moments, adjustment.variance(entrant, moments), pooled)
                }
            })
            .collect();
        Self { tally, ranking_mean, entrants, estimates, influences }
    }

    fn index_of(&self, entrant: Entrant) -> Option<usize> {
        self.entrants.iter().position(|&e| e == entrant)
    }

    /// Estimates of all entrants.
    pub fn estimates(&self) -> impl Iterator<Item = (Entrant, MeanEstimate)> {
        self.entrants.iter().copied().zip(self.estimates.iter().copied())
    }

    /// Standard error of the difference of two means. Common games are compared directly: common luck cancels, and points won from each
    /// other count twice.
    fn difference_error(&self, one: usize, other: usize) -> f64 {
        let (a, b) = (&self.estimates[one], &self.estimates[other]);
        let (left, right) = (&self.influences[one], &self.influences[other]);
        if !left.is_empty() && !right.is_empty() {
            return paired_error(left, right).max(0.25 * a.error.hypot(b.error));
        }
        let apart = a.error.powi(2) + b.error.powi(2);
        let together = self.covariance(one, other);
        // Keep some doubt: two entrants with nearly identical results would otherwise be separated by one game.
        (apart - 2.0 * together).max(0.01 * apart).sqrt()
    }

    fn covariance(&self, one: usize, other: usize) -> f64 {
        let (a, b) = (self.entrants[one], self.entrants[other]);
        let (Some(met), Some(totals_a), Some(totals_b)) =
            (self.tally.pairs().get(a, b), self.tally.of(a), self.tally.of(b))
        else {
            return 0.0;
        };
        if !self.ranking_mean.uses_scores(totals_a) {
            // Only sums of points are known; assume that one gets what the other does not.
            let share = f64::from(met.matches).powi(2) / (totals_a.matches * totals_b.matches).max(1) as f64;
            return -share.sqrt().min(1.0) * self.estimates[one].error * self.estimates[other].error;
        }
        if met.games < 2 {
            return 0.0;
        }
        let (m, unit) = (f64::from(met.games), FixedPoint::ONE as f64);
        let product = (met.score_a as f64 / unit) * (met.score_b as f64 / unit) / m;
        let each = (met.cross as f64 / 1e6 - product) / (m - 1.0);
        m * each / (totals_a.games as f64 * totals_b.games as f64)
    }

    /// For each entrant in `order`, whether the order to the next is settled. The error level is shared among all neighbours, so that at
    /// most 5 % of tables separate any equals.
    pub fn neighbour_orders(&self, order: &[Entrant]) -> Vec<NeighbourOrder> {
        let alpha = (1.0 - super::CONFIDENCE_LEVEL) / order.len().saturating_sub(1).max(1) as f64;
        let places: Vec<Option<usize>> = {
            let mut by_entrant = std::collections::HashMap::new();
            self.entrants.iter().enumerate().for_each(|(place, &e)| {
                by_entrant.insert(e, place);
            });
            order.iter().map(|e| by_entrant.get(e).copied()).collect()
        };
        places
            .windows(2)
            .map(|pair| match *pair {
                [Some(one), Some(other)] if self.differ(one, other, alpha) => NeighbourOrder::Settled,
                _ => NeighbourOrder::Open,
            })
            .collect()
    }

    fn differ(&self, one: usize, other: usize, alpha: f64) -> bool {
        let (a, b) = (&self.estimates[one], &self.estimates[other]);
        let error = self.difference_error(one, other);
        let freedom = a.count.min(b.count) - 1.0;
        error.is_finite() && (a.mean - b.mean).abs() > student_quantile(alpha, freedom) * error
    }

    /// Entrants in `order` whose order to a neighbour is open.
    pub fn open_entrants(&self, order: &[Entrant]) -> Vec<Entrant> {
        let settled = self.neighbour_orders(order);
        let is_open = |at: Option<usize>| at.and_then(|at| settled.get(at)) == Some(&NeighbourOrder::Open);
        let open =
            order.iter().enumerate().filter(|&(at, _)| is_open(Some(at)) || is_open(at.checked_sub(1)));
        open.map(|(_, &entrant)| entrant).collect()
    }

    /// Estimate of one entrant.
    pub fn estimate(&self, entrant: Entrant) -> Option<&MeanEstimate> {
        self.estimates.get(self.index_of(entrant)?)
    }
}

impl RankingMean {
    fn moments(self, totals: &EntrantTotals) -> &ScoreMoments {
        match self {
            Self::Score => &totals.score,
            Self::Points => totals.points_or_scores(),
        }
    }

    fn uses_scores(self, totals: &EntrantTotals) -> bool {
        self == Self::Score || totals.match_points.count == 0
    }
}

/// Typical variance of an entrant's values: the median of all, because in some games weak bots vary a thousand times as much as strong
/// ones. If no entrant's values vary, the variance of all values together.
fn pooled_variance<'s>(all_moments: impl Iterator<Item = &'s ScoreMoments>) -> f64 {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    let mut variances = Vec::new();
    for moments in all_moments {
        let (n, mean) = (moments.count as f64, moments.mean());
        count += n;
        sum += n * mean;
        squares += n * mean * mean;
        if moments.count > 1 && moments.variance() > 0.0 {
            variances.push(moments.variance());
        }
    }
    variances.sort_by(f64::total_cmp);
    match variances.get(variances.len() / 2) {
        Some(&middle) => middle,
        None if count > 1.0 => ((squares - sum * sum / count) / (count - 1.0)).max(0.0),
        None => 0.0,
    }
}

/// Smallest and largest of all values.
fn score_range<'s>(all_moments: impl Iterator<Item = &'s ScoreMoments>) -> (f64, f64) {
    let ends = all_moments.filter(|moments| moments.count > 0).map(|moments| (moments.min, moments.max));
    let (least, most) =
        ends.fold((i64::MAX, i64::MIN), |(least, most), (min, max)| (least.min(min), most.max(max)));
    (FixedPoint(least).to_f64(), FixedPoint(most).to_f64())
}

/// Influence of each seed on the mean score of an entrant. Seeds are the independent units: games on one seed share its luck.
fn seed_influences(totals: &EntrantTotals) -> Vec<(u64, f64)> {
    let (mean, games, unit) = (totals.score.mean(), totals.games as f64, FixedPoint::ONE as f64);
    let of = |(&seed, on_seed): (&u64, &crate::tally::SeedTotals)| {
        (seed, (on_seed.score as f64 / unit - on_seed.games as f64 * mean) / games)
    };
    totals.by_seed.iter().map(of).collect()
}

/// Standard error of the difference; both lists are sorted by seed. A seed that only one has played counts for that one alone.
fn paired_error(left: &[(u64, f64)], right: &[(u64, f64)]) -> f64 {
    let (mut i, mut j, mut sum, mut count) = (0, 0, 0.0_f64, 0.0_f64);
    while i < left.len() || j < right.len() {
        let seeds = (left.get(i).map(|x| x.0), right.get(j).map(|x| x.0));
        let (mut difference, seed) = (0.0, seeds.0.unwrap_or(u64::MAX).min(seeds.1.unwrap_or(u64::MAX)));
        if seeds.0 == Some(seed) {
            difference += left[i].1;
            i += 1;
        }
        if seeds.1 == Some(seed) {
            difference -= right[j].1;
            j += 1;
        }
        sum += difference * difference;
        count += 1.0;
    }
    if count < 2.0 { f64::INFINITY } else { (sum * count / (count - 1.0)).sqrt() }
}

/// In two-player games all meet the same opponents, so the differences between opponents are not random. This removes them from the
/// variance.
struct OpponentAdjustment {
    /// Per entrant: number of opponents, and the sum over them of (sum of scores)^2 / games.
    sums: Vec<(u64, f64)>,
}

impl OpponentAdjustment {
    fn of(tally: &Tally, ranking_mean: RankingMean) -> Self {
        let two_seats =
            tally.entrants().all(|(_, totals)| totals.seats.len() <= 2 && ranking_mean.uses_scores(totals));
        if !two_seats {
            return Self { sums: Vec::new() };
        }
        let entrants = tally.entrants().map(|(entrant, _)| entrant.index() + 1).max().unwrap_or_default();
        let mut sums = vec![(0, 0.0); entrants];
        for met in tally.pairs().sorted().filter(|met| met.games > 0) {
            for (entrant, score) in [(met.a, met.score_a), (met.b, met.score_b)] {
                if let Some((opponents, squares)) = sums.get_mut(entrant as usize) {
                    *opponents += 1;
                    *squares += (score as f64 / FixedPoint::ONE as f64).powi(2) / f64::from(met.games);
                }
            }
        }
        Self { sums }
    }

    fn variance(&self, entrant: Entrant, moments: &ScoreMoments) -> f64 {
        let all = moments.variance();
        match self.sums.get(entrant.index()) {
            Some(&(opponents, squares)) if moments.count >= MIN_GAMES_PER_OPPONENT * opponents + 10 => {
                let unit = FixedPoint::ONE as f64;
                let within = moments.squares as f64 / (unit * unit) - squares;
                (within / (moments.count - opponents) as f64).clamp(0.0, all)
            }
            _ => all,
        }
    }
}
