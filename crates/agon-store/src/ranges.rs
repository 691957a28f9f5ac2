//! Sets of numbers that are nearly without gaps: which matches of a stage were played.

use std::ops::Range;

/// A set of numbers, as ranges in order that neither touch nor overlap.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ranges(Vec<Range<u64>>);

impl Ranges {
    /// None.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// In order.
    pub fn iter(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.0.iter().cloned()
    }

    /// How many numbers.
    pub fn len(&self) -> u64 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this one is in it.
    pub fn contains(&self, number: u64) -> bool {
        let behind = self.0.partition_point(|range| range.start <= number);
        behind > 0 && number < self.0[behind - 1].end
    }

    /// Those below `end` that are not in it, in order: what is still to be played.
    pub fn gaps(&self, end: u64) -> impl Iterator<Item = Range<u64>> + '_ {
        let starts = self.0.iter().map(|range| range.start).chain([u64::MAX]);
        let ends = [0].into_iter().chain(self.0.iter().map(|range| range.end));
        ends.zip(starts).map(move |(from, to)| from..to.min(end)).filter(|gap| gap.start < gap.end)
    }

    /// Puts one in; whether it was not there.
    pub fn insert(&mut self, number: u64) -> bool {
        let behind = self.0.partition_point(|range| range.start <= number);
        if behind > 0 && number < self.0[behind - 1].end {
            return false;
        }
        let joins_left = behind > 0 && self.0[behind - 1].end == number;
        let joins_right = behind < self.0.len() && self.0[behind].start == number + 1;
        match (joins_left, joins_right) {
            (true, true) => {
                self.0[behind - 1].end = self.0[behind].end;
                self.0.remove(behind);
            }
            (true, false) => self.0[behind - 1].end = number + 1,
            (false, true) => self.0[behind].start = number,
            (false, false) => self.0.insert(behind, number..number + 1),
        }
        true
    }

    /// Puts a range behind all there are.
    pub(crate) fn push(&mut self, range: Range<u64>) {
        match self.0.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.0.push(range),
        }
    }
}

/// Puts a number of a stage in.
pub(crate) fn note(stages: &mut Vec<Ranges>, stage: u32, number: u64) {
    let stage = stage as usize;
    if stages.len() <= stage {
        stages.resize_with(stage + 1, Ranges::new);
    }
    stages[stage].insert(number);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ranges_are_the_set_of_what_was_put_in() {
        // Every order of a small set, made by a multiplication that visits all numbers.
        for step in [1, 5, 7, 11, 23] {
            let mut ranges = Ranges::new();
            let mut set = BTreeSet::new();
            for i in 0..18u64 {
                let number = i * step % 24;
                assert_eq!(ranges.insert(number), set.insert(number));
                assert!(!ranges.insert(number));
                let listed: Vec<u64> = ranges.iter().flatten().collect();
                assert_eq!(listed, set.iter().copied().collect::<Vec<_>>());
                let missing: Vec<u64> = ranges.gaps(20).flatten().collect();
                assert_eq!(missing, (0..20).filter(|n| !set.contains(n)).collect::<Vec<_>>());
                assert!((0..25).all(|n| ranges.contains(n) == set.contains(&n)));
                assert_eq!(ranges.len(), set.len() as u64);
                assert!(ranges.0.windows(2).all(|pair| pair[0].end < pair[1].start), "{ranges:?}");
            }
        }
    }
}
