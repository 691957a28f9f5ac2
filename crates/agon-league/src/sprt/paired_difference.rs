//! NEW and OLD at the same seat, in the same field, on the same seed: the differences of their scores.
//!
//! Scores may be points, shares or steps, so the question is asked in units of the difference's own spread (standard deviation of a pair): is its mean at most
//! `d0` spreads or at least `d1`? In Elo, one spread is `800 / ln 10 = 347` (*normalised Elo*).
//!
//! # The test, and why this one
//!
//! A generalised probability ratio test, as for duels: the same two bounds, the same yes and no, and a mean number of pairs that is known beforehand. With
//! differences `x` of mean `d u` and spread `u`, the likeliest spread under either hypothesis has a closed form. In terms of `r`, the mean over the root mean square of
//! the differences so far (between -1 and 1),
//!
//! `llr = n (g(d1) - g(d0))`, `g(d) = ln w - w²/2 + d r w - d²/2`, `w = (d r + sqrt(d² r² + 4)) / 2`
//!
//! For the small effects one asks about this is `n (d1 - d0) (r - (d0 + d1) / 2)`, a sum whose law follows from the central limit theorem whatever the
//! differences look like (many of them nothing, a few large): that is why it may be used for steps until a catch as well as for points. A single wild game never
//! decides: where all other pairs say nothing it is worth ½ at most, however wild.
//!
//! Lopsided differences (a bot that is a little better in most games and much worse in a few) make a mean seem surer on one side than it is: of
//! exponential differences one *yes* in 13 would be wrong. So the ratio is taken a second time with the third-order term `g e³ / 3` of the likelihood
//! that assumes no shape at all (the empirical likelihood; skewness `g`, a hypothesis `e` spreads from the mean), and whichever of the two claims less counts. For
//! differences that are not lopsided the two are the same. What is left shows where a few dozen pairs decide: asked about 0.3 spreads, 5.4 % of
//! the yeses of exponential differences are wrong.
//!
//! A betting or mixture confidence sequence would hold for bounded scores with no approximation at all. It was set aside: it has to be
//! ready for the largest difference there can be (4,000 steps, where most pairs differ by a few), takes more games for that, and its *no* is not symmetric to its *yes*.

use super::{IntervalEstimate, TestParams, TestStatus, BoundedWalk, Z_95, effect_of_elo, elo_of_effect, normal_below};

/// So much skew times distance is believed.
const MOST_SKEW: f64 = 0.6;

/// Differences counted.
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
    /// Counts a pair: NEW's score minus OLD's, or the other way round where less is better (Welford's method).
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

    /// In how many pairs NEW did better, as well, and worse.
    pub const fn counts(&self) -> [u64; 3] {
        [self.better, self.pairs - self.better - self.worse, self.worse]
    }

    /// Where the test stands.
    pub fn standing(&self, question: &TestParams) -> TestStatus {
        let (d0, d1) = effects(question);
        let superior = normal_below((self.pairs as f64).sqrt() * self.ratio());
        question.standing(self.pairs, self.llr(question), superior, (d1 - d0).powi(2))
    }

    /// The logarithm of the likelihood ratio alone: of the two, with skew and without, the one that claims less.
    pub fn llr(&self, question: &TestParams) -> f64 {
        let (plain, skewed) = self.ratios(question);
        if plain > 0.0 { plain.min(skewed.max(0.0)) } else { plain.max(skewed.min(0.0)) }
    }

    fn ratios(&self, question: &TestParams) -> (f64, f64) {
        if self.pairs == 0 {
            return (0.0, 0.0);
        }
        let (d0, d1) = effects(question);
        let (n, r) = (self.pairs as f64, self.ratio());
        let plain = n * (likelihood(d1, r) - likelihood(d0, r));
        (plain, plain + n * (self.lost_by_skew(d0) - self.lost_by_skew(d1)))
    }

    /// The mean difference with its 95 % interval (Student's), in units of the score.
    pub fn difference(&self) -> IntervalEstimate {
        let n = self.pairs as f64;
        let half = if self.pairs < 5 {
            f64::INFINITY
        } else {
            let freedom = n - 1.0;
            let z3 = Z_95.powi(3);
            // The first terms of Student's quantile around the normal one.
            let student = Z_95
                + (z3 + Z_95) / (4.0 * freedom)
                + (5.0 * Z_95.powi(5) + 16.0 * z3 + 3.0 * Z_95) / (96.0 * freedom * freedom);
            student * self.spread() / n.sqrt()
        };
        IntervalEstimate { best: self.mean, low: self.mean - half, high: self.mean + half }
    }

    /// The mean difference in normalised Elo, with its 95 % interval.
    pub fn elo(&self) -> IntervalEstimate {
        let spread = self.spread();
        self.difference().map(|x| if x == 0.0 { 0.0 } else { elo_of_effect(x / spread) })
    }

    /// The standard deviation of a difference.
    pub fn spread(&self) -> f64 {
        if self.pairs < 2 { 0.0 } else { (self.squares / (self.pairs - 1) as f64).sqrt() }
    }

    /// The walk of the likelihood ratio if differences are normal with this effect. Without simulation: the drift is the mean gain in
    /// likelihood, the variance that of a score `d1 - d0` times a normal variable and the estimated spread's part.
    pub fn theory(question: &TestParams, effect: f64) -> BoundedWalk {
        let (d0, d1) = effects(question);
        let r = effect / effect.hypot(1.0);
        let (low, high) = question.bounds();
        let variance = (d1 - d0).powi(2) * (1.0 + effect * effect / 2.0) / (1.0 + effect * effect).powi(3);
        BoundedWalk { drift: likelihood(d1, r) - likelihood(d0, r), variance, low, high }
    }

    /// What lopsided differences take from the likelihood of effect `d`, for each pair: the third-order term `g e³ / 3` of the empirical likelihood
    /// at `e` spreads from the mean. Kept below a fraction of the second-order term, for the expansion holds near the mean.
    fn lost_by_skew(&self, d: f64) -> f64 {
        let spread = (self.squares / self.pairs as f64).sqrt();
        if spread <= 0.0 {
            return 0.0;
        }
        let skew = self.cubes / (self.pairs as f64 * spread.powi(3));
        let away = self.mean / spread - d;
        let away = away / away.hypot(1.0);
        (skew * away).clamp(-MOST_SKEW, MOST_SKEW) * away * away / 3.0
    }

    /// Mean over root mean square. Where all differences are nothing, it is the mean that is nothing.
    fn ratio(&self) -> f64 {
        let whole = self.squares / self.pairs.max(1) as f64 + self.mean * self.mean;
        if whole > 0.0 { (self.mean / whole.sqrt()).clamp(-1.0, 1.0) } else { 0.0 }
    }
}

