//! Random numbers. One 64-bit seed determines every random draw of a game.
//!
//! The generator behind [`Rng`] is fixed (`ChaCha8`), and the bounded draws are implemented here, so that a library
//! update cannot change results. It is also unpredictable: a bot that has seen nine deals cannot compute the tenth.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng};

/// Purpose of a stream of draws. Streams of one seed are independent, so a bot's seed reveals nothing about the
/// game's draws.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RngStream {
    /// The game itself: board, deal, spawn, drift.
    Game,
    /// Seeds of the bots.
    Bots,
    /// Seeds of the games of a series.
    Series,
    /// Draws made once for a whole match.
    Match,
    /// Seeds of the matches of a series.
    Matches,
}

/// Random number generator of a game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rng(ChaCha8Rng);

impl Rng {
    /// The stream of `seed` for one purpose.
    pub fn new(seed: u64, stream: RngStream) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(b"agon-rng");
        key[16] = stream as u8;
        Self(ChaCha8Rng::from_seed(key))
    }

    /// A uniform 64-bit number.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A uniform number from 0 to `n - 1`, without bias (Lemire's method with rejection). 0 when `n` is 0.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        lemire(n, || self.0.next_u32())
    }

    /// A uniform number in [0, 1) with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Shuffles a list uniformly.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u32 + 1) as usize);
        }
    }
}

/// A small, fast generator for bots' playouts and for tests. Never used for a game's draws.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FastRng(u64);

impl FastRng {
    /// Creates a generator from a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A uniform 64-bit number (`SplitMix64`).
    #[inline]
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A uniform number from 0 to `n - 1`, without bias. 0 when `n` is 0.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        lemire(n, || (self.next_u64() >> 32) as u32)
    }

    /// A uniform number in [0, 1).
    #[inline]
    pub const fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A random element; `None` for an empty list.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        items.get(self.below(items.len() as u32) as usize).copied()
    }

    /// Shuffles a list uniformly.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u32 + 1) as usize);
        }
    }
}

#[inline]
fn lemire(n: u32, mut draw: impl FnMut() -> u32) -> u32 {
    if n == 0 {
        return 0;
    }
    let mut product = u64::from(draw()) * u64::from(n);
    if (product as u32) < n {
        let threshold = n.wrapping_neg() % n;
        while (product as u32) < threshold {
            product = u64::from(draw()) * u64::from(n);
        }
    }
    (product >> 32) as u32
}

/// Seed of game `index` of a series. Game 0 has the seed itself.
pub fn series_seed(seed: u64, index: u32) -> u64 {
    nth_seed(seed, RngStream::Series, index)
}

/// Seed of match `index` of several. Match 0 has the seed itself.
pub fn match_seed(seed: u64, index: u32) -> u64 {
    nth_seed(seed, RngStream::Matches, index)
}

fn nth_seed(seed: u64, stream: RngStream, index: u32) -> u64 {
    if index == 0 {
        return seed;
    }
    let mut rng = Rng::new(seed, stream);
    rng.0.set_word_pos(u128::from(index) * 2);
    rng.next_u64()
}

/// Seeds of the bots of a game, in seat order.
pub fn bot_seeds(seed: u64) -> impl Iterator<Item = u64> {
    let mut rng = Rng::new(seed, RngStream::Bots);
    std::iter::repeat_with(move || rng.next_u64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_of_a_seed_never_change() {
        let mut rng = Rng::new(7, RngStream::Game);
        let first: Vec<u32> = (0..8).map(|_| rng.below(1000)).collect();
        assert_eq!(first, DRAWS_OF_SEED_7);
        assert_eq!(series_seed(7, 0), 7);
        assert_eq!(series_seed(7, 3), THIRD_OF_SEED_7);
    }

    const DRAWS_OF_SEED_7: [u32; 8] = [442, 997, 782, 284, 528, 906, 687, 525];
    const THIRD_OF_SEED_7: u64 = 8_916_357_203_714_952_718;

    #[test]
    fn below_is_uniform_and_in_range() {
        let mut rng = Rng::new(1, RngStream::Game);
        let mut seen = [0u32; 6];
        for _ in 0..60_000 {
            seen[rng.below(6) as usize] += 1;
        }
        let chi: f64 = seen.iter().map(|&n| (f64::from(n) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi < 20.5, "chi-square with 5 degrees of freedom, 0.1 %: {chi}");
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.below(1), 0);
    }

    #[test]
    fn streams_of_one_seed_differ() {
        assert_ne!(Rng::new(7, RngStream::Game).next_u64(), Rng::new(7, RngStream::Bots).next_u64());
        assert_ne!(series_seed(7, 1), series_seed(7, 2));
    }
}
