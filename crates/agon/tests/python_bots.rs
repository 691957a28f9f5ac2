//! Bots for the Python APIs of four competitions, unchanged, in the real sandbox. Word Racer's scripts are commands: see
//! `programs.rs`.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use common::{good as stdout, python};
use tempfile::{TempDir, tempdir_in};

fn agon(folder: &Path, arguments: &[&str], python: Option<&Path>) -> Output {
    let mut command = common::agon(folder, arguments);
    command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    if let Some(python) = python {
        command.env("AGON_PYTHON", python);
    }
    command.output().unwrap()
}

/// The examples from the documents of the competitions, unchanged.
fn documents() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/tests/bots")
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

#[test]
fn solitude_examples_of_the_document_play_and_repeat() {
    let play = [
        "play",
        "solitude-scramble",
        "solitude_greedy",
        "solitude_random",
        "house:left",
        "solitude_left",
        "--seed",
        "7",
    ];
    let first = stdout(&agon(&documents(), &play, None));
    assert!(!first.contains("fault: "), "{first}");
    let digest = |text: &str| text.lines().find(|line| line.starts_with("digest: ")).unwrap().to_owned();
    assert_eq!(digest(&first), digest(&stdout(&agon(&documents(), &play, None))), "random is not seeded");
}

#[test]
fn solitude_calls_keep_nothing_for_the_next_call() {
    // It plays LEFT only while it remembers nothing.
    let bot = folder(&[(
        "Submission.py",
        "import random\nseen = []\ndef get_action(state, match_history):\n    seen.append(1)\n    random.kept = getattr(random, 'kept', 0) + 1\n    \
         return 'LEFT' if len(seen) == 1 and random.kept == 1 else 'CENTER'\n",
    )]);
    let record = bot.path().join("a.agon");
    let me = bot.path().to_str().unwrap();
    let play = [
        "play",
        "solitude-scramble",
        me,
        "house:left",
        "house:left",
        "house:left",
        "--record",
        record.to_str().unwrap(),
    ];
    stdout(&agon(bot.path(), &play, None));
    let replay = stdout(&agon(bot.path(), &["replay", record.to_str().unwrap(), "--json"], None));
    let replay: serde_json::Value = serde_json::from_str(&replay).unwrap();
    let turns = replay["games"][0]["turns"].as_array().unwrap();
    assert!(turns.iter().all(|turn| turn.as_str().unwrap().starts_with("L ")), "{turns:?}");
}

#[test]
fn solitude_games_keep_nothing_for_the_next_game() {
    // It would play LEFT only in its first game, if it could count its games.
    let text = "games = set()\ndef get_action(state, match_history):\n    if not match_history:\n        games.add(len(games))\n    \
                return 'LEFT' if len(games) < 2 else 'CENTER'\n";
    let bot = folder(&[("Submission.py", text)]);
    let record = bot.path().join("a.agon");
    let (me, record) = (bot.path().to_str().unwrap(), record.to_str().unwrap());
    let play = ["play", "solitude-scramble", me, "house:left", "house:left", "house:left"];
    stdout(&agon(bot.path(), &[&play[..], &["--games", "20", "--record", record]].concat(), None));
    let replay = stdout(&agon(bot.path(), &["replay", record, "--json"], None));
    let replay: serde_json::Value = serde_json::from_str(&replay).unwrap();
    let games = replay["games"].as_array().unwrap();
    let turns: Vec<&str> = games
        .iter()
        .flat_map(|game| game["turns"].as_array().unwrap())
        .map(|turn| turn.as_str().unwrap())
        .collect();
    assert_eq!((games.len(), turns.len()), (20, 200));
    assert!(turns.iter().all(|turn| turn.starts_with("L ")), "{turns:?}");
}

