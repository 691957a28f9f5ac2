//! How far off a rating may be. The model's own errors come from the observed information. They are then corrected, entrant by entrant,
//! by how much its results really varied (a sandwich estimate): results within one game hang together, draws vary less than the model
//! believes.

use super::fit::{Curve, Results, Varied, logistic};

/// Larger fields are close to everybody having met everybody, where the inverse is the inverse of the diagonal.
const MOST_INVERTED: usize = 400;
/// Few games say little about how much results vary: the model's word counts as much as so many.
const TRUST: f64 = 5.0;

/// Standard errors of strengths measured from the middle of the field.
pub fn errors(results: &Results, strengths: &[f64]) -> Vec<f64> {
    let (_, curve) = results.shape(strengths);
    let model = model_variances(results, &curve);
    let expected = Expected::of(results, strengths);
    let corrected =
        results.varied.iter().enumerate().map(|(place, varied)| {
            (model[place] * expected.factor(place, varied, curve.diagonal[place])).sqrt()
        });
    corrected.collect()
}

fn model_variances(results: &Results, curve: &Curve) -> Vec<f64> {
    let n = results.entrants.len();
    if n > MOST_INVERTED {
        return curve.diagonal.iter().map(|d| 1.0 / d).collect();
    }
    let mut matrix = vec![0.0; n * n];
    for (place, d) in curve.diagonal.iter().enumerate() {
        matrix[place * n + place] = *d;
    }
    for (pair, &weight) in results.pairs.iter().zip(&curve.pairs) {
        let (a, b) = (pair.a as usize, pair.b as usize);
        matrix[a * n + b] -= f64::from(weight);
        matrix[b * n + a] -= f64::from(weight);
    }
    invert(&mut matrix, n);
    // From the middle of the field: what all have in common is no error.
    let means: Vec<f64> = matrix.chunks(n.max(1)).map(|row| row.iter().sum::<f64>() / n as f64).collect();
    let middle = means.iter().sum::<f64>() / n.max(1) as f64;
    (0..n).map(|at| (matrix[at * n + at] - 2.0 * means[at] + middle).max(0.0)).collect()
}

/// Inverts a positive definite matrix in its place (Gauss and Jordan; no pivots are needed).
fn invert(matrix: &mut [f64], n: usize) {
    for k in 0..n {
        let pivot = 1.0 / matrix[k * n + k];
        let row: Vec<f64> = (0..n).map(|j| matrix[k * n + j] * pivot).collect();
        for i in (0..n).filter(|&i| i != k) {
            let factor = matrix[i * n + k];
            for (x, r) in matrix[i * n..(i + 1) * n].iter_mut().zip(&row) {
                *x -= factor * r;
            }
            matrix[i * n + k] = -factor * pivot;
        }
        matrix[k * n..(k + 1) * n].copy_from_slice(&row);
        matrix[k * n + k] = pivot;
    }
}

/// What the model expects of each entrant against those it met.
struct Expected {
    /// Opponents, games with them, sum and sum of squares of the chances to win these.
    sums: Vec<[f64; 4]>,
}

impl Expected {
    fn of(results: &Results, strengths: &[f64]) -> Self {
        let mut sums = vec![[0.0; 4]; results.entrants.len()];
        for pair in &results.pairs {
            let (a, b, games) = (pair.a as usize, pair.b as usize, f64::from(pair.games));
            let chance = logistic(strengths[a] - strengths[b]);
            for (place, chance) in [(a, chance), (b, 1.0 - chance)] {
                let add = [1.0, games, games * chance, games * chance * chance];
                sums[place].iter_mut().zip(add).for_each(|(sum, x)| *sum += x);
            }
        }
        Self { sums }
    }

    /// By how much the variance of an entrant's results differs from what the model believes.
    fn factor(&self, place: usize, varied: &Varied, information: f64) -> f64 {
        let [opponents, met, chances, squares] = self.sums[place];
        let Varied { games, beaten, beaten_squares } = *varied;
        if games < 2.0 || met < 1.0 {
            return 1.0;
        }
        let varied = (beaten_squares - beaten * beaten / games) / (games - 1.0);
        // Part of that is whom it met: some are easier than others. Nothing of it where all are met in every game.
        let others = met / games;
        let unlike = (squares / met - (chances / met).powi(2)).max(0.0);
        let left =
            if opponents > 1.0 { ((opponents - others) / (opponents - 1.0)).clamp(0.0, 1.0) } else { 0.0 };
        let by_chance = (varied - others * unlike * left).max(0.0);
        let doubt = TRUST * 0.25 * others;
        ((games * by_chance + doubt) / (information + doubt)).clamp(0.1, 50.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated;

    #[test]
    fn an_inverse_undoes_its_matrix() {
        let matrix = [4.0, -1.0, -0.5, -1.0, 3.0, -0.25, -0.5, -0.25, 2.0];
        let mut inverse = matrix;
        invert(&mut inverse, 3);
        for i in 0..3 {
            for j in 0..3 {
                let product: f64 = (0..3).map(|k| matrix[i * 3 + k] * inverse[k * 3 + j]).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12, "{i} {j}: {product}");
            }
        }
    }

    #[test]
    fn in_a_large_field_the_diagonal_says_as_much_as_the_inverse() {
        let strengths: Vec<f64> = (0..100).map(|n| 0.02 * f64::from(n)).collect();
        let tally = simulated::word_racer(&strengths, 1, 4).tally();
        let results = Results::of(&tally);
        let (_, curve) = results.shape(&results.fit());
        for (exact, diagonal) in model_variances(&results, &curve).iter().zip(&curve.diagonal) {
            assert!((exact * diagonal - 1.0).abs() < 0.02, "{exact}, {}", 1.0 / diagonal);
        }
    }
}
