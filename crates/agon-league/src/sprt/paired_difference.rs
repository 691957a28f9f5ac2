//! NEW and OLD on the same seat, in the same field, on the same seed: a test of the score differences.
//!
//! Scores may be points, shares or steps, so effects are measured in standard deviations of the difference of a pair: is its mean at
//! most `d0` or at least `d1` standard deviations? One standard deviation is `800 / ln 10 = 347` *normalised Elo*.
//!
//! # The test, and why this one
//!
//! A generalised probability ratio test like the one for swapped pairs: the same bounds and verdicts, and a known expected number of
//! pairs. For differences `x` with mean `d u` and standard deviation `u`, the most likely `u` under either hypothesis has a closed form.
//! Let `r` be the mean divided by the root mean square of the differences so far (between -1 and 1). Then
//!
//! `llr = n (g(d1) - g(d0))`, `g(d) = ln w - w²/2 + d r w - d²/2`, `w = (d r + sqrt(d² r² + 4)) / 2`
//!
//! For small effects this is `n (d1 - d0) (r - (d0 + d1) / 2)`. The central limit theorem gives the distribution of that sum for any
//! differences (many zero, a few large), so the test works for steps until a catch as well as for points. A single extreme game never
//! decides: if all other differences are zero, it contributes at most ½.
//!
//! Skewed differences (slightly better in most games, much worse in a few) make the mean look more certain on one side than it is: with
//! exponential differences one *yes* in 13 would be wrong. So the ratio is computed a second time with the third-order term `g e³ / 3`
//! of the empirical likelihood, which assumes no distribution (skewness `g`, hypothesis `e` standard deviations from the mean). The more
//! cautious of the two counts. Without skew they are equal. A small error remains if a few dozen pairs decide: at an effect of 0.3
//! standard deviations, 5.4 % of the yes verdicts on exponential differences are wrong.
//!
//! A betting or mixture confidence sequence would need no approximation for bounded scores. It was rejected: it must allow for the
//! largest possible difference (4,000 steps, where most pairs differ by a few), so it needs more games, and its *no* is not symmetric to
//! its *yes*.

use super::{
    BoundedWalk, IntervalEstimate, TestParams, TestStatus, TestVerdict, Z_95, effect_of_elo, elo_of_effect,
    normal_cdf,
};

/// Maximum of skewness times distance that is used.
const MAX_SKEW: f64 = 0.6;

/// Running moments of the score differences.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PairedDifferenceTest {
    pairs: u64,
    mean: f64,
    squares: f64,
    cubes: f64,
    better: u64,
    worse: u64,
}

impl PairedDifferenceTest {
    /// Adds a pair: NEW's score minus OLD's, or the negative if lower is better (Welford's method).
    pub fn push(&mut self, difference: f64) {
        self.pairs += 1;
        let n = self.pairs as f64;
        let from_mean = difference - self.mean;
        let part = from_mean / n;
        let square = from_mean * part * (n - 1.0);
        self.cubes += square * part * (n - 2.0) - 3.0 * part * self.squares;
        self.squares += square;
        self.mean += part;
        self.better += u64::from(difference > 0.0);
        self.worse += u64::from(difference < 0.0);
    }

    /// Number of pairs in which NEW did better, equally well, and worse.
    pub const fn counts(&self) -> [u64; 3] {
        [self.better, self.pairs - self.better - self.worse, self.worse]
    }

    /// State of the test.
    pub fn status(&self, params: &TestParams) -> TestStatus {
        let (d0, d1) = effects(params);
        let superior = normal_cdf((self.pairs as f64).sqrt() * self.mean_over_rms());
        params.status(self.pairs, self.llr(params), self.verdict(params), superior, (d1 - d0).powi(2))
    }

    /// Verdict so far.
    pub fn verdict(&self, params: &TestParams) -> TestVerdict {
        params.verdict(self.llr(params))
    }

    /// Log-likelihood ratio: the more cautious of the ratios with and without skew.
    pub fn llr(&self, params: &TestParams) -> f64 {
        let (plain, skewed) = self.plain_and_skewed_llr(params);
        if plain > 0.0 { plain.min(skewed.max(0.0)) } else { plain.max(skewed.min(0.0)) }
    }

