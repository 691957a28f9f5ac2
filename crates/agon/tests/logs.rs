//! `agon play --logs DIR`: requests, answers and output of each program, readable after the game.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::path::Path;

use common::{agon, folder_with, good, masked_times};

const CHATTY: &str = "import sys
print('loading')
class Chatty:
    asked = 0
    def get_move(self, board, player, T, N):
        self.asked += 1
        print('thinking', self.asked, '\\x1b[31m')
        print('aside', file=sys.stderr)
        if N == 1 and self.asked > 6:
            raise ValueError('no idea')
        return self.asked % 2 + 1
    def adjust(self):
        print('adjusting')
";

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn log_contains_each_turn_with_answer_times_and_output() {
    let folder = folder_with(&[("Chatty.py", &CHATTY.replace("print('loading')\n", ""))]);
    let play = [
        "play",
        "connect-five",
        "Chatty.py",
        "house:stacker",
        "--games",
        "3",
        "--seed",
        "7",
        "--set",
        "special=7,8",
        "--logs",
        "a/logs",
    ];
    let text = good(&agon(folder.path(), &play).output().unwrap());
    assert!(text.ends_with("logs: a/logs\n"), "{text}");
    let logs = folder.path().join("a/logs");
    assert_eq!(
        names(&logs),
        ["game-0001-seat-0-Chatty.log", "game-0002-seat-0-Chatty.log"],
        "house bots have no log"
    );
    let both = names(&logs).iter().map(|name| read(&logs, name)).collect::<Vec<_>>().join("\n=====\n\n");
    insta::assert_snapshot!(masked_times(&both));
}

#[test]
fn output_while_loading_is_at_the_start_of_the_log() {
    let folder = folder_with(&[("Chatty.py", CHATTY)]);
    let play = ["play", "connect-five", "Chatty.py", "house:random", "--logs", "logs"];
    good(&agon(folder.path(), &play).output().unwrap());
    let log = read(&folder.path().join("logs"), "game-0001-seat-0-Chatty.log");
    let (head, _) = log.split_once("\nturn ").unwrap();
    assert!(head.ends_with("printed before the first turn\n  | loading\n"), "{log}");
}

#[test]
fn each_game_and_seat_has_a_separate_file_with_parallel_games() {
    let folder = folder_with(&[(
        "Submission.py",
        "def get_action(state, history):\n    print('turn', state['current_turn'])\n    return 'LEFT'\n",
    )]);
    let play = [
        "play",
        "solitude-scramble",
        ".",
        "house:left",
        ".",
        "house:right",
        "--games",
        "5",
        "--jobs",
        "2",
        "--set",
        "turns=3",
        "--logs",
        "logs",
    ];
    good(&agon(folder.path(), &play).output().unwrap());
    let logs = folder.path().join("logs");
    assert_eq!(names(&logs).len(), 10, "{:?}", names(&logs));
    for name in names(&logs) {
        let log = read(&logs, &name);
        let game: u32 = name[5..9].parse().unwrap();
        assert!(log.starts_with(&format!("Solitude Scramble, game {game}, ")), "{log}");
        for turn in 1..=3 {
            let entry = log.split(&format!("\nturn {turn}, move: L  (charged ")).nth(1).unwrap();
            assert!(entry.lines().nth(1).unwrap().ends_with(&format!("| turn {turn}")), "{log}");
        }
    }
}

#[test]
fn last_output_of_a_killed_process_is_in_the_log() {
    let script = "import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if message['type'] == 'turn':
        print('into the abyss', file=sys.stderr, flush=True)
        while True: pass
    print(json.dumps({'id': message['id']}), flush=True)
";
    let folder = folder_with(&[("bot.py", script)]);
    let play =
        ["play", "connect-five", "python3 bot.py", "house:random", "--set", "seconds=0.2", "--logs", "logs"];
    good(&agon(folder.path(), &play).output().unwrap());
    let log = read(&folder.path().join("logs"), "game-0001-seat-0-bot.log");
    assert!(log.contains("turn 1, move: timeout") && log.contains("  | into the abyss\n"), "{log}");
}

#[test]
fn endless_output_is_cut_and_the_game_continues() {
    let folder = folder_with(&[(
        "Flood.py",
        "class Flood:\n    def get_move(self, board, player, T, N):\n        for i in range(3000): print('x' * 99)\n        \
         return next(c for c in range(9) if not board[0][c])\n",
    )]);
    let play = ["play", "connect-five", "Flood.py", "house:random", "--logs", "logs"];
    let text = good(&agon(folder.path(), &play).output().unwrap());
    assert!(!text.contains("fault: "), "{text}");
    let log = fs::metadata(folder.path().join("logs/game-0001-seat-0-Flood.log")).unwrap();
    assert!(log.len() > 60_000 && log.len() < 4 << 20, "{}", log.len());
}

#[test]
fn log_folder_that_cannot_be_created_is_rejected_before_any_game() {
    let folder = folder_with(&[("Chatty.py", CHATTY), ("taken", "")]);
    let play = ["play", "connect-five", "Chatty.py", "house:random", "--logs", "taken/logs"];
    let output = agon(folder.path(), &play).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("taken/logs") && said.contains("\nhint: "), "{said}");
}
