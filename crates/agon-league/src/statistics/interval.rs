//! A mean with its 95 % interval.
//!
//! The interval is that of the bootstrap over games (bias-corrected and accelerated), not drawn but computed: the mean of a resample has
//! known cumulants, and the quantiles that follow from them (Cornish and Fisher) are those of endlessly many resamples. So there is no
//! seed, no noise, and a table of thousands takes milliseconds. A test holds it against drawn resamples.

use serde::Serialize;

use super::quantile::student_quantile;
use crate::tally::ScoreMoments;

/// How sure the intervals are.
pub const LEVEL: f64 = 0.95;

/// From where to where.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// What is known of a mean.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MeanEstimate {
    /// The mean itself.
    pub mean: f64,
    /// How many independent numbers it is the mean of.
    pub count: f64,
    /// Its standard error; infinite for fewer than two numbers.
    pub error: f64,
    /// Its skewness.
    pub skew: f64,
    /// Its excess of kurtosis.
    pub excess: f64,
    /// The least and the greatest number anybody had: no mean lies outside.
    pub range: (f64, f64),
}

/// Somebody whose games were all alike is not certain: as if so many more games had the spread of the whole field.
const PRIOR_GAMES: f64 = 2.0;

/// Nothing is known about where numbers end.
const ANYWHERE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

impl MeanEstimate {
    /// Of numbers with this spread. `pooled` is the variance in the whole field, `variance` that of these numbers if they have less of
    /// their own than the spread shows.
    pub fn of(spread: &ScoreMoments, variance: f64, pooled: f64) -> Self {
        let (n, mean) = (spread.count as f64, spread.mean());
        let unit = crate::FixedPoint::ONE as f64;
        let (mut two, mut three, mut four) = (0.0, 0.0, 0.0);
        for (value, count) in spread.histogram.bins() {
            let (off, count) = (value / unit - mean, count as f64);
            two += count * off.powi(2);
            three += count * off.powi(3);
            four += count * off.powi(4);
        }
        Self::from_moments(n, mean, [variance, two / n, three / n, four / n], pooled)
    }

    /// Of numbers given one by one, each of which moves the mean by that much.
    pub fn of_moves(mean: f64, moves: &[f64], pooled: f64) -> Self {
        let n = moves.len() as f64;
        let moment = |power| moves.iter().map(|x| (x * n).powi(power)).sum::<f64>() / n;
        let variance = if n < 2.0 { 0.0 } else { moment(2) * n / (n - 1.0) };
        Self::from_moments(n, mean, [variance, moment(2), moment(3), moment(4)], pooled)
    }

    fn from_moments(n: f64, mean: f64, [variance, two, three, four]: [f64; 4], pooled: f64) -> Self {
        if n < 2.0 {
            return Self { mean, count: n, error: f64::INFINITY, skew: 0.0, excess: 0.0, range: ANYWHERE };
        }
        let variance = ((n - 1.0) * variance + PRIOR_GAMES * pooled) / (n - 1.0 + PRIOR_GAMES);
        // Rounding makes tiny differences out of none; they have no shape.
        let shaped = two > 1e-9 * mean.abs().max(1e-3).powi(2);
        let (skew, excess) =
            if shaped { (three / two.powf(1.5), four / two.powi(2) - 3.0) } else { (0.0, 0.0) };
        let error = (variance / n).sqrt();
        Self { mean, count: n, error, skew: skew / n.sqrt(), excess: excess / n, range: ANYWHERE }
    }

    /// The 95 % interval; `None` when nothing is known.
    pub fn interval(&self) -> Option<Interval> {
        if !self.error.is_finite() {
            return None;
        }
        let t = student_quantile(1.0 - LEVEL, self.count - 1.0);
        let (least, most) = self.range;
        let end = |t: f64| (self.mean + self.error * self.end(t)).min(most).max(least);
        Some(Interval { low: end(-t), high: end(t) })
    }

    /// The end for a normal quantile `z`, in standard errors: corrected for bias and acceleration, then read off the bootstrap distribution.
    fn end(&self, z: f64) -> f64 {
        // Beyond this the expansion says nothing any more; few games, very lopsided.
        let skew = self.skew.clamp(-0.6, 0.6);
        let excess = self.excess.clamp(-0.5, 1.0);
        let a = skew / 6.0;
        let w = a + (a + z) / (1.0 - a * (a + z));
        w + a * (w * w - 1.0) + excess / 24.0 * (w.powi(3) - 3.0 * w) - a * a * (2.0 * w.powi(3) - 5.0 * w)
    }
}

#[cfg(test)]
mod tests {
    use agon_core::random::QuickRng;

    use super::*;
    use crate::FixedPoint;
    use crate::tally::Tally;

    fn spread(values: &[f64]) -> ScoreMoments {
        let mut tally = Tally::default();
        for &x in values {
            tally.add(&crate::simulated::match_of(&[(0, x)], &[]));
        }
        tally.of(crate::Entrant(0)).unwrap().score.clone()
    }

    /// Draws resamples and takes the same corrected quantiles of their means.
    fn drawn(values: &[f64], draws: usize) -> Interval {
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
        let mut rng = QuickRng::new(5);
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
            means[((super::super::normal(w) * draws as f64) as usize).min(draws - 1)]
        };
        Interval { low: end(-1.96), high: end(1.96) }
    }

    #[test]
    fn the_computed_bootstrap_is_the_drawn_one() {
        let mut rng = QuickRng::new(3);
        let lopsided: Vec<f64> = (0..60).map(|_| (-100.0 * (1.0 - rng.unit()).ln()).ceil()).collect();
        let two: Vec<f64> = (0..100).map(|n| if n % 10 == 0 { 3.0 } else { 0.0 }).collect();
        for values in [lopsided, two] {
            let spread = spread(&values);
            let known = MeanEstimate::of(&spread, spread.variance(), spread.variance());
            let (ours, theirs) = (known.interval().unwrap(), drawn(&values, 20_000));
            let width = theirs.high - theirs.low;
            // Ours is wider by Student's quantile and n / (n - 1): 3 % at 60 games.
            for (a, b) in [(ours.low, theirs.low), (ours.high, theirs.high)] {
                assert!((a - b).abs() < 0.06 * width, "{ours:?}, drawn {theirs:?}");
            }
        }
    }

    #[test]
    fn games_that_are_all_alike_leave_doubt() {
        let spread = spread(&[3.0; 10]);
        let interval = MeanEstimate::of(&spread, spread.variance(), 2.0).interval().unwrap();
        assert!(interval.low < 2.7 && interval.low > 1.5, "{interval:?}");
        assert_eq!(MeanEstimate::of(&self::spread(&[3.0]), 0.0, 2.0).interval(), None);
        assert_eq!(spread.sum, 30 * i128::from(FixedPoint::ONE));
    }
}
