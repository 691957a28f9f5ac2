//! Binary encoding of a tally: a version, then varints (seven bits per byte, lowest first). Equal tallies have equal bytes, whatever
//! the order of their matches.

use agon_core::outcome::MAX_STATS;
use thiserror::Error;

use super::{EntrantTotals, Histogram, PairTotals, ScoreMoments, SeedTotals, Tally};
use crate::result::{Entrant, FixedPoint};

/// Raised when the encoding changes. Tallies of another version are rebuilt from the results.
pub const VERSION: u8 = 3;

const MAGIC: [u8; 4] = *b"agtl";
/// Maximum number of seats, so that damaged data cannot exhaust memory.
const MAX_SEATS: u64 = 1 << 16;
/// Maximum number of entrants, for the same reason.
const MAX_ENTRANTS: u64 = 1 << 22;

/// Why bytes could not be decoded as a tally.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum TallyDecodeError {
    /// Not an encoded tally.
    #[error("not a tally")]
    NotATally,
    /// Written by another version of the program.
    #[error("tally has version {0}, expected {VERSION}")]
    Version(u8),
    /// Truncated, or contains impossible numbers.
    #[error("damaged tally at byte {0}")]
    Damaged(usize),
}

impl Tally {
    /// Encodes the tally.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = TallyWriter(Vec::with_capacity(64 * self.entrants.len() + 24 * self.pairs.len()));
        out.0.extend(MAGIC);
        out.0.push(VERSION);
        out.0.push(u8::from(self.by_seed));
        for n in [self.matches, self.games, self.turns] {
            out.varint(n);
        }
        // Trailing entrants that never played are not written.
        let entrants = self
            .entrants
            .iter()
            .rposition(|totals| *totals != EntrantTotals::default())
            .map_or(0, |at| at + 1);
        out.varint(entrants as u64);
        self.entrants[..entrants].iter().for_each(|totals| out.totals(totals));
        let (pairs, mut last) = (self.pairs.sorted(), 0);
        out.varint(pairs.len() as u64);
        for met in pairs {
            let key = u64::from(met.a) << 32 | u64::from(met.b);
            out.varint(key - last);
            last = key;
            for n in [met.games, met.won, met.lost, met.matches] {
                out.varint(n.into());
            }
            for n in [met.score_a, met.score_b, met.cross] {
                out.zigzag_i64(n);
            }
        }
        out.varint(self.pairs.all_points().len() as u64);
        for (&(a, b), &(to_a, to_b)) in self.pairs.all_points() {
            for n in [a, b] {
                out.varint(n.into());
            }
            for n in [to_a, to_b] {
                out.zigzag_i128(n.into());
            }
        }
        out.0
    }

    /// Decodes a tally.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TallyDecodeError> {
        let [a, b, c, d, version, by_seed, ..] = *bytes else { return Err(TallyDecodeError::NotATally) };
        if [a, b, c, d] != MAGIC {
            return Err(TallyDecodeError::NotATally);
        }
        if version != VERSION {
            return Err(TallyDecodeError::Version(version));
        }
        let mut reader = TallyReader { bytes, at: 6 };
        let tally = reader.tally(by_seed == 1);
        tally.filter(|_| reader.at == bytes.len()).ok_or(TallyDecodeError::Damaged(reader.at))
    }
}

struct TallyWriter(Vec<u8>);

impl TallyWriter {
    fn varint(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    /// Same encoding as [`Self::zigzag_i128`].
    fn zigzag_i64(&mut self, n: i64) {
        match n.checked_mul(2) {
            Some(twice) => self.varint((twice ^ (n >> 63)) as u64),
            None => self.zigzag_i128(n.into()),
        }
    }

    fn varint_u128(&mut self, mut n: u128) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    /// Zigzag encoding: small numbers of either sign are short.
    fn zigzag_i128(&mut self, n: i128) {
        self.varint_u128(((n << 1) ^ (n >> 127)) as u128);
    }

    fn moments(&mut self, moments: &ScoreMoments) {
        self.varint(moments.count);
        if moments.count == 0 {
            return;
        }
        self.zigzag_i128(moments.sum);
        self.varint_u128(moments.squares);
        self.zigzag_i128(moments.min.into());
        self.zigzag_i128(moments.max.into());
        let (shift, bins) = moments.histogram.parts();
        self.varint(shift.into());
        self.varint(bins.len() as u64);
        let mut last = 0;
        for &(bin, count) in bins {
            self.zigzag_i128(i128::from(bin) - last);
            self.varint(count);
            last = bin.into();
        }
    }

    fn totals(&mut self, totals: &EntrantTotals) {
        for n in [totals.games, totals.matches, totals.won, totals.drawn, totals.lost] {
            self.varint(n);
        }
        self.moments(&totals.score);
        self.moments(&totals.match_points);
        self.zigzag_i128(totals.points);
        totals.stats.into_iter().for_each(|sum| self.zigzag_i128(sum));
        totals.faults.into_iter().for_each(|count| self.varint(count));
        for n in
            [totals.answers, totals.thought_ns, totals.longest_ns, totals.empty_ns, totals.measured_answers]
        {
            self.varint(n);
        }
        totals.meters.into_iter().for_each(|games| self.varint(games));
        self.varint(totals.seats.len() as u64);
        totals.seats.iter().for_each(|&games| self.varint(games));
        for n in [totals.opponents, totals.beaten, totals.beaten_squares] {
            self.varint(n);
        }
        self.varint(totals.by_seed.len() as u64);
        for (&seed, on_seed) in &totals.by_seed {
            self.0.extend(seed.to_le_bytes());
            self.varint(on_seed.games);
            self.zigzag_i128(on_seed.score.into());
        }
    }
}

struct TallyReader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl TallyReader<'_> {
    fn tally(&mut self, by_seed: bool) -> Option<Tally> {
        let mut tally = Tally { by_seed, ..Tally::default() };
        (tally.matches, tally.games, tally.turns) = (self.varint()?, self.varint()?, self.varint()?);
        let entrants = self.varint().filter(|&n| n <= MAX_ENTRANTS)?;
        for _ in 0..entrants {
            tally.entrants.push(self.totals()?);
        }
        let pairs = self.varint()? as usize;
        // Each pair takes at least eight bytes.
        tally.pairs.reserve(pairs.min((self.bytes.len() - self.at) / 8 + 1));
        let mut key = 0_u64;
        for _ in 0..pairs {
            key = key.checked_add(self.varint()?)?;
            let met = PairTotals {
                a: (key >> 32) as u32,
                b: key as u32,
                games: self.varint_u32()?,
                won: self.varint_u32()?,
                lost: self.varint_u32()?,
                matches: self.varint_u32()?,
                score_a: self.zigzag_i64()?,
                score_b: self.zigzag_i64()?,
                cross: self.zigzag_i64()?,
            };
            if met.a >= met.b || u64::from(met.won) + u64::from(met.lost) > met.games.into() {
                return None;
            }
            tally.pairs.add(&met);
        }
        for _ in 0..self.varint()? {
            let (a, b) = (self.varint_u32()?, self.varint_u32()?);
            let points = (FixedPoint(self.zigzag_i64()?), FixedPoint(self.zigzag_i64()?));
            tally.pairs.add_points(Entrant(a), Entrant(b), points);
        }
        Some(tally)
    }

