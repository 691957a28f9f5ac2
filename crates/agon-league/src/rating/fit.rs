//! Maximum likelihood strengths. Newton's method solves each step by conjugate gradients, so millions of pairs cost a few passes.

use std::cmp::Ordering;
use std::collections::HashMap;

use agon_core::ScoreDirection;

use crate::result::Entrant;
use crate::tally::{SeedTotals, Tally};

/// Every entrant also has this many draws against strength 0, so that strengths stay finite after only wins or only losses.
const PRIOR_DRAWS: f64 = 1.0;

/// Results between all pairs.
pub struct PairResults {
    /// Entrants that have played.
    pub entrants: Vec<Entrant>,
    /// One entry per pair, always in the same order, because float sums depend on it.
    pub pairs: Vec<PairResult>,
    /// Variation of results, per entrant.
    pub variations: Vec<ResultVariation>,
}

/// How the results of an entrant varied from game to game.
#[derive(Clone, Copy, Default)]
pub struct ResultVariation {
    pub games: f64,
    /// Sum over games of the opponents beaten; a shared place counts half.
    pub beaten: f64,
    pub beaten_squares: f64,
}

/// Results between two entrants, given as indexes into [`PairResults::entrants`].
pub struct PairResult {
    pub a: u32,
    pub b: u32,
    pub games: f32,
    /// Wins; a draw counts half.
    pub won: f32,
}

/// Seeds that both have played equally often, and the order of their scores there.
fn common_seeds<'b>(
    one: &'b [(u64, SeedTotals)],
    other: &'b [(u64, SeedTotals)],
) -> impl Iterator<Item = (u64, Ordering)> + 'b {
    let mut at = 0;
    one.iter().filter_map(move |(seed, own)| {
        while other.get(at).is_some_and(|(theirs, _)| theirs < seed) {
            at += 1;
        }
        let (_, theirs) = other.get(at).filter(|(theirs, b)| theirs == seed && b.games == own.games)?;
        Some((*seed, own.score.cmp(&theirs.score)))
    })
}

