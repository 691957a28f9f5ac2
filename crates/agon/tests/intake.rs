//! Which bots are taken and which are refused, through the whole command line and behind the real sandbox.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod common;

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::{TempDir, tempdir_in};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A folder of a test: `bots/` to run in, `tmp/` for what Agon keeps for itself.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::create_dir(folder.path().join("tmp")).unwrap();
        fs::create_dir(folder.path().join("bots")).unwrap();
        let place = Self { folder };
        for (name, text) in files {
            place.write(name, text);
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("bots").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn zip(&self, name: &str, files: &[(&str, &str)]) {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, text) in files {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(text.as_bytes()).unwrap();
        }
        fs::write(self.path(name), writer.finish().unwrap().into_inner()).unwrap();
    }

    fn tmp(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    /// What Agon keeps for itself now.
    fn left(&self) -> Vec<PathBuf> {
        fs::read_dir(self.tmp()).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let output = common::agon(&self.path(""), arguments)
            .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
            .env("TMPDIR", self.tmp())
            .output()
            .unwrap();
        assert_eq!(self.left(), [""; 0].map(PathBuf::from), "{arguments:?} leaves nothing behind");
        output
    }

    /// Stdout of a run that must succeed.
    fn good(&self, arguments: &[&str]) -> String {
        common::good(&self.run(arguments))
    }

    /// What a play is refused with, before any game.
    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    fn five(&self, bot: &str) -> String {
        self.refused(&["play", "connect-five", bot, "house:random"])
    }

    fn racer(&self, bot: &str) -> String {
        self.refused(&["play", "word-racer", bot, "house:random"])
    }
}

/// Answers and never fails: the leftmost column with room.
const PLAYER: &str = "class NAME:\n    def get_move(self, board, player, T, N):\n        return next(c for c in range(9) if board[0][c] == 0)\n";

fn player(name: &str) -> String {
    PLAYER.replace("NAME", name)
}

#[test]
fn what_cannot_be_loaded_is_refused_before_the_first_game_with_its_line() {
    let place = Place::new(&[
        ("Broken.py", "class Broken:\n    def get_move(self:\n        pass\n"),
        ("NoMethod.py", "\nclass NoMethod:\n    pass\n"),
        ("NoImport.py", "import json\nimport no_such_module\n"),
        (
            "NoStart.py",
            "class NoStart:\n    def __init__(self):\n        self.x = {}['gone']\n    def get_move(self, b, p, T, N): return 0\n",
        ),
        ("empty/README", ""),
        ("two/A.py", &player("A")),
        ("two/B.py", &player("B")),
        ("submission/Other.py", ""),
        ("three/Submission.py", "\ndef get_action(state):\n    return 'LEFT'\n"),
    ]);
    assert_eq!(
        place.five("Broken.py"),
        "error: Broken.py, line 2: does not parse: '(' was never closed\nhint: mend the syntax\n"
    );
    assert_eq!(
        place.five("NoMethod.py"),
        "error: NoMethod.py, line 2: class NoMethod has no method get_move\nhint: write def get_move(self, ...)\n"
    );
    assert_eq!(
        place.five("NoMethod.py:Nobody"),
        "error: NoMethod.py:Nobody: has no class Nobody\nhint: its bot classes: none\n"
    );
    assert_eq!(
        place.five("NoImport.py"),
        "error: NoImport.py, line 2: an import fails: ModuleNotFoundError: No module named 'no_such_module'\n\
         error:   File \"NoImport.py\", line 2, in <module>\n\
         error:       import no_such_module\n\
         error:   ModuleNotFoundError: No module named 'no_such_module'\n\
         hint: only Python's own library, NumPy and files beside the bot can be imported\n"
    );
    let said = place.five("NoStart.py");
    assert!(said.starts_with("error: NoStart.py, line 3: NoStart() fails: KeyError: 'gone'\n"), "{said}");
    assert_eq!(
        place.five("empty"),
        "error: empty: the folder has no .py file\nhint: put a class with get_move there\n"
    );
    assert_eq!(
        place.five("two"),
        "error: two: several files have a class with get_move: A.py, B.py\nhint: name one of them: FOLDER/FILE.py\n"
    );
    assert_eq!(
        place.five("Gone.py"),
        "error: Gone.py: there is no such file\nhint: a path is read from this folder\n"
    );
    let solitude =
        |bot| place.refused(&["play", "solitude-scramble", "house:left", bot, "house:left", "house:left"]);
    assert_eq!(
        solitude("submission"),
        "error: submission: the folder has no Submission.py\nhint: put def get_action(state, match_history) into Submission.py\n"
    );
    assert_eq!(
        solitude("three"),
        "error: three: Submission.py, line 2: get_action takes 1 parameters, not 2\nhint: write def get_action(state, match_history)\n"
    );
}

