//! What any two entrants did in the games they played together. Only those who met take room: some fifty bytes a pair.

use std::collections::BTreeMap;

use crate::result::{Entrant, FixedPoint};

/// Two entrants who met; `a` comes first in the competition's file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PairTotals {
    /// One of them.
    pub a: u32,
    /// The other.
    pub b: u32,
    /// Games in which both sat.
    pub games: u32,
    /// Of these, `a` had the better place.
    pub won: u32,
    /// Of these, `b` had the better place.
    pub lost: u32,
    /// Matches in which both sat.
    pub matches: u32,
    /// Sum of `a`'s scores in these games, in millionths.
    pub score_a: i64,
    /// Sum of `b`'s.
    pub score_b: i64,
    /// Sum over these games of `a`'s score times `b`'s, both in thousandths: whether they are good together or at each other's expense.
    pub cross: i64,
}

impl PairTotals {
    /// Games in which both had the same place.
    pub const fn drawn(&self) -> u32 {
        self.games - self.won - self.lost
    }

    /// The same, told the other way round.
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

    /// Sums wrap: whatever comes, the order of adding stays without meaning.
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

/// `SplitMix64`'s mixing: all bits depend on all.
const fn hash(a: u32, b: u32) -> u64 {
    let mut z = key(a, b).wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// All pairs that met. A hash table of places in a list: half of what the standard one takes when it has just grown.
#[derive(Clone, Debug, Default)]
pub struct PairTable {
    list: Vec<PairTotals>,
    /// A power of two of them: 0 is free, else the pair's place in the list plus one. No part of the pair's hash beside it: that would be
    /// a little faster, and is not worth 16 MB for two million pairs.
    slots: Vec<u32>,
    /// Points given for matches of two, where they are not the sum of scores.
    points: BTreeMap<(u32, u32), (i64, i64)>,
}

impl PairTable {
    /// Adds to a pair; told either way round.
    #[inline]
    pub fn add(&mut self, met: &PairTotals) {
        if met.a < met.b {
            self.entry(met.a, met.b).add(met);
        } else if met.a > met.b {
            self.entry(met.b, met.a).add(&met.swapped());
        }
    }

    /// Looks where a pair may be, without waiting for what is there. In a large field no two pairs of a game are near each other in memory: looked
    /// for one after the other, each costs as much as all of them at once.
    #[inline]
    pub fn touch(&self, a: Entrant, b: Entrant) -> u32 {
        let at = hash(a.0.min(b.0), a.0.max(b.0)) as usize & self.slots.len().wrapping_sub(1);
        let place = self.slots.get(at).copied().unwrap_or(0);
        self.list.get((place as usize).wrapping_sub(1)).map_or(0, |met| met.games)
    }

    /// Points given for a match of two.
    pub fn add_points(&mut self, a: Entrant, b: Entrant, points: (FixedPoint, FixedPoint)) {
        let (key, (to_a, to_b)) = if a.0 < b.0 {
            ((a.0, b.0), (points.0.0, points.1.0))
        } else {
            ((b.0, a.0), (points.1.0, points.0.0))
        };
        let sums = self.points.entry(key).or_default();
        *sums = (sums.0.wrapping_add(to_a), sums.1.wrapping_add(to_b));
    }

    /// Adds all of another.
    pub fn merge(&mut self, other: &Self) {
        other.list.iter().for_each(|met| self.add(met));
        for (&(a, b), &(to_a, to_b)) in &other.points {
            self.add_points(Entrant(a), Entrant(b), (FixedPoint(to_a), FixedPoint(to_b)));
        }
    }

    /// What they did together, as `a` sees it; `None` if they never met.
    pub fn get(&self, a: Entrant, b: Entrant) -> Option<PairTotals> {
        let (low, high) = (a.0.min(b.0), a.0.max(b.0));
        let place = *self.slots.get(self.slot(low, high)?)?;
        let met = *self.list.get((place as usize).checked_sub(1)?)?;
        Some(if a.0 == low { met } else { met.swapped() })
    }

    /// The points given to `a` and to `b` in their matches.
    pub fn points(&self, a: Entrant, b: Entrant) -> Option<(FixedPoint, FixedPoint)> {
        let &(low, high) = self.points.get(&(a.0.min(b.0), a.0.max(b.0)))?;
        Some(if a.0 < b.0 { (FixedPoint(low), FixedPoint(high)) } else { (FixedPoint(high), FixedPoint(low)) })
    }

    /// All of them, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = &PairTotals> {
        self.list.iter()
    }

    /// How many pairs met.
    pub const fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether nobody met anybody.
    pub const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The slot of a pair: its own, or the free one where it belongs.
    #[inline]
    fn slot(&self, a: u32, b: u32) -> Option<usize> {
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
        let at = self.slot(a, b).unwrap_or_default();
        if self.slots[at] == 0 {
            if self.list.len() == self.list.capacity() {
                // By a quarter, not by all: millions of pairs should not need room for twice as many.
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
            if let Some(at) = self.slot(a, b) {
                self.slots[at] = place as u32 + 1;
            }
        }
    }

    /// By entrants: always in the same order.
    pub(crate) fn sorted(&self) -> impl ExactSizeIterator<Item = &PairTotals> {
        // A list that was read from bytes is in order already. Otherwise sorting short keys is several times faster than sorting by what
        // they stand for.
        let mut places: Vec<(u64, u32)> = Vec::new();
        if !self.list.is_sorted_by_key(PairTotals::key) {
            places = self.list.iter().zip(0..).map(|(met, place)| (met.key(), place)).collect();
            places.sort_unstable();
        }
        let place = move |at: usize| places.get(at).map_or(at, |&(_, place)| place as usize);
        (0..self.list.len()).map(move |at| &self.list[place(at)])
    }

    /// For writing: by entrants.
    pub(super) const fn all_points(&self) -> &BTreeMap<(u32, u32), (i64, i64)> {
        &self.points
    }

    /// Room for so many, at once.
    pub(super) fn reserve(&mut self, pairs: usize) {
        self.list.reserve_exact(pairs);
        let slots = (pairs * 4 / 3 + 1).next_power_of_two().max(64);
        if slots > self.slots.len() {
            self.slots = vec![0; slots / 2];
            self.grow();
        }
    }
}
