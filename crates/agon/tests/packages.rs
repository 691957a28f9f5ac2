//! Python packages that a competition file or an option allows: fetched once, read-only for bots, not fetched again.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Output;

use common::place::Place;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const COMPETITION: &str = "game = \"connect-five\"\nseed = \"packages\"\npackages = \"requirements.txt\"\n\n[[phase]]\nformat = \"round-robin\"\n\
    parts = [{ games = 1, seconds = 1 }]\n\n[[entrant]]\nbot = \"Fiver.py\"\n\n[[entrant]]\nbot = \"house:random\"\n";

const LIST: &str = "--no-index\n--find-links wheels\nagon-test-package==1.0\n";

/// Needs the package, and fails if it can change it.
const FIVER: &str = "import os\n\nimport agon_test_package\n\n\nclass Fiver:\n    def __init__(self):\n        \
    assert agon_test_package.ANSWER == 42\n        \
    try:\n            open(agon_test_package.__file__, 'a')\n        except OSError:\n            return\n        \
    raise AssertionError('the package can be changed')\n\n    \
    def get_move(self, board, player, T, N):\n        return next(c for c in range(9) if board[0][c] == 0)\n";

/// A wheel with one module.
fn write_wheel(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut wheel = ZipWriter::new(fs::File::create(path).unwrap());
    let about = "agon_test_package-1.0.dist-info";
    for (name, text) in [
        ("agon_test_package.py".to_owned(), "ANSWER = 42\n"),
        (format!("{about}/METADATA"), "Metadata-Version: 2.1\nName: agon-test-package\nVersion: 1.0\n"),
        (
            format!("{about}/WHEEL"),
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        ),
        (format!("{about}/RECORD"), "agon_test_package.py,,\n"),
    ] {
        wheel.start_file(name, SimpleFileOptions::default()).unwrap();
        wheel.write_all(text.as_bytes()).unwrap();
    }
    wheel.finish().unwrap();
}

fn run(place: &Place, arguments: &[&str]) -> Option<Output> {
    let mut command = common::agon(&place.path(""), arguments);
    command.env("AGON_PYTHON", common::python()?).env("XDG_CACHE_HOME", place.path("cache"));
    Some(command.output().unwrap())
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Folders of packages in the cache.
fn built(place: &Place) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(place.path("cache/agon")).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.to_string_lossy().contains("packages-")).collect()
}

#[test]
fn packages_of_a_competition_are_fetched_once_and_read_only() {
    let place = Place::new(&[("cup.toml", COMPETITION), ("requirements.txt", LIST), ("Fiver.py", FIVER)]);
    write_wheel(&place.path("wheels/agon_test_package-1.0-py3-none-any.whl"));
    let Some(first) = run(&place, &["run", "cup.toml"]) else { return };
    assert!(first.status.success(), "{}", said(&first));
    let folders = built(&place);
    assert_eq!(folders.len(), 1, "{folders:?}");
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folders[0]), mode(&folders[0].join("agon_test_package.py"))), (0o555, 0o444));
    // At play time nothing is fetched.
    fs::remove_dir_all(place.path("wheels")).unwrap();
    let again = run(&place, &["run", "cup.toml", "--fresh"]).unwrap();
    assert!(again.status.success(), "{}", said(&again));
    let table = run(&place, &["table", "cup.toml", "--format", "json"]).unwrap();
    let table: serde_json::Value = serde_json::from_slice(&table.stdout).unwrap();
    assert_eq!(table["games"], 1, "{table}");
}

#[test]
fn package_that_cannot_be_installed_is_an_error_before_the_first_game() {
    let place = Place::new(&[("cup.toml", COMPETITION), ("requirements.txt", LIST), ("Fiver.py", FIVER)]);
    fs::create_dir(place.path("wheels")).unwrap();
    let Some(output) = run(&place, &["run", "cup.toml"]) else { return };
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("requirements.txt cannot be installed"), "{}", said(&output));
    assert!(
        said(&output).contains("agon-test-package") && said(&output).contains("hint:"),
        "{}",
        said(&output)
    );
    assert_eq!(built(&place), [""; 0].map(std::path::PathBuf::from));
    fs::remove_file(place.path("requirements.txt")).unwrap();
    let output = run(&place, &["run", "cup.toml"]).unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("cannot read"), "{}", said(&output));
    assert!(!place.path("cup.ledger").exists());
}

#[test]
fn author_checks_and_plays_with_the_list_of_the_organiser() {
    let place = Place::new(&[("requirements.txt", LIST), ("Fiver.py", FIVER)]);
    write_wheel(&place.path("wheels/agon_test_package-1.0-py3-none-any.whl"));
    let with_list = ["--packages", "requirements.txt"];
    for words in
        [&["check", "connect-five", "Fiver.py"][..], &["play", "connect-five", "Fiver.py", "house:random"]]
    {
        let Some(without) = run(&place, words) else { return };
        assert_ne!(without.status.code(), Some(0), "{words:?}");
        let output = run(&place, &[words, &with_list].concat()).unwrap();
        assert!(
            output.status.success(),
            "{words:?}: {}{}",
            String::from_utf8_lossy(&output.stdout),
            said(&output)
        );
    }
    let missing = run(&place, &["check", "connect-five", "Fiver.py", "--packages", "gone.txt"]).unwrap();
    assert_eq!(missing.status.code(), Some(2), "{}", said(&missing));
    assert!(
        said(&missing).contains("cannot read gone.txt") && said(&missing).contains("hint:"),
        "{}",
        said(&missing)
    );
}

#[test]
fn packages_of_a_game_without_a_python_api_are_rejected_with_their_line() {
    let text = COMPETITION
        .replace("connect-five", "word-racer")
        .replace("parts = [{ games = 1, seconds = 1 }]\n", "");
    let place = Place::new(&[("cup.toml", &text.replace("Fiver.py", "house:rows"))]);
    let Some(output) = run(&place, &["run", "cup.toml"]) else { return };
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(
        said(&output).contains("cup.toml:3:1: `packages` is only for games with a Python API"),
        "{}",
        said(&output)
    );
}
