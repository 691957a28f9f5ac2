//! Writing a record. On the path of every answer: no allocation in the steady state, no formatting machinery.

use std::io;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::{Digest, Expiry, FaultRecord, Header, SITS_OUT, TRAILER_MAGIC, TRAILER_NAME, hex};
use crate::fault::Fault;
use crate::game::Game;
use crate::outcome::Outcome;
use crate::player::Times;
use crate::seat::Seat;

/// How many turns share a line.
const TURNS_A_LINE: u32 = 32;
/// Speed before size: records are small, and games may take microseconds.
const LEVEL: i32 = -1;

/// Writes one game after the other, keeping its buffers.
#[derive(Default)]
pub struct Recorder {
    lines: Vec<u8>,
    turn: u32,
    /// Where the answers of this turn begin.
    answers: usize,
    times: Vec<Vec<Times>>,
    /// What time limits are multiplied by.
    clock_scale: Option<f64>,
    /// Made at the first game and kept: making one costs more than packing a short game.
    packer: Option<zstd::bulk::Compressor<'static>>,
}

impl Recorder {
    /// A recorder, to be used for any number of games.
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on all time limits are so many times as long, and every record says so. It is no part of the digest, as times are none: two machines
    /// of different speed come to the same.
    pub fn scale_clocks(&mut self, scale: Option<f64>) {
        self.clock_scale =
            scale.filter(|&scale| scale.is_finite() && scale > 0.0 && scale.total_cmp(&1.0).is_ne());
    }

    /// What time limits are multiplied by, if that is not 1. Nobody's are unless it is written down.
    pub const fn clock_scale(&self) -> Option<f64> {
        self.clock_scale
    }

    /// A game begins.
    pub fn begin(&mut self, header: &Header) {
        self.lines.clear();
        (self.turn, self.answers) = (0, 0);
        self.times.iter_mut().for_each(Vec::clear);
        self.times.resize_with(header.seats.len(), Vec::new);
        self.json_line(header);
    }

    /// A turn begins; its replies follow in seat order.
    #[inline]
    pub fn turn(&mut self) {
        if self.turn.is_multiple_of(TURNS_A_LINE) {
            self.close_line();
            self.lines.extend_from_slice(b"{\"turn\":");
            push_number(&mut self.lines, u64::from(self.turn) + 1);
            self.lines.extend_from_slice(b",\"answers\":[\"");
        } else {
            self.lines.extend_from_slice(b"\",\"");
        }
        self.turn += 1;
        self.answers = self.lines.len();
    }

    /// What stands in the record of this turn: the answers of those to move, separated by blanks.
    pub fn answers(&self) -> &[u8] {
        self.lines.get(self.answers..).unwrap_or_default()
    }

    /// What the last answer of a seat took.
    pub fn last_times(&self, seat: Seat) -> Option<Times> {
        self.times.get(seat.index())?.last().copied()
    }

    /// An answer of this turn.
    #[inline]
    pub fn answer<G: Game>(&mut self, seat: Seat, answer: G::Answer, times: Times) {
        self.next_reply();
        G::write_answer(answer, &mut self.lines);
        self.time(seat, times);
    }

    /// A fault instead of an answer.
    pub fn fault(&mut self, seat: Seat, fault: Fault, times: Times) {
        self.next_reply();
        self.lines.push(b'!');
        self.lines.extend_from_slice(fault.name().as_bytes());
        self.time(seat, times);
    }

    /// A seat that is no longer asked.
    pub fn sits_out(&mut self) {
        self.next_reply();
        self.lines.extend_from_slice(SITS_OUT.as_bytes());
    }

    /// The game is over: the packed record and its digest.
    pub fn end(
        &mut self,
        faults: &[FaultRecord],
        expired: Option<Expiry>,
        outcome: &Outcome,
    ) -> io::Result<(Vec<u8>, Digest)> {
        #[derive(Serialize)]
        struct FaultLine<'a> {
            fault: &'a FaultRecord,
        }
        #[derive(Serialize)]
        struct ExpiredLine {
            expired: Expiry,
        }
        #[derive(Serialize)]
        struct EndLine<'a> {
            end: End<'a>,
        }
        #[derive(Serialize)]
        struct End<'a> {
            turns: u32,
            outcome: &'a Outcome,
        }
        self.close_line();
        for fault in faults {
            self.json_line(&FaultLine { fault });
        }
        if let Some(expired) = expired {
            self.json_line(&ExpiredLine { expired });
        }
        self.json_line(&EndLine { end: End { turns: self.turn, outcome } });
        let digest = Digest(Sha256::digest(&self.lines).into());
        self.times_lines();
        self.lines.extend_from_slice(b"{\"digest\":\"sha256:");
        self.lines.extend_from_slice(&hex(digest.0));
        self.lines.extend_from_slice(b"\"}\n");
        Ok((self.pack()?, digest))
    }

    #[inline]
    fn next_reply(&mut self) {
        if self.lines.last() != Some(&b'"') {
            self.lines.push(b' ');
        }
    }

    #[inline]
    fn time(&mut self, seat: Seat, times: Times) {
        if let Some(list) = self.times.get_mut(seat.index()) {
            list.push(times);
        }
    }

    fn close_line(&mut self) {
        if self.turn > 0 && self.lines.last() != Some(&b'\n') {
            self.lines.extend_from_slice(b"\"]}\n");
        }
    }

    /// What is written here always serialises: plain structs with text keys.
    fn json_line(&mut self, line: &impl Serialize) {
        let written = serde_json::to_writer(&mut self.lines, line);
        debug_assert!(written.is_ok());
        self.lines.push(b'\n');
    }

    fn times_lines(&mut self) {
        #[derive(Serialize)]
        struct ScaleLine {
            clock_scale: f64,
        }
        if let Some(clock_scale) = self.clock_scale {
            self.json_line(&ScaleLine { clock_scale });
        }
        let Self { lines, times, .. } = self;
        for (seat, times) in times.iter().enumerate() {
            lines.extend_from_slice(b"{\"times\":{\"seat\":");
            push_number(lines, seat as u64);
            push_list(lines, "wall_ns", times, |t| t.wall.as_nanos());
            if times.iter().any(|t| t.cpu != t.wall) {
                push_list(lines, "cpu_ns", times, |t| t.cpu.as_nanos());
            }
            if times.iter().any(|t| !t.wait.is_zero()) {
                push_list(lines, "wait_ns", times, |t| t.wait.as_nanos());
            }
            lines.extend_from_slice(b"}}\n");
        }
    }

    /// The lines as one frame, then the trailer.
    fn pack(&mut self) -> io::Result<Vec<u8>> {
        let packer = match &mut self.packer {
            Some(packer) => packer,
            none => none.insert(zstd::bulk::Compressor::new(LEVEL)?),
        };
        let mut file = packer.compress(&self.lines)?;
        let checksum: [u8; 32] = Sha256::digest(&file).into();
        file.extend_from_slice(&TRAILER_MAGIC);
        file.extend_from_slice(&36u32.to_le_bytes());
        file.extend_from_slice(&TRAILER_NAME);
        file.extend_from_slice(&checksum);
        Ok(file)
    }
}

fn push_list(out: &mut Vec<u8>, name: &str, times: &[Times], of: impl Fn(&Times) -> u128) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":[");
    for (i, time) in times.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        push_number(out, of(time) as u64);
    }
    out.push(b']');
}

fn push_number(out: &mut Vec<u8>, mut n: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}
