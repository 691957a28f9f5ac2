//! Runs the program as a user would and captures the result.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod place;
pub mod schema;

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use tempfile::{TempDir, tempdir_in};

/// Runs `agon` with these arguments (separated by spaces) in a folder.
pub fn run_in(folder: &Path, words: &str, input: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_agon"))
        .args(words.split_whitespace())
        .current_dir(folder)
        .env_remove("NO_COLOR")
        .env("RUST_BACKTRACE", "1")
        .write_stdin(input)
        .output()
        .inspect(|output| schema::check_output(&String::from_utf8_lossy(&output.stdout)))
        .unwrap()
}

/// `agon` with these arguments, which may contain spaces, in a folder.
pub fn agon(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    // Agon unpacks its Python package into the cache folder. A separate one avoids the package of another build.
    command.args(arguments).current_dir(folder).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    command
}

/// A new folder with a copy of this folder of `test-bots`. Bots run in a copy, because Python writes beside them.
pub fn copy_of(name: &str) -> TempDir {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-bots").join(name);
    let folder = tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let files = std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path());
    for file in files.filter(|path| path.is_file()) {
        std::fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    folder
}

/// A Python with `NumPy`: `AGON_PYTHON`, else the project's virtual environment. Colour Battle and Hide and Seek pass arrays to their bots.
#[track_caller]
pub fn python() -> Option<PathBuf> {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
    let python = std::env::var_os("AGON_PYTHON").map_or_else(own, PathBuf::from);
    let has = std::process::Command::new(&python).args(["-c", "import numpy"]).output();
    if has.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    agon_test_servers::cannot_run(agon_test_servers::Lacks::Setup, "no Python with NumPy in .venv");
    None
}

/// Stdout of a run that must have succeeded.
pub fn good(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    schema::check_output(&text);
    text
}

/// Runs `agon` with these arguments.
pub fn run(words: &str) -> Output {
    run_in(Path::new("."), words, "")
}

/// Stdout of a run that must succeed.
pub fn stdout(words: &str) -> String {
    let output = run(words);
    assert!(output.status.success(), "agon {words}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// JSON of a run that must succeed.
pub fn json(words: &str) -> serde_json::Value {
    serde_json::from_str(&stdout(words)).unwrap()
}

/// Exit code, stdout and stderr as one text, with variable parts masked.
pub fn whole(words: &str) -> String {
    let output = run(words);
    let text = |bytes: &[u8]| mask(&String::from_utf8_lossy(bytes));
    format!(
        "$ agon {words}\nexit code {}\n--- stdout\n{}--- stderr\n{}",
        output.status.code().unwrap_or(-1),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// Replaces times by `[time]`, so that the width of columns does not depend on them.
pub fn mask(text: &str) -> String {
    text.lines().map(|line| mask_line(line) + "\n").collect()
}

fn mask_line(line: &str) -> String {
    if line.chars().any(|c| c == '─') && line.chars().all(|c| c == '─' || c == ' ') {
        return "───".to_owned();
    }
    let is_time =
        |number: &str, unit: &str| number.parse::<f64>().is_ok() && matches!(unit, "ns" | "us" | "ms" | "s");
    let words: Vec<&str> = line.split(' ').collect();
    let Some(last) = words.iter().rposition(|w| !w.is_empty()) else { return String::new() };
    // Only the last columns of a table contain times.
    if last > 0 && is_time(words[last - 1], words[last]) && line.starts_with(' ') {
        let mut kept: Vec<&str> = line.split_whitespace().collect();
        while kept.len() > 1 && is_time(kept[kept.len() - 2], kept[kept.len() - 1]) {
            kept.truncate(kept.len() - 2);
        }
        return format!(" {} [time]", kept.join(" "));
    }
    line.to_owned()
}

/// A folder with these files.
pub fn folder_with(files: &[(&str, &str)]) -> TempDir {
    let folder = tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// Replaces measured times and shares by `[time]` and `[share]`, and shortens runs of spaces and lines.
pub fn masked_times(text: &str) -> String {
    text.lines().map(|line| mask_measures(line) + "\n").collect()
}

fn mask_measures(line: &str) -> String {
    if line.starts_with('─') {
        return "───".to_owned();
    }
    let mut words: Vec<String> = Vec::new();
    for word in line.split_whitespace() {
        let unit = word.trim_end_matches([',', ')', ';', ':']);
        let mask = match unit {
            "ns" | "us" | "ms" | "s" => "[time]",
            "%" => "[share]",
            _ => "",
        };
        let number = words.last().map(|last| last.trim_start_matches('('));
        if !mask.is_empty() && number.is_some_and(|number| number.parse::<f64>().is_ok()) {
            let open = if words.pop().is_some_and(|last| last.starts_with('(')) { "(" } else { "" };
            words.push(format!("{open}{mask}{}", &word[unit.len()..]));
        } else {
            words.push(word.to_owned());
        }
    }
    let indent = (line.len() - line.trim_start().len()).min(4);
    format!("{}{}", " ".repeat(indent), words.join(" "))
}
