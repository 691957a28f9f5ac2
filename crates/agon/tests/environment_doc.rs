//! `docs/environment.md` names every environment variable of Agon, and no other.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders with code that reads or sets variables.
const FOLDERS: [&str; 6] = ["crates", "python", "scripts", "deploy", "web/src", "web/tests"];
/// Names that begin like a variable and are none: streams of the job queue.
const OTHER_NAMES: [&str; 3] = ["AGON_WORK", "AGON_BLOBS", "AGON_DOCTOR_"];
const PREFIX: &str = "AGON_";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Names in a text that begin with the prefix.
fn names(text: &str) -> impl Iterator<Item = String> {
    text.match_indices(PREFIX).filter_map(|(at, _)| {
        let is_start = !text[..at].ends_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
        let length = text[at..]
            .find(|letter: char| !(letter.is_ascii_uppercase() || letter == '_'))
            .unwrap_or(text.len() - at);
        (is_start && length > PREFIX.len()).then(|| text[at..at + length].to_owned())
    })
}

/// Collects the names in all files of a folder, each with one file that has it.
fn collect(folder: &Path, found: &mut BTreeMap<String, PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() {
            if !["node_modules", "target", "dist", "__pycache__", "snapshots"]
                .contains(&&*name.to_string_lossy())
            {
                collect(&path, found);
            }
        } else if let Ok(text) = fs::read_to_string(&path) {
            found.extend(names(&text).map(|name| (name, path.clone())));
        }
    }
}

#[test]
fn page_names_every_variable_and_no_other() {
    let mut found = BTreeMap::new();
    for folder in FOLDERS {
        collect(&root().join(folder), &mut found);
    }
    found.retain(|name, _| !OTHER_NAMES.contains(&&**name));
    let page = fs::read_to_string(root().join("docs/environment.md")).unwrap();
    let documented: BTreeSet<String> = names(&page).collect();
    let missing: Vec<_> = found.iter().filter(|(name, _)| !documented.contains(*name)).collect();
    assert!(missing.is_empty(), "not in docs/environment.md: {missing:?}");
    let unknown: Vec<_> = documented.iter().filter(|name| !found.contains_key(*name)).collect();
    assert!(unknown.is_empty(), "docs/environment.md names what no code has: {unknown:?}");
    for name in ["AGON_PYTHON", "AGON_NATS_PASSWORD_FILE", "AGON_LOG"] {
        assert!(found.contains_key(name), "the search does not work: {name}");
    }
}
