//! Bayesian estimate of the special columns: the probability of each pair of columns and of each p and q, given
//! everything seen so far in the match.

use super::drift::{Drift, PROBABILITY_SCALE};
use super::position::{OpenLines, Position, column_mask, column_of};
use crate::connect_five::board::COLUMNS;

/// Number of grid steps for p and q.
const GRID_STEPS: usize = 12;
/// Number of grid points in the triangle p + q <= 1.
const GRID_POINTS: usize = GRID_STEPS * (GRID_STEPS + 1) / 2;
/// Number of pairs of columns.
const COLUMN_PAIRS: usize = COLUMNS * (COLUMNS - 1) / 2;
/// Minimum drift, in parts of [`PROBABILITY_SCALE`], that a search considers.
const MIN_DRIFT: i32 = 64;
/// Maximum number of opponent drops that are used. The model of the opponent's choices is only a guess; over ninety games its
/// error would outweigh the evidence of the bot's own pieces.
const MAX_OPPONENT_DROPS: u32 = 60;

/// Probabilities of pairs of columns and of p and q.
pub(super) struct DriftBelief {
    pairs: [(usize, usize); COLUMN_PAIRS],
    odds: [(f32, f32); GRID_POINTS],
    /// Probability of each pair and grid point; the sum is 1.
    weights: Vec<[f32; GRID_POINTS]>,
    /// Number of opponent drops used so far.
    opponent_drops: u32,
}

impl DriftBelief {
    /// Initial estimate: all pairs equal, p and q uniform on the triangle.
    pub(super) fn new() -> Self {
        let mut pairs = [(0, 0); COLUMN_PAIRS];
        let all = (0..COLUMNS).flat_map(|a| (a + 1..COLUMNS).map(move |b| (a, b)));
        pairs.iter_mut().zip(all).for_each(|(pair, these)| *pair = these);
        let mut odds = [(0.0, 0.0); GRID_POINTS];
        let grid = (0..GRID_STEPS).flat_map(|i| (0..GRID_STEPS - i).map(move |j| (i, j)));
        // The centroid of each grid cell cut by p + q <= 1 is near a third.
        let at = |i: usize| (i as f32 + 1.0 / 3.0) / GRID_STEPS as f32;
        odds.iter_mut().zip(grid).for_each(|(point, (i, j))| *point = (at(i), at(j)));
        let even = 1.0 / (COLUMN_PAIRS * GRID_POINTS) as f32;
        Self { pairs, odds, weights: vec![[even; GRID_POINTS]; COLUMN_PAIRS], opponent_drops: 0 }
    }

    /// Multiplies every probability by the likelihood of an observation, `likely(columns, p, q)`.
    fn update(&mut self, likely: impl Fn((usize, usize), f32, f32) -> f32) {
        let mut total = 0.0;
        for (pair, weights) in self.pairs.iter().zip(&mut self.weights) {
            for ((p, q), weight) in self.odds.iter().zip(weights) {
                *weight *= likely(*pair, *p, *q);
                total += *weight;
            }
        }
        if total > 0.0 {
            self.weights.iter_mut().flatten().for_each(|weight| *weight /= total);
        } else {
            // The observation is impossible under the model. Start over instead of keeping a wrong estimate.
            *self = Self::new();
        }
    }

    /// Uses a drop of this bot into `named` that landed in `landed`.
    pub(super) fn observe_own_drop(&mut self, before: Position, named: usize, landed: usize) {
        let open = before.open();
        self.update(|pair, p, q| landing_probability(open, pair, (p, q), named, landed));
    }

    /// Uses a drop of the opponent that landed in `landed`. The named column is unknown; `names` is the probability of each.
    pub(super) fn observe_opponent_drop(&mut self, before: Position, names: &[f32; COLUMNS], landed: usize) {
        if self.opponent_drops >= MAX_OPPONENT_DROPS {
            return;
        }
        self.opponent_drops += 1;
        let open = before.open();
        let near = landed.saturating_sub(1)..(landed + 2).min(COLUMNS);
        self.update(|pair, p, q| {
            let likely = near
                .clone()
                .map(|named| names[named] * landing_probability(open, pair, (p, q), named, landed));
            // The square root reduces the weight, because the opponent's choice is only a guess.
            likely.sum::<f32>().max(1e-6).sqrt()
        });
    }

    /// Expected drift of a piece dropped into each column.
    pub(super) fn drift(&self) -> Drift {
        let (mut left, mut right) = ([0.0; COLUMNS], [0.0; COLUMNS]);
        for (&(a, b), weights) in self.pairs.iter().zip(&self.weights) {
            let (mut p_mass, mut q_mass) = (0.0, 0.0);
            for ((p, q), weight) in self.odds.iter().zip(weights) {
                p_mass += p * weight;
                q_mass += q * weight;
            }
            for column in [a, b] {
                left[column] += p_mass;
                right[column] += q_mass;
            }
        }
        let mut drift = Drift::default();
        for column in 0..COLUMNS {
            // Coarse steps: small changes of the estimate should not invalidate the search's transposition table.
            let parts = |x: f32| ((x * 32.0 + 0.5) as i32) * (PROBABILITY_SCALE / 32);
            let (l, r) = (parts(left[column]), parts(right[column]));
            if l + r >= MIN_DRIFT {
                (drift.left[column], drift.right[column]) = (l, r);
            }
        }
        drift
    }

