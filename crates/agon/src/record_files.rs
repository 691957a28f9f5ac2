//! Reading of record files, and the digest of the games in them.

use std::fs;
use std::path::Path;

use agon_bots::Diagnostic;
use agon_core::record::{Digest, Record, read_all};
use sha2::{Digest as _, Sha256};

/// Reads all games of a record file.
pub fn read(path: &Path) -> Result<Vec<Record>, Diagnostic> {
    let bytes = fs::read(path).map_err(|e| {
        Diagnostic::named_path("read", path, &e, "check that the file exists and is readable")
    })?;
    read_all(&bytes).map_err(|e| Diagnostic::record(path, &e))
}

/// Digest of several games: for one game its own digest, for more the hash of their digests in order.
pub fn digest_of(digests: &[Digest]) -> Option<Digest> {
    match digests {
        [] => None,
        [one] => Some(*one),
        all => {
            let mut hash = Sha256::new();
            for digest in all {
                hash.update(digest.0);
            }
            Some(Digest(hash.finalize().into()))
        }
    }
}
