//! Histogram of values: exact for few different values, with wider bins for many.

/// Maximum number of bins; more different values share bins.
pub const MAX_BINS: usize = 512;

/// Counts of values. Bins are `2^shift` wide and start at multiples of that, so wider bins are unions of narrower ones. The width is the
/// smallest that needs at most [`MAX_BINS`] bins, so it depends on the values and not on their order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Histogram {
    shift: u32,
    /// Bin number and count, sorted by number.
    bins: Vec<(i64, u64)>,
}

impl Histogram {
    /// Adds a value.
    #[inline]
    pub fn add(&mut self, value: i64) {
        self.add_to_bin(value >> self.shift, 1);
        self.widen();
    }

    /// Adds all values of another histogram.
    pub fn merge(&mut self, other: &Self) {
        while self.shift < other.shift {
            self.double_width();
        }
        for &(bin, count) in &other.bins {
            self.add_to_bin(bin >> (self.shift - other.shift), count);
            self.widen();
        }
    }

    #[inline]
    fn add_to_bin(&mut self, bin: i64, count: u64) {
        match self.bins.binary_search_by_key(&bin, |&(number, _)| number) {
            Ok(at) => self.bins[at].1 = self.bins[at].1.saturating_add(count),
            Err(at) => self.bins.insert(at, (bin, count)),
        }
    }

    #[inline]
    fn widen(&mut self) {
        while self.bins.len() > MAX_BINS {
            self.double_width();
        }
    }

    fn double_width(&mut self) {
        self.shift += 1;
        let mut wide: Vec<(i64, u64)> = Vec::with_capacity(self.bins.len());
        for &(bin, count) in &self.bins {
            match wide.last_mut() {
                Some((number, sum)) if *number == bin >> 1 => *sum = sum.saturating_add(count),
                _ => wide.push((bin >> 1, count)),
            }
        }
        self.bins = wide;
    }

    /// Width of a bin: 1 if every value has its own.
    pub const fn width(&self) -> u64 {
        1 << self.shift
    }

    /// Centre and count of each nonempty bin, in ascending order.
    pub fn bins(&self) -> impl Iterator<Item = (f64, u64)> {
        let width = self.width() as f64;
        let middle = (width - 1.0) / 2.0;
        self.bins.iter().map(move |&(bin, count)| (bin as f64 * width + middle, count))
    }

    /// Shift and sorted bins, for encoding.
    pub(super) fn parts(&self) -> (u32, &[(i64, u64)]) {
        (self.shift, &self.bins)
    }

    /// Inverse of [`Self::parts`]; `None` if the parts are invalid.
    pub(super) fn from_parts(shift: u32, bins: Vec<(i64, u64)>) -> Option<Self> {
        let rising = bins.windows(2).all(|pair| pair[0].0 < pair[1].0);
        (shift < 64 && bins.len() <= MAX_BINS && rising).then_some(Self { shift, bins })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_have_exact_bins_and_many_share_bins() {
        let mut few = Histogram::default();
        for value in [7, -3, 7, 7] {
            few.add(value);
        }
        assert_eq!(few.bins().collect::<Vec<_>>(), [(-3.0, 1), (7.0, 3)]);
        let mut many = Histogram::default();
        (0..3 * MAX_BINS as i64).for_each(|value| many.add(value));
        assert_eq!(many.width(), 4);
        assert_eq!(many.bins().map(|(_, count)| count).sum::<u64>(), 3 * MAX_BINS as u64);
        assert_eq!(many.bins().next(), Some((1.5, 4)));
    }

    #[test]
    fn extreme_values_are_counted() {
        let mut wide = Histogram::default();
        for n in 0..2000 {
            wide.add(i64::MAX - n * 0x0010_0000_0000_0000);
            wide.add(i64::MIN + n);
        }
        assert_eq!(wide.bins().map(|(_, count)| count).sum::<u64>(), 4000);
    }
}
