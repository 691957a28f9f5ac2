//! Files by content hash, in a NATS stream. Each file is stored once, and checked when it is fetched.

use std::time::Duration;

use agon_core::record::Digest;
use async_nats::HeaderMap;
use async_nats::jetstream::{self, stream};
use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use crate::messages::{Hash, MAX_CHUNK_BYTES};
use crate::subjects::{self, BLOB_STREAM};
use crate::{GridError, NatsConnection};

/// Header with the number of chunks of a file.
const CHUNK_COUNT_HEADER: &str = "Agon-Pieces";
/// A file is deleted this long after it was stored. A competition that runs for longer stores it again when a worker misses it.
const MAX_BLOB_AGE: Duration = Duration::from_hours(14 * 24);
/// Maximum number of chunks of a file.
const MAX_BLOB_CHUNKS: u32 = 4096;

/// Hash that identifies a blob.
pub fn hash(bytes: &[u8]) -> Hash {
    Digest(Sha256::digest(bytes).into()).hex()
}

/// The file stream.
#[derive(Clone, Debug)]
pub struct Blobs {
    link: NatsConnection,
    stream: stream::Stream<()>,
}

impl Blobs {
    /// Creates the stream if it does not exist. For the coordinator.
    pub async fn create(link: &NatsConnection, max_bytes: i64) -> Result<Self, GridError> {
        let config = stream::Config {
            name: BLOB_STREAM.to_owned(),
            subjects: vec![subjects::ALL_BLOBS.to_owned()],
            max_bytes,
            max_messages_per_subject: 1,
            max_age: MAX_BLOB_AGE,
            discard: stream::DiscardPolicy::Old,
            storage: stream::StorageType::File,
            allow_direct: true,
            ..stream::Config::default()
        };
        let failed = |error: &dyn std::error::Error| link.jetstream_error("create the file stream", error);
        let created = link.jetstream().get_or_create_stream(config).await.map_err(|error| failed(&error))?;
        let found = &created.cached_info().config;
        if found.max_age != MAX_BLOB_AGE {
            // Created by an earlier version, without an age limit.
            let config = stream::Config { max_age: MAX_BLOB_AGE, ..found.clone() };
            link.jetstream().update_stream(config).await.map_err(|error| failed(&error))?;
        }
        Self::open(link).await
    }

    /// Opens the stream without a request to the server. For workers; the stream must exist.
    pub async fn open(link: &NatsConnection) -> Result<Self, GridError> {
        let stream = link.jetstream().get_stream_no_info(BLOB_STREAM).await;
        let stream = stream.map_err(|error| link.jetstream_error("open the file stream", &error))?;
        Ok(Self { link: link.clone(), stream })
    }

    /// Stores a file unless it exists, and returns its hash.
    pub async fn put(&self, bytes: &[u8]) -> Result<Hash, GridError> {
        let hash = hash(bytes);
        let chunks = bytes.len().div_ceil(MAX_CHUNK_BYTES).max(1) as u32;
        // Chunks are stored in order: if the last one exists, all do. The first may have been discarded since.
        if self.get_chunk(&hash, chunks - 1).await?.is_some() && self.get_chunk(&hash, 0).await?.is_some() {
            return Ok(hash);
        }
        for chunk in 0..chunks {
            let from = chunk as usize * MAX_CHUNK_BYTES;
            let part = &bytes[from..bytes.len().min(from + MAX_CHUNK_BYTES)];
            let mut headers = HeaderMap::new();
            headers.insert(CHUNK_COUNT_HEADER, chunks.to_string());
            let subject = subjects::blob(&hash, chunk);
            let sent = self
                .link
                .jetstream()
                .publish_with_headers(subject, headers, Bytes::copy_from_slice(part))
                .await;
            let sent = sent.map_err(|error| self.link.jetstream_error("store a file", &error))?;
            sent.await.map_err(|error| self.link.jetstream_error("store a file", &error))?;
        }
        Ok(hash)
    }

    /// Fetches a file. Returns `None` if it is missing, and an error if its hash is wrong.
    pub async fn get(&self, wanted: &str) -> Result<Option<Vec<u8>>, GridError> {
        let Some((mut bytes, chunks)) = self.get_chunk(wanted, 0).await? else { return Ok(None) };
        for chunk in 1..chunks {
            let Some((next, _)) = self.get_chunk(wanted, chunk).await? else { return Ok(None) };
            bytes.extend_from_slice(&next);
        }
        let found = hash(&bytes);
        if found != wanted {
            let what = format!("the stored file has the hash {found}");
            return Err(GridError::Blob { hash: wanted.to_owned(), what });
        }
        Ok(Some(bytes))
    }

    /// A chunk, and the number of chunks.
    async fn get_chunk(&self, hash: &str, chunk: u32) -> Result<Option<(Vec<u8>, u32)>, GridError> {
        use jetstream::stream::DirectGetErrorKind as Kind;
        let found = match self.stream.direct_get_last_for_subject(subjects::blob(hash, chunk)).await {
            Ok(found) => found,
            Err(error) if error.kind() == Kind::NotFound => return Ok(None),
            Err(error) => return Err(self.link.jetstream_error("fetch a file", &error)),
        };
        let chunks = found.headers.get(CHUNK_COUNT_HEADER).and_then(|text| text.as_str().parse::<u32>().ok());
        match chunks.filter(|chunks| (1..=MAX_BLOB_CHUNKS).contains(chunks)) {
            Some(chunks) => Ok(Some((found.payload.to_vec(), chunks))),
            None => Err(GridError::Blob { hash: hash.to_owned(), what: "Agon did not store it".to_owned() }),
        }
    }
}