    fn varint_u128(&mut self) -> Option<u128> {
        let (mut n, mut shift) = (0, 0);
        loop {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            n |= u128::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(n);
            }
            shift += 7;
        }
    }

    fn varint(&mut self) -> Option<u64> {
        // Fast path: nearly all numbers are short.
        let (mut n, mut at) = (0, self.at);
        for shift in (0..63).step_by(7) {
            let byte = *self.bytes.get(at)?;
            at += 1;
            n |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                self.at = at;
                return Some(n);
            }
        }
        self.varint_u128()?.try_into().ok()
    }

    fn varint_u32(&mut self) -> Option<u32> {
        self.varint()?.try_into().ok()
    }

    fn zigzag_i128(&mut self) -> Option<i128> {
        let n = self.varint_u128()?;
        Some((n >> 1) as i128 ^ -((n & 1) as i128))
    }

    fn zigzag_i64(&mut self) -> Option<i64> {
        let before = self.at;
        if let Some(n) = self.varint() {
            return Some((n >> 1) as i64 ^ -((n & 1) as i64));
        }
        self.at = before;
        self.zigzag_i128()?.try_into().ok()
    }

    fn moments(&mut self) -> Option<ScoreMoments> {
        let count = self.varint()?;
        if count == 0 {
            return Some(ScoreMoments::default());
        }
        let (sum, squares, min, max) =
            (self.zigzag_i128()?, self.varint_u128()?, self.zigzag_i64()?, self.zigzag_i64()?);
        let (shift, bins, mut last) = (self.varint_u32()?, self.varint()?, 0_i128);
        let mut list = Vec::new();
        for _ in 0..bins {
            last = last.checked_add(self.zigzag_i128()?)?;
            list.push((i64::try_from(last).ok()?, self.varint()?));
        }
        Some(ScoreMoments { count, sum, squares, min, max, histogram: Histogram::from_parts(shift, list)? })
    }

    fn totals(&mut self) -> Option<EntrantTotals> {
        let mut totals = EntrantTotals {
            games: self.varint()?,
            matches: self.varint()?,
            won: self.varint()?,
            drawn: self.varint()?,
            lost: self.varint()?,
            score: self.moments()?,
            match_points: self.moments()?,
            points: self.zigzag_i128()?,
            ..EntrantTotals::default()
        };
        for at in 0..MAX_STATS {
            totals.stats[at] = self.zigzag_i128()?;
        }
        for at in 0..totals.faults.len() {
            totals.faults[at] = self.varint()?;
        }
        (totals.answers, totals.thought_ns, totals.longest_ns) =
            (self.varint()?, self.varint()?, self.varint()?);
        (totals.empty_ns, totals.measured_answers) = (self.varint()?, self.varint()?);
        for at in 0..totals.meters.len() {
            totals.meters[at] = self.varint()?;
        }
        for _ in 0..self.varint().filter(|&seats| seats <= MAX_SEATS)? {
            totals.seats.push(self.varint()?);
        }
        (totals.opponents, totals.beaten, totals.beaten_squares) =
            (self.varint()?, self.varint()?, self.varint()?);
        for _ in 0..self.varint()? {
            let seed = self.bytes.get(self.at..self.at + 8)?;
            self.at += 8;
            let on_seed = SeedTotals { games: self.varint()?, score: self.zigzag_i64()? };
            totals.by_seed.insert(u64::from_le_bytes(seed.try_into().ok()?), on_seed);
        }
        Some(totals)
    }
}
