//! Sets of numbers with few gaps, such as the played matches of a stage.

use std::ops::Range;

/// A set of numbers, as sorted ranges that neither touch nor overlap.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ranges(Vec<Range<u64>>);

impl Ranges {
    /// The empty set.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The ranges, in order.
    pub fn iter(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.0.iter().cloned()
    }

    /// Count of numbers.
    pub fn len(&self) -> u64 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the set contains this number.
    pub fn contains(&self, number: u64) -> bool {
        let next = self.0.partition_point(|range| range.start <= number);
        next > 0 && number < self.0[next - 1].end
    }

    /// Numbers below `end` that are missing, in order: the matches still to be played.
    pub fn gaps(&self, end: u64) -> impl Iterator<Item = Range<u64>> + '_ {
        let starts = self.0.iter().map(|range| range.start).chain([u64::MAX]);
        let ends = [0].into_iter().chain(self.0.iter().map(|range| range.end));
        ends.zip(starts).map(move |(from, to)| from..to.min(end)).filter(|gap| gap.start < gap.end)
    }

    /// Inserts a number. Returns whether it was new.
    pub fn insert(&mut self, number: u64) -> bool {
        let next = self.0.partition_point(|range| range.start <= number);
        if next > 0 && number < self.0[next - 1].end {
            return false;
        }
        let joins_left = next > 0 && self.0[next - 1].end == number;
        let joins_right = next < self.0.len() && self.0[next].start == number + 1;
        match (joins_left, joins_right) {
            (true, true) => {
                self.0[next - 1].end = self.0[next].end;
                self.0.remove(next);
            }
            (true, false) => self.0[next - 1].end = number + 1,
            (false, true) => self.0[next].start = number,
            (false, false) => self.0.insert(next, number..number + 1),
        }
        true
    }

    /// Appends a range after all others.
    pub(crate) fn push(&mut self, range: Range<u64>) {
        match self.0.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.0.push(range),
        }
    }
}

/// Inserts a match number into the set of its stage.
pub(crate) fn insert_played(stages: &mut Vec<Ranges>, stage: u32, number: u64) {
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
    fn ranges_contain_exactly_the_inserted_numbers() {
        // Inserts the numbers in several orders; multiplication by a step coprime to 24 visits each once.
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
