//! Everything the tables of a phase need, folded from its results one by one. Only whole numbers are added up, so that a tally depends
//! on which matches were played and never on the order in which they were finished, or on how the work was split.

mod bytes;
mod histogram;
mod pairs;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::hint::black_box;

use agon_core::GameInfo;
use agon_core::outcome::MAX_STATS;

use crate::result::{Entrant, FixedPoint, GameResult, MatchResult, SeatResult};

pub use bytes::{TallyDecodeError, VERSION};
pub use histogram::{Histogram, MOST_BINS};
pub use pairs::{PairTotals, PairTable};

/// More pairs than this are not all in the processor's cache.
const CACHED_PAIRS: usize = 20_000;

/// Numbers, summed up. In millionths, as [`FixedPoint`] has them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScoreMoments {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub sum: i128,
    /// The sum of their squares.
    pub squares: u128,
    /// The least of them.
    pub min: i64,
    /// The greatest of them.
    pub max: i64,
    /// How often each came.
    pub histogram: Histogram,
}

impl Default for ScoreMoments {
    fn default() -> Self {
        Self { count: 0, sum: 0, squares: 0, min: i64::MAX, max: i64::MIN, histogram: Histogram::default() }
    }
}

impl ScoreMoments {
    #[inline]
    fn add(&mut self, x: FixedPoint) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(x.0.into());
        self.squares = self.squares.wrapping_add(u128::from(x.0.unsigned_abs()).pow(2));
        self.min = self.min.min(x.0);
        self.max = self.max.max(x.0);
        self.histogram.add(x.0);
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum = self.sum.wrapping_add(other.sum);
        self.squares = self.squares.wrapping_add(other.squares);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.histogram.merge(&other.histogram);
    }

    /// 0 if there are none.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / (self.count.max(1) as f64 * FixedPoint::ONE as f64)
    }

    /// The variance of which these are a sample; 0 for fewer than two.
    pub fn variance(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let n = self.count as f64;
        // Whole numbers as far as they go: the difference of two large ones is where digits are lost.
        let squares = (self.squares as f64 - (self.sum as f64) * (self.sum as f64) / n).max(0.0);
        let exact = i128::try_from(self.squares)
            .ok()
            .and_then(|squares| squares.checked_mul(self.count.into()))
            .zip(self.sum.checked_mul(self.sum))
            .map(|(left, right)| (left - right) as f64 / n);
        exact.unwrap_or(squares).max(0.0) / (n - 1.0) / (FixedPoint::ONE as f64).powi(2)
    }
}

/// An entrant's games on one board.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SeedTotals {
    /// How many.
    pub games: u64,
    /// Sum of its scores there, in millionths.
    pub score: i64,
}

/// What one entrant did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EntrantTotals {
    /// Games it sat in.
    pub games: u64,
    /// Matches it sat in.
    pub matches: u64,
    /// Its scores, game by game.
    pub score: ScoreMoments,
    /// Its points, match by match, where they were given and are not just the sum of scores.
    pub given: ScoreMoments,
    /// All its points, given or summed, in millionths.
    pub points: i128,
    /// Games in which it alone had the first place.
    pub won: u64,
    /// Games in which it shared the first place.
    pub drawn: u64,
    /// Games in which somebody was better.
    pub lost: u64,
    /// Sums of the extra figures, in millionths.
    pub stats: [i128; MAX_STATS],
    /// In the order of [`agon_core::Fault::ALL`].
    pub faults: [u64; 4],
    /// How often it was asked.
    pub answers: u64,
    /// Time charged, all answers together.
    pub thought_ns: u64,
    /// The longest answer.
    pub longest_ns: u64,
    /// How many games it played at each seat.
    pub seats: Vec<u64>,
    /// Others it met, game by game.
    pub others: u64,
    /// Twice those who came behind it and once those who shared its place, game by game.
    pub beaten: u64,
    /// The sum of the squares of that.
    pub beaten_squares: u64,
    /// Its games by the seed of their board, if the tally is kept by board.
    pub boards: BTreeMap<u64, SeedTotals>,
}

