//! Results of pairs of entrants in common games. Only pairs that met use memory: about fifty bytes each.

use std::collections::BTreeMap;

use crate::result::{Entrant, FixedPoint};

/// Totals of two entrants that met; `a` comes first in the competition file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PairTotals {
    /// First entrant.
    pub a: u32,
    /// Second entrant.
    pub b: u32,
    /// Common games.
    pub games: u32,
    /// Games in which `a` had the better place.
    pub won: u32,
    /// Games in which `b` had the better place.
    pub lost: u32,
    /// Common matches.
    pub matches: u32,
    /// Sum of `a`'s scores, in millionths.
    pub score_a: i64,
    /// Sum of `b`'s scores, in millionths.
    pub score_b: i64,
    /// Sum over games of `a`'s score times `b`'s, both in thousandths. Used for their covariance.
    pub cross: i64,
}

impl PairTotals {
    /// Games with the same place.
    pub const fn drawn(&self) -> u32 {
        self.games - self.won - self.lost
    }

    /// The same with `a` and `b` exchanged.
    #[must_use]
    pub const fn swapped(self) -> Self {
        Self {
            a: self.b,
            b: self.a,
            won: self.lost,
            lost: self.won,
            score_a: self.score_b,
            score_b: self.score_a,
            ..self
        }
    }

    /// Sums wrap on overflow, so the result does not depend on the order.
    fn add(&mut self, other: &Self) {
        self.games = self.games.wrapping_add(other.games);
        self.won = self.won.wrapping_add(other.won);
        self.lost = self.lost.wrapping_add(other.lost);
        self.matches = self.matches.wrapping_add(other.matches);
        self.score_a = self.score_a.wrapping_add(other.score_a);
        self.score_b = self.score_b.wrapping_add(other.score_b);
        self.cross = self.cross.wrapping_add(other.cross);
    }

    const fn key(&self) -> u64 {
        key(self.a, self.b)
    }
}

const fn key(a: u32, b: u32) -> u64 {
    (a as u64) << 32 | b as u64
}

