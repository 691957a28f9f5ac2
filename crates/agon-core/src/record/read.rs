//! Reading a record, trusting nothing: it may be truncated, altered, or from the future.

use std::io::Read as _;
use std::time::Duration;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::{
    Digest, Expiry, FaultRecord, Header, MAX_UNPACKED, Record, RecordError, TRAILER_LEN, TRAILER_MAGIC,
    TRAILER_NAME, VERSION,
};
use crate::outcome::Outcome;
use crate::player::Times;

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

/// Reads the first game of `file` and gives back what follows it. `game` is its number, for errors.
pub fn read(file: &[u8], game: usize) -> Result<(Record, &[u8]), RecordError> {
    let (frame, after) = split(file, game)?;
    let lines = unpack(frame, game)?;
    parse(&lines, game).map(|record| (record, after))
}

/// Takes the frame of one game off the front and checks it against its trailer.
fn split(file: &[u8], game: usize) -> Result<(&[u8], &[u8]), RecordError> {
    const ZSTD_MAGIC: [u8; 4] = 0xFD2F_B528u32.to_le_bytes();
    if !file.starts_with(&ZSTD_MAGIC[..file.len().min(4)]) {
        return Err(if game == 1 {
            RecordError::NotARecord
        } else {
            RecordError::Altered { what: "the start", game }
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
        Err(RecordError::Altered { what: "the content", game })
    }
}

fn unpack(frame: &[u8], game: usize) -> Result<String, RecordError> {
    let damaged = RecordError::Altered { what: "the packed content", game };
    let decoder = zstd::stream::read::Decoder::with_buffer(frame).map_err(|_| damaged.clone())?;
    let mut lines = String::new();
    let read = decoder.take(MAX_UNPACKED + 1).read_to_string(&mut lines).map_err(|_| damaged)?;
    if read as u64 > MAX_UNPACKED {
        let reason = format!("larger than {MAX_UNPACKED} bytes unpacked");
        return Err(RecordError::Malformed { game, line: 1, reason });
    }
    Ok(lines)
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Line {
    Fault(FaultRecord),
    Expired(Expiry),
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
    wall_ns: Vec<u64>,
    #[serde(default)]
    cpu_ns: Option<Vec<u64>>,
    #[serde(default)]
    wait_ns: Option<Vec<u64>>,
}

/// A record while its lines come in.
struct Reading {
    record: Record,
    /// Where the lines that the digest covers end.
    digested: Option<usize>,
    /// What the last line says the digest is.
    named: Option<String>,
}

fn parse(lines: &str, game: usize) -> Result<Record, RecordError> {
    let malformed = |line: usize, reason: String| RecordError::Malformed { game, line, reason };
    let first = lines.lines().next().unwrap_or_default();
    let header = parse_header(first).map_err(|e| e.unwrap_or_else(|reason| malformed(1, reason)))?;
    let mut reading = Reading::new(header);
    let mut offset = first.len() + 1;
    for (number, line) in lines.lines().enumerate().skip(1) {
        offset += line.len() + 1;
        reading.line(line, offset).map_err(|reason| malformed(number + 1, reason))?;
    }
    let missing = |what: &str| malformed(lines.lines().count(), format!("{what} is missing"));
    let end = reading.digested.ok_or_else(|| missing("the end of the game"))?;
    let named = reading.named.ok_or_else(|| missing("the digest"))?;
    let digest = Digest(Sha256::digest(&lines.as_bytes()[..end.min(lines.len())]).into());
    if named != digest.to_string() {
        return Err(RecordError::Altered { what: "the digest", game });
    }
    Ok(Record { digest, ..reading.record })
}

impl Reading {
    fn new(header: Header) -> Self {
        let record = Record {
            times: vec![Vec::new(); header.seats.len()],
            header,
            turns: Vec::new(),
            faults: Vec::new(),
            expired: None,
            outcome: Outcome::ranked(&[], ""),
            clock_scale: None,
            digest: Digest([0; 32]),
        };
        Self { record, digested: None, named: None }
    }

    /// Takes one line; `end` is where it ends in the text.
    fn line(&mut self, line: &str, end: usize) -> Result<(), String> {
        if self.named.is_some() {
            return Err("something follows the digest".to_owned());
        }
        let record = &mut self.record;
        if line.starts_with("{\"turn\":") {
            let line: TurnsLine = serde_json::from_str(line).map_err(|e| e.to_string())?;
            if line.turn != record.turns.len() + 1 || self.digested.is_some() {
                return Err("turns are out of order".to_owned());
            }
            record.turns.extend(line.answers);
            return Ok(());
        }
        match serde_json::from_str(line).map_err(|e| e.to_string())? {
            Line::Fault(_) | Line::Expired(_) | Line::End(_) if self.digested.is_some() => {
                return Err("something other than times follows the end".to_owned());
            }
            Line::Fault(fault) => record.faults.push(fault),
            Line::Expired(expiry) => record.expired = Some(expiry),
            Line::End(found) if found.turns != record.turns.len() => {
                return Err("turns are missing".to_owned());
            }
            Line::End(found) => {
                record.outcome = found.outcome;
                self.digested = Some(end);
            }
            Line::Times(line) => {
                let seat = record.times.get_mut(line.seat).ok_or("no such seat")?;
                *seat = line.zip().ok_or("lists of different lengths")?;
            }
            Line::ClockScale(_) if self.digested.is_none() => {
                return Err("how clocks were scaled stands before the end".to_owned());
            }
            Line::ClockScale(scale) => record.clock_scale = Some(scale),
            Line::Digest(text) => self.named = Some(text),
        }
        Ok(())
    }
}

/// The version comes first: a header from the future may have any other shape.
fn parse_header(line: &str) -> Result<Header, Result<RecordError, String>> {
    #[derive(Deserialize)]
    struct Start {
        agon: String,
        version: u32,
    }
    match serde_json::from_str::<Start>(line) {
        Ok(start) if start.agon == "record" && start.version > VERSION => {
            Err(Ok(RecordError::FutureVersion { found: start.version }))
        }
        Ok(start) if start.agon == "record" => serde_json::from_str(line).map_err(|e| Err(e.to_string())),
        _ => Err(Ok(RecordError::NotARecord)),
    }
}

impl TimesLine {
    fn zip(self) -> Option<Vec<Times>> {
        let n = self.wall_ns.len();
        let cpu = self.cpu_ns.unwrap_or_else(|| self.wall_ns.clone());
        let wait = self.wait_ns.unwrap_or_else(|| vec![0; n]);
        if cpu.len() != n || wait.len() != n {
            return None;
        }
        let times = self.wall_ns.into_iter().zip(cpu).zip(wait).map(|((wall, cpu), wait)| Times {
            wall: Duration::from_nanos(wall),
            cpu: Duration::from_nanos(cpu),
            wait: Duration::from_nanos(wait),
        });
        Some(times.collect())
    }
}
