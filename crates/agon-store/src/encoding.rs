//! Compact encoding of results: integers as LEB128 varints, signed ones in zigzag form. The first byte of encoded seats is the
//! version of the format.

use std::ops::Range;

use agon_core::MeterKind;
use agon_core::outcome::MAX_STATS;
use agon_league::{Entrant, FixedPoint, SeatResult};

use crate::ranges::Ranges;

/// Version of the format of [`encode_seats`].
const SEATS_FORMAT_VERSION: u8 = 3;
/// The version before: seats without the cost of empty answers.
const SEATS_WITHOUT_EMPTY_ANSWERS: u8 = 2;
/// The version before that: seats without meters.
const SEATS_WITHOUT_METERS: u8 = 1;

/// Encodes the points of a match.
pub fn encode_points(points: &[FixedPoint]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 * points.len());
    for point in points {
        write_signed_varint(&mut bytes, point.0);
    }
    bytes
}

/// Reverses [`encode_points`].
pub fn decode_points(mut bytes: &[u8]) -> Option<Vec<FixedPoint>> {
    let mut points = Vec::new();
    while !bytes.is_empty() {
        points.push(FixedPoint(read_signed_varint(&mut bytes)?));
    }
    Some(points)
}

/// Encodes the seats of a game result.
pub fn encode_seats(seats: &[SeatResult]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(1 + 32 * seats.len());
    bytes.push(SEATS_FORMAT_VERSION);
    for seat in seats {
        write_varint(&mut bytes, seat.entrant.0.into());
        write_signed_varint(&mut bytes, seat.score.0);
        bytes.push(seat.place);
        for stat in seat.stats {
            write_signed_varint(&mut bytes, stat.0);
        }
        write_varint(&mut bytes, seat.answers.into());
        for count in seat.faults {
            write_varint(&mut bytes, count.into());
        }
        write_varint(&mut bytes, seat.thought_ns);
        write_varint(&mut bytes, seat.longest_ns);
        bytes.push(encode_meter(seat.meter));
        write_varint(&mut bytes, seat.empty_ns);
    }
    bytes
}

/// Reverses [`encode_seats`]; `None` if the bytes are not valid.
pub fn decode_seats(bytes: &[u8]) -> Option<Vec<SeatResult>> {
    let (&version, mut bytes) = bytes.split_first()?;
    if !(SEATS_WITHOUT_METERS..=SEATS_FORMAT_VERSION).contains(&version) {
        return None;
    }
    let mut seats = Vec::with_capacity(4);
    while !bytes.is_empty() {
        seats.push(read_seat(&mut bytes, version)?);
    }
    Some(seats)
}

/// 0 for no meter, else its number in [`MeterKind::ALL`], from 1.
fn encode_meter(meter: Option<MeterKind>) -> u8 {
    let number = MeterKind::ALL.iter().position(|&kind| Some(kind) == meter);
    number.map_or(0, |number| number as u8 + 1)
}

