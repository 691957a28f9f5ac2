//! The record of a game: small and true. Who played, under which settings and seed, every answer, fault
//! and time; no states. Replaying it through the rules gives back everything else.
//!
//! On disk a game is one zstd frame of JSON lines (`zstdcat FILE` shows them) and a 44-byte zstd skippable frame
//! with the SHA-256 of the first, so that no changed byte goes unnoticed. A file may hold several games,
//! one after the other. The lines:
//!
//! 1. the header: `{"agon":"record","version":1,"game":...,"rules":...,"seed":...,"settings":{...},"seats":[...]}`;
//! 2. turns, some to a line: `{"turn":1,"answers":["L R C C","L C R R"]}`; the seats to move in seat order,
//!    `!timeout` and so on for a fault, `-` for a seat that is no longer asked;
//! 3. `{"fault":{"turn":3,"seat":1,"fault":"illegal","says":"..."}}` for each fault, in the bot's own words;
//! 4. `{"expired":{"turn":8,"least":0}}` if the shared clock ran out after that turn;
//! 5. `{"end":{"turns":10,"outcome":{...}}}`;
//! 6. `{"clock_scale":1.25}` if all time limits were so many times as long, because the machine was slower than others; then times, a line for each seat: `{"times":{"seat":0,"wall_ns":[...],"cpu_ns":[...],"wait_ns":[...]}}`; a list
//!    of processor times equal to the wall times, and one of waits that are all zero, is left out;
//! 7. `{"digest":"sha256:..."}` over lines 1 to 5 as they stand: all but the times.

mod read;
mod write;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fault::FaultReport;
use crate::outcome::Outcome;
use crate::player::Times;
use crate::seat::Seat;

pub use read::{read, read_all};
pub use write::Recorder;

/// The version written. Readers refuse newer ones.
pub const VERSION: u32 = 1;

/// Zstandard's own mark for a frame that decoders skip.
const TRAILER_MAGIC: [u8; 4] = 0x184D_2A50u32.to_le_bytes();
/// What makes the trailer ours.
const TRAILER_NAME: [u8; 4] = *b"AGON";
/// Magic, length, name, SHA-256.
const TRAILER_LEN: usize = 4 + 4 + 4 + 32;
/// A record unpacked may not be larger: it may come from a stranger.
const MAX_UNPACKED: u64 = 1 << 28;
/// The token of a seat that is no longer asked.
pub const SITS_OUT: &str = "-";

/// SHA-256 over a record without its times.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// As `sha256sum` prints it: 64 hexadecimal digits.
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

/// Who sat where.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SeatRecord {
    /// Its name in this game, different from all others.
    pub name: String,
    /// How it was given: `house:greedy`, a path, `human`.
    pub bot: String,
    /// Hash of its content.
    pub hash: String,
}

/// The first line.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Header {
    /// Always `record`.
    pub agon: String,
    /// Version of the format.
    pub version: u32,
    /// The game's id.
    pub game: String,
    /// Version of the game's rules.
    pub rules: u32,
    /// The game's seed. A string, because JSON numbers in browsers end at 2^53.
    #[serde(with = "seed_text")]
    pub seed: u64,
    /// All settings, defaults included.
    pub settings: serde_json::Map<String, serde_json::Value>,
    /// In seat order.
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

/// A fault and when it happened.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FaultRecord {
    /// Turns count from 1.
    pub turn: u32,
    /// Whose.
    pub seat: Seat,
    /// What, in the bot's own words.
    #[serde(flatten)]
    pub report: FaultReport,
}

/// The shared clock ran out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Expiry {
    /// After this turn.
    pub turn: u32,
    /// Who thought least.
    pub least: Seat,
}

/// A record as read from disk.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// Who, what, under which seed.
    pub header: Header,
    /// For each turn the answers of the seats to move, separated by blanks.
    pub turns: Vec<String>,
    /// In the order they happened.
    pub faults: Vec<FaultRecord>,
    /// If the shared clock ran out.
    pub expired: Option<Expiry>,
    /// How it ended.
    pub outcome: Outcome,
    /// For each seat, for each of its answers.
    pub times: Vec<Vec<Times>>,
    /// What time limits were multiplied by, if that was not 1.
    pub clock_scale: Option<f64>,
    /// Over all but the times.
    pub digest: Digest,
}

/// Why a record is refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RecordError {
    /// Something else altogether.
    #[error("not an Agon record")]
    NotARecord,
    /// The end is missing.
    #[error("truncated or damaged: game {game} is not complete")]
    Truncated {
        /// Counted from 1.
        game: usize,
    },
    /// Bytes are not those that were written.
    #[error("altered or damaged: {what} of game {game} does not match its checksum")]
    Altered {
        /// What.
        what: &'static str,
        /// Counted from 1.
        game: usize,
    },
    /// Written by a newer Agon.
    #[error(
        "record version {found} is newer than this program's ({VERSION}); use the Agon that wrote it, or a newer one"
    )]
    FutureVersion {
        /// The version found.
        found: u32,
    },
    /// The checksums hold but the content makes no sense.
    #[error("line {line} of game {game}: {reason}")]
    Malformed {
        /// Counted from 1.
        game: usize,
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
}
