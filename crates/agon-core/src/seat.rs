//! Seats of a game, and sets of seats.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Maximum number of seats of a game: a [`SeatSet`] is one machine word.
pub const MAX_SEATS: usize = 64;

/// A seat of a game, counted from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seat(pub u8);

impl Seat {
    /// Index into per-seat lists.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// All seats of a game with `count` seats.
    pub fn all(count: usize) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
        (0..count.min(MAX_SEATS)).map(|i| Self(i as u8))
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A set of seats, such as the seats that must answer now. Iterates in seat order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SeatSet(u64);

impl SeatSet {
    /// The empty set. As a set of seats to move it means that the game is over.
    pub const EMPTY: Self = Self(0);

    /// The set with only this seat.
    #[inline]
    pub const fn one(seat: Seat) -> Self {
        Self(1 << (seat.0 & 63))
    }

    /// The seats 0 to `count - 1`.
    #[inline]
    pub const fn first(count: usize) -> Self {
        if count >= MAX_SEATS { Self(u64::MAX) } else { Self((1 << count) - 1) }
    }

    /// Whether the set is empty.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Number of seats in the set.
    #[inline]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether the set contains this seat.
    #[inline]
    pub const fn contains(self, seat: Seat) -> bool {
        self.0 >> (seat.0 & 63) & 1 == 1
    }

    /// Adds a seat.
    #[inline]
    pub const fn insert(&mut self, seat: Seat) {
        self.0 |= 1 << (seat.0 & 63);
    }

    /// Removes a seat.
    #[inline]
    pub const fn remove(&mut self, seat: Seat) {
        self.0 &= !(1 << (seat.0 & 63));
    }
}

#[allow(clippy::copy_iterator, reason = "a set is one machine word; `for seat in set` should copy it")]
impl Iterator for SeatSet {
    type Item = Seat;

    #[inline]
    fn next(&mut self) -> Option<Seat> {
        if self.0 == 0 {
            return None;
        }
        let seat = Seat(self.0.trailing_zeros() as u8);
        self.0 &= self.0 - 1;
        Some(seat)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.0.count_ones() as usize;
        (len, Some(len))
    }
}

impl DoubleEndedIterator for SeatSet {
    #[inline]
    fn next_back(&mut self) -> Option<Seat> {
        let seat = Seat(self.0.checked_ilog2()? as u8);
        self.remove(seat);
        Some(seat)
    }
}

impl ExactSizeIterator for SeatSet {}

impl FromIterator<Seat> for SeatSet {
    fn from_iter<I: IntoIterator<Item = Seat>>(seats: I) -> Self {
        let mut set = Self::EMPTY;
        for seat in seats {
            set.insert(seat);
        }
        set
    }
}

impl fmt::Debug for SeatSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.map(|s| s.0)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_set_iterates_in_seat_order_and_holds_64() {
        let set: SeatSet = [Seat(63), Seat(0), Seat(5)].into_iter().collect();
        assert_eq!(set.collect::<Vec<_>>(), [Seat(0), Seat(5), Seat(63)]);
        assert_eq!(set.rev().collect::<Vec<_>>(), [Seat(63), Seat(5), Seat(0)]);
        assert_eq!(SeatSet::first(64).len(), 64);
        assert_eq!(SeatSet::first(2).collect::<Vec<_>>(), [Seat(0), Seat(1)]);
        assert!(SeatSet::first(0).is_empty());
    }
}
