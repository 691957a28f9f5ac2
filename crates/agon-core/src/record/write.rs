//! Writes records. This code runs for every answer: it does not allocate in the steady state and avoids the formatting machinery.

use std::io;
use std::time::Duration;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::{
    ClockExpiry, Digest, FaultRecord, RecordHeader, SITS_OUT_TOKEN, TRAILER_MAGIC, TRAILER_NAME, hex,
};
use crate::fault::Fault;
use crate::game::Game;
use crate::meter::MeterKind;
use crate::outcome::Outcome;
use crate::player::AnswerTimes;
use crate::seat::Seat;

/// Number of turns in one line.
const TURNS_PER_LINE: u32 = 32;
/// Compression level. Speed matters more than size: records are small, and games may take microseconds.
const ZSTD_LEVEL: i32 = -1;

/// Writes records one after the other and reuses its buffers.
#[derive(Default)]
pub struct Recorder {
    lines: Vec<u8>,
    turn: u32,
    /// Offset at which the answers of the current turn start.
    answers_start: usize,
    times: Vec<Vec<AnswerTimes>>,
    /// How each seat's CPU time was measured.
    meters: Vec<Option<MeterKind>>,
    /// What an empty answer cost each seat.
    empty_answers: Vec<Option<Duration>>,
    /// Factor of all time limits.
    clock_scale: Option<f64>,
    /// Created for the first game and reused, because creating one costs more than compressing a short game.
    compressor: Option<zstd::bulk::Compressor<'static>>,
}

impl Recorder {
    /// Creates a recorder for any number of games.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the factor of all time limits for the following records. The digest does not cover it, as it does not cover
    /// times: machines of different speed get the same digest.
    pub fn set_clock_scale(&mut self, scale: Option<f64>) {
        self.clock_scale =
            scale.filter(|&scale| scale.is_finite() && scale > 0.0 && scale.total_cmp(&1.0).is_ne());
    }

    /// Factor of all time limits, if it is not 1. The recorder holds it so that limits are scaled only if the record says so.
    pub const fn clock_scale(&self) -> Option<f64> {
        self.clock_scale
    }

    /// Starts the record of a game.
    pub fn begin(&mut self, header: &RecordHeader) {
        self.lines.clear();
        (self.turn, self.answers_start) = (0, 0);
        self.times.iter_mut().for_each(Vec::clear);
        self.times.resize_with(header.seats.len(), Vec::new);
        self.meters.clear();
        self.meters.resize(header.seats.len(), None);
        self.empty_answers.clear();
        self.empty_answers.resize(header.seats.len(), None);
        self.json_line(header);
    }

    /// States how a seat's CPU time was measured. The digest does not cover it, as it does not cover times.
    pub fn set_meter(&mut self, seat: Seat, meter: Option<MeterKind>) {
        if let Some(known) = self.meters.get_mut(seat.index()) {
            *known = meter;
        }
    }

    /// States what an empty answer cost a seat. It is part of the recorded times. The digest does not cover it, as it does not
    /// cover times.
    pub fn set_empty_answer(&mut self, seat: Seat, cost: Option<Duration>) {
        if let Some(known) = self.empty_answers.get_mut(seat.index()) {
            *known = cost;
        }
    }

    /// Starts a turn. Its replies follow in seat order.
    #[inline]
    pub fn begin_turn(&mut self) {
        if self.turn.is_multiple_of(TURNS_PER_LINE) {
            self.close_line();
            self.lines.extend_from_slice(b"{\"turn\":");
            push_number(&mut self.lines, u64::from(self.turn) + 1);
            self.lines.extend_from_slice(b",\"answers\":[\"");
        } else {
            self.lines.extend_from_slice(b"\",\"");
        }
        self.turn += 1;
        self.answers_start = self.lines.len();
    }

    /// Text of the current turn: the answers of the seats to move, separated by blanks.
    pub fn turn_answers(&self) -> &[u8] {
        self.lines.get(self.answers_start..).unwrap_or_default()
    }

    /// Times of a seat's last answer.
    pub fn last_times(&self, seat: Seat) -> Option<AnswerTimes> {
        self.times.get(seat.index())?.last().copied()
    }

    /// Adds an answer to the current turn.
    #[inline]
    pub fn answer<G: Game>(&mut self, seat: Seat, answer: G::Answer, times: AnswerTimes) {
        self.next_reply();
        G::write_answer(answer, &mut self.lines);
        self.push_times(seat, times);
    }

    /// Adds a fault to the current turn.
    pub fn fault(&mut self, seat: Seat, fault: Fault, times: AnswerTimes) {
        self.next_reply();
        self.lines.push(b'!');
        self.lines.extend_from_slice(fault.name().as_bytes());
        self.push_times(seat, times);
    }

    /// Adds the token of a seat that is no longer asked.
    pub fn sits_out(&mut self) {
        self.next_reply();
        self.lines.extend_from_slice(SITS_OUT_TOKEN.as_bytes());
    }

    /// Ends the game. Returns the compressed record and its digest.
    pub fn end(
        &mut self,
        faults: &[FaultRecord],
        expired: Option<ClockExpiry>,
        outcome: &Outcome,
    ) -> io::Result<(Vec<u8>, Digest)> {
        #[derive(Serialize)]
        struct FaultLine<'a> {
            fault: &'a FaultRecord,
        }
        #[derive(Serialize)]
        struct ExpiredLine {
            expired: ClockExpiry,
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
        Ok((self.compress()?, digest))
    }

    #[inline]
    fn next_reply(&mut self) {
        if self.lines.last() != Some(&b'"') {
            self.lines.push(b' ');
        }
    }

    #[inline]
    fn push_times(&mut self, seat: Seat, times: AnswerTimes) {
        if let Some(list) = self.times.get_mut(seat.index()) {
            list.push(times);
        }
    }

    fn close_line(&mut self) {
        if self.turn > 0 && self.lines.last() != Some(&b'\n') {
            self.lines.extend_from_slice(b"\"]}\n");
        }
    }

    /// Writes a value as one line. Plain structs with text keys always serialise.
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
        let Self { lines, times, meters, empty_answers, .. } = self;
        for (seat, times) in times.iter().enumerate() {
            lines.extend_from_slice(b"{\"times\":{\"seat\":");
            push_number(lines, seat as u64);
            if let Some(meter) = meters.get(seat).copied().flatten() {
                lines.extend_from_slice(b",\"meter\":\"");
                lines.extend_from_slice(meter.name().as_bytes());
                lines.push(b'"');
            }
            if let Some(cost) = empty_answers.get(seat).copied().flatten() {
                lines.extend_from_slice(b",\"empty_ns\":");
                push_number(lines, cost.as_nanos() as u64);
            }
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

    /// Compresses the lines into one frame and appends the trailer.
    fn compress(&mut self) -> io::Result<Vec<u8>> {
        let compressor = match &mut self.compressor {
            Some(compressor) => compressor,
            none => none.insert(zstd::bulk::Compressor::new(ZSTD_LEVEL)?),
        };
        let mut file = compressor.compress(&self.lines)?;
        let checksum: [u8; 32] = Sha256::digest(&file).into();
        file.extend_from_slice(&TRAILER_MAGIC);
        file.extend_from_slice(&36u32.to_le_bytes());
        file.extend_from_slice(&TRAILER_NAME);
        file.extend_from_slice(&checksum);
        Ok(file)
    }
}

fn push_list(out: &mut Vec<u8>, name: &str, times: &[AnswerTimes], of: impl Fn(&AnswerTimes) -> u128) {
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