    /// Probability that a column is special.
    #[cfg(test)]
    pub(super) fn special_probability(&self, column: usize) -> f32 {
        let pairs = self.pairs.iter().zip(&self.weights);
        pairs.filter(|((a, b), _)| *a == column || *b == column).flat_map(|(_, w)| w).sum()
    }
}

/// Probability that a piece dropped into `named` lands in `landed`, given the special columns.
#[inline]
fn landing_probability(
    open: u64,
    pair: (usize, usize),
    (p, q): (f32, f32),
    named: usize,
    landed: usize,
) -> f32 {
    if open & column_mask(named) == 0 {
        return 0.0;
    }
    if named != pair.0 && named != pair.1 {
        return if named == landed { 1.0 } else { 0.0 };
    }
    let has_room = |column: usize| column < COLUMNS && open & column_mask(column) != 0;
    let left = if has_room(named.wrapping_sub(1)) { p } else { 0.0 };
    let right = if has_room(named + 1) { q } else { 0.0 };
    if landed == named {
        1.0 - left - right
    } else if landed + 1 == named {
        left
    } else if landed == named + 1 {
        right
    } else {
        0.0
    }
}

/// Probability that a sensible player names each column. It wins, else blocks, else builds lines near the middle, and
/// sometimes does something else.
pub(super) fn likely_choices(position: Position) -> [f32; COLUMNS] {
    let open = position.open();
    let mine = OpenLines::of(position.own, position.other);
    let theirs = OpenLines::of(position.other, position.own);
    let winning_or_blocking_cell = [mine.fifth & open, theirs.fifth & open].into_iter().find(|&set| set != 0);
    let mut names = [0.0; COLUMNS];
    for column in position.columns() {
        let cell = position.open_in(column);
        let middle = 4.0 - (column as f32 - 4.0).abs();
        names[column] = match winning_or_blocking_cell {
            Some(cells) if cells & cell != 0 => 20.0,
            Some(_) => 0.3,
            None if theirs.fifth & cell << 1 & column_mask(column) != 0 => 0.3,
            None => {
                let hot = (mine.fourth & cell != 0) as u8 + (theirs.fourth & cell != 0) as u8;
                1.0 + 0.3 * middle + 1.5 * f32::from(hot)
            }
        };
    }
    let total: f32 = names.iter().sum();
    if total > 0.0 {
        for name in &mut names {
            *name /= total;
        }
    }
    names
}

/// Column of the new cell, if exactly one is new.
pub(super) fn new_piece(before: u64, now: u64) -> Option<usize> {
    let new = now & !before;
    (new.is_power_of_two() && before & !now == 0).then(|| column_of(new))
}

#[cfg(test)]
mod tests {
    use agon_core::FastRng;

    use super::*;

    const EMPTY: Position = Position { own: 0, other: 0 };

    #[test]
    fn two_drifts_identify_both_special_columns() {
        let mut belief = DriftBelief::new();
        assert!((belief.special_probability(3) - 2.0 / 9.0).abs() < 1e-3);
        belief.observe_own_drop(EMPTY, 3, 2);
        assert!((belief.special_probability(3) - 1.0).abs() < 1e-3);
        belief.observe_own_drop(EMPTY, 6, 7);
        assert!((belief.special_probability(6) - 1.0).abs() < 1e-3);
        assert!(belief.special_probability(0) < 1e-3);
        let drift = belief.drift();
        assert!(drift.left[3] > 200 && drift.right[3] > 200 && drift.left[4] == 0);
    }

    #[test]
    fn piece_that_stays_makes_its_column_less_likely_special() {
        let mut belief = DriftBelief::new();
        (0..3).for_each(|_| belief.observe_own_drop(EMPTY, 4, 4));
        assert!(belief.special_probability(4) < 0.05 && belief.special_probability(3) > 2.0 / 9.0);
    }

    #[test]
    fn p_and_q_are_learnt_from_many_drops() {
        let mut belief = DriftBelief::new();
        let mut rng = FastRng::new(1);
        for _ in 0..300 {
            let x = rng.unit();
            belief.observe_own_drop(
                EMPTY,
                5,
                if x < 0.6 {
                    4
                } else if x < 0.7 {
                    6
                } else {
                    5
                },
            );
        }
        let drift = belief.drift();
        assert!((550..680).contains(&drift.left[5]) && (60..160).contains(&drift.right[5]), "{drift:?}");
    }

    #[test]
    fn opponent_block_beside_the_danger_makes_the_column_suspect() {
        // Four own pieces at the bottom of column 2: the opponent surely named it, but its piece is in column 3.
        let mut belief = DriftBelief::new();
        let before = Position { own: 0, other: 0b1111 << 14 };
        let suspect = belief.special_probability(2);
        belief.observe_opponent_drop(before, &likely_choices(before), 3);
        assert!(belief.special_probability(2) > suspect + 0.15, "{}", belief.special_probability(2));
    }
}