fn read_byte(bytes: &mut &[u8]) -> Option<u8> {
    let (&byte, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(byte)
}

fn read_seat(bytes: &mut &[u8], version: u8) -> Option<SeatResult> {
    let entrant = Entrant(read_varint_u32(bytes)?);
    let score = FixedPoint(read_signed_varint(bytes)?);
    let place = read_byte(bytes)?;
    let mut stats = [FixedPoint::ZERO; MAX_STATS];
    for stat in &mut stats {
        stat.0 = read_signed_varint(bytes)?;
    }
    let answers = read_varint_u32(bytes)?;
    let mut faults = [0; 4];
    for count in &mut faults {
        *count = read_varint_u32(bytes)?;
    }
    let (thought_ns, longest_ns) = (read_varint(bytes)?, read_varint(bytes)?);
    let meter = match if version == SEATS_WITHOUT_METERS { 0 } else { read_byte(bytes)? } {
        0 => None,
        number => Some(*MeterKind::ALL.get(usize::from(number) - 1)?),
    };
    let empty_ns = if version <= SEATS_WITHOUT_EMPTY_ANSWERS { 0 } else { read_varint(bytes)? };
    Some(SeatResult {
        entrant,
        score,
        place,
        stats,
        answers,
        faults,
        thought_ns,
        longest_ns,
        meter,
        empty_ns,
    })
}

/// Encodes the played match numbers of all stages: for each stage the number of ranges, then gap and length of each range.
pub fn encode_played(stages: &[Ranges]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for ranges in stages {
        write_varint(&mut bytes, ranges.iter().count() as u64);
        let mut previous_end = 0;
        for Range { start, end } in ranges.iter() {
            write_varint(&mut bytes, start - previous_end);
            write_varint(&mut bytes, end - start);
            previous_end = end;
        }
    }
    bytes
}

/// Reverses [`encode_played`].
pub fn decode_played(mut bytes: &[u8]) -> Option<Vec<Ranges>> {
    let mut stages = Vec::new();
    while !bytes.is_empty() {
        let mut ranges = Ranges::new();
        let mut previous_end = 0u64;
        for _ in 0..read_varint(&mut bytes)? {
            let start = previous_end.checked_add(read_varint(&mut bytes)?)?;
            previous_end = start.checked_add(read_varint(&mut bytes)?)?;
            ranges.push(start..previous_end);
        }
        stages.push(ranges);
    }
    Some(stages)
}

pub fn write_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

pub fn write_signed_varint(bytes: &mut Vec<u8>, number: i64) {
    write_varint(bytes, ((number << 1) ^ (number >> 63)) as u64);
}

pub fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = read_byte(bytes)?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn read_varint_u32(bytes: &mut &[u8]) -> Option<u32> {
    read_varint(bytes)?.try_into().ok()
}

fn read_signed_varint(bytes: &mut &[u8]) -> Option<i64> {
    let number = read_varint(bytes)?;
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
            meter: MeterKind::ALL.get(entrant as usize % 4).copied(),
            empty_ns: u64::from(entrant) << 20,
        }
    }

    #[test]
    fn packed_values_unpack_to_the_same_values() {
        let all = [seat(0, 0), seat(u32::MAX, i64::MAX), seat(7, i64::MIN)];
        assert_eq!(decode_seats(&encode_seats(&all)).as_deref(), Some(&all[..]));
        let some = [FixedPoint(0), FixedPoint::from_int(-1), FixedPoint(i64::MIN), FixedPoint(i64::MAX)];
        assert_eq!(decode_points(&encode_points(&some)).as_deref(), Some(&some[..]));
        let mut ranges = Ranges::new();
        for number in [0, 1, 2, 9, 1_000_000, 1_000_001] {
            ranges.insert(number);
        }
        let stages = [ranges.clone(), Ranges::new(), ranges];
        assert_eq!(decode_played(&encode_played(&stages)).as_deref(), Some(&stages[..]));
    }

    #[test]
    fn seats_of_the_version_without_meters_are_read() {
        let expected = SeatResult { meter: None, empty_ns: 0, ..seat(3, 5) };
        let mut old = encode_seats(&[expected]);
        old.pop();
        old.pop();
        old[0] = SEATS_WITHOUT_METERS;
        assert_eq!(decode_seats(&old), Some(vec![expected]));
    }

    #[test]
    fn seats_of_the_version_without_empty_answers_are_read() {
        let expected = SeatResult { empty_ns: 0, ..seat(2, 5) };
        let mut old = encode_seats(&[expected]);
        old.pop();
        old[0] = SEATS_WITHOUT_EMPTY_ANSWERS;
        assert_eq!(decode_seats(&old), Some(vec![expected]));
    }

    #[test]
    fn truncated_or_unknown_format_is_rejected() {
        let whole = encode_seats(&[seat(3, 5), seat(4, 6)]);
        let one = encode_seats(&[seat(3, 5)]).len();
        for cut in 0..whole.len() {
            let read = decode_seats(&whole[..cut]);
            assert_eq!(read.is_some(), cut == 1 || cut == one, "cut at {cut}");
        }
        let mut other = whole;
        other[0] = SEATS_FORMAT_VERSION + 1;
        assert_eq!(decode_seats(&other), None);
        let mut other = encode_seats(&[SeatResult { empty_ns: 0, ..seat(3, 5) }]);
        let meter = other.len() - 2;
        other[meter] = 4;
        assert_eq!(decode_seats(&other), None, "an unknown meter");
        assert_eq!(decode_points(&[0xff; 11]), None, "longer than any number");
    }
}
