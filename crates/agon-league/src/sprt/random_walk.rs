//! A walk between two bounds: where it ends and how long it takes, without simulation.

/// How far over a bound a walk of normal steps is when it first crosses, in standard deviations of a step (Siegmund):
/// `-zeta(1/2) / sqrt(2 pi)`.
const OVERSHOOT: f64 = 0.582_597_157_939_010_7;
/// A drift so small, in the exponent, that the limit without drift is nearer than the formula.
const LEVEL: f64 = 1e-6;

/// A walk of independent steps that ends at either bound.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BoundedWalk {
    /// Mean of a step.
    pub drift: f64,
    /// Variance of a step.
    pub variance: f64,
    /// It ends here or below.
    pub low: f64,
    /// It ends here or above.
    pub high: f64,
}

impl BoundedWalk {
    /// The bounds as a walk in small steps meets them, its overshoot included.
    fn met(&self) -> (f64, f64) {
        let over = OVERSHOOT * self.variance.max(0.0).sqrt();
        (self.low - over, self.high + over)
    }

    /// The chance that a walk from `at` ends at the upper bound. With `k = 2 drift / variance`, `exp(-k LLR)` is a martingale, so
    ///
    /// `P = (1 - exp(-k (at - low))) / (1 - exp(-k (high - low)))`
    pub fn ends_high(&self, at: f64) -> f64 {
        let (low, high) = self.met();
        let (way, whole) = (at - low, high - low);
        if self.variance <= 0.0 {
            return f64::from(u8::from(self.drift > 0.0));
        }
        let k = 2.0 * self.drift / self.variance;
        if (k * whole).abs() < LEVEL {
            return (way / whole).clamp(0.0, 1.0);
        }
        // Each form where it does not overflow.
        let share = if k > 0.0 {
            (-k * way).exp_m1() / (-k * whole).exp_m1()
        } else {
            ((k * (whole - way)).exp() - (k * whole).exp()) / (1.0 - (k * whole).exp())
        };
        share.clamp(0.0, 1.0)
    }

    /// The mean number of steps from `at`, by Wald's identity: what is walked on average, over the drift. Without drift, from the
    /// squares: `(at - low) (high - at) / variance`.
    pub fn mean_steps(&self, at: f64) -> f64 {
        let (low, high) = self.met();
        let k = if self.variance > 0.0 { 2.0 * self.drift / self.variance } else { f64::INFINITY };
        if (k * (high - low)).abs() < LEVEL {
            return (at - low) * (high - at) / self.variance;
        }
        let up = self.ends_high(at);
        ((up * (high - at) + (1.0 - up) * (low - at)) / self.drift).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fair_walk_is_what_the_gambler_knows() {
        let walk = BoundedWalk { drift: 0.0, variance: 1e-6, low: -1.0, high: 3.0 };
        assert!((walk.ends_high(0.0) - 0.25).abs() < 1e-3);
        assert!((walk.mean_steps(0.0) - 3e6).abs() < 1e4);
        // The formulas with and without drift meet.
        let nearly = BoundedWalk { drift: 1e-12, ..walk };
        assert!((nearly.mean_steps(0.5) / walk.mean_steps(0.5) - 1.0).abs() < 1e-3);
    }

    #[test]
    fn drift_either_way_is_a_mirror() {
        let up = BoundedWalk { drift: 0.01, variance: 0.02, low: -3.0, high: 3.0 };
        let down = BoundedWalk { drift: -0.01, ..up };
        assert!((up.ends_high(0.0) + down.ends_high(0.0) - 1.0).abs() < 1e-12);
        assert!((up.mean_steps(0.0) - down.mean_steps(0.0)).abs() < 1e-9);
        // A likelihood ratio has variance 2 drift: then it errs by about exp(-bound).
        assert!(down.ends_high(0.0) < (-3f64).exp(), "{}", down.ends_high(0.0));
        // Nothing overflows when it is sure.
        let sure = BoundedWalk { drift: -5.0, variance: 1e-4, low: -3.0, high: 3.0 };
        assert!(sure.ends_high(0.0).abs() < 1e-12 && (sure.mean_steps(0.0) - 0.6).abs() < 0.01);
        let straight = BoundedWalk { drift: 0.5, variance: 0.0, low: -3.0, high: 3.0 };
        assert!((straight.mean_steps(0.0) - 6.0).abs() < 1e-9);
    }
}
