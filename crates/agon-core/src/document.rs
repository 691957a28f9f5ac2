//! Envelope of every JSON document on stdout: its kind and its version.

use serde_json::{Value as Json, json};

/// Version of all documents that [`version`] does not name.
pub const VERSION: u32 = 1;

/// Version of a kind of document. Raised when a field is removed or changes its meaning.
pub fn version(kind: &str) -> u32 {
    match kind {
        // `play`: games are numbered from 1. `submission`: the version of the bot is `bot_version`. It was `version`, where the version
        // of the document belongs.
        "play" | "submission" => 2,
        _ => VERSION,
    }
}

/// A document. `kind` is its type.
pub fn document(kind: &str, content: Json) -> Json {
    let mut document = json!({"agon": kind, "version": version(kind)});
    if let (Some(document), Json::Object(content)) = (document.as_object_mut(), content) {
        document.extend(content);
    }
    document
}