#[test]
fn removed_stateless_mode_is_rejected_and_strict_is_accepted() {
    let play =
        ["play", "solitude-scramble", "house:left", "house:left", "house:left", "house:left", "--stateless"];
    let with = |mode: &str| agon(&documents(), &[&play[..], &[mode]].concat(), None);
    for mode in ["fresh", "audited"] {
        let output = with(mode);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.contains(&format!("`{mode}` was removed")) && said.contains("omit --stateless"),
            "{said}"
        );
    }
    assert_eq!(with("loose").status.code(), Some(2));
    stdout(&with("strict"));
}

#[test]
fn connect_five_example_of_the_document_plays_a_match() {
    let play = ["play", "connect-five", "RandomBot", "house:random", "--games", "4", "--seed", "7"];
    let text = stdout(&agon(&documents(), &play, None));
    assert!(!text.contains("fault: "), "{text}");
}

#[test]
fn memory_limit_applies_to_all_processes_of_a_bot_together() {
    // Three children with 260 MiB each for at most four seconds. 512 MiB are allowed, with a tolerance of a tenth.
    let bot = folder(&[(
        "Taker.py",
        "import os, time\nclass Taker:\n    def get_move(self, board, player, T, N):\n        for _ in range(3):\n            \
         if os.fork() == 0:\n                taken = bytearray(b'x') * (260 << 20)\n                time.sleep(4)\n                os._exit(0)\n        \
         time.sleep(4)\n        return 0\n",
    )]);
    let play =
        ["play", "connect-five", "Taker.py", "house:random", "--set", "seconds=20", "--set", "special=7,8"];
    let text = stdout(&agon(bot.path(), &play, None));
    assert!(text.contains("used more memory than allowed, all its processes together"), "{text}");
}

/// A Connect Five bot with these lines in `get_move`, which choose one of the columns in `free`.
fn parallel_bot(lines: &str) -> TempDir {
    let source = format!(
        "import multiprocessing

def choose(pipe, free):
    pipe.send(free[0])

class Parallel:
    def get_move(self, board, player, T, N):
        free = [column for column in range(9) if board[0][column] == 0]
{lines}"
    );
    folder(&[("Parallel.py", &source)])
}

/// What `agon play` prints. `off` names defences that are switched off.
fn play_parallel(bot: &TempDir, off: &str) -> String {
    let play = ["play", "connect-five", "Parallel.py", "house:random", "--set", "seconds=20", "--seed", "7"];
    stdout(&common::agon(bot.path(), &play).env("AGON_TEST_DEFENCES_OFF", off).output().unwrap())
}

#[test]
fn process_of_multiprocessing_works_with_a_cgroup_and_is_explained_without_one() {
    let bot = parallel_bot(
        "        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.get_context('fork').Process(target=choose, args=(theirs, free))
        process.start()
        column = ours.recv()
        process.join()
        return column
",
    );
    let doctor = agon(bot.path(), &["doctor"], None);
    if String::from_utf8_lossy(&doctor.stdout).contains("cgroup: all CPU time") {
        let text = play_parallel(&bot, "");
        assert!(!text.contains("fault: "), "{text}");
    } else {
        agon_test_servers::cannot_run(agon_test_servers::Lacks::Machine, "no cgroup can be created here");
    }
    // The filter of system calls refuses the fork.
    let text = play_parallel(&bot, "cgroup");
    assert!(text.contains("fault: game 1, turn 1, Parallel: crash: "), "{text}");
    assert!(
        text.contains("Operation not permitted (bots cannot start further processes or threads here"),
        "{text}"
    );
}

#[test]
fn pool_of_multiprocessing_is_refused_and_explained() {
    let bot = parallel_bot(
        "        with multiprocessing.get_context('fork').Pool(2) as pool:
            return pool.map(int, free)[0]
",
    );
    // Its locks need shared memory, which bots do not have: with a cgroup and without one.
    for off in ["", "cgroup"] {
        let text = play_parallel(&bot, off);
        assert!(text.contains("fault: game 1, turn 1, Parallel: crash: "), "{off}: {text}");
        assert!(text.contains("bots have no shared memory, which locks, queues and pools"), "{off}: {text}");
    }
}

