//! Tally: all sums that the tables of a phase need, accumulated match by match. Only integers are added, so a tally depends on which
//! matches were played, not on their order or on how the work was split.

mod bytes;
mod histogram;
mod pairs;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::hint::black_box;

use agon_core::outcome::MAX_STATS;
use agon_core::{GameInfo, MeterKind};

use crate::result::{Entrant, FixedPoint, GameResult, MatchResult, SeatResult};

pub use bytes::{TallyDecodeError, VERSION};
pub use histogram::{Histogram, MAX_BINS};
pub use pairs::{PairTable, PairTotals};

/// Number of pairs that fit the processor's cache.
const MAX_CACHED_PAIRS: usize = 20_000;

/// Sums of values in millionths (see [`FixedPoint`]).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScoreMoments {
    /// Number of values.
    pub count: u64,
    /// Sum of the values.
    pub sum: i128,
    /// Sum of the squares.
    pub squares: u128,
    /// Smallest value.
    pub min: i64,
    /// Largest value.
    pub max: i64,
    /// Distribution of the values.
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

    /// Mean; 0 without values.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / (self.count.max(1) as f64 * FixedPoint::ONE as f64)
    }

    /// Sample variance; 0 for fewer than two values.
    pub fn variance(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let n = self.count as f64;
        // Use integers if they suffice: subtracting two large floats loses digits.
        let squares = (self.squares as f64 - (self.sum as f64) * (self.sum as f64) / n).max(0.0);
        let exact = i128::try_from(self.squares)
            .ok()
            .and_then(|squares| squares.checked_mul(self.count.into()))
            .zip(self.sum.checked_mul(self.sum))
            .map(|(left, right)| (left - right) as f64 / n);
        exact.unwrap_or(squares).max(0.0) / (n - 1.0) / (FixedPoint::ONE as f64).powi(2)
    }
}

/// Games of an entrant on one seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SeedTotals {
    /// Number of games.
    pub games: u64,
    /// Sum of the scores, in millionths.
    pub score: i64,
}

/// Totals of one entrant.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EntrantTotals {
    /// Games played.
    pub games: u64,
    /// Matches played.
    pub matches: u64,
    /// Scores per game.
    pub score: ScoreMoments,
    /// Points per match, where they are given and not just the sum of scores.
    pub match_points: ScoreMoments,
    /// Total points, given or summed, in millionths.
    pub points: i128,
    /// Games with the first place alone.
    pub won: u64,
    /// Games with a shared first place.
    pub drawn: u64,
    /// Games in which an opponent was better.
    pub lost: u64,
    /// Sums of the extra statistics, in millionths.
    pub stats: [i128; MAX_STATS],
    /// Fault counts in the order of [`agon_core::Fault::ALL`].
    pub faults: [u64; 4],
    /// Number of requests the bot got.
    pub answers: u64,
    /// Total charged time of all answers.
    pub thought_ns: u64,
    /// Charged time of the slowest answer.
    pub longest_ns: u64,
    /// Part of `thought_ns` that is the host's: what empty answers cost.
    pub empty_ns: u64,
    /// Number of answers in the games in which that was measured.
    pub measured_answers: u64,
    /// Games by the meter of the bot's CPU time, in the order of [`MeterKind::ALL`].
    pub meters: [u64; MeterKind::ALL.len()],
    /// Games per seat.
    pub seats: Vec<u64>,
    /// Number of opponents, summed over games.
    pub opponents: u64,
    /// Per game, 2 for each opponent with a worse place and 1 for each with the same place.
    pub beaten: u64,
    /// Sum of the squares of that per game.
    pub beaten_squares: u64,
    /// Games by seed, if the tally keeps them.
    pub by_seed: BTreeMap<u64, SeedTotals>,
}

impl EntrantTotals {
    fn add_seat(&mut self, seat: usize, result: &SeatResult, beaten: u64, others: u64) {
        self.games += 1;
        self.score.add(result.score);
        for (sum, statistic) in self.stats.iter_mut().zip(result.stats) {
            *sum = sum.wrapping_add(statistic.0.into());
        }
        for (sum, &count) in self.faults.iter_mut().zip(&result.faults) {
            *sum += u64::from(count);
        }
        self.answers += u64::from(result.answers);
        self.thought_ns = self.thought_ns.saturating_add(result.thought_ns);
        self.longest_ns = self.longest_ns.max(result.longest_ns);
        self.empty_ns = self.empty_ns.saturating_add(result.empty_ns.min(result.thought_ns));
        if result.empty_ns > 0 {
            self.measured_answers += u64::from(result.answers);
        }
        if let Some(meter) = result.meter {
            self.meters[meter as usize] += 1;
        }
        if self.seats.len() <= seat {
            self.seats.resize(seat + 1, 0);
        }
        self.seats[seat] += 1;
        self.opponents += others;
        self.beaten += beaten;
        self.beaten_squares += beaten * beaten;
    }

    fn merge(&mut self, other: &Self) {
        self.games += other.games;
        self.matches += other.matches;
        self.score.merge(&other.score);
        self.match_points.merge(&other.match_points);
        self.points = self.points.wrapping_add(other.points);
        self.won += other.won;
        self.drawn += other.drawn;
        self.lost += other.lost;
        self.stats.iter_mut().zip(other.stats).for_each(|(sum, n)| *sum = sum.wrapping_add(n));
        self.faults.iter_mut().zip(other.faults).for_each(|(sum, n)| *sum += n);
        self.answers += other.answers;
        self.thought_ns = self.thought_ns.saturating_add(other.thought_ns);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        self.empty_ns = self.empty_ns.saturating_add(other.empty_ns);
        self.measured_answers += other.measured_answers;
        self.meters.iter_mut().zip(other.meters).for_each(|(sum, n)| *sum += n);
        if self.seats.len() < other.seats.len() {
            self.seats.resize(other.seats.len(), 0);
        }
        self.seats.iter_mut().zip(&other.seats).for_each(|(sum, n)| *sum += n);
        self.opponents += other.opponents;
        self.beaten += other.beaten;
        self.beaten_squares += other.beaten_squares;
        for (&seed, on_seed) in &other.by_seed {
            let sum = self.by_seed.entry(seed).or_default();
            *sum =
                SeedTotals { games: sum.games + on_seed.games, score: sum.score.wrapping_add(on_seed.score) };
        }
    }