    fn plain_and_skewed_llr(&self, params: &TestParams) -> (f64, f64) {
        if self.pairs == 0 {
            return (0.0, 0.0);
        }
        let (d0, d1) = effects(params);
        let (n, r) = (self.pairs as f64, self.mean_over_rms());
        let plain = n * (log_likelihood(d1, r) - log_likelihood(d0, r));
        (plain, plain + n * (self.skew_penalty(d0) - self.skew_penalty(d1)))
    }

    /// Mean difference with its 95 % interval (Student's t), in units of the score.
    pub fn difference(&self) -> IntervalEstimate {
        let n = self.pairs as f64;
        let half = if self.pairs < 5 {
            f64::INFINITY
        } else {
            let freedom = n - 1.0;
            let z3 = Z_95.powi(3);
            // First terms of the expansion of Student's quantile around the normal one.
            let student = Z_95
                + (z3 + Z_95) / (4.0 * freedom)
                + (5.0 * Z_95.powi(5) + 16.0 * z3 + 3.0 * Z_95) / (96.0 * freedom * freedom);
            student * self.standard_deviation() / n.sqrt()
        };
        IntervalEstimate { best: self.mean, low: self.mean - half, high: self.mean + half }
    }

    /// Mean difference in normalised Elo, with its 95 % interval.
    pub fn elo(&self) -> IntervalEstimate {
        let spread = self.standard_deviation();
        self.difference().map(|x| if x == 0.0 { 0.0 } else { elo_of_effect(x / spread) })
    }

    /// Standard deviation of the differences.
    pub fn standard_deviation(&self) -> f64 {
        if self.pairs < 2 { 0.0 } else { (self.squares / (self.pairs - 1) as f64).sqrt() }
    }

    /// Walk of the log-likelihood ratio for normal differences with this effect, without simulation. The drift is the mean gain in likelihood.
    /// The variance is that of `d1 - d0` times a normal variable, plus the part of the estimated standard deviation.
    pub fn expected_walk(params: &TestParams, effect: f64) -> BoundedWalk {
        let (d0, d1) = effects(params);
        let r = effect / effect.hypot(1.0);
        let (low, high) = params.bounds();
        let variance = (d1 - d0).powi(2) * (1.0 + effect * effect / 2.0) / (1.0 + effect * effect).powi(3);
        BoundedWalk { drift: log_likelihood(d1, r) - log_likelihood(d0, r), variance, low, high }
    }

    /// Loss of log-likelihood per pair at effect `d` due to skew: the third-order term `g e³ / 3` of the empirical likelihood at `e` standard
    /// deviations from the mean. Limited to a fraction of the second-order term, because the expansion holds only near the mean.
    fn skew_penalty(&self, d: f64) -> f64 {
        let spread = (self.squares / self.pairs as f64).sqrt();
        if spread <= 0.0 {
            return 0.0;
        }
        let skew = self.cubes / (self.pairs as f64 * spread.powi(3));
        let away = self.mean / spread - d;
        let away = away / away.hypot(1.0);
        (skew * away).clamp(-MAX_SKEW, MAX_SKEW) * away * away / 3.0
    }

    /// Mean divided by root mean square; 0 if all differences are zero.
    fn mean_over_rms(&self) -> f64 {
        let whole = self.squares / self.pairs.max(1) as f64 + self.mean * self.mean;
        if whole > 0.0 { (self.mean / whole.sqrt()).clamp(-1.0, 1.0) } else { 0.0 }
    }
}

fn effects(params: &TestParams) -> (f64, f64) {
    (effect_of_elo(params.elo0), effect_of_elo(params.elo1))
}

