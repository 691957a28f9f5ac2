//! Files a game can be given instead of what it ships, such as another word list.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

/// What was read from disk for a game, by setting name. Reading it is the caller's work: games do no I/O.
#[derive(Clone, Debug, Default)]
pub struct Assets(Vec<(String, Arc<[u8]>)>);

impl Assets {
    /// Nothing but what games ship.
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// Adds the content for a setting.
    pub fn insert(&mut self, setting: impl Into<String>, content: impl Into<Arc<[u8]>>) {
        self.0.push((setting.into(), content.into()));
    }

    /// The content whose hash a setting names, if it was given.
    pub fn get(&self, hash: &str) -> Option<&Arc<[u8]>> {
        self.0.iter().map(|(_, content)| content).find(|content| content_hash(content) == hash)
    }
}

/// How content is named in settings and records: `sha256:` and 64 hexadecimal digits.
pub fn content_hash(content: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut name = String::from("sha256:");
    for byte in Sha256::digest(content) {
        let _ = write!(name, "{byte:02x}");
    }
    name
}