impl EntrantTotals {
    fn add_seat(&mut self, seat: usize, result: &SeatResult, beaten: u64, others: u64) {
        self.games += 1;
        self.score.add(result.score);
        for (sum, figure) in self.stats.iter_mut().zip(result.stats) {
            *sum = sum.wrapping_add(figure.0.into());
        }
        for (sum, &count) in self.faults.iter_mut().zip(&result.faults) {
            *sum += u64::from(count);
        }
        self.answers += u64::from(result.answers);
        self.thought_ns = self.thought_ns.saturating_add(result.thought_ns);
        self.longest_ns = self.longest_ns.max(result.longest_ns);
        if self.seats.len() <= seat {
            self.seats.resize(seat + 1, 0);
        }
        self.seats[seat] += 1;
        self.others += others;
        self.beaten += beaten;
        self.beaten_squares += beaten * beaten;
    }

    fn merge(&mut self, other: &Self) {
        self.games += other.games;
        self.matches += other.matches;
        self.score.merge(&other.score);
        self.given.merge(&other.given);
        self.points = self.points.wrapping_add(other.points);
        self.won += other.won;
        self.drawn += other.drawn;
        self.lost += other.lost;
        self.stats.iter_mut().zip(other.stats).for_each(|(sum, n)| *sum = sum.wrapping_add(n));
        self.faults.iter_mut().zip(other.faults).for_each(|(sum, n)| *sum += n);
        self.answers += other.answers;
        self.thought_ns = self.thought_ns.saturating_add(other.thought_ns);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        if self.seats.len() < other.seats.len() {
            self.seats.resize(other.seats.len(), 0);
        }
        self.seats.iter_mut().zip(&other.seats).for_each(|(sum, n)| *sum += n);
        self.others += other.others;
        self.beaten += other.beaten;
        self.beaten_squares += other.beaten_squares;
        for (&seed, board) in &other.boards {
            let sum = self.boards.entry(seed).or_default();
            *sum = SeedTotals { games: sum.games + board.games, score: sum.score.wrapping_add(board.score) };
        }
    }

    /// What the table of a league counts, one number a match where points were given, else one a game.
    pub const fn worth(&self) -> &ScoreMoments {
        if self.given.count > 0 { &self.given } else { &self.score }
    }

    /// All its points.
    pub fn total_points(&self) -> f64 {
        self.points as f64 / FixedPoint::ONE as f64
    }

    /// The sum of an extra figure.
    pub fn stat(&self, number: usize) -> f64 {
        self.stats.get(number).map_or(0.0, |&sum| sum as f64 / FixedPoint::ONE as f64)
    }

    /// Mean time of an answer in microseconds.
    pub fn mean_us(&self) -> f64 {
        self.thought_ns as f64 / 1000.0 / self.answers.max(1) as f64
    }

    /// The seat it had most often; the first of these if several.
    pub fn usual_seat(&self) -> usize {
        let most = self.seats.iter().max().copied().unwrap_or_default();
        self.seats.iter().position(|&games| games == most).unwrap_or_default()
    }
}

/// What a phase's results come to.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Matches counted.
    pub matches: u64,
    /// Games counted.
    pub games: u64,
    /// Turns of all of them.
    pub turns: u64,
    by_board: bool,
    entrants: Vec<EntrantTotals>,
    pairs: PairTable,
}

impl Tally {
    /// Nothing yet. In a game with different roles everybody plays the same boards, so that scores are also kept by board: those of one
    /// board have its luck in common.
    pub fn new(game: &GameInfo) -> Self {
        Self { by_board: game.roles.len() > 1, ..Self::default() }
    }

