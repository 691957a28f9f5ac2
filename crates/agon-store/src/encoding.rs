//! Results as a few bytes: whole numbers of seven bits a byte, small ones first (LEB128; signed ones in zigzag order). The
//! first byte of a seats' blob is the version of its form.

use std::ops::Range;

use agon_core::outcome::MAX_STATS;
use agon_league::{Entrant, FixedPoint, SeatResult};

use crate::ranges::Ranges;

/// The form of [`seats`] written here.
const SEATS_FORM: u8 = 1;

/// A match's points.
pub fn points(points: &[FixedPoint]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 * points.len());
    for point in points {
        put_signed(&mut bytes, point.0);
    }
    bytes
}

/// The points of [`points`].
pub fn read_points(mut bytes: &[u8]) -> Option<Vec<FixedPoint>> {
    let mut points = Vec::new();
    while !bytes.is_empty() {
        points.push(FixedPoint(take_signed(&mut bytes)?));
    }
    Some(points)
}

/// The seats of a game's result.
pub fn seats(seats: &[SeatResult]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(1 + 32 * seats.len());
    bytes.push(SEATS_FORM);
    for seat in seats {
        put(&mut bytes, seat.entrant.0.into());
        put_signed(&mut bytes, seat.score.0);
        bytes.push(seat.place);
        for stat in seat.stats {
            put_signed(&mut bytes, stat.0);
        }
        put(&mut bytes, seat.answers.into());
        for count in seat.faults {
            put(&mut bytes, count.into());
        }
        put(&mut bytes, seat.thought_ns);
        put(&mut bytes, seat.longest_ns);
    }
    bytes
}

/// The seats of [`seats`]; `None` if they are not that.
pub fn read_seats(bytes: &[u8]) -> Option<Vec<SeatResult>> {
    let (&SEATS_FORM, mut bytes) = bytes.split_first()? else { return None };
    let mut seats = Vec::with_capacity(4);
    while !bytes.is_empty() {
        seats.push(read_seat(&mut bytes)?);
    }
    Some(seats)
}

fn read_seat(bytes: &mut &[u8]) -> Option<SeatResult> {
    let entrant = Entrant(take_small(bytes)?);
    let score = FixedPoint(take_signed(bytes)?);
    let (&place, rest) = bytes.split_first()?;
    *bytes = rest;
    let mut stats = [FixedPoint::ZERO; MAX_STATS];
    for stat in &mut stats {
        stat.0 = take_signed(bytes)?;
    }
    let answers = take_small(bytes)?;
    let mut faults = [0; 4];
    for count in &mut faults {
        *count = take_small(bytes)?;
    }
    let (thought_ns, longest_ns) = (take(bytes)?, take(bytes)?);
    Some(SeatResult { entrant, score, place, stats, answers, faults, thought_ns, longest_ns })
}

/// Which numbers of which stages: how many ranges, then gaps and lengths, for each stage from 0.
pub fn done(stages: &[Ranges]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for ranges in stages {
        put(&mut bytes, ranges.iter().count() as u64);
        let mut behind = 0;
        for Range { start, end } in ranges.iter() {
            put(&mut bytes, start - behind);
            put(&mut bytes, end - start);
            behind = end;
        }
    }
    bytes
}

/// The stages of [`done`].
pub fn read_done(mut bytes: &[u8]) -> Option<Vec<Ranges>> {
    let mut stages = Vec::new();
    while !bytes.is_empty() {
        let mut ranges = Ranges::new();
        let mut behind = 0u64;
        for _ in 0..take(&mut bytes)? {
            let start = behind.checked_add(take(&mut bytes)?)?;
            behind = start.checked_add(take(&mut bytes)?)?;
            ranges.push(start..behind);
        }
        stages.push(ranges);
    }
    Some(stages)
}

pub fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

pub fn put_signed(bytes: &mut Vec<u8>, number: i64) {
    put(bytes, ((number << 1) ^ (number >> 63)) as u64);
}

pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn take_small(bytes: &mut &[u8]) -> Option<u32> {
    take(bytes)?.try_into().ok()
}

fn take_signed(bytes: &mut &[u8]) -> Option<i64> {
    let number = take(bytes)?;
    Some((number >> 1) as i64 ^ -((number & 1) as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(entrant: u32, score: i64) -> SeatResult {
        SeatResult {
            entrant: Entrant(entrant),
            score: FixedPoint(score),
            place: 255,
            stats: [FixedPoint(i64::MIN), FixedPoint(0), FixedPoint(-1)],
            answers: u32::MAX,
            faults: [0, 1, 127, 128],
            thought_ns: u64::MAX,
            longest_ns: 300,
        }
    }

    #[test]
    fn what_was_packed_comes_out_the_same() {
        let all = [seat(0, 0), seat(u32::MAX, i64::MAX), seat(7, i64::MIN)];
        assert_eq!(read_seats(&seats(&all)).as_deref(), Some(&all[..]));
        let some = [FixedPoint(0), FixedPoint::whole(-1), FixedPoint(i64::MIN), FixedPoint(i64::MAX)];
        assert_eq!(read_points(&points(&some)).as_deref(), Some(&some[..]));
        let mut ranges = Ranges::new();
        for number in [0, 1, 2, 9, 1_000_000, 1_000_001] {
            ranges.insert(number);
        }
        let stages = [ranges.clone(), Ranges::new(), ranges];
        assert_eq!(read_done(&done(&stages)).as_deref(), Some(&stages[..]));
    }

    #[test]
    fn what_is_cut_or_of_another_form_is_refused() {
        let whole = seats(&[seat(3, 5), seat(4, 6)]);
        let one = seats(&[seat(3, 5)]).len();
        for cut in 0..whole.len() {
            let read = read_seats(&whole[..cut]);
            assert_eq!(read.is_some(), cut == 1 || cut == one, "cut at {cut}");
        }
        let mut other = whole;
        other[0] = 2;
        assert_eq!(read_seats(&other), None);
        assert_eq!(read_points(&[0xff; 11]), None, "longer than any number");
    }
}
