//! A tally as bytes: a version, then numbers of seven bits a byte, least first. The same tally has the same bytes, whatever order its
//! matches came in.

use agon_core::outcome::MAX_STATS;
use thiserror::Error;

use super::{Histogram, PairTotals, SeedTotals, ScoreMoments, EntrantTotals, Tally};
use crate::result::{Entrant, FixedPoint};

/// Raised when the bytes mean something else. What was written with another version is folded anew from the results.
pub const VERSION: u8 = 1;

const MAGIC: [u8; 4] = *b"agtl";
/// No place at a table is further away: a broken count must not make us ask for all memory.
const MOST_SEATS: u64 = 1 << 16;
/// Entrants of which there cannot be more, for the same reason.
const MOST_ENTRANTS: u64 = 1 << 22;

/// These bytes are no tally.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum TallyDecodeError {
    /// Something else altogether.
    #[error("not a tally")]
    Other,
    /// Written by another version of the program.
    #[error("a tally of version {0}, not {VERSION}")]
    Version(u8),
    /// It ends too early, or holds numbers that cannot be.
    #[error("a damaged tally, at byte {0}")]
    Damaged(usize),
}

impl Tally {
    /// As bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer(Vec::with_capacity(64 * self.entrants.len() + 24 * self.pairs.len()));
        out.0.extend(MAGIC);
        out.0.push(VERSION);
        out.0.push(u8::from(self.by_board));
        for n in [self.matches, self.games, self.turns] {
            out.count(n);
        }
        // Entrants that never played, at the end, leave no trace.
        let entrants = self.entrants.iter().rposition(|sums| *sums != EntrantTotals::default()).map_or(0, |at| at + 1);
        out.count(entrants as u64);
        self.entrants[..entrants].iter().for_each(|sums| out.sums(sums));
        let (pairs, mut last) = (self.pairs.sorted(), 0);
        out.count(pairs.len() as u64);
        for met in pairs {
            let key = u64::from(met.a) << 32 | u64::from(met.b);
            out.count(key - last);
            last = key;
            for n in [met.games, met.won, met.lost, met.matches] {
                out.count(n.into());
            }
            for n in [met.score_a, met.score_b, met.cross] {
                out.number(n);
            }
        }
        out.count(self.pairs.all_points().len() as u64);
        for (&(a, b), &(to_a, to_b)) in self.pairs.all_points() {
            for n in [a, b] {
                out.count(n.into());
            }
            for n in [to_a, to_b] {
                out.whole(n.into());
            }
        }
        out.0
    }

    /// From bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TallyDecodeError> {
        let [a, b, c, d, version, by_board, ..] = *bytes else { return Err(TallyDecodeError::Other) };
        if [a, b, c, d] != MAGIC {
            return Err(TallyDecodeError::Other);
        }
        if version != VERSION {
            return Err(TallyDecodeError::Version(version));
        }
        let mut reader = Reader { bytes, at: 6 };
        let tally = reader.tally(by_board == 1);
        tally.filter(|_| reader.at == bytes.len()).ok_or(TallyDecodeError::Damaged(reader.at))
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn count(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    /// As [`Self::whole`] writes it.
    fn number(&mut self, n: i64) {
        match n.checked_mul(2) {
            Some(twice) => self.count((twice ^ (n >> 63)) as u64),
            None => self.whole(n.into()),
        }
    }

    fn wide(&mut self, mut n: u128) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    /// Small numbers of either sign are short.
    fn whole(&mut self, n: i128) {
        self.wide(((n << 1) ^ (n >> 127)) as u128);
    }

    fn spread(&mut self, spread: &ScoreMoments) {
        self.count(spread.count);
        if spread.count == 0 {
            return;
        }
        self.whole(spread.sum);
        self.wide(spread.squares);
        self.whole(spread.min.into());
        self.whole(spread.max.into());
        let (shift, bins) = spread.histogram.parts();
        self.count(shift.into());
        self.count(bins.len() as u64);
        let mut last = 0;
        for &(bin, count) in bins {
            self.whole(i128::from(bin) - last);
            self.count(count);
            last = bin.into();
        }
    }

    fn sums(&mut self, sums: &EntrantTotals) {
        for n in [sums.games, sums.matches, sums.won, sums.drawn, sums.lost] {
            self.count(n);
        }
        self.spread(&sums.score);
        self.spread(&sums.given);
        self.whole(sums.points);
        sums.stats.into_iter().for_each(|sum| self.whole(sum));
        sums.faults.into_iter().for_each(|count| self.count(count));
        for n in [sums.answers, sums.thought_ns, sums.longest_ns] {
            self.count(n);
        }
        self.count(sums.seats.len() as u64);
        sums.seats.iter().for_each(|&games| self.count(games));
        for n in [sums.others, sums.beaten, sums.beaten_squares] {
            self.count(n);
        }
        self.count(sums.boards.len() as u64);
        for (&seed, board) in &sums.boards {
            self.0.extend(seed.to_le_bytes());
            self.count(board.games);
            self.whole(board.score.into());
        }
    }
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Reader<'_> {
    fn tally(&mut self, by_board: bool) -> Option<Tally> {
        let mut tally = Tally { by_board, ..Tally::default() };
        (tally.matches, tally.games, tally.turns) = (self.count()?, self.count()?, self.count()?);
        let entrants = self.count().filter(|&n| n <= MOST_ENTRANTS)?;
        for _ in 0..entrants {
            tally.entrants.push(self.sums()?);
        }
        let pairs = self.count()? as usize;
        // Each takes eight bytes or more.
        tally.pairs.reserve(pairs.min((self.bytes.len() - self.at) / 8 + 1));
        let mut key = 0_u64;
        for _ in 0..pairs {
            key = key.checked_add(self.count()?)?;
            let met = PairTotals {
                a: (key >> 32) as u32,
                b: key as u32,
                games: self.small()?,
                won: self.small()?,
                lost: self.small()?,
                matches: self.small()?,
                score_a: self.number()?,
                score_b: self.number()?,
                cross: self.number()?,
            };
            if met.a >= met.b || u64::from(met.won) + u64::from(met.lost) > met.games.into() {
                return None;
            }
            tally.pairs.add(&met);
        }
        for _ in 0..self.count()? {
            let (a, b) = (self.small()?, self.small()?);
            let points = (FixedPoint(self.number()?), FixedPoint(self.number()?));
            tally.pairs.add_points(Entrant(a), Entrant(b), points);
        }
        Some(tally)
    }

    fn wide(&mut self) -> Option<u128> {
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

    fn count(&mut self) -> Option<u64> {
        // Nearly all numbers are short.
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
        self.wide()?.try_into().ok()
    }

    fn small(&mut self) -> Option<u32> {
        self.count()?.try_into().ok()
    }

    fn whole(&mut self) -> Option<i128> {
        let n = self.wide()?;
        Some((n >> 1) as i128 ^ -((n & 1) as i128))
    }

    fn number(&mut self) -> Option<i64> {
        let before = self.at;
        if let Some(n) = self.count() {
            return Some((n >> 1) as i64 ^ -((n & 1) as i64));
        }
        self.at = before;
        self.whole()?.try_into().ok()
    }

    fn spread(&mut self) -> Option<ScoreMoments> {
        let count = self.count()?;
        if count == 0 {
            return Some(ScoreMoments::default());
        }
        let (sum, squares, min, max) = (self.whole()?, self.wide()?, self.number()?, self.number()?);
        let (shift, bins, mut last) = (self.small()?, self.count()?, 0_i128);
        let mut list = Vec::new();
        for _ in 0..bins {
            last = last.checked_add(self.whole()?)?;
            list.push((i64::try_from(last).ok()?, self.count()?));
        }
        Some(ScoreMoments { count, sum, squares, min, max, histogram: Histogram::from_parts(shift, list)? })
    }

    fn sums(&mut self) -> Option<EntrantTotals> {
        let mut sums = EntrantTotals {
            games: self.count()?,
            matches: self.count()?,
            won: self.count()?,
            drawn: self.count()?,
            lost: self.count()?,
            score: self.spread()?,
            given: self.spread()?,
            points: self.whole()?,
            ..EntrantTotals::default()
        };
        for at in 0..MAX_STATS {
            sums.stats[at] = self.whole()?;
        }
        for at in 0..sums.faults.len() {
            sums.faults[at] = self.count()?;
        }
        (sums.answers, sums.thought_ns, sums.longest_ns) = (self.count()?, self.count()?, self.count()?);
        for _ in 0..self.count().filter(|&seats| seats <= MOST_SEATS)? {
            sums.seats.push(self.count()?);
        }
        (sums.others, sums.beaten, sums.beaten_squares) = (self.count()?, self.count()?, self.count()?);
        for _ in 0..self.count()? {
            let seed = self.bytes.get(self.at..self.at + 8)?;
            self.at += 8;
            let board = SeedTotals { games: self.count()?, score: self.number()? };
            sums.boards.insert(u64::from_le_bytes(seed.try_into().ok()?), board);
        }
        Some(sums)
    }
}
