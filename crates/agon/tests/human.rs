//! Playing on the terminal: keys that answer at once, corrections, `help`, `quit`, and games step by step.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::process::Output;

use common::{agon, folder_with, good};

fn play(words: &[&str], input: &str) -> Output {
    let folder = folder_with(&[]);
    agon(folder.path(), &[&["play"], words].concat()).write_stdin(input).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const HIDE: [&str; 7] = ["hide-and-seek", "human", "house:still-hider", "--seed", "5", "--set", "steps=3"];

#[test]
fn help_explains_the_answer_and_asks_again() {
    let output = play(&HIDE, "help\nSTAY\nSTAY\nSTAY\n");
    good(&output);
    let said = said(&output);
    assert!(
        said.contains("You are asked for one step: LEFT") && said.contains("quit: stop playing"),
        "{said}"
    );
    assert!(said.contains("← LEFT") && said.contains("space STAY"), "{said}");
    assert!(said.contains("`agon games hide-and-seek`"), "{said}");
}

#[test]
fn invalid_answer_is_asked_again_and_is_no_fault() {
    let output = play(&HIDE, "LEGT\nSTAY\nSTAY\nSTAY\n");
    assert!(!good(&output).contains("fault:"), "{}", good(&output));
    assert!(said(&output).contains("Invalid input: "), "{}", said(&output));
}

#[test]
fn quit_asks_no_more_in_a_game_that_goes_on_after_a_fault() {
    let output = play(&HIDE, "STAY\nquit\n");
    assert!(good(&output).contains("the player left"), "{}", good(&output));
    assert_eq!(said(&output).matches("seat 0, one step").count(), 2, "{}", said(&output));
}

#[test]
fn step_shows_each_turn_after_a_line_and_plays_on_to_the_end() {
    let bots = ["hide-and-seek", "house:roaming-seeker", "house:still-hider", "--seed", "5", "--step"];
    let output = play(&bots, "\n\nc\n");
    let (shown, text) = (said(&output), good(&output));
    assert!(
        shown.contains("--- game 1, start")
            && shown.contains("--- turn 1\n")
            && shown.contains("--- turn 2\n"),
        "{shown}"
    );
    assert!(!shown.contains("--- turn 3\n") && shown.contains("--- end: "), "{shown}");
    assert!(text.contains("Hide and Seek: 1 game"), "{text}");
    assert_eq!(play(&[&bots[..], &["--json"]].concat(), "").status.code(), Some(2), "not with --json");
}

/// Runs a program on a pseudo-terminal. Each argument `EXPECTED=KEYS` waits for a text and then sends keys.
const ON_A_TERMINAL: &str = r#"
import os, pty, select, sys
steps = [step.split("=", 1) for step in sys.argv[1].split("|")]
pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execv(sys.argv[2], sys.argv[2:])
shown, seen = "", 0
def read():
    global shown
    try:
        data = os.read(terminal, 65536)
    except OSError:
        return False
    shown += data.decode(errors="replace")
    return bool(data)
for expected, keys in steps:
    while expected not in shown[seen:]:
        if not read():
            sys.exit(f"ended before {expected!r}: {shown}")
    seen = shown.index(expected, seen) + len(expected)
    os.write(terminal, keys.encode().decode("unicode_escape").encode())
while read():
    pass
print(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"#;

/// What the program showed on the terminal.
fn on_a_terminal(steps: &str, words: &[&str]) -> String {
    let folder = folder_with(&[]);
    let output = std::process::Command::new("python3")
        .args(["-c", ON_A_TERMINAL, steps, env!("CARGO_BIN_EXE_agon")])
        .args(words)
        .current_dir(folder.path())
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap();
    good(&output)
}

#[test]
fn arrow_keys_and_space_answer_with_one_key_each_on_a_terminal() {
    let steps = r"quit): =\x1b[A|quit): =\x1b[D|quit): = ";
    let shown = on_a_terminal(steps, &[&["play"], &HIDE[..]].concat());
    for answer in ["UP", "LEFT", "STAY"] {
        assert!(shown.contains(answer), "{answer}: {shown}");
    }
    assert!(shown.contains("after 3 turns") || shown.contains("ended:"), "{shown}");
}

#[test]
fn typo_is_corrected_on_a_terminal_before_it_is_sent() {
    let steps = r"quit): =STAX\x7fY\r|quit): = |quit): = ";
    let shown = on_a_terminal(steps, &[&["play"], &HIDE[..]].concat());
    assert!(!shown.contains("Invalid input"), "{shown}");
}

#[test]
fn line_that_is_typed_before_the_question_on_a_terminal_answers_it() {
    let shown = on_a_terminal(r"=STAY\r|quit): = |quit): = ", &[&["play"], &HIDE[..]].concat());
    assert!(!shown.contains("Invalid input"), "{shown}");
}

#[test]
fn digit_drops_a_piece_and_control_c_quits_on_a_terminal() {
    let steps = r"quit): =4|quit): =help\r|You are asked=|quit): =\x03";
    let shown = on_a_terminal(steps, &["play", "connect-five", "human", "house:random", "--seed", "5"]);
    assert!(shown.contains("the player left"), "{shown}");
}
