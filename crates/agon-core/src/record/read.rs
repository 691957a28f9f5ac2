//! Reads records. The input is untrusted: it may be truncated, altered, or written by a newer version.

use std::io::Read as _;
use std::time::Duration;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::{
    ClockExpiry, Digest, FaultRecord, MAX_UNPACKED_BYTES, RECORD_VERSION, Record, RecordError, RecordHeader,
    TRAILER_LEN, TRAILER_MAGIC, TRAILER_NAME,
};
use crate::meter::MeterKind;
use crate::outcome::Outcome;
use crate::player::AnswerTimes;

/// Reads the games of a file, in order.
pub fn read_all(file: &[u8]) -> Result<Vec<Record>, RecordError> {
    let mut records = Vec::new();
    let mut rest = file;
    while !rest.is_empty() || records.is_empty() {
        let (record, after) = read(rest, records.len() + 1)?;
        records.push(record);
        rest = after;
    }
    Ok(records)
}

/// Reads the first game of `file` and returns it with the remaining bytes. `game` is its number for error messages.
pub fn read(file: &[u8], game: usize) -> Result<(Record, &[u8]), RecordError> {
    let (frame, after) = split_frame(file, game)?;
    let lines = decompress(frame, game)?;
    parse(&lines, game).map(|record| (record, after))
}

/// Splits off the frame of the first game and checks it against its trailer.
fn split_frame(file: &[u8], game: usize) -> Result<(&[u8], &[u8]), RecordError> {
    const ZSTD_MAGIC: [u8; 4] = 0xFD2F_B528u32.to_le_bytes();
    if !file.starts_with(&ZSTD_MAGIC[..file.len().min(4)]) {
        return Err(if game == 1 && !has_trailer(file) {
            RecordError::NotARecord
        } else {
            RecordError::Altered { part: "the start", game }
        });
    }
    let truncated = RecordError::Truncated { game };
    let len = zstd::zstd_safe::find_frame_compressed_size(file).map_err(|_| truncated.clone())?;
    let (frame, rest) = file.split_at_checked(len).ok_or_else(|| truncated.clone())?;
    let (trailer, after) = rest.split_at_checked(TRAILER_LEN).ok_or(truncated)?;
    let checksum: [u8; 32] = Sha256::digest(frame).into();
    let expected = [&TRAILER_MAGIC[..], &36u32.to_le_bytes(), &TRAILER_NAME, &checksum].concat();
    if trailer == expected {
        Ok((frame, after))
    } else {
        Err(RecordError::Altered { part: "the content", game })
    }
}

/// Whether the file contains the trailer of a game, as an altered record does and other files do not.
fn has_trailer(file: &[u8]) -> bool {
    let start = [&TRAILER_MAGIC[..], &36u32.to_le_bytes(), &TRAILER_NAME].concat();
    file.windows(start.len()).any(|bytes| bytes == start)
}

