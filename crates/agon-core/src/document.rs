//! The head of every JSON document for programs: what it is, and in which version.

use serde_json::{Value as Json, json};

/// The version of all documents. Raised when a field changes its meaning or goes away.
pub const VERSION: u32 = 1;

/// A document. `kind` names what it is.
pub fn document(kind: &str, content: Json) -> Json {
    let mut document = json!({"agon": kind, "version": VERSION});
    if let (Some(document), Json::Object(content)) = (document.as_object_mut(), content) {
        document.extend(content);
    }
    document
}
