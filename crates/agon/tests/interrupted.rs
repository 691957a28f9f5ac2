//! CTRL-C in `agon play` and `agon trial`, `--watch` while a game is played, the progress bar, `--force`, and logs of an earlier run.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use agon_test_servers::wait_until;
use common::{agon, folder_with, good};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::Value as Json;
use tempfile::TempDir;

/// Plays the first free column. In its third game it creates the file `reached` and waits for the file `go`.
const GATED: &str = "import json, os, sys, time
game = 0
for line in sys.stdin:
    message = json.loads(line)
    reply = {'id': message['id']}
    if message['type'] == 'hello':
        reply['protocol'] = 1
    if message['type'] == 'start':
        game += 1
    if message['type'] == 'turn':
        if game == 3:
            open('reached', 'w').close()
            parent = os.getppid()
            while not os.path.exists('go') and os.getppid() == parent:
                time.sleep(0.01)
        board = message['observation']['board']
        reply['answer'] = next(c for c in range(9) if not board[0][c])
    print(json.dumps(reply), flush=True)
";

/// A series of 50 games in one match. The sandbox is off, so that the bot can see the files.
const PLAY: [&str; 10] = [
    "play",
    "connect-five",
    "python3 bot.py",
    "house:random",
    "--sandbox",
    "off",
    "--set",
    "seconds=3600",
    "--games",
    "50",
];

struct Running {
    folder: TempDir,
    agon: Child,
    stderr: BufReader<std::process::ChildStderr>,
}

/// Starts `agon` and waits until the bot waits in its third game.
fn start(words: &[&str]) -> Running {
    let folder = folder_with(&[("bot.py", GATED)]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.args(words).current_dir(folder.path()).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    let mut agon = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let stderr = BufReader::new(agon.stderr.take().unwrap());
    wait_until("the bot is in its third game", || folder.path().join("reached").exists());
    Running { folder, agon, stderr }
}

impl Running {
    fn interrupt(&self) {
        kill_process(Pid::from_child(&self.agon), Signal::INT).unwrap();
    }

    /// Presses CTRL-C and waits for the answer.
    fn interrupt_once(&mut self) {
        self.interrupt();
        let mut line = String::new();
        while !line.contains("finishing the current games") {
            line.clear();
            assert!(self.stderr.read_line(&mut line).unwrap() > 0, "no answer to CTRL-C");
        }
    }

    fn let_go(&self) {
        File::create(self.folder.path().join("go")).unwrap();
    }

    /// Exit code and stdout.
    fn end(&mut self) -> (Option<i32>, String) {
        let mut text = String::new();
        self.agon.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        (self.agon.wait().unwrap().code(), text)
    }
}

fn games_of(folder: &Path, record: &str) -> usize {
    let replay = good(&agon(folder, &["replay", record, "--verify"]).output().unwrap());
    replay.split("verified: ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn interrupted_series_finishes_the_current_game_and_keeps_what_was_played() {
    let mut run = start(&[&PLAY[..], &["--record", "a.agon", "--logs", "logs"]].concat());
    run.interrupt_once();
    run.let_go();
    let (code, text) = run.end();
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("stopped: 3 of 50 games are played\n") && text.contains("3 games"), "{text}");
    assert_eq!(games_of(run.folder.path(), "a.agon"), 3);
    let logs: Vec<String> = fs::read_dir(run.folder.path().join("logs"))
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    assert_eq!(logs.len(), 3);
    assert!(logs.iter().all(|log| log.contains("\nended: ")), "{logs:?}");
}

#[test]
fn second_interrupt_prints_the_finished_games_at_once() {
    let mut run = start(&[&PLAY[..], &["--record", "a.agon", "--json"]].concat());
    run.interrupt_once();
    run.interrupt();
    let (code, text) = run.end();
    assert_eq!(code, Some(1), "{text}");
    let played: Json = serde_json::from_str(&text).unwrap();
    common::schema::check_document(&played);
    assert_eq!((&played["interrupted"], &played["games"]), (&Json::from(true), &Json::from(2)), "{played}");
    assert_eq!(games_of(run.folder.path(), "a.agon"), 2);
}

#[test]
fn interrupted_trial_prints_the_table_so_far() {
    let mut words = PLAY.to_vec();
    words.splice(0..4, ["trial", "connect-five", "python3 bot.py"]);
    let mut run = start(&words);
    run.interrupt_once();
    run.let_go();
    let (code, text) = run.end();
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("stopped: 3 of 50 games are played\n"), "{text}");
}

