//! `agon new`: for every game and language a starter bot that plays legal moves, the same ones in all languages; and folders with an
//! `agon.toml` as bots. The commands that it prints are run in `first_evening.rs`.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use common::{good, in_every_game_and_language, is_installed, shell_output};
use serde_json::Value as Json;
use tempfile::{TempDir, tempdir_in};

fn folder() -> TempDir {
    tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn agon(folder: &Path, words: &[&str]) -> Output {
    let mut command = common::agon(folder, words);
    command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    if let Some(python) = common::python() {
        command.env("AGON_PYTHON", python);
    }
    command.output().unwrap()
}

/// Stderr of a command that must fail with this exit code.
fn refused(folder: &Path, words: &[&str], code: i32) -> String {
    let output = agon(folder, words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{words:?}: {said}");
    assert!(said.contains("error: ") && said.contains("\nhint: "), "{words:?}: {said}");
    said
}

/// Commands that `agon new` prints.
fn printed_commands(message: &str) -> Vec<&str> {
    let next = message.split("\nNext:\n\n").nth(1).unwrap();
    next.lines().map(str::trim).collect()
}

/// Writes a bot whose name, which the other bots receive, contains quotes, backslashes and non-ASCII characters.
fn write_awkward_opponent(folder: &Path) {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bots/python/bot.py");
    fs::create_dir(folder).unwrap();
    fs::copy(example, folder.join("bot.py")).unwrap();
    let toml = "command = \"python3 bot.py\"\nname = '\"]},\\ñ\\u00e9 \\\\\"'\n";
    fs::write(folder.join("agon.toml"), toml).unwrap();
}

/// Creates the bot, and returns the scores and (if they are the same text in all languages) the answers of a game at each seat with a
/// separate role.
fn make_and_play(at: &Path, game: &str, language: &str) -> String {
    let name = format!("my-{game}-{language}");
    let message = good(&agon(at, &["new", game, &name, "--lang", language]));
    let commands = printed_commands(&message);
    let readme = fs::read_to_string(at.join(&name).join("README.md")).unwrap();
    assert_eq!(commands[0], format!("cd {name}"));
    for command in &commands[1..] {
        assert!(readme.contains(&format!("\n{command}\n")), "the README does not contain {command}");
    }
    assert!(commands.iter().filter(|c| c.starts_with("agon play ")).count() >= 2, "{message}");
    let from_starter = agon_games::game_info(game).unwrap().starters.opponents[0].replace(". ", "ME ");
    let seatings: &[&str] = match game {
        "solitude-scramble" => &["ME house:greedy house:left house:random"],
        "colour-battle" => &["ME house:random house:sweeper --set rounds=60"],
        "connect-five" => {
            write_awkward_opponent(&at.join("awkward"));
            &["ME house:line-counter --games 4", "awkward ME"]
        }
        "hide-and-seek" => &["ME house:running-hider", "house:chasing-seeker ME"],
        "word-racer" => &["ME house:rows --games 2"],
        _ => &[from_starter.split(" --seed").next().unwrap()],
    };
    let plays = seatings.iter().map(|seats| {
        let mut words = vec!["play", game];
        words.extend(seats.split(' ').map(|word| if word == "ME" { name.as_str() } else { word }));
        words.extend(["--seed", "11", "--json", "--force", "--record", "game.agon"]);
        let played: Json = serde_json::from_str(&good(&agon(at, &words))).unwrap();
        for seat in played["seats"].as_array().unwrap() {
            let faults = seat["faults"].as_object().unwrap();
            assert!(faults.values().all(|count| count == 0), "{game} in {language}: {seat}");
        }
        let scores: Vec<&Json> =
            played["results"].as_array().unwrap().iter().map(|game| &game["scores"]).collect();
        let replay: Json =
            serde_json::from_str(&good(&agon(at, &["replay", "game.agon", "--json"]))).unwrap();
        let turns: Vec<&Json> =
            replay["games"].as_array().unwrap().iter().map(|game| &game["turns"]).collect();
        // In Hide and Seek the Python API answers with cells, the other languages with words.
        if game == "hide-and-seek" { format!("{scores:?}") } else { format!("{scores:?} {turns:?}") }
    });
    plays.collect::<Vec<_>>().join("\n")
}

/// The starters of a game are the same bot in five languages: one that misreads the game would play another game.
#[test]
fn starters_of_a_game_play_the_same_game_in_every_language() {
    let at = folder();
    let mut games: BTreeMap<&str, Vec<(&str, String)>> = BTreeMap::new();
    let played = in_every_game_and_language(|game, language| {
        let at = at.path().join(language);
        fs::create_dir_all(&at).unwrap();
        make_and_play(&at, game, language)
    });
    for (game, language, answers) in played {
        games.entry(game).or_default().push((language, answers));
    }
    for (game, plays) in games {
        let (first, wanted) = &plays[0];
        for (language, answers) in &plays[1..] {
            assert_eq!(answers, wanted, "{game}: {language} plays differently from {first}");
        }
    }
}

#[test]
fn existing_files_are_never_overwritten() {
    let at = folder();
    fs::create_dir(at.path().join("full")).unwrap();
    fs::write(at.path().join("full/mine.txt"), "mine").unwrap();
    fs::write(at.path().join("file"), "mine").unwrap();
    std::os::unix::fs::symlink("nowhere", at.path().join("link")).unwrap();
    for (name, words) in [
        ("full", "not empty"),
        ("file", "not a folder"),
        ("link", "not a folder"),
        ("full/mine.txt", "not a folder"),
    ] {
        assert!(refused(at.path(), &["new", "connect-five", name], 2).contains(words), "{name}");
    }
    assert!(refused(at.path(), &["new", "connect-fife", "bot"], 2).contains("did you mean `connect-five`"));
    assert!(
        refused(at.path(), &["new", "connect-five", "bot", "--lang", "jave"], 2)
            .contains("did you mean `java`")
    );
    refused(at.path(), &["new", "connect-five", "file/bot"], 2);
    // A write fails halfway (files may not grow beyond 32 KiB): no incomplete folder stays behind.
    let script = format!("trap '' XFSZ; ulimit -f 64; {} new word-racer bot", env!("CARGO_BIN_EXE_agon"));
    let output = Command::new("sh").args(["-c", &script]).current_dir(at.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let mut names: Vec<_> =
        fs::read_dir(at.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["file", "full", "link"]);
    assert_eq!(fs::read_to_string(at.path().join("full/mine.txt")).unwrap(), "mine");
    assert_eq!(fs::read_dir(at.path().join("full")).unwrap().count(), 1);
}

#[test]
fn empty_folder_is_filled_and_names_are_sanitized() {
    let at = folder();
    fs::create_dir(at.path().join("4 wins")).unwrap();
    let here = at.path().join("4 wins");
    let message = good(&agon(&here, &["new", "connect-five", "."]));
    assert!(message.starts_with("4-wins, a bot for") && !message.contains("  cd "), "{message}");
    assert!(fs::read_to_string(here.join("Bot4Wins.py")).unwrap().contains("\nclass Bot4Wins:\n"));
    assert_eq!(fs::read_dir(at.path()).unwrap().count(), 1, "a temporary folder is left");
    let played = good(&agon(at.path(), &["play", "connect-five", "4 wins", "house:random", "--seed", "1"]));
    assert!(played.contains("none"), "{played}");
    // Parent folders are created, and the printed shell command is quoted.
    let message = good(&agon(at.path(), &["new", "word-racer", "a/it's", "--lang", "js"]));
    assert_eq!(printed_commands(&message)[0], r"cd 'a/it'\''s'");
    shell_output(at.path(), &printed_commands(&message)[..1]);
    let made: Json = serde_json::from_str(&good(&agon(
        at.path(),
        &["new", "word-racer", "b", "--lang", "cpp", "--no-build", "--json"],
    )))
    .unwrap();
    assert_eq!((&made["agon"], &made["version"], &made["built"]), (&"new".into(), &1.into(), &false.into()));
    assert_eq!(made["files"][0], "bot.cpp");
}

#[test]
fn bot_that_is_not_built_is_rejected_with_the_build_command() {
    let at = folder();
    for (language, build) in [
        ("cpp", "(cd bot-cpp && g++ -O2 -std=c++17 -o bot bot.cpp)"),
        ("rust", "(cd bot-rust && rustc --edition 2021 -O bot.rs)"),
        ("java", "(cd bot-java && javac -d build Bot.java)"),
    ] {
        let name = format!("bot-{language}");
        good(&agon(at.path(), &["new", "connect-five", &name, "--lang", language, "--no-build"]));
        if language == "java" && !is_installed("java") {
            continue;
        }
        let said = refused(at.path(), &["play", "connect-five", &name, "house:random"], 2);
        assert!(said.contains(&format!("hint: build it first: {build}\n")), "{said}");
    }
}

#[test]
fn new_bot_is_built_if_the_compiler_is_installed() {
    let at = folder();
    if !is_installed("rustc") {
        return;
    }
    let message = good(&agon(at.path(), &["new", "solitude-scramble", "bot", "--lang", "rust"]));
    assert!(
        message.starts_with("bot, a bot for Solitude Scramble, in Rust, built and ready to play\n"),
        "{message}"
    );
    let play = ["play", "solitude-scramble", "bot", "house:left", "house:left", "house:left", "--seed", "1"];
    assert!(!good(&agon(at.path(), &play)).contains("fault: "));
    // Without a compiler the bot is still written, and a note is printed.
    let mut command = common::agon(at.path(), &["new", "connect-five", "other", "--lang", "rust"]);
    let output = command.env("PATH", at.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success()
            && said.contains("note: the bot is not built yet: there is no program `rustc`"),
        "{said}"
    );
    assert!(at.path().join("other/bot.rs").exists() && !at.path().join("other/bot").exists());
}

#[test]
fn bot_with_an_agon_toml_runs_in_its_folder_with_its_own_name() {
    let at = folder();
    let bot = at.path().join("bot");
    fs::create_dir(&bot).unwrap();
    // The bot needs a file of its folder by a relative path.
    let script = "import json, sys\nopen('here.txt').read()\n\
                  for line in sys.stdin:\n    m = json.loads(line)\n    if m['type'] == 'bye': break\n    \
                  r = {'id': m['id']}\n    if m['type'] == 'turn': r['answer'] = m['observation']['board'][0].index(0)\n    \
                  print(json.dumps(r), flush=True)\n";
    fs::write(bot.join("main.py"), script).unwrap();
    fs::write(bot.join("here.txt"), "").unwrap();
    let toml = |text: &str| fs::write(bot.join("agon.toml"), text).unwrap();
    let play = ["play", "connect-five", "bot", "house:random", "--seed", "3", "--json"];

    toml("command = \"python3 main.py\"\nname = \"The Left\"\n");
    let played = |words: &[&str]| -> Json { serde_json::from_str(&good(&agon(at.path(), words))).unwrap() };
    let named = played(&play);
    assert_eq!((&named["seats"][0]["name"], &named["seats"][0]["bot"]), (&"The Left".into(), &"bot".into()));
    assert!(named["seats"][0]["faults"].as_object().unwrap().values().all(|count| count == 0), "{named}");
    // The hash in the record distinguishes versions of the bot, including helper files.
    assert_eq!(named["digest"], played(&play)["digest"]);
    fs::write(bot.join("here.txt"), "changed").unwrap();
    assert_ne!(named["digest"], played(&play)["digest"]);
    // Without a name it gets the name of its folder.
    toml("command = \"python3 main.py\"\n");
    assert_eq!(played(&play)["seats"][0]["name"], "bot");

    for (text, words) in [
        ("comand = \"python3 main.py\"\n", "bot/agon.toml:1: unknown key `comand`"),
        ("# a comment\nname = \"x\"\n", "bot/agon.toml:3: `command` is missing"),
        ("command = \"python3 main.py\"\nprotocol = \"jsonlines\"\n", "bot/agon.toml:2: unknown protocol"),
        ("command = \"python3 main.py\"\nprotocol = \"word-racer\"\n", "cannot play connect-five"),
        ("command = \"no-such-program main.py\"\n", "no program `no-such-program`"),
        ("command = \"./bot\"\n", "there is no file"),
    ] {
        toml(text);
        let said = refused(at.path(), &play, 2);
        assert!(said.contains(words), "{text}: {said}");
    }
}

#[test]
fn source_that_is_newer_than_the_build_gets_a_note() {
    let at = folder();
    let bot = at.path().join("bot");
    fs::create_dir(&bot).unwrap();
    let set = |name: &str, seconds: u64| {
        let file = fs::File::options().write(true).create(true).truncate(false).open(bot.join(name)).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds)).unwrap();
    };
    fs::write(bot.join("agon.toml"), "command = \"./run\"\nbuild = \"compile -o run source.txt\"\n").unwrap();
    // The program does not matter: it ends at once.
    fs::copy("/bin/true", bot.join("run")).unwrap();
    let play = ["play", "connect-five", "bot", "house:random"];
    let note = |output: &Output| {
        String::from_utf8_lossy(&output.stderr).contains("source.txt was changed after the last build")
    };
    set("run", 2_000_000_000);
    set("source.txt", 1_900_000_000);
    assert!(!note(&agon(at.path(), &play)));
    set("source.txt", 2_100_000_000);
    assert!(note(&agon(at.path(), &play)));
}

/// Example bots and new bots share files and are built and run in the same way.
#[test]
fn example_bots_are_built_and_run_like_new_bots() {
    let at = folder();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bots");
    let table = fs::read_to_string(examples.join("README.md")).unwrap();
    for (language, example) in [("rust", "rust"), ("cpp", "cpp"), ("java", "java"), ("js", "javascript")] {
        good(&agon(at.path(), &["new", "connect-five", language, "--lang", language, "--no-build"]));
        let lines = |path: &Path| -> Vec<String> {
            let text = fs::read_to_string(path).unwrap();
            text.lines()
                .filter(|l| !l.starts_with('#') && !l.starts_with("name"))
                .map(str::to_owned)
                .collect()
        };
        let theirs = lines(&examples.join(example).join("agon.toml"));
        assert_eq!(lines(&at.path().join(language).join("agon.toml")), theirs);
        if let Some(build) = theirs.iter().find_map(|line| line.strip_prefix("build = ")) {
            assert!(
                table.contains(build.trim_matches('"')),
                "examples/bots/README.md does not contain {build}"
            );
        }
    }
    let python = examples.join("python");
    let played = good(&agon(
        at.path(),
        &["play", "word-racer", python.to_str().unwrap(), "house:filler", "--seed", "5"],
    ));
    assert!(played.contains("example-python") && !played.contains("fault: "), "{played}");
}
