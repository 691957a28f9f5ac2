//! Playing, recording and replaying through the program: one seed gives one digest, and every change of a record is detected.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;

use common::{json, run, run_in, stdout};
use tempfile::tempdir;

/// A short game of each kind with fast bots.
const GAMES: [&str; 5] = [
    "solitude-scramble house:random house:greedy house:left house:second-best",
    "colour-battle house:random house:random house:random --set rounds=60",
    "connect-five house:random house:random --match-games 2",
    "hide-and-seek house:random-seeker house:random-hider --set steps=200",
    "word-racer house:random house:random",
];

fn play(game: &str, more: &str, file: &std::path::Path) -> String {
    stdout(&format!("play {game} --seed 7 --games 5 {more} --force --record {}", file.display()))
}

fn digest(text: &str) -> String {
    text.lines().find(|line| line.starts_with("digest: ")).unwrap().to_owned()
}

#[test]
fn digest_depends_on_the_seed_and_not_on_the_number_of_jobs() {
    let folder = tempdir().unwrap();
    for game in GAMES {
        let file = folder.path().join("a.agon");
        let first = digest(&play(game, "--jobs 1", &file));
        let bytes = fs::read(&file).unwrap();
        for jobs in ["--jobs 1", "--jobs 2", "--jobs 7", ""] {
            assert_eq!(first, digest(&play(game, jobs, &file)), "{game} {jobs}");
        }
        let verified = stdout(&format!("replay {} --verify", file.display()));
        assert_eq!(first, digest(&verified), "{game}");
        let other = stdout(&format!("play {game} --seed 8 --games 5 --force --record {}", file.display()));
        assert_ne!(first, digest(&other), "{game}");
        assert!(!bytes.is_empty());
    }
}

#[test]
fn record_with_a_changed_byte_is_rejected_with_the_reason() {
    let folder = tempdir().unwrap();
    for game in GAMES {
        let file = folder.path().join("a.agon");
        play(game, "", &file);
        let good = fs::read(&file).unwrap();
        let positions = (0..good.len()).step_by(good.len() / 12 + 1).chain([0, good.len() - 1]);
        for at in positions {
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            fs::write(&file, bad).unwrap();
            let output = run(&format!("replay {} --verify", file.display()));
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{game} byte {at}: {said}");
            assert!(said.starts_with("error: ") && said.contains("\nhint: "), "{game} byte {at}: {said}");
            assert!(!said.contains("panicked"), "{said}");
        }
        fs::write(&file, &good[..good.len() - 1]).unwrap();
        let output = run(&format!("replay {}", file.display()));
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8(output.stderr).unwrap().contains("truncated"));
    }
}

#[test]
fn replay_json_contains_all_turns_and_frames() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("a.agon");
    for game in GAMES {
        play(game, "", &file);
        let replay = json(&format!("replay {} --json --frames", file.display()));
        assert_eq!((&replay["agon"], &replay["version"]), (&"replay".into(), &1.into()));
        let games = replay["games"].as_array().unwrap();
        assert_eq!(games.len(), 5);
        for game in games {
            assert_eq!(game["header"]["rules"], 1);
            assert_eq!(
                game["turns"].as_array().unwrap().len(),
                game["frames"]["deltas"].as_array().unwrap().len()
            );
            assert!(game["frames"]["first"].is_object());
            assert!(game["digest"].as_str().unwrap().starts_with("sha256:"));
        }
        let one = json(&format!("replay {} --json --game 3", file.display()));
        assert_eq!(one["games"][0]["digest"], games[2]["digest"]);
    }
    let output = run(&format!("replay {} --game 6", file.display()));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn play_json_is_versioned_and_complete() {
    let played = json("play connect-five house:random house:random --seed 7 --games 4 --json");
    assert_eq!(
        (&played["agon"], &played["version"], &played["games"]),
        (&"play".into(), &2.into(), &4.into())
    );
    let numbers: Vec<u64> =
        played["results"].as_array().unwrap().iter().map(|one| one["game"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [1, 2, 3, 4], "games are numbered from 1");
    assert_eq!(played["results"].as_array().unwrap().len(), 4);
    let seat = &played["seats"][0];
    for field in ["seat", "name", "bot", "role", "score", "wins", "win_share", "faults", "answers", "time_us"]
    {
        assert!(!seat[field].is_null(), "{field}");
    }
    assert!(seat["score"]["low"].as_f64() <= seat["score"]["mean"].as_f64());
}

#[test]
fn record_is_written_completely_or_not_at_all() {
    let folder = tempdir().unwrap();
    let output = run_in(folder.path(), "play connect-five house:random house:missing --record a.agon", "");
    assert_eq!(output.status.code(), Some(2));
    let output = run_in(folder.path(), "play connect-five house:random house:random --record .", "");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "a file is left");
    let output = run_in(folder.path(), "play connect-five house:random house:random --record a.agon", "");
    assert!(output.status.success());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "a temporary file is left");
}

