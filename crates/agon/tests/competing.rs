//! Competitions through the program, as an organiser runs them: messages, rejections, secrets.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use common::folder_with;
use insta::assert_snapshot;

const COMPETITION: &str = r#"name = "Little Cup"
game = "connect-five"
seed = "only for tests"

[[phase]]
name = "League"
format = "round-robin"
legs = 2
parts = [{ games = 3, first_to = 2, seconds = 1 }]

[[entrant]]
bot = "house:tactician"

[[entrant]]
bot = "house:random"
contributor = "Ada"

[[entrant]]
bot = "house:line-counter"
"#;

const TWO_PHASES: &str = r#"name = "Two Phases"
game = "solitude-scramble"
seed = "a secret text"

[[phase]]
name = "First"
format = "groups"
matches = 4

[[phase]]
name = "Second"
format = "groups"
matches = 4
resubmit = true

[[entrant]]
bot = "house:left"

[[entrant]]
bot = "house:random"

[[entrant]]
bot = "house:greedy"

[[entrant]]
name = "Mine"
bot = "./mine"
"#;

fn agon(folder: &Path, words: &str) -> Output {
    let words: Vec<&str> = words.split_whitespace().collect();
    common::agon(folder, &words).output().unwrap()
}

/// Exit code, stdout and stderr as one text.
fn whole(folder: &Path, words: &str) -> String {
    let output = agon(folder, words);
    let text = |bytes: &[u8]| common::mask(&String::from_utf8_lossy(bytes));
    let code = output.status.code().unwrap_or(-1);
    format!(
        "$ agon {words}\nexit code {code}\n--- stdout\n{}--- stderr\n{}",
        text(&output.stdout),
        text(&output.stderr)
    )
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn competition_runs_from_its_file_to_its_table() {
    let folder = folder_with(&[("cup.toml", COMPETITION)]);
    assert_snapshot!("cup_before", whole(folder.path(), "table cup.toml"));
    assert_snapshot!("cup_run", whole(folder.path(), "run cup.toml"));
    assert_snapshot!("cup_again", whole(folder.path(), "run cup.toml"));
    assert_snapshot!("cup_table", whole(folder.path(), "table cup.toml --no-times"));
    assert_snapshot!("cup_no_such_phase", whole(folder.path(), "table cup.toml --phase 2"));
    assert_snapshot!("cup_export", whole(folder.path(), "export cup.toml out"));
    let games = fs::read_to_string(folder.path().join("out/games.csv")).unwrap();
    assert!(games.starts_with(
        "phase,stage,match,game,part,seed,turns,ended,seat,role,name,score,place,moves,timeout,"
    ));
    let logs = fs::read_dir(folder.path().join("out/logs")).unwrap().count();
    assert_eq!(games.lines().count() - 1, 2 * logs, "one line per seat, one log per game");
    let verified = agon(folder.path(), "replay out/records.agon --verify");
    assert!(verified.status.success(), "{}", said(&verified));
}

#[test]
fn change_that_makes_results_incomparable_is_rejected() {
    let folder = folder_with(&[("cup.toml", COMPETITION)]);
    assert!(agon(folder.path(), "run cup.toml").status.success());
    let changed = COMPETITION.replace("games = 3", "games = 5").replace("house:random", "house:stacker");
    fs::write(folder.path().join("cup.toml"), changed).unwrap();
    assert_snapshot!("cup_changed", whole(folder.path(), "run cup.toml"));
    // A new name does not change results.
    fs::write(folder.path().join("cup.toml"), COMPETITION.replace("Little Cup", "Renamed Cup")).unwrap();
    assert!(agon(folder.path(), "run cup.toml").status.success());
    // Start over with a changed file. The old ledger stays.
    fs::write(folder.path().join("cup.toml"), COMPETITION.replace("games = 3", "games = 5")).unwrap();
    assert!(agon(folder.path(), "run cup.toml --fresh").status.success());
    assert!(folder.path().join("cup.ledger.1").exists());
}

#[test]
fn phase_waits_for_new_versions_and_secrets_stay_hidden() {
    let bot = "def get_action(state, match_history):\n    return \"RIGHT\"\n";
    let folder = folder_with(&[("two.toml", TWO_PHASES), ("mine/Submission.py", bot)]);
    let first = agon(folder.path(), "run two.toml --json");
    assert!(first.status.success(), "{}", said(&first));
    let events = String::from_utf8_lossy(&first.stdout).into_owned();
    assert!(events.contains("\"event\":\"waiting\""), "{events}");
    let table = String::from_utf8(agon(folder.path(), "table two.toml --format json").stdout).unwrap();
    let told = agon(folder.path(), "export two.toml early");
    assert!(said(&told).contains("secret until the competition is finished"), "{}", said(&told));
    let games = fs::read_to_string(folder.path().join("early/games.csv")).unwrap();
    assert!(games.lines().skip(1).all(|line| line.split(',').nth(5) == Some("")), "{games}");
    assert!(!folder.path().join("early/records.agon").exists());
    for text in [&events, &table, &games] {
        assert!(!text.contains("a secret text"), "{text}");
    }
    // The second phase starts with the new versions, and its bots may read the published history.
    let reader = "import published_history\n\n\ndef get_action(state, match_history):\n    \
                  return \"LEFT\" if len(published_history.matches) == 4 else 1 / 0\n";
    fs::write(folder.path().join("mine/Submission.py"), reader).unwrap();
    let second = agon(folder.path(), "run two.toml --json");
    assert!(second.status.success(), "{}", said(&second));
    let events = String::from_utf8_lossy(&second.stdout).into_owned();
    assert!(events.contains("{\"event\":\"over\",\"seed\":\"a secret text\"}"), "{events}");
    assert!(!events.contains("\"fault\":"), "{events}");
    assert_eq!(
        String::from_utf8(agon(folder.path(), "table two.toml --format json --phase 1").stdout).unwrap(),
        table
    );
    agon(folder.path(), "export two.toml late");
    let history = fs::read_to_string(folder.path().join("late/history.json")).unwrap();
    let history: serde_json::Value = serde_json::from_str(&history).unwrap();
    let matches = history["matches"].as_object().unwrap();
    assert_eq!(matches.len(), 8, "four bots, four matches each, two phases");
    assert_eq!(matches["match_1"]["players"].as_array().unwrap().len(), 4);
    assert_eq!(matches["match_8"]["turn_data"].as_array().unwrap().len(), 10);
}

#[test]
fn preset_of_a_game_with_resubmission_stops_after_each_phase_and_says_what_to_do() {
    let folder = folder_with(&[]);
    let told = agon(folder.path(), "init solitude-scramble cup.toml");
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("agon run cup.toml --run-through"), "{told}");
    let path = folder.path().join("cup.toml");
    let file = fs::read_to_string(&path).unwrap();
    assert_eq!(file.matches("\nresubmit = true").count(), 2, "{file}");
    // Fewer matches, so that the test is quick.
    fs::write(&path, file.replace("matches = 100", "matches = 4").replace("matches = 200", "matches = 4"))
        .unwrap();
    for (published, next) in
        [("phase 1, Seeding,", "play phase 2, Adaptation"), ("phase 2, Adaptation,", "play phase 3, Finals")]
    {
        let run = agon(folder.path(), "run cup.toml");
        assert!(run.status.success(), "{}", said(&run));
        let told = said(&run);
        for part in [
            &format!("{published} is published"),
            "resubmitted",
            "agon export cup.toml DIR",
            "published_history.json",
            next,
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
    let last = agon(folder.path(), "run cup.toml");
    assert!(said(&last).contains("finished; the secret seed was"), "{}", said(&last));
    let through = agon(folder.path(), "run cup.toml --fresh --run-through --json");
    let events = String::from_utf8_lossy(&through.stdout).into_owned();
    assert_eq!(events.matches("\"event\":\"published\"").count(), 3, "{events}");
    assert!(events.contains("\"event\":\"over\"") && !events.contains("\"event\":\"waiting\""), "{events}");
}

#[test]
fn own_history_file_of_a_bot_is_kept_in_all_phases() {
    let bot = "import history\ntry:\n    from published_history import matches\nexcept ImportError:\n    matches = {}\n\n\n\
               def get_action(state, match_history):\n    assert history.own == 'mine', history.data\n    \
               return \"LEFT\" if len(matches) in (0, 4) else 1 / 0\n";
    let folder = folder_with(&[
        ("two.toml", TWO_PHASES),
        ("mine/Submission.py", bot),
        ("mine/history.json", "{\"own\": \"mine\"}"),
    ]);
    let run = agon(folder.path(), "run two.toml --run-through --json");
    assert!(run.status.success(), "{}", said(&run));
    let events = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(events.contains("\"event\":\"over\"") && !events.contains("\"fault\":"), "{events}");
}

#[test]
fn bot_with_a_file_under_the_published_name_is_rejected_before_the_first_phase() {
    let bot = "def get_action(state, match_history):\n    return \"RIGHT\"\n";
    let folder = folder_with(&[
        ("two.toml", TWO_PHASES),
        ("mine/Submission.py", bot),
        ("mine/published_history.json", "{}"),
    ]);
    let run = agon(folder.path(), "run two.toml");
    assert_eq!(run.status.code(), Some(2), "{}", said(&run));
    for part in
        ["entrant Mine", "published_history.json", "belongs to the organiser", "hint: rename the file"]
    {
        assert!(said(&run).contains(part), "{part}: {}", said(&run));
    }
    assert_eq!(fs::read_to_string(folder.path().join("mine/published_history.json")).unwrap(), "{}");
    let check = agon(folder.path(), "check solitude-scramble mine");
    assert_eq!(check.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&check.stdout).contains("published_history.json: the bot has a file"));
}

#[test]
fn bot_with_forbidden_imports_is_rejected_from_a_competition() {
    let bot = "import os\n\n\ndef get_action(state, match_history):\n    return open(\"x\").read()\n";
    let folder = folder_with(&[("two.toml", TWO_PHASES), ("mine/Submission.py", bot)]);
    assert_snapshot!("cup_forbidden", whole(folder.path(), "run two.toml"));
}

#[test]
fn entrant_that_is_a_git_repository_plays_after_an_update() {
    let git = TWO_PHASES.replace("bot = \"./mine\"", "git = \"./repo\"").replace("resubmit = true\n", "");
    let bot = "def get_action(state, match_history):\n    return \"LEFT\"\n";
    let folder = folder_with(&[("two.toml", &git), ("repo/Submission.py", bot)]);
    for words in ["init -q", "add -A", "-c user.name=a -c user.email=a@b commit -qm first"] {
        let mut command = Command::new("git");
        command.args(words.split(' ')).current_dir(folder.path().join("repo"));
        assert!(command.status().unwrap().success(), "git {words}");
    }
    let early = agon(folder.path(), "run two.toml");
    assert_eq!(early.status.code(), Some(2));
    assert!(said(&early).contains("hint: run `agon update`"), "{}", said(&early));
    assert!(agon(folder.path(), "update two.toml").status.success());
    let run = agon(folder.path(), "run two.toml");
    assert!(run.status.success(), "{}", said(&run));
    assert!(!said(&run).contains("fault:"), "{}", said(&run));
}

#[test]
fn bot_that_changed_within_a_phase_is_rejected() {
    let slow = "import time\n\n\ndef get_action(state, match_history):\n    time.sleep(0.02)\n    return \"RIGHT\"\n";
    let competition = TWO_PHASES.replace("matches = 4", "matches = 200");
    let folder = folder_with(&[("two.toml", &competition), ("mine/Submission.py", slow)]);
    stop_after_a_match(folder.path());
    fs::write(folder.path().join("mine/Submission.py"), slow.replace("RIGHT", "LEFT")).unwrap();
    let refused = agon(folder.path(), "run two.toml");
    assert_eq!(refused.status.code(), Some(2));
    assert!(said(&refused).contains("Mine has changed since phase \"First\" started"), "{}", said(&refused));
    assert!(said(&refused).contains("hint: restore the old files"), "{}", said(&refused));
}

/// Starts a run and stops it with a signal, as CTRL-C does, after the first match. Checks that it prints how to resume.
fn stop_after_a_match(folder: &Path) {
    let mut run = Command::new(env!("CARGO_BIN_EXE_agon"));
    run.args(["run", "two.toml"]).current_dir(folder).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    let run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    agon_test_servers::wait_until("a match is stored", || {
        let table = agon(folder, "table two.toml --format json");
        let table: serde_json::Value = serde_json::from_slice(&table.stdout).unwrap_or_default();
        table["matches"].as_u64().is_some_and(|matches| matches > 0)
    });
    // No second run can start while the first one is running.
    let other = agon(folder, "run two.toml");
    assert_eq!(other.status.code(), Some(2), "{}", said(&other));
    assert!(said(&other).contains("is already running, in process"), "{}", said(&other));
    let pid = rustix::process::Pid::from_raw(i32::try_from(run.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let stopped = run.wait_with_output().unwrap();
    assert_eq!(stopped.status.code(), Some(1), "{}", said(&stopped));
    assert!(said(&stopped).contains("finishing the current games"), "{}", said(&stopped));
    assert!(said(&stopped).contains("resume with: agon run two.toml"), "{}", said(&stopped));
}

#[test]
fn players_yml_is_played_and_gets_result_pages() {
    let lines = include_str!("../../../test-bots/competitions/lines.py");
    let list = "players:\n- name: One\n  directory: one\n  command: python3 lines.py\n- name: Two\n  directory: two\n  command: python3 lines.py\n";
    let folder =
        folder_with(&[("players.yml", list), ("run/one/lines.py", lines), ("run/two/lines.py", lines)]);
    let run = agon(folder.path(), "run players.yml --base run");
    assert!(run.status.success(), "{}", said(&run));
    assert!(folder.path().join("run/results/players.ledger").exists());
    // The folder `run` is the default, as in the document.
    let without = agon(folder.path(), "run players.yml");
    assert!(without.status.success(), "{}", said(&without));
}
