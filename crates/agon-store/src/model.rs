//! What a ledger keeps, as plain data.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use agon_core::FaultReport;
use agon_core::record::Digest;
use agon_league::{Entrant, MatchKey, MatchResult};
use sha2::{Digest as _, Sha256};

use crate::bot_output::PackedOutput;
use crate::encoding;
use crate::ranges::Ranges;

/// A moment: milliseconds since 1970, UTC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// By this machine's clock.
    pub fn now() -> Self {
        Self(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64))
    }
}

/// The seed nobody may know before the end. It does not show itself by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretSeed(String);

impl SecretSeed {
    /// As it stands in the file, or as it was drawn.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// What is shown before: SHA-256 of the text as it is, what `printf %s SEED | sha256sum` prints.
    pub fn commitment(&self) -> Digest {
        Digest(Sha256::digest(self.0.as_bytes()).into())
    }

    /// The seed itself: for drawing from it, and for showing it at the end.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// A competition's file, as it was at some time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigVersion {
    /// Its text.
    pub file: String,
    /// Its normalised form: JSON.
    pub normal: String,
    /// Since when.
    pub at: Timestamp,
}

/// What a competition is started with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewLedger {
    /// For people.
    pub name: String,
    /// The game's id.
    pub game: String,
    /// The version of its rules.
    pub rules: u32,
    /// The version of Agon.
    pub engine: String,
    /// The file it is started with.
    pub edition: ConfigVersion,
    /// How many phases it has. All of them wait.
    pub phases: u32,
    /// Kept apart from everything that is shown.
    pub secret: SecretSeed,
}

/// A competition, as far as anybody may know it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LedgerInfo {
    /// For people.
    pub name: String,
    /// The game's id.
    pub game: String,
    /// The version of its rules.
    pub rules: u32,
    /// The version of Agon it was started with.
    pub engine: String,
    /// The file it was started with, then what it was changed to.
    pub editions: Vec<ConfigVersion>,
    /// SHA-256 of the secret seed.
    pub commitment: Digest,
    /// The seed, once it was revealed.
    pub revealed: Option<(SecretSeed, Timestamp)>,
}

/// How far a phase is. It only ever moves on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PhaseState {
    /// Nothing was played.
    Waiting,
    /// Matches are taken.
    Running,
    /// Its table is out: no match is taken any more.
    Published,
    /// The next one may start: no bot is taken for it any more, nothing is left to do.
    Closed,
}

impl PhaseState {
    /// All four, in order.
    pub const ALL: [Self; 4] = [Self::Waiting, Self::Running, Self::Published, Self::Closed];

    /// As it is kept and shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Published => "published",
            Self::Closed => "closed",
        }
    }
}

impl fmt::Display for PhaseState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A phase, and how far it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PhaseStatus {
    /// From 0.
    pub phase: u32,
    /// How far.
    pub state: PhaseState,
    /// The hash of its final table, once published.
    pub table: Option<Digest>,
    /// When its first match could be played.
    pub started: Option<Timestamp>,
    /// When its table came out.
    pub published: Option<Timestamp>,
    /// When it was closed.
    pub closed: Option<Timestamp>,
    /// The rulings that were in force when it began: those its field was taken by.
    pub started_under: Vec<u64>,
    /// The rulings that the published table heeds.
    pub published_under: Vec<u64>,
}

/// A bot that is handed in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewBotVersion {
    /// For whom it plays.
    pub entrant: Entrant,
    /// The hash of all its files, as records have it.
    pub hash: String,
    /// The BOT it was given as.
    pub spec: String,
    /// The commit it was taken from.
    pub commit: Option<String>,
    /// All its files, packed.
    pub archive: Option<Vec<u8>>,
    /// From this phase on, until a newer one does.
    pub from_phase: u32,
    /// When it was handed in.
    pub at: Timestamp,
}

