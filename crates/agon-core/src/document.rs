//! Envelope of every JSON document on stdout: its kind and its version.

use serde_json::{Value as Json, json};

/// Version of all documents. Raised when a field is removed or changes its meaning.
pub const VERSION: u32 = 1;

/// A document. `kind` is its type.
pub fn document(kind: &str, content: Json) -> Json {
    let mut document = json!({"agon": kind, "version": VERSION});
    if let (Some(document), Json::Object(content)) = (document.as_object_mut(), content) {
        document.extend(content);
    }
    document
}