pub fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl PairResults {
    pub fn of(tally: &Tally) -> Self {
        let entrants: Vec<Entrant> = tally.entrants().map(|(entrant, _)| entrant).collect();
        let mut places = vec![None; entrants.last().map_or(0, |last| last.index() + 1)];
        entrants.iter().enumerate().for_each(|(place, entrant)| places[entrant.index()] = Some(place as u32));
        let place = |entrant: u32| places.get(entrant as usize).copied().flatten();
        let pairs = tally.pairs().sorted().filter(|met| met.games > 0).filter_map(|met| {
            let won = met.won as f32 + 0.5 * met.drawn() as f32;
            Some(PairResult { a: place(met.a)?, b: place(met.b)?, games: met.games as f32, won })
        });
        let varied = tally.entrants().map(|(_, sums)| ResultVariation {
            games: sums.games as f64,
            beaten: sums.beaten as f64 / 2.0,
            beaten_squares: sums.beaten_squares as f64 / 4.0,
        });
        Self { pairs: pairs.collect(), variations: varied.collect(), entrants }
    }

    /// Treats each seed as a game between the entrants of one role: the better total score there wins. Compares only seeds on which both
    /// played the same number of games.
    pub fn by_seed(tally: &Tally, entrants: &[Entrant], better: ScoreDirection) -> Self {
        let mut entrants = entrants.to_vec();
        entrants.sort_unstable();
        let by_seed: Vec<Vec<(u64, SeedTotals)>> = entrants
            .iter()
            .map(|&e| {
                tally.of(e).map_or_else(Vec::new, |sums| sums.by_seed.iter().map(|(&s, &b)| (s, b)).collect())
            })
            .collect();
        let mut beaten: Vec<HashMap<u64, f64>> = vec![HashMap::new(); entrants.len()];
        let mut pairs = Vec::new();
        for a in 0..entrants.len() {
            for b in a + 1..entrants.len() {
                let (mut games, mut won) = (0.0, 0.0);
                for (seed, order) in common_seeds(&by_seed[a], &by_seed[b]) {
                    let order = if better == ScoreDirection::Lower { order.reverse() } else { order };
                    let share = [0.0, 0.5, 1.0][(order as i8 + 1) as usize];
                    games += 1.0;
                    won += share;
                    *beaten[a].entry(seed).or_default() += f64::from(share);
                    *beaten[b].entry(seed).or_default() += f64::from(1.0 - share);
                }
                if games > 0.0 {
                    pairs.push(PairResult { a: a as u32, b: b as u32, games, won });
                }
            }
        }
        // Multiples of a quarter have exact sums in any order.
        let varied = |beaten: &HashMap<u64, f64>| ResultVariation {
            games: beaten.len() as f64,
            beaten: beaten.values().sum(),
            beaten_squares: beaten.values().map(|x| x * x).sum(),
        };
        Self { variations: beaten.iter().map(varied).collect(), pairs, entrants }
    }

    /// One strength per entrant.
    pub fn fit(&self) -> Vec<f64> {
        let mut strengths = self.initial_strengths();
        for _ in 0..60 {
            let (gradient, information) = self.gradient_and_information(&strengths);
            let step = information.solve(self, &gradient);
            let longest = step.iter().fold(0.0_f64, |longest, x| longest.max(x.abs()));
            // Far from the optimum the likelihood is not quadratic; short steps avoid overshooting.
            let scale = if longest > 1.0 { 1.0 / longest } else { 1.0 };
            strengths.iter_mut().zip(&step).for_each(|(strength, x)| *strength += scale * x);
            if longest < 1e-6 {
                break;
            }
        }
        strengths
    }

    /// Start values, as if all opponents had average strength.
    fn initial_strengths(&self) -> Vec<f64> {
        let mut sums = vec![(0.5 * PRIOR_DRAWS, PRIOR_DRAWS); self.entrants.len()];
        for pair in &self.pairs {
            let (games, won) = (f64::from(pair.games), f64::from(pair.won));
            for (place, won) in [(pair.a, won), (pair.b, games - won)] {
                sums[place as usize].0 += won;
                sums[place as usize].1 += games;
            }
        }
        sums.iter().map(|(won, games)| (won / (games - won)).ln()).collect()
    }

    /// Gradient of the log-likelihood and its observed information.
    pub fn gradient_and_information(&self, strengths: &[f64]) -> (Vec<f64>, ObservedInformation) {
        let mut gradient = Vec::with_capacity(strengths.len());
        let mut diagonal = Vec::with_capacity(strengths.len());
        for &strength in strengths {
            let chance = logistic(strength);
            gradient.push(PRIOR_DRAWS * (0.5 - chance));
            diagonal.push(PRIOR_DRAWS * chance * (1.0 - chance));
        }
        let mut pairs = Vec::with_capacity(self.pairs.len());
        for pair in &self.pairs {
            let (a, b, games) = (pair.a as usize, pair.b as usize, f64::from(pair.games));
            let chance = logistic(strengths[a] - strengths[b]);
            let more = f64::from(pair.won) - games * chance;
            gradient[a] += more;
            gradient[b] -= more;
            let weight = games * chance * (1.0 - chance);
            diagonal[a] += weight;
            diagonal[b] += weight;
            pairs.push(weight as f32);
        }
        (gradient, ObservedInformation { diagonal, pairs })
    }
}

/// Observed information matrix: the diagonal, and the negated off-diagonal entry of each pair.
pub struct ObservedInformation {
    pub diagonal: Vec<f64>,
    pub pairs: Vec<f32>,
}

impl ObservedInformation {
    fn multiply(&self, results: &PairResults, x: &[f64]) -> Vec<f64> {
        let mut product: Vec<f64> = self.diagonal.iter().zip(x).map(|(d, x)| d * x).collect();
        for (pair, &weight) in results.pairs.iter().zip(&self.pairs) {
            let (a, b, weight) = (pair.a as usize, pair.b as usize, f64::from(weight));
            product[a] -= weight * x[b];
            product[b] -= weight * x[a];
        }
        product
    }

    /// Conjugate gradients, preconditioned by the diagonal.
    fn solve(&self, results: &PairResults, target: &[f64]) -> Vec<f64> {
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let scaled = |x: &[f64]| x.iter().zip(&self.diagonal).map(|(x, d)| x / d).collect::<Vec<f64>>();
        let mut x = vec![0.0; target.len()];
        let mut rest = target.to_vec();
        let mut direction = scaled(&rest);
        let mut size = dot(&rest, &direction);
        let enough = size * 1e-8;
        for _ in 0..200 {
            if size <= enough || size < 1e-20 {
                break;
            }
            let product = self.multiply(results, &direction);
            let along = size / dot(&direction, &product);
            for at in 0..x.len() {
                x[at] += along * direction[at];
                rest[at] -= along * product[at];
            }
            let next = scaled(&rest);
            let next_size = dot(&rest, &next);
            let turn = next_size / size;
            direction.iter_mut().zip(&next).for_each(|(d, n)| *d = n + turn * *d);
            size = next_size;
        }
        x
    }
}
