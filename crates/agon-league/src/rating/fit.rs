//! The strengths under which the results are likeliest: Newton's method, each step solved by conjugate gradients, so that millions of
//! pairs cost a few passes over them.

use std::cmp::Ordering;
use std::collections::HashMap;

use agon_core::Better;

use crate::result::Entrant;
use crate::tally::{SeedTotals, Tally};

/// Everybody also has a draw against somebody of strength 0, so that who has won or lost every game stays finite.
const PRIOR: f64 = 1.0;

/// All results between any two.
pub struct Results {
    /// Who has played.
    pub entrants: Vec<Entrant>,
    /// One entry for each pair, always in the same order: sums of floats depend on it.
    pub pairs: Vec<Pair>,
    /// For each entrant, how its results varied.
    pub varied: Vec<Varied>,
}

/// How an entrant's results varied from game to game.
#[derive(Clone, Copy, Default)]
pub struct Varied {
    pub games: f64,
    /// Sum over games of those it beat in one; who shares its place is half beaten.
    pub beaten: f64,
    pub beaten_squares: f64,
}

/// Results between two, by their places in [`Results::entrants`].
pub struct Pair {
    pub a: u32,
    pub b: u32,
    pub games: f32,
    /// Draws are half won.
    pub won: f32,
}

/// The boards both have played equally often, and who has the higher score there.
fn common<'b>(
    one: &'b [(u64, SeedTotals)],
    other: &'b [(u64, SeedTotals)],
) -> impl Iterator<Item = (u64, Ordering)> + 'b {
    let mut at = 0;
    one.iter().filter_map(move |(seed, board)| {
        while other.get(at).is_some_and(|(theirs, _)| theirs < seed) {
            at += 1;
        }
        let (_, theirs) = other.get(at).filter(|(theirs, b)| theirs == seed && b.games == board.games)?;
        Some((*seed, board.score.cmp(&theirs.score)))
    })
}