/// The mixing function of `SplitMix64`.
const fn hash(a: u32, b: u32) -> u64 {
    let mut z = key(a, b).wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// All pairs that met: a hash table of list indexes. Needs half the memory of the standard map right after growing.
#[derive(Clone, Debug, Default)]
pub struct PairTable {
    list: Vec<PairTotals>,
    /// Power-of-two size. 0 is free, else the list index plus one. Storing part of the hash would be slightly faster but costs 16 MB for
    /// two million pairs.
    slots: Vec<u32>,
    /// Points given for two-player matches, where they are not the sum of scores.
    points: BTreeMap<(u32, u32), (i64, i64)>,
}

impl PairTable {
    /// Adds to a pair, in either order of its entrants.
    #[inline]
    pub fn add(&mut self, met: &PairTotals) {
        if met.a < met.b {
            self.entry(met.a, met.b).add(met);
        } else if met.a > met.b {
            self.entry(met.b, met.a).add(&met.swapped());
        }
    }

    /// Prefetches the entry of a pair. In a large field the pairs of a game are far apart in memory; loading them in parallel costs as much
    /// as loading one.
    #[inline]
    pub fn prefetch(&self, a: Entrant, b: Entrant) -> u32 {
        let at = hash(a.0.min(b.0), a.0.max(b.0)) as usize & self.slots.len().wrapping_sub(1);
        let place = self.slots.get(at).copied().unwrap_or(0);
        self.list.get((place as usize).wrapping_sub(1)).map_or(0, |met| met.games)
    }

    /// Adds the points of a two-player match.
    pub fn add_points(&mut self, a: Entrant, b: Entrant, points: (FixedPoint, FixedPoint)) {
        let (key, (to_a, to_b)) = if a.0 < b.0 {
            ((a.0, b.0), (points.0.0, points.1.0))
        } else {
            ((b.0, a.0), (points.1.0, points.0.0))
        };
        let sums = self.points.entry(key).or_default();
        *sums = (sums.0.wrapping_add(to_a), sums.1.wrapping_add(to_b));
    }

    /// Adds all pairs of another table.
    pub fn merge(&mut self, other: &Self) {
        other.list.iter().for_each(|met| self.add(met));
        for (&(a, b), &(to_a, to_b)) in &other.points {
            self.add_points(Entrant(a), Entrant(b), (FixedPoint(to_a), FixedPoint(to_b)));
        }
    }

    /// Totals of two entrants from `a`'s view; `None` if they never met.
    pub fn get(&self, a: Entrant, b: Entrant) -> Option<PairTotals> {
        let (low, high) = (a.0.min(b.0), a.0.max(b.0));
        let place = *self.slots.get(self.slot_of(low, high)?)?;
        let met = *self.list.get((place as usize).checked_sub(1)?)?;
        Some(if a.0 == low { met } else { met.swapped() })
    }

    /// Points of `a` and `b` in their matches.
    pub fn points(&self, a: Entrant, b: Entrant) -> Option<(FixedPoint, FixedPoint)> {
        let &(low, high) = self.points.get(&(a.0.min(b.0), a.0.max(b.0)))?;
        Some(if a.0 < b.0 {
            (FixedPoint(low), FixedPoint(high))
        } else {
            (FixedPoint(high), FixedPoint(low))
        })
    }

    /// All pairs in arbitrary order.
    pub fn iter(&self) -> impl Iterator<Item = &PairTotals> {
        self.list.iter()
    }

    /// Number of pairs that met.
    pub const fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether no pair has met.
    pub const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Slot of a pair, or the free slot for it.
    #[inline]
    fn slot_of(&self, a: u32, b: u32) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = hash(a, b) as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return Some(at);
            }
            let met = &self.list[slot as usize - 1];
            if met.a == a && met.b == b {
                return Some(at);
            }
            at = (at + 1) & mask;
        }
    }

    #[inline]
    fn entry(&mut self, a: u32, b: u32) -> &mut PairTotals {
        if self.list.len() * 4 >= self.slots.len() * 3 {
            self.grow();
        }
        let at = self.slot_of(a, b).unwrap_or_default();
        if self.slots[at] == 0 {
            if self.list.len() == self.list.capacity() {
                // Grow by a quarter: millions of pairs should not reserve twice the memory.
                self.list.reserve_exact((self.list.len() / 4).max(64));
            }
            self.list.push(PairTotals { a, b, ..PairTotals::default() });
            self.slots[at] = self.list.len() as u32;
        }
        &mut self.list[self.slots[at] as usize - 1]
    }

    fn grow(&mut self) {
        self.slots = vec![0; (self.slots.len() * 2).max(64)];
        for place in 0..self.list.len() {
            let PairTotals { a, b, .. } = self.list[place];
            if let Some(at) = self.slot_of(a, b) {
                self.slots[at] = place as u32 + 1;
            }
        }
    }

    /// Pairs sorted by entrants: always the same order.
    pub(crate) fn sorted(&self) -> impl ExactSizeIterator<Item = &PairTotals> {
        // A decoded list is already sorted. Otherwise sort short keys, which is several times faster than sorting the entries.
        let mut places: Vec<(u64, u32)> = Vec::new();
        if !self.list.is_sorted_by_key(PairTotals::key) {
            places = self.list.iter().zip(0..).map(|(met, place)| (met.key(), place)).collect();
            places.sort_unstable();
        }
        let place = move |at: usize| places.get(at).map_or(at, |&(_, place)| place as usize);
        (0..self.list.len()).map(move |at| &self.list[place(at)])
    }

    /// All points, sorted by entrants, for encoding.
    pub(super) const fn all_points(&self) -> &BTreeMap<(u32, u32), (i64, i64)> {
        &self.points
    }

    /// Reserves memory for this many pairs.
    pub(super) fn reserve(&mut self, pairs: usize) {
        self.list.reserve_exact(pairs);
        let slots = (pairs * 4 / 3 + 1).next_power_of_two().max(64);
        if slots > self.slots.len() {
            self.slots = vec![0; slots / 2];
            self.grow();
        }
    }
}
