//! Entrants that are compared by one mean, and whether the order of neighbours is settled.

use super::interval::MeanEstimate;
use super::quantile::student_quantile;
use crate::result::{Entrant, FixedPoint};
use crate::tally::{ScoreMoments, EntrantTotals, Tally};

/// Which mean decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RankingMean {
    /// Score a game.
    Score,
    /// Points a match, where they were given; else score a game.
    Points,
}

/// Between two neighbours of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NeighbourOrder {
    /// It would hardly be different if all was played again.
    Settled,
    /// It might be.
    Open,
}

/// Whoever is compared with each other.
pub struct RankedMeans<'t> {
    tally: &'t Tally,
    counted: RankingMean,
    entrants: Vec<Entrant>,
    known: Vec<MeanEstimate>,
    /// By board, if scores are kept so: how each board moves the mean.
    moves: Vec<Vec<(u64, f64)>>,
}

/// With more opponents than games against each of them, those games say too little about what is chance.
const GAMES_AN_OPPONENT: u64 = 2;

impl<'t> RankedMeans<'t> {
    /// These entrants; those who have not played are left out.
    pub fn new(tally: &'t Tally, counted: RankingMean, entrants: &[Entrant]) -> Self {
        let entrants: Vec<Entrant> = entrants.iter().copied().filter(|&e| tally.of(e).is_some()).collect();
        let sums: Vec<&EntrantTotals> = entrants.iter().filter_map(|&entrant| tally.of(entrant)).collect();
        let pooled = pooled(sums.iter().map(|sums| counted.spread(sums)));
        let within = Within::of(tally, counted);
        let mut moves = Vec::new();
        let range = range(sums.iter().map(|sums| counted.spread(sums)));
        let known = sums
            .iter()
            .zip(&entrants)
            .map(|(sums, &entrant)| {
                let spread = counted.spread(sums);
                if counted.is_score(sums) && sums.boards.len() > 1 {
                    let by_board = moves_of(sums);
                    let list: Vec<f64> = by_board.iter().map(|&(_, x)| x).collect();
                    moves.push(by_board);
                    return MeanEstimate { range, ..MeanEstimate::of_moves(spread.mean(), &list, pooled) };
                }
                moves.push(Vec::new());
                MeanEstimate { range, ..MeanEstimate::of(spread, within.variance(entrant, spread), pooled) }
            })
            .collect();
        Self { tally, counted, entrants, known, moves }
    }

    fn place(&self, entrant: Entrant) -> Option<usize> {
        self.entrants.iter().position(|&e| e == entrant)
    }

    /// What is known of an entrant's mean.
    pub fn known(&self) -> impl Iterator<Item = (Entrant, MeanEstimate)> {
        self.entrants.iter().copied().zip(self.known.iter().copied())
    }

    /// The standard error of the difference of two means. Games both played are compared within themselves: what they have in common is no
    /// chance, and what one has at the other's expense counts twice.
    fn difference_error(&self, one: usize, other: usize) -> f64 {
        let (a, b) = (&self.known[one], &self.known[other]);
        let (left, right) = (&self.moves[one], &self.moves[other]);
        if !left.is_empty() && !right.is_empty() {
            return paired_error(left, right).max(0.25 * a.error.hypot(b.error));
        }
        let apart = a.error.powi(2) + b.error.powi(2);
        let together = self.covariance(one, other);
        // Two who always do the same to each other's digit would be told apart by one game: leave some doubt.
        (apart - 2.0 * together).max(0.01 * apart).sqrt()
    }

    fn covariance(&self, one: usize, other: usize) -> f64 {
        let (a, b) = (self.entrants[one], self.entrants[other]);
        let (Some(met), Some(sums_a), Some(sums_b)) =
            (self.tally.pairs().get(a, b), self.tally.of(a), self.tally.of(b))
        else {
            return 0.0;
        };
        if !self.counted.is_score(sums_a) {
            // Of points only the sums are known: what one gets the other does not.
            let share = f64::from(met.matches).powi(2) / (sums_a.matches * sums_b.matches).max(1) as f64;
            return -share.sqrt().min(1.0) * self.known[one].error * self.known[other].error;
        }
        if met.games < 2 {
            return 0.0;
        }
        let (m, unit) = (f64::from(met.games), FixedPoint::ONE as f64);
        let product = (met.score_a as f64 / unit) * (met.score_b as f64 / unit) / m;
        let each = (met.cross as f64 / 1e6 - product) / (m - 1.0);
        m * each / (sums_a.games as f64 * sums_b.games as f64)
    }

    /// Whether each of `order` is settled against the next. The level is shared among all neighbours, so that in a whole table equals are
    /// told apart in no more than one case of twenty.
    pub fn settled(&self, order: &[Entrant]) -> Vec<NeighbourOrder> {
        let alpha = (1.0 - super::LEVEL) / order.len().saturating_sub(1).max(1) as f64;
        let places: Vec<Option<usize>> = {
            let mut by_entrant = std::collections::HashMap::new();
            self.entrants.iter().enumerate().for_each(|(place, &e)| {
                by_entrant.insert(e, place);
            });
            order.iter().map(|e| by_entrant.get(e).copied()).collect()
        };
        places
            .windows(2)
            .map(|pair| match *pair {
                [Some(one), Some(other)] if self.differ(one, other, alpha) => NeighbourOrder::Settled,
                _ => NeighbourOrder::Open,
            })
            .collect()
    }

    fn differ(&self, one: usize, other: usize, alpha: f64) -> bool {
        let (a, b) = (&self.known[one], &self.known[other]);
        let error = self.difference_error(one, other);
        let freedom = a.count.min(b.count) - 1.0;
        error.is_finite() && (a.mean - b.mean).abs() > student_quantile(alpha, freedom) * error
    }

