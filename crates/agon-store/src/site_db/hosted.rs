//! What the office keeps of competitions, as plain data: the competitions, who enters, what they hand in.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};

use agon_core::record::Digest;

use super::kept::{AccountId, EntrantId, words};
use crate::Timestamp;

words! {
    /// Where a competition comes from.
    Origin {
        /// Made on the organiser's desk.
        Hosted = "hosted",
        /// A competition file the server was given.
        File = "file",
    }
}

words! {
    /// How far a competition is.
    CompetitionState {
        /// Being made ready; for organisers.
        Draft = "draft",
        /// Takes entrants.
        Open = "open",
        /// Takes no more.
        Closed = "closed",
        /// Plays.
        Running = "running",
        /// An organiser holds it.
        Paused = "paused",
        /// A phase is over, the next is not begun.
        Waiting = "waiting",
        /// Everything was played.
        Over = "over",
        /// Something broke: the message says what.
        Failed = "failed",
    }
}

/// What may be handed in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UploadLimits {
    /// Entrants of one account; `None`: any number.
    pub per_contributor: Option<u32>,
    /// Bytes of an upload; `None`: the server's own limit.
    pub max_bytes: Option<u64>,
}

/// A competition on this server. What is played in it is in its ledger.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostedCompetition {
    /// As it stands in addresses.
    pub id: String,
    /// For people.
    pub name: String,
    /// The game's id.
    pub game: String,
    /// Where its competition file is.
    pub file: String,
    /// Where it comes from.
    pub origin: Origin,
    /// How far it is.
    pub state: CompetitionState,
    /// Why it failed, or what it waits for.
    pub message: Option<String>,
    /// Whether everybody may see it.
    pub public: bool,
    /// What may be handed in.
    pub limits: UploadLimits,
    /// What its file is made from.
    pub preset: String,
    /// Who made it; `None`: the system.
    pub by: Option<AccountId>,
    /// Since when.
    pub created: Timestamp,
    /// When its entrants got their numbers.
    pub seated: Option<Timestamp>,
}

/// A competition that is made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewCompetition {
    /// 1 to 48 of `a-z`, `0-9` and `-`; no other's.
    pub id: String,
    /// 1 to 80 characters.
    pub name: String,
    /// The game's id.
    pub game: String,
    /// Where its competition file is.
    pub file: String,
    /// Where it comes from.
    pub origin: Origin,
    /// How far it is.
    pub state: CompetitionState,
    /// Whether everybody may see it.
    pub public: bool,
    /// What may be handed in.
    pub limits: UploadLimits,
    /// What its file is made from.
    pub preset: String,
    /// Who makes it; `None`: the system.
    pub by: Option<AccountId>,
    /// When.
    pub at: Timestamp,
}

/// What is changed of a competition: what is `None` stays.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CompetitionPatch {
    /// For people.
    pub name: Option<String>,
    /// Where its competition file is.
    pub file: Option<String>,
    /// Whether everybody may see it.
    pub public: Option<bool>,
    /// What may be handed in: both of them.
    pub limits: Option<UploadLimits>,
    /// What its file is made from.
    pub preset: Option<String>,
}

/// Who enters a competition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entrant {
    /// Its number in the office; it stays.
    pub id: EntrantId,
    /// In which competition.
    pub competition: String,
    /// Whose; `None` for house bots.
    pub account: Option<AccountId>,
    /// As it was given, letters written in one way (NFC).
    pub name: String,
    /// Its role in games that have some.
    pub role: Option<String>,
    /// The BOT, where nobody uploads one.
    pub bot: Option<String>,
    /// Since when.
    pub created: Timestamp,
    /// Since when it takes no part.
    pub withdrawn: Option<Timestamp>,
    /// Its number in the competition file, from 0; given when the competition starts.
    pub number: Option<u32>,
}