#[test]
fn programs_that_do_not_say_hello_are_refused() {
    let place = Place::new(&[
        ("talks.py", "print('hello to you', flush=True)\ninput()\n"),
        ("dies.py", "import sys\nprint('my last words', file=sys.stderr)\nsys.exit(3)\n"),
        ("wrong.py", "input()\nprint('{\"id\": 7}', flush=True)\ninput()\n"),
    ]);
    let hint = "hint: answer every line with one JSON object that repeats its id; see docs/protocol.md\n";
    assert_eq!(
        place.five("python3 talks.py"),
        format!("error: python3 talks.py: answered hello with `hello to you`, which is no JSON\n{hint}")
    );
    assert_eq!(
        place.racer("json:python3 wrong.py"),
        format!(
            "error: json:python3 wrong.py: answered hello with `{{\"id\": 7}}`, which has not its id, 1\n{hint}"
        )
    );
    assert_eq!(
        place.five("json:python3 dies.py"),
        "error: json:python3 dies.py: ended with status 3 instead of answering hello\nerror:   my last words\n\
         hint: run it by hand; does it start?\n"
    );
    let said = place.five("python3 gone.py");
    assert!(said.contains("there is no file ") && said.contains("/bots/gone.py\nhint: "), "{said}");
    let said = place.racer("python3 ../elsewhere.py");
    assert!(said.contains("there is no file "), "{said}");
    fs::write(place.folder.path().join("elsewhere.py"), "").unwrap();
    assert_eq!(
        place.racer("python3 ../elsewhere.py"),
        "error: python3 ../elsewhere.py: ../elsewhere.py is outside the bot's folder, and hidden from it\n\
         hint: run Agon in the bot's folder, or name the bot in a players.yml\n"
    );
}

#[test]
fn zips_play() {
    let place = Place::new(&[]);
    place.zip("Ana.zip", &[("MyBot.py", &player("MyBot")), ("data/x", "1")]);
    place.zip(
        "Ben.zip",
        &[
            ("README.md", ""),
            ("Deep/helper.py", "x = 1\n"),
            ("Deep/TheirBot.py", &(String::from("import helper\n") + &player("TheirBot"))),
        ],
    );
    place.zip(
        "Sol.zip",
        &[("sol/Submission.py", "def get_action(state, match_history):\n    return 'LEFT'\n")],
    );
    let text = place.good(&["play", "connect-five", "Ana.zip", "Ben.zip", "--games", "2", "--seed", "3"]);
    assert!(text.contains("MyBot") && text.contains("TheirBot") && !text.contains("fault: "), "{text}");
    let text =
        place.good(&["play", "solitude-scramble", "Sol.zip", "house:left", "house:left", "house:left"]);
    assert!(text.contains("Sol") && !text.contains("fault: "), "{text}");
}

