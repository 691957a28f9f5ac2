//! Bots in one folder, as in the original Colour Battle: none can read the files of another. As root and as an ordinary
//! user.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use tempfile::{TempDir, tempdir_in};

/// A Python in a folder that all users can read.
const PYTHON: &str = "/usr/bin/python3";

/// Answers with what it could reach of the other bot: column 0 means nothing. Without its own helper it gives no answer.
const SPY: &str = r"
import os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import helper
here = os.path.dirname(os.path.abspath(__file__))
reached = 0
for number, name in enumerate(('Honest.py', 'link.py', '__pycache__/Honest.cpython-312.pyc')):
    try:
        open(os.path.join(here, name), 'rb').read()
        reached += 1 + number % 2
    except OSError:
        pass
try:
    import Honest
    reached += 2
except (ImportError, OSError):
    pass
assert 'helper.py' in os.listdir(here)
";
const AS_CLASS: &str = "
class Spy:
    def get_move(self, board, player, T, N): return helper.same(reached)
";
const AS_PROGRAM: &str = "
import json
while True:
    line = sys.stdin.readline()
    if not line: break
    words = json.loads(line)
    reply = {'id': words['id']}
    if words['type'] == 'turn': reply['answer'] = helper.same(reached)
    print(json.dumps(reply), flush=True)
";
const HONEST: &str = "
class Honest:
    def get_move(self, board, player, T, N):
        return [column for column in range(len(board[0])) if board[0][column] == 0][-1]
";

/// All bots in one folder that every user may write to.
fn folder() -> TempDir {
    let folder = tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let bots = folder.path().join("bots");
    fs::create_dir_all(bots.join("__pycache__")).unwrap();
    fs::write(bots.join("Spy.py"), format!("{SPY}{AS_CLASS}")).unwrap();
    fs::write(bots.join("spy_program.py"), format!("{SPY}{AS_PROGRAM}")).unwrap();
    fs::write(bots.join("Honest.py"), HONEST).unwrap();
    fs::write(bots.join("helper.py"), "def same(x): return x\n").unwrap();
    fs::write(bots.join("__pycache__/Honest.cpython-312.pyc"), "compiled").unwrap();
    std::os::unix::fs::symlink("Honest.py", bots.join("link.py")).unwrap();
    folder
}

/// `agon` as the current user, or as an ordinary user if the current user is root.
fn agon(home: &Path, ordinary: bool, arguments: &[&str]) -> String {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_agon"));
    let mut command = if ordinary {
        let mut command = Command::new("/usr/bin/setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/env"]).arg(program);
        command
    } else {
        Command::new(program)
    };
    let cache = home.join(if ordinary { "cache-of-ordinary-user" } else { "cache" });
    command
        .args(arguments)
        .current_dir(home.join("bots"))
        .env("XDG_CACHE_HOME", cache)
        .env("AGON_PYTHON", PYTHON);
    common::good(&command.output().unwrap())
}

/// The first column that the spy played.
fn reached(home: &Path, ordinary: bool, spy: &str, more: &[&str]) -> String {
    let record = home.join(if ordinary { "ordinary.agon" } else { "own.agon" });
    let record = record.to_str().unwrap();
    let play = [
        "play",
        "connect-five",
        spy,
        "Honest.py",
        "--set",
        "special=7,8",
        "--seed",
        "1",
        "--force",
        "--record",
        record,
    ];
    let text = agon(home, ordinary, &[&play[..], more].concat());
    assert!(!text.contains("fault: "), "{text}");
    let replay = agon(home, ordinary, &["replay", record, "--json"]);
    let replay: serde_json::Value = serde_json::from_str(&replay).unwrap();
    replay["games"][0]["turns"][0].as_str().unwrap().to_owned()
}

#[test]
fn bot_cannot_read_another_bot_in_the_same_folder() {
    if !Path::new(PYTHON).exists() {
        agon_test_servers::cannot_run(agon_test_servers::Lacks::Setup, &format!("no {PYTHON}"));
        return;
    }
    let home = folder();

    for ordinary in [false, true].into_iter().take(if is_root() { 2 } else { 1 }) {
        for spy in ["Spy.py", "Spy.py:Spy", "python3 spy_program.py"] {
            assert_eq!(reached(home.path(), ordinary, spy, &[]), "0", "{spy}, ordinary user: {ordinary}");
        }
    }
    // Control: without the sandbox the spy reaches the other bot.
    assert_ne!(reached(home.path(), false, "Spy.py", &["--sandbox", "off"]), "0");
}

#[test]
fn folder_with_too_many_files_to_isolate_is_rejected_before_any_game() {
    let home = folder();
    for number in 0..2100 {
        fs::write(home.path().join(format!("bots/{number}")), "").unwrap();
    }
    let play = |bots: [&str; 2]| {
        let mut command =
            common::agon(&home.path().join("bots"), &["play", "connect-five", bots[0], bots[1]]);
        command.env("XDG_CACHE_HOME", home.path().join("cache")).output().unwrap()
    };
    let output = play(["Spy.py", "Honest.py"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("too many files") && said.contains("hint: put each bot into a separate folder"),
        "{said}"
    );
    // A single bot needs no isolation.
    common::good(&play(["Honest.py", "house:random"]));
}

#[test]
fn files_beside_a_bot_are_never_run_outside_the_sandbox() {
    let home = folder();
    let (bots, mark) = (home.path().join("bots"), home.path().join("escaped"));
    // Modules of Python's library that the zygote imports, replaced by files that a bot's author can provide.
    for name in ["queue", "statistics", "random", "json"] {
        fs::write(bots.join(format!("{name}.py")), format!("open({mark:?}, 'w').write('escaped')\n"))
            .unwrap();
    }
    agon(home.path(), false, &["play", "connect-five", "Honest.py", "house:random", "--seed", "1"]);
    assert!(!mark.exists(), "the zygote ran a bot's file");
}

/// Whether the current user is root, according to the owner of a new file.
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap().path().metadata().unwrap().uid() == 0
}
