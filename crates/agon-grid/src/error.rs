//! What can go wrong between machines: what, where, what to do.

use std::io;
use std::path::PathBuf;

/// Why something did not work out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GridError {
    /// Nobody answers there.
    #[error(
        "no NATS server answers at {url} (waited {seconds} s): {what}\nhint: is it running, and is the address right? `agon doctor --nats {url}` looks closer"
    )]
    Unreachable {
        /// Where.
        url: String,
        /// What was seen.
        what: String,
        /// For how long it was tried.
        seconds: u64,
    },
    /// The server does not let us in.
    #[error("the NATS server at {url} refuses these credentials: {what}\nhint: {hint}")]
    Credentials {
        /// Where.
        url: String,
        /// Its words.
        what: String,
        /// What to do.
        hint: &'static str,
    },
    /// TLS is only half there.
    #[error("TLS with the NATS server at {url} does not work: {what}\nhint: {hint}")]
    Tls {
        /// Where.
        url: String,
        /// What is wrong.
        what: String,
        /// What to do.
        hint: &'static str,
    },
    /// A file that was named for the connection cannot be used.
    #[error("{}: {what}\nhint: {hint}", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
        /// What to do.
        hint: &'static str,
    },
    /// What was given makes no sense.
    #[error("{what}\nhint: {hint}")]
    WrongUse {
        /// What.
        what: String,
        /// What to do.
        hint: String,
    },
    /// The server has no JetStream, or we may not use it.
    #[error("the NATS server at {url} cannot {doing}: {what}\nhint: {hint}")]
    JetStream {
        /// Where.
        url: String,
        /// What was tried.
        doing: String,
        /// Its words.
        what: String,
        /// What to do.
        hint: &'static str,
    },
    /// The server lets us in, but not do this.
    #[error("the NATS server at {url} does not let this user {doing}: {what}\nhint: {hint}")]
    Permission {
        /// Where.
        url: String,
        /// What was tried.
        doing: String,
        /// Its words.
        what: String,
        /// What to do.
        hint: &'static str,
    },
    /// Something that is kept by its hash is not there, or is not what it should be.
    #[error(
        "{hash} cannot be had from the NATS server: {what}\nhint: the coordinator of the competition puts it there; is it running?"
    )]
    Blob {
        /// Which.
        hash: String,
        /// What is wrong.
        what: String,
    },
    /// A message that nobody understands.
    #[error(
        "a message over NATS is not understood: {0}\nhint: do all machines run the same version of Agon?"
    )]
    Wire(String),
    /// A worker was told something and did not answer.
    #[error("worker {worker} does not answer: {what}\nhint: {hint}")]
    NoAnswer {
        /// Which.
        worker: String,
        /// What was seen.
        what: String,
        /// What to do.
        hint: &'static str,
    },
    /// The coordinator said no.
    #[error("{why}")]
    Refused {
        /// Its words, with what to do.
        why: String,
    },
    /// Anything to do with bots or files of the competition.
    #[error("{}", .0.message)]
    Venue(agon_venue::Failure),
    /// The machine said no.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl GridError {
    /// Whether whoever called can mend it (exit code 2), rather than that something broke (3).
    pub const fn is_wrong_use(&self) -> bool {
        matches!(
            self,
            Self::Credentials { .. }
                | Self::Tls { .. }
                | Self::Permission { .. }
                | Self::File { .. }
                | Self::WrongUse { .. }
                | Self::Refused { .. }
        )
    }
}

impl From<agon_venue::Failure> for GridError {
    fn from(failure: agon_venue::Failure) -> Self {
        Self::Venue(failure)
    }
}

impl From<GridError> for agon_venue::Failure {
    fn from(error: GridError) -> Self {
        match error {
            GridError::Venue(failure) => failure,
            other => {
                let code = if other.is_wrong_use() {
                    agon_venue::failure::WRONG_USE
                } else {
                    agon_venue::failure::BROKE
                };
                Self { code, message: other.to_string() }
            }
        }
    }
}