#[test]
fn replay_page_escapes_names() {
    let folder = tempdir().unwrap();
    for game in GAMES {
        let play = format!("play {game} --seed 7 --force --record a.agon");
        assert!(run_in(folder.path(), &play, "").status.success());
        let output = run_in(folder.path(), "replay a.agon --html a.html", "");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let page = fs::read_to_string(folder.path().join("a.html")).unwrap();
        let data = page.split("application/json\">").nth(1).unwrap().split("</script>").next().unwrap();
        let film: serde_json::Value = serde_json::from_str(data).unwrap();
        assert_eq!((&film["agon"], &film["version"]), (&"film".into(), &1.into()));
        assert!(film["deltas"].as_array().unwrap().len() > 3);
        assert!(!data.contains('<'), "the data contains markup");
        assert!(page.contains("default-src 'none'"), "the page may load external resources");
        assert!(!page.contains(" src=") && !page.contains("<link"), "the page refers to external resources");
    }
    let two = format!("play {} --seed 7 --games 2 --force --record a.agon", GAMES[0]);
    assert!(run_in(folder.path(), &two, "").status.success());
    assert_eq!(run_in(folder.path(), "replay a.agon --html a.html", "").status.code(), Some(2));
    assert!(run_in(folder.path(), "replay a.agon --game 2 --html a.html", "").status.success());
}

#[test]
fn replay_writes_pictures_and_gifs_of_chosen_turns() {
    let folder = tempdir().unwrap();
    for game in GAMES {
        let play = format!("play {game} --seed 7 --force --record a.agon");
        assert!(run_in(folder.path(), &play, "").status.success());
        for arguments in ["--png a.png", "--png a.png --turn 1 --seat 0 --theme light --width 300"] {
            let output = run_in(folder.path(), &format!("replay a.agon {arguments}"), "");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(&fs::read(folder.path().join("a.png")).unwrap()[1..4], b"PNG", "{game} {arguments}");
        }
        let output = run_in(folder.path(), "replay a.agon --gif a.gif --from 1 --to 3 --speed 4 --width 240", "");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(&fs::read(folder.path().join("a.gif")).unwrap()[..6], b"GIF89a", "{game}");
    }
    let two = format!("play {} --seed 7 --games 2 --force --record a.agon", GAMES[0]);
    assert!(run_in(folder.path(), &two, "").status.success());
    for (arguments, what) in [
        ("--png b.png", "--png: the file contains 2 games"),
        ("--game 1 --png b.png --turn 9999", "--turn: turn 9999 does not exist"),
        ("--game 1 --gif b.gif --from 3 --to 2", "--from 3 is after --to 2"),
        ("--game 1 --gif b.gif --speed 0", "--speed: 0 is not possible"),
        ("--game 1 --gif b.gif --width 9", "--width: 9 is not possible"),
        ("--game 1 --png b.png --seat 63", "--seat: seat 63 does not exist"),
        ("--seat 0", "--seat is for pictures only"),
        ("--game 1 --turn 3", "--png"),
    ] {
        let output = run_in(folder.path(), &format!("replay a.agon {arguments}"), "");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && stderr.contains(what), "{arguments}: {stderr}");
        assert!(!folder.path().join("b.png").exists() && !folder.path().join("b.gif").exists(), "{arguments}");
    }
}

#[test]
fn custom_word_list_is_recorded_by_its_hash_and_required_for_a_replay() {
    let folder = tempdir().unwrap();
    let list = folder.path().join("mine.txt");
    fs::write(&list, "CAT\nDOG\nAT\n").unwrap();
    let play =
        "play word-racer house:random house:random --seed 7 --set words=mine.txt --force --record a.agon";
    assert!(run_in(folder.path(), play, "").status.success());
    let without = run_in(folder.path(), "replay a.agon", "");
    assert_eq!(without.status.code(), Some(1));
    assert!(String::from_utf8(without.stderr).unwrap().contains("--set words=FILE"));
    let with = run_in(folder.path(), "replay a.agon --verify --set words=mine.txt", "");
    assert!(with.status.success(), "{}", String::from_utf8_lossy(&with.stderr));
    fs::write(&list, "CAT\nD0G\n").unwrap();
    let bad = run_in(folder.path(), play, "");
    assert_eq!(bad.status.code(), Some(2));
    assert!(String::from_utf8(bad.stderr).unwrap().contains('2'), "the line number is missing");
}

#[test]
fn human_plays_through_stdin() {
    let folder = tempdir().unwrap();
    let output = run_in(folder.path(), "play connect-five human house:random --seed 7", "4\nx\n4\n");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("seat 0, ") && said.contains("Invalid input: "), "{said}");
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("1 crash") && table.contains("the player left"), "{table}");
}

#[test]
fn output_without_a_terminal_has_no_colours() {
    for game in GAMES {
        let text = stdout(&format!("play {game} --seed 7 --watch"));
        assert!(!text.contains('\x1b'), "{game}");
        assert!(text.contains("--- start\n") && text.contains("\nended: "), "{game}");
    }
}

#[test]
fn doctor_finds_no_problems_on_this_machine() {
    let doctor = json("doctor --json");
    let checks = doctor["checks"].as_array().unwrap();
    assert!(checks.len() >= 6);
    assert!(checks.iter().all(|check| check["health"] != "BAD"), "{doctor:#}");
}

#[test]
fn every_listed_setting_accepts_its_default() {
    for info in json("games --json")["games"].as_array().unwrap() {
        let id = info["id"].as_str().unwrap();
        for setting in info["settings"].as_array().unwrap() {
            if let Some(default) = setting.get("default") {
                let text = default.as_str().map_or_else(|| default.to_string(), str::to_owned);
                stdout(&format!("show {id} --set {}={text}", setting["name"].as_str().unwrap()));
            }
        }
    }
}
