//! Standard errors of ratings. The model's errors come from the observed information. They are then corrected per entrant by the
//! actual variance of its results (a sandwich estimate), because results within one game are correlated and draws vary less than the
//! model assumes.

use super::fit::{ObservedInformation, PairResults, ResultVariation, logistic};

/// Above this size the inverse is approximated by the inverse of the diagonal, which is close if nearly all pairs have met.
const MAX_INVERTED_ENTRANTS: usize = 400;
/// Weight of the model's variance, in games: a few games say little about how much results vary.
const MODEL_WEIGHT_GAMES: f64 = 5.0;

/// Standard errors of strengths relative to the mean of the field.
pub fn standard_errors(results: &PairResults, strengths: &[f64]) -> Vec<f64> {
    let (_, information) = results.gradient_and_information(strengths);
    let model = model_variances(results, &information);
    let expected = ExpectedResults::of(results, strengths);
    let corrected = results.variations.iter().enumerate().map(|(place, variation)| {
        (model[place] * expected.variance_factor(place, variation, information.diagonal[place])).sqrt()
    });
    corrected.collect()
}

fn model_variances(results: &PairResults, information: &ObservedInformation) -> Vec<f64> {
    let n = results.entrants.len();
    if n > MAX_INVERTED_ENTRANTS {
        return information.diagonal.iter().map(|d| 1.0 / d).collect();
    }
    let mut matrix = vec![0.0; n * n];
    for (place, d) in information.diagonal.iter().enumerate() {
        matrix[place * n + place] = *d;
    }
    for (pair, &weight) in results.pairs.iter().zip(&information.pairs) {
        let (a, b) = (pair.a as usize, pair.b as usize);
        matrix[a * n + b] -= f64::from(weight);
        matrix[b * n + a] -= f64::from(weight);
    }
    invert(&mut matrix, n);
    // Relative to the mean of the field: a common shift is not an error.
    let means: Vec<f64> = matrix.chunks(n.max(1)).map(|row| row.iter().sum::<f64>() / n as f64).collect();
    let middle = means.iter().sum::<f64>() / n.max(1) as f64;
    (0..n).map(|at| (matrix[at * n + at] - 2.0 * means[at] + middle).max(0.0)).collect()
}

/// Inverts a positive definite matrix in place (Gauss-Jordan; no pivoting needed).
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

/// Results the model expects of each entrant against its opponents.
struct ExpectedResults {
    /// Opponents, games with them, sum and sum of squares of the win probabilities.
    sums: Vec<[f64; 4]>,
}

impl ExpectedResults {
    fn of(results: &PairResults, strengths: &[f64]) -> Self {
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

    /// Ratio of the actual variance of an entrant's results to the model's.
    fn variance_factor(&self, place: usize, variation: &ResultVariation, information: f64) -> f64 {
        let [opponents, met, chances, squares] = self.sums[place];
        let ResultVariation { games, beaten, beaten_squares } = *variation;
        if games < 2.0 || met < 1.0 {
            return 1.0;
        }
        let variation = (beaten_squares - beaten * beaten / games) / (games - 1.0);
        // Opponents of different strength cause part of the variance. Nothing of it if all are met in every game.
        let others = met / games;
        let unlike = (squares / met - (chances / met).powi(2)).max(0.0);
        let left =
            if opponents > 1.0 { ((opponents - others) / (opponents - 1.0)).clamp(0.0, 1.0) } else { 0.0 };
        let by_chance = (variation - others * unlike * left).max(0.0);
        let model_variance = MODEL_WEIGHT_GAMES * 0.25 * others;
        ((games * by_chance + model_variance) / (information + model_variance)).clamp(0.1, 50.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated;

    #[test]
    fn invert_times_matrix_gives_identity() {
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
    fn model_variances_in_a_large_field_are_close_to_the_inverse_diagonal() {
        let strengths: Vec<f64> = (0..100).map(|n| 0.02 * f64::from(n)).collect();
        let tally = simulated::round_robin("word-racer", &strengths, 1, 4).tally();
        let results = PairResults::of(&tally);
        let (_, information) = results.gradient_and_information(&results.fit());
        for (exact, diagonal) in model_variances(&results, &information).iter().zip(&information.diagonal) {
            assert!((exact * diagonal - 1.0).abs() < 0.02, "{exact}, {}", 1.0 / diagonal);
        }
    }
}
