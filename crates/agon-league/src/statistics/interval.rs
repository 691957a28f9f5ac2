//! A mean with its 95 % interval.
//!
//! It is the bootstrap interval over games (bias-corrected and accelerated), computed instead of sampled. The mean of a resample has
//! known cumulants, and the Cornish-Fisher quantiles from them are those of infinitely many resamples. So there is no seed and no
//! noise, and a table of thousands takes milliseconds. A test compares it with sampled intervals.

use serde::Serialize;

use super::quantile::student_quantile;
use crate::tally::ScoreMoments;

/// Confidence level of all intervals.
pub const CONFIDENCE_LEVEL: f64 = 0.95;

/// A confidence interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct ConfidenceInterval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Estimate of a mean.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MeanEstimate {
    /// The sample mean.
    pub mean: f64,
    /// Number of independent values.
    pub count: f64,
    /// Standard error; infinite for fewer than two values.
    pub error: f64,
    /// Skewness of the mean.
    pub skew: f64,
    /// Excess kurtosis of the mean.
    pub excess: f64,
    /// Smallest and largest value of any entrant; no mean lies outside.
    pub range: (f64, f64),
}

/// Number of extra games with the variance of the whole field, so that identical results do not give a zero interval.
const PRIOR_GAMES: f64 = 2.0;

/// Largest quantile at which the expansion is evaluated: Student's for three values. The one for two values is 12.7, where the cubic terms
/// exceed the linear one and move an end to the wrong side of the mean.
const MAX_EXPANSION_QUANTILE: f64 = 4.31;

/// Range if the bounds of the values are unknown.
const UNBOUNDED: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

impl MeanEstimate {
    /// Estimate from these moments. `pooled` is the variance in the whole field. `variance` is that of these values, which may be smaller
    /// than the moments show.
    pub fn from_score_moments(moments: &ScoreMoments, variance: f64, pooled: f64) -> Self {
        let (n, mean) = (moments.count as f64, moments.mean());
        let unit = crate::FixedPoint::ONE as f64;
        let (mut two, mut three, mut four) = (0.0, 0.0, 0.0);
        for (value, count) in moments.histogram.bins() {
            let (off, count) = (value / unit - mean, count as f64);
            two += count * off.powi(2);
            three += count * off.powi(3);
            four += count * off.powi(4);
        }
        Self::from_moments(n, mean, [variance, two / n, three / n, four / n], pooled)
    }

    /// Estimate from the influence of each independent value on the mean.
    pub fn from_influences(mean: f64, influences: &[f64], pooled: f64) -> Self {
        let n = influences.len() as f64;
        let moment = |power| influences.iter().map(|x| (x * n).powi(power)).sum::<f64>() / n;
        let variance = if n < 2.0 { 0.0 } else { moment(2) * n / (n - 1.0) };
        Self::from_moments(n, mean, [variance, moment(2), moment(3), moment(4)], pooled)
    }

    fn from_moments(n: f64, mean: f64, [variance, two, three, four]: [f64; 4], pooled: f64) -> Self {
        if n < 2.0 {
            return Self { mean, count: n, error: f64::INFINITY, skew: 0.0, excess: 0.0, range: UNBOUNDED };
        }
        let variance = ((n - 1.0) * variance + PRIOR_GAMES * pooled) / (n - 1.0 + PRIOR_GAMES);
        // Rounding errors of identical values have no meaningful shape.
        let shaped = two > 1e-9 * mean.abs().max(1e-3).powi(2);
        let (skew, excess) =
            if shaped { (three / two.powf(1.5), four / two.powi(2) - 3.0) } else { (0.0, 0.0) };
        let error = (variance / n).sqrt();
        Self { mean, count: n, error, skew: skew / n.sqrt(), excess: excess / n, range: UNBOUNDED }
    }

    /// The 95 % interval, which contains the mean; `None` if the error is infinite.
    pub fn interval(&self) -> Option<ConfidenceInterval> {
        if !self.error.is_finite() {
            return None;
        }
        let t = student_quantile(1.0 - CONFIDENCE_LEVEL, self.count - 1.0);
        let (least, most) = self.range;
        let end = |t: f64| (self.mean + self.error * self.bootstrap_end(t)).min(most).max(least);
        Some(ConfidenceInterval { low: end(-t).min(self.mean), high: end(t).max(self.mean) })
    }

    /// Interval end for a normal quantile `z`, in standard errors: corrected for bias and acceleration, then read from the bootstrap
    /// distribution. Beyond the largest quantile of the expansion it grows in proportion to `z`.
    fn bootstrap_end(&self, z: f64) -> f64 {
        let inner = z.clamp(-MAX_EXPANSION_QUANTILE, MAX_EXPANSION_QUANTILE);
        z / inner * self.expansion(inner)
    }

    /// Cornish-Fisher expansion of the corrected quantile `z`.
    fn expansion(&self, z: f64) -> f64 {
        // The expansion is not valid beyond these limits (few games, very skewed).
        let skew = self.skew.clamp(-0.6, 0.6);
        let excess = self.excess.clamp(-0.5, 1.0);
        let a = skew / 6.0;
        let w = a + (a + z) / (1.0 - a * (a + z));
        w + a * (w * w - 1.0) + excess / 24.0 * (w.powi(3) - 3.0 * w) - a * a * (2.0 * w.powi(3) - 5.0 * w)
    }
}

