//! Files and `--json` output written by the version with three stateless modes (`tests/previous`): ledger, records, archives, competition
//! files. Supported content is still read, a removed mode is rejected with what to write instead, and JSON output keeps its keys.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use common::good;
use serde_json::Value as Json;
use tempfile::{TempDir, tempdir_in};

fn agon(folder: &Path, arguments: &[&str]) -> Output {
    common::agon(folder, arguments).output().unwrap()
}

fn refused(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    said
}

/// Path of a file of the previous version.
fn previous(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/previous").join(name)
}

/// A copy of the files, without the ledger.
fn files() -> TempDir {
    let folder = tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::create_dir(folder.path().join("bot")).unwrap();
    let records = ["audited.agon", "duel.agon", "fresh.agon"];
    let competitions = ["audited.archive", "audited.toml", "strict.archive", "strict.toml"];
    for name in records.into_iter().chain(competitions).chain(["bot/Submission.py"]) {
        fs::copy(previous(name), folder.path().join(name)).unwrap();
    }
    folder
}

/// A copy of the files, with the ledger of a competition that waits for its second phase.
fn files_with_ledger() -> TempDir {
    let folder = files();
    fs::copy(previous("strict.ledger"), folder.path().join("strict.ledger")).unwrap();
    folder
}

/// JSON output, which may be one value or one per line.
fn json_values(text: &str) -> Vec<Json> {
    serde_json::Deserializer::from_str(text).into_iter().collect::<Result<_, _>>().unwrap()
}

/// Output of the previous version.
fn previous_json(name: &str) -> Vec<Json> {
    json_values(&fs::read_to_string(previous(&format!("json/{name}.json"))).unwrap())
}

/// Keys whose values are texts for readers, or measured times. Their wording and size may change.
const FREE_VALUES: [&str; 10] =
    ["asks", "clock", "clock_used", "cpu_us", "drawn", "help", "says", "summary", "thinks", "time_us"];

/// Lists that may have more entries than before, after those that they had.
const GROWING_LISTS: [&str; 2] = ["next", "trials"];

/// Checks that `now` has every key of `was` with a value of the same type, and the same value unless it is free.
#[track_caller]
fn assert_keeps(path: &str, was: &Json, now: &Json, free: bool) {
    match (was, now) {
        (Json::Object(was), Json::Object(now)) => {
            for (key, was) in was {
                let path = format!("{path}.{key}");
                let now = now.get(key).unwrap_or_else(|| panic!("{path} is missing"));
                assert_keeps(&path, was, now, free || FREE_VALUES.contains(&&**key));
            }
        }
        (Json::Array(was), Json::Array(now)) => {
            let grows = GROWING_LISTS.iter().any(|list| path.ends_with(list)) && now.len() > was.len();
            assert!(grows || was.len() == now.len(), "{path}: {} before, {} now", was.len(), now.len());
            for (at, (was, now)) in was.iter().zip(now).enumerate() {
                assert_keeps(&format!("{path}[{at}]"), was, now, free);
            }
        }
        (Json::Number(_), Json::Number(_)) | (Json::String(_), Json::String(_)) if free => {}
        _ => assert_eq!(was, now, "{path}"),
    }
}

/// What version 2 of the document of `agon play` changed: games are numbered from 1.
fn as_version_2(played: &mut Json) {
    assert_eq!(played["version"], 1);
    played["version"] = 2.into();
    for one in played["results"].as_array_mut().unwrap() {
        one["game"] = (one["game"].as_u64().unwrap() + 1).into();
    }
}

/// The ledger of the competition that was played in a removed mode, with a file without that line.
fn audited_without_the_mode() -> TempDir {
    let folder = files();
    good(&agon(folder.path(), &["import", "audited.archive"]));
    let file = folder.path().join("audited.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("stateless = \"audited\"\n", "")).unwrap();
    folder
}

#[test]
fn record_of_a_removed_mode_is_read_and_verified() {
    let folder = files();
    let verified = good(&agon(folder.path(), &["replay", "audited.agon", "--verify"]));
    assert!(verified.starts_with("verified: 3 games, 30 turns"), "{verified}");
    assert!(
        verified.contains("sha256:7235636e395186d5cd69d8a70ea33012efad9d0efd1ba0ab3b477355fbb88f6c"),
        "{verified}"
    );
    let replay: Json =
        serde_json::from_str(&good(&agon(folder.path(), &["replay", "audited.agon", "--json"]))).unwrap();
    let says = replay["games"][0]["faults"][0]["says"].as_str().unwrap();
    assert_eq!(says, "not stateless: answered `LEFT`, but called again in another order `CENTER`");
}

#[test]
fn records_of_the_other_modes_are_verified_and_played_again() {
    let folder = files();
    for (record, digest) in [("fresh.agon", "sha256:e92f32f6b9c3766f"), ("duel.agon", "sha256:")] {
        let verified = good(&agon(folder.path(), &["replay", record, "--verify"]));
        assert!(verified.starts_with("verified: 1 game, ") && verified.contains(digest), "{verified}");
    }
    let again = good(&agon(folder.path(), &["debug", "fresh.agon", "--seat", "0"]));
    assert!(again.contains("no difference: 10 answers, all as recorded"), "{again}");
}

