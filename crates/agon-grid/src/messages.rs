//! What is said over NATS: MessagePack, maps with named fields, so that a newer one may say more. `docs/grid.md` explains who says what when.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::GridError;

/// The version of what is said. Who says another one is not understood, and told so.
pub const PROTOCOL: u32 = 1;
/// The largest piece of anything: below what nats-server takes unless it is told otherwise (1 MiB).
pub const PIECE: usize = 512 << 10;

/// SHA-256 of some bytes, 64 hexadecimal digits.
pub type Hash = String;

/// The name of a run of a coordinator or a worker: sixteen hexadecimal digits that nobody can guess, and no two runs have.
pub fn new_session() -> Result<String, GridError> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| GridError::Io(std::io::Error::other(error.to_string())))?;
    Ok(format!("{:016x}", u64::from_be_bytes(bytes)))
}

/// As bytes.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, GridError> {
    rmp_serde::to_vec_named(message).map_err(|error| GridError::Wire(error.to_string()))
}

/// From bytes.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, GridError> {
    rmp_serde::from_slice(bytes).map_err(|error| GridError::Wire(error.to_string()))
}

/// A coordinator is there, and what it needs. Said every two seconds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Announcement {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// The competition.
    #[serde(rename = "cup")]
    pub competition_id: String,
    /// Its name, for people.
    pub name: String,
    /// Changes when the coordinator starts anew: whoever was welcome before says hello again.
    pub session: String,
    /// The game's id.
    pub game: String,
}

/// A worker would like to play.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JoinRequest {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Its name.
    pub worker: String,
    /// Changes when it starts anew.
    pub session: String,
    /// Its version of Agon.
    pub engine: String,
    /// The version of the rules of each game it knows.
    pub rules: BTreeMap<String, u32>,
    /// The layers of the sandbox that are active there.
    pub layers: Vec<String>,
    /// Games it plays at once.
    pub cores: u32,
    /// How fast it is, by its own calibration: 1 is the machine the figure was made on.
    pub speed: f64,
}

/// The answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum JoinResponse {
    /// It gets work.
    Accepted {
        /// The consumer it pulls from.
        consumer: String,
        /// A job whose progress nobody hears of for so long is given to somebody else.
        lease_ms: u64,
        /// Its bots' time limits are multiplied by this, where the organiser wants it.
        scale: Option<f64>,
    },
    /// It does not, and why: for people, with what to do.
    Refused {
        /// The reason.
        why: String,
    },
}

/// Everything that the matches of a phase have in common. Kept as a blob; jobs name its hash.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PhaseSpec {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// The competition.
    #[serde(rename = "cup")]
    pub competition_id: String,
    /// The game's id.
    pub game: String,
    /// The version of its rules.
    pub rules: u32,
    /// From 0.
    pub phase: u32,
    /// Whether a match has parts that give points.
    pub in_parts: bool,
    /// The parts of a match, for each variant.
    pub variants: Vec<Vec<PhasePart>>,
    /// By entrant.
    pub entrants: Vec<PhaseEntrant>,
    /// Files that settings name, by their content: blobs. A worker finds the name that settings use by hashing them.
    pub assets: Vec<Hash>,
    /// Whether bots run behind the sandbox.
    pub sandbox: bool,
    /// How bots that must not remember are made to forget. Read only: `strict` is the only mode, and a coordinator of an
    /// older version may still ask for another one, which a worker refuses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stateless: Option<String>,
    /// Whether bots' matches are played in order, because they keep something from match to match.
    pub in_order: bool,
}

/// A part of a match.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PhasePart {
    /// At most so many games.
    pub games: u32,
    /// Over when somebody has won so many.
    pub first_to: u32,
    /// Every setting, by its name, as text.
    pub settings: Vec<(String, String)>,
}

/// Somebody who takes part.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PhaseEntrant {
    /// In records.
    pub name: String,
    /// Its bot.
    pub bot: PhaseBot,
}

/// A bot.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum PhaseBot {
    /// One of the house.
    House(String),
    /// A program.
    Program {
        /// The hash that it must have once it is read there: that of the ledger and the records.
        hash: String,
        /// The BOT, seen from the folder that its files are unpacked into.
        spec: String,
        /// Its files, packed: a blob.
        files: Hash,
        /// A file that it finds in its folder though it did not bring it (its name, a blob).
        beside: Option<(String, Hash)>,
    },
}

/// Matches to be played by one worker.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Job {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Of which competition.
    #[serde(rename = "cup")]
    pub competition_id: String,
    /// The phase: a blob ([`PhaseSpec`]).
    pub brief: Hash,
    /// No two jobs have the same.
    pub id: String,
    /// After so many deliveries it is not played but given back ([`JobError::Poison`]).
    pub tries: u32,
    /// Not for these workers: it is there to see whether others come to the same.
    #[serde(rename = "not")]
    pub excluded_workers: Vec<String>,
    /// One after the other.
    pub matches: Vec<JobMatch>,
}

/// A match to be played.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JobMatch {
    /// From 0.
    pub stage: u32,
    /// From 0, in its stage.
    pub number: u64,
    /// Who sits where, by entrant.
    pub seats: Vec<u32>,
    /// Which of the brief's variants.
    pub variant: u32,
    /// What its games are drawn from.
    pub seed: u64,
    /// What bots find that keep something from match to match.
    pub luggage: Vec<BotDataRefs>,
}

/// What a bot finds when a match begins.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BotDataRefs {
    /// Whose.
    pub entrant: u32,
    /// Its `data/`, packed: a blob. None: as its files have it.
    pub data: Option<Hash>,
    /// Its `logs/`: packed folders, blobs, unpacked one over the other in this order.
    pub logs: Vec<Hash>,
}