fn effects(question: &TestParams) -> (f64, f64) {
    (effect_of_elo(question.elo0), effect_of_elo(question.elo1))
}

/// The logarithm of the likelihood of one pair at effect `d` with the spread that suits it best, but for a constant.
fn likelihood(d: f64, r: f64) -> f64 {
    let x = d * r;
    let w = f64::midpoint(x, (x * x + 4.0).sqrt());
    w.ln() - w * w / 2.0 + x * w - d * d / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sprt::TestVerdict;

    const QUESTION: TestParams = TestParams { elo0: 0.0, elo1: 35.0, alpha: 0.05, beta: 0.05 };

    fn of(differences: impl IntoIterator<Item = f64>) -> PairedDifferenceTest {
        let mut paired = PairedDifferenceTest::default();
        differences.into_iter().for_each(|x| paired.push(x));
        paired
    }

    /// The ratio by its definition: the normal likelihood, its spread searched for on a grid.
    #[test]
    fn the_closed_form_is_the_maximum() {
        let data = [3.0, -1.0, 0.0, 0.0, 4.0, 2.0, -2.0, 1.0, 0.0, 1.5];
        let best = |d: f64| {
            let at =
                |spread: f64| data.iter().map(|x| -spread.ln() - (x / spread - d).powi(2) / 2.0).sum::<f64>();
            (1..200_000).map(|i| at(f64::from(i) / 20_000.0)).fold(f64::NEG_INFINITY, f64::max)
        };
        let (d0, d1) = effects(&QUESTION);
        let (llr, _) = of(data).ratios(&QUESTION);
        assert!((llr - (best(d1) - best(d0))).abs() < 1e-6, "{llr}");
    }

    #[test]
    fn units_do_not_matter() {
        let data = [3.0, -1.0, 0.0, 7.0, 4.0, 2.0, -2.0, 1.0];
        let (small, large) = (of(data), of(data.map(|x| 1000.0 * x)));
        assert!((small.llr(&QUESTION) - large.llr(&QUESTION)).abs() < 1e-9);
        assert!((small.elo().best - large.elo().best).abs() < 1e-6);
        assert_eq!(small.counts(), [5, 1, 2]);
    }

    #[test]
    fn the_same_bot_twice_is_not_better_and_always_better_is() {
        let same = of([0.0; 700]).standing(&QUESTION);
        assert_eq!(same.answer, TestVerdict::No);
        assert!((same.superior - 0.5).abs() < 1e-6);
        let always = of([2.0; 40]).standing(&QUESTION);
        assert_eq!(always.answer, TestVerdict::Yes);
        assert_eq!(of([2.0; 5]).standing(&QUESTION).answer, TestVerdict::NotYet);
        assert_eq!(of([]).llr(&QUESTION).to_bits(), 0.0f64.to_bits());
    }

    #[test]
    fn one_wild_game_does_not_decide() {
        let mut wild = vec![0.0; 300];
        wild[150] = 1e9;
        assert_eq!(of(wild).standing(&QUESTION).answer, TestVerdict::NotYet);
    }

    /// The third moment that is kept is the one of the definition, and lopsided differences claim less on their weak side only.
    #[test]
    fn skew_takes_from_what_it_makes_seem_sure() {
        let data = [1.0, 1.0, 1.0, 2.0, 1.0, 1.0, -6.0, 1.0, 2.0, 1.0, 1.0, 1.0];
        let risky = of(data);
        let mean = data.iter().sum::<f64>() / 12.0;
        let cubes: f64 = data.iter().map(|x| (x - mean).powi(3)).sum();
        assert!((risky.cubes - cubes).abs() < 1e-9, "{} {cubes}", risky.cubes);
        let (plain, skewed) = risky.ratios(&QUESTION);
        assert!(0.0 < skewed && skewed < plain, "{skewed} {plain}");
        assert!((risky.llr(&QUESTION) - skewed).abs() < 1e-12);
        let mirrored = of(data.map(|x| -x));
        let (plain, skewed) = mirrored.ratios(&TestParams { elo0: -35.0, elo1: 0.0, ..QUESTION });
        assert!(plain < skewed && skewed < 0.0, "{skewed} {plain}");
    }

    #[test]
    fn the_interval_is_students() {
        let paired = of([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        let guess = paired.difference();
        assert!((guess.best - 5.0).abs() < 1e-12 && (guess.high - 6.7877).abs() < 0.02, "{guess:?}");
        assert!(of([1.0]).difference().high.is_infinite());
    }
}
