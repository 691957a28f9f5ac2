//! NEW against OLD: pairs of games (or of matches) with sides swapped, tested in Elo.
//!
//! NEW gets one of a few shares of the points of a pair: `0, ¼, ½, ¾, 1` (the five outcomes of the *pentanomial* model) if each side plays
//! one game. The test counts pairs, not games, because the two games of a pair share a seed and are not independent.
//!
//! # The exact likelihood ratio
//!
//! Of all distributions over the shares `a_i` with mean `s`, the most likely after `n_i` pairs with outcome i is
//!
//! `p_i = n_i / (n (1 + t (a_i - s)))`, with `t` the root of `sum n_i (a_i - s) / (1 + t (a_i - s)) = 0`
//!
//! (one dimension, decreasing: Newton's method with brackets). Outcomes that have not occurred need no pseudo-counts. They get
//! probability only if the mean cannot be reached otherwise. Then the farthest outcome (0 or 1) gets all of it, `t` is at the end of its
//! range, and the formula for `p_i` still holds. After `n` wins of both games, for example, the most likely distribution with mean `s`
//! wins with probability `s`, and the ratio is `(s1 / s0)^n`.
//!
//! The interval of the estimate and the likelihood of superiority use the same likelihood, so they also hold for one-sided results.

use super::{
    BoundedWalk, IntervalEstimate, TestParams, TestStatus, TestVerdict, Z_95, elo_of_score, evidence,
    normal_cdf, score_of_elo,
};

/// Number of pairs by the points NEW got from them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwappedPairsTest {
    counts: Vec<u64>,
}

impl SwappedPairsTest {
    /// For pairs in which each side plays `games` games, each won, drawn or lost.
    pub fn new(games: u32) -> Self {
        Self { counts: vec![0; 4 * games.max(1) as usize + 1] }
    }

    /// Adds a pair from which NEW got this many half points.
    pub fn push(&mut self, half_points: usize) {
        let last = self.counts.len() - 1;
        self.counts[half_points.min(last)] += 1;
    }

    /// Number of pairs by NEW's half points, from none to all.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// State of the test.
    pub fn status(&self, params: &TestParams) -> TestStatus {
        let outcomes = self.outcomes();
        let llr = outcomes.llr(params);
        let superior = if outcomes.n > 0.0 { normal_cdf(outcomes.signed_root(0.5)) } else { 0.5 };
        let variance = if outcomes.n > 0.0 { outcomes.walk(params).variance } else { 0.0 };
        params.status(self.counts.iter().sum(), llr, self.verdict(params), superior, variance)
    }

    /// Verdict so far: by the log-likelihood ratio, or by overwhelming evidence.
    pub fn verdict(&self, params: &TestParams) -> TestVerdict {
        match params.verdict(self.llr(params)) {
            TestVerdict::NotYet => evidence::verdict(&self.outcomes().seen, params),
            decided => decided,
        }
    }

    /// Log-likelihood ratio.
    pub fn llr(&self, params: &TestParams) -> f64 {
        self.outcomes().llr(params)
    }

    /// NEW's share of the points, with its 95 % interval.
    pub fn score(&self) -> IntervalEstimate {
        let outcomes = self.outcomes();
        if outcomes.n == 0.0 {
            return IntervalEstimate { best: 0.5, low: 0.0, high: 1.0 };
        }
        let best = outcomes.mean();
        IntervalEstimate {
            best,
            low: outcomes.interval_end(best, 0.0),
            high: outcomes.interval_end(best, 1.0),
        }
    }

    /// NEW's Elo relative to OLD, with its 95 % interval.
    pub fn elo(&self) -> IntervalEstimate {
        self.score().map(elo_of_score)
    }

    /// Walk of the log-likelihood ratio for pairs with these outcome probabilities, without simulation: mean and variance of
    /// `ln(p1_i / p0_i)`, where `p0` and `p1` are the distributions closest to the truth under either hypothesis.
    pub fn expected_walk(params: &TestParams, chances: &[f64]) -> BoundedWalk {
        PairOutcomes::new(chances.iter().copied()).walk(params)
    }

    fn outcomes(&self) -> PairOutcomes {
        PairOutcomes::new(self.counts.iter().map(|n| *n as f64))
    }
}

/// Outcomes that occurred: share of the points, and count.
struct PairOutcomes {
    seen: Vec<(f64, f64)>,
    n: f64,
}

