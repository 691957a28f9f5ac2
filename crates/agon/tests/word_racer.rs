//! Word Racer as its document describes it: `players.yml`, the visualizer's folders, word points, no other processes, Scala.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::path::Path;
use std::process::Output;

use common::{agon, folder_with, good};
use serde_json::Value as Json;

const LINES: &str = include_str!("../../../test-bots/competitions/lines.py");
/// Two bots in the folders of the document.
const LIST: &str = "players:\n- name: One\n  directory: one\n  command: python3 lines.py\n\
                    - name: Rows\n  command: house:rows\n";

fn output(folder: &Path, words: &[&str]) -> Output {
    agon(folder, words).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn run_without_arguments_plays_conf_players_yml_with_the_bots_in_run() {
    let folder = folder_with(&[("conf/players.yml", LIST), ("run/one/lines.py", LINES)]);
    let run = output(folder.path(), &["run"]);
    assert!(run.status.success(), "{}", said(&run));
    assert!(said(&run).contains("run/results/summary.html"), "{}", said(&run));
    let summary = fs::read_to_string(folder.path().join("run/results/summary.html")).unwrap();
    // Each pair plays twice; both games have a page.
    assert!(summary.contains("games/1-1-1-1.html") && summary.contains("games/1-1-2-1.html"), "{summary}");
}

#[test]
fn run_without_arguments_says_what_is_missing() {
    let empty = folder_with(&[]);
    let run = output(empty.path(), &["run"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(
        said(&run).contains("conf/players.yml") && said(&run).contains("agon run FILE"),
        "{}",
        said(&run)
    );
    let without_bots = folder_with(&[("conf/players.yml", LIST)]);
    let run = output(without_bots.path(), &["run"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(said(&run).contains("no folder run"), "{}", said(&run));
}

#[test]
fn unknown_house_bot_in_a_players_yml_is_an_error_with_its_line() {
    let list = LIST.replace("house:rows", "house:row");
    let folder = folder_with(&[("conf/players.yml", &list), ("run/one/lines.py", LINES)]);
    let run = output(folder.path(), &["run"]);
    assert_eq!(run.status.code(), Some(2), "{}", said(&run));
    let said = said(&run);
    assert!(
        said.contains("line 6") && said.contains("no house bot `row`") && said.contains("rows"),
        "{said}"
    );
}

#[test]
fn house_bot_of_a_players_yml_can_be_played_by_name_and_is_not_the_lists_own_bot() {
    let folder = folder_with(&[("players.yml", LIST), ("one/lines.py", LINES)]);
    let play = ["play", "word-racer", "players.yml", "players.yml#Rows", "--seed", "3", "--json"];
    let played: Json = serde_json::from_str(&good(&output(folder.path(), &play))).unwrap();
    assert_eq!(
        (&played["seats"][0]["name"], &played["seats"][1]["bot"]),
        (&"One".into(), &"house:rows".into())
    );
}

#[test]
fn players_yml_of_a_new_bot_runs_as_it_is_and_keeps_its_results_from_the_bot() {
    let folder = folder_with(&[]);
    good(&output(folder.path(), &["new", "word-racer", "mine"]));
    let mine = folder.path().join("mine");
    // A bot that can read the results of its own tournament loses its games. (It can list their names.)
    let text = fs::read_to_string(mine.join("wordracer.py")).unwrap();
    let look = "import os\nfor place, _, names in os.walk('results'):\n    for name in names:\n        try:\n            open(os.path.join(place, name), 'rb')\n        \
        except OSError:\n            continue\n        raise SystemExit(9)\n";
    let nosy = format!("{look}{text}");
    fs::write(mine.join("wordracer.py"), nosy).unwrap();
    for _ in 0..2 {
        let run = output(&mine, &["run", "players.yml"]);
        assert!(run.status.success() && !said(&run).contains("fault:"), "{}", said(&run));
    }
    let summary = fs::read_to_string(mine.join("results/summary.html")).unwrap();
    assert!(summary.contains("mine"), "{summary}");
    fs::write(mine.join("wordracer.py"), text).unwrap();
    good(&output(&mine, &["check", "word-racer", "."]));
}

#[test]
fn word_points_stand_beside_the_points_in_pages_and_json() {
    let folder = folder_with(&[("conf/players.yml", LIST), ("run/one/lines.py", LINES)]);
    let events = good(&output(folder.path(), &["run", "--json"]));
    let events: Vec<Json> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let played: Vec<&Json> = events.iter().filter(|event| event["event"] == "match").collect();
    let points: Vec<f64> = played
        .iter()
        .flat_map(|event| event["seats"].as_array().unwrap())
        .map(|seat| seat["stats"]["word points"].as_f64().unwrap())
        .collect();
    assert_eq!(points.len(), 4, "{played:?}");
    let summary = fs::read_to_string(folder.path().join("run/results/summary.html")).unwrap();
    assert!(summary.contains("Result (word points)"), "{summary}");
    for value in points {
        assert!(summary.contains(&format!(" ({value})")), "{value}: {summary}");
    }
    let page = fs::read_to_string(folder.path().join("run/results/games/1-1-1-1.html")).unwrap();
    assert!(page.contains(">word points<"), "a column of the result");
    let play = ["play", "word-racer", "house:rows", "house:random", "--seed", "3", "--json"];
    let played: Json = serde_json::from_str(&good(&output(folder.path(), &play))).unwrap();
    let stats = &played["results"][0]["stats"];
    assert!(
        stats[0]["word points"].as_f64().unwrap() > stats[1]["word points"].as_f64().unwrap(),
        "{played}"
    );
}

/// Starts a process before its first answer, then plays like `lines.py`.
fn bot_after(statement: &str) -> String {
    format!("import os, subprocess, threading\n{statement}\n{LINES}")
}

#[test]
fn bot_that_starts_a_process_loses_and_reads_why() {
    for statement in
        ["os.fork()", "subprocess.run(['/bin/true'])", "os.posix_spawn('/bin/true', ['true'], {})"]
    {
        let folder = folder_with(&[("bot/bot.py", &bot_after(statement))]);
        let list = "players:\n- name: Bot\n  directory: bot\n  command: python3 bot.py\n";
        fs::write(folder.path().join("players.yml"), list).unwrap();
        let text = good(&output(
            folder.path(),
            &["play", "word-racer", "players.yml", "house:filler", "--seed", "1"],
        ));
        assert!(text.contains("crash"), "{statement}: {text}");
        assert!(
            text.contains("bots of this game cannot start other processes, only threads"),
            "{statement}: {text}"
        );
    }
}

#[test]
fn bot_that_starts_a_thread_plays_on() {
    let thread = "t = threading.Thread(target=sum, args=([1, 2],))\nt.start()\nt.join()";
    let list = "players:\n- name: Bot\n  directory: bot\n  command: python3 bot.py\n";
    let folder = folder_with(&[("bot/bot.py", &bot_after(thread)), ("players.yml", list)]);
    let text =
        good(&output(folder.path(), &["play", "word-racer", "players.yml", "house:filler", "--seed", "1"]));
    assert!(!text.contains("fault"), "{text}");
}

#[test]
fn scala_starter_is_written_and_plays_where_scala_is_installed() {
    let folder = folder_with(&[]);
    good(&output(folder.path(), &["new", "word-racer", "mine", "--lang", "scala", "--no-build"]));
    let mine = folder.path().join("mine");
    for name in
        ["DemoWordRacer.scala", "Runner.scala", "LocalTester.scala", "build.sh", "players.yml", "agon.toml"]
    {
        assert!(mine.join(name).is_file(), "{name}");
    }
    let refused = output(folder.path(), &["new", "connect-five", "other", "--lang", "scala"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(said(&refused).contains("no starter in Scala"), "{}", said(&refused));
    let is_there = |program: &str| std::process::Command::new(program).arg("-version").output().is_ok();
    if !is_there("scalac") || !is_there("java") {
        agon_test_servers::cannot_run(agon_test_servers::Lacks::Machine, "no Scala compiler or no Java");
        return;
    }
    let built = std::process::Command::new("sh").arg("build.sh").current_dir(&mine).output().unwrap();
    assert!(built.status.success(), "{}", said(&built));
    let text = good(&output(&mine, &["play", "word-racer", ".", "house:filler", "--seed", "1"]));
    assert!(!text.contains("fault"), "{text}");
}
