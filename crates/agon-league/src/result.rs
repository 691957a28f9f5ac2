//! What was played, as tables and later stages need it. All sums are of whole numbers, so that no table depends on the order in
//! which games were finished.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub};

use agon_core::outcome::MAX_STATS;
use serde::{Deserialize, Serialize};

/// An entrant: its place in the competition's file, from 0. It keeps it when its bot is replaced by a newer version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Entrant(pub u32);

impl Entrant {
    /// For looking things up in lists.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A number in millionths. Unlike a float its sums are exact.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FixedPoint(pub i64);

impl FixedPoint {
    /// How many make 1.
    pub const ONE: i64 = 1_000_000;
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// The nearest; what is no number, or too large for one, is the nearest end.
    pub fn of(x: f64) -> Self {
        Self((x * Self::ONE as f64).round() as i64)
    }

    /// A whole number.
    pub const fn whole(n: i64) -> Self {
        Self(n.saturating_mul(Self::ONE))
    }

    /// As a float, for showing and for statistics.
    pub fn real(self) -> f64 {
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

/// Which match of a competition: the idempotent key of everything that is kept about it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct MatchKey {
    /// From 0, in the order of the file.
    pub phase: u32,
    /// From 0.
    pub stage: u32,
    /// Its number in the stage, from 0.
    pub number: u64,
}

impl fmt::Display for MatchKey {
    /// As people count: `2.1.17`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.phase + 1, self.stage + 1, self.number + 1)
    }
}

/// One seat of a finished game.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SeatResult {
    /// Who sat there.
    pub entrant: Entrant,
    /// The game's official score.
    pub score: FixedPoint,
    /// 1 for the best; equal seats share a place.
    pub place: u8,
    /// Extra figures, named by [`agon_core::GameInfo::stats`].
    pub stats: [FixedPoint; MAX_STATS],
    /// How often it was asked.
    pub answers: u32,
    /// In the order of [`agon_core::Fault::ALL`].
    pub faults: [u32; 4],
    /// Time charged, all answers together. Not part of what must be the same in another run.
    pub thought_ns: u64,
    /// The longest answer.
    pub longest_ns: u64,
}

/// A finished game.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GameResult {
    /// Which part of its match it belongs to (Connect Five's phases of a match), from 0.
    pub part: u8,
    /// Its seed.
    pub seed: u64,
    /// How many turns it had.
    pub turns: u32,
    /// In a few words how it ended.
    pub ended: String,
    /// Set when a fault lost the whole match for a seat.
    pub match_lost_by: Option<u8>,
    /// In seat order.
    pub seats: Vec<SeatResult>,
}

/// A finished match: one game, or a series between the same bots.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MatchResult {
    /// Which one.
    pub key: MatchKey,
    /// In the order they were played.
    pub games: Vec<GameResult>,
    /// What the match gives each seat in the table, where that is not just the sum of its games' scores (Connect Five's +1 / -1 for each
    /// part). Seats as in the fixture.
    pub points: Vec<FixedPoint>,
}

impl MatchResult {
    /// Who played, in seat order.
    pub fn entrants(&self) -> Vec<Entrant> {
        self.games.first().map_or_else(Vec::new, |game| game.seats.iter().map(|seat| seat.entrant).collect())
    }

    /// What each seat gets for it in the table.
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
    fn fixed_numbers_are_near_and_never_overflow() {
        assert_eq!(FixedPoint::of(6.344), FixedPoint(6_344_000));
        assert_eq!(FixedPoint::of(-0.000_000_6), FixedPoint(-1));
        assert_eq!(FixedPoint::of(f64::NAN), FixedPoint::ZERO);
        assert_eq!(FixedPoint::of(f64::INFINITY) + FixedPoint::whole(1), FixedPoint(i64::MAX));
        assert_eq!([FixedPoint::whole(2), -FixedPoint::of(0.5)].into_iter().sum::<FixedPoint>(), FixedPoint(1_500_000));
    }
}
