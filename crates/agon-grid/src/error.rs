//! Errors of the grid, with hints.

use std::fmt;
use std::io;
use std::path::PathBuf;

use agon_core::{Diagnostic, ErrorKind, Place};

/// Errors of the grid.
#[derive(Debug)]
#[non_exhaustive]
pub enum GridError {
    /// The NATS server does not answer.
    Unreachable {
        /// Server URL.
        url: String,
        /// Cause.
        what: String,
        /// Time waited.
        seconds: u64,
    },
    /// The server rejects the credentials.
    Credentials {
        /// Server URL.
        url: String,
        /// Message of the server.
        what: String,
        /// Hint for the user.
        hint: &'static str,
    },
    /// The TLS handshake failed.
    Tls {
        /// Server URL.
        url: String,
        /// Cause.
        what: String,
        /// Hint for the user.
        hint: &'static str,
    },
    /// A file for the connection cannot be used.
    File {
        /// Path of the file.
        path: PathBuf,
        /// Cause.
        what: String,
        /// Hint for the user.
        hint: &'static str,
    },
    /// Invalid arguments.
    Usage {
        /// Problem.
        what: String,
        /// Hint for the user.
        hint: String,
    },
    /// A NATS or JetStream request failed: JetStream is off, full, or not permitted.
    JetStream {
        /// Server URL.
        url: String,
        /// Action that failed; completes "cannot ...".
        doing: String,
        /// Message of the server.
        what: String,
        /// Hint for the user.
        hint: &'static str,
    },
    /// The user lacks a permission.
    Permission {
        /// Server URL.
        url: String,
        /// Action that failed; completes "does not let this user ...".
        doing: String,
        /// Message of the server.
        what: String,
        /// Hint for the user.
        hint: &'static str,
    },
    /// A blob is missing or damaged.
    Blob {
        /// Hash of the blob.
        hash: String,
        /// Cause.
        what: String,
    },
    /// A message cannot be encoded or decoded.
    Message(String),
    /// A worker did not reply to a command.
    NoAnswer {
        /// Worker name.
        worker: String,
        /// Cause.
        what: String,
        /// Hint for the user.
        hint: &'static str,
    },
    /// Error with bots or files of the competition.
    Competition(Diagnostic),
    /// I/O error.
    Io(io::Error),
}

impl GridError {
    /// Class of the error.
    pub const fn kind(&self) -> ErrorKind {
        ErrorKind::usage_if(matches!(
            self,
            Self::Credentials { .. }
                | Self::Tls { .. }
                | Self::Permission { .. }
                | Self::File { .. }
                | Self::Usage { .. }
        ))
    }

    /// The error as a value.
    pub fn diagnostic(&self) -> Diagnostic {
        let error = |message: String, hint: &str| Diagnostic::new(self.kind(), message).hint(hint);
        match self {
            Self::Unreachable { url, what, seconds } => error(
                format!("no NATS server answers at {url} (waited {seconds} s): {what}"),
                &format!(
                    "check that the server is running and that the address is right; `agon doctor --nats {url}` gives details"
                ),
            ),
            Self::Credentials { url, what, hint } => {
                error(format!("the NATS server at {url} refuses these credentials: {what}"), hint)
            }
            Self::Tls { url, what, hint } => {
                error(format!("TLS with the NATS server at {url} does not work: {what}"), hint)
            }
            Self::File { path, what, hint } => {
                error(what.clone(), hint).at(Place::file(path.display().to_string()))
            }
            Self::Usage { what, hint } => error(what.clone(), hint),
            Self::JetStream { url, doing, what, hint } => {
                error(format!("NATS server {url}: cannot {doing}: {what}"), hint)
            }
            Self::Permission { url, doing, what, hint } => {
                error(format!("the NATS server at {url} does not let this user {doing}: {what}"), hint)
            }
            Self::Blob { hash, what } => error(
                format!("file {hash} is not available on the NATS server: {what}"),
                "check that the coordinator of the competition is running; it uploads this file",
            ),
            Self::Message(what) => {
                error(format!("invalid NATS message: {what}"), "run the same version of Agon on all machines")
            }
            Self::NoAnswer { worker, what, hint } => {
                error(format!("worker {worker} does not answer: {what}"), hint)
            }
            Self::Competition(failure) => failure.clone(),
            Self::Io(what) => error(what.to_string(), ""),
        }
    }
}

impl fmt::Display for GridError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.diagnostic().fmt(f)
    }
}

impl std::error::Error for GridError {}

impl From<io::Error> for GridError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Diagnostic> for GridError {
    fn from(failure: Diagnostic) -> Self {
        Self::Competition(failure)
    }
}

impl From<GridError> for Diagnostic {
    fn from(error: GridError) -> Self {
        error.diagnostic()
    }
}