#[test]
fn zips_that_are_not_one_bot_are_refused() {
    let place = Place::new(&[("Text.zip", "no archive")]);
    place.zip("Ana.zip", &[("../evil.py", "")]);
    place.zip("Two.zip", &[("One.py", &player("One")), ("Two.py", &player("Two"))]);
    place.zip("None.zip", &[("note.txt", "")]);
    place.zip("Racer.zip", &[("racer.py", "")]);
    assert_eq!(
        place.five("Ana.zip"),
        "error: Ana.zip: ../evil.py: the path leaves the archive by `..`\nhint: pack the bot's folder again, by its files' own names\n"
    );
    assert_eq!(
        place.five("Two.zip"),
        "error: Two.zip: the archive holds several bots: One.py and Two.py\nhint: one bot for each archive\n"
    );
    let said = place.five("Text.zip");
    assert!(
        said.starts_with("error: Text.zip: the archive is broken: ") && said.contains("\nhint: "),
        "{said}"
    );
    assert_eq!(
        place.five("None.zip"),
        "error: None.zip: None: the folder has no .py file\nhint: put a class with get_move there\n"
    );
    assert_eq!(
        place.racer("Racer.zip"),
        "error: Racer.zip: Word Racer's bots are not taken as .zip\n\
         hint: unpack it and name it in a players.yml (FILE#NAME), or by its command in quotes\n"
    );
}

/// A Word Racer bot that plays on only if `words.dat` is what it should be: so many words, the first of them this one.
fn reader(words: &str) -> String {
    format!(
        "import sys\nwords = open('words.dat').read().split('\\n')\nassert words[-1] == '' and {words}, words[:3]\n\
         letter, mine = input(), input() == '1'\nfree = [p for p in range(49) if p != 24]\n\
         for turn in range(48):\n    \
         if mine:\n        print('E', free.pop(0), flush=True)\n    \
         else:\n        input()\n        print(free.pop(0), flush=True)\n    mine = not mine\n"
    )
}

const LIST: &str = "players:\n  - name: Reader\n    directory: racers/one\n    command: python3 racer.py\n\
                    \x20 - name: Other\n    directory: racers/two\n    command: ./no-such-racer\n    language: C\n";

#[test]
fn word_racers_find_the_words_in_use_where_they_run() {
    let place = Place::new(&[
        ("lib/players.yml", &LIST.replace("racers/", "../racers/")),
        ("one.yml", "players:\n- name: MyBot\n    directory: racers/one\n    command: python racer.py\n"),
        ("racers/one/racer.py", &reader("len(words) > 50000 and words[0].isupper()")),
        ("racers/one/words.dat", "STALE\n"),
        ("racers/given/racer.py", &reader("words == ['CAT', 'DOG', '']")),
        ("given.txt", "dog\ncat\n"),
        ("two.yml", "players:\n  - {name: Given, directory: racers/given, command: python3 racer.py}\n"),
    ]);
    for bot in ["lib/players.yml#Reader", "one.yml", "one.yml#MyBot"] {
        let text = place.good(&["play", "word-racer", bot, "house:random"]);
        assert!(!text.contains("fault: "), "{bot}: {text}");
    }
    assert_eq!(fs::read_to_string(place.path("racers/one/words.dat")).unwrap(), "STALE\n");
    for sandbox in ["on", "off"] {
        let play = [
            "play",
            "word-racer",
            "two.yml",
            "house:random",
            "--set",
            "words=given.txt",
            "--sandbox",
            sandbox,
        ];
        let text = place.good(&play);
        assert!(!text.contains("fault: "), "{text}");
    }
    // The same bot without the list fails: the test can fail.
    let text = place.good(&["play", "word-racer", "two.yml", "house:random"]);
    assert!(text.contains("1 crash"), "{text}");
    // A command in this folder has them too.
    place.write("racer.py", &reader("len(words) > 50000"));
    let text = place.good(&["play", "word-racer", "python3 racer.py", "house:random"]);
    assert!(!text.contains("fault: ") && !place.path("words.dat").exists(), "{text}");
}

