//! Files that replace what a game ships, such as another word list.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::record::Digest;

/// File contents for games, stored under the hash that settings refer to. The caller reads the files, because games do no I/O.
#[derive(Clone, Debug, Default)]
pub struct Assets(Vec<(String, Arc<[u8]>)>);

impl Assets {
    /// No replacement files.
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// Adds content and returns its hash.
    pub fn insert(&mut self, content: impl Into<Arc<[u8]>>) -> String {
        let content = content.into();
        let hash = content_hash(&content);
        self.0.push((hash.clone(), content));
        hash
    }

    /// The content with this hash, if it was added.
    pub fn get(&self, hash: &str) -> Option<&Arc<[u8]>> {
        self.0.iter().find(|(name, _)| name == hash).map(|(_, content)| content)
    }
}

/// The hash that settings and records use for content: `sha256:` and 64 hexadecimal digits.
pub fn content_hash(content: &[u8]) -> String {
    Digest(Sha256::digest(content).into()).to_string()
}
