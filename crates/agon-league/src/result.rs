//! Results of matches, as tables and later stages need them. Only integers are added up, so tables do not depend on the order in
//! which games finished.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub};

use agon_core::MeterKind;
use agon_core::outcome::MAX_STATS;
use agon_core::record::Digest;
use serde::{Deserialize, Serialize};

/// An entrant: its index in the competition file, from 0. The index stays when the bot is replaced by a newer version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Entrant(pub u32);

impl Entrant {
    /// The entrant as a list index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A fixed-point number in millionths. Unlike float sums, its sums are exact.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FixedPoint(pub i64);

impl FixedPoint {
    /// The raw value of 1.
    pub const ONE: i64 = 1_000_000;
    /// Zero.
    pub const ZERO: Self = Self(0);

    /// The nearest fixed-point number. Too large values saturate; NaN becomes 0.
    pub fn from_f64(x: f64) -> Self {
        Self((x * Self::ONE as f64).round() as i64)
    }

    /// From an integer.
    pub const fn from_int(n: i64) -> Self {
        Self(n.saturating_mul(Self::ONE))
    }

    /// As a float, for display and statistics.
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / Self::ONE as f64
    }
}

impl Add for FixedPoint {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for FixedPoint {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for FixedPoint {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Neg for FixedPoint {
    type Output = Self;
    fn neg(self) -> Self {
        Self(self.0.saturating_neg())
    }
}

impl Sum for FixedPoint {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::ZERO, Add::add)
    }
}

/// Identifies a match of a competition: the idempotent key of everything stored about it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct MatchKey {
    /// Phase index in the competition file, from 0.
    pub phase: u32,
    /// Stage of the phase, from 0.
    pub stage: u32,
    /// Fixture number in the stage, from 0.
    pub number: u64,
}

impl fmt::Display for MatchKey {
    /// Counted from 1: `2.1.17`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.phase + 1, self.stage + 1, self.number + 1)
    }
}

impl MatchKey {
    /// The key together with the id of its competition, for logs.
    pub const fn in_competition(self, competition_id: &str) -> FullMatchKey<'_> {
        FullMatchKey { competition_id, key: self }
    }
}

/// Key of a match among the matches of all competitions. Coordinator, workers and ledger log it in the same form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FullMatchKey<'c> {
    /// Id of the competition: [`competition_id`].
    pub competition_id: &'c str,
    /// Key of the match in its competition.
    pub key: MatchKey,
}

impl fmt::Display for FullMatchKey<'_> {
    /// `spring-cup-0123456789abcdef/2.1.17`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.competition_id, self.key)
    }
}

/// Number of commitment digits in a competition id. Enough to keep ids unique.
const COMMITMENT_DIGITS: usize = 16;
/// Maximum length of the name's part of a competition id.
const MAX_NAME_PART: usize = 30;

/// Id of a competition: a slug of its name, and the start of the commitment to its secret seed.
pub fn competition_id(name: &str, commitment: Digest) -> String {
    let words = name.to_lowercase();
    let words: Vec<&str> =
        words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let slug: String = words.join("-").chars().take(MAX_NAME_PART).collect();
    let slug = slug.trim_matches('-');
    format!("{}-{}", if slug.is_empty() { "cup" } else { slug }, &commitment.hex()[..COMMITMENT_DIGITS])
}

/// Result of one seat in a finished game.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SeatResult {
    /// The entrant on this seat.
    pub entrant: Entrant,
    /// Official score of the game.
    pub score: FixedPoint,
    /// 1 is the best; equal seats share a place.
    pub place: u8,
    /// Extra statistics, named by [`agon_core::GameInfo::stats`].
    pub stats: [FixedPoint; MAX_STATS],
    /// Number of requests the bot got.
    pub answers: u32,
    /// Fault counts in the order of [`agon_core::Fault::ALL`].
    pub faults: [u32; 4],
    /// Total charged time of all answers. Differs between runs.
    pub thought_ns: u64,
    /// Charged time of the slowest answer.
    pub longest_ns: u64,
    /// How the times were measured. `None` for a house bot. Differs between machines.
    pub meter: Option<MeterKind>,
    /// Part of `thought_ns` that is the host's: what as many empty answers cost in this game. 0 if it was not measured.
    #[serde(default)]
    pub empty_ns: u64,
}

