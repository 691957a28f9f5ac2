//! Plain data types of the ledger.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use agon_core::record::Digest;
use agon_core::{FaultReport, SelfDescription};
use agon_league::{Entrant, MatchKey, MatchResult};
use sha2::{Digest as _, Sha256};

use crate::bot_output::PackedOutput;
use crate::encoding;
use crate::ranges::Ranges;

/// Milliseconds since 1970, UTC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Current time of this machine.
    pub fn now() -> Self {
        Self(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64))
    }
}

/// The seed that stays secret until the end of the competition. Its `Debug` output does not contain it.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretSeed(String);

impl SecretSeed {
    /// Wraps the seed text, from the competition file or drawn.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Public commitment: SHA-256 of the text, as printed by `printf %s SEED | sha256sum`.
    pub fn commitment(&self) -> Digest {
        Digest(Sha256::digest(self.0.as_bytes()).into())
    }

    /// The seed itself, for drawing from it and for revealing it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretSeed(..)")
    }
}

/// A version of the competition file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigVersion {
    /// Text of the file.
    pub text: String,
    /// Normalised form as JSON.
    pub normalised: String,
    /// Time from which this version applies.
    pub at: Timestamp,
}

/// Initial content of a ledger.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewLedger {
    /// Display name.
    pub name: String,
    /// Id of the game.
    pub game: String,
    /// Version of the game rules.
    pub rules: u32,
    /// Version of Agon.
    pub engine: String,
    /// Initial competition file.
    pub config: ConfigVersion,
    /// Number of phases. All start in the state `waiting`.
    pub phases: u32,
    /// Secret seed, stored apart from public data.
    pub secret: SecretSeed,
}

/// Public data of a competition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LedgerInfo {
    /// Display name.
    pub name: String,
    /// Id of the game.
    pub game: String,
    /// Version of the game rules.
    pub rules: u32,
    /// Version of Agon that created the ledger.
    pub engine: String,
    /// All versions of the competition file, oldest first.
    pub config_versions: Vec<ConfigVersion>,
    /// SHA-256 of the secret seed.
    pub commitment: Digest,
    /// Seed and time of its reveal, after the reveal.
    pub revealed: Option<(SecretSeed, Timestamp)>,
}

/// State of a phase. It only moves forward.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum PhaseState {
    /// Not started.
    #[default]
    Waiting,
    /// Accepts matches.
    Running,
    /// Its table is published. Accepts no more matches.
    Published,
    /// Finished: the next phase may start.
    Closed,
}

impl PhaseState {
    /// All states, in order.
    pub const ALL: [Self; 4] = [Self::Waiting, Self::Running, Self::Published, Self::Closed];

    /// Name in the database and in messages.
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

/// State and times of a phase.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PhaseStatus {
    /// Phase, from 0.
    pub phase: u32,
    /// Current state.
    pub state: PhaseState,
    /// Hash of the final table, once published.
    pub table_hash: Option<Digest>,
    /// Time of the start.
    pub started: Option<Timestamp>,
    /// Time of the publication.
    pub published: Option<Timestamp>,
    /// Time of the closing.
    pub closed: Option<Timestamp>,
    /// Rulings in force at the start. They determined the field.
    pub rulings_at_start: Vec<u64>,
    /// Rulings applied to the published table.
    pub rulings_at_publication: Vec<u64>,
}

/// A bot version to add.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewBotVersion {
    /// Entrant it plays for.
    pub entrant: Entrant,
    /// Hash of all its files, as in records.
    pub hash: String,
    /// Bot spec as given.
    pub spec: String,
    /// Git commit of the source.
    pub commit: Option<String>,
    /// All its files, packed.
    pub archive: Option<Vec<u8>>,
    /// First phase in which it plays. A newer version replaces it.
    pub from_phase: u32,
    /// Time of the submission.
    pub at: Timestamp,
    /// What the bot says about itself.
    pub says: SelfDescription,
}

/// A stored bot version, without its files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BotVersion {
    /// Entrant it plays for.
    pub entrant: Entrant,
    /// Version, from 1.
    pub version: u32,
    /// Hash of all its files, as in records.
    pub hash: String,
    /// Bot spec as given.
    pub spec: String,
    /// Git commit of the source.
    pub commit: Option<String>,
    /// SHA-256 of its packed files, if they are stored.
    pub archive: Option<Digest>,
    /// First phase in which it plays. A newer version replaces it.
    pub from_phase: u32,
    /// Time of the submission.
    pub at: Timestamp,
    /// What the bot says about itself.
    pub says: SelfDescription,
}

