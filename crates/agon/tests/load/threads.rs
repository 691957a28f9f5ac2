//! Bots with several threads: the CPU time of all of them is charged, and the time in which none of them got a processor is not.
//!
//! The bots report how much CPU time their threads have used for each answer. The times in the record are compared with that.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::machine::{Machine, OtherProcesses};
use crate::{alone, charged_times, common, soak};

/// Number of games in the soak test.
const SOAK_GAMES: usize = 50;
/// Number of games otherwise.
const GAMES: usize = 2;
/// Maximum part of the used CPU time that is charged in addition: the Python host or the virtual machine works, too.
const MAX_EXTRA_PART: f64 = 0.15;
/// The same in milliseconds for each answer.
const MAX_EXTRA_MS: f64 = 3.0;
/// Maximum CPU time per answer that is not charged: 2 % of the limit of one second.
const MAX_UNBILLED_MS: f64 = 20.0;

#[test]
fn short_threads_of_numpy_are_charged_for_what_they_use() {
    let _alone = alone();
    let Some(python) = common::python() else { return };
    let folder = common::copy_of("load");
    if !counts_waiting(folder.path()) {
        let why = "no cgroup with cpu.pressure, which knows how long ended threads waited";
        agon_test_servers::cannot_run(agon_test_servers::Lacks::Machine, why);
        return;
    }
    is_charged_fairly(&folder, "ThreadedProducts.py", Some(&python), "threads of NumPy");
}

#[test]
fn threads_of_a_java_virtual_machine_are_charged_for_what_they_use() {
    let _alone = alone();
    let folder = common::copy_of("load");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bots/java/Agon.java");
    fs::copy(examples, folder.path().join("Agon.java")).unwrap();
    let mut compiler = Command::new("javac");
    compiler.args(["-d", "build", "ThreadedBot.java", "Agon.java"]).current_dir(folder.path());
    let Ok(built) = compiler.status() else {
        agon_test_servers::cannot_run(agon_test_servers::Lacks::Machine, "no Java compiler (javac)");
        return;
    };
    assert!(built.success());
    is_charged_fairly(&folder, "java -cp build ThreadedBot", None, "threads of a JVM");
}

/// Whether bots have a cgroup that counts how long they wait for a processor.
fn counts_waiting(folder: &Path) -> bool {
    let doctor = common::agon(folder, &["doctor"]).output().unwrap();
    let has_cgroup = String::from_utf8_lossy(&doctor.stdout).contains("cgroup: all CPU time");
    has_cgroup && Path::new("/proc/pressure/cpu").exists()
}

/// Plays on an idle machine and beside busy processes, and compares.
fn is_charged_fairly(folder: &TempDir, bot: &str, python: Option<&Path>, what: &str) {
    for machine in [Machine::Idle, Machine::Busy] {
        let games = if soak() { SOAK_GAMES } else { GAMES };
        let others = OtherProcesses::start(machine);
        let answers = play(folder, bot, python, games);
        drop(others);
        let number = answers.0.len();
        let (used, charged) = (answers.0.iter().sum::<f64>(), answers.1.iter().sum::<f64>());
        eprintln!(
            "{what}, {}: {number} answers used {used:.0} ms and were charged {charged:.0} ms",
            machine.word()
        );
        let number = number as f64;
        assert!(used > 10.0 * number, "{what}: the bot did nothing: {answers:?}");
        assert!(charged > used - MAX_UNBILLED_MS * number, "{what} {machine:?}: {answers:?}");
        assert!(
            charged < used * (1.0 + MAX_EXTRA_PART) + MAX_EXTRA_MS * number,
            "{what} {machine:?}: used {used:.0} ms, charged {charged:.0} ms: {answers:?}"
        );
    }
}

/// Milliseconds that two such bots reported and that were charged, for each answer.
fn play(folder: &TempDir, bot: &str, python: Option<&Path>, games: usize) -> (Vec<f64>, Vec<f64>) {
    let games = games.to_string();
    let _ = fs::remove_dir_all(folder.path().join("logs"));
    let _ = fs::remove_file(folder.path().join("a.agon"));
    let agon = |words: &[&str]| {
        let mut command = common::agon(folder.path(), words);
        if let Some(python) = python {
            command.env("AGON_PYTHON", python);
        }
        serde_json::from_str::<Json>(&common::good(&command.output().unwrap())).unwrap()
    };
    let settings = ["--set", "seconds=1", "--set", "special=3,5", "--set", "p=0", "--set", "q=0"];
    let words = ["play", "connect-five", bot, bot, "--games", &games, "--seed", "1", "--json"];
    agon(&[&words[..], &settings, &["--record", "a.agon", "--logs", "logs", "--match-games", "1"]].concat());
    let replay = agon(&["replay", "a.agon", "--json"]);
    let mut charged = Vec::new();
    for game in replay["games"].as_array().unwrap() {
        assert_eq!(game["faults"], Json::Array(Vec::new()));
        charged.extend(game["times"].as_array().unwrap().iter().flat_map(charged_times));
    }
    let used = reports(&folder.path().join("logs"));
    assert_eq!(used.len(), charged.len(), "{used:?} {charged:?}");
    (used, charged)
}

/// The reports in the logs.
fn reports(logs: &Path) -> Vec<f64> {
    let files = fs::read_dir(logs).unwrap().map(|file| file.unwrap().path());
    files
        .map(|file| fs::read_to_string(file).unwrap())
        .flat_map(|text| {
            let used = |line: &str| line.split_once("used ")?.1.split_once(" us")?.0.parse::<f64>().ok();
            text.lines().filter_map(used).map(|micros| micros / 1e3).collect::<Vec<_>>()
        })
        .collect()
}