#[test]
fn record_is_overwritten_only_with_force() {
    let folder = folder_with(&[("a.agon", "mine")]);
    let play = ["play", "connect-five", "house:random", "house:random", "--record", "a.agon"];
    let output = agon(folder.path(), &play).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("a.agon exists") && said.contains("--force"), "{said}");
    assert_eq!(fs::read_to_string(folder.path().join("a.agon")).unwrap(), "mine");
    good(&agon(folder.path(), &[&play[..], &["--force"]].concat()).output().unwrap());
    assert_eq!(games_of(folder.path(), "a.agon"), 1);
}

#[test]
fn logs_of_an_earlier_run_are_removed_and_other_files_stay() {
    let bot = "class Bot:\n    def get_move(self, board, player, T, N):\n        return next(c for c in range(9) if not board[0][c])\n";
    let folder = folder_with(&[
        ("Bot.py", bot),
        ("logs/game-0009-seat-1-Other.log", "old"),
        ("logs/notes.log", "mine"),
        ("logs/game-1-notes.txt", "mine"),
    ]);
    let play = ["play", "connect-five", "Bot.py", "house:random", "--logs", "logs"];
    good(&agon(folder.path(), &play).output().unwrap());
    let mut names: Vec<_> = fs::read_dir(folder.path().join("logs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["game-0001-seat-0-Bot.log", "game-1-notes.txt", "notes.log"]);
}

/// `agon` on a terminal of its own.
struct OnTerminal {
    folder: TempDir,
    agon: Child,
    keys: File,
    /// All that was written to the terminal.
    shown: Arc<Mutex<String>>,
}

fn on_terminal(words: &[&str]) -> OnTerminal {
    let folder = folder_with(&[("bot.py", GATED)]);
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    let theirs = File::options().read(true).write(true).open(name).unwrap();
    tcsetwinsize(&theirs, Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let stdio = || Stdio::from(OwnedFd::from(theirs.try_clone().unwrap()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.args(words).current_dir(folder.path()).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    let agon = command.env("TERM", "xterm").stdin(stdio()).stdout(stdio()).stderr(stdio()).spawn().unwrap();
    drop(theirs);
    let (keys, mut screen) = (File::from(ours.try_clone().unwrap()), File::from(ours));
    let shown = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&shown);
    std::thread::spawn(move || {
        let mut part = [0; 4096];
        // The read fails when the last program has left the terminal.
        while let Ok(count) = screen.read(&mut part) {
            kept.lock().unwrap().push_str(&String::from_utf8_lossy(&part[..count]));
        }
    });
    OnTerminal { folder, agon, keys, shown }
}

impl OnTerminal {
    fn wait_for(&self, text: &str) {
        wait_until(text, || self.shown.lock().unwrap().contains(text));
    }
}

#[test]
fn watch_shows_a_game_while_it_is_played() {
    let mut run = on_terminal(&[&PLAY[..9], &["3", "--watch"]].concat());
    wait_until("the bot is in its third game", || run.folder.path().join("reached").exists());
    // The view may show the first games again. `n` goes on to the current one.
    wait_until("the current game is on the screen", || {
        run.keys.write_all(b"n").unwrap();
        run.shown.lock().unwrap().contains("live")
    });
    File::create(run.folder.path().join("go")).unwrap();
    run.keys.write_all(b"q").unwrap();
    run.wait_for("3 games");
    assert_eq!(run.agon.wait().unwrap().code(), Some(0));
}

#[test]
fn series_on_a_terminal_has_a_progress_bar() {
    let mut run = on_terminal(&PLAY);
    run.wait_for("2/50 games");
    File::create(run.folder.path().join("go")).unwrap();
    run.wait_for("Connect Five with special columns: ");
    assert_eq!(run.agon.wait().unwrap().code(), Some(0));
}