#[cfg(test)]
mod tests {
    use agon_core::random::FastRng;
    use proptest::prelude::*;

    use super::*;
    use crate::FixedPoint;
    use crate::tally::Tally;

    fn moments_of(values: &[f64]) -> ScoreMoments {
        let mut tally = Tally::default();
        for &x in values {
            tally.add(&crate::simulated::match_of(&[(0, x)], &[]));
        }
        tally.of(crate::Entrant(0)).unwrap().score.clone()
    }

    /// The same corrected quantiles from sampled resamples.
    fn sampled_interval(values: &[f64], draws: usize) -> ConfidenceInterval {
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
        let mut rng = FastRng::new(5);
        let mut means: Vec<f64> = (0..draws)
            .map(|_| (0..n).map(|_| values[rng.below(n as u32) as usize]).sum::<f64>() / n as f64)
            .collect();
        means.sort_by(f64::total_cmp);
        let below = means.iter().filter(|&&m| m < mean).count() as f64
            + 0.5 * means.iter().filter(|&&m| (m - mean).abs() < 1e-12).count() as f64;
        let z0 = super::super::normal_quantile(below / draws as f64);
        let power = |k| values.iter().map(|x| (x - mean).powi(k)).sum::<f64>();
        let a = power(3) / (6.0 * power(2).powf(1.5));
        let end = |z: f64| {
            let w = z0 + (z0 + z) / (1.0 - a * (z0 + z));
            means[((super::super::normal_cdf(w) * draws as f64) as usize).min(draws - 1)]
        };
        ConfidenceInterval { low: end(-1.96), high: end(1.96) }
    }

    #[test]
    fn computed_bootstrap_matches_sampled_bootstrap() {
        let mut rng = FastRng::new(3);
        let lopsided: Vec<f64> = (0..60).map(|_| (-100.0 * (1.0 - rng.unit()).ln()).ceil()).collect();
        let two: Vec<f64> = (0..100).map(|n| if n % 10 == 0 { 3.0 } else { 0.0 }).collect();
        for values in [lopsided, two] {
            let moments = moments_of(&values);
            let estimate = MeanEstimate::from_score_moments(&moments, moments.variance(), moments.variance());
            let (ours, theirs) = (estimate.interval().unwrap(), sampled_interval(&values, 20_000));
            let width = theirs.high - theirs.low;
            // The computed interval is wider by Student's quantile and n / (n - 1): 3 % at 60 games.
            for (a, b) in [(ours.low, theirs.low), (ours.high, theirs.high)] {
                assert!((a - b).abs() < 0.06 * width, "{ours:?}, sampled {theirs:?}");
            }
        }
    }

    #[test]
    fn identical_games_give_a_nonzero_interval() {
        let moments = moments_of(&[3.0; 10]);
        let interval =
            MeanEstimate::from_score_moments(&moments, moments.variance(), 2.0).interval().unwrap();
        assert!(interval.low < 2.7 && interval.low > 1.5, "{interval:?}");
        assert_eq!(MeanEstimate::from_score_moments(&moments_of(&[3.0]), 0.0, 2.0).interval(), None);
        assert_eq!(moments.sum, 30 * i128::from(FixedPoint::ONE));
    }

    #[test]
    fn interval_of_two_games_is_not_reversed() {
        let moments = moments_of(&[3.0, 5.4]);
        let estimate = MeanEstimate::from_score_moments(&moments, moments.variance(), moments.variance());
        let interval = estimate.interval().unwrap();
        assert!(interval.low < 4.0 && interval.high > 4.4, "{interval:?}");
    }

    proptest! {
        #[test]
        fn interval_of_any_shape_contains_the_mean(
            count in 2u32..200,
            (mean, error) in (-1e3..1e3f64, 0.0..1e3f64),
            (skew, excess) in (-3.0..3.0f64, -3.0..10.0f64),
            (below, above) in (0.0..1e3f64, 0.0..1e3f64),
        ) {
            let range = (mean - below, mean + above);
            let estimate = MeanEstimate { mean, count: f64::from(count), error, skew, excess, range };
            for estimate in [estimate, MeanEstimate { range: UNBOUNDED, ..estimate }] {
                let interval = estimate.interval().unwrap();
                prop_assert!(interval.low <= mean && mean <= interval.high, "{interval:?} of {estimate:?}");
            }
        }

        #[test]
        fn interval_of_any_games_contains_the_mean(
            values in prop::collection::vec(-100i32..100, 2..40),
            pooled in 0.0..100.0f64,
        ) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let moments = moments_of(&values);
            let (n, mean) = (values.len() as f64, moments.mean());
            let influences: Vec<f64> = values.iter().map(|x| (x - mean) / n).collect();
            let estimates = [
                MeanEstimate::from_score_moments(&moments, moments.variance(), pooled),
                MeanEstimate::from_influences(mean, &influences, pooled),
            ];
            for estimate in estimates {
                let (interval, error) = (estimate.interval().unwrap(), estimate.error);
                // Each end is on its side of the mean, and not close to it.
                let both_sides = interval.low <= mean - error && mean + error <= interval.high;
                prop_assert!(both_sides, "{interval:?} of {estimate:?}");
            }
        }
    }
}