impl PairOutcomes {
    fn new(counts: impl ExactSizeIterator<Item = f64>) -> Self {
        let last = (counts.len() - 1) as f64;
        let seen: Vec<(f64, f64)> =
            counts.enumerate().map(|(i, n)| (i as f64 / last, n)).filter(|(_, n)| *n > 0.0).collect();
        let n = seen.iter().map(|(_, n)| n).sum();
        Self { seen, n }
    }

    fn mean(&self) -> f64 {
        self.seen.iter().map(|(a, n)| a * n).sum::<f64>() / self.n
    }

    /// `t` of the most likely distribution with mean `s`.
    fn tilt(&self, s: f64) -> f64 {
        let slope = |t: f64| {
            let mut sums = (0.0, 0.0);
            for (a, n) in &self.seen {
                let x = a - s;
                let share = x / (1.0 + t * x);
                sums.0 += n * share;
                sums.1 -= n * share * share;
            }
            sums
        };
        // In this range no outcome has a negative probability.
        let (mut low, mut high) = (-1.0 / (1.0 - s), 1.0 / s);
        let seen = |share: f64| self.seen.iter().any(|(a, _)| (a - share).abs() < f64::EPSILON);
        if !seen(0.0) && slope(high).0 >= 0.0 {
            return high;
        }
        if !seen(1.0) && slope(low).0 <= 0.0 {
            return low;
        }
        let mut t = 0.0;
        for _ in 0..100 {
            let (value, derivative) = slope(t);
            if value > 0.0 {
                low = t;
            } else {
                high = t;
            }
            let next = t - value / derivative;
            let next = if low < next && next < high { next } else { f64::midpoint(low, high) };
            if (next - t).abs() <= 1e-13 * (1.0 + t.abs()) {
                return next;
            }
            t = next;
        }
        t
    }

    /// Log-likelihood lost by assuming mean `s` instead of the best fit; 0 at the observed mean.
    fn log_likelihood_loss(&self, s: f64) -> f64 {
        let t = self.tilt(s);
        self.seen.iter().map(|(a, n)| n * (t * (a - s)).ln_1p()).sum()
    }

    fn llr(&self, params: &TestParams) -> f64 {
        if self.n == 0.0 {
            return 0.0;
        }
        self.log_likelihood_loss(score_of_elo(params.elo0))
            - self.log_likelihood_loss(score_of_elo(params.elo1))
    }

    /// Signed root of the likelihood ratio: nearly standard normal if `s` is the true mean.
    fn signed_root(&self, s: f64) -> f64 {
        let root = (2.0 * self.log_likelihood_loss(s)).max(0.0).sqrt();
        if self.mean() >= s { root } else { -root }
    }