#[test]
fn lists_of_players_with_mistakes_are_refused_with_their_line() {
    let place = Place::new(&[
        ("players.yml", LIST),
        ("racers/two/x", ""),
        ("typo.yml", "players:\n  - name: A\n    directry: x\n    command: y\n"),
    ]);
    assert_eq!(
        place.racer("players.yml"),
        "error: players.yml: has several bots: Reader, Other\nhint: name one: players.yml#Reader\n"
    );
    assert_eq!(
        place.racer("players.yml#Raeder"),
        "error: players.yml: has no bot named Raeder\nhint: did you mean Reader? it has Reader, Other\n"
    );
    assert_eq!(
        place.racer("players.yml#Reader"),
        "error: players.yml, line 3: there is no directory racers/one\nhint: it is read from where the list is\n"
    );
    let said = place.racer("players.yml#Other");
    assert!(said.starts_with("error: players.yml, line 7: there is no file "), "{said}");
    assert_eq!(
        place.racer("typo.yml#A"),
        "error: typo.yml, line 3, column 5: the key directry is not known\nhint: did you mean directory? keys are name, directory, command, language\n"
    );
    let said = place.racer("gone.yml#A");
    assert!(said.starts_with("error: gone.yml: cannot read it: No such file"), "{said}");
    assert_eq!(
        place.five("players.yml#Reader"),
        "error: players.yml#Reader: a players.yml lists Word Racer's bots\nhint: name the bot by its path, or by its command in quotes\n"
    );
}

/// Counts its games in `data/`, and reads each game's log before it adjusts.
const LEARNER: &str = "
import glob, json, os
from pathlib import Path

HERE = Path(__file__).resolve().parent

class Learner:
    def __init__(self):
        self.games = int((HERE / 'data' / 'games').read_text()) if os.path.exists('data/games') else 0
        self.moves = 0

    def get_move(self, board, player, T, N):
        self.me, self.moves = player, self.moves + 1
        return next(c for c in range(9) if board[0][c] == 0)

    def adjust(self):
        self.games += 1
        names = sorted(os.listdir(HERE / 'logs'))
        log = json.loads((HERE / 'logs' / names[-1]).read_text())
        mine = [turn for turn in log['turns'] if turn['player'] == log['start']['you']]
        assert log['agon'] == 'log' and log['version'] == 1 and log['game'] == 'connect-five'
        assert len(mine) == self.moves and log['start']['you'] == self.me, (len(mine), self.moves)
        assert sum(map(bool, sum(log['turns'][-1]['board'], []))) == len(log['turns'])
        assert set(log['turns'][0]) == {'player', 'board'}
        assert log['result']['score'] in (0, 0.5, 1) and log['result']['ended']
        try:
            open('logs/mine', 'w')
            names.append('written')
        except OSError:
            pass
        self.moves = 0
        Path('data/games').write_text(str(self.games))
        Path('data/logs').write_text(' '.join(names))

    def train(self):
        Path('data/trained').write_text('yes')
";

#[test]
fn connect_five_bots_keep_their_data_and_read_their_logs() {
    let place = Place::new(&[("Learner/Learner.py", LEARNER), ("Learner/logs/game-0007.json", "{}")]);
    let data = |name: &str| fs::read_to_string(place.path("Learner/data").join(name)).unwrap();
    let play = ["play", "connect-five", "Learner", "house:random", "--games", "3", "--seed", "4"];
    let text = place.good(&play);
    assert!(!text.contains("fault: "), "{text}");
    assert_eq!(data("games"), "3");
    assert_eq!(data("logs"), "game-0007.json game-0008.json game-0009.json game-0010.json");
    assert_eq!(data("trained"), "yes");
    assert_eq!(
        fs::read_dir(place.path("Learner/logs")).unwrap().count(),
        1,
        "the bot's own folder stays as it was"
    );
    // Matches of one command follow one another, whatever the number of threads, and find what the last one left.
    let more = [
        "play",
        "connect-five",
        "Learner/Learner.py",
        "house:random",
        "--games",
        "4",
        "--match-games",
        "1",
        "--jobs",
        "4",
    ];
    place.good(&more);
    assert_eq!(data("games"), "7");
    assert_eq!(data("logs"), "game-0007.json game-0008.json game-0009.json game-0010.json game-0011.json");
    // Against itself, it has one folder to keep and one to lose; a check keeps nothing.
    place.good(&["play", "connect-five", "Learner", "Learner", "--games", "2"]);
    assert_eq!(data("games"), "9");
    place.good(&["check", "connect-five", "Learner"]);
    assert_eq!(data("games"), "9");
    // In a zip what it learns is there for the matches of one command.
    place.zip("Ana.zip", &[("Learner.py", LEARNER), ("data/games", "40")]);
    let text =
        place.good(&["play", "connect-five", "Ana.zip", "house:random", "--games", "2", "--sandbox", "off"]);
    assert!(!text.contains("fault: "), "{text}");
}