#[test]
fn competition_file_with_a_removed_mode_is_refused_with_its_line_and_what_to_write() {
    let folder = files();
    let text = fs::read_to_string(folder.path().join("audited.toml")).unwrap();
    for mode in ["audited", "fresh"] {
        let file = format!("{mode}.toml");
        fs::write(folder.path().join(&file), text.replace("\"audited\"", &format!("\"{mode}\""))).unwrap();
        for command in ["run", "table"] {
            let said = refused(&agon(folder.path(), &[command, &file]));
            let what = format!("{file}:3:13: the mode \"{mode}\" of `stateless` was removed");
            assert!(said.contains(&what), "{said}");
            assert!(said.contains("write stateless = \"strict\", or leave the line out"), "{said}");
        }
    }
}

#[test]
fn ledger_is_read_and_resumed_with_the_results_it_would_have_had() {
    let folder = files_with_ledger();
    let table = good(&agon(folder.path(), &["table", "strict.toml", "--format", "json"]));
    assert_eq!(json_values(&table), previous_json("table"));
    let run = json_values(&good(&agon(folder.path(), &["run", "strict.toml", "--json"])));
    assert_keeps("run", &previous_json("run").into(), &run.into(), false);
    let moved = ["export", "strict.toml", "--archive", "moved.archive"];
    good(&agon(folder.path(), &moved));
}

#[test]
fn json_output_has_the_keys_types_and_values_that_it_had() {
    let folder = files_with_ledger();
    let commands = [
        ("games", "games"),
        ("bots", "bots word-racer"),
        ("show", "show connect-five --seed 7"),
        ("play", "play hide-and-seek house:random-seeker house:random-hider --seed 7 --games 2"),
        ("trial", "trial connect-five house:stacker --games 1 --seed 7"),
        ("compare", "compare connect-five house:tactician house:stacker --elo1 150 --seed 7"),
        ("check", "check solitude-scramble ./bot"),
        ("replay", "replay duel.agon"),
        ("debug", "debug duel.agon --seat 1"),
        ("update", "update strict.toml"),
        ("new", "new connect-five my-bot"),
        ("init", "init connect-five cup.toml"),
        ("report", "report strict.toml pages"),
        ("import", "import audited.archive"),
    ];
    for (name, words) in commands {
        let words: Vec<&str> = words.split(' ').chain(["--json"]).collect();
        let now = json_values(&good(&agon(folder.path(), &words)));
        let mut was = previous_json(name);
        if name == "play" {
            as_version_2(&mut was[0]);
        }
        assert_keeps(name, &was.into(), &now.into(), false);
    }
}

/// The results depend on the machine.
#[test]
fn doctor_reports_every_check_that_it_had_with_the_same_keys() {
    let folder = files();
    let now = json_values(&String::from_utf8(agon(folder.path(), &["doctor", "--json"]).stdout).unwrap());
    let was = previous_json("doctor");
    let checks = |report: &[Json]| report[0]["checks"].as_array().unwrap().clone();
    let now = (now[0].clone(), checks(&now));
    assert_eq!((&now.0["agon"], &now.0["version"]), (&was[0]["agon"], &was[0]["version"]));
    for check in checks(&was) {
        let same = now.1.iter().find(|other| other["check"] == check["check"]);
        let same = same.unwrap_or_else(|| panic!("the check {} is missing", check["check"]));
        for key in check.as_object().unwrap().keys() {
            assert!(same[key].is_string(), "{key} of {}", check["check"]);
        }
    }
}

#[test]
fn finished_competition_of_a_removed_mode_shows_the_table_it_had() {
    let folder = audited_without_the_mode();
    let shown = good(&agon(folder.path(), &["table", "audited.toml", "--format", "json"]));
    let was = fs::read_to_string(previous("audited-table.json")).unwrap();
    assert_eq!(json_values(&shown), json_values(&was));
}

#[test]
fn competition_of_a_removed_mode_is_not_resumed_in_another_one() {
    let folder = audited_without_the_mode();
    let said = refused(&agon(folder.path(), &["run", "audited.toml"]));
    assert!(said.contains("stateless: audited -> strict"), "{said}");
    assert!(said.contains("hint: this mode was removed"), "{said}");
}

#[test]
fn strict_competition_that_was_stopped_is_resumed_with_and_without_the_key() {
    for leave_out in [false, true] {
        let folder = files();
        good(&agon(folder.path(), &["import", "strict.archive"]));
        if leave_out {
            let file = folder.path().join("strict.toml");
            let text = fs::read_to_string(&file).unwrap();
            fs::write(&file, text.replace("stateless = \"strict\"\n", "")).unwrap();
        }
        good(&agon(folder.path(), &["run", "strict.toml"]));
        let table = good(&agon(folder.path(), &["table", "strict.toml", "--format", "json"]));
        let table: Json = serde_json::from_str(&table).unwrap();
        assert_eq!(table["phase"], "Two", "{table:#}");
    }
}
