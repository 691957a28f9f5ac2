//! The record of a game: bots, settings, seed, every answer, fault and time, but no states. Replaying the record through the
//! rules gives all states.
//!
//! On disk, a game is one zstd frame of JSON lines (`zstdcat FILE` shows them) and a 44-byte zstd skippable frame with the
//! SHA-256 of the first, which detects any changed byte. A file may hold several games, one after the other. The lines are:
//!
//! 1. header: `{"agon":"record","version":1,"game":...,"rules":...,"seed":...,"settings":{...},"seats":[...]}`;
//! 2. turns, several in a line: `{"turn":1,"answers":["L R C C","L C R R"]}`. Each text holds the answers of the seats to move
//!    in seat order, `!timeout` etc. for a fault, `-` for a seat that is no longer asked;
//! 3. `{"fault":{"turn":3,"seat":1,"fault":"illegal","says":"..."}}` for each fault, with its message. A fault in what a bot
//!    does after the game has the number of the last turn plus one; if it costs the match, the outcome says so;
//! 4. `{"expired":{"turn":8,"least":0}}` if the shared clock ran out after that turn;
//! 5. `{"end":{"turns":10,"outcome":{...}}}`;
//! 6. `{"clock_scale":1.25}` if all time limits were multiplied by this factor because the machine is slower than others;
//!    then the times of each seat: `{"times":{"seat":0,"wall_ns":[...],"cpu_ns":[...],"wait_ns":[...]}}`. CPU times equal to
//!    the wall times, and wait times that are all zero, are omitted. `"meter"` says how they were measured, `"empty_ns"` what an
//!    empty answer cost this seat, if that was measured;
//! 7. `{"digest":"sha256:..."}` over the bytes of lines 1 to 5, that is without the times.

mod read;
mod write;

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::fault::FaultReport;
use crate::meter::MeterKind;
use crate::outcome::Outcome;
use crate::player::AnswerTimes;
use crate::seat::Seat;

pub use read::{read, read_all};
pub use write::Recorder;

/// Version of the record format. Readers reject newer versions.
pub const RECORD_VERSION: u32 = 1;

/// Magic number of a zstd skippable frame.
const TRAILER_MAGIC: [u8; 4] = 0x184D_2A50u32.to_le_bytes();
/// Marks the skippable frame as an Agon trailer.
const TRAILER_NAME: [u8; 4] = *b"AGON";
/// Magic, length, name, SHA-256.
const TRAILER_LEN: usize = 4 + 4 + 4 + 32;
/// Maximum size of an unpacked record. Records may come from untrusted sources.
const MAX_UNPACKED_BYTES: u64 = 1 << 28;
/// Token of a seat that is no longer asked.
pub const SITS_OUT_TOKEN: &str = "-";

/// A SHA-256 hash: of a record without its times, or of content.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// 64 hexadecimal digits, as `sha256sum` prints them.
    pub fn hex(self) -> String {
        hex(self.0).map(char::from).iter().collect()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        f.write_str(std::str::from_utf8(&hex(self.0)).unwrap_or_default())
    }
}

/// 32 bytes as 64 hexadecimal digits.
fn hex(bytes: [u8; 32]) -> [u8; 64] {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    let mut text = [0; 64];
    for (pair, byte) in text.chunks_exact_mut(2).zip(bytes) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    text
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The bot at a seat.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SeatRecord {
    /// Name in this game, unique among the seats.
    pub name: String,
    /// Bot spec: `house:greedy`, a path, `human`.
    pub bot: String,
    /// Hash of its content.
    pub hash: String,
}

/// First line of a record.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RecordHeader {
    /// Always `record`.
    pub agon: String,
    /// Version of the record format.
    pub version: u32,
    /// Id of the game.
    pub game: String,
    /// Version of the game's rules.
    pub rules: u32,
    /// Seed of the game. Written as a string, because JSON numbers in browsers are exact only up to 2^53.
    #[serde(with = "seed_text")]
    pub seed: u64,
    /// All settings, with defaults.
    pub settings: serde_json::Map<String, serde_json::Value>,
    /// Bots in seat order.
    pub seats: Vec<SeatRecord>,
}

mod seed_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    pub fn serialize<S: Serializer>(seed: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(seed)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// A fault with its turn and seat.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FaultRecord {
    /// Turn, counted from 1. One more than the last turn for a fault in what the bot does after the game.
    pub turn: u32,
    /// Seat of the bot.
    pub seat: Seat,
    /// Fault with its details.
    #[serde(flatten)]
    pub report: FaultReport,
}

impl FaultRecord {
    /// Whether the game, which had this number of turns, was over.
    pub const fn is_after_game(&self, turns: u32) -> bool {
        self.turn > turns
    }
}

/// End of the game by the shared clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ClockExpiry {
    /// Last turn that was played.
    pub turn: u32,
    /// Seat with the least weighted thinking time.
    #[serde(rename = "least")]
    pub fastest: Seat,
}

/// A record read from disk.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// Game, settings, seed and bots.
    pub header: RecordHeader,
    /// For each turn, the answers of the seats to move, separated by blanks.
    pub turns: Vec<String>,
    /// Faults in the order of occurrence.
    pub faults: Vec<FaultRecord>,
    /// Set if the shared clock ran out.
    pub expired: Option<ClockExpiry>,
    /// Result of the game.
    pub outcome: Outcome,
    /// Times of the answers, by seat.
    pub times: Vec<Vec<AnswerTimes>>,
    /// How the CPU time of each seat was measured, if the record says so.
    pub meters: Vec<Option<MeterKind>>,
    /// What an empty answer cost each seat, if it was measured. It is part of `times`.
    pub empty_answers: Vec<Option<Duration>>,
    /// Factor of all time limits, if it is not 1.
    pub clock_scale: Option<f64>,
    /// Hash of everything except the times.
    pub digest: Digest,
}

/// Reason why a record is rejected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RecordError {
    /// Another file format.
    #[error("not an Agon record")]
    NotARecord,
    /// The end of the file is missing.
    #[error("truncated or damaged: game {game} is not complete")]
    Truncated {
        /// Number of the game, from 1.
        game: usize,
    },
    /// The content does not match its checksum.
    #[error("altered or damaged: {part} of game {game} does not match its checksum")]
    Altered {
        /// Part of the record that does not match.
        part: &'static str,
        /// Number of the game, from 1.
        game: usize,
    },
    /// Written by a newer version of Agon.
    #[error(
        "record version {found} is newer than this program's ({RECORD_VERSION}); use the Agon that wrote it, or a newer one"
    )]
    FutureVersion {
        /// Version of the record.
        found: u32,
    },
    /// The checksums match, but the content is invalid.
    #[error("line {line} of game {game}: {reason}")]
    Malformed {
        /// Number of the game, from 1.
        game: usize,
        /// Number of the line, from 1.
        line: usize,
        /// Error message.
        reason: String,
    },
}
