//! A random walk between two bounds: where it ends and how long it takes, without simulation.

/// Mean overshoot of a walk with normal steps at a bound, in standard deviations of a step (Siegmund): `-zeta(1/2) / sqrt(2 pi)`.
const OVERSHOOT: f64 = 0.582_597_157_939_010_7;
/// Below this exponent the limit without drift is more accurate than the formula.
const MIN_DRIFT_EXPONENT: f64 = 1e-6;

/// A walk of independent steps that ends at one of two bounds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BoundedWalk {
    /// Mean of a step.
    pub drift: f64,
    /// Variance of a step.
    pub variance: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl BoundedWalk {
    /// The bounds including the mean overshoot.
    fn effective_bounds(&self) -> (f64, f64) {
        let over = OVERSHOOT * self.variance.max(0.0).sqrt();
        (self.low - over, self.high + over)
    }

    /// Probability that a walk from `at` ends at the upper bound. With `k = 2 drift / variance`, `exp(-k LLR)` is a martingale, so
    ///
    /// `P = (1 - exp(-k (at - low))) / (1 - exp(-k (high - low)))`
    pub fn upper_probability(&self, at: f64) -> f64 {
        let (low, high) = self.effective_bounds();
        let (way, whole) = (at - low, high - low);
        if self.variance <= 0.0 {
            return f64::from(u8::from(self.drift > 0.0));
        }
        let k = 2.0 * self.drift / self.variance;
        if (k * whole).abs() < MIN_DRIFT_EXPONENT {
            return (way / whole).clamp(0.0, 1.0);
        }
        // Use the form that does not overflow.
        let share = if k > 0.0 {
            (-k * way).exp_m1() / (-k * whole).exp_m1()
        } else {
            ((k * (whole - way)).exp() - (k * whole).exp()) / (1.0 - (k * whole).exp())
        };
        share.clamp(0.0, 1.0)
    }

    /// Mean number of steps from `at` by Wald's identity: mean distance divided by the drift. Without drift:
    /// `(at - low) (high - at) / variance`.
    pub fn mean_steps(&self, at: f64) -> f64 {
        let (low, high) = self.effective_bounds();
        let k = if self.variance > 0.0 { 2.0 * self.drift / self.variance } else { f64::INFINITY };
        if (k * (high - low)).abs() < MIN_DRIFT_EXPONENT {
            return (at - low) * (high - at) / self.variance;
        }
        let up = self.upper_probability(at);
        ((up * (high - at) + (1.0 - up) * (low - at)) / self.drift).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walk_without_drift_matches_gamblers_ruin() {
        let walk = BoundedWalk { drift: 0.0, variance: 1e-6, low: -1.0, high: 3.0 };
        assert!((walk.upper_probability(0.0) - 0.25).abs() < 1e-3);
        assert!((walk.mean_steps(0.0) - 3e6).abs() < 1e4);
        // The formulas with and without drift agree at the limit.
        let nearly = BoundedWalk { drift: 1e-12, ..walk };
        assert!((nearly.mean_steps(0.5) / walk.mean_steps(0.5) - 1.0).abs() < 1e-3);
    }

    #[test]
    fn walks_with_opposite_drift_are_symmetric() {
        let up = BoundedWalk { drift: 0.01, variance: 0.02, low: -3.0, high: 3.0 };
        let down = BoundedWalk { drift: -0.01, ..up };
        assert!((up.upper_probability(0.0) + down.upper_probability(0.0) - 1.0).abs() < 1e-12);
        assert!((up.mean_steps(0.0) - down.mean_steps(0.0)).abs() < 1e-9);
        // For a likelihood ratio the variance is twice the drift, and the error probability about exp(-bound).
        assert!(down.upper_probability(0.0) < (-3f64).exp(), "{}", down.upper_probability(0.0));
        // Nothing overflows with large drift.
        let sure = BoundedWalk { drift: -5.0, variance: 1e-4, low: -3.0, high: 3.0 };
        assert!(sure.upper_probability(0.0).abs() < 1e-12 && (sure.mean_steps(0.0) - 0.6).abs() < 0.01);
        let straight = BoundedWalk { drift: 0.5, variance: 0.0, low: -3.0, high: 3.0 };
        assert!((straight.mean_steps(0.0) - 6.0).abs() < 1e-9);
    }
}