/// Stored data of a game besides its result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredGame {
    /// Digest of the record; covers everything except times.
    pub digest: Digest,
    /// Record as packed by [`agon_core::record`]; `None` if records are not stored.
    pub record: Option<Vec<u8>>,
}

/// A fault of a match, for the fault list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchFault {
    /// Index of the game in the match, from 0.
    pub game: u32,
    /// Turn, as in the record.
    pub turn: u32,
    /// Seat of the bot.
    pub seat: u8,
    /// Entrant of the bot.
    pub entrant: Entrant,
    /// Kind of fault and the bot's message.
    pub report: FaultReport,
}

/// A bot's `data/` folder after a match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataFolder {
    /// Entrant of the bot.
    pub entrant: Entrant,
    /// SHA-256 of the content. Folders with equal hashes are stored once.
    pub hash: Digest,
    /// The folder, packed.
    pub bytes: Vec<u8>,
}

/// A finished match with everything to store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FinishedMatch {
    /// Key of the match and results of its games.
    pub result: MatchResult,
    /// One entry per game of the result.
    pub games: Vec<StoredGame>,
    /// Faults, in any order.
    pub faults: Vec<MatchFault>,
    /// At most one folder per entrant.
    pub data: Vec<DataFolder>,
    /// At most one output per seat and game. Not part of the digest.
    pub bot_outputs: Vec<PackedOutput>,
    /// Time at which the match finished.
    pub finished: Timestamp,
    /// Worker that played the match, in a cluster. Not part of the digest.
    pub worker: Option<String>,
}

impl FinishedMatch {
    /// Digest that is equal for every repetition of this match: covers game digests and points, not times.
    pub fn digest(&self) -> Digest {
        let mut hash = Sha256::new();
        for (game, stored) in self.result.games.iter().zip(&self.games) {
            hash.update([game.part]);
            hash.update(stored.digest.0);
        }
        hash.update(encoding::encode_points(&self.result.points));
        Digest(hash.finalize().into())
    }
}

/// A worker whose results are no longer used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BannedWorker {
    /// Name of the worker.
    pub worker: String,
    /// Reason for the ban.
    pub reason: String,
    /// Time of the ban.
    pub at: Timestamp,
}

/// Intermediate state of the standings of a phase, in a format that only its producer knows. It covers every match of the phase
/// that was appended before it or with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// Phase, from 0.
    pub phase: u32,
    /// Content; the ledger does not interpret it.
    pub bytes: Vec<u8>,
}

/// Outcome of an append.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AppendResult {
    /// Number of matches that were new.
    pub new: u64,
    /// Number of matches that were already stored.
    pub already_stored: u64,
}

/// Progress of a phase since its latest snapshot.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PhaseProgress {
    /// Played match numbers, by stage.
    pub played: Vec<Ranges>,
    /// The latest snapshot.
    pub snapshot: Option<Vec<u8>>,
    /// Results appended after the snapshot, in order; all results if there is no snapshot.
    pub results_after_snapshot: Vec<MatchResult>,
}

/// Numbers of stored items of a phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Number of matches.
    pub matches: u64,
    /// Number of games.
    pub games: u64,
    /// Number of entries in the fault list.
    pub faults: u64,
}

/// A stored match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredMatch {
    /// Key of the match and results of its games.
    pub result: MatchResult,
    /// Digests of the records of its games.
    pub game_digests: Vec<Digest>,
    /// Number of entries in the fault list.
    pub faults: u32,
    /// Time at which the match finished.
    pub finished: Timestamp,
}

/// Stored record of a game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredRecord {
    /// Key of the match.
    pub key: MatchKey,
    /// Index of the game in the match, from 0.
    pub game: u32,
    /// Record as packed by [`agon_core::record`].
    pub bytes: Vec<u8>,
}

/// Stored entry of the fault list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredFault {
    /// Id in the ledger; later entries have higher ids.
    pub id: u64,
    /// Key of the match.
    pub key: MatchKey,
    /// The fault.
    pub fault: MatchFault,
    /// Time at which the match finished.
    pub finished: Timestamp,
}
