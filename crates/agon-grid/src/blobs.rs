//! Files by the hash of their content, in a stream of NATS: put there once, fetched by whoever needs them, checked when they arrive.

use agon_core::record::Digest;
use async_nats::HeaderMap;
use async_nats::jetstream::{self, stream};
use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use crate::subjects::{self, BLOB_STREAM};
use crate::messages::{Hash, PIECE};
use crate::{GridError, NatsConnection};

/// The header that says of how many pieces a file is.
const PIECES: &str = "Agon-Pieces";
/// Nobody has larger files.
const MOST_PIECES: u32 = 4096;

/// The hash that some bytes are kept by.
pub fn hash(bytes: &[u8]) -> Hash {
    Digest(Sha256::digest(bytes).into()).hex()
}

/// Where files are.
#[derive(Clone, Debug)]
pub struct Blobs {
    link: NatsConnection,
    stream: stream::Stream<()>,
}

impl Blobs {
    /// Makes the stream if it is not there: for the coordinator.
    pub async fn make(link: &NatsConnection, most_bytes: i64) -> Result<Self, GridError> {
        let config = stream::Config {
            name: BLOB_STREAM.to_owned(),
            subjects: vec![subjects::ALL_BLOBS.to_owned()],
            max_bytes: most_bytes,
            max_messages_per_subject: 1,
            discard: stream::DiscardPolicy::Old,
            storage: stream::StorageType::File,
            allow_direct: true,
            ..stream::Config::default()
        };
        let made = link.jetstream().get_or_create_stream(config).await;
        made.map_err(|error| link.refused("make the stream of files", &error))?;
        Self::open(link).await
    }

    /// For a worker: the stream must be there. Nothing is asked of the server yet.
    pub async fn open(link: &NatsConnection) -> Result<Self, GridError> {
        let stream = link.jetstream().get_stream_no_info(BLOB_STREAM).await;
        let stream = stream.map_err(|error| link.refused("open the stream of files", &error))?;
        Ok(Self { link: link.clone(), stream })
    }

    /// Puts a file there unless it is; gives its hash.
    pub async fn put(&self, bytes: &[u8]) -> Result<Hash, GridError> {
        let hash = hash(bytes);
        let pieces = bytes.len().div_ceil(PIECE).max(1) as u32;
        // The last piece is put there last: with it, all are there.
        if self.piece(&hash, pieces - 1).await?.is_some() && self.piece(&hash, 0).await?.is_some() {
            return Ok(hash);
        }
        for piece in 0..pieces {
            let from = piece as usize * PIECE;
            let part = &bytes[from..bytes.len().min(from + PIECE)];
            let mut headers = HeaderMap::new();
            headers.insert(PIECES, pieces.to_string());
            let subject = subjects::blob(&hash, piece);
            let sent = self
                .link
                .jetstream()
                .publish_with_headers(subject, headers, Bytes::copy_from_slice(part))
                .await;
            let sent = sent.map_err(|error| self.link.refused("take a file", &error))?;
            sent.await.map_err(|error| self.link.refused("take a file", &error))?;
        }
        Ok(hash)
    }

    /// Fetches a file; `None` if it is not there. One that is not what its name says is an error.
    pub async fn get(&self, wanted: &str) -> Result<Option<Vec<u8>>, GridError> {
        let Some((mut bytes, pieces)) = self.piece(wanted, 0).await? else { return Ok(None) };
        for piece in 1..pieces {
            let Some((more, _)) = self.piece(wanted, piece).await? else { return Ok(None) };
            bytes.extend_from_slice(&more);
        }
        let found = hash(&bytes);
        if found != wanted {
            let what = format!("what is there has the hash {found}");
            return Err(GridError::Blob { hash: wanted.to_owned(), what });
        }
        Ok(Some(bytes))
    }

    /// A piece, and of how many.
    async fn piece(&self, hash: &str, piece: u32) -> Result<Option<(Vec<u8>, u32)>, GridError> {
        use jetstream::stream::DirectGetErrorKind as Kind;
        let found = match self.stream.direct_get_last_for_subject(subjects::blob(hash, piece)).await {
            Ok(found) => found,
            Err(error) if error.kind() == Kind::NotFound => return Ok(None),
            Err(error) => return Err(self.link.refused("give a file", &error)),
        };
        let pieces = found.headers.get(PIECES).and_then(|text| text.as_str().parse::<u32>().ok());
        match pieces.filter(|pieces| (1..=MOST_PIECES).contains(pieces)) {
            Some(pieces) => Ok(Some((found.payload.to_vec(), pieces))),
            None => Err(GridError::Blob {
                hash: hash.to_owned(),
                what: "it was not put there by Agon".to_owned(),
            }),
        }
    }
}