    /// Everybody in `order` whose order to a neighbour is open.
    pub fn open(&self, order: &[Entrant]) -> Vec<Entrant> {
        let settled = self.settled(order);
        let is_open = |at: Option<usize>| at.and_then(|at| settled.get(at)) == Some(&NeighbourOrder::Open);
        let open =
            order.iter().enumerate().filter(|&(at, _)| is_open(Some(at)) || is_open(at.checked_sub(1)));
        open.map(|(_, &entrant)| entrant).collect()
    }

    /// What is known of one entrant's mean.
    pub fn of(&self, entrant: Entrant) -> Option<&MeanEstimate> {
        self.known.get(self.place(entrant)?)
    }
}

impl RankingMean {
    fn spread(self, sums: &EntrantTotals) -> &ScoreMoments {
        match self {
            Self::Score => &sums.score,
            Self::Points => sums.worth(),
        }
    }

    fn is_score(self, sums: &EntrantTotals) -> bool {
        self == Self::Score || sums.given.count == 0
    }
}

/// The variance that an entrant's numbers usually have: the middle one of all, because in some games the weak vary a thousand times as much
/// as the strong. Where nobody's numbers vary, that of all of them together.
fn pooled<'s>(spreads: impl Iterator<Item = &'s ScoreMoments>) -> f64 {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    let mut variances = Vec::new();
    for spread in spreads {
        let (n, mean) = (spread.count as f64, spread.mean());
        count += n;
        sum += n * mean;
        squares += n * mean * mean;
        if spread.count > 1 && spread.variance() > 0.0 {
            variances.push(spread.variance());
        }
    }
    variances.sort_by(f64::total_cmp);
    match variances.get(variances.len() / 2) {
        Some(&middle) => middle,
        None if count > 1.0 => ((squares - sum * sum / count) / (count - 1.0)).max(0.0),
        None => 0.0,
    }
}

/// From the least to the greatest of all numbers.
fn range<'s>(spreads: impl Iterator<Item = &'s ScoreMoments>) -> (f64, f64) {
    let ends = spreads.filter(|spread| spread.count > 0).map(|spread| (spread.min, spread.max));
    let (least, most) =
        ends.fold((i64::MAX, i64::MIN), |(least, most), (min, max)| (least.min(min), most.max(max)));
    (FixedPoint(least).real(), FixedPoint(most).real())
}

/// How each board moves the mean of an entrant's scores: boards are what was drawn, games on one board have its luck in common.
fn moves_of(sums: &EntrantTotals) -> Vec<(u64, f64)> {
    let (mean, games, unit) = (sums.score.mean(), sums.games as f64, FixedPoint::ONE as f64);
    let of = |(&seed, board): (&u64, &crate::tally::SeedTotals)| {
        (seed, (board.score as f64 / unit - board.games as f64 * mean) / games)
    };
    sums.boards.iter().map(of).collect()
}

/// Both lists are by seed. A board only one of them has played counts for that one alone.
fn paired_error(left: &[(u64, f64)], right: &[(u64, f64)]) -> f64 {
    let (mut i, mut j, mut sum, mut boards) = (0, 0, 0.0_f64, 0.0_f64);
    while i < left.len() || j < right.len() {
        let seeds = (left.get(i).map(|x| x.0), right.get(j).map(|x| x.0));
        let (mut difference, seed) = (0.0, seeds.0.unwrap_or(u64::MAX).min(seeds.1.unwrap_or(u64::MAX)));
        if seeds.0 == Some(seed) {
            difference += left[i].1;
            i += 1;
        }
        if seeds.1 == Some(seed) {
            difference -= right[j].1;
            j += 1;
        }
        sum += difference * difference;
        boards += 1.0;
    }
    if boards < 2.0 { f64::INFINITY } else { (sum * boards / (boards - 1.0)).sqrt() }
}

/// In games of two everybody meets the same opponents in turn: how much these differ is no chance, and is taken out of the variance.
struct Within {
    /// By entrant: opponents, and the sum over them of (sum of scores)^2 / games.
    sums: Vec<(u64, f64)>,
}

impl Within {
    fn of(tally: &Tally, counted: RankingMean) -> Self {
        let two_seats = tally.entrants().all(|(_, sums)| sums.seats.len() <= 2 && counted.is_score(sums));
        if !two_seats {
            return Self { sums: Vec::new() };
        }
        let entrants = tally.entrants().map(|(entrant, _)| entrant.index() + 1).max().unwrap_or_default();
        let mut sums = vec![(0, 0.0); entrants];
        for met in tally.pairs().sorted().filter(|met| met.games > 0) {
            for (entrant, score) in [(met.a, met.score_a), (met.b, met.score_b)] {
                if let Some((opponents, squares)) = sums.get_mut(entrant as usize) {
                    *opponents += 1;
                    *squares += (score as f64 / FixedPoint::ONE as f64).powi(2) / f64::from(met.games);
                }
            }
        }
        Self { sums }
    }

    fn variance(&self, entrant: Entrant, spread: &ScoreMoments) -> f64 {
        let all = spread.variance();
        match self.sums.get(entrant.index()) {
            Some(&(opponents, squares)) if spread.count >= GAMES_AN_OPPONENT * opponents + 10 => {
                let unit = FixedPoint::ONE as f64;
                let within = spread.squares as f64 / (unit * unit) - squares;
                (within / (spread.count - opponents) as f64).clamp(0.0, all)
            }
            _ => all,
        }
    }
}
