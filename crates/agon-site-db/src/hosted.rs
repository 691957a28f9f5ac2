//! Data types for hosted competitions, entrants and submissions.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};

use agon_core::record::Digest;
use agon_store::Timestamp;

use super::model::{AccountId, EntrantId, TeamId, named_enum};

named_enum! {
    /// Origin of a competition.
    Origin {
        /// Created in the organiser dashboard.
        Hosted = "hosted",
        /// From a competition file given to the server.
        File = "file",
    }
}

named_enum! {
    /// State of a competition.
    CompetitionState {
        /// In preparation; visible to organisers only.
        Draft = "draft",
        /// Accepts entrants.
        Open = "open",
        /// Accepts no more entrants.
        Closed = "closed",
        /// Matches are being played.
        Running = "running",
        /// Paused by an organiser.
        Paused = "paused",
        /// Between two phases.
        Waiting = "waiting",
        /// All matches are played.
        Finished = "over",
        /// Stopped by an error; the message describes it.
        Failed = "failed",
    }
}

/// Limits for uploads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UploadLimits {
    /// Maximum number of entrants per account; `None`: unlimited.
    pub per_contributor: Option<u32>,
    /// Maximum size of an upload; `None`: the limit of the server.
    pub max_bytes: Option<u64>,
}

/// A competition on this server. Its results are in its ledger.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostedCompetition {
    /// Id, used in URLs.
    pub id: String,
    /// Display name.
    pub name: String,
    /// Id of the game.
    pub game: String,
    /// Path of the competition file.
    pub file: String,
    /// Origin.
    pub origin: Origin,
    /// Current state.
    pub state: CompetitionState,
    /// Error message, or what the competition waits for.
    pub message: Option<String>,
    /// Whether it is visible to all visitors.
    pub public: bool,
    /// Limits for uploads.
    pub limits: UploadLimits,
    /// Text from which the competition file is generated.
    pub preset: String,
    /// Account that created it; `None`: the system.
    pub by: Option<AccountId>,
    /// Time of creation.
    pub created: Timestamp,
    /// Time at which entrants got their numbers.
    pub numbers_assigned: Option<Timestamp>,
    /// Last phase, from 0, that an organiser allowed to start.
    pub allowed_phase: u32,
    /// Whether an organiser closed it for new versions while it waits for its next phase.
    pub closed_between_phases: bool,
}

/// A competition to create.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewCompetition {
    /// Unique id: 1 to 48 of `a-z`, `0-9` and `-`.
    pub id: String,
    /// Display name, 1 to 80 characters.
    pub name: String,
    /// Id of the game.
    pub game: String,
    /// Path of the competition file.
    pub file: String,
    /// Origin.
    pub origin: Origin,
    /// Initial state.
    pub state: CompetitionState,
    /// Whether it is visible to all visitors.
    pub public: bool,
    /// Limits for uploads.
    pub limits: UploadLimits,
    /// Text from which the competition file is generated.
    pub preset: String,
    /// Account that creates it; `None`: the system.
    pub by: Option<AccountId>,
    /// Time of creation.
    pub at: Timestamp,
}

/// Changes to a competition. `None` leaves a value unchanged.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CompetitionPatch {
    /// Display name.
    pub name: Option<String>,
    /// Path of the competition file.
    pub file: Option<String>,
    /// Whether it is visible to all visitors.
    pub public: Option<bool>,
    /// Limits for uploads; replaces both.
    pub limits: Option<UploadLimits>,
    /// Text from which the competition file is generated.
    pub preset: Option<String>,
    /// Last phase that may start.
    pub allowed_phase: Option<u32>,
    /// Whether it accepts no new versions between phases.
    pub closed_between_phases: Option<bool>,
}

/// An entrant of a competition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entrant {
    /// Permanent id in the site database.
    pub id: EntrantId,
    /// Id of the competition.
    pub competition: String,
    /// Owner; `None` for house bots.
    pub account: Option<AccountId>,
    /// Name as entered, in NFC.
    pub name: String,
    /// Role, in games with roles.
    pub role: Option<String>,
    /// Bot spec, if the bot is not uploaded.
    pub bot: Option<String>,
    /// Time of entry.
    pub created: Timestamp,
    /// Time of withdrawal.
    pub withdrawn: Option<Timestamp>,
    /// Number in the competition file, from 0; assigned when the competition starts.
    pub number: Option<u32>,
    /// Whether everybody may play against it and challenge it.
    pub practice: bool,
    /// Team it plays for; its `account` is the member who entered it.
    pub team: Option<TeamId>,
}

