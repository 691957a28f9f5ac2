//! `unsafe` is allowed in one file of the workspace, and each use there has a `SAFETY` comment.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};

/// The only file that may contain `unsafe`, relative to `crates`.
const UNSAFE_FILE: &str = "agon-host/src/sandbox/unsafe_syscalls.rs";

/// The only manifest whose lint may be weaker than `forbid`, because that file must be able to allow it.
const UNSAFE_CRATE: &str = "agon-host";

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// All Rust files below a folder.
fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The code of a line, without a comment.
fn code(line: &str) -> &str {
    line.split_once("//").map_or(line, |(code, _)| code)
}

/// Whether code contains a word as a whole, and not as the beginning or end of a string.
fn has_word(code: &str, word: &str) -> bool {
    let continues = |c: char| c.is_alphanumeric() || "_-\"'".contains(c);
    code.match_indices(word)
        .any(|(at, _)| !code[..at].ends_with(continues) && !code[at + word.len()..].starts_with(continues))
}

/// Lines that use `unsafe` or change its lint.
fn unsafe_lines(text: &str) -> Vec<usize> {
    let is_unsafe = |line: &str| has_word(code(line), "unsafe") || has_word(code(line), "unsafe_code");
    (1..).zip(text.lines()).filter(|(_, line)| is_unsafe(line)).map(|(number, _)| number).collect()
}

#[test]
fn unsafe_outside_its_file_is_found_by_this_check() {
    assert_eq!(unsafe_lines("fn f() {\n    unsafe { g() }\n}\n"), [2]);
    assert_eq!(unsafe_lines("#[allow(unsafe_code)]\n"), [1]);
    assert_eq!(
        unsafe_lines("// unsafe\nuse unsafe_syscalls::fork;\nlet csp = \"'unsafe-inline' \", \"unsafe\";\n"),
        [0; 0]
    );
}

#[test]
fn unsafe_occurs_in_one_file_only() {
    let mut files = Vec::new();
    rust_files(&crates(), &mut files);
    assert!(files.len() > 100, "only {} files found", files.len());
    let mut offences = Vec::new();
    for file in files {
        // This file has offences as examples.
        if file.ends_with(UNSAFE_FILE) || file.ends_with("agon-host/tests/unsafe_code.rs") {
            continue;
        }
        let lines = unsafe_lines(&fs::read_to_string(&file).unwrap());
        offences.extend(lines.into_iter().map(|line| format!("{}:{line}", file.display())));
    }
    assert!(offences.is_empty(), "move this to {UNSAFE_FILE}: {offences:#?}");
}

#[test]
fn every_unsafe_block_says_why_it_is_sound() {
    let text = fs::read_to_string(crates().join(UNSAFE_FILE)).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| has_word(code(line), "unsafe")) {
        // The comment may be several lines long, with the beginning of the statement below it.
        let above = &lines[index.saturating_sub(6)..index];
        let argued = above.iter().any(|line| line.contains("// SAFETY: ") || line.contains("/// # Safety"));
        assert!(argued, "line {} has no SAFETY comment: {line}", index + 1);
    }
}

#[test]
fn all_other_crates_forbid_unsafe_code() {
    let workspace = fs::read_to_string(crates().join("../Cargo.toml")).unwrap();
    assert!(workspace.contains("unsafe_code = \"forbid\""), "the workspace lints must forbid unsafe code");
    for entry in fs::read_dir(crates()).unwrap().flatten() {
        let Ok(manifest) = fs::read_to_string(entry.path().join("Cargo.toml")) else { continue };
        let name = entry.file_name().into_string().unwrap();
        let inherits = manifest.contains("[lints]\nworkspace = true");
        let denies = manifest.contains("[lints.rust]") && manifest.contains("unsafe_code = \"deny\"");
        assert!(inherits || name == UNSAFE_CRATE && denies, "{name} does not forbid unsafe code");
    }
}
