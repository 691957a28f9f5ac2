//! Runs the program as a user would and captures the result.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod place;
pub mod schema;

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::OnceLock;

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
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
        let python = std::env::var_os("AGON_PYTHON").map_or_else(own, PathBuf::from);
        let has = std::process::Command::new(&python).args(["-c", "import numpy"]).output();
        has.is_ok_and(|output| output.status.success()).then_some(python)
    });
    if found.is_none() {
        agon_test_servers::cannot_run(agon_test_servers::Lacks::Setup, "no Python with NumPy in .venv");
    }
    found.clone()
}

/// The languages of every game's starters, each with the programs that it needs.
pub const LANGUAGES: [(&str, &[&str]); 5] = [
    ("python", &["python3"]),
    ("rust", &["rustc"]),
    ("cpp", &["g++"]),
    ("java", &["javac", "java"]),
    ("js", &["node"]),
];

/// Whether a program is installed. Otherwise the test is listed as one that could not run.
#[track_caller]
pub fn is_installed(program: &str) -> bool {
    let there = std::process::Command::new(program).arg("--version").output().is_ok();
    if !there {
        agon_test_servers::cannot_run(
            agon_test_servers::Lacks::Machine,
            &format!("{program} is not installed"),
        );
    }
    there
}

/// Calls `play` with every game and every language whose programs are installed, the languages in parallel. Returns game, language and
/// what `play` returned. The Python starters of some games need `NumPy`.
pub fn in_every_game_and_language(
    play: impl Fn(&str, &str) -> String + Sync,
) -> Vec<(&'static str, &'static str, String)> {
    let has_numpy = python().is_some();
    let can_play = |game: &str, language: &str| {
        has_numpy || language != "python" || !["colour-battle", "hide-and-seek"].contains(&game)
    };
    let play_all = |language: &'static str| {
        let games = agon_games::infos().into_iter().map(|info| info.id);
        let games = games.filter(|game| can_play(game, language));
        games.map(|game| (game, language, play(game, language))).collect::<Vec<_>>()
    };
    let play_all = &play_all;
    std::thread::scope(|scope| {
        let installed = LANGUAGES.iter().filter(|(_, programs)| programs.iter().all(|one| is_installed(one)));
        let threads: Vec<_> =
            installed.map(|&(language, _)| scope.spawn(move || play_all(language))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

/// Runs lines in a shell that stops at the first failure.
pub fn shell(folder: &Path, lines: &[&str]) -> Output {
    let programs = Path::new(env!("CARGO_BIN_EXE_agon")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut shell = std::process::Command::new("sh");
    shell.args(["-ec", &lines.join("\n")]).current_dir(folder).env("PATH", path);
    shell.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    if let Some(python) = python() {
        shell.env("AGON_PYTHON", python);
    }
    shell.output().unwrap()
}

/// Stdout of lines in a shell, which must succeed.
pub fn shell_output(folder: &Path, lines: &[&str]) -> String {
    good(&shell(folder, lines))
}

/// Stdout of a run that must have succeeded.
pub fn good(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    schema::check_output(&text);
    text
}

/// The line to paste that contains this text.
pub fn line_to_paste<'t>(text: &'t str, part: &str) -> &'t str {
    let line = text.lines().find(|line| line.contains("agon debug ") && line.contains(part));
    let line = line.unwrap_or_else(|| panic!("no line to paste with {part:?} in {text}"));
    &line[line.find("agon ").unwrap()..]
}

/// Runs the `agon` commands of a line to paste, whose words contain no spaces. Returns the output of the last command.
pub fn paste(folder: &Path, line: &str) -> Output {
    let mut last = None;
    for command in line.split("; ") {
        let words: Vec<&str> = command.strip_prefix("agon ").unwrap().split(' ').collect();
        last = Some(agon(folder, &words).output().unwrap());
    }
    last.unwrap()
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