pub fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl Results {
    pub fn of(tally: &Tally) -> Self {
        let entrants: Vec<Entrant> = tally.entrants().map(|(entrant, _)| entrant).collect();
        let mut places = vec![None; entrants.last().map_or(0, |last| last.index() + 1)];
        entrants.iter().enumerate().for_each(|(place, entrant)| places[entrant.index()] = Some(place as u32));
        let place = |entrant: u32| places.get(entrant as usize).copied().flatten();
        let pairs = tally.pairs().sorted().filter(|met| met.games > 0).filter_map(|met| {
            let won = met.won as f32 + 0.5 * met.drawn() as f32;
            Some(Pair { a: place(met.a)?, b: place(met.b)?, games: met.games as f32, won })
        });
        let varied = tally.entrants().map(|(_, sums)| Varied {
            games: sums.games as f64,
            beaten: sums.beaten as f64 / 2.0,
            beaten_squares: sums.beaten_squares as f64 / 4.0,
        });
        Self { pairs: pairs.collect(), varied: varied.collect(), entrants }
    }

    /// Each board as a game in which those of one role compete: who did better there, over all opponents. Only boards on which both played
    /// the same number of games are compared.
    pub fn by_board(tally: &Tally, entrants: &[Entrant], better: Better) -> Self {
        let mut entrants = entrants.to_vec();
        entrants.sort_unstable();
        let boards: Vec<Vec<(u64, SeedTotals)>> = entrants
            .iter()
            .map(|&e| {
                tally.of(e).map_or_else(Vec::new, |sums| sums.boards.iter().map(|(&s, &b)| (s, b)).collect())
            })
            .collect();
        let mut beaten: Vec<HashMap<u64, f64>> = vec![HashMap::new(); entrants.len()];
        let mut pairs = Vec::new();
        for a in 0..entrants.len() {
            for b in a + 1..entrants.len() {
                let (mut games, mut won) = (0.0, 0.0);
                for (seed, order) in common(&boards[a], &boards[b]) {
                    let order = if better == Better::Lower { order.reverse() } else { order };
                    let share = [0.0, 0.5, 1.0][(order as i8 + 1) as usize];
                    games += 1.0;
                    won += share;
                    *beaten[a].entry(seed).or_default() += f64::from(share);
                    *beaten[b].entry(seed).or_default() += f64::from(1.0 - share);
                }
                if games > 0.0 {
                    pairs.push(Pair { a: a as u32, b: b as u32, games, won });
                }
            }
        }
        // Halves and quarters: their sums are exact, in whatever order a map has them.
        let varied = |beaten: &HashMap<u64, f64>| Varied {
            games: beaten.len() as f64,
            beaten: beaten.values().sum(),
            beaten_squares: beaten.values().map(|x| x * x).sum(),
        };
        Self { varied: beaten.iter().map(varied).collect(), pairs, entrants }
    }

    /// One strength for each entrant.
    pub fn fit(&self) -> Vec<f64> {
        let mut strengths = self.start();
        for _ in 0..60 {
            let (slope, curve) = self.shape(&strengths);
            let step = curve.solve(self, &slope);
            let longest = step.iter().fold(0.0_f64, |longest, x| longest.max(x.abs()));
            // Far from the end the model is no parabola: short steps never overshoot.
            let scale = if longest > 1.0 { 1.0 / longest } else { 1.0 };
            strengths.iter_mut().zip(&step).for_each(|(strength, x)| *strength += scale * x);
            if longest < 1e-6 {
                break;
            }
        }
        strengths
    }

    /// As if everybody had met the middle of the field.
    fn start(&self) -> Vec<f64> {
        let mut sums = vec![(0.5 * PRIOR, PRIOR); self.entrants.len()];
        for pair in &self.pairs {
            let (games, won) = (f64::from(pair.games), f64::from(pair.won));
            for (place, won) in [(pair.a, won), (pair.b, games - won)] {
                sums[place as usize].0 += won;
                sums[place as usize].1 += games;
            }
        }
        sums.iter().map(|(won, games)| (won / (games - won)).ln()).collect()
    }

    /// How steeply the likelihood rises from these strengths, and how sharply it bends.
    pub fn shape(&self, strengths: &[f64]) -> (Vec<f64>, Curve) {
        let mut slope = Vec::with_capacity(strengths.len());
        let mut diagonal = Vec::with_capacity(strengths.len());
        for &strength in strengths {
            let chance = logistic(strength);
            slope.push(PRIOR * (0.5 - chance));
            diagonal.push(PRIOR * chance * (1.0 - chance));
        }
        let mut pairs = Vec::with_capacity(self.pairs.len());
        for pair in &self.pairs {
            let (a, b, games) = (pair.a as usize, pair.b as usize, f64::from(pair.games));
            let chance = logistic(strengths[a] - strengths[b]);
            let more = f64::from(pair.won) - games * chance;
            slope[a] += more;
            slope[b] -= more;
            let weight = games * chance * (1.0 - chance);
            diagonal[a] += weight;
            diagonal[b] += weight;
            pairs.push(weight as f32);
        }
        (slope, Curve { diagonal, pairs })
    }
}

/// The observed information: what stands on the diagonal, and beside it for each pair (with a minus).
pub struct Curve {
    pub diagonal: Vec<f64>,
    pub pairs: Vec<f32>,
}

impl Curve {
    fn times(&self, results: &Results, x: &[f64]) -> Vec<f64> {
        let mut product: Vec<f64> = self.diagonal.iter().zip(x).map(|(d, x)| d * x).collect();
        for (pair, &weight) in results.pairs.iter().zip(&self.pairs) {
            let (a, b, weight) = (pair.a as usize, pair.b as usize, f64::from(weight));
            product[a] -= weight * x[b];
            product[b] -= weight * x[a];
        }
        product
    }

    /// Conjugate gradients, preconditioned by the diagonal.
    fn solve(&self, results: &Results, target: &[f64]) -> Vec<f64> {
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
            let product = self.times(results, &direction);
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