/// An entrant to add.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewEntrant {
    /// Id of the competition.
    pub competition: String,
    /// Owner; `None` for house bots, which need a `bot`.
    pub account: Option<AccountId>,
    /// Name, 1 to 40 printable characters, unique in the competition.
    pub name: String,
    /// Role, in games with roles.
    pub role: Option<String>,
    /// Bot spec, if the bot is not uploaded.
    pub bot: Option<String>,
    /// Time of entry.
    pub at: Timestamp,
}

/// Id of a submission: 16 random hexadecimal digits, so that ids of others cannot be guessed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SubmissionId(String);

impl SubmissionId {
    /// A random id. Drawn before the upload is written, because it names the file of the upload.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; 8];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Self(format!("{:016x}", u64::from_ne_bytes(bytes))))
    }

    /// Parses an id. A valid id is safe as a file name.
    pub fn parse(text: &str) -> Option<Self> {
        let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        (text.len() == 16 && text.bytes().all(hex)).then(|| Self(text.to_owned()))
    }

    /// The digits of the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SubmissionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

named_enum! {
    /// State of a submission.
    SubmissionState {
        /// Waits for its check.
        Queued = "queued",
        /// Is being checked.
        Checking = "checking",
        /// Passed its check.
        Accepted = "accepted",
        /// Did not pass; the report says why.
        Refused = "refused",
        /// The check itself failed.
        CheckFailed = "broke",
    }
}

/// An uploaded bot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Submission {
    /// Id.
    pub id: SubmissionId,
    /// Id of the competition.
    pub competition: String,
    /// Entrant it plays for.
    pub entrant: EntrantId,
    /// Account that uploaded it.
    pub account: AccountId,
    /// Version within the entrant, from 1; assigned when it is accepted.
    pub version: Option<u32>,
    /// File name, for display.
    pub file: String,
    /// Size of the upload in bytes.
    pub bytes: u64,
    /// SHA-256 of the upload.
    pub hash: Digest,
    /// Current state.
    pub state: SubmissionState,
    /// Report of the check, as JSON.
    pub report: Option<String>,
    /// Folder of the unpacked bot, relative to the data folder.
    pub folder: Option<String>,
    /// First phase in which it plays. A newer version replaces it.
    pub from_phase: u32,
    /// Number of started checks.
    pub attempts: u32,
    /// Time of the upload.
    pub created: Timestamp,
    /// Time at which the check started.
    pub started: Option<Timestamp>,
    /// Time at which the check finished.
    pub finished: Option<Timestamp>,
}

/// A submission to add. Its upload is already on disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewSubmission {
    /// Id from [`SubmissionId::random`].
    pub id: SubmissionId,
    /// Entrant it plays for.
    pub entrant: EntrantId,
    /// Account that uploads it.
    pub account: AccountId,
    /// File name, for display only; truncated.
    pub file: String,
    /// Size of the upload in bytes.
    pub bytes: u64,
    /// SHA-256 of the upload.
    pub hash: Digest,
    /// First phase in which it plays.
    pub from_phase: u32,
    /// Time of the upload.
    pub at: Timestamp,
}

/// Outcome of a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SubmissionVerdict {
    /// `Accepted`, `Refused` or `CheckFailed`.
    pub state: SubmissionState,
    /// Report, as JSON.
    pub report: Option<String>,
    /// Folder of the unpacked bot, relative to the data folder. Required if accepted.
    pub folder: Option<String>,
    /// Records of the trial games, at most 2 MiB in total.
    pub trials: Vec<Vec<u8>>,
    /// Time at which the check finished.
    pub at: Timestamp,
}

/// Selects submissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SubmissionFilter<'o> {
    /// All submissions.
    All,
    /// Submissions of an entrant.
    Entrant(EntrantId),
    /// Submissions uploaded by an account.
    Account(AccountId),
    /// Submissions of a competition.
    Competition(&'o str),
}

/// What happened to checks that were interrupted by a stop of the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RequeueCounts {
    /// Number of submissions that are queued again.
    pub queued: u64,
    /// Number of submissions that reached the maximum number of attempts.
    pub given_up: u64,
}
