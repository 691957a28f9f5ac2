//! Five small competitions (`test-bots/competitions`), run with one and with two parallel games, and killed at random moments: the table is always the
//! same, no game is lost, and none counts twice. With `AGON_SOAK` each is killed 40 times, otherwise 4 times.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use agon_core::random::FastRng;
use tempfile::TempDir;

const COMPETITIONS: [&str; 5] = ["solitude", "colour", "connect", "hide", "word"];

/// A folder with the competitions and their bots.
fn competitions() -> TempDir {
    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name());
            if path.is_dir() {
                copy(&path, &to.join(name));
            } else {
                fs::copy(&path, to.join(name)).unwrap();
            }
        }
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-bots/competitions"), folder.path());
    folder
}

fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.args(words).current_dir(folder).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    if let Some(python) = common::python() {
        command.env("AGON_PYTHON", python);
    }
    command
}

fn start(folder: &Path, competition: &str, jobs: &str) -> Child {
    let file = format!("{competition}.toml");
    let mut run = command(folder, &["run", &file, "--jobs", jobs, "--json"]);
    run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn finish(run: Child) -> String {
    let output = run.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    said
}

/// All tables without times.
fn tables(folder: &Path, competition: &str) -> String {
    let file = format!("{competition}.toml");
    let phases = fs::read_to_string(folder.join(&file)).unwrap().matches("[[phase]]").count();
    let table = |phase: usize| {
        let phase = phase.to_string();
        let words = ["table", &file, "--format", "json", "--no-times", "--phase", &phase];
        common::good(&command(folder, &words).output().unwrap())
    };
    (1..=phases).map(table).collect()
}

fn ledger(folder: &Path, competition: &str) {
    for ending in ["ledger", "ledger-wal", "ledger-shm"] {
        let _ = fs::remove_file(folder.join(format!("{competition}.{ending}")));
    }
}

/// Kills a run `kills` times at random moments, then lets it finish.
fn kill_often(
    folder: &Path,
    competition: &str,
    kills: usize,
    undisturbed: Duration,
    rng: &mut FastRng,
) -> usize {
    let mut killed = 0;
    while killed < kills {
        let mut run = start(folder, competition, if killed % 2 == 0 { "2" } else { "1" });
        // Mostly early, so that many runs leave something to do; sometimes when nearly everything is done.
        let share = (rng.next_u64() % 1000) as f64 / 1000.0;
        let end = Instant::now() + undisturbed.mul_f64(share * share);
        while Instant::now() < end && run.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(1));
        }
        if run.try_wait().unwrap().is_some() {
            finish(run);
            // The run finished before the kill: start over with the remaining kills.
            if killed + 1 < kills {
                ledger(folder, competition);
            }
            killed += 1;
            continue;
        }
        run.kill().unwrap();
        run.wait().unwrap();
        killed += 1;
    }
    finish(start(folder, competition, "2"));
    killed
}

fn the_table_is_always_the_same(competition: &str, seed: u64) {
    if common::python().is_none() {
        return;
    }
    let kills = if std::env::var_os("AGON_SOAK").is_some() { 40 } else { 4 };
    let folder = competitions();
    let begun = Instant::now();
    finish(start(folder.path(), competition, "1"));
    let undisturbed = begun.elapsed();
    let expected = tables(folder.path(), competition);
    assert!(!expected.contains("fault\":1"), "{expected}");
    ledger(folder.path(), competition);
    finish(start(folder.path(), competition, "2"));
    assert_eq!(tables(folder.path(), competition), expected, "{competition}: two parallel games");
    ledger(folder.path(), competition);
    let mut rng = FastRng::new(seed);
    let killed = kill_often(folder.path(), competition, kills, undisturbed, &mut rng);
    assert_eq!(tables(folder.path(), competition), expected, "{competition}: killed {killed} times");
}

#[test]
fn killed_solitude_competition_gives_the_same_table() {
    the_table_is_always_the_same(COMPETITIONS[0], 1);
}

#[test]
fn killed_colour_battle_competition_gives_the_same_table() {
    the_table_is_always_the_same(COMPETITIONS[1], 2);
}

#[test]
fn killed_connect_five_competition_gives_the_same_table_and_bot_data() {
    the_table_is_always_the_same(COMPETITIONS[2], 3);
}

#[test]
fn killed_hide_and_seek_competition_gives_the_same_table() {
    the_table_is_always_the_same(COMPETITIONS[3], 4);
}

#[test]
fn killed_word_racer_competition_gives_the_same_table() {
    the_table_is_always_the_same(COMPETITIONS[4], 5);
}