/// What a worker played: packed by [`encode`], cut into pieces.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobReport {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// The job.
    pub job: String,
    /// The brief it was played by.
    pub brief: Hash,
    /// Who played it.
    pub worker: String,
    /// The session of the worker that said hello.
    pub session: String,
    /// How long it took, all in all.
    pub took_us: u64,
    /// What came of it.
    pub matches: Vec<match_report::MatchReport>,
}

/// A piece of a report. The pieces of one come in order, each after the receipt of the one before.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReportChunk {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Of which report: chosen by the worker, the same when it is said again.
    pub report: String,
    /// From 0.
    pub piece: u32,
    /// Of so many.
    pub pieces: u32,
    /// Its bytes.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
}

/// The answer to a report, a piece of it, or trouble.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ReportAck {
    /// This piece is here; the next one please.
    More,
    /// All of it is in the ledger, or was before, or is not wanted any more: the job is done.
    Kept,
    /// Nobody here knows this worker, or some pieces are missing: say hello, then all of it again.
    Again,
    /// It is not believed. The worker leaves this competition.
    Refused {
        /// Why, for people.
        why: String,
    },
}

/// What a worker could not do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JobError {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Who says so.
    pub worker: String,
    /// In which job.
    pub job: String,
    /// What it is.
    pub kind: JobErrorKind,
    /// In words, for people.
    pub says: String,
}

/// What kind of trouble.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum JobErrorKind {
    /// It failed here; somebody else may try.
    Failed,
    /// It was delivered too often: whoever took it failed or died.
    Poison {
        /// So often.
        deliveries: u64,
    },
    /// A blob is not there (any more).
    Missing {
        /// Which.
        hash: Hash,
    },
}

/// How a worker is. Said every two seconds, and when it leaves.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Heartbeat {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Its name.
    pub worker: String,
    /// Changes when it starts anew.
    pub session: String,
    /// Its version of Agon.
    pub engine: String,
    /// The layers of the sandbox that are active there.
    pub layers: Vec<String>,
    /// Games it plays at once.
    pub cores: u32,
    /// How many of them it plays just now.
    pub busy: u32,
    /// Games since it started.
    pub games: u64,
    /// Games a second, over the last ten seconds.
    pub rate: f64,
    /// The share of its cores' time that went into games, over the last ten seconds: 0 to 1.
    pub used: f64,
    /// How fast it is, by its own calibration.
    pub speed: f64,
    /// Faults of bots in its games since it started.
    pub faults: u64,
    /// Jobs that failed there since it started.
    pub failed: u64,
    /// Since when it runs: milliseconds since 1970, by its own clock.
    pub since_ms: i64,
    /// Whether it finishes what it has and leaves.
    pub draining: bool,
    /// Whether this was its last beat.
    pub gone: bool,
    /// The competitions that have refused it, and why.
    pub refused: Vec<(String, String)>,
    /// What is on its boards.
    pub boards: Vec<LiveGameInfo>,
}

impl Heartbeat {
    /// Of a worker with one core that has not done anything yet.
    pub fn new(worker: &str, session: &str) -> Self {
        Self {
            protocol: PROTOCOL,
            worker: worker.to_owned(),
            session: session.to_owned(),
            engine: String::new(),
            layers: Vec::new(),
            cores: 1,
            busy: 0,
            games: 0,
            rate: 0.0,
            used: 0.0,
            speed: 1.0,
            faults: 0,
            failed: 0,
            since_ms: 0,
            draining: false,
            gone: false,
            refused: Vec::new(),
            boards: Vec::new(),
        }
    }
}

/// A game that is on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LiveGameInfo {
    /// Of which competition.
    #[serde(rename = "cup")]
    pub competition_id: String,
    /// Which of the worker's boards, from 0.
    pub board: u32,
    /// Which match: phase, stage, number.
    pub key: (u32, u32, u64),
    /// Which game of it, from 0.
    pub game: u32,
    /// By whom.
    pub seats: Vec<u32>,
    /// For how long it is played.
    pub for_ms: u64,
    /// How many turns were played.
    pub turn: u32,
}

/// A worker is told to do something.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum WorkerCommand {
    /// Finish what is being played, take nothing more, and leave.
    Drain,
    /// Nobody believes you in this competition: leave it.
    Leave {
        /// Which.
        #[serde(rename = "cup")]
        competition_id: String,
        /// Why, for people.
        why: String,
    },
    /// Somebody looks on: show what is on this board, for so long unless it is said again.
    Show {
        /// Of which competition.
        #[serde(rename = "cup")]
        competition_id: String,
        /// Which board.
        board: u32,
        /// For so long.
        for_ms: u64,
        /// Whether to begin with the whole film, for somebody who has nothing yet.
        whole: bool,
    },
}

/// The answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum CommandReply {
    /// Understood.
    Yes,
    /// Not understood, or not possible, and why.
    No(String),
}

/// What is to be seen on a board. Large ones are cut into pieces.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LiveChunk {
    /// Counts on: whoever finds a gap asks for the whole film again.
    pub number: u64,
    /// From 0.
    pub piece: u32,
    /// Of so many.
    pub pieces: u32,
    /// A piece of an encoded [`LiveMessage`].
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
}

/// What a spectator is handed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum LiveMessage {
    /// A film, or a part of one.
    Film {
        /// Which game: how many were begun on this board, the match (phase, stage, number), which game of it, by whom.
        game: (u64, (u32, u32, u64), u32, Vec<u32>),
        /// The bytes.
        #[serde(with = "serde_bytes")]
        film: Vec<u8>,
        /// Whether it is to be appended to what was shown before.
        part: bool,
        /// Whether it has its end.
        over: bool,
    },
    /// The match is over.
    Match(match_report::MatchReport),
    /// Nothing is played on this board.
    Idle,
}

pub mod match_report;