#[test]
fn data_has_a_quota() {
    let greedy = "class Greedy:\n    def get_move(self, board, player, T, N):\n        import time\n        \
                  for n in range(70):\n            open('data/%d' % n, 'wb').write(bytes(1 << 20))\n        time.sleep(5)\n        return 0\n";
    let place = Place::new(&[("Greedy.py", greedy)]);
    let play = ["play", "connect-five", "Greedy.py", "house:random", "--set", "seconds=8"];
    let text = place.good(&play);
    assert!(text.contains("1 crash") && text.contains("data"), "{text}");
    let said = place.five("Greedy.py");
    assert_eq!(
        said,
        "error: Greedy.py: data: holds more than 64 MiB\nhint: leave out what the bot does not need\n"
    );
}

#[test]
fn what_a_killed_run_left_is_cleared_by_the_next() {
    let place = Place::new(&[]);
    let slow =
        "import time\nclass Slow:\n    def get_move(self, board, player, T, N):\n        time.sleep(60)\n";
    place.zip("Slow.zip", &[("Slow.py", slow)]);
    place.zip("Ana.zip", &[("MyBot.py", &player("MyBot"))]);
    let mut killed = Command::new(env!("CARGO_BIN_EXE_agon"))
        .args(["play", "connect-five", "Slow.zip", "house:random", "--set", "seconds=60"])
        .current_dir(place.path(""))
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .env("TMPDIR", place.tmp())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    while place.left().iter().all(|path| !path.display().to_string().contains("agon-bot-")) {
        assert!(Instant::now() < until, "it never began");
        std::thread::sleep(Duration::from_millis(20));
    }
    // Another run leaves what is in use alone.
    let other = common::agon(&place.path(""), &["play", "connect-five", "Ana.zip", "house:random"])
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .env("TMPDIR", place.tmp())
        .output()
        .unwrap();
    assert!(other.status.success() && place.left().len() == 1, "{other:?} {:?}", place.left());
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(place.left().len(), 1);
    place.good(&["play", "connect-five", "Ana.zip", "house:random"]);
}

#[test]
fn a_bot_is_what_its_files_are() {
    let place = Place::new(&[("Bot/Bot.py", &player("Bot")), ("Bot/deep/helper.py", "x = 1\n")]);
    let hash = |bot: &str| {
        let output = place.good(&["check", "connect-five", bot, "--json"]);
        serde_json::from_str::<serde_json::Value>(&output).unwrap()["hash"].as_str().unwrap().to_owned()
    };
    let (folder, file) = (hash("Bot"), hash("Bot/Bot.py"));
    place.write("Bot/data/learnt", "x");
    assert_eq!(hash("Bot"), folder, "what it learns is not what it is");
    place.write("Bot/deep/helper.py", "x = 2\n");
    assert_ne!(hash("Bot"), folder);
    assert_eq!(hash("Bot/Bot.py"), file, "it does not mention the helper");
}

