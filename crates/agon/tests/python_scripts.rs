//! `agon debug --pdb`, `agon debug --attach` and `agon trial --profile` for Word Racer's Python bots, which are scripts, and what
//! `agon debug --turn` shows.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

use common::{agon, folder_with, good, python};
use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// Writes each letter into the first empty cell. `think` takes most of the time.
const RACER: &str = "import thinking

board = ['.'] * 49

def place(letter):
    position = board.index('.')
    board[position] = letter
    return position

board[24] = input().strip()
calls = input().strip() == '1'
while '.' in board:
    thinking.think()
    if calls:
        print('E', place('E'), flush=True)
    else:
        print(place(input().strip()), flush=True)
    calls = not calls
";
const THINKING: &str = "def think():\n    return sum(range(100000))\n";
const BOT: &str = "python3 bots/racer.py";

fn recorded() -> TempDir {
    let folder = folder_with(&[("bots/racer.py", RACER), ("bots/thinking.py", THINKING)]);
    let play = ["play", "word-racer", BOT, "house:filler", "--seed", "7", "--record", "a.agon"];
    good(&agon(folder.path(), &play).output().unwrap());
    folder
}

#[test]
fn script_stops_in_pdb_before_its_answer() {
    let folder = recorded();
    let debug = |more: &[&str], typed: &str| {
        let words = [&["debug", "a.agon", "--seat", "0", "--bot", BOT, "--pdb"], more].concat();
        agon(folder.path(), &words).write_stdin(typed).output().unwrap()
    };
    let shown = good(&debug(&["--turn", "1"], "c\n"));
    assert!(
        shown.contains("racer.py(1)<module>()\n-> import thinking\n") && shown.contains("now (same)"),
        "{shown}"
    );
    let shown = good(&debug(&["--turn", "5"], "p board.count('.')\nc\n"));
    // A letter takes two turns: two letters and the one in the centre are on the board.
    assert!(shown.contains("-> calls = not calls\n") && shown.contains("(Pdb) 46\n"), "{shown}");
    assert!(good(&debug(&["--turn", "5"], "q\n")).contains("quit the debugger"));
    let changed = debug(&["--turn", "1"], "n\nn\n!board = ['X'] + ['.'] * 48\nc\n");
    assert!(changed.status.code().is_some(), "the debugger ends");
}

#[test]
fn script_is_profiled_in_the_sandbox_with_real_paths() {
    let folder = recorded();
    let words = ["trial", "word-racer", BOT, "--games", "1", "--profile", "a.prof", "--json"];
    let trial: Json = serde_json::from_str(&good(&agon(folder.path(), &words).output().unwrap())).unwrap();
    let hottest = trial["profile"]["hottest"].as_array().unwrap();
    assert_eq!(hottest[0]["file"], "bots/thinking.py", "{hottest:?}");
    assert_eq!((&hottest[0]["line"], &hottest[0]["text"]), (&json!(2), &json!("return sum(range(100000))")));
    let open =
        "import pstats, sys\nsys.exit('think' not in {name for _, _, name in pstats.Stats('a.prof').stats})";
    let opened = Command::new("python3").args(["-c", open]).current_dir(folder.path()).output().unwrap();
    assert!(opened.status.success(), "{}", String::from_utf8_lossy(&opened.stderr));
}