/// A bot that was handed in, without its files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BotVersion {
    /// For whom it plays.
    pub entrant: Entrant,
    /// From 1.
    pub version: u32,
    /// The hash of all its files, as records have it.
    pub hash: String,
    /// The BOT it was given as.
    pub spec: String,
    /// The commit it was taken from.
    pub commit: Option<String>,
    /// SHA-256 of its packed files, if they are kept.
    pub archive: Option<Digest>,
    /// From this phase on, until a newer one does.
    pub from_phase: u32,
    /// When it was handed in.
    pub at: Timestamp,
}

/// What is kept of a game beside its result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredGame {
    /// The record's: it covers all but the times.
    pub digest: Digest,
    /// As [`agon_core::record`] packs it; `None` if records are not kept.
    pub record: Option<Vec<u8>>,
}

/// A fault, for the fault list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchFault {
    /// Which game of the match, from 0.
    pub game: u32,
    /// Which turn, as in the record.
    pub turn: u32,
    /// Where it sat.
    pub seat: u8,
    /// Who.
    pub entrant: Entrant,
    /// What, and the bot's own words.
    pub report: FaultReport,
}

/// A bot's `data/` folder after a match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataFolder {
    /// Whose.
    pub entrant: Entrant,
    /// SHA-256 that says what is in it. Folders with the same are kept once.
    pub hash: Digest,
    /// The folder, packed.
    pub bytes: Vec<u8>,
}

/// A match that is over, with all that is to be kept of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FinishedMatch {
    /// Its key and its games' results.
    pub result: MatchResult,
    /// One for each game of the result.
    pub games: Vec<StoredGame>,
    /// In any order.
    pub faults: Vec<MatchFault>,
    /// At most one for each entrant.
    pub data: Vec<DataFolder>,
    /// At most one for each seat of each game. Not part of the digest.
    pub logs: Vec<PackedOutput>,
    /// When it was over.
    pub finished: Timestamp,
    /// The machine that played it, where there are many. Not part of the digest.
    pub worker: Option<String>,
}

impl FinishedMatch {
    /// What must be the same whenever this match is played: its games' digests and what it gives in the table. No times.
    pub fn digest(&self) -> Digest {
        let mut hash = Sha256::new();
        for (game, kept) in self.result.games.iter().zip(&self.games) {
            hash.update([game.part]);
            hash.update(kept.digest.0);
        }
        hash.update(encoding::points(&self.result.points));
        Digest(hash.finalize().into())
    }
}

/// A machine that nobody believes any more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BannedWorker {
    /// Its name.
    pub worker: String,
    /// What it did, in words.
    pub why: String,
    /// Since when.
    pub at: Timestamp,
}

/// What a phase's matches come to so far, in the words of whoever computes it. It covers every match of its phase that was
/// appended before it or with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// Of which phase.
    pub phase: u32,
    /// Not looked at.
    pub bytes: Vec<u8>,
}

/// What an append did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AppendResult {
    /// Matches that were not there before.
    pub new: u64,
    /// Matches that were there already.
    pub known: u64,
}

/// How far a phase is, without reading all of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PhaseProgress {
    /// For each stage, from 0, which numbers were played.
    pub stages: Vec<Ranges>,
    /// The latest snapshot.
    pub snapshot: Option<Vec<u8>>,
    /// The matches that came after it, in the order they came; all of them if there is none.
    pub after: Vec<MatchResult>,
}

/// How much was played.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Matches.
    pub matches: u64,
    /// Games in them.
    pub games: u64,
    /// Entries of the fault list.
    pub faults: u64,
}

/// A match that was kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredMatch {
    /// Its key and its games' results.
    pub result: MatchResult,
    /// Each game's, as its record has it.
    pub games: Vec<Digest>,
    /// Entries in the fault list.
    pub faults: u32,
    /// When it was over.
    pub finished: Timestamp,
}

/// A game's record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredRecord {
    /// Of which match.
    pub key: MatchKey,
    /// Which game of it, from 0.
    pub game: u32,
    /// As [`agon_core::record`] packs it.
    pub bytes: Vec<u8>,
}

/// An entry of the fault list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredFault {
    /// Its number in the ledger; later ones have higher numbers.
    pub id: u64,
    /// In which match.
    pub key: MatchKey,
    /// What happened.
    pub fault: MatchFault,
    /// When the match was over.
    pub finished: Timestamp,
}
