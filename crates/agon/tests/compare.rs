//! `agon compare`: yes, no and not yet in all games; the same result on any number of threads; CTRL-C; usage errors.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Output, Stdio};

use common::{agon, folder_with, good, line_to_paste, paste, python, run, stdout, whole};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;

macro_rules! snapshots {
    ($($name:ident: $words:expr;)*) => {
        $(#[test]
        fn $name() {
            insta::assert_snapshot!(whole($words));
        })*
    };
}

snapshots! {
    help: "compare --help";
    yes_of_a_duel: "compare connect-five house:tactician house:stacker --elo1 50 --seed 7";
    no_of_a_duel: "compare connect-five house:stacker house:tactician --elo1 50 --seed 7";
    not_yet: "compare connect-five house:random house:stacker --seed 7 --games 12";
    overwhelming: "compare connect-five house:random house:stacker --seed 7 --games 40";
    word_racer: "compare word-racer house:rows house:z-racer --elo1 100 --seed 7";
    matches: "compare connect-five house:tactician house:stacker --elo1 50 --seed 7 --match-games 5";
    the_same_bot: "compare connect-five house:stacker house:stacker --elo1 50 --seed 7";
    not_worse: "compare connect-five house:tactician house:stacker --elo0 -50 --elo1 0 --seed 7";
    solitude: "compare solitude-scramble house:left house:greedy --elo1 100 --seed 7";
    hide_and_seek: "compare hide-and-seek house:roaming-seeker house:random-seeker --elo1 150 --seed 7 --against house:still-hider house:random-hider";
    colour_battle: "compare colour-battle house:seeker house:sweeper --elo1 150 --seed 7 --set rounds=100";
    duels_against_others: "compare connect-five house:tactician house:random --against house:stacker --elo1 150 --seed 7";
    as_json: "compare connect-five house:tactician house:stacker --elo1 150 --seed 7 --json";
    bad_bounds: "compare connect-five house:tactician house:stacker --elo0 10 --elo1 10";
    bad_bounds_paired: "compare solitude-scramble house:left house:greedy --elo0 50";
    bad_alpha: "compare connect-five house:tactician house:stacker --alpha 0";
    bad_number: "compare connect-five house:tactician house:stacker --elo1 nan";
    bad_human: "compare connect-five house:tactician human";
    bad_bot: "compare connect-five house:tactcian house:random";
    bad_roles: "compare hide-and-seek house:hunting-seeker house:still-hider";
    bad_role: "compare hide-and-seek house:hunting-seeker house:tracking-seeker --role cook";
    bad_field: "compare hide-and-seek house:hunting-seeker house:tracking-seeker --against house:roaming-seeker";
    bad_games: "compare word-racer house:rows house:filler --games 1";
    bad_match: "compare word-racer house:rows house:filler --match-games 3";
}

fn lines(output: &Output) -> Vec<Json> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn result_does_not_depend_on_the_number_of_threads() {
    for words in [
        "compare connect-five house:line-counter house:tactician --elo1 60 --seed 3 --json",
        "compare solitude-scramble house:cautious house:greedy --elo1 60 --seed 3 --json",
    ] {
        let one = stdout(&format!("{words} --jobs 1"));
        for jobs in [2, 5] {
            assert_eq!(one, stdout(&format!("{words} --jobs {jobs}")), "{words}");
        }
    }
}

