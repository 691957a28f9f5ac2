//! Files by their hash, wherever they are: in the cache on this machine's disk, else in NATS.

use std::time::Duration;

use tokio::runtime::Handle;

use super::blob_cache::BlobCache;
use crate::GridError;
use crate::blobs::Blobs;

/// How often a server that is away is asked again before a job is given back.
const TRIES: u32 = 5;
/// And how long after the last time.
const PAUSE: Duration = Duration::from_secs(1);

/// Why something could not be played.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JobFailure {
    /// It failed here; somebody else may try.
    Failed(String),
    /// A file is not there.
    Missing(String),
    /// This worker does not play such a thing at all.
    Unwilling(String),
}

impl JobFailure {
    /// In words.
    pub fn says(&self) -> String {
        match self {
            Self::Failed(what) | Self::Unwilling(what) => what.clone(),
            Self::Missing(hash) => format!("the file {hash} is not there"),
        }
    }
}

impl From<GridError> for JobFailure {
    fn from(error: GridError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<std::io::Error> for JobFailure {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(format!("{error}\nhint: is there room on the worker's disk?"))
    }
}

impl From<agon_venue::Failure> for JobFailure {
    fn from(failure: agon_venue::Failure) -> Self {
        Self::Failed(failure.message)
    }
}

/// Where a worker's threads get files from.
#[derive(Debug)]
pub struct BlobFetcher {
    cache: BlobCache,
    blobs: Blobs,
    handle: Handle,
}

impl BlobFetcher {
    /// Over a cache. The handle is that of the runtime the connection lives in.
    pub const fn new(cache: BlobCache, blobs: Blobs, handle: Handle) -> Self {
        Self { cache, blobs, handle }
    }

    /// A file. Waits for it: not from inside the runtime.
    pub fn get(&self, hash: &str) -> Result<Vec<u8>, JobFailure> {
        if let Some(bytes) = self.cache.get(hash) {
            return Ok(bytes);
        }
        let bytes = self.handle.block_on(self.fetch(hash))?;
        // A full disk is no reason not to play with what is here.
        let _ = self.cache.put(hash, &bytes);
        Ok(bytes)
    }

    async fn fetch(&self, hash: &str) -> Result<Vec<u8>, JobFailure> {
        let mut tried = 0;
        loop {
            tried += 1;
            match self.blobs.get(hash).await {
                Ok(Some(bytes)) => return Ok(bytes),
                // What is there and is not what it should be is put there again as well.
                Ok(None) | Err(GridError::Blob { .. }) => return Err(JobFailure::Missing(hash.to_owned())),
                Err(error) if tried >= TRIES => return Err(error.into()),
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }
}
