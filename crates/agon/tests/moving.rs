//! A competition in a database, and one that is moved to a database and back during its run: the table is always the same, to the byte.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod common;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use agon_test_servers::Postgres;
use rustix::process::{Pid, Signal, kill_process};

/// Long enough to be stopped before its end.
const COMPETITION: &str = "name = \"Moved\"\ngame = \"colour-battle\"\nseed = \"a small canvas\"\n\n[settings]\nrounds = 400\n\n\
                   [[phase]]\nformat = \"arena\"\ngames = 400\n\n[[entrant]]\nbot = \"house:short-sighted\"\n\n\
                   [[entrant]]\nbot = \"house:random\"\n\n[[entrant]]\nbot = \"house:sweeper\"\n";

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
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// Stderr of a command that must fail with this exit code.
fn refused(folder: &Path, words: &[&str], code: i32) -> String {
    let output = agon(folder, words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{words:?}: {said}");
    assert!(said.contains("hint: ") && !said.contains("hush"), "{said}");
    said
}

#[test]
fn competition_moved_to_a_database_and_back_gives_the_same_table() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let url = Postgres::shared().database().url;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let here = folder.path();
    for name in ["cup", "all", "db"] {
        fs::write(here.join(format!("{name}.toml")), COMPETITION).unwrap();
    }
    let table = ["--format", "json", "--no-times"];
    done(here, &["run", "all.toml", "--jobs", "1"]);
    let wanted = done(here, &[&["table", "all.toml"][..], &table].concat());
    let in_database = |words: &[&str]| done(here, &[words, &["--database", &url]].concat());

    // The whole competition in a database.
    in_database(&["run", "db.toml", "--jobs", "1"]);
    assert_eq!(in_database(&[&["table", "db.toml"][..], &table].concat()), wanted);
    assert!(!here.join("db.ledger").exists());
    in_database(&["report", "db.toml", "pages", "--games", "1"]);
    assert!(here.join("pages/summary.html").exists());
    in_database(&["export", "db.toml", "files"]);
    done(here, &["export", "all.toml", "others"]);
    for name in ["table-1.json", "table-1.csv"] {
        assert!(here.join("files").join(name).exists());
    }

    // Stopped before its end, moved, finished there, moved back.
    let mut run = command(here, &["run", "cup.toml", "--jobs", "1", "--json"]);
    let mut child = run.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let played = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap)
        .filter(|line| line.contains("\"event\":\"match\""))
        .take(30)
        .count();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!((played, child.wait().unwrap().code()), (30, Some(1)), "the run was not stopped in time");
    done(here, &["export", "cup.toml", "--archive", "cup.archive"]);
    in_database(&["import", "cup.archive"]);
    in_database(&["run", "cup.toml", "--jobs", "1"]);
    assert_eq!(in_database(&[&["table", "cup.toml"][..], &table].concat()), wanted);
    in_database(&["export", "cup.toml", "--archive", "over.archive"]);
    let told = done(here, &["import", "over.archive", "--to", "back.ledger", "--json"]);
    assert!(told.contains("\"ledger\": \"back.ledger\"") && told.contains("\"matches\": 400"), "{told}");
    fs::write(here.join("back.toml"), COMPETITION).unwrap();
    assert_eq!(done(here, &[&["table", "back.toml"][..], &table].concat()), wanted);

    // An existing ledger is never overwritten, and every mistake has a clear message.
    let told = refused(here, &["import", "cup.archive", "--database", &url], 2);
    assert!(told.contains("(cup) already exists"), "{told}");
    assert!(refused(here, &["import", "cup.archive"], 2).contains("cup.ledger already exists"));
    assert!(refused(here, &["export", "all.toml", "--archive", "cup.archive"], 2).contains("already exists"));
    assert!(
        refused(here, &["import", "cup.toml", "--to", "x.ledger"], 2)
            .contains("does not start with the header")
    );
    assert!(
        refused(here, &["table", "back.toml", "--database", &url], 2)
            .contains("has not been run with this database")
    );
    let unreachable = format!("postgres://ada:hush@127.0.0.1:{}/cups", agon_test_servers::free_port());
    assert!(refused(here, &["run", "cup.toml", "--database", &unreachable], 3).contains("does not respond"));
    assert!(
        refused(here, &["run", "cup.toml", "--database", "mysql://ada:hush@x/y"], 2).contains("postgres://")
    );
    // Another competition with the same name is not resumed.
    fs::write(here.join("cup.toml"), COMPETITION.replace("games = 400", "games = 410")).unwrap();
    let told = refused(here, &["run", "cup.toml", "--database", &url], 2);
    assert!(told.contains("changed since the competition was started"), "{told}");
    in_database(&["run", "cup.toml", "--fresh"]);
}