/// The two games of a pair differ only in the sides, so a bot against itself takes one point from each.
#[test]
fn bot_compared_with_itself_is_equal() {
    let output = run("compare connect-five house:random house:random --elo1 100 --seed 3 --json");
    assert_eq!(output.status.code(), Some(1));
    let result = lines(&output).pop().unwrap();
    let counts: Vec<u64> = result["counts"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    assert_eq!(counts[2], result["pairs"].as_u64().unwrap(), "{counts:?}");
    let output = run("compare solitude-scramble house:left house:left --elo1 200 --seed 3 --json");
    let result = lines(&output).pop().unwrap();
    assert_eq!(result["counts"]["same"], result["pairs"]);
    assert_eq!(result["answer"], "no");
}

#[test]
fn interrupted_comparison_prints_the_result_so_far() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_agon"))
        .args([
            "compare",
            "solitude-scramble",
            "house:left",
            "house:right",
            "--elo0",
            "-0.02",
            "--elo1",
            "0.02",
        ])
        .args(["--games", "4000000000", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut events = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    events.read_line(&mut first).unwrap();
    let first: Json = serde_json::from_str(&first).unwrap();
    assert_eq!((&first["event"], &first["pairs"]), (&Json::from("progress"), &Json::from(10)));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let mut rest = String::new();
    events.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let last: Json = serde_json::from_str(rest.lines().next_back().unwrap()).unwrap();
    assert_eq!(last["event"], "result");
    assert_eq!(last["stopped"], "interrupted");
    assert_eq!(last["answer"], "not-yet");
    assert!(last["pairs"].as_u64().unwrap() >= 10);
}

/// Builds one tower, and wins with it if it is not blocked.
const TOWER: &str = "class Next:\n    def get_move(self, board, player, T, N):\n        return 0\n";
/// Builds two towers in turn, and is too slow.
const TWO_TOWERS: &str = "class Last:\n    def get_move(self, board, player, T, N):\n        return 8 - 2 * (sum(x == player for row in board for x in row) % 2)\n";

/// Two versions of a Python bot in the same folder, in the real sandbox.
#[test]
fn python_bots_in_the_sandbox_are_compared() {
    let folder = folder_with(&[("Next.py", TOWER), ("Last.py", TWO_TOWERS)]);
    let words = ["compare", "connect-five", "Next.py", "Last.py", "--elo1", "300", "--seed", "7", "--json"];
    let compare = |jobs: &str| {
        // None of the columns that they use is special.
        let settings = ["--set", "special=4,5", "--jobs", jobs];
        let output = agon(folder.path(), &[&words[..], &settings].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        lines(&output).pop().unwrap()
    };
    let result = compare("1");
    assert_eq!(result["answer"], "yes");
    assert_eq!(result["new"]["bot"], "Next.py");
    assert_ne!(result["new"]["hash"], result["old"]["hash"]);
    assert_eq!(result, compare("2"));
    assert!(!folder.path().join("data").exists(), "the bots' data was kept");
}

/// Forks on two cores give the same result as on one.
#[test]
fn python_bots_on_two_threads_give_the_same_result() {
    let says = |word: &str| format!("def get_action(state, match_history):\n    return '{word}'\n");
    let folder = folder_with(&[("new/Submission.py", &says("LEFT")), ("old/Submission.py", &says("CENTER"))]);
    let compare = |jobs: &str| {
        let words = ["compare", "solitude-scramble", "new", "old", "--games", "24", "--seed", "7"];
        let output =
            agon(folder.path(), &[&words[..], &["--json", "--jobs", jobs]].concat()).output().unwrap();
        assert!(
            output.status.code().is_some_and(|code| code < 2),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        lines(&output).pop().unwrap()
    };
    let one = compare("1");
    assert_eq!(one["pairs"], 12);
    assert_eq!(one, compare("2"));
}

/// Agon finds the role by trying, and counts and quotes the faults of a failing bot.
#[test]
fn roles_of_python_bots_are_found_and_faults_are_counted() {
    let Some(python) = python() else { return };
    let seeker = |body: &str| format!("class Seeker(Player):\n    def move(self):\n        {body}\n");
    let folder = folder_with(&[
        ("new/players.py", &seeker("pass")),
        ("old/players.py", &seeker("raise ValueError('no idea')")),
        ("hider/players.py", "class Hider(Player):\n    def move(self):\n        pass\n"),
    ]);
    let compare = |other: &str| {
        let words = ["compare", "hide-and-seek", "new", other, "--games", "4", "--seed", "7"];
        let field = ["--against", "house:random-hider", "--json"];
        agon(folder.path(), &[&words[..], &field].concat()).env("AGON_PYTHON", &python).output().unwrap()
    };
    let output = compare("old");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let result = lines(&output).pop().unwrap();
    assert_eq!((&result["answer"], &result["stopped"]), (&Json::from("not-yet"), &Json::from("limit")));
    assert!(result["old"]["faults"]["crash"].as_u64().unwrap() > 0, "{result}");
    assert_eq!(result["new"]["faults"]["crash"], 0);
    assert!(result["old"]["first_fault"].as_str().unwrap().contains("no idea"), "{result}");
    let refused = compare("hider");
    assert_eq!(refused.status.code(), Some(2));
    let words = String::from_utf8(refused.stderr).unwrap();
    assert!(words.contains("new plays the seeker, hider plays the hider"), "{words}");
}

/// Twenty lost games are a no, although the ratio of the two close hypotheses has hardly moved.
#[test]
fn bot_that_loses_everything_is_a_no_after_twenty_games() {
    let output = run("compare connect-five house:stacker house:alphabeta --seed 7 --games 20 --json");
    assert_eq!(output.status.code(), Some(1));
    let result = lines(&output).pop().unwrap();
    assert_eq!(
        (&result["answer"], &result["decided_by"]),
        (&Json::from("no"), &Json::from("evidence")),
        "{result}"
    );
    assert!(result["llr"].as_f64().unwrap() > result["bounds"]["no"].as_f64().unwrap(), "{result}");
}

#[test]
fn faults_of_new_are_a_warning() {
    let broken =
        "class Broken:\n    def get_move(self, board, player, T, N):\n        raise ValueError('no idea')\n";
    let folder = folder_with(&[("Broken.py", broken), ("Last.py", TWO_TOWERS)]);
    let words = ["compare", "connect-five", "Broken.py", "Last.py", "--seed", "7", "--games", "20"];
    let output = agon(folder.path(), &words).output().unwrap();
    let (text, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(text.contains("\nwarning: Broken.py has faults (") && text.contains("no: "), "{text}");
    assert!(said.contains("warning: Broken.py has faults; the first: "), "{said}");
    let line = line_to_paste(&text, "fault.agon");
    let start =
        "agon play connect-five Broken.py Last.py --seed 7 --games 1 --record fault.agon; agon debug ";
    assert!(line.starts_with(start), "{line}");
    let shown = good(&paste(folder.path(), line));
    assert!(shown.contains("ValueError: no idea") && shown.contains("now (same)"), "{shown}");
    let output = agon(folder.path(), &[&words[..], &["--json"]].concat()).output().unwrap();
    assert_eq!(lines(&output).pop().unwrap()["warnings"].as_array().unwrap().len(), 1);
}
