//! Is NEW better than OLD? Sequential tests that stop as soon as the result is clear, without I/O.
//!
//! Games come in pairs that differ only in the bot, so the luck of a seed helps both equally. There are two tests:
//!
//! - [`SwappedPairsTest`]: NEW and OLD meet twice on each seed, sides swapped. NEW gets one of a few scores from a pair (0, ½, 1, 1½, 2
//!   points). The hypotheses are in Elo.
//! - [`PairedDifferenceTest`]: NEW and OLD each play the same seat in the same field on the same seed. The test uses the difference of
//!   their scores, in units of its standard deviation.
//!
//! Both are generalised sequential probability ratio tests: after each pair, how much likelier are the results if NEW is better
//! by `elo1` than if by `elo0`? The rest of the distribution is unknown, so each hypothesis gets its best-fitting distribution (maximum
//! likelihood under the constraint). The log-likelihood ratio walks from 0 to one of two bounds.
//!
//! # Why these bounds
//!
//! Yes slightly above `ln(1 / alpha)`, no slightly below `ln(beta)`. If the lower hypothesis is true, the likelihood ratio has expectation
//! 1 at any time. So the probability that it *ever* reaches `1 / alpha` is at most `alpha` (Ville's inequality), whatever the stopping
//! time and overshoot. Wald's bounds `ln((1 - beta) / alpha)` are closer by 0.05 but limit only the sum of both errors. For a ratio of two
//! maxima this is not a theorem: the unknown parts are estimated from the same pairs, which makes the test slightly too bold with few
//! pairs. Over 20,000 runs, bounds at `ln(1 / alpha)` err in 4.3 to 5.0 % where 5 % are allowed. The bounds are therefore set for four
//! fifths of the allowed error (`ERROR_BUDGET`). That costs 7 % more games and errs in at most 4.1 %.
//!
//! Overshoot is not corrected. A correction would move the bounds inward by half a standard deviation of one pair (1 to 2 % of all games
//! at 10 Elo) and use up that margin.
//!
//! # Bots that are far apart
//!
//! [`SwappedPairsTest::verdict`] has a second rule for overwhelming evidence (module `evidence`): the ratio moves little per pair, so that
//! twenty lost games would not be a *no*. [`PairedDifferenceTest`] has no such rule: without bounds on the scores, ten worse pairs can be the
//! price of one that is much better.
//!
//! # Expected number of pairs
//!
//! [`BoundedWalk::mean_steps`]: Wald's identity with Siegmund's overshoot of 0.583 standard deviations at either bound.

mod evidence;
mod paired_difference;
mod random_walk;
mod swapped_pairs;

pub use paired_difference::PairedDifferenceTest;
pub use random_walk::BoundedWalk;
pub use swapped_pairs::SwappedPairsTest;

use serde::Serialize;

/// Two-sided 95 % quantile of the normal distribution.
const Z_95: f64 = 1.959_963_984_540_054;
/// Elo per standard deviation: `800 / ln 10`. Without draws a score of `½ + x` is about `x` times that in Elo; this extends it to any
/// kind of score.
const ELO_PER_DEVIATION: f64 = 347.435_585_522_601_4;
/// Share of the allowed error rates that the bounds use; see the module.
const ERROR_BUDGET: f64 = 0.8;
/// Minimum number of pairs for a forecast of the remaining ones.
const MIN_PAIRS_FOR_FORECAST: u64 = 10;

/// Hypotheses and allowed error rates of a test.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct TestParams {
    /// Lower hypothesis: if NEW is better by at most this, the verdict is no, except with probability `alpha`.
    pub elo0: f64,
    /// Upper hypothesis: if NEW is better by at least this, the verdict is yes, except with probability `beta`.
    pub elo1: f64,
    /// Probability of a false yes.
    pub alpha: f64,
    /// Probability of a false no.
    pub beta: f64,
}

/// Invalid test parameters.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum TestParamsError {
    /// `elo0` is not below `elo1`.
    #[error("elo0 ({0}) must be less than elo1 ({1})")]
    NotAscending(f64, f64),
    /// Too close to be distinguished by any number of games.
    #[error("elo0 ({0}) and elo1 ({1}) must be at least 0.01 apart")]
    TooClose(f64, f64),
    /// Unrealistic strength difference.
    #[error("elo0 and elo1 must lie between -2000 and 2000, not {0}")]
    OutOfRange(f64),
    /// Not a useful error rate.
    #[error("{0} must lie between 0.000001 and 0.5, not {1}")]
    InvalidErrorRate(&'static str, f64),
}

/// Verdict of a test so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestVerdict {
    /// NEW is better than `elo0`.
    Yes,
    /// NEW is not as good as `elo1`.
    No,
    /// Undecided.
    NotYet,
}

/// An estimate with its 95 % interval. Ends may be infinite.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct IntervalEstimate {
    /// The estimate.
    pub best: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl IntervalEstimate {
    fn map(self, of: impl Fn(f64) -> f64) -> Self {
        Self { best: of(self.best), low: of(self.low), high: of(self.high) }
    }
}

/// State of a test after some pairs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TestStatus {
    /// Number of pairs.
    pub pairs: u64,
    /// Log-likelihood ratio.
    pub llr: f64,
    /// Verdict so far.
    pub verdict: TestVerdict,
    /// Likelihood of superiority: probability that NEW is better at all, from these pairs alone.
    pub superiority: f64,
    /// Expected number of further pairs at the current rate; `None` with few pairs.
    pub remaining_pairs: Option<f64>,
}