#[test]
fn colour_battle_class_plays_with_its_own_imports() {
    let Some(python) = python() else { return };
    let bots = folder(&[(
        "my-robots/id10+_bot.py",
        "from ..bot_control import Move\nfrom random import choice\nimport numpy as np\n\nclass First:\n    def get_name(self): return 'First'\n    \
             def get_contributor(self): return 'me'\n    def determine_next_move(self, grid, enemies, game_info):\n        \
             print('thinking', grid[self.position[1], self.position[0]])\n        assert grid.dtype == np.int16 and len(enemies) == 2\n        \
             return choice([Move.UP, Move.RIGHT])\n\nclass Second(First):\n    def determine_next_move(self, grid, enemies, game_info):\n        return Move.DOWN\n",
    )]);
    let play = [
        "play",
        "colour-battle",
        "my-robots/id10+_bot.py:First",
        "my-robots/id10+_bot.py:Second",
        "--set",
        "rounds=30",
        "--seed",
        "7",
    ];
    let text = stdout(&agon(bots.path(), &play, Some(&python)));
    assert!(!text.contains("fault: ") && text.contains("First") && text.contains("Second"), "{text}");
    let document =
        ["play", "colour-battle", "colour/always_up.py", "house:random", "--set", "rounds=30", "--seed", "7"];
    assert!(!stdout(&agon(&documents(), &document, Some(&python))).contains("fault: "));
}

#[test]
fn seeker_and_hider_play_without_importing_player() {
    let Some(python) = python() else { return };
    let bots = folder(&[(
        "players_of_mine.py",
        "class Seeker(Player):\n    def __init__(self, game_map, spawn_position, enemy_spawn_position):\n        \
         super().__init__(game_map, spawn_position, enemy_spawn_position)\n    def move(self):\n        \
         for step in ((1, 0), (0, 1), (-1, 0), (0, -1)):\n            there = (self.pos[0] + step[0], self.pos[1] + step[1])\n            \
         if movement_rules_obided(self.game_map, self.pos, there):\n                self.pos = there\n                return\n\n\
         class Hider(Player):\n    def move(self):\n        assert self.game_map[self.pos[0], self.pos[1]] == 0\n",
    )]);
    let mine = "players_of_mine.py";
    let play = ["play", "hide-and-seek", mine, mine, "--set", "steps=50", "--seed", "7"];
    let text = stdout(&agon(bots.path(), &play, Some(&python)));
    assert!(!text.contains("fault: "), "{text}");
    // The document's own seeker calls a function that does not exist: a crash with its line, and the game continues.
    let play =
        ["play", "hide-and-seek", "hide/seeker.py", "house:still-hider", "--set", "steps=6", "--seed", "7"];
    let text = stdout(&agon(&documents(), &play, Some(&python)));
    assert!(text.contains("6 crash") && text.contains("very_advanced_catching_algorithm"), "{text}");
}

#[test]
fn word_racer_script_is_rejected_with_a_command_as_hint() {
    let bots = folder(&[("Other.py", "class Other:\n    pass\n")]);
    let output = agon(bots.path(), &["play", "word-racer", "Other.py", "house:random"], None);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("hint: name it as a command: \"python3 Other.py\"")
    );
}

#[test]
fn answer_and_end_of_a_call_can_arrive_while_the_engine_has_no_processor() {
    let bot = "def get_action(state, match_history):\n    return 'LEFT'\n";
    let folder = common::folder_with(&[("Submission.py", bot)]);
    let words = ["play", "solitude-scramble", ".", "house:left", "house:right", "house:greedy"];
    let more = ["--set", "turns=4", "--games", "2", "--seed", "1", "--json"];
    let mut command = common::agon(folder.path(), &[&words[..], &more].concat());
    command.env("AGON_TEST_DEFENCES_OFF", "prompt-reading");
    let played: serde_json::Value = serde_json::from_str(&common::good(&command.output().unwrap())).unwrap();
    let faults = &played["seats"][0]["faults"];
    assert!(faults.as_object().unwrap().values().all(|count| count == 0), "{faults}");
}
