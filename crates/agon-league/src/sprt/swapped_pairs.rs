//! NEW against OLD: pairs of games (or of matches) with sides swapped, tested in Elo.
//!
//! What NEW takes from a pair is one of a few shares: `0, ¼, ½, ¾, 1` of the points (the five of the *pentanomial* model) when each side plays one game.
//! Pairs, not games, are what is counted: the two games of a pair share a seed and so are not independent.
//!
//! # The likelihood ratio, exactly
//!
//! Of all distributions over the shares `a_i` with mean `s`, the likeliest after `n_i` pairs of each kind is
//!
//! `p_i = n_i / (n (1 + t (a_i - s)))`, with `t` the root of `sum n_i (a_i - s) / (1 + t (a_i - s)) = 0`
//!
//! (one dimension, decreasing: Newton's method between brackets). Kinds that have not been seen need no made-up counts. They get a
//! share of the probability only if the mean cannot be reached otherwise, and then the farthest kind (0 or 1) gets all of it: `t` is at the end of its range, and `p_i` stands as
//! it is. After `n` clean wins, for example, the likeliest distribution of mean `s` wins with chance `s`, and the ratio is `(s1 / s0)^n`.
//!
//! The interval of the estimate and the likelihood of superiority come from the same likelihood, so they hold for lopsided results too.

use super::{IntervalEstimate, TestParams, TestStatus, BoundedWalk, Z_95, elo_of_score, normal_below, score_of_elo};

/// Pairs counted by what NEW took from them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwappedPairsTest {
    counts: Vec<u64>,
}

impl SwappedPairsTest {
    /// For pairs in which each side plays `games` games: each of the `2 games` is won, drawn or lost.
    pub fn new(games: u32) -> Self {
        Self { counts: vec![0; 4 * games.max(1) as usize + 1] }
    }

    /// Counts a pair from which NEW took so many half points.
    pub fn push(&mut self, half_points: usize) {
        let last = self.counts.len() - 1;
        self.counts[half_points.min(last)] += 1;
    }

    /// Pairs by what NEW took, from nothing to everything.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Where the test stands.
    pub fn standing(&self, question: &TestParams) -> TestStatus {
        let cells = self.cells();
        let llr = cells.ratio(question);
        let superior = if cells.n > 0.0 { normal_below(cells.root_of_likelihood(0.5)) } else { 0.5 };
        let variance = if cells.n > 0.0 { cells.walk(question).variance } else { 0.0 };
        question.standing(self.counts.iter().sum(), llr, superior, variance)
    }

    /// The logarithm of the likelihood ratio alone.
    pub fn llr(&self, question: &TestParams) -> f64 {
        self.cells().ratio(question)
    }

    /// NEW's share of the points, with its 95 % interval.
    pub fn score(&self) -> IntervalEstimate {
        let cells = self.cells();
        if cells.n == 0.0 {
            return IntervalEstimate { best: 0.5, low: 0.0, high: 1.0 };
        }
        let best = cells.mean();
        IntervalEstimate { best, low: cells.end_of_interval(best, 0.0), high: cells.end_of_interval(best, 1.0) }
    }

    /// NEW's Elo over OLD, with its 95 % interval.
    pub fn elo(&self) -> IntervalEstimate {
        self.score().map(elo_of_score)
    }

    /// The walk of the likelihood ratio if pairs come with these chances. Without simulation: the mean and variance of
    /// `ln(p1_i / p0_i)`, where `p0` and `p1` are the distributions nearest to the truth under either hypothesis.
    pub fn theory(question: &TestParams, chances: &[f64]) -> BoundedWalk {
        Cells::new(chances.iter().copied()).walk(question)
    }

    fn cells(&self) -> Cells {
        Cells::new(self.counts.iter().map(|n| *n as f64))
    }
}

/// The kinds of pairs that were seen, each with its share and how often.
struct Cells {
    seen: Vec<(f64, f64)>,
    n: f64,
}

impl Cells {
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

    /// `t` of the likeliest distribution with mean `s`.
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
        // Between these no kind, seen or not, has a chance below nothing.
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

    /// How much likelier the results are at best than with mean `s`, as a logarithm: 0 at the mean that was seen.
    fn lost(&self, s: f64) -> f64 {
        let t = self.tilt(s);
        self.seen.iter().map(|(a, n)| n * (t * (a - s)).ln_1p()).sum()
    }

    fn ratio(&self, question: &TestParams) -> f64 {
        if self.n == 0.0 {
            return 0.0;
        }
        self.lost(score_of_elo(question.elo0)) - self.lost(score_of_elo(question.elo1))
    }

    /// Nearly a standard normal variable if `s` is the truth.
    fn root_of_likelihood(&self, s: f64) -> f64 {
        let root = (2.0 * self.lost(s)).max(0.0).sqrt();
        if self.mean() >= s { root } else { -root }
    }

    /// Where the likelihood has fallen by what a chi-square of one degree allows in 95 %, between `best` and `far`.
    fn end_of_interval(&self, best: f64, far: f64) -> f64 {
        let (mut inside, mut outside) = (best, far);
        for _ in 0..60 {
            let middle = f64::midpoint(inside, outside);
            if middle <= 0.0 || middle >= 1.0 {
                break;
            }
            if 2.0 * self.lost(middle) <= Z_95 * Z_95 { inside = middle } else { outside = middle }
        }
        inside
    }