    /// Point between `best` and `far` at which the likelihood ratio reaches the 95 % quantile of chi-square with one degree of freedom.
    fn interval_end(&self, best: f64, far: f64) -> f64 {
        let (mut inside, mut outside) = (best, far);
        for _ in 0..60 {
            let middle = f64::midpoint(inside, outside);
            if middle <= 0.0 || middle >= 1.0 {
                break;
            }
            if 2.0 * self.log_likelihood_loss(middle) <= Z_95 * Z_95 {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        inside
    }

    fn walk(&self, params: &TestParams) -> BoundedWalk {
        let (s0, s1) = (score_of_elo(params.elo0), score_of_elo(params.elo1));
        let (t0, t1) = (self.tilt(s0), self.tilt(s1));
        let step = |a: f64| (t0 * (a - s0)).ln_1p() - (t1 * (a - s1)).ln_1p();
        let drift = self.seen.iter().map(|(a, n)| n * step(*a)).sum::<f64>() / self.n;
        let variance = self.seen.iter().map(|(a, n)| n * (step(*a) - drift).powi(2)).sum::<f64>() / self.n;
        let (low, high) = params.bounds();
        BoundedWalk { drift, variance, low, high }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: TestParams = TestParams { elo0: 0.0, elo1: 10.0, alpha: 0.05, beta: 0.05 };

    fn of(counts: [u64; 5]) -> SwappedPairsTest {
        SwappedPairsTest { counts: counts.to_vec() }
    }

    #[test]
    fn tilted_distribution_has_the_given_mean_and_sums_to_one() {
        for counts in [[3, 10, 40, 12, 5], [1, 0, 0, 0, 9], [0, 4, 6, 0, 0], [7, 1, 0, 0, 0]] {
            let outcomes = of(counts).outcomes();
            for s in [0.1, 0.5, 0.514, 0.9] {
                let t = outcomes.tilt(s);
                let p = |(a, n): &(f64, f64)| n / (outcomes.n * (1.0 + t * (a - s)));
                let (mass, mean) =
                    outcomes.seen.iter().fold((0.0, 0.0), |(m, e), cell| (m + p(cell), e + p(cell) * cell.0));
                // The missing probability belongs to the first or last outcome, which has not occurred.
                let missing = 1.0 - mass;
                assert!(missing > -1e-9, "{counts:?} {s}: {mass}");
                let at_end = |share: f64| (mean + missing * share - s).abs() < 1e-9;
                assert!(missing.abs() < 1e-9 && at_end(0.0) || at_end(0.0) || at_end(1.0), "{counts:?} {s}");
            }
        }
    }

    /// Compares with a fine grid of distributions over three outcomes with the same mean.
    #[test]
    fn likelihood_loss_equals_the_best_on_a_grid() {
        let test = of([6, 0, 11, 0, 3]);
        let outcomes = test.outcomes();
        let own = -outcomes.log_likelihood_loss(0.55);
        let best = |n: f64, p: f64| if n > 0.0 { n * (p * outcomes.n / n).ln() } else { 0.0 };
        let mut tried = f64::NEG_INFINITY;
        for i in 1..100_000 {
            // Probabilities of no, half and all points with mean 0.55.
            let all = 0.55 * f64::from(i) / 100_000.0 + 0.1;
            let half = 2.0 * (0.55 - all);
            let nothing = 1.0 - all - half;
            if half > 0.0 && nothing > 0.0 {
                tried = f64::max(tried, best(6.0, nothing) + best(11.0, half) + best(3.0, all));
            }
        }
        assert!((own - tried).abs() < 1e-6, "{own} and {tried}");
    }

    #[test]
    fn llr_of_only_wins_or_only_losses_needs_no_pseudo_counts() {
        let (s0, s1) = (0.5f64, score_of_elo(10.0));
        assert!((of([0, 0, 0, 0, 40]).llr(&PARAMS) - 40.0 * (s1 / s0).ln()).abs() < 1e-9);
        assert!((of([40, 0, 0, 0, 0]).llr(&PARAMS) - 40.0 * ((1.0 - s1) / (1.0 - s0)).ln()).abs() < 1e-9);
        // A bot against itself: always one point each. The verdict is no.
        let drawn = of([0, 0, 200, 0, 0]).status(&PARAMS);
        assert_eq!(drawn.verdict, TestVerdict::No);
        assert!((drawn.superiority - 0.5).abs() < 1e-6);
    }

    #[test]
    fn llr_of_ordinary_results_is_close_to_the_normal_approximation() {
        let test = of([120, 480, 900, 520, 140]);
        let (n, s0, s1) = (2160.0, 0.5, score_of_elo(10.0));
        let outcomes = test.outcomes();
        let mean = outcomes.mean();
        let variance = outcomes.seen.iter().map(|(a, k)| k * (a - mean).powi(2)).sum::<f64>() / n;
        let normal = n * (s1 - s0) * (2.0 * mean - s0 - s1) / (2.0 * variance);
        assert!((test.llr(&PARAMS) - normal).abs() < 0.01, "{} {normal}", test.llr(&PARAMS));
        let (elo, half) = (test.elo(), Z_95 * (variance / n).sqrt());
        assert!((elo.low - elo_of_score(mean - half)).abs() < 0.1, "{elo:?}");
        assert!((elo.high - elo_of_score(mean + half)).abs() < 0.1, "{elo:?}");
    }

    #[test]
    fn elo_without_pairs_or_with_only_wins_is_infinite() {
        assert_eq!(SwappedPairsTest::new(1).llr(&PARAMS).to_bits(), 0.0f64.to_bits());
        assert!(SwappedPairsTest::new(1).elo().low.is_infinite());
        let elo = of([0, 0, 0, 0, 20]).elo();
        assert!(
            elo.best.is_infinite() && elo.high.is_infinite() && (200.0..500.0).contains(&elo.low),
            "{elo:?}"
        );
        // A match of three games per side has 13 outcomes.
        assert_eq!(SwappedPairsTest::new(3).counts().len(), 13);
    }
}