    /// Values that the table counts: points per match if given, else scores per game.
    pub const fn points_or_scores(&self) -> &ScoreMoments {
        if self.match_points.count > 0 { &self.match_points } else { &self.score }
    }

    /// Total points.
    pub fn total_points(&self) -> f64 {
        self.points as f64 / FixedPoint::ONE as f64
    }

    /// Sum of an extra statistic.
    pub fn stat(&self, number: usize) -> f64 {
        self.stats.get(number).map_or(0.0, |&sum| sum as f64 / FixedPoint::ONE as f64)
    }

    /// The bot's own mean time per answer in microseconds: without what an empty answer costs.
    pub fn mean_us(&self) -> f64 {
        self.thought_ns.saturating_sub(self.empty_ns) as f64 / 1000.0 / self.answers.max(1) as f64
    }

    /// Most frequent seat; the first if several are equal.
    pub fn usual_seat(&self) -> usize {
        let most = self.seats.iter().max().copied().unwrap_or_default();
        self.seats.iter().position(|&games| games == most).unwrap_or_default()
    }
}

/// Accumulated results of a phase.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Matches counted.
    pub matches: u64,
    /// Games counted.
    pub games: u64,
    /// Turns of all games.
    pub turns: u64,
    by_seed: bool,
    entrants: Vec<EntrantTotals>,
    pairs: PairTable,
}

impl Tally {
    /// An empty tally. In games with roles all entrants play the same seeds, so scores are also kept by seed: games on one seed share its
    /// luck.
    pub fn new(game: &GameInfo) -> Self {
        Self { by_seed: game.roles.len() > 1, ..Self::default() }
    }

    /// Adds a finished match.
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
            let totals = self.totals_mut(seated.entrant);
            totals.matches += 1;
            totals.points = totals.points.wrapping_add(points.0.into());
            if let Some(given) = given {
                totals.match_points.add(given);
            }
        }
        if let ([a, b], [to_a, to_b]) = (first.seats.as_slice(), result.points.as_slice()) {
            self.pairs.add_points(a.entrant, b.entrant, (*to_a, *to_b));
        }
    }

    fn add_game(&mut self, game: &GameResult, first_of_match: bool) {
        self.games += 1;
        self.turns += u64::from(game.turns);
        if self.pairs.len() > MAX_CACHED_PAIRS {
            let seats = || game.seats.iter().map(|seat| seat.entrant);
            let pairs =
                seats().enumerate().flat_map(|(at, one)| seats().skip(at + 1).map(move |other| (one, other)));
            black_box(pairs.fold(0, |sum, (one, other)| sum ^ self.pairs.prefetch(one, other)));
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
                    self.pairs
                        .add(&PairTotals { matches: first_of_match.into(), ..pair_totals(result, met) });
                }
            }
            let by_seed = self.by_seed;
            let totals = self.totals_mut(result.entrant);
            totals.add_seat(seat, result, beaten, game.seats.len() as u64 - 1);
            match result.place {
                1 if firsts == 1 => totals.won += 1,
                1 => totals.drawn += 1,
                _ => totals.lost += 1,
            }
            if by_seed {
                let on_seed = totals.by_seed.entry(game.seed).or_default();
                on_seed.games += 1;
                on_seed.score = on_seed.score.wrapping_add(result.score.0);
            }
        }
    }

    fn totals_mut(&mut self, entrant: Entrant) -> &mut EntrantTotals {
        if self.entrants.len() <= entrant.index() {
            self.entrants.resize_with(entrant.index() + 1, EntrantTotals::default);
        }
        &mut self.entrants[entrant.index()]
    }

    /// Adds another tally.
    pub fn merge(&mut self, other: &Self) {
        self.matches += other.matches;
        self.games += other.games;
        self.turns += other.turns;
        self.by_seed |= other.by_seed;
        for (number, totals) in other.entrants.iter().enumerate() {
            self.totals_mut(Entrant(number as u32)).merge(totals);
        }
        self.pairs.merge(&other.pairs);
    }

    /// Totals of an entrant; `None` if it has not played.
    pub fn of(&self, entrant: Entrant) -> Option<&EntrantTotals> {
        self.entrants.get(entrant.index()).filter(|totals| totals.games > 0)
    }

    /// All entrants that have played.
    pub fn entrants(&self) -> impl Iterator<Item = (Entrant, &EntrantTotals)> {
        let numbered =
            self.entrants.iter().enumerate().map(|(number, totals)| (Entrant(number as u32), totals));
        numbered.filter(|(_, totals)| totals.games > 0)
    }

    /// Totals of all pairs that met.
    pub const fn pairs(&self) -> &PairTable {
        &self.pairs
    }
}

/// Equal if the same matches were added, in any order.
impl PartialEq for Tally {
    fn eq(&self, other: &Self) -> bool {
        self.to_bytes() == other.to_bytes()
    }
}

fn pair_totals(one: &SeatResult, other: &SeatResult) -> PairTotals {
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
