//! `agon trial`: times of bots, and profiles of Python bots.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::path::Path;
use std::process::Output;

use common::{agon, folder_with, good, line_to_paste, masked_times, paste, python};
use serde_json::Value as Json;

/// Plays the first free column. Its third move takes at least 30 ms of processor time.
const THINKER: &str = "import time

class Thinker:
    asked = 0

    def get_move(self, board, player, T, N):
        self.asked += 1
        if self.asked == 3:
            self.think(0.03)
        return next(c for c in range(9) if not board[0][c])

    def think(self, seconds):
        start = time.thread_time()
        while time.thread_time() - start < seconds:
            self.hot = sum(range(2000))
";

fn run(folder: &Path, arguments: &[&str]) -> Output {
    agon(folder, arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json(folder: &Path, arguments: &[&str]) -> Json {
    serde_json::from_str(&good(&run(folder, &[arguments, &["--json"]].concat()))).unwrap()
}

#[test]
fn trial_prints_a_row_for_each_bot() {
    let folder = folder_with(&[("Thinker.py", THINKER)]);
    let words = ["trial", "connect-five", "Thinker.py", "house:stacker", "--games", "2", "--seed", "7"];
    let text = good(&run(folder.path(), &[&words[..], &["--set", "special=7,8"]].concat()));
    insta::assert_snapshot!(masked_times(&text));
}

#[test]
fn figures_are_computed_from_the_moves() {
    let folder = folder_with(&[("Thinker.py", THINKER)]);
    let trial = json(folder.path(), &["trial", "connect-five", "Thinker.py", "--games", "3", "--seed", "7"]);
    assert_eq!((&trial["agon"], &trial["version"]), (&Json::from("trial"), &Json::from(1)));
    let bot = &trial["bots"][0];
    let time = |name: &str| bot["time_us"][name].as_f64().unwrap();
    assert!(time("min") <= time("p50") && time("p50") <= time("p99") && time("p99") <= time("max"), "{bot}");
    assert!(time("max") >= 30_000.0 && time("min") < 30_000.0, "{bot}");
    let (moves, used) = (bot["moves"].as_f64().unwrap(), bot["clock_used"].as_f64().unwrap());
    assert!(time("mean") * moves >= time("max") && time("mean") <= time("max"), "{bot}");
    assert!((used - time("max") / 1e6).abs() < 1e-6, "share of the limit of 1 s: {bot}");
    // The same number of moves as when the same games are played.
    let play = ["play", "connect-five", "Thinker.py", "house:random", "--games", "3", "--seed", "7"];
    let played = json(folder.path(), &play);
    assert_eq!(bot["moves"], played["seats"][0]["answers"]);
    assert_eq!(bot["games"], 3);
}

#[test]
fn time_bank_is_compared_with_all_moves_of_a_game() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bots/python");
    let trial = json(&examples, &["trial", "word-racer", "python3 word_racer.py", "--games", "1"]);
    let bot = &trial["bots"][0];
    let spent = bot["time_us"]["mean"].as_f64().unwrap() * bot["moves"].as_f64().unwrap() / 1e7;
    let used = bot["clock_used"].as_f64().unwrap();
    assert!(bot["moves"] == 48 && (used - spent).abs() < 1e-4 && used > 0.0, "{bot}");
}

#[test]
fn bot_is_timed_in_each_role_that_it_can_play() {
    let house = json(Path::new("."), &["trial", "hide-and-seek", "house:still-hider", "--set", "steps=20"]);
    let roles = |trial: &Json| -> Vec<String> {
        trial["bots"].as_array().unwrap().iter().map(|bot| bot["role"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(roles(&house), ["hider"]);
    let Some(python) = python() else { return };
    let folder = folder_with(&[("mine.py", "class Seeker(Player):\n    def move(self):\n        pass\n")]);
    let words = ["trial", "hide-and-seek", "mine.py", "--set", "steps=20", "--games", "2", "--json"];
    let output = agon(folder.path(), &words).env("AGON_PYTHON", python).output().unwrap();
    let trial: Json = serde_json::from_str(&good(&output)).unwrap();
    assert_eq!((roles(&trial), &trial["bots"][0]["games"]), (vec!["seeker".to_owned()], &Json::from(2)));
    assert!(said(&output).starts_with("note: mine does not play the hider: "), "{}", said(&output));
}

#[test]
fn bot_without_an_answer_is_a_negative_result() {
    let folder = folder_with(&[(
        "Broken.py",
        "class Broken:\n    def get_move(self, *_):\n        raise ValueError('alas')\n",
    )]);
    let output = run(folder.path(), &["trial", "connect-five", "Broken.py", "--profile", "a.prof"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("gave no answer") && said(&output).contains("alas"), "{}", said(&output));
    assert!(!folder.path().join("a.prof").exists());
    let shown = good(&paste(folder.path(), line_to_paste(&said(&output), "fault.agon")));
    assert!(shown.contains("ValueError: alas") && shown.contains("now (same)"), "{shown}");
}

#[test]
fn line_after_the_first_fault_plays_its_game_again() {
    let late = "class Late:\n    def get_move(self, board, player, T, N):\n        \
                return 9 if N == 1 else next(c for c in range(9) if not board[0][c])\n    def adjust(self): pass\n";
    let fails = late.replace("Late", "Fails").replace("9 if", "0 if").replace("pass", "return 1 / 0");
    let folder = folder_with(&[("Late.py", late), ("Fails.py", &fails)]);
    let words = ["trial", "connect-five", "Late.py", "Fails.py", "--games", "3", "--seed", "7"];
    let text = good(&run(folder.path(), &words));
    assert!(text.contains("\nfirst fault of Late: game 2, turn "), "{text}");
    let line = line_to_paste(&text, "Late.py");
    let start =
        "agon play connect-five Late.py house:random --seed 7 --games 2 --record fault.agon; agon debug ";
    assert!(line.starts_with(start), "{line}");
    let shown = good(&paste(folder.path(), line));
    assert!(shown.contains("illegal") && shown.contains("now (same)"), "{shown}");
    // A fault after a game is one too.
    assert!(text.contains("\nfirst fault of Fails: game 1, after its end: crash: adjust(): "), "{text}");
    std::fs::remove_file(folder.path().join("fault.agon")).unwrap();
    let shown = good(&paste(folder.path(), line_to_paste(&text, "Fails.py")));
    assert!(shown.contains("ZeroDivisionError") && shown.contains("now (same)"), "{shown}");
}

#[test]
fn profile_opens_with_pstats_and_names_the_hot_line() {
    let hot = THINKER.replace("self.asked == 3", "True");
    let folder = folder_with(&[("my bots/Thinker.py", &hot)]);
    let words =
        ["trial", "connect-five", "my bots/Thinker.py", "--games", "1", "--seed", "7", "--profile", "a.prof"];
    let trial = json(folder.path(), &words);
    let hottest = trial["profile"]["hottest"].as_array().unwrap();
    assert!(!hottest.is_empty() && hottest.len() <= 10, "{hottest:?}");
    let (first, share) = (&hottest[0], hottest[0]["share"].as_f64().unwrap());
    assert_eq!(
        (&first["file"], &first["line"]),
        (&Json::from("my bots/Thinker.py"), &Json::from(15)),
        "{hottest:?}"
    );
    assert_eq!(first["text"], "self.hot = sum(range(2000))");
    assert!(share > 0.5 && share <= 1.0, "{hottest:?}");
    let open = "import pstats, sys\nstats = pstats.Stats('a.prof')\n\
                names = {name for _, _, name in stats.stats}\nfiles = {file for file, _, name in stats.stats if name == 'think'}\n\
                import os\nsys.exit(not {'think', 'get_move'} <= names or files != {os.path.realpath('my bots/Thinker.py')})";
    let python = std::env::var_os("AGON_PYTHON").unwrap_or_else(|| "python3".into());
    let opened =
        std::process::Command::new(python).args(["-c", open]).current_dir(folder.path()).output().unwrap();
    assert!(opened.status.success(), "{}", String::from_utf8_lossy(&opened.stderr));
}

#[test]
fn profile_of_a_stateless_bot_and_of_a_numpy_bot_is_written() {
    let submission = "def get_action(state, match_history):\n    for i in range(20000):\n        last = i * i\n    return 'LEFT'\n";
    let folder = folder_with(&[
        ("solitude/Submission.py", submission),
        (
            "Painter.py",
            "import numpy as np\nfrom bot_control import Move\nclass Painter:\n    def determine_next_move(self, grid, enemies, game_info):\n        \
             for i in range(3000):\n            best = i * i\n        return Move.UP\n",
        ),
    ]);
    let words = ["trial", "solitude-scramble", "solitude", "--games", "1", "--profile", "a.prof"];
    let text = good(&run(folder.path(), &words));
    assert!(text.contains("Submission.py:3") && text.contains("last = i * i"), "{text}");
    let Some(python) = python() else { return };
    let words =
        ["trial", "colour-battle", "Painter.py", "--set", "rounds=20", "--games", "1", "--profile", "b.prof"];
    let text = good(&agon(folder.path(), &words).env("AGON_PYTHON", python).output().unwrap());
    assert!(text.contains("Painter.py:6") && folder.path().join("b.prof").is_file(), "{text}");
}

/// The product runs in C without a chance to handle a signal, and its function returns at once.
const MULTIPLIER: &str = "import numpy as np

class Multiplier:
    def __init__(self):
        self.a = np.ones((300, 300))

    def multiply(self):
        self.b = self.a @ self.a

    def get_move(self, board, player, T, N):
        self.multiply()
        free = [c for c in range(9) if not board[0][c]]
        return free[0]
";

#[test]
fn profile_shows_a_numpy_product_at_its_own_line() {
    let Some(python) = python() else { return };
    let folder = folder_with(&[("bots/Multiplier.py", MULTIPLIER)]);
    let words =
        ["trial", "connect-five", "bots/Multiplier.py", "--games", "1", "--profile", "a.prof", "--json"];
    let output = agon(folder.path(), &words).env("AGON_PYTHON", python).output().unwrap();
    let trial: Json = serde_json::from_str(&good(&output)).unwrap();
    let hottest = trial["profile"]["hottest"].as_array().unwrap();
    let share_of = |line: u64| {
        let at = |one: &&Json| one["line"] == line && one["file"] == "bots/Multiplier.py";
        hottest.iter().find(at).map_or(0.0, |one| one["share"].as_f64().unwrap())
    };
    assert_eq!(hottest[0]["text"], "self.b = self.a @ self.a", "{hottest:?}");
    assert!(share_of(8) > 0.5 && share_of(11) + share_of(12) < 0.4, "{hottest:?}");
}

#[test]
fn profile_is_taken_in_the_sandbox() {
    let spy = "class Spy:\n    def get_move(self, board, player, T, N):\n        try:\n            open('/etc/passwd').close()\n        \
               except OSError:\n            for i in range(20000): shut = i\n        else:\n            for i in range(20000): free = i\n        \
               return next(c for c in range(9) if not board[0][c])\n";
    let folder = folder_with(&[("Spy.py", spy)]);
    let words = ["trial", "connect-five", "Spy.py", "--games", "1", "--profile", "a.prof"];
    let line = |more: &[&str]| {
        json(folder.path(), &[&words[..], more].concat())["profile"]["hottest"][0]["line"].clone()
    };
    assert_eq!(line(&[]), 6, "the sandbox does not protect the file");
    assert_eq!(line(&["--sandbox", "off"]), 8, "control without the sandbox");
}

#[test]
fn invalid_trial_options_are_rejected_before_any_game() {
    let folder = folder_with(&[("Thinker.py", THINKER), ("bot.sh", "")]);
    let cases: [(&[&str], i32, &str); 9] = [
        (&["connect-five", "house:random", "--profile", "a.prof"], 2, "perf record"),
        (&["connect-five", "Thinker.py", "house:random", "--profile", "a.prof"], 2, "name one bot"),
        (&["connect-five", "Thinker.py", "--profile", "no/such/a.prof"], 2, "choose an existing folder"),
        (&["connect-five", "Thinker.py", "--role", "seeker"], 2, "use one of: player"),
        (&["connect-five", "human"], 2, "name a bot"),
        (&["connect-five", "Thinker.py", "--opponent", "human"], 2, "name a bot"),
        (&["connect-five", "house:randm"], 2, "did you mean house:random?"),
        (&["connect-five", "Thinker.py", "--games", "0"], 2, "omit it"),
        (&["solitude-scramble", "house:left", "--seats", "5"], 2, "--seats 4"),
    ];
    for (words, code, hint) in cases {
        let output = run(folder.path(), &[&["trial"], words].concat());
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", said(&output));
        assert!(said(&output).contains("\nhint: ") && said(&output).contains(hint), "{}", said(&output));
        assert!(output.stdout.is_empty());
    }
}