fn decompress(frame: &[u8], game: usize) -> Result<String, RecordError> {
    let damaged = RecordError::Altered { part: "the packed content", game };
    let decoder = zstd::stream::read::Decoder::with_buffer(frame).map_err(|_| damaged.clone())?;
    let mut lines = String::new();
    let read = decoder.take(MAX_UNPACKED_BYTES + 1).read_to_string(&mut lines).map_err(|_| damaged)?;
    if read as u64 > MAX_UNPACKED_BYTES {
        let reason = format!("larger than {MAX_UNPACKED_BYTES} bytes unpacked");
        return Err(RecordError::Malformed { game, line: 1, reason });
    }
    Ok(lines)
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum RecordLine {
    Fault(FaultRecord),
    Expired(ClockExpiry),
    End(End),
    Times(TimesLine),
    #[serde(rename = "clock_scale")]
    ClockScale(f64),
    Digest(String),
}

#[derive(Deserialize)]
struct TurnsLine {
    turn: usize,
    answers: Vec<String>,
}

#[derive(Deserialize)]
struct End {
    turns: usize,
    outcome: Outcome,
}

#[derive(Deserialize)]
struct TimesLine {
    seat: usize,
    #[serde(default)]
    meter: Option<MeterKind>,
    #[serde(default)]
    empty_ns: Option<u64>,
    wall_ns: Vec<u64>,
    #[serde(default)]
    cpu_ns: Option<Vec<u64>>,
    #[serde(default)]
    wait_ns: Option<Vec<u64>>,
}

/// State of the parser: the record so far.
struct RecordParser {
    record: Record,
    /// End of the text that the digest covers.
    digest_end: Option<usize>,
    /// Digest stated in the last line.
    stated_digest: Option<String>,
}

fn parse(lines: &str, game: usize) -> Result<Record, RecordError> {
    let malformed = |line: usize, reason: String| RecordError::Malformed { game, line, reason };
    let first = lines.lines().next().unwrap_or_default();
    let header = parse_header(first).map_err(|e| e.unwrap_or_else(|reason| malformed(1, reason)))?;
    let mut parser = RecordParser::new(header);
    let mut offset = first.len() + 1;
    for (number, line) in lines.lines().enumerate().skip(1) {
        offset += line.len() + 1;
        parser.parse_line(line, offset).map_err(|reason| malformed(number + 1, reason))?;
    }
    let missing = |what: &str| malformed(lines.lines().count(), format!("{what} is missing"));
    let end = parser.digest_end.ok_or_else(|| missing("the end of the game"))?;
    let stated_digest = parser.stated_digest.ok_or_else(|| missing("the digest"))?;
    let digest = Digest(Sha256::digest(&lines.as_bytes()[..end.min(lines.len())]).into());
    if stated_digest != digest.to_string() {
        return Err(RecordError::Altered { part: "the digest", game });
    }
    Ok(Record { digest, ..parser.record })
}

impl RecordParser {
    fn new(header: RecordHeader) -> Self {
        let record = Record {
            times: vec![Vec::new(); header.seats.len()],
            meters: vec![None; header.seats.len()],
            empty_answers: vec![None; header.seats.len()],
            header,
            turns: Vec::new(),
            faults: Vec::new(),
            expired: None,
            outcome: Outcome::ranked(&[], ""),
            clock_scale: None,
            digest: Digest([0; 32]),
        };
        Self { record, digest_end: None, stated_digest: None }
    }

    /// Parses one line. `end` is the offset of its end in the text.
    fn parse_line(&mut self, line: &str, end: usize) -> Result<(), String> {
        if self.stated_digest.is_some() {
            return Err("unexpected line after the digest".to_owned());
        }
        let record = &mut self.record;
        if line.starts_with("{\"turn\":") {
            let line: TurnsLine = serde_json::from_str(line).map_err(|e| e.to_string())?;
            if line.turn != record.turns.len() + 1 || self.digest_end.is_some() {
                return Err("turns are out of order".to_owned());
            }
            record.turns.extend(line.answers);
            return Ok(());
        }
        match serde_json::from_str(line).map_err(|e| e.to_string())? {
            RecordLine::Fault(_) | RecordLine::Expired(_) | RecordLine::End(_)
                if self.digest_end.is_some() =>
            {
                return Err("unexpected line after the end of the game".to_owned());
            }
            RecordLine::Fault(fault) => record.faults.push(fault),
            RecordLine::Expired(expiry) => record.expired = Some(expiry),
            RecordLine::End(found) if found.turns != record.turns.len() => {
                return Err("turns are missing".to_owned());
            }
            RecordLine::End(found) => {
                record.outcome = found.outcome;
                self.digest_end = Some(end);
            }
            RecordLine::Times(line) => {
                if let Some(meter) = record.meters.get_mut(line.seat) {
                    *meter = line.meter;
                }
                if let Some(cost) = record.empty_answers.get_mut(line.seat) {
                    *cost = line.empty_ns.map(Duration::from_nanos);
                }
                let seat = record.times.get_mut(line.seat).ok_or("no such seat")?;
                *seat = line.into_times().ok_or("lists of different lengths")?;
            }
            RecordLine::ClockScale(_) if self.digest_end.is_none() => {
                return Err("clock scale before the end of the game".to_owned());
            }
            RecordLine::ClockScale(scale) => record.clock_scale = Some(scale),
            RecordLine::Digest(text) => self.stated_digest = Some(text),
        }
        Ok(())
    }
}

/// Reads the version first: a header of a newer version may have any other fields.
fn parse_header(line: &str) -> Result<RecordHeader, Result<RecordError, String>> {
    #[derive(Deserialize)]
    struct Start {
        agon: String,
        version: u32,
    }
    match serde_json::from_str::<Start>(line) {
        Ok(start) if start.agon == "record" && start.version > RECORD_VERSION => {
            Err(Ok(RecordError::FutureVersion { found: start.version }))
        }
        Ok(start) if start.agon == "record" => serde_json::from_str(line).map_err(|e| Err(e.to_string())),
        _ => Err(Ok(RecordError::NotARecord)),
    }
}

impl TimesLine {
    fn into_times(self) -> Option<Vec<AnswerTimes>> {
        let n = self.wall_ns.len();
        let cpu = self.cpu_ns.unwrap_or_else(|| self.wall_ns.clone());
        let wait = self.wait_ns.unwrap_or_else(|| vec![0; n]);
        if cpu.len() != n || wait.len() != n {
            return None;
        }
        let times = self.wall_ns.into_iter().zip(cpu).zip(wait).map(|((wall, cpu), wait)| AnswerTimes {
            wall: Duration::from_nanos(wall),
            cpu: Duration::from_nanos(cpu),
            wait: Duration::from_nanos(wait),
        });
        Some(times.collect())
    }
}