    fn walk(&self, question: &TestParams) -> BoundedWalk {
        let (s0, s1) = (score_of_elo(question.elo0), score_of_elo(question.elo1));
        let (t0, t1) = (self.tilt(s0), self.tilt(s1));
        let step = |a: f64| (t0 * (a - s0)).ln_1p() - (t1 * (a - s1)).ln_1p();
        let drift = self.seen.iter().map(|(a, n)| n * step(*a)).sum::<f64>() / self.n;
        let variance = self.seen.iter().map(|(a, n)| n * (step(*a) - drift).powi(2)).sum::<f64>() / self.n;
        let (low, high) = question.bounds();
        BoundedWalk { drift, variance, low, high }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sprt::TestVerdict;

    const QUESTION: TestParams = TestParams { elo0: 0.0, elo1: 10.0, alpha: 0.05, beta: 0.05 };

    fn of(counts: [u64; 5]) -> SwappedPairsTest {
        SwappedPairsTest { counts: counts.to_vec() }
    }

    #[test]
    fn the_tilted_distribution_has_the_mean_and_sums_to_one() {
        for counts in [[3, 10, 40, 12, 5], [1, 0, 0, 0, 9], [0, 4, 6, 0, 0], [7, 1, 0, 0, 0]] {
            let cells = of(counts).cells();
            for s in [0.1, 0.5, 0.514, 0.9] {
                let t = cells.tilt(s);
                let p = |(a, n): &(f64, f64)| n / (cells.n * (1.0 + t * (a - s)));
                let (mass, mean) =
                    cells.seen.iter().fold((0.0, 0.0), |(m, e), cell| (m + p(cell), e + p(cell) * cell.0));
                // What is missing has gone to one kind that was not seen, the first or the last.
                let missing = 1.0 - mass;
                assert!(missing > -1e-9, "{counts:?} {s}: {mass}");
                let at_end = |share: f64| (mean + missing * share - s).abs() < 1e-9;
                assert!(missing.abs() < 1e-9 && at_end(0.0) || at_end(0.0) || at_end(1.0), "{counts:?} {s}");
            }
        }
    }

    /// No distribution with the same mean makes the results likelier: tried on a fine grid of three kinds.
    #[test]
    fn no_other_distribution_is_likelier() {
        let duel = of([6, 0, 11, 0, 3]);
        let cells = duel.cells();
        let own = -cells.lost(0.55);
        let best = |n: f64, p: f64| if n > 0.0 { n * (p * cells.n / n).ln() } else { 0.0 };
        let mut tried = f64::NEG_INFINITY;
        for i in 1..100_000 {
            // Chances of nothing, half and all with mean 0.55.
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
    fn clean_wins_and_losses_need_no_made_up_counts() {
        let (s0, s1) = (0.5f64, score_of_elo(10.0));
        assert!((of([0, 0, 0, 0, 40]).llr(&QUESTION) - 40.0 * (s1 / s0).ln()).abs() < 1e-9);
        assert!((of([40, 0, 0, 0, 0]).llr(&QUESTION) - 40.0 * ((1.0 - s1) / (1.0 - s0)).ln()).abs() < 1e-9);
        // The same bot twice: always a point each. It is not better, and that is found out.
        let drawn = of([0, 0, 200, 0, 0]).standing(&QUESTION);
        assert_eq!(drawn.answer, TestVerdict::No);
        assert!((drawn.superior - 0.5).abs() < 1e-6);
    }

    #[test]
    fn near_the_normal_approximation_when_nothing_is_strange() {
        let duel = of([120, 480, 900, 520, 140]);
        let (n, s0, s1) = (2160.0, 0.5, score_of_elo(10.0));
        let cells = duel.cells();
        let mean = cells.mean();
        let variance = cells.seen.iter().map(|(a, k)| k * (a - mean).powi(2)).sum::<f64>() / n;
        let normal = n * (s1 - s0) * (2.0 * mean - s0 - s1) / (2.0 * variance);
        assert!((duel.llr(&QUESTION) - normal).abs() < 0.01, "{} {normal}", duel.llr(&QUESTION));
        let (elo, half) = (duel.elo(), Z_95 * (variance / n).sqrt());
        assert!((elo.low - elo_of_score(mean - half)).abs() < 0.1, "{elo:?}");
        assert!((elo.high - elo_of_score(mean + half)).abs() < 0.1, "{elo:?}");
    }

    #[test]
    fn nothing_and_everything_are_infinite() {
        assert_eq!(SwappedPairsTest::new(1).llr(&QUESTION).to_bits(), 0.0f64.to_bits());
        assert!(SwappedPairsTest::new(1).elo().low.is_infinite());
        let elo = of([0, 0, 0, 0, 20]).elo();
        assert!(
            elo.best.is_infinite() && elo.high.is_infinite() && (200.0..500.0).contains(&elo.low),
            "{elo:?}"
        );
        // A match of three games a side has 13 kinds.
        assert_eq!(SwappedPairsTest::new(3).counts().len(), 13);
    }
}
