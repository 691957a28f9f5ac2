//! Is NEW better than OLD? Sequential tests that stop as soon as they know, pure.
//!
//! Games come in pairs that share everything but who plays, so that the luck of a seed helps both alike. There are two tests:
//!
//! - [`SwappedPairsTest`]: NEW and OLD meet, twice on each seed, sides swapped. What NEW takes from a pair is one of a few numbers (0, ½, 1,
//!   1½, 2 points), and the question is asked in Elo.
//! - [`PairedDifferenceTest`]: NEW and OLD each play the same seat in the same field on the same seed. What is tested is the difference of
//!   their two scores, whatever a score is, in units of its own spread.
//!
//! Both are generalised sequential probability ratio tests: after each pair, how much likelier are the results if NEW is better
//! by `elo1` than if by `elo0`? The rest of the distribution is not known, so each hypothesis is given the distribution that suits
//! it best (maximum likelihood under the constraint). The logarithm of that ratio walks from 0 to one of two bounds.
//!
//! # Why these bounds
//!
//! Yes at `ln(1 / alpha)` and a little more, no at `ln(beta)` and a little less. A likelihood ratio is expected to be 1 at every moment if the lower hypothesis is
//! true, so it *ever* reaches `1 / alpha` with a chance of at most `alpha` (Ville's inequality), whenever one stops and however far the last pair leads over the bound.
//! Wald's own bounds `ln((1 - beta) / alpha)` are nearer by 0.05 and keep the sum of the two errors only. For a ratio of two maxima that is no theorem: what is not known has
//! to be estimated from the same pairs, which makes it a little bold while there are few. Measured over 20,000 runs, bounds at `ln(1 / alpha)` err in 4.3 to 5.0 %
//! where 5 are allowed. The bounds are set for four fifths of what is allowed (`MARGIN`); that costs 7 % more games, and errs in at most 4.1 %.
//!
//! Nothing is corrected for overshoot: a correction would move the bounds inward by half a standard deviation of one pair (1 to 2 % of all games at 10 Elo)
//! and spend that margin.
//!
//! # How many pairs that takes
//!
//! [`BoundedWalk::mean_steps`]: Wald's identity, with Siegmund's 0.583 standard deviations of overshoot at either bound.

mod swapped_pairs;
mod paired_difference;
mod random_walk;

pub use swapped_pairs::SwappedPairsTest;
pub use paired_difference::PairedDifferenceTest;
pub use random_walk::BoundedWalk;

use serde::Serialize;

/// A normal variable's two-sided 95 % quantile.
const Z_95: f64 = 1.959_963_984_540_054;
/// Elo of one spread: `800 / ln 10`. A score of `½ + x` is about `x` times that in Elo when games have no draws, and this carries it over
/// to scores of any kind.
const ELO_OF_ONE_SPREAD: f64 = 347.435_585_522_601_4;
/// The bounds are set for so much of the errors that are allowed: see the module.
const MARGIN: f64 = 0.8;
/// Below so many pairs nobody guesses how many more it takes.
const FEW: u64 = 10;

/// What is asked, and how sure the answer has to be.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct TestParams {
    /// If NEW is better by no more than this, the answer must be no (but for `alpha`).
    pub elo0: f64,
    /// If NEW is better by at least this, the answer must be yes (but for `beta`).
    pub elo1: f64,
    /// How often a no may be called yes.
    pub alpha: f64,
    /// How often a yes may be called no.
    pub beta: f64,
}

/// A question that cannot be asked.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum BadQuestion {
    /// There is nothing between the bounds.
    #[error("elo0 ({0}) must be less than elo1 ({1})")]
    Order(f64, f64),
    /// Bounds so near to each other that no number of games tells them apart.
    #[error("elo0 ({0}) and elo1 ({1}) must be at least 0.01 apart")]
    Near(f64, f64),
    /// No strength is that far from another.
    #[error("elo0 and elo1 must lie between -2000 and 2000, not {0}")]
    Far(f64),
    /// Not a chance of being wrong.
    #[error("{0} must lie between 0.000001 and 0.5, not {1}")]
    Chance(&'static str, f64),
}

/// What is known by now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestVerdict {
    /// NEW is better than `elo0`.
    Yes,
    /// NEW is not as good as `elo1`.
    No,
    /// Nobody knows.
    NotYet,
}

/// A best guess with its 95 % interval. Ends may be infinite.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct IntervalEstimate {
    /// The best guess.
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

/// Where the test stands after some pairs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TestStatus {
    /// Pairs counted.
    pub pairs: u64,
    /// The logarithm of the likelihood ratio.
    pub llr: f64,
    /// What is known.
    pub answer: TestVerdict,
    /// How likely NEW is better at all, by this alone ("likelihood of superiority").
    pub superior: f64,
    /// How many more pairs it takes, about, if things go on as they are; not before there are a few.
    pub rest: Option<f64>,
}

