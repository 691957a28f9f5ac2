//! The trial of `agon check`: warnings, games of full length, records and logs; the line to paste after a fault; hints for common mistakes.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::process::Output;

use common::place::{Place, player};
use serde_json::Value as Json;

/// Raises an exception in this round and in no other.
fn painter(round: u32) -> String {
    format!(
        "from bot_control import Move\n\nclass Painter:\n    def get_name(self): return 'Painter'\n    \
         def get_contributor(self): return 'Ada'\n    def determine_next_move(self, grid, enemies, game_info):\n        \
         if game_info.current_round == {round}:\n            raise ValueError('lost')\n        return Move.UP\n"
    )
}

fn with_numpy(place: &Place, arguments: &[&str]) -> Option<Output> {
    let python = common::python()?;
    Some(common::agon(&place.path(""), arguments).env("AGON_PYTHON", python).output().unwrap())
}

fn checked(place: &Place, arguments: &[&str]) -> Option<Json> {
    let output = with_numpy(place, &[&["check"], arguments, &["--json"]].concat())?;
    Some(serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}")))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs the `agon` commands of a pasted line. Returns the output of the last one.
fn paste(place: &Place, line: &str) -> Output {
    let mut last = None;
    for command in line.trim().split("; ") {
        let words: Vec<&str> = command.strip_prefix("agon ").unwrap().split(' ').collect();
        last = Some(place.run(&words));
    }
    last.unwrap()
}

fn line_with<'t>(text: &'t str, part: &str) -> &'t str {
    text.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("no {part:?} in {text}"))
}

#[test]
fn fault_that_only_lets_the_bot_stay_is_a_warning_with_its_turn() {
    let hider = "class Seeker(Player):\n    steps = 0\n    def move(self):\n        self.steps += 1\n        \
                 self.pos = (99, 99) if self.steps == 5 else self.pos\n";
    let place = Place::new(&[("Painter.py", &painter(57)), ("hide.py", hider)]);
    for (game, bot, turn) in
        [("colour-battle", "Painter.py", "turn 57"), ("hide-and-seek", "hide.py", "turn 7")]
    {
        let Some(told) = checked(&place, &[game, bot]) else { return };
        assert_eq!(told["accepted"], true, "{told}");
        let plays = &told["steps"][3];
        assert_eq!(
            (&plays["outcome"], plays["wrong"].as_array().map(Vec::len)),
            (&"yes".into(), Some(0)),
            "{told}"
        );
        let warning = plays["advice"][0]["what"].as_str().unwrap();
        assert!(warning.contains(turn), "{warning}");
        let said = with_numpy(&place, &["check", game, bot]).unwrap();
        assert!(said.status.success());
        let said = text(&said.stdout);
        assert!(line_with(&said, "warning: ").contains(turn) && said.ends_with("yes: accepted\n"), "{said}");
    }
}

#[test]
fn fault_that_occurs_only_in_a_long_game_is_found() {
    let place = Place::new(&[("Painter.py", &painter(900))]);
    let Some(told) = checked(&place, &["colour-battle", "Painter.py"]) else { return };
    let warning = &told["steps"][3]["advice"][0];
    assert!(warning["what"].as_str().unwrap().contains("turn 900"), "{told}");
    let trials = told["trials"].as_array().unwrap();
    assert_eq!(
        trials.iter().map(|trial| trial["full_length"] == true).collect::<Vec<_>>(),
        [false, true, true]
    );
    assert_eq!(trials[0]["against"], trials[1]["against"]);
    assert_ne!(trials[1]["against"], trials[2]["against"], "no strong opponent: {told}");
}

#[test]
fn check_plays_the_strongest_house_bot_in_every_game_without_a_shorter_trial() {
    let place = Place::new(&[("Mine.py", &player("Mine"))]);
    let told: Json =
        serde_json::from_str(&place.good(&["check", "connect-five", "Mine.py", "--json"])).unwrap();
    let against: Vec<&Json> =
        told["trials"].as_array().unwrap().iter().map(|trial| &trial["against"][0]).collect();
    assert_eq!(against.len(), 2, "{told}");
    assert_ne!(against[0], against[1]);
}

