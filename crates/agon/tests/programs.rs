//! Programs as bots, through the whole command line and in the real sandbox.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use common::good as stdout;
use tempfile::{TempDir, tempdir_in};

fn agon(folder: &Path, arguments: &[&str]) -> Output {
    common::agon(folder, arguments).output().unwrap()
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bots/python")
}

/// A folder with a bot that answers `hello` and `start`, then runs `body`.
fn bot(body: &str) -> TempDir {
    let folder = tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let script = format!(
        "import json, os, socket, sys\n\
         def hear():\n    line = sys.stdin.readline()\n    if not line: sys.exit(0)\n    return json.loads(line)\n\
         def say(**words): print(json.dumps(words), flush=True)\n\
         say(id=hear()['id'])\nsay(id=hear()['id'])\n{body}\n"
    );
    fs::write(folder.path().join("bot.py"), script).unwrap();
    folder
}

#[test]
fn program_plays_each_of_the_five_games_and_its_record_verifies() {
    let out = tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let record = out.path().join("a.agon");
    let games: [&[&str]; 6] = [
        &["solitude-scramble", "python3 bot.py", "house:greedy", "house:left", "house:right"],
        &["colour-battle", "python3 bot.py", "house:random", "--set", "rounds=20"],
        &["connect-five", "python3 bot.py", "house:random", "--games", "2"],
        &["hide-and-seek", "python3 bot.py", "house:running-hider", "--set", "steps=60"],
        &["word-racer", "python3 word_racer.py", "house:filler"],
        &["word-racer", "json:python3 bot.py", "house:filler"],
    ];
    for game in games {
        let mut arguments = vec!["play"];
        arguments.extend(game);
        arguments.extend(["--seed", "7", "--force", "--record", record.to_str().unwrap()]);
        let text = stdout(&agon(&examples(), &arguments));
        assert!(!text.contains("fault: "), "{game:?}: {text}");
        let first = text.lines().find(|line| line.starts_with("digest: ")).unwrap().to_owned();
        let verified = stdout(&agon(&examples(), &["replay", record.to_str().unwrap(), "--verify"]));
        assert!(verified.contains(&first), "{game:?}: {verified}");
        let again = stdout(&agon(&examples(), &arguments));
        assert!(again.contains(&first), "{game:?}: a bot that draws from its seed does not repeat its game");
    }
}

#[test]
fn bot_cannot_read_files_of_the_machine_or_open_sockets() {
    // The column that the bot plays says what it could reach: 0 for nothing, more for each success.
    let folder = bot("reached = 0\n\
         for path in ['/etc/passwd', '/root/.bashrc', '/proc/1/environ']:\n\
        \x20   try: open(path).read(); reached += 1\n\
        \x20   except OSError: pass\n\
         try: socket.socket(); reached += 4\n\
         except OSError: pass\n\
         while True:\n    turn = hear()\n    say(id=turn['id'], answer=reached)");
    let record = folder.path().join("a.agon");
    let play =
        ["play", "connect-five", "python3 bot.py", "house:stacker", "--set", "special=7,8", "--seed", "1"];
    let guarded = [&play[..], &["--force", "--record", record.to_str().unwrap()]].concat();
    stdout(&agon(folder.path(), &guarded));
    let replay = stdout(&agon(folder.path(), &["replay", record.to_str().unwrap(), "--json"]));
    let replay: serde_json::Value = serde_json::from_str(&replay).unwrap();
    assert_eq!(replay["games"][0]["turns"][0], "0", "the bot reached something");
    // Control: without the sandbox the same bot reaches something.
    let off = [&guarded[..], &["--sandbox", "off"]].concat();
    stdout(&agon(folder.path(), &off));
    let replay = stdout(&agon(folder.path(), &["replay", record.to_str().unwrap(), "--json"]));
    let replay: serde_json::Value = serde_json::from_str(&replay).unwrap();
    assert_ne!(replay["games"][0]["turns"][0], "0");
}

#[test]
fn fault_contains_the_output_of_the_bot() {
    let folder = bot("hear()\nraise ValueError('my own words')");
    let text = stdout(&agon(folder.path(), &["play", "connect-five", "python3 bot.py", "house:random"]));
    assert!(text.contains("1 crash") && text.contains("ended with status 1"), "{text}");
    let folder = bot("turn = hear()\nprint('no json', flush=True)\nhear()");
    let text = stdout(&agon(folder.path(), &["play", "connect-five", "python3 bot.py", "house:random"]));
    assert!(text.contains("1 garbled") && text.contains("no json"), "{text}");
    let folder = bot("turn = hear()\nwhile True: pass");
    let play = ["play", "connect-five", "python3 bot.py", "house:random", "--set", "seconds=0.05"];
    let text = stdout(&agon(folder.path(), &play));
    assert!(text.contains("1 timeout"), "{text}");
}

#[test]
fn command_that_cannot_be_run_is_rejected_before_any_game() {
    let folder = tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::write(folder.path().join("bot.sh"), "").unwrap();
    for (command, hint) in [
        ("no-such-program bot.py", "install it"),
        ("./bot.sh", "chmod +x"),
        ("./other", "write the path relative to the current folder"),
        ("python3 'bot.py", "close it"),
    ] {
        let output = agon(folder.path(), &["play", "connect-five", command, "house:random"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{command}: {said}");
        assert!(
            said.starts_with("error: ") && said.contains("\nhint: ") && said.contains(hint),
            "{command}: {said}"
        );
    }
}
