//! NATS messages: MessagePack maps with named fields, so that newer versions can add fields. `docs/grid.md` describes the protocol.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::GridError;

/// Protocol version. Receivers refuse messages of another version.
pub const PROTOCOL: u32 = 1;
/// Maximum chunk size of blobs, reports and films, below the default message limit of nats-server (1 MiB).
pub const MAX_CHUNK_BYTES: usize = 512 << 10;

/// SHA-256 of a blob, 64 hexadecimal digits.
pub type Hash = String;

/// Creates a random session id for a run of a coordinator or a worker: sixteen hexadecimal digits.
pub fn new_session() -> Result<String, GridError> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| GridError::Io(std::io::Error::other(error.to_string())))?;
    Ok(format!("{:016x}", u64::from_be_bytes(bytes)))
}

/// Encodes a message.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, GridError> {
    rmp_serde::to_vec_named(message).map_err(|error| GridError::Message(error.to_string()))
}

/// Decodes a message.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, GridError> {
    rmp_serde::from_slice(bytes).map_err(|error| GridError::Message(error.to_string()))
}

/// Announces a coordinator. Published every two seconds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Announcement {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Grid id of the competition.
    #[serde(rename = "cup")]
    pub competition_id: String,
    /// Display name.
    pub name: String,
    /// Changes when the coordinator restarts. Accepted workers then join again.
    pub session: String,
    /// Game id.
    pub game: String,
    /// Programs that the bots of the phase being played need: `python` for the interpreter of Python bots, names, or absolute paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
}

/// A worker asks to join a competition.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JoinRequest {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Worker name.
    pub worker: String,
    /// Changes when the worker restarts.
    pub session: String,
    /// Agon version of the worker.
    pub engine: String,
    /// Rules version of each game that the worker has.
    pub rules: BTreeMap<String, u32>,
    /// Active sandbox layers.
    pub layers: Vec<String>,
    /// Number of games that the worker plays in parallel.
    pub cores: u32,
    /// Relative speed from the worker's calibration: 1 is the reference machine.
    pub speed: f64,
    /// Programs of [`Announcement::needs`] that do not work on this machine, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<(String, String)>,
}

/// Reply to a [`JoinRequest`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum JoinResponse {
    /// The worker may pull jobs.
    Accepted {
        /// Name of the JetStream consumer to pull from.
        consumer: String,
        /// Lease: a job without a progress ack for this time goes to another worker.
        lease_ms: u64,
        /// Factor for the bots' time limits, if the organiser scales clocks.
        #[serde(rename = "scale")]
        clock_scale: Option<f64>,
    },
    /// The worker may not join.
    Refused {
        /// Reason, with a hint for the user.
        why: String,
    },
}

/// Data that all matches of a phase share. Stored as a blob; jobs refer to it by hash.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PhaseSpec {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Grid id of the competition.
    #[serde(rename = "cup")]
    pub competition_id: String,
    /// Game id.
    pub game: String,
    /// Rules version of the game.
    pub rules: u32,
    /// Phase number, from 0.
    pub phase: u32,
    /// Whether the parts of a match score points.
    pub in_parts: bool,
    /// Parts of a match, for each variant.
    pub variants: Vec<Vec<PhasePart>>,
    /// Entrants, by entrant number.
    pub entrants: Vec<PhaseEntrant>,
    /// Blobs of the files that settings refer to. A worker hashes them to find the name that the settings use.
    pub assets: Vec<Hash>,
    /// Whether bots run in the sandbox.
    pub sandbox: bool,
    /// Isolation mode of stateless bots. Only read: `strict` is the only mode. A worker refuses any other mode that an older coordinator
    /// asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stateless: Option<String>,
    /// Whether matches of a bot are played in order, because bots keep data from match to match.
    pub in_order: bool,
    /// Programs that the bots need, as in [`Announcement::needs`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
}

/// One part of a match.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PhasePart {
    /// Maximum number of games.
    pub games: u32,
    /// Number of wins that ends the part.
    pub first_to: u32,
    /// All settings, as name and text.
    pub settings: Vec<(String, String)>,
}

/// An entrant of the phase.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PhaseEntrant {
    /// Name in the records.
    pub name: String,
    /// Bot of the entrant.
    pub bot: PhaseBot,
}

/// Bot of an entrant.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum PhaseBot {
    /// House bot, by name.
    House(String),
    /// Program with its files.
    Program {
        /// Content hash in the ledger and the records. The unpacked files must have the same hash.
        hash: String,
        /// Bot spec, relative to the unpacked folder.
        spec: String,
        /// Blob of the packed files.
        files: Hash,
        /// File that the coordinator adds to the bot's folder: name and blob.
        #[serde(rename = "beside")]
        extra_file: Option<(String, Hash)>,
    },
}