/// A finished game.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GameResult {
    /// Part of the match (Connect Five's parts), from 0.
    pub part: u8,
    /// Seed of the game.
    pub seed: u64,
    /// Number of turns.
    pub turns: u32,
    /// How the game ended, in a few words.
    pub ended: String,
    /// Seat that lost the whole match by a fault.
    pub match_lost_by: Option<u8>,
    /// Results in seat order.
    pub seats: Vec<SeatResult>,
}

/// A finished match: one game or a series between the same bots.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MatchResult {
    /// The match.
    pub key: MatchKey,
    /// Games in the order they were played.
    pub games: Vec<GameResult>,
    /// Table points per seat, where they are not the sum of the game scores (Connect Five: +1 / -1 for each part). Seats as in the
    /// fixture; empty otherwise.
    pub points: Vec<FixedPoint>,
}

impl MatchResult {
    /// Entrants in seat order.
    pub fn entrants(&self) -> Vec<Entrant> {
        self.games.first().map_or_else(Vec::new, |game| game.seats.iter().map(|seat| seat.entrant).collect())
    }

    /// Games that each seat has won before this game (from 0), in seat order. A shared first place is a win for none. Empty for the first
    /// game.
    pub fn wins_before(&self, game: usize) -> Vec<u32> {
        let earlier = self.games.get(..game).unwrap_or_default();
        let Some(first) = earlier.first() else { return Vec::new() };
        let mut wins = vec![0; first.seats.len()];
        for game in earlier {
            let mut first = game.seats.iter().zip(&mut wins).filter(|(seat, _)| seat.place == 1);
            if let (Some((_, won)), None) = (first.next(), first.next()) {
                *won += 1;
            }
        }
        wins
    }

    /// Table points of each seat.
    pub fn table_points(&self) -> Vec<FixedPoint> {
        if !self.points.is_empty() {
            return self.points.clone();
        }
        let seats = self.games.first().map_or(0, |game| game.seats.len());
        let sum = |seat: usize| {
            self.games.iter().filter_map(|game| game.seats.get(seat)).map(|own| own.score).sum()
        };
        (0..seats).map(sum).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_point_rounds_to_nearest_and_saturates() {
        assert_eq!(FixedPoint::from_f64(6.344), FixedPoint(6_344_000));
        assert_eq!(FixedPoint::from_f64(-0.000_000_6), FixedPoint(-1));
        assert_eq!(FixedPoint::from_f64(f64::NAN), FixedPoint::ZERO);
        assert_eq!(FixedPoint::from_f64(f64::INFINITY) + FixedPoint::from_int(1), FixedPoint(i64::MAX));
        assert_eq!(
            [FixedPoint::from_int(2), -FixedPoint::from_f64(0.5)].into_iter().sum::<FixedPoint>(),
            FixedPoint(1_500_000)
        );
    }

    #[test]
    fn wins_before_counts_only_earlier_games_with_one_winner() {
        use crate::simulated::{game_of, match_of};
        let mut result = match_of(&[(4, 1.0), (7, 0.0)], &[]);
        result.games.push(game_of(&[(4, 0.5), (7, 0.5)]));
        result.games.push(game_of(&[(4, 0.0), (7, 1.0)]));
        let before = |game| result.wins_before(game);
        assert_eq!([before(1), before(2), before(3)], [vec![1, 0], vec![1, 0], vec![1, 1]]);
        assert!(before(0).is_empty() && before(9).is_empty());
    }
}