/// Log-likelihood of one pair at effect `d` with the best-fitting standard deviation, up to a constant.
fn log_likelihood(d: f64, r: f64) -> f64 {
    let x = d * r;
    let w = f64::midpoint(x, (x * x + 4.0).sqrt());
    w.ln() - w * w / 2.0 + x * w - d * d / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sprt::TestVerdict;

    const PARAMS: TestParams = TestParams { elo0: 0.0, elo1: 35.0, alpha: 0.05, beta: 0.05 };

    fn of(differences: impl IntoIterator<Item = f64>) -> PairedDifferenceTest {
        let mut paired = PairedDifferenceTest::default();
        differences.into_iter().for_each(|x| paired.push(x));
        paired
    }

    /// Compares with the definition: the normal likelihood, maximised over the standard deviation on a grid.
    #[test]
    fn closed_form_llr_equals_the_maximum_on_a_grid() {
        let data = [3.0, -1.0, 0.0, 0.0, 4.0, 2.0, -2.0, 1.0, 0.0, 1.5];
        let best = |d: f64| {
            let at =
                |spread: f64| data.iter().map(|x| -spread.ln() - (x / spread - d).powi(2) / 2.0).sum::<f64>();
            (1..200_000).map(|i| at(f64::from(i) / 20_000.0)).fold(f64::NEG_INFINITY, f64::max)
        };
        let (d0, d1) = effects(&PARAMS);
        let (llr, _) = of(data).plain_and_skewed_llr(&PARAMS);
        assert!((llr - (best(d1) - best(d0))).abs() < 1e-6, "{llr}");
    }

    #[test]
    fn llr_and_elo_do_not_depend_on_the_unit() {
        let data = [3.0, -1.0, 0.0, 7.0, 4.0, 2.0, -2.0, 1.0];
        let (small, large) = (of(data), of(data.map(|x| 1000.0 * x)));
        assert!((small.llr(&PARAMS) - large.llr(&PARAMS)).abs() < 1e-9);
        assert!((small.elo().best - large.elo().best).abs() < 1e-6);
        assert_eq!(small.counts(), [5, 1, 2]);
    }

    #[test]
    fn verdict_is_no_for_equal_bots_and_yes_for_an_always_better_one() {
        let same = of([0.0; 700]).status(&PARAMS);
        assert_eq!(same.verdict, TestVerdict::No);
        assert!((same.superiority - 0.5).abs() < 1e-6);
        let always = of([2.0; 40]).status(&PARAMS);
        assert_eq!(always.verdict, TestVerdict::Yes);
        assert_eq!(of([2.0; 5]).status(&PARAMS).verdict, TestVerdict::NotYet);
        assert_eq!(of([]).llr(&PARAMS).to_bits(), 0.0f64.to_bits());
    }

    #[test]
    fn one_extreme_game_does_not_decide() {
        let mut wild = vec![0.0; 300];
        wild[150] = 1e9;
        assert_eq!(of(wild).status(&PARAMS).verdict, TestVerdict::NotYet);
    }

    /// Checks the running third moment, and that skewed differences weaken only the side they make look too certain.
    #[test]
    fn skew_makes_the_llr_more_cautious() {
        let data = [1.0, 1.0, 1.0, 2.0, 1.0, 1.0, -6.0, 1.0, 2.0, 1.0, 1.0, 1.0];
        let risky = of(data);
        let mean = data.iter().sum::<f64>() / 12.0;
        let cubes: f64 = data.iter().map(|x| (x - mean).powi(3)).sum();
        assert!((risky.cubes - cubes).abs() < 1e-9, "{} {cubes}", risky.cubes);
        let (plain, skewed) = risky.plain_and_skewed_llr(&PARAMS);
        assert!(0.0 < skewed && skewed < plain, "{skewed} {plain}");
        assert!((risky.llr(&PARAMS) - skewed).abs() < 1e-12);
        let mirrored = of(data.map(|x| -x));
        let (plain, skewed) = mirrored.plain_and_skewed_llr(&TestParams { elo0: -35.0, elo1: 0.0, ..PARAMS });
        assert!(plain < skewed && skewed < 0.0, "{skewed} {plain}");
    }

    #[test]
    fn difference_interval_uses_students_t() {
        let paired = of([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        let guess = paired.difference();
        assert!((guess.best - 5.0).abs() < 1e-12 && (guess.high - 6.7877).abs() < 0.02, "{guess:?}");
        assert!(of([1.0]).difference().high.is_infinite());
    }
}