/// Matches for one worker.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Job {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Grid id of the competition.
    #[serde(rename = "cup")]
    pub competition_id: String,
    /// Blob of the [`PhaseSpec`].
    #[serde(rename = "brief")]
    pub phase_spec: Hash,
    /// Unique job id.
    pub id: String,
    /// After this number of deliveries workers do not play the job but report it ([`JobErrorKind::Poison`]).
    #[serde(rename = "tries")]
    pub max_deliveries: u32,
    /// Workers that must not take this job: it cross-checks their results, or they failed at it.
    #[serde(rename = "not")]
    pub excluded_workers: Vec<String>,
    /// Matches, played one after another.
    pub matches: Vec<JobMatch>,
}

/// One match of a job.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JobMatch {
    /// Stage number, from 0.
    pub stage: u32,
    /// Match number in the stage, from 0.
    pub number: u64,
    /// Entrant number at each seat.
    pub seats: Vec<u32>,
    /// Index into [`PhaseSpec::variants`].
    pub variant: u32,
    /// Seed of the match. The seeds of its games derive from it.
    pub seed: u64,
    /// Data of the bots that keep data from match to match.
    #[serde(rename = "luggage")]
    pub bot_data: Vec<BotDataRefs>,
}

/// Data folders of a bot at the start of a match.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BotDataRefs {
    /// Entrant number.
    pub entrant: u32,
    /// Blob of the packed `data/`. `None`: as in the bot's files.
    pub data: Option<Hash>,
    /// Blobs of packed `logs/` folders, unpacked over each other in this order.
    pub logs: Vec<Hash>,
}

/// Results of a job. Encoded by [`encode`] and sent in chunks.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobReport {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Job id.
    pub job: String,
    /// Blob of the [`PhaseSpec`] of the job.
    #[serde(rename = "brief")]
    pub phase_spec: Hash,
    /// Worker name.
    pub worker: String,
    /// Session of the worker's join request.
    pub session: String,
    /// Time for playing the matches, without the time for loading the bots.
    #[serde(rename = "took_us")]
    pub duration_us: u64,
    /// Finished matches.
    pub matches: Vec<match_report::MatchReport>,
}

/// A chunk of an encoded [`JobReport`]. The worker sends each chunk after the ack of the previous one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReportChunk {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Report id, chosen by the worker. Stays the same when the report is sent again.
    pub report: String,
    /// Chunk number, from 0.
    #[serde(rename = "piece")]
    pub chunk: u32,
    /// Number of chunks.
    #[serde(rename = "pieces")]
    pub chunks: u32,
    /// Content.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
}

/// Reply to a report chunk or a job error.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ReportAck {
    /// Chunk received; send the next one.
    #[serde(rename = "More")]
    NextChunk,
    /// The report is finished: stored now, stored before, or no longer needed.
    #[serde(rename = "Kept")]
    Stored,
    /// The worker is not registered, or chunks are missing: join and send the whole report again.
    #[serde(rename = "Again")]
    Resend,
    /// The report is rejected. The worker leaves the competition.
    Refused {
        /// Reason, for the user.
        why: String,
    },
}

/// A worker could not play a job.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JobError {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Worker name.
    pub worker: String,
    /// Job id.
    pub job: String,
    /// Kind of error.
    pub kind: JobErrorKind,
    /// Message for the user.
    #[serde(rename = "says")]
    pub message: String,
}

/// Kind of job error.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum JobErrorKind {
    /// The job failed on this worker. Another worker may try.
    Failed,
    /// This worker cannot play any job of the phase: a program is missing, or its options do not allow it. It leaves the competition.
    Unfit,
    /// The job was delivered too often: every worker that took it failed or died.
    Poison {
        /// Number of deliveries.
        deliveries: u64,
    },
    /// A blob is missing.
    Missing {
        /// Hash of the blob.
        hash: Hash,
    },
}

/// Asks the coordinator to renew the lease of a job that the worker has held for so long that it may not acknowledge it any more.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RenewalRequest {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Worker name.
    pub worker: String,
    /// Job id.
    pub job: String,
    /// Acknowledgement subject of the delivery.
    pub ack: String,
}

/// Workers that were lost, from a coordinator: a program that has just started cannot have heard them. Reply to an empty request.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LostWorkers {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Last heartbeats, with their age in milliseconds.
    pub workers: Vec<(Heartbeat, u64)>,
}

/// A worker whose last jobs all failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FailingInfo {
    /// Number of failures in a row.
    pub failures: u32,
    /// Error of the last one.
    pub why: String,
    /// Time until the worker takes the next job.
    pub retry_ms: u64,
}