#[test]
fn check_says_yes_or_all_that_is_to_be_mended() {
    let bad = "import os.path as p\nfrom random import choice\nimport no_such_module\n\ndef get_action(state):\n    return eval('choice')(['LEFT'])\n";
    let place = Place::new(&[
        (
            "good/Submission.py",
            "import random\ndef get_action(state, match_history):\n    return random.choice(['LEFT', 'RIGHT'])\n",
        ),
        ("bad/Submission.py", bad),
        ("bad/helper.py", "import sys\ndef (\n"),
        (
            "Late.py",
            "class Late:\n    def get_move(self, board, player, T, N):\n        return 9\n    def train(self): pass\n",
        ),
        ("racer.py", &reader("len(words) > 50000")),
        ("players.yml", "players:\n  - {name: A, directory: ., command: python3 racer.py}\n"),
    ]);
    let text = place.good(&["check", "solitude-scramble", "good"]);
    assert!(text.starts_with("found   yes  good, sha256:") && text.ends_with("yes: accepted\n"), "{text}");
    for bot in ["python3 racer.py", "players.yml#A", "players.yml"] {
        assert!(place.good(&["check", "word-racer", bot]).ends_with("yes: accepted\n"), "{bot}");
    }
    let output = place.run(&["check", "solitude-scramble", "bad"]);
    assert_eq!((output.status.code(), output.stderr.len()), (Some(1), 0), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().skip(1).collect();
    let word = "hint: leave it out: a bot is asked for a move and uses no files, processes or network";
    assert_eq!(
        lines,
        [
            "source  no   2 Python files",
            "    Submission.py, line 1, column 1: imports os, which is not allowed",
            &format!("    {word}"),
            "    Submission.py, line 3, column 1: imports no_such_module, and there is no such module",
            "    hint: only Python's own library, NumPy and files beside the bot can be imported",
            "    Submission.py, line 5, column 1: get_action takes 1 parameters, not 2",
            "    hint: write def get_action(state, match_history)",
            "    Submission.py, line 6, column 12: uses eval, which is not allowed",
            &format!("    {word}"),
            "    helper.py, line 2, column 5: does not parse: invalid syntax",
            "    hint: mend the syntax",
            "loads   no   for what is said of its source",
            "plays   -    it does not load",
            "no: 5 things to mend",
        ]
    );
    let output = place.run(&["check", "connect-five", "Late.py", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&told["agon"], &told["version"], &told["accepted"]),
        (&"check".into(), &1.into(), &false.into())
    );
    assert_eq!(told["steps"][3]["step"], "plays");
    let fault = told["steps"][3]["wrong"][0]["what"].as_str().unwrap();
    assert!(
        fault.starts_with("illegal: ") && fault.ends_with(" (game 1, turn 1, and 1 time more)"),
        "{fault}"
    );
    assert_eq!(told["trials"][0]["faults"], 2);
    let output = place.run(&["check", "connect-five", "house:random"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&output.stderr).starts_with("error: house:random needs no check\nhint: ")
    );
    assert_eq!(place.run(&["check", "connect-five", "Gone.py"]).status.code(), Some(1));
    assert_eq!(place.run(&["check", "chess", "Late.py"]).status.code(), Some(2));
}

#[test]
fn the_source_is_looked_at_without_being_run() {
    // It would stop whoever imports it, and replaces modules that the look itself uses.
    let stop = "raise SystemExit('was run')\n";
    let place = Place::new(&[
        ("bot/Submission.py", "def get_action(state, match_history):\n    return 'LEFT'\n"),
        ("bot/ast.py", stop),
        ("bot/agon_bot/check.py", stop),
        ("bot/unused.py", "import os\nopen('/etc/passwd')\n"),
    ]);
    let output = place.run(&["check", "solitude-scramble", "bot", "--json"]);
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let wrong: Vec<String> = told["steps"][1]["wrong"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            format!("{}:{} {}", one["file"].as_str().unwrap(), one["line"], one["what"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        wrong,
        ["unused.py:1 imports os, which is not allowed", "unused.py:2 uses open, which is not allowed"]
    );
}