/// Somebody who enters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewEntrant {
    /// In which competition.
    pub competition: String,
    /// Whose; `None` for house bots, which must have a `bot`.
    pub account: Option<AccountId>,
    /// 1 to 40 printable characters; no other's in the competition.
    pub name: String,
    /// Its role in games that have some.
    pub role: Option<String>,
    /// The BOT, where nobody uploads one.
    pub bot: Option<String>,
    /// When.
    pub at: Timestamp,
}

/// A submission: 16 hexadecimal digits drawn by chance, so that nobody guesses another's.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SubmissionId(String);

impl SubmissionId {
    /// A new one. Drawn before the upload is written, so that the upload can lie under it.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; 8];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Self(format!("{:016x}", u64::from_ne_bytes(bytes))))
    }

    /// The one that is written so, if it can be one: safe as a name of a file.
    pub fn parse(text: &str) -> Option<Self> {
        let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        (text.len() == 16 && text.bytes().all(hex)).then(|| Self(text.to_owned()))
    }

    /// Its digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SubmissionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

words! {
    /// How far a submission is.
    SubmissionState {
        /// Waits for its check.
        Queued = "queued",
        /// Is being checked.
        Checking = "checking",
        /// Plays.
        Accepted = "accepted",
        /// Does not: the report says why.
        Refused = "refused",
        /// The check itself broke.
        Broke = "broke",
    }
}

/// A bot somebody handed in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Submission {
    /// Which.
    pub id: SubmissionId,
    /// For which competition.
    pub competition: String,
    /// For whom it plays.
    pub entrant: EntrantId,
    /// Who uploaded it.
    pub account: AccountId,
    /// Within the entrant, from 1; given when it is accepted.
    pub version: Option<u32>,
    /// The name of the file, as shown.
    pub file: String,
    /// How long the upload is.
    pub bytes: u64,
    /// SHA-256 of the upload.
    pub hash: Digest,
    /// How far it is.
    pub state: SubmissionState,
    /// What the check found: JSON.
    pub report: Option<String>,
    /// Where the unpacked bot lies, below the data folder.
    pub folder: Option<String>,
    /// From this phase on it plays, until a newer one does.
    pub from_phase: u32,
    /// How often its check was begun.
    pub attempts: u32,
    /// When it was handed in.
    pub created: Timestamp,
    /// When its check began.
    pub started: Option<Timestamp>,
    /// When its check was over.
    pub finished: Option<Timestamp>,
}

/// A bot that is handed in. Its upload is on the disk by now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewSubmission {
    /// From [`SubmissionId::random`].
    pub id: SubmissionId,
    /// For whom it plays.
    pub entrant: EntrantId,
    /// Who uploads it.
    pub account: AccountId,
    /// The name of the file, for showing; it is cut, never opened.
    pub file: String,
    /// How long the upload is.
    pub bytes: u64,
    /// SHA-256 of the upload.
    pub hash: Digest,
    /// From this phase on it plays.
    pub from_phase: u32,
    /// When.
    pub at: Timestamp,
}

/// What became of a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SubmissionVerdict {
    /// Accepted, refused or broke.
    pub state: SubmissionState,
    /// What was found: JSON.
    pub report: Option<String>,
    /// Where the unpacked bot lies, below the data folder. An accepted one must have it.
    pub folder: Option<String>,
    /// Records of the games it was tried in; 2 MiB at most in all.
    pub trials: Vec<Vec<u8>>,
    /// When.
    pub at: Timestamp,
}

/// Whose submissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SubmissionFilter<'o> {
    /// Everybody's.
    Everybody,
    /// An entrant's.
    Entrant(EntrantId),
    /// Those somebody uploaded.
    Account(AccountId),
    /// A competition's.
    Competition(&'o str),
}

/// What became of checks that a stop of the server cut off.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Requeued {
    /// Wait again.
    pub queued: u64,
    /// Were cut off so often that they are given up.
    pub broke: u64,
}
