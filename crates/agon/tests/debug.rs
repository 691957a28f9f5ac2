//! `agon debug`: asks one bot of a record again.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use common::{agon, folder_with, good, line_to_paste, masked_times, paste, python};
use serde_json::Value as Json;

/// Counts its moves over the games of a match, draws from its seed, prints, and fails at its third move of game 2.
const COUNTER: &str = "import random

class Counter:
    asked = late = 0

    def get_move(self, board, player, T, N):
        self.asked += 1
        self.late += N
        print('asked', self.asked)
        if self.late == 3:
            raise ValueError('three is too much')
        free = [c for c in range(9) if not board[0][c]]
        return free[(self.asked + random.randrange(9)) % len(free)]
";

fn run(folder: &Path, arguments: &[&str]) -> Output {
    agon(folder, arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Plays Connect Five with the counter and writes the record `a.agon`. The fault is in game 2.
fn counted(games: &str) -> tempfile::TempDir {
    let folder = folder_with(&[("Counter.py", COUNTER)]);
    let play = ["play", "connect-five", "Counter.py", "house:random", "--seed", "11", "--set", "special=7,8"];
    good(&run(folder.path(), &[&play[..], &["--games", games, "--record", "a.agon"]].concat()));
    folder
}

fn json(folder: &Path, arguments: &[&str]) -> (Option<i32>, Json) {
    let output = run(folder, &[&["debug"], arguments, &["--json"]].concat());
    (output.status.code(), serde_json::from_str(&text(&output.stdout)).unwrap())
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bots/python")
}

#[test]
fn programs_and_house_bots_of_all_games_give_the_same_answers() {
    let out = folder_with(&[]);
    let record = out.path().join("a.agon");
    let record = record.to_str().unwrap();
    let games: [&[&str]; 6] = [
        &["solitude-scramble", "python3 bot.py", "house:mastermind", "house:left", "house:random"],
        &["colour-battle", "python3 bot.py", "house:random", "--set", "rounds=20"],
        &["connect-five", "python3 bot.py", "house:mcts", "--set", "special=0,8"],
        &["hide-and-seek", "python3 bot.py", "house:running-hider", "--set", "steps=60"],
        &["word-racer", "python3 word_racer.py", "house:filler"],
        &["word-racer", "json:python3 bot.py", "house:random"],
    ];
    for game in games {
        let play = [&["play"], game, &["--seed", "7", "--force", "--record", record]].concat();
        good(&run(&examples(), &play));
        for seat in ["0", "1"] {
            let (code, found) = json(&examples(), &[record, "--seat", seat]);
            assert_eq!((code, &found["same"]), (Some(0), &Json::from(true)), "{game:?} seat {seat}: {found}");
            assert!(found["asked"].as_u64().unwrap() >= 5, "{game:?} seat {seat}: {found}");
        }
    }
}

#[test]
fn python_bots_of_all_apis_give_the_same_answers() {
    let bots = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/tests/bots");
    let out = folder_with(&[(
        "both.py",
        "import random\nclass Seeker(Player):\n    def move(self):\n        random.random()\n        self.pos = (self.pos[0] + random.choice((0, 1)), self.pos[1])\n\
         class Hider(Seeker):\n    pass\n",
    )]);
    let record = out.path().join("a.agon");
    let (record, both) = (record.to_str().unwrap(), out.path().join("both.py"));
    let both = both.to_str().unwrap();
    let python = python();
    let mut games: Vec<Vec<&str>> = vec![
        vec!["solitude-scramble", "solitude_random", "solitude_greedy", "house:left", "solitude_random"],
        vec!["connect-five", "RandomBot", "house:stacker"],
    ];
    if python.is_some() {
        games.push(vec!["colour-battle", "colour/always_up.py", "house:random", "--set", "rounds=20"]);
        games.push(vec!["hide-and-seek", both, both, "--set", "steps=40"]);
    }
    for game in games {
        let with_python = |arguments: &[&str]| {
            let mut command = agon(&bots, arguments);
            if let Some(python) = &python {
                command.env("AGON_PYTHON", python);
            }
            command.output().unwrap()
        };
        good(&with_python(&[&["play"], &game[..], &["--seed", "7", "--force", "--record", record]].concat()));
        for seat in ["0", "1"] {
            let output = with_python(&["debug", record, "--seat", seat]);
            assert!(good(&output).contains("all as recorded"), "{game:?}");
        }
    }
}

#[test]
fn bot_of_a_match_has_the_knowledge_of_the_earlier_games() {
    let folder = counted("3");
    let (code, found) = json(folder.path(), &["a.agon", "--seat", "0", "--game", "2"]);
    assert_eq!((code, &found["same"]), (Some(0), &Json::from(true)), "{found}");
    // Control: without the first game, the answers in the second game differ.
    let records = fs::read(folder.path().join("a.agon")).unwrap();
    let second = agon_core::record::read(&records, 1).unwrap().1;
    fs::write(folder.path().join("b.agon"), second).unwrap();
    let (code, found) = json(folder.path(), &["b.agon", "--seat", "0"]);
    assert_eq!((code, &found["same"]), (Some(1), &Json::from(false)), "{found}");
}

#[test]
fn turn_is_shown_with_observation_answers_times_and_output() {
    let folder = counted("1");
    let output = run(folder.path(), &["debug", "a.agon", "--seat", "0", "--turn", "3"]);
    insta::assert_snapshot!(masked_times(&good(&output)));
    let (_, found) = json(folder.path(), &["a.agon", "--seat", "0", "--turn", "3"]);
    let turn = &found["turn"];
    assert_eq!((&turn["turn"], &turn["printed"]), (&Json::from(3), &Json::from("asked 2\n")), "{found}");
    assert_eq!(
        (&turn["observation"]["player"], &turn["recorded"]["answer"]),
        (&Json::from(1), &turn["now"]["answer"])
    );
}

#[test]
fn fault_is_shown_with_its_traceback_and_compared() {
    let folder = counted("2");
    let words = ["debug", "a.agon", "--seat", "0", "--game", "2"];
    let (_, found) = json(folder.path(), &words[1..]);
    assert_eq!(found["same"], true, "{found}");
    let replay: Json =
        serde_json::from_str(&good(&run(folder.path(), &["replay", "a.agon", "--game", "2", "--json"])))
            .unwrap();
    let turn = replay["games"][0]["faults"][0]["turn"].to_string();
    let shown = good(&run(folder.path(), &[&words[..], &["--turn", &turn]].concat()));
    assert_eq!(shown.matches("ValueError: three is too much").count(), 2, "recorded and now: {shown}");
    assert!(shown.contains("File \"Counter.py\", line 11, in get_move"), "{shown}");
    // The fixed bot answers where the record has a crash.
    fs::write(folder.path().join("Counter.py"), COUNTER.replace("== 3", "== 99")).unwrap();
    let output = run(folder.path(), &words);
    assert_eq!(output.status.code(), Some(1));
    let (out, said) = (text(&output.stdout), text(&output.stderr));
    assert!(
        out.contains(&format!("first difference: game 2, turn {turn}, move\nrecorded        crash")),
        "{out}"
    );
    assert!(said.starts_with("note: Counter.py has changed since the game was recorded\n"), "{said}");
    assert!(said.contains(&format!("hint: --game 2 --turn {turn} ")), "{said}");
}

#[test]
fn first_answer_that_differs_is_reported() {
    let folder = counted("1");
    let other = "class Other:\n    asked = 0\n    def get_move(self, board, player, T, N):\n        self.asked += 1\n        \
                 print('other', self.asked)\n        return WANTED[self.asked - 1]\n";
    let replay: Json =
        serde_json::from_str(&good(&run(folder.path(), &["replay", "a.agon", "--json"]))).unwrap();
    let turns: Vec<u32> = replay["games"][0]["turns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t.as_str().unwrap().parse().unwrap())
        .collect();
    // The recorded answers of seat 0, except the third.
    let mut wanted: Vec<u32> = turns.iter().step_by(2).copied().collect();
    wanted[2] = (wanted[2] + 1) % 9;
    fs::write(folder.path().join("Other.py"), format!("WANTED = {wanted:?}\n{other}")).unwrap();
    let (code, found) = json(folder.path(), &["a.agon", "--seat", "0", "--bot", "Other.py"]);
    let first = &found["first_difference"];
    assert_eq!(
        (code, &first["turn"], &found["bot_changed"]),
        (Some(1), &Json::from(5), &Json::from(true)),
        "{found}"
    );
    assert_eq!(first["now"]["answer"], wanted[2].to_string(), "{found}");
    assert_eq!((&first["printed"], &found["asked"]), (&Json::from("other 3\n"), &Json::from(3)), "{found}");
}

#[test]
fn debug_has_no_time_limit() {
    let slow = "import time\nclass Slow:\n    def get_move(self, board, player, T, N):\n        start = time.thread_time()\n        \
                while time.thread_time() - start < 0.2: pass\n        return 4\n";
    let folder = folder_with(&[("Slow.py", slow)]);
    let play =
        ["play", "connect-five", "Slow.py", "house:random", "--set", "seconds=0.05", "--record", "a.agon"];
    good(&run(folder.path(), &play));
    let (code, found) = json(folder.path(), &["a.agon", "--seat", "0", "--turn", "1"]);
    let turn = &found["turn"];
    assert_eq!((code, &turn["recorded"]["fault"]["fault"]), (Some(1), &Json::from("timeout")), "{found}");
    assert_eq!(turn["now"]["answer"], "4", "{found}");
}

#[test]
fn pdb_stops_in_the_function_of_the_bot() {
    let folder = counted("2");
    let debug = |words: &[&str], typed: &str| {
        let words = [&["debug", "a.agon", "--seat", "0", "--pdb"], words].concat();
        agon(folder.path(), &words).write_stdin(typed).output().unwrap()
    };
    let output = debug(&["--game", "1", "--turn", "3"], "p self.asked, player\nw\nn\np self.asked\nc\n");
    let shown = good(&output);
    for part in
        ["Counter.py(7)get_move()\n-> self.asked += 1\n", "(Pdb) (1, 1)\n", "(Pdb) 2\n", "\nnow (same)"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(text(&output.stderr).contains("without the sandbox and without time limits"));
    // Without --turn it stops at the recorded fault.
    let shown = good(&debug(&["--game", "2"], "p self.late, N\nc\n"));
    assert!(
        shown.contains("(Pdb) (2, 1)\n") && shown.matches("ValueError: three is too much").count() == 2,
        "{shown}"
    );
    // An answer changed in the debugger is different; quitting gives no answer.
    let output = debug(&["--game", "1", "--turn", "1"], "!self.asked = 5\nc\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("\nnow (DIFFERENT)"), "{}", text(&output.stdout));
    assert!(good(&debug(&["--game", "1", "--turn", "1"], "q\n")).contains("quit the debugger"));
    assert!(
        good(&debug(&["--game", "1", "--turn", "1"], "")).contains("quit the debugger"),
        "end of input quits the debugger"
    );
}

#[test]
fn pdb_stops_in_bots_of_the_other_apis() {
    let folder = folder_with(&[
        (
            "sol/Submission.py",
            "import random\ndef get_action(state, match_history):\n    return random.choice(['LEFT', 'RIGHT', 'CENTER'])\n",
        ),
        (
            "Up.py",
            "from bot_control import Move\nclass Up:\n    def determine_next_move(self, grid, enemies, game_info):\n        return Move.UP\n",
        ),
        ("still.py", "class Seeker(Player):\n    def move(self):\n        self.pos = self.pos\n"),
    ]);
    let mut cases: Vec<(&[&str], &str, &str)> = vec![(
        &["solitude-scramble", "sol", "house:left", "house:left", "house:left"],
        "p state['current_turn'], len(match_history)\nc\n",
        "(4, 3)",
    )];
    let python = python();
    if python.is_some() {
        let rounds = &["colour-battle", "Up.py", "house:random", "--set", "rounds=5"];
        cases.push((rounds, "p game_info.current_round, grid.dtype\nc\n", "(4, dtype('int16'))"));
        let steps = &["hide-and-seek", "still.py", "house:still-hider", "--set", "steps=9"];
        cases.push((steps, "p len(self.pos), self.enemy_is_visible in (0, 1)\nc\n", "(2, True)"));
    }
    for (game, typed, expected) in cases {
        let with_python = |arguments: &[&str], typed: &str| {
            let mut command = agon(folder.path(), arguments);
            if let Some(python) = &python {
                command.env("AGON_PYTHON", python);
            }
            good(&command.write_stdin(typed).output().unwrap())
        };
        with_python(&[&["play"], game, &["--seed", "7", "--force", "--record", "a.agon"]].concat(), "");
        // In Hide and Seek a turn is a step of both. The seeker is asked in each.
        let shown = with_python(&["debug", "a.agon", "--seat", "0", "--turn", "4", "--pdb"], typed);
        assert!(
            shown.contains(&format!("(Pdb) {expected}\n")) && shown.contains("now (same)"),
            "{game:?}: {shown}"
        );
    }
}

#[test]
fn invalid_game_seat_or_turn_is_rejected_with_the_valid_range() {
    let folder = counted("2");
    let human = ["play", "connect-five", "human", "house:random", "--record", "h.agon"];
    good(&agon(folder.path(), &human).write_stdin("quit\n").output().unwrap());
    let cases: [(&[&str], &str); 11] = [
        (&["a.agon", "--seat", "0"], "--game K, from 1 to 2"),
        (&["a.agon", "--seat", "0", "--game", "3"], "from 1 to 2"),
        (&["a.agon", "--seat", "2", "--game", "1"], "seats are 0 Counter, 1 random"),
        (&["a.agon", "--seat", "0", "--game", "1", "--turn", "2"], "the nearest is --turn "),
        (&["a.agon", "--seat", "0", "--game", "1", "--turn", "9999"], "from turn 1 to turn "),
        (&["a.agon", "--seat", "0", "--game", "1", "--turn", "0"], "from turn 1 to turn "),
        (&["h.agon", "--seat", "0"], "use --bot BOT"),
        (&["a.agon", "--seat", "1", "--game", "1", "--pdb"], "without --pdb"),
        (&["a.agon", "--seat", "1", "--game", "1", "--bot", "house:randm"], "did you mean house:random?"),
        (&["a.agon", "--game", "1"], "agon debug"),
        (&["a.agon", "--seat", "0", "--game", "1", "--pdb", "--json"], "agon debug"),
    ];
    for (words, hint) in cases {
        let output = run(folder.path(), &[&["debug"], words].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains("\nhint: ") && said.contains(hint), "{words:?}: {said}");
    }
    let word_racer = ["play", "word-racer", "python3 word_racer.py", "house:filler", "--record"];
    let record = folder.path().join("w.agon");
    let record = record.to_str().unwrap();
    good(&run(&examples(), &[&word_racer[..], &[record]].concat()));
    for words in [["--sandbox", "off"], ["--turn", "1"]] {
        let pdb: &[&str] = if words[0] == "--turn" { &["--pdb"] } else { &[] };
        let output = run(&examples(), &[&["debug", record, "--seat", "0"], &words[..], pdb].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("--bot COMMAND"), "{}", text(&output.stderr));
    }
    fs::remove_file(folder.path().join("Counter.py")).unwrap();
    let said = text(&run(folder.path(), &["debug", "a.agon", "--seat", "0", "--game", "1"]).stderr);
    assert!(said.contains("the folder where it was played") && said.contains("--bot BOT"), "{said}");
}

#[test]
fn output_of_a_stateless_call_is_shown() {
    let bot = "import json, sys\nfor line in sys.stdin:\n    message = json.loads(line)\n    reply = {'id': message['id']}\n    \
               if message['type'] == 'turn':\n        print('thinking', file=sys.stderr)\n        reply['answer'] = 'LEFT'\n    \
               print(json.dumps(reply), flush=True)\n";
    let folder = folder_with(&[("bot.py", bot)]);
    let play = ["play", "solitude-scramble", "python3 bot.py", "house:left", "house:left", "house:left"];
    good(&run(folder.path(), &[&play[..], &["--record", "a.agon"]].concat()));
    let (_, found) = json(folder.path(), &["a.agon", "--seat", "0", "--turn", "1"]);
    assert_eq!(found["turn"]["printed"], "thinking\n", "{found}");
}

/// Fails after each game.
const FAILING: &str = "class Failing:
    def get_move(self, board, player, T, N):
        return board[0].index(0)

    def adjust(self):
        raise ValueError('no lesson')
";

#[test]
fn line_after_a_fault_in_adjust_shows_the_exception_again() {
    let folder = folder_with(&[("Failing.py", FAILING)]);
    let play = ["play", "connect-five", "Failing.py", "house:random", "--seed", "5", "--games", "3"];
    let played = good(&run(folder.path(), &play));
    let line = line_to_paste(&played, "fault.agon");
    let start =
        "agon play connect-five Failing.py house:random --seed 5 --games 1 --record fault.agon; agon debug ";
    assert!(line.starts_with(start), "{line}");
    let shown = good(&paste(folder.path(), line));
    assert!(shown.contains("\nafter the end of the game, which had "), "{shown}");
    // Recorded and now.
    assert!(shown.matches("  adjust(): ValueError: no lesson\n").count() >= 2, "{shown}");
    assert!(shown.contains("Failing.py\", line 6, in adjust") && shown.contains("now (same)"), "{shown}");
    let (_, debug) = line.split_once("; agon ").unwrap();
    let debug: Vec<&str> = debug.split(' ').collect();
    let (code, found) = json(folder.path(), &debug[1..]);
    let end = &found["turn"];
    assert_eq!((code, &end["request"], &end["same"]), (Some(0), &Json::from("end"), &Json::from(true)));
    assert!(end["now"]["fault"]["says"].as_str().unwrap().contains("no lesson"), "{found}");
    // The fixed bot does not fail there.
    fs::write(folder.path().join("Failing.py"), FAILING.replace("raise", "return")).unwrap();
    let output = run(folder.path(), &debug);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("\nnow (DIFFERENT) no fault\n"), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("after its end differs from the record"), "{output:?}");
}

#[test]
fn end_of_a_game_is_a_turn_only_for_a_bot_that_fails_there() {
    let folder = folder_with(&[("Failing.py", FAILING)]);
    let play = ["play", "connect-five", "Failing.py", "house:random", "--record", "a.agon"];
    let played = good(&run(folder.path(), &play));
    let line = line_to_paste(&played, "a.agon");
    let words: Vec<&str> = line.strip_prefix("agon ").unwrap().split(' ').collect();
    assert_eq!(words[..6], ["debug", "a.agon", "--game", "1", "--seat", "0"], "{line}");
    let said = |words: &[&str]| {
        let output = run(folder.path(), words);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {output:?}");
        text(&output.stderr)
    };
    let pdb = said(&[&words[..], &["--pdb"]].concat());
    assert!(pdb.contains("the game is over after turn ") && pdb.contains("hint: omit --pdb"), "{pdb}");
    let mut other = words.clone();
    other[5] = "1";
    assert!(said(&other).contains("does not exist"), "{}", said(&other));
}

/// A virtual environment `env` in the folder, with a module `only_here` that names a column that does not exist.
fn environment(folder: &Path) -> Option<()> {
    let python = python()?.canonicalize().ok()?;
    let venv = folder.join("env");
    let mut command = std::process::Command::new(python);
    let made = command.args(["-m", "venv", "--without-pip", "--symlinks"]).arg(&venv).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let lib = fs::read_dir(venv.join("lib")).unwrap().flatten().next().unwrap().path();
    fs::write(lib.join("site-packages/only_here.py"), "COLUMN = 9\n").unwrap();
    Some(())
}

#[test]
fn line_after_a_fault_keeps_the_interpreter_and_the_forbidden_libraries() {
    let bot = |name: &str, column: &str| {
        format!("class {name}:\n    def get_move(self, board, player, T, N):\n        return {column}\n")
    };
    let needs_it = format!("import only_here\n{}", bot("Needs", "only_here.COLUMN"));
    let folder = folder_with(&[("five/Needs.py", &needs_it), ("five/Plain.py", &bot("Plain", "9"))]);
    if environment(folder.path()).is_none() {
        return;
    }
    let play = ["play", "connect-five", "five/Needs.py", "house:random", "--seed", "5", "--python", "env"];
    let played = good(&run(folder.path(), &play));
    let line = line_to_paste(&played, "fault.agon");
    assert_eq!(
        line,
        "agon play connect-five five/Needs.py house:random --seed 5 --python env --games 1 --record fault.agon; \
         agon debug fault.agon --game 1 --seat 0 --turn 1 --python env"
    );
    let shown = good(&paste(folder.path(), line));
    assert!(shown.contains("now (same)") && shown.contains("illegal"), "{shown}");
    let check = ["check", "connect-five", "five/Plain.py", "--python", "env", "--forbid", "heapq"];
    let checked = run(folder.path(), &check);
    assert_eq!(checked.status.code(), Some(1), "{checked:?}");
    let checked = text(&checked.stdout);
    let line = line_to_paste(&checked, "fault-2.agon");
    let start = "agon check connect-five five/Plain.py --python env --forbid heapq --record fault-2.agon; agon debug ";
    assert!(line.starts_with(start) && line.ends_with(" --python env"), "{line}");
    assert!(good(&paste(folder.path(), line)).contains("illegal"), "{line}");
}

/// A fault that costs the match ends it, so the record has fewer games than were asked for.
#[test]
fn line_after_a_fault_counts_the_games_of_the_record() {
    let folder = folder_with(&[("Failing.py", FAILING)]);
    let play = ["play", "connect-five", "Failing.py", "house:random", "--seed", "5", "--games", "4"];
    let played = good(&run(folder.path(), &[&play[..], &["--match-games", "2"]].concat()));
    assert!(played.contains("fault: game 3, after its end, Failing: "), "{played}");
    let line = line_to_paste(&played, " --games 3 ");
    assert!(
        line.contains(" --match-games 2 ") && line.contains("; agon debug fault.agon --game 2 "),
        "{line}"
    );
    let shown = good(&paste(folder.path(), line));
    assert!(shown.contains("adjust(): ValueError: no lesson"), "{shown}");
}