impl TestParams {
    /// Whether it can be asked.
    pub fn check(&self) -> Result<(), BadQuestion> {
        // Written so that what is no number is refused.
        let inside = |elo: f64| (-2000.0..=2000.0).contains(&elo);
        if let Some(elo) = [self.elo0, self.elo1].into_iter().find(|elo| !inside(*elo)) {
            return Err(BadQuestion::Far(elo));
        }
        if self.elo0 >= self.elo1 {
            return Err(BadQuestion::Order(self.elo0, self.elo1));
        }
        if self.elo1 - self.elo0 < 0.01 {
            return Err(BadQuestion::Near(self.elo0, self.elo1));
        }
        for (name, chance) in [("alpha", self.alpha), ("beta", self.beta)] {
            if !(1e-6..=0.5).contains(&chance) {
                return Err(BadQuestion::Chance(name, chance));
            }
        }
        Ok(())
    }

    /// No at the first or below, yes at the second or above.
    pub fn bounds(&self) -> (f64, f64) {
        ((MARGIN * self.beta).ln(), -(MARGIN * self.alpha).ln())
    }

    /// What a likelihood ratio says.
    pub fn answer(&self, llr: f64) -> TestVerdict {
        let (low, high) = self.bounds();
        match llr {
            _ if llr >= high => TestVerdict::Yes,
            _ if llr <= low => TestVerdict::No,
            _ => TestVerdict::NotYet,
        }
    }

    fn standing(&self, pairs: u64, llr: f64, superior: f64, variance: f64) -> TestStatus {
        let answer = self.answer(llr);
        let rest = (answer == TestVerdict::NotYet && pairs >= FEW).then(|| {
            let (low, high) = self.bounds();
            BoundedWalk { drift: llr / pairs as f64, variance, low, high }.mean_steps(llr)
        });
        TestStatus { pairs, llr, answer, superior, rest: rest.filter(|rest| rest.is_finite()) }
    }
}

/// The share of points that so much Elo gives (logistic).
pub fn score_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// The Elo that gives this share of points; infinite where nothing else is won, or nothing.
pub fn elo_of_score(score: f64) -> f64 {
    400.0 * (score / (1.0 - score)).log10()
}

/// A difference in units of its spread, as (normalised) Elo.
pub fn elo_of_effect(effect: f64) -> f64 {
    effect * ELO_OF_ONE_SPREAD
}

/// A difference in units of its spread, from (normalised) Elo.
pub fn effect_of_elo(elo: f64) -> f64 {
    elo / ELO_OF_ONE_SPREAD
}

/// The chance that a normal variable is below `x`: the density times `x + x³/3 + x⁵/15 + ...`, added up.
fn normal_below(x: f64) -> f64 {
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
    fn normal_chances_match_tables() {
        for (x, table) in
            [(0.0, 0.5), (1.0, 0.841_344_746), (-1.959_964, 0.025), (3.0, 0.998_650_102), (-6.0, 9.866e-10)]
        {
            assert!((normal_below(x) - table).abs() < 1e-8, "{x}: {}", normal_below(x));
        }
        assert!(normal_below(40.0) >= 1.0 && normal_below(-40.0) <= 0.0);
    }

    #[test]
    fn elo_and_score_are_inverse() {
        assert!((score_of_elo(400.0) - 10.0 / 11.0).abs() < 1e-12);
        for elo in [-300.0, 0.0, 10.0, 700.0] {
            assert!((elo_of_score(score_of_elo(elo)) - elo).abs() < 1e-9);
            assert!((elo_of_effect(effect_of_elo(elo)) - elo).abs() < 1e-9);
        }
    }

    #[test]
    fn questions_that_make_no_sense_are_refused() {
        let good = TestParams { elo0: 0.0, elo1: 10.0, alpha: 0.05, beta: 0.05 };
        assert_eq!(good.check(), Ok(()));
        assert_eq!(TestParams { elo0: 10.0, ..good }.check(), Err(BadQuestion::Order(10.0, 10.0)));
        assert!(matches!(TestParams { elo0: 9.999, ..good }.check(), Err(BadQuestion::Near(..))));
        assert!(matches!(TestParams { elo0: f64::NAN, ..good }.check(), Err(BadQuestion::Far(_))));
        assert!(matches!(TestParams { elo1: f64::INFINITY, ..good }.check(), Err(BadQuestion::Far(_))));
        assert_eq!(TestParams { alpha: 0.0, ..good }.check(), Err(BadQuestion::Chance("alpha", 0.0)));
        assert_eq!(TestParams { beta: 0.6, ..good }.check(), Err(BadQuestion::Chance("beta", 0.6)));
    }
}
