//! Files written by the version with three stateless modes (`tests/previous`): supported content is still read, a removed mode is
//! rejected with what to write instead.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::path::Path;
use std::process::Output;

use common::good;
use serde_json::Value as Json;
use tempfile::{TempDir, tempdir_in};

fn agon(folder: &Path, arguments: &[&str]) -> Output {
    common::agon(folder, arguments).output().unwrap()
}

fn refused(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    said
}

/// A copy of the files.
fn files() -> TempDir {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/previous");
    let folder = tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::create_dir(folder.path().join("bot")).unwrap();
    let names = ["audited.agon", "audited.archive", "audited.toml", "strict.archive", "strict.toml"];
    for name in names.into_iter().chain(["bot/Submission.py"]) {
        fs::copy(from.join(name), folder.path().join(name)).unwrap();
    }
    folder
}

/// The ledger of the competition that was played in a removed mode, with a file without that line.
fn audited_without_the_mode() -> TempDir {
    let folder = files();
    good(&agon(folder.path(), &["import", "audited.archive"]));
    let file = folder.path().join("audited.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("stateless = \"audited\"\n", "")).unwrap();
    folder
}

#[test]
fn record_of_a_removed_mode_is_read_and_verified() {
    let folder = files();
    let verified = good(&agon(folder.path(), &["replay", "audited.agon", "--verify"]));
    assert!(verified.starts_with("verified: 3 games, 30 turns"), "{verified}");
    assert!(
        verified.contains("sha256:7235636e395186d5cd69d8a70ea33012efad9d0efd1ba0ab3b477355fbb88f6c"),
        "{verified}"
    );
    let replay: Json =
        serde_json::from_str(&good(&agon(folder.path(), &["replay", "audited.agon", "--json"]))).unwrap();
    let says = replay["games"][0]["faults"][0]["says"].as_str().unwrap();
    assert_eq!(says, "not stateless: answered `LEFT`, but called again in another order `CENTER`");
}

#[test]
fn competition_file_with_a_removed_mode_is_refused_with_its_line_and_what_to_write() {
    let folder = files();
    for command in ["run", "table"] {
        let said = refused(&agon(folder.path(), &[command, "audited.toml"]));
        assert!(
            said.contains("audited.toml:3:13: the mode \"audited\" of `stateless` was removed"),
            "{said}"
        );
        assert!(said.contains("write stateless = \"strict\", or leave the line out"), "{said}");
    }
}

#[test]
fn finished_competition_of_a_removed_mode_shows_the_table_it_had() {
    let folder = audited_without_the_mode();
    let shown = good(&agon(folder.path(), &["table", "audited.toml", "--format", "json"]));
    let was =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/previous/audited-table.json"));
    let read = |text: &str| serde_json::from_str::<Json>(text).unwrap();
    assert_eq!(read(&shown), read(&was.unwrap()));
}

#[test]
fn competition_of_a_removed_mode_is_not_resumed_in_another_one() {
    let folder = audited_without_the_mode();
    let said = refused(&agon(folder.path(), &["run", "audited.toml"]));
    assert!(said.contains("stateless: audited -> strict"), "{said}");
    assert!(said.contains("hint: this mode was removed"), "{said}");
}

#[test]
fn strict_competition_that_was_stopped_is_resumed_with_and_without_the_key() {
    for leave_out in [false, true] {
        let folder = files();
        good(&agon(folder.path(), &["import", "strict.archive"]));
        if leave_out {
            let file = folder.path().join("strict.toml");
            let text = fs::read_to_string(&file).unwrap();
            fs::write(&file, text.replace("stateless = \"strict\"\n", "")).unwrap();
        }
        good(&agon(folder.path(), &["run", "strict.toml"]));
        let table = good(&agon(folder.path(), &["table", "strict.toml", "--format", "json"]));
        let table: Json = serde_json::from_str(&table).unwrap();
        assert_eq!(table["phase"], "Two", "{table:#}");
    }
}
