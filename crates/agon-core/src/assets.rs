//! Files a game can be given instead of what it ships, such as another word list.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::record::Digest;

/// What was read from disk for a game, by the hash that its settings name it by. Reading it is the caller's work:
/// games do no I/O.
#[derive(Clone, Debug, Default)]
pub struct Assets(Vec<(String, Arc<[u8]>)>);

impl Assets {
    /// Nothing but what games ship.
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// Adds content; gives back the hash to name it by.
    pub fn insert(&mut self, content: impl Into<Arc<[u8]>>) -> String {
        let content = content.into();
        let hash = content_hash(&content);
        self.0.push((hash.clone(), content));
        hash
    }

    /// The content whose hash a setting names, if it was given.
    pub fn get(&self, hash: &str) -> Option<&Arc<[u8]>> {
        self.0.iter().find(|(name, _)| name == hash).map(|(_, content)| content)
    }
}

/// How content is named in settings and records: `sha256:` and 64 hexadecimal digits.
pub fn content_hash(content: &[u8]) -> String {
    Digest(Sha256::digest(content).into()).to_string()
}