/// Status of a worker. Published every two seconds, and when the worker leaves.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Heartbeat {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Worker name.
    pub worker: String,
    /// Changes when the worker restarts.
    pub session: String,
    /// Agon version of the worker.
    pub engine: String,
    /// Active sandbox layers.
    pub layers: Vec<String>,
    /// Number of games that the worker plays in parallel.
    pub cores: u32,
    /// Number of games being played now.
    pub busy: u32,
    /// Games played since the start.
    pub games: u64,
    /// Games per second over the last ten seconds.
    #[serde(rename = "rate")]
    pub games_per_second: f64,
    /// Share of core time spent on games over the last ten seconds, 0 to 1.
    #[serde(rename = "used")]
    pub utilization: f64,
    /// Relative speed from the worker's calibration.
    pub speed: f64,
    /// Bot faults since the start.
    pub faults: u64,
    /// Failed jobs since the start.
    #[serde(rename = "failed")]
    pub failed_jobs: u64,
    /// Start time in milliseconds since 1970, by the worker's clock.
    #[serde(rename = "since_ms")]
    pub started_ms: i64,
    /// Whether the worker finishes its jobs and then leaves.
    pub draining: bool,
    /// Whether this is the last heartbeat.
    pub gone: bool,
    /// Competitions that refused the worker, with the reason.
    pub refused: Vec<(String, String)>,
    /// Games being played.
    #[serde(rename = "boards")]
    pub live_games: Vec<LiveGameInfo>,
    /// Set if the last jobs all failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing: Option<FailingInfo>,
}

impl Heartbeat {
    /// Heartbeat of an idle worker with one core.
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
            games_per_second: 0.0,
            utilization: 0.0,
            speed: 1.0,
            faults: 0,
            failed_jobs: 0,
            started_ms: 0,
            draining: false,
            gone: false,
            refused: Vec::new(),
            live_games: Vec::new(),
            failing: None,
        }
    }
}

/// A game being played.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LiveGameInfo {
    /// Grid id of the competition.
    #[serde(rename = "cup")]
    pub competition_id: String,
    /// Live slot on the worker, from 0. There is one for each game thread.
    #[serde(rename = "board")]
    pub slot: u32,
    /// Match key: phase, stage, number.
    pub key: (u32, u32, u64),
    /// Number of the game in its match, from 0.
    pub game: u32,
    /// Entrant number at each seat.
    pub seats: Vec<u32>,
    /// Time since the start of the game.
    #[serde(rename = "for_ms")]
    pub elapsed_ms: u64,
    /// Number of turns played.
    pub turn: u32,
}

/// Command for a worker.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum WorkerCommand {
    /// Finish the current games, take no more jobs, and leave.
    Drain,
    /// Leave a competition: the worker is banned there.
    Leave {
        /// Grid id of the competition.
        #[serde(rename = "cup")]
        competition_id: String,
        /// Reason, for the user.
        why: String,
    },
    /// Stream a live slot. The stream ends after the duration unless the command is repeated.
    Show {
        /// Grid id of the competition.
        #[serde(rename = "cup")]
        competition_id: String,
        /// Live slot on the worker.
        #[serde(rename = "board")]
        slot: u32,
        /// Duration of the stream.
        #[serde(rename = "for_ms")]
        duration_ms: u64,
        /// Whether to start with the whole film, for a viewer without any part of it.
        #[serde(rename = "whole")]
        full_film: bool,
    },
}

/// Reply to a [`WorkerCommand`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum CommandReply {
    /// The worker executes the command.
    Yes,
    /// The worker cannot execute the command, with the reason.
    No(String),
}

/// A chunk of an encoded [`LiveMessage`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LiveChunk {
    /// Message number. After a gap the receiver asks for the whole film.
    pub number: u64,
    /// Chunk number, from 0.
    #[serde(rename = "piece")]
    pub chunk: u32,
    /// Number of chunks.
    #[serde(rename = "pieces")]
    pub chunks: u32,
    /// Content.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
}

/// Update of a live slot, for spectators.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum LiveMessage {
    /// A film, or a part of one.
    Film {
        /// Game: its number on this slot, match key (phase, stage, number), number in the match, entrant number at each seat.
        game: (u64, (u32, u32, u64), u32, Vec<u32>),
        /// Film or part, as JSON.
        #[serde(with = "serde_bytes")]
        film: Vec<u8>,
        /// Whether this part extends the film sent before.
        part: bool,
        /// Whether the game is finished.
        over: bool,
    },
    /// The match is finished.
    Match(match_report::MatchReport),
    /// The slot is idle.
    Idle,
}

pub mod match_report;
