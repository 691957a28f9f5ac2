//! `agon init` and `agon update`: competition files, and entrants that are git repositories.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::process::{Command, Output};

use common::place::{Place, reader};
use serde_json::Value as Json;

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn git(place: &Place, repository: &str, words: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgSign=false"]);
    command.args(words).current_dir(place.path(repository));
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}

fn commit(place: &Place, repository: &str, file: &str, content: &str, subject: &str) {
    place.write(&format!("{repository}/{file}"), content);
    git(place, repository, &["add", "--all"]);
    git(place, repository, &["commit", "--quiet", "-m", subject]);
}

/// Masks commit ids, which depend on the time of the commit.
fn without_ids(text: &str) -> String {
    let is_id = |word: &str| word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let word = |word: &str| {
        let bare = word.trim_end_matches(',');
        if is_id(bare) { word.replace(bare, "[id]") } else { word.to_owned() }
    };
    text.lines().map(|line| line.split(' ').map(word).collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[test]
fn init_writes_a_competition_file_once_and_prints_the_next_steps() {
    let place = Place::new(&[]);
    for game in agon_games::infos().iter().map(|info| info.id) {
        let file = format!("{game}.toml");
        let told = place.good(&["init", game, &file]);
        assert!(told.contains(&format!("agon run {file}")), "{told}");
        let written = fs::read_to_string(place.path(&file)).unwrap();
        assert!(written.contains(&format!("agon run {file}")) && !written.contains("FILE"), "{written}");
        assert!(written.lines().count() <= 65, "the file is too long");
        // The file can be parsed: `update` has nothing to do.
        assert!(place.good(&["update", &file]).starts_with("no entrant is a git repository"));
        let again = place.run(&["init", game, &file]);
        assert_eq!(code(&again), 2);
        assert_eq!(fs::read_to_string(place.path(&file)).unwrap(), written);
    }
    insta::assert_snapshot!(place.good(&["init", "word-racer", "my cup.toml"]));
    let json: Json = serde_json::from_str(&place.good(&["init", "word-racer", "c.toml", "--json"])).unwrap();
    assert_eq!((&json["agon"], &json["game"]), (&Json::from("init"), &Json::from("word-racer")));
    let nowhere = place.run(&["init", "word-racer", "no/such/folder.toml"]);
    assert_eq!(code(&nowhere), 2);
}

#[test]
fn all_mistakes_of_a_file_are_listed_with_their_lines() {
    let place = Place::new(&[(
        "cup.toml",
        "game = \"word-racr\"\nsandbox = \"on\"\n\n[[phase]]\nformat = \"cup\"\n",
    )]);
    let output = place.run(&["update", "cup.toml"]);
    assert_eq!(code(&output), 2);
    insta::assert_snapshot!(text(&output.stderr));
    fs::write(place.path("latin.toml"), b"name = \"caf\xe9\"\n").unwrap();
    let output = place.run(&["update", "latin.toml"]);
    assert_eq!(
        (code(&output), text(&output.stderr).lines().next()),
        (2, Some("error: latin.toml:1: not UTF-8 text"))
    );
    let output = place.run(&["update", "none.toml"]);
    assert_eq!(code(&output), 2);
    assert!(text(&output.stderr).contains("hint: write one with `agon init GAME none.toml`"));
}

#[test]
fn update_fetches_new_versions_and_a_failure_does_not_stop_the_others() {
    let entrant = |name: &str, more: &str| format!("[[entrant]]\nname = \"{name}\"\n{more}\n");
    let competition = [
        "game = \"colour-battle\"\n[[phase]]\nformat = \"arena\"\n".to_owned(),
        entrant("Rambo", "bot = \"house:random\""),
        entrant("Missing", "git = \"missing\""),
        entrant("Picasso", "git = \"picasso\"\npath = \"picasso.py\""),
        entrant("Blue Picasso", "git = \"picasso\"\nbranch = \"blue\""),
    ];
    let place = Place::new(&[("cup/cup.toml", &competition.concat()), ("cup/picasso/README", "")]);
    git(&place, "cup/picasso", &["init", "--quiet", "--initial-branch=main"]);
    commit(&place, "cup/picasso", "picasso.py", "x = 1\n", "first strokes");
    git(&place, "cup/picasso", &["branch", "blue"]);
    // From another folder: paths are relative to the file's folder.
    let update = || place.run(&["update", "cup/cup.toml"]);
    let (first, same) = (update(), update());
    commit(&place, "cup/picasso", "picasso.py", "x = 2\n", "bolder");
    commit(&place, "cup/picasso", "palette.py", "", "a palette");
    let third = update();
    assert_eq!((code(&first), code(&same), code(&third)), (1, 1, 1));
    let told = [&first, &same, &third].map(|output| without_ids(&text(&output.stdout))).join("\n");
    let told = told.replace(place.path("").to_str().unwrap().trim_end_matches('/'), "[here]");
    insta::assert_snapshot!(told);
    let json = place.run(&["update", "cup/cup.toml", "--json"]);
    let json: Json = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((&json["agon"], &json["version"]), (&Json::from("update"), &Json::from(1)));
    let entries = json["entrants"].as_array().unwrap();
    let updated: Vec<bool> = entries.iter().map(|entry| entry["updated"].as_bool().unwrap()).collect();
    assert_eq!(updated, [false, true, true]);
    assert_eq!(entries[1]["old"], entries[1]["new"]);
    let folder = entries[1]["folder"].as_str().unwrap();
    assert_eq!(fs::read_to_string(format!("{folder}/picasso.py")).unwrap(), "x = 2\n");
    // Without git everything else still works.
    let without =
        common::agon(&place.path(""), &["update", "cup/cup.toml"]).env("PATH", "/nowhere").output().unwrap();
    assert!(
        text(&without.stdout).contains("git is not installed on this machine"),
        "{}",
        text(&without.stdout)
    );
}

#[test]
fn player_of_a_list_can_be_read_from_another_base() {
    let place = Place::new(&[
        ("conf/players.yml", "players:\n  - {name: A, directory: a, command: python3 racer.py}\n"),
        ("run/a/racer.py", &reader("True")),
    ]);
    let told = place.good(&["check", "word-racer", "conf/players.yml#A@run"]);
    assert!(told.contains("yes: accepted"), "{told}");
}
