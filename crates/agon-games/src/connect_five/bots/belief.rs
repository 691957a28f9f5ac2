//! What a bot can know about the special columns: how likely each pair of columns is the special one, together with
//! how likely each p and q is, given everything seen so far in the match.

use super::drift::{Drift, PARTS};
use super::position::{Lines, Position, column_mask, column_of};
use crate::connect_five::board::COLUMNS;

/// p and q are weighed on a grid of so many steps.
const STEPS: usize = 12;
/// The points of the grid on the triangle p + q <= 1.
const POINTS: usize = STEPS * (STEPS + 1) / 2;
/// How many pairs of columns there are.
const PAIRS: usize = COLUMNS * (COLUMNS - 1) / 2;
/// Drift less likely than this many [`PARTS`] is left out of a search.
const NEGLIGIBLE: i32 = 64;
/// So many drops of the opponent are listened to: a wrong guess at how it chooses, repeated for ninety games, would
/// outweigh what our own pieces prove.
const LISTEN: u32 = 60;

/// Weights over pairs of columns and over p and q.
pub(super) struct Belief {
    pairs: [(usize, usize); PAIRS],
    odds: [(f32, f32); POINTS],
    /// For each pair, for each point; they add up to 1.
    weights: Vec<[f32; POINTS]>,
    /// How many drops of the opponent have been weighed.
    heard: u32,
}

impl Belief {
    /// Before anything is seen: all pairs alike, p and q uniform on the triangle.
    pub(super) fn new() -> Self {
        let mut pairs = [(0, 0); PAIRS];
        let all = (0..COLUMNS).flat_map(|a| (a + 1..COLUMNS).map(move |b| (a, b)));
        pairs.iter_mut().zip(all).for_each(|(pair, these)| *pair = these);
        let mut odds = [(0.0, 0.0); POINTS];
        let grid = (0..STEPS).flat_map(|i| (0..STEPS - i).map(move |j| (i, j)));
        // The centre of gravity of each small triangle or square cut off by p + q <= 1 lies near a third.
        let at = |i: usize| (i as f32 + 1.0 / 3.0) / STEPS as f32;
        odds.iter_mut().zip(grid).for_each(|(point, (i, j))| *point = (at(i), at(j)));
        let even = 1.0 / (PAIRS * POINTS) as f32;
        Self { pairs, odds, weights: vec![[even; POINTS]; PAIRS], heard: 0 }
    }

    /// Weighs every possibility by how likely it makes what was seen: `likely(columns, p, q)`.
    fn weigh(&mut self, likely: impl Fn((usize, usize), f32, f32) -> f32) {
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
            // Seen what cannot be: rather know nothing than something wrong.
            *self = Self::new();
        }
    }

    /// A piece of ours was dropped into `named` of this position and landed in `landed`.
    pub(super) fn own_drop(&mut self, before: Position, named: usize, landed: usize) {
        let open = before.open();
        self.weigh(|pair, p, q| chance(open, pair, (p, q), named, landed));
    }

    /// The opponent, to move in this position, got a piece into `landed`; which column it named is not known,
    /// only how likely it would name each (`names`).
    pub(super) fn other_drop(&mut self, before: Position, names: &[f32; COLUMNS], landed: usize) {
        if self.heard >= LISTEN {
            return;
        }
        self.heard += 1;
        let open = before.open();
        let near = landed.saturating_sub(1)..(landed + 2).min(COLUMNS);
        self.weigh(|pair, p, q| {
            let likely = near.clone().map(|named| names[named] * chance(open, pair, (p, q), named, landed));
            // The square root, since how an opponent chooses is only guessed at.
            likely.sum::<f32>().max(1e-6).sqrt()
        });
    }

    /// How likely a piece dropped into each column drifts, as far as is known.
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
            // In coarse steps: a belief that hardly changes keeps the search's table useful.
            let parts = |x: f32| ((x * 32.0 + 0.5) as i32) * (PARTS / 32);
            let (l, r) = (parts(left[column]), parts(right[column]));
            if l + r >= NEGLIGIBLE {
                (drift.left[column], drift.right[column]) = (l, r);
            }
        }
        drift
    }

    /// How likely a column is special.
    #[cfg(test)]
    pub(super) fn special(&self, column: usize) -> f32 {
        let pairs = self.pairs.iter().zip(&self.weights);
        pairs.filter(|((a, b), _)| *a == column || *b == column).flat_map(|(_, w)| w).sum()
    }
}

/// How likely a piece dropped into `named` lands in `landed`, if these are the special columns.
#[inline]
fn chance(open: u64, pair: (usize, usize), (p, q): (f32, f32), named: usize, landed: usize) -> f32 {
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

/// How likely a sensible player names each column: it wins, else blocks, else builds lines near the middle; now and
/// then it does something else.
pub(super) fn sensible(position: Position) -> [f32; COLUMNS] {
    let open = position.open();
    let mine = Lines::of(position.own, position.other);
    let theirs = Lines::of(position.other, position.own);
    let urgent = [mine.fifth & open, theirs.fifth & open].into_iter().find(|&set| set != 0);
    let mut names = [0.0; COLUMNS];
    for column in position.columns() {
        let cell = position.open_in(column);
        let middle = 4.0 - (column as f32 - 4.0).abs();
        names[column] = match urgent {
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

/// The column of the one cell that is new, if it is just one.
pub(super) fn new_piece(before: u64, now: u64) -> Option<usize> {
    let new = now & !before;
    (new.is_power_of_two() && before & !now == 0).then(|| column_of(new))
}

#[cfg(test)]
mod tests {
    use agon_core::QuickRng;

    use super::*;

    const EMPTY: Position = Position { own: 0, other: 0 };

    #[test]
    fn two_drifts_say_it_all() {
        let mut belief = Belief::new();
        assert!((belief.special(3) - 2.0 / 9.0).abs() < 1e-3);
        belief.own_drop(EMPTY, 3, 2);
        assert!((belief.special(3) - 1.0).abs() < 1e-3);
        belief.own_drop(EMPTY, 6, 7);
        assert!((belief.special(6) - 1.0).abs() < 1e-3);
        assert!(belief.special(0) < 1e-3);
        let drift = belief.drift();
        assert!(drift.left[3] > 200 && drift.right[3] > 200 && drift.left[4] == 0);
    }

    #[test]
    fn a_piece_that_stays_makes_its_column_less_suspect() {
        let mut belief = Belief::new();
        (0..3).for_each(|_| belief.own_drop(EMPTY, 4, 4));
        assert!(belief.special(4) < 0.05 && belief.special(3) > 2.0 / 9.0);
    }

    #[test]
    fn p_and_q_are_learnt() {
        let mut belief = Belief::new();
        let mut rng = QuickRng::new(1);
        for _ in 0..300 {
            let x = rng.unit();
            belief.own_drop(
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
    fn an_opponent_that_blocks_beside_the_danger_gives_a_column_away() {
        // Four of ours at the bottom of column 2: the opponent surely named it, yet its piece lies in column 3.
        let mut belief = Belief::new();
        let before = Position { own: 0, other: 0b1111 << 14 };
        let suspect = belief.special(2);
        belief.other_drop(before, &sensible(before), 3);
        assert!(belief.special(2) > suspect + 0.15, "{}", belief.special(2));
    }
}