impl TestParams {
    /// Checks the parameters.
    pub fn validate(&self) -> Result<(), TestParamsError> {
        // `contains` also rejects NaN.
        let inside = |elo: f64| (-2000.0..=2000.0).contains(&elo);
        if let Some(elo) = [self.elo0, self.elo1].into_iter().find(|elo| !inside(*elo)) {
            return Err(TestParamsError::OutOfRange(elo));
        }
        if self.elo0 >= self.elo1 {
            return Err(TestParamsError::NotAscending(self.elo0, self.elo1));
        }
        if self.elo1 - self.elo0 < 0.01 {
            return Err(TestParamsError::TooClose(self.elo0, self.elo1));
        }
        for (name, chance) in [("alpha", self.alpha), ("beta", self.beta)] {
            if !(1e-6..=0.5).contains(&chance) {
                return Err(TestParamsError::InvalidErrorRate(name, chance));
            }
        }
        Ok(())
    }

    /// Lower bound (no) and upper bound (yes) of the log-likelihood ratio.
    pub fn bounds(&self) -> (f64, f64) {
        ((ERROR_BUDGET * self.beta).ln(), -(ERROR_BUDGET * self.alpha).ln())
    }

    /// Verdict at a log-likelihood ratio.
    pub fn verdict(&self, llr: f64) -> TestVerdict {
        let (low, high) = self.bounds();
        match llr {
            _ if llr >= high => TestVerdict::Yes,
            _ if llr <= low => TestVerdict::No,
            _ => TestVerdict::NotYet,
        }
    }

    fn status(&self, pairs: u64, llr: f64, answer: TestVerdict, superior: f64, variance: f64) -> TestStatus {
        let rest = (answer == TestVerdict::NotYet && pairs >= MIN_PAIRS_FOR_FORECAST).then(|| {
            let (low, high) = self.bounds();
            BoundedWalk { drift: llr / pairs as f64, variance, low, high }.mean_steps(llr)
        });
        TestStatus {
            pairs,
            llr,
            verdict: answer,
            superiority: superior,
            remaining_pairs: rest.filter(|rest| rest.is_finite()),
        }
    }
}

/// Expected share of points at an Elo difference (logistic).
pub fn score_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// Elo difference of a share of points; infinite for 0 and 1.
pub fn elo_of_score(score: f64) -> f64 {
    400.0 * (score / (1.0 - score)).log10()
}

/// Normalised Elo of a difference in standard deviations.
pub fn elo_of_effect(effect: f64) -> f64 {
    effect * ELO_PER_DEVIATION
}

/// Difference in standard deviations of a normalised Elo.
pub fn effect_of_elo(elo: f64) -> f64 {
    elo / ELO_PER_DEVIATION
}

/// Probability that a standard normal variable is below `x`: the density times the series `x + x³/3 + x⁵/15 + ...`.
fn normal_cdf(x: f64) -> f64 {
    if x.abs() > 8.0 {
        return f64::from(u8::from(x > 0.0));
    }
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    while term.abs() > 1e-17 {
        odd += 2.0;
        term *= x * x / odd;
        sum += term;
    }
    (0.5 + sum * (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt()).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_cdf_matches_tables() {
        for (x, table) in
            [(0.0, 0.5), (1.0, 0.841_344_746), (-1.959_964, 0.025), (3.0, 0.998_650_102), (-6.0, 9.866e-10)]
        {
            assert!((normal_cdf(x) - table).abs() < 1e-8, "{x}: {}", normal_cdf(x));
        }
        assert!(normal_cdf(40.0) >= 1.0 && normal_cdf(-40.0) <= 0.0);
    }

    #[test]
    fn elo_and_score_conversions_are_inverse() {
        assert!((score_of_elo(400.0) - 10.0 / 11.0).abs() < 1e-12);
        for elo in [-300.0, 0.0, 10.0, 700.0] {
            assert!((elo_of_score(score_of_elo(elo)) - elo).abs() < 1e-9);
            assert!((elo_of_effect(effect_of_elo(elo)) - elo).abs() < 1e-9);
        }
    }

    #[test]
    fn validate_rejects_meaningless_parameters() {
        let good = TestParams { elo0: 0.0, elo1: 10.0, alpha: 0.05, beta: 0.05 };
        assert_eq!(good.validate(), Ok(()));
        assert_eq!(
            TestParams { elo0: 10.0, ..good }.validate(),
            Err(TestParamsError::NotAscending(10.0, 10.0))
        );
        assert!(matches!(TestParams { elo0: 9.999, ..good }.validate(), Err(TestParamsError::TooClose(..))));
        assert!(matches!(
            TestParams { elo0: f64::NAN, ..good }.validate(),
            Err(TestParamsError::OutOfRange(_))
        ));
        assert!(matches!(
            TestParams { elo1: f64::INFINITY, ..good }.validate(),
            Err(TestParamsError::OutOfRange(_))
        ));
        assert_eq!(
            TestParams { alpha: 0.0, ..good }.validate(),
            Err(TestParamsError::InvalidErrorRate("alpha", 0.0))
        );
        assert_eq!(
            TestParams { beta: 0.6, ..good }.validate(),
            Err(TestParamsError::InvalidErrorRate("beta", 0.6))
        );
    }
}