#[test]
fn turn_shows_the_board_and_the_arguments_of_the_api() {
    let bot = "class Bot:\n    asked = 0\n    def get_move(self, board, player, T, N):\n        self.asked = player\n        return 4\n";
    let folder = folder_with(&[("Bot.py", bot)]);
    let play = [
        "play",
        "connect-five",
        "Bot.py",
        "house:random",
        "--seed",
        "7",
        "--set",
        "special=0,1",
        "--record",
        "a.agon",
    ];
    good(&agon(folder.path(), &play).output().unwrap());
    let words = ["debug", "a.agon", "--seat", "0", "--turn", "3"];
    let shown = good(&agon(folder.path(), &words).output().unwrap());
    assert!(shown.contains("\ncalled with:\n") && shown.contains("  player = 1\n"), "{shown}");
    assert!(
        shown.contains("  T = 1\n") && shown.contains("  N = 0\n") && shown.contains("  self.asked = 1\n"),
        "{shown}"
    );
    let found: Json = serde_json::from_str(&good(
        &agon(folder.path(), &[&words[..], &["--json"]].concat()).output().unwrap(),
    ))
    .unwrap();
    let turn = &found["turn"];
    let names: Vec<&str> =
        turn["arguments"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["self.asked", "board", "player", "T", "N"], "{turn}");
    // The picture is the position before the turn: two pieces.
    let picture = turn["picture"].as_str().unwrap();
    assert!(picture.lines().count() > 7 && shown.contains(picture), "{shown}");
    let shown =
        good(&agon(folder.path(), &["debug", "a.agon", "--seat", "1", "--turn", "2"]).output().unwrap());
    assert!(shown.contains("observation:\n"), "a house bot has no API: {shown}");
}

/// A free port.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Talks to debugpy as an editor does: initialises, attaches, and says that all breakpoints are set.
fn attach(port: u16) {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let send = |sequence: u32, command: &str, arguments: Json| {
        let body = json!({"seq": sequence, "type": "request", "command": command, "arguments": arguments})
            .to_string();
        (&stream).write_all(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
    };
    send(1, "initialize", json!({"clientID": "test", "adapterID": "python", "pathFormat": "path"}));
    send(2, "attach", json!({"justMyCode": false}));
    loop {
        let (mut line, mut length) = (String::new(), 0);
        while line != "\r\n" {
            line.clear();
            assert!(reader.read_line(&mut line).unwrap() > 0, "debugpy closed the connection");
            length =
                line.strip_prefix("Content-Length: ").map_or(length, |text| text.trim().parse().unwrap());
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let message: Json = serde_json::from_slice(&body).unwrap();
        match (message["event"].as_str(), message["command"].as_str()) {
            (Some("initialized"), _) => send(3, "configurationDone", json!({})),
            (_, Some("configurationDone")) => return,
            _ => {}
        }
    }
}

#[test]
fn debugger_of_an_editor_attaches_at_the_turn() {
    let Some(python) = python() else { return };
    let has = Command::new(&python).args(["-c", "import debugpy"]).output().unwrap();
    if !has.status.success() {
        agon_test_servers::cannot_run(agon_test_servers::Lacks::Setup, "no debugpy in .venv");
        return;
    }
    let bot = "class Bot:\n    def get_move(self, board, player, T, N):\n        return next(c for c in range(9) if not board[0][c])\n";
    let folder = folder_with(&[("Bot.py", bot)]);
    let play = ["play", "connect-five", "Bot.py", "house:random", "--seed", "7", "--record", "a.agon"];
    good(&agon(folder.path(), &play).output().unwrap());
    let port = free_port();
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.args(["debug", "a.agon", "--seat", "0", "--turn", "3", "--attach", &port.to_string()]);
    command
        .current_dir(folder.path())
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .env("AGON_PYTHON", python);
    let mut agon = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(agon.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("waiting for a debugger") {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0, "agon does not wait for a debugger");
    }
    attach(port);
    let mut text = String::new();
    agon.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(agon.wait().unwrap().code(), Some(0), "{text}");
    assert!(text.contains("now (same)"), "{text}");
}

#[test]
fn missing_debugpy_is_reported_with_what_to_install() {
    let folder = folder_with(&[(
        "Bot.py",
        "class Bot:\n    def get_move(self, board, player, T, N):\n        return next(c for c in range(9) if not board[0][c])\n",
    )]);
    let play = ["play", "connect-five", "Bot.py", "house:random", "--seed", "7", "--record", "a.agon"];
    good(&agon(folder.path(), &play).output().unwrap());
    let has = Command::new("python3").args(["-c", "import debugpy"]).output().unwrap();
    if has.status.success() {
        return;
    }
    let words = ["debug", "a.agon", "--seat", "0", "--turn", "1", "--attach", &free_port().to_string()];
    let output = agon(folder.path(), &words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("debugpy is not installed") && said.contains("pip install debugpy"), "{said}");
}
