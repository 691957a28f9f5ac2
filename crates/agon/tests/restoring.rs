//! Restoring a ledger after a crash, as an operator does it: the restored ledger holds what the archive holds, and nothing of the old
//! ledger is lost.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value as Json;

/// Long enough to be killed before its end.
const GAMES_OF_THE_KILLED_RUN: u32 = 200_000;
const GAMES_IN_THE_ARCHIVE: u32 = 30;

fn competition(games: u32) -> String {
    format!(
        "name = \"Restored\"\ngame = \"colour-battle\"\nseed = \"a small canvas\"\n\n[settings]\nrounds = 100\n\n[[phase]]\nformat = \"arena\"\n\
         games = {games}\n\n[[entrant]]\nbot = \"house:random\"\n\n[[entrant]]\nbot = \"house:sweeper\"\n"
    )
}

fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.args(words).current_dir(folder).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    command
}

fn agon(folder: &Path, words: &[&str]) -> Output {
    command(folder, words).output().unwrap()
}

/// Stdout of a command that must succeed.
fn done(folder: &Path, words: &[&str]) -> String {
    let output = agon(folder, words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn done_json(folder: &Path, words: &[&str]) -> Json {
    serde_json::from_str(&done(folder, words)).unwrap()
}

/// Stderr of a command that must fail because of its use.
fn refused(folder: &Path, words: &[&str]) -> String {
    let output = agon(folder, words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{words:?}: {said}{}", String::from_utf8_lossy(&output.stdout));
    said
}

/// Runs `cup.toml` and kills it after some matches. Returns the number of acknowledged matches.
fn run_and_kill(folder: &Path) -> u64 {
    let mut run = command(folder, &["run", "cup.toml", "--jobs", "1", "--json"]);
    let mut child = run.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let played = lines.filter(|line| line.contains("\"event\":\"match\"")).take(16).count() as u64;
    child.kill().unwrap();
    child.wait().unwrap();
    played
}

/// Number of matches in a ledger.
fn matches_in(folder: &Path, ledger: &str) -> u64 {
    let output = Command::new("sqlite3")
        .args([ledger, "SELECT sum(matches) FROM phase"])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

#[test]
fn import_beside_the_wal_of_a_killed_run_is_refused_and_loses_nothing() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let here = folder.path();
    fs::write(here.join("whole.toml"), competition(GAMES_IN_THE_ARCHIVE)).unwrap();
    fs::write(here.join("cup.toml"), competition(GAMES_OF_THE_KILLED_RUN)).unwrap();
    done(here, &["run", "whole.toml", "--jobs", "1"]);
    let exported = done_json(here, &["export", "whole.toml", "--archive", "whole.archive", "--json"]);
    assert_eq!(exported["matches"], GAMES_IN_THE_ARCHIVE);
    let played = run_and_kill(here);

    // The ledger is moved away, and SQLite's files stay.
    fs::rename(here.join("cup.ledger"), here.join("old.ledger")).unwrap();
    let wal = fs::read(here.join("cup.ledger-wal")).unwrap();
    assert!(!wal.is_empty());
    let import = ["import", "whole.archive", "--to", "cup.ledger", "--json"];
    let said = refused(here, &import);
    assert!(said.contains("cup.ledger-wal") && said.contains("hint: "), "{said}");
    assert!(!here.join("cup.ledger").exists());
    // A run would apply the old file to its new ledger in the same way.
    assert!(refused(here, &["run", "cup.toml", "--jobs", "1"]).contains("cup.ledger-wal"));
    assert!(!here.join("cup.ledger").exists());
    assert!(fs::read(here.join("cup.ledger-wal")).unwrap() == wal);

    // The file goes where the ledger went, as the hint says. Both ledgers are complete.
    fs::rename(here.join("cup.ledger-wal"), here.join("old.ledger-wal")).unwrap();
    let imported = done_json(here, &import);
    assert_eq!(imported["matches"], GAMES_IN_THE_ARCHIVE);
    assert_eq!(imported["digest"], exported["digest"]);
    assert_eq!(matches_in(here, "cup.ledger"), u64::from(GAMES_IN_THE_ARCHIVE));
    assert!(matches_in(here, "old.ledger") >= played);
    // The table comes from the restored ledger.
    fs::write(here.join("cup.toml"), competition(GAMES_IN_THE_ARCHIVE)).unwrap();
    let table = |file: &str| done(here, &["table", file, "--format", "json", "--no-times"]);
    assert_eq!(table("cup.toml"), table("whole.toml"));
}

#[test]
fn digest_of_an_archive_can_be_computed_with_sqlite_and_sha256sum() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let here = folder.path();
    fs::write(here.join("cup.toml"), competition(GAMES_IN_THE_ARCHIVE)).unwrap();
    done(here, &["run", "cup.toml", "--jobs", "1"]);
    let exported = done_json(here, &["export", "cup.toml", "--archive", "cup.archive", "--json"]);
    let script = "sqlite3 cup.ledger 'SELECT phase, stage, number, lower(hex(digest)) FROM match ORDER BY phase, stage, number' | sha256sum";
    let output = Command::new("sh").args(["-ec", script]).current_dir(here).output().unwrap();
    let computed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(exported["digest"].as_str(), computed.split_whitespace().next(), "{computed}");
    let said = done(here, &["import", "cup.archive", "--to", "other.ledger"]);
    assert!(said.contains("30 matches") && said.contains(exported["digest"].as_str().unwrap()), "{said}");
}

#[test]
fn start_over_keeps_the_wal_of_a_killed_run_with_its_ledger() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let here = folder.path();
    fs::write(here.join("cup.toml"), competition(GAMES_OF_THE_KILLED_RUN)).unwrap();
    let played = run_and_kill(here);
    fs::write(here.join("cup.toml"), competition(GAMES_IN_THE_ARCHIVE)).unwrap();
    done(here, &["run", "cup.toml", "--jobs", "1", "--fresh"]);
    assert_eq!(matches_in(here, "cup.ledger"), u64::from(GAMES_IN_THE_ARCHIVE));
    assert!(matches_in(here, "cup.ledger.1") >= played);
}

/// Runs a script in a namespace where it may mount disks, with `agon` on its `PATH`. Returns its output.
#[track_caller]
fn on_own_disks(folder: &Path, script: &str) -> Option<String> {
    let alone = ["--user", "--map-root-user", "--mount"];
    if !Command::new("unshare").args(alone).arg("true").status().is_ok_and(|status| status.success()) {
        agon_test_servers::cannot_run(agon_test_servers::Lacks::Machine, "cannot mount folders here");
        return None;
    }
    let program = Path::new(env!("CARGO_BIN_EXE_agon"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let output = Command::new("unshare")
        .args(alone)
        .args(["bash", "-euo", "pipefail", "-c", script])
        .current_dir(folder)
        .env("PATH", path)
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stdout));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn full_disk_stops_a_run_which_acknowledges_nothing_that_is_not_stored() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let here = folder.path();
    fs::create_dir(here.join("disk")).unwrap();
    fs::write(here.join("cup.toml"), competition(300)).unwrap();
    done(here, &["run", "cup.toml", "--jobs", "1"]);
    let script = "
        mount -t tmpfs -o size=600k tmpfs disk
        cp cup.toml disk/
        code=0; agon run disk/cup.toml --jobs 1 --json > events.txt 2> errors.txt || code=$?
        echo code=$code
        echo acknowledged=$(grep -c '\"event\":\"match\"' events.txt)
        echo stored=$(sqlite3 -readonly disk/cup.ledger 'SELECT sum(matches) FROM phase')
        mount -o remount,size=64m disk
        agon run disk/cup.toml --jobs 1 > /dev/null 2>&1
        agon table disk/cup.toml --format json --no-times > table.json";
    let Some(said) = on_own_disks(here, script) else { return };
    let number = |name: &str| -> u64 {
        let value = said.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        value.parse().unwrap()
    };
    let errors = fs::read_to_string(here.join("errors.txt")).unwrap();
    assert_eq!(number("code="), 3, "{errors}");
    assert!(errors.contains("the disk is full") && errors.contains("hint: "), "{errors}");
    let (acknowledged, stored) = (number("acknowledged="), number("stored="));
    assert!(acknowledged > 0 && stored < 300 && acknowledged <= stored, "{acknowledged} of {stored}");
    let table = fs::read_to_string(here.join("table.json")).unwrap();
    assert_eq!(table, done(here, &["table", "cup.toml", "--format", "json", "--no-times"]));
}

#[test]
fn unmounted_disk_stops_a_run_which_acknowledges_nothing_that_is_not_stored() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let here = folder.path();
    fs::create_dir(here.join("disk")).unwrap();
    fs::write(here.join("cup.toml"), competition(GAMES_OF_THE_KILLED_RUN)).unwrap();
    let script = "
        mount -t tmpfs tmpfs disk
        cp cup.toml disk/
        agon run disk/cup.toml --jobs 1 --json > events.txt 2> errors.txt &
        until [ \"$(grep -c '\"event\":\"match\"' events.txt)\" -ge 5 ]; do sleep 0.02; done
        # The disk stays mounted in a second place, to look at it afterwards.
        mkdir other; mount --bind disk other
        umount --lazy disk
        code=0; wait $! || code=$?
        echo code=$code
        echo acknowledged=$(grep -c '\"event\":\"match\"' events.txt)
        echo stored=$(sqlite3 -readonly other/cup.ledger 'SELECT sum(matches) FROM phase')";
    let Some(said) = on_own_disks(here, script) else { return };
    let errors = fs::read_to_string(here.join("errors.txt")).unwrap();
    assert!(said.contains("code=3\n"), "{said}{errors}");
    assert!(errors.contains("is lost: it was moved or deleted, or its disk was unmounted"), "{errors}");
    let number =
        |name: &str| said.lines().find_map(|line| line.strip_prefix(name)?.parse::<u64>().ok()).unwrap();
    assert!(number("acknowledged=") <= number("stored="), "{said}");
    // Nothing was written to the empty folder below the disk.
    assert_eq!(fs::read_dir(here.join("disk")).unwrap().count(), 0);
}
