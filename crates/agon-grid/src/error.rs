//! Errors of the grid, with hints.

use std::io;
use std::path::PathBuf;

use agon_core::ErrorKind;

/// Errors of the grid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GridError {
    /// The NATS server does not answer.
    #[error(
        "no NATS server answers at {url} (waited {seconds} s): {what}\nhint: check that the server is running and that the address is right; `agon doctor --nats {url}` gives details"
    )]
    Unreachable {
        /// Server URL.
        url: String,
        /// Cause.
        what: String,
        /// Time waited.
        seconds: u64,
    },
    /// The server rejects the credentials.
    #[error("the NATS server at {url} refuses these credentials: {what}\nhint: {hint}")]
    Credentials {
        /// Server URL.
        url: String,
        /// Message of the server.
        what: String,
        /// Hint for the user.
        hint: &'static str,
    },
    /// The TLS handshake failed.
    #[error("TLS with the NATS server at {url} does not work: {what}\nhint: {hint}")]
    Tls {
        /// Server URL.
        url: String,
        /// Cause.
        what: String,
        /// Hint for the user.
        hint: &'static str,
    },
    /// A file for the connection cannot be used.
    #[error("{}: {what}\nhint: {hint}", .path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Cause.
        what: String,
        /// Hint for the user.
        hint: &'static str,
    },
    /// Invalid arguments.
    #[error("{what}\nhint: {hint}")]
    Usage {
        /// Problem.
        what: String,
        /// Hint for the user.
        hint: String,
    },
    /// A NATS or JetStream request failed: JetStream is off, full, or not permitted.
    #[error("NATS server {url}: cannot {doing}: {what}\nhint: {hint}")]
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
    #[error("the NATS server at {url} does not let this user {doing}: {what}\nhint: {hint}")]
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
    #[error(
        "file {hash} is not available on the NATS server: {what}\nhint: check that the coordinator of the competition is running; it uploads this file"
    )]
    Blob {
        /// Hash of the blob.
        hash: String,
        /// Cause.
        what: String,
    },
    /// A message cannot be encoded or decoded.
    #[error("invalid NATS message: {0}\nhint: run the same version of Agon on all machines")]
    Message(String),
    /// A worker did not reply to a command.
    #[error("worker {worker} does not answer: {what}\nhint: {hint}")]
    NoAnswer {
        /// Worker name.
        worker: String,
        /// Cause.
        what: String,
        /// Hint for the user.
        hint: &'static str,
    },
    /// The coordinator refused the worker.
    #[error("{why}")]
    Refused {
        /// Reason, with a hint.
        why: String,
    },
    /// Error with bots or files of the competition.
    #[error("{}", .0.message)]
    Competition(agon_bots::Diagnostic),
    /// I/O error.
    #[error("{0}")]
    Io(#[from] io::Error),
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
                | Self::Refused { .. }
        ))
    }
}

impl From<agon_bots::Diagnostic> for GridError {
    fn from(failure: agon_bots::Diagnostic) -> Self {
        Self::Competition(failure)
    }
}

impl From<GridError> for agon_bots::Diagnostic {
    fn from(error: GridError) -> Self {
        match error {
            GridError::Competition(failure) => failure,
            other => Self { kind: other.kind(), message: other.to_string() },
        }
    }
}