    /// Counts a finished match.
    pub fn add(&mut self, result: &MatchResult) {
        self.matches += 1;
        for (number, game) in result.games.iter().enumerate() {
            self.add_game(game, number == 0);
        }
        let Some(first) = result.games.first() else { return };
        for (seat, seated) in first.seats.iter().enumerate() {
            let given = result.points.get(seat).copied();
            let points = given.unwrap_or_else(|| {
                result.games.iter().filter_map(|game| game.seats.get(seat)).map(|s| s.score).sum()
            });
            let sums = self.sums(seated.entrant);
            sums.matches += 1;
            sums.points = sums.points.wrapping_add(points.0.into());
            if let Some(given) = given {
                sums.given.add(given);
            }
        }
        if let ([a, b], [to_a, to_b]) = (first.seats.as_slice(), result.points.as_slice()) {
            self.pairs.add_points(a.entrant, b.entrant, (*to_a, *to_b));
        }
    }

    fn add_game(&mut self, game: &GameResult, first_of_match: bool) {
        self.games += 1;
        self.turns += u64::from(game.turns);
        if self.pairs.len() > CACHED_PAIRS {
            let seats = || game.seats.iter().map(|seat| seat.entrant);
            let pairs =
                seats().enumerate().flat_map(|(at, one)| seats().skip(at + 1).map(move |other| (one, other)));
            black_box(pairs.fold(0, |sum, (one, other)| sum ^ self.pairs.touch(one, other)));
        }
        let firsts = game.seats.iter().filter(|seat| seat.place == 1).count();
        for (seat, result) in game.seats.iter().enumerate() {
            let mut beaten = 0;
            for (other, met) in game.seats.iter().enumerate() {
                if other == seat {
                    continue;
                }
                beaten += 2 * u64::from(met.place > result.place) + u64::from(met.place == result.place);
                if other > seat {
                    self.pairs.add(&PairTotals { matches: first_of_match.into(), ..meeting(result, met) });
                }
            }
            let by_board = self.by_board;
            let sums = self.sums(result.entrant);
            sums.add_seat(seat, result, beaten, game.seats.len() as u64 - 1);
            match result.place {
                1 if firsts == 1 => sums.won += 1,
                1 => sums.drawn += 1,
                _ => sums.lost += 1,
            }
            if by_board {
                let board = sums.boards.entry(game.seed).or_default();
                board.games += 1;
                board.score = board.score.wrapping_add(result.score.0);
            }
        }
    }

    fn sums(&mut self, entrant: Entrant) -> &mut EntrantTotals {
        if self.entrants.len() <= entrant.index() {
            self.entrants.resize_with(entrant.index() + 1, EntrantTotals::default);
        }
        &mut self.entrants[entrant.index()]
    }

    /// Counts all that another has counted.
    pub fn merge(&mut self, other: &Self) {
        self.matches += other.matches;
        self.games += other.games;
        self.turns += other.turns;
        self.by_board |= other.by_board;
        for (number, sums) in other.entrants.iter().enumerate() {
            self.sums(Entrant(number as u32)).merge(sums);
        }
        self.pairs.merge(&other.pairs);
    }

    /// What an entrant did; `None` if it has not played.
    pub fn of(&self, entrant: Entrant) -> Option<&EntrantTotals> {
        self.entrants.get(entrant.index()).filter(|sums| sums.games > 0)
    }

    /// Everybody who has played.
    pub fn entrants(&self) -> impl Iterator<Item = (Entrant, &EntrantTotals)> {
        let numbered = self.entrants.iter().enumerate().map(|(number, sums)| (Entrant(number as u32), sums));
        numbered.filter(|(_, sums)| sums.games > 0)
    }

    /// Who met whom.
    pub const fn pairs(&self) -> &PairTable {
        &self.pairs
    }
}

/// Equal when the same matches were counted, in whatever order.
impl PartialEq for Tally {
    fn eq(&self, other: &Self) -> bool {
        self.to_bytes() == other.to_bytes()
    }
}

fn meeting(one: &SeatResult, other: &SeatResult) -> PairTotals {
    let thousandths = |score: FixedPoint| score.0 / 1000;
    PairTotals {
        a: one.entrant.0,
        b: other.entrant.0,
        games: 1,
        won: u32::from(one.place < other.place),
        lost: u32::from(one.place > other.place),
        matches: 0,
        score_a: one.score.0,
        score_b: other.score.0,
        cross: thousandths(one.score).wrapping_mul(thousandths(other.score)),
    }
}
