//! Bots that are accepted and bots that are rejected, through the whole command line and in the real sandbox.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::process::{Command, Stdio};

use common::place::{Place, player, reader};

#[test]
fn bot_that_does_not_load_is_rejected_before_the_first_game_with_its_line() {
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
        "error: Broken.py, line 2: does not parse: '(' was never closed\nhint: fix the syntax\n"
    );
    assert_eq!(
        place.five("NoMethod.py"),
        "error: NoMethod.py, line 2: class NoMethod has no method get_move\nhint: write def get_move(self, ...)\n"
    );
    assert_eq!(
        place.five("NoMethod.py:Missing"),
        "error: NoMethod.py:Missing: has no class Missing\nhint: its bot classes: none\n"
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
        "error: Gone.py: the file does not exist\nhint: write the path relative to the current folder\n"
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
fn program_without_a_valid_hello_is_rejected() {
    let place = Place::new(&[
        ("talks.py", "print('hello to you', flush=True)\ninput()\n"),
        ("dies.py", "import sys\nprint('my last words', file=sys.stderr)\nsys.exit(3)\n"),
        ("wrong.py", "input()\nprint('{\"id\": 7}', flush=True)\ninput()\n"),
    ]);
    let hint = "hint: answer every line with one JSON object that repeats its id; see docs/protocol.md\n";
    assert_eq!(
        place.five("python3 talks.py"),
        format!("error: python3 talks.py: answered hello with `hello to you`, which is not JSON\n{hint}")
    );
    assert_eq!(
        place.racer("json:python3 wrong.py"),
        format!(
            "error: json:python3 wrong.py: answered hello with `{{\"id\": 7}}`, which lacks its id, 1\n{hint}"
        )
    );
    assert_eq!(
        place.five("json:python3 dies.py"),
        "error: json:python3 dies.py: ended with status 3 instead of answering hello\nerror:   my last words\n\
         hint: run it by hand and check that it starts\n"
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
fn bot_in_a_zip_plays() {
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
fn zip_with_a_manifest_is_checked_played_and_run() {
    let racer = reader("len(words) > 50000");
    let toml = "command = \"python3 racer.py\"\nprotocol = \"word-racer\"\nname = \"Packed\"\n";
    let cup = "name = \"Zips\"\ngame = \"word-racer\"\nseed = \"zips\"\n\n[[phase]]\nname = \"All\"\nformat = \"round-robin\"\n\
               letters = \"A\"\n\n[[entrant]]\nbot = \"deep.zip\"\n\n[[entrant]]\nbot = \"house:random\"\n";
    let place = Place::new(&[("cup.toml", cup)]);
    place.zip("flat.zip", &[("agon.toml", toml), ("racer.py", &racer)]);
    place.zip("deep.zip", &[("bot/agon.toml", toml), ("bot/racer.py", &racer), ("bot/lib/x.txt", "")]);
    place.zip("script.zip", &[("racer.py", &racer)]);
    place.zip("unbuilt.zip", &[("agon.toml", "command = \"./bot\"\nbuild = \"make\"\n"), ("bot.c", "")]);
    for zip in ["flat.zip", "deep.zip", "script.zip"] {
        let told = place.good(&["check", "word-racer", zip]);
        assert!(told.ends_with("yes: accepted\n"), "{told}");
        let told = place.good(&["play", "word-racer", zip, "house:random", "--seed", "3"]);
        assert!(!told.contains("fault: "), "{told}");
        assert!(zip == "script.zip" || told.contains("Packed"), "{told}");
    }
    place.good(&["run", "cup.toml"]);
    let table = place.good(&["table", "cup.toml"]);
    assert!(table.contains("deep"), "{table}");
    let told = place.racer("unbuilt.zip");
    assert!(told.contains("agon.toml") && told.contains("pack it with the built program"), "{told}");
    assert!(!told.contains("/tmp/"), "the message has a temporary path: {told}");
}

#[test]
fn zip_without_exactly_one_bot_is_rejected() {
    let place = Place::new(&[("Text.zip", "no archive")]);
    place.zip("Ana.zip", &[("../evil.py", "")]);
    place.zip("Two.zip", &[("One.py", &player("One")), ("Two.py", &player("Two"))]);
    place.zip("None.zip", &[("note.txt", "")]);
    place.zip("Racer.zip", &[("racer.py", ""), ("other.py", "")]);
    assert_eq!(
        place.five("Ana.zip"),
        "error: Ana.zip: ../evil.py: the path leaves the archive by `..`\nhint: pack the bot's folder again, with plain file names\n"
    );
    assert_eq!(
        place.five("Two.zip"),
        "error: Two.zip: the archive holds several bots: One.py and Two.py\nhint: put one bot into each archive\n"
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
        "error: Racer.zip: there are several Python files, and it is unclear which is the bot\n\
         hint: add an agon.toml with command = \"python3 FILE.py\"\n"
    );
}

const LIST: &str = "players:\n  - name: Reader\n    directory: racers/one\n    command: python3 racer.py\n\
                    \x20 - name: Other\n    directory: racers/two\n    command: ./no-such-racer\n    language: C\n";

#[test]
fn word_racer_bot_finds_the_word_list_in_its_folder() {
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
    // Control: the same bot fails without the list.
    let text = place.good(&["play", "word-racer", "two.yml", "house:random"]);
    assert!(text.contains("1 crash"), "{text}");
    // A command in the current folder has the list too.
    place.write("racer.py", &reader("len(words) > 50000"));
    let text = place.good(&["play", "word-racer", "python3 racer.py", "house:random"]);
    assert!(!text.contains("fault: ") && !place.path("words.dat").exists(), "{text}");
}

#[test]
fn trial_and_debug_give_the_bot_the_word_list_of_the_settings() {
    let place = Place::new(&[
        ("racers/given/racer.py", &reader("words == ['CAT', 'DOG', '']")),
        ("given.txt", "dog\ncat\n"),
        ("two.yml", "players:\n  - {name: Given, directory: racers/given, command: python3 racer.py}\n"),
    ]);
    let set = ["--set", "words=given.txt"];
    let trial = ["trial", "word-racer", "two.yml", "--opponent", "two.yml", "--games", "1"];
    place.good(&[&trial[..], &set].concat());
    let play = ["play", "word-racer", "two.yml", "house:random", "--record", "a.agon"];
    place.good(&[&play[..], &set].concat());
    let text = place.good(&[&["debug", "a.agon", "--seat", "0"][..], &set].concat());
    assert!(text.contains("no difference: "), "{text}");
}

#[test]
fn players_yml_with_mistakes_is_rejected_with_the_line() {
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
        "error: players.yml, line 3: there is no directory racers/one\nhint: give a path relative to the list's folder\n"
    );
    let said = place.racer("players.yml#Other");
    assert!(said.starts_with("error: players.yml, line 7: there is no file "), "{said}");
    assert_eq!(
        place.racer("typo.yml#A"),
        "error: typo.yml, line 3, column 5: unknown key directry\nhint: did you mean directory? keys are name, directory, command, language\n"
    );
    let said = place.racer("gone.yml#A");
    assert!(said.starts_with("error: gone.yml: cannot read it: No such file"), "{said}");
    assert_eq!(
        place.five("players.yml#Reader"),
        "error: players.yml#Reader: a players.yml is only for Word Racer\nhint: name the bot by its path, or by its command in quotes\n"
    );
}

/// Counts its games in `data/`, and reads the log of each game in `adjust`.
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
        names = [name for name in os.listdir(HERE / 'logs') if name != 'mine']
        names.sort(key=lambda name: int(name[4:-5]))
        log = json.loads((HERE / 'logs' / names[-1]).read_text())
        mine = [turn for turn in log['turns'] if turn['player'] == log['start']['you']]
        assert log['agon'] == 'log' and log['version'] == 2 and log['game'] == 'connect-five'
        assert len(mine) == self.moves and log['start']['you'] == self.me, (len(mine), self.moves)
        assert sum(map(bool, sum(log['turns'][-1]['board'], []))) == len(log['turns'])
        assert set(log['turns'][0]) == {'player', 'board'}
        assert log['result']['score'] in (0, 0.5, 1) and log['result']['ended']
        wins = {1: 'won', 0.5: 'drew', 0: 'lost'}[log['result']['score']]
        other = {'won': self.me, 'lost': 3 - self.me, 'drew': None}[wins]
        assert log['result']['you'] == wins and log['result']['winner'] == other, log['result']
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
fn connect_five_bot_keeps_its_data_and_reads_its_logs() {
    let place = Place::new(&[("Learner/Learner.py", LEARNER), ("Learner/logs/log_7.json", "{}")]);
    let data = |name: &str| fs::read_to_string(place.path("Learner/data").join(name)).unwrap();
    let play = ["play", "connect-five", "Learner", "house:random", "--games", "3", "--seed", "4"];
    let text = place.good(&play);
    assert!(!text.contains("fault: "), "{text}");
    assert_eq!(data("games"), "3");
    assert_eq!(data("logs"), "log_7.json log_8.json log_9.json log_10.json");
    assert_eq!(data("trained"), "yes");
    assert_eq!(
        fs::read_dir(place.path("Learner/logs")).unwrap().count(),
        1,
        "the bot's own folder was changed"
    );
    // The matches of one command run one after the other, whatever the number of threads, and find the data of the previous match.
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
    assert_eq!(data("logs"), "log_7.json log_8.json log_9.json log_10.json log_11.json");
    // Against itself, the bot has one folder that is kept and one that is discarded. A check keeps nothing.
    place.good(&["play", "connect-five", "Learner", "Learner", "--games", "2"]);
    assert_eq!(data("games"), "9");
    place.good(&["check", "connect-five", "Learner"]);
    assert_eq!(data("games"), "9");
    // The data of a bot in a zip lasts for the matches of one command.
    place.zip("Ana.zip", &[("Learner.py", LEARNER), ("data/games", "40")]);
    let text =
        place.good(&["play", "connect-five", "Ana.zip", "house:random", "--games", "2", "--sandbox", "off"]);
    assert!(!text.contains("fault: "), "{text}");
}

#[test]
fn data_above_the_quota_is_a_fault() {
    let greedy = "class Greedy:\n    def get_move(self, board, player, T, N):\n        import time\n        \
                  for n in range(70):\n            open('data/%d' % n, 'wb').write(bytes(1 << 20))\n        time.sleep(5)\n        return 0\n";
    let place = Place::new(&[("Greedy.py", greedy)]);
    let play = ["play", "connect-five", "Greedy.py", "house:random", "--set", "seconds=8"];
    let text = place.good(&play);
    // Without namespaces the folder is measured, and the bot is killed.
    assert!(text.contains("1 crash"), "{text}");
    assert!(text.contains("No space left on device") || text.contains("wrote more than allowed"), "{text}");
    assert!(place.path("data").is_dir());
    for number in 0..65 {
        fs::write(place.path(&format!("data/{number}")), vec![0; 1 << 20]).unwrap();
    }
    let said = place.five("Greedy.py");
    assert_eq!(
        said,
        "error: Greedy.py: data: holds more than 64 MiB\nhint: leave out what the bot does not need\n"
    );
}

#[test]
fn leftovers_of_a_killed_run_are_removed_by_the_next_run() {
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
    agon_test_servers::wait_until("it begins", || {
        place.left().iter().any(|path| path.display().to_string().contains("agon-bot-"))
    });
    // Another run does not touch files in use.
    let other = common::agon(&place.path(""), &["play", "connect-five", "Ana.zip", "house:random"])
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .env("TMPDIR", place.tmp())
        .output()
        .unwrap();
    assert!(other.status.success() && place.left().len() == 1, "{other:?} {:?}", place.left());
    killed.kill().unwrap();
    killed.wait().unwrap();
    // The bot's launcher removes the files as soon as the engine is gone. The next run removes the rest.
    assert!(place.left().len() <= 1, "{:?}", place.left());
    place.good(&["play", "connect-five", "Ana.zip", "house:random"]);
}