#[test]
fn check_writes_record_and_logs_and_takes_a_number_of_seats() {
    let place = Place::new(&[("Painter.py", &painter(3))]);
    let arguments =
        ["check", "colour-battle", "Painter.py", "--seats", "4", "--record", "r.agon", "--logs", "logs"];
    let Some(output) = with_numpy(&place, &arguments) else { return };
    let told = text(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    let record = fs::read(place.path("r.agon")).unwrap();
    let (first, _) = agon_core::record::read(&record, 1).unwrap();
    assert_eq!(first.header.seats.len(), 4);
    let logs: Vec<String> = fs::read_dir(place.path("logs"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(logs.contains(&"game-0001-seat-0-Painter.log".to_owned()), "{logs:?}");
    assert!(logs.iter().all(|name| name.contains("seat-0")), "house bots have logs: {logs:?}");
    let line = line_with(&told, "agon debug r.agon");
    assert_eq!(line.trim(), "agon debug r.agon --game 1 --seat 0 --turn 3");
    let debug = with_numpy(&place, &line.split_whitespace().skip(1).collect::<Vec<_>>()).unwrap();
    assert!(debug.status.success() && text(&debug.stdout).contains("ValueError: lost"), "{debug:?}");
    let again = with_numpy(&place, &arguments).unwrap();
    assert_eq!(again.status.code(), Some(2), "an existing record is overwritten");
    assert!(text(&again.stderr).contains("--force"), "{again:?}");
    let seats = with_numpy(&place, &["check", "colour-battle", "Painter.py", "--seats", "1"]).unwrap();
    assert_eq!(seats.status.code(), Some(2));
    assert!(text(&seats.stderr).contains("--seats: colour-battle has 2 to "), "{seats:?}");
}

/// Always names a column that does not exist, from its third move on.
const LATE: &str = "class Late:\n    moves = 0\n    def get_move(self, board, player, T, N):\n        self.moves += 1\n        \
                    return 9 if self.moves > 2 else next(c for c in range(9) if board[0][c] == 0)\n";

#[test]
fn line_after_a_fault_shows_the_turn_even_without_a_record() {
    let place = Place::new(&[("Late.py", LATE)]);
    let check = place.run(&["check", "connect-five", "Late.py"]);
    let told = text(&check.stdout);
    let line = line_with(&told, "; agon debug fault.agon");
    assert!(
        line.trim().starts_with("agon check connect-five Late.py --record fault.agon; agon debug "),
        "{line}"
    );
    let debug = paste(&place, line);
    assert!(debug.status.success() && text(&debug.stdout).contains("illegal"), "{debug:?}");
    let play =
        place.good(&["play", "connect-five", "house:random", "Late.py", "--games", "3", "--seed", "5"]);
    let faults = play.lines().filter(|line| line.starts_with("fault: game")).count();
    let lines: Vec<&str> = play.lines().filter(|line| line.contains("agon debug fault-2.agon")).collect();
    assert_eq!((faults, lines.len()), (3, 3), "not one line for each fault: {play}");
    assert!(
        lines[0]
            .trim()
            .starts_with("agon play connect-five house:random Late.py --seed 5 --games 1 --record "),
        "{play}"
    );
    let debug = paste(&place, lines[1]);
    assert!(debug.status.success() && text(&debug.stdout).contains("illegal"), "{debug:?}");
    let play = place.good(&[
        "play",
        "connect-five",
        "Late.py",
        "house:random",
        "--seed",
        "5",
        "--record",
        "own.agon",
    ]);
    assert!(
        line_with(&play, "agon debug").trim().starts_with("agon debug own.agon --game 1 --seat 0 --turn "),
        "{play}"
    );
}

#[test]
fn breakpoint_points_to_the_debugger_with_its_own_line() {
    let bot = "class Stops:\n    def get_move(self, board, player, T, N):\n        column = 4\n        breakpoint()\n        return column\n";
    let place = Place::new(&[("Stops.py", bot)]);
    let check = place.run(&["check", "connect-five", "Stops.py"]);
    let told = text(&check.stdout);
    assert!(
        line_with(&told, "breakpoint()").contains("Stops.py, line 4: crash: RuntimeError: breakpoint(): "),
        "{told}"
    );
    assert!(line_with(&told, "; agon debug fault.agon").ends_with(" --pdb"), "{told}");
}

#[test]
fn output_that_is_not_shown_is_mentioned_with_the_way_to_read_it() {
    let bot = player("Talks").replace("        return", "        print('thinking')\n        return");
    let place = Place::new(&[("Talks.py", &bot), ("Quiet.py", &player("Quiet"))]);
    for command in
        [&["check", "connect-five", "Talks.py"][..], &["play", "connect-five", "Talks.py", "house:random"]]
    {
        let output = place.run(command);
        let said = text(&output.stderr);
        assert!(said.contains("is not shown (") && said.contains("--logs DIR"), "{command:?}: {said}");
        let output = place.run(&[command, &["--logs", "logs"]].concat());
        assert!(!text(&output.stderr).contains("is not shown"), "{command:?}");
    }
    let output = place.run(&["play", "connect-five", "Quiet.py", "house:random"]);
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn common_mistakes_get_a_fitting_hint() {
    let place = Place::new(&[
        ("mine.ipynb", "{}"),
        ("notes/mine.ipynb", "{}"),
        ("Loops.py", "while True:\n    pass\n"),
        ("Plain.py", &player("Plain")),
    ]);
    let utf16: Vec<u8> = player("Wide").encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(place.path("Wide.py"), [b"\xff\xfe".to_vec(), utf16].concat()).unwrap();
    for (bot, what, hint) in [
        ("mine.ipynb", "a notebook is not a Python file", "jupyter nbconvert --to script mine.ipynb"),
        ("notes", "the folder has a notebook, mine.ipynb", "jupyter nbconvert --to script mine.ipynb"),
        ("Wide.py", "Wide.py: does not parse: it is saved as UTF-16", "UTF-8"),
        ("bots/gone", "bots/gone: there is no such file or folder", "there is no folder bots"),
        ("Loops.py", "not ready within ", "if __name__ == \"__main__\":"),
    ] {
        let said = place.five(bot);
        let (error, rest) = said.split_once("hint: ").unwrap();
        assert!(error.contains(what) && rest.contains(hint), "{bot}: {said}");
    }
    let check = place.good(&["check", "connect-five", "Plain.py"]);
    assert!(
        check.contains("class Plain has no train") && check.contains("hint: you may leave train out"),
        "{check}"
    );
}

#[test]
fn missing_numpy_is_reported_by_check_and_doctor_with_the_way_to_install_it() {
    let place = Place::new(&[("Array.py", &format!("import numpy\n{}", player("Array")))]);
    // A virtual environment has no packages.
    let made = std::process::Command::new("python3")
        .args(["-m", "venv", "--without-pip", "venv"])
        .current_dir(place.path(""))
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let bare = |arguments: &[&str]| {
        let python = place.path("venv/bin/python");
        let output = common::agon(&place.path(""), arguments).env("AGON_PYTHON", python).output().unwrap();
        text(&output.stdout)
    };
    let doctor: Json = serde_json::from_str(&bare(&["doctor", "--json"])).unwrap();
    let numpy = doctor["checks"].as_array().unwrap().iter().find(|check| check["check"] == "numpy").unwrap();
    assert!(numpy["found"].as_str().unwrap().starts_with("not installed"), "{numpy}");
    assert!(numpy["hint"].as_str().unwrap().contains("-m pip install numpy"), "{numpy}");
    let check = bare(&["check", "connect-five", "Array.py"]);
    assert!(
        check.contains("Array.py, line 1, column 1: imports numpy, and NumPy is not installed"),
        "{check}"
    );
    assert!(line_with(&check, "hint: install NumPy").contains("pip install numpy"), "{check}");
}
