//! Fetches files by hash: from the disk cache, otherwise from NATS.

use std::time::Duration;

use agon_core::Diagnostic;
use tokio::runtime::Handle;

use super::blob_cache::BlobCache;
use crate::GridError;
use crate::blobs::Blobs;

/// Maximum number of attempts to fetch a file before the job fails.
const MAX_FETCH_TRIES: u32 = 5;
/// Delay between attempts.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Reason why a job could not be played.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JobFailure {
    /// The job failed on this worker. Another worker may try.
    Failed(Diagnostic),
    /// The file with this hash is missing.
    Missing(String),
    /// The options of this worker do not allow the job.
    NotAllowed(String),
}

impl JobFailure {
    /// The job failed on this worker, without a hint.
    pub fn failed(what: impl std::fmt::Display) -> Self {
        Self::Failed(Diagnostic::internal(what))
    }

    /// Message for the user.
    pub fn message(&self) -> String {
        match self {
            Self::Failed(error) => error.to_string(),
            Self::NotAllowed(what) => what.clone(),
            Self::Missing(hash) => format!("file {hash} is missing"),
        }
    }
}

impl From<GridError> for JobFailure {
    fn from(error: GridError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<std::io::Error> for JobFailure {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(Diagnostic::internal(error).hint("check the disk space of the worker"))
    }
}

impl From<Diagnostic> for JobFailure {
    fn from(failure: Diagnostic) -> Self {
        Self::Failed(failure)
    }
}

/// Source of files for the game threads.
#[derive(Debug)]
pub struct BlobFetcher {
    cache: BlobCache,
    blobs: Blobs,
    runtime: Handle,
}

impl BlobFetcher {
    /// Uses a cache. `runtime` is the runtime of the connection.
    pub const fn new(cache: BlobCache, blobs: Blobs, runtime: Handle) -> Self {
        Self { cache, blobs, runtime }
    }

    /// Fetches a file. Blocks; must not be called from within the runtime.
    pub fn get(&self, hash: &str) -> Result<Vec<u8>, JobFailure> {
        if let Some(bytes) = self.cache.get(hash) {
            return Ok(bytes);
        }
        let bytes = self.runtime.block_on(self.fetch(hash))?;
        // A full disk does not prevent playing.
        let _ = self.cache.put(hash, &bytes);
        Ok(bytes)
    }

    async fn fetch(&self, hash: &str) -> Result<Vec<u8>, JobFailure> {
        let mut tried = 0;
        loop {
            tried += 1;
            match self.blobs.get(hash).await {
                Ok(Some(bytes)) => return Ok(bytes),
                // A damaged file is treated as missing, so that the coordinator uploads it again.
                Ok(None) | Err(GridError::Blob { .. }) => return Err(JobFailure::Missing(hash.to_owned())),
                Err(error) if tried >= MAX_FETCH_TRIES => return Err(error.into()),
                Err(_) => tokio::time::sleep(RETRY_DELAY).await,
            }
        }
    }
}
