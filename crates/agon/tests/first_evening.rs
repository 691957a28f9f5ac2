//! The first evening of an author: from an empty folder to an own bot in the table of a competition, in every game and language. After the
//! first line, only lines are run that the program has printed. Also `agon init` with bots of the user.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::path::Path;

use common::{agon, folder_with, good, in_every_game_and_language, shell, shell_output};
use serde_json::Value as Json;

/// Name of the author's bot.
const BOT: &str = "my-bot";

/// Runs a line, which must succeed and show no fault of a bot. Returns all that it prints.
fn run_line(folder: &Path, line: &str) -> String {
    let output = shell(folder, &[line]);
    let shown = good(&output);
    assert!(!shown.contains("fault: "), "{line}: {shown}");
    shown + &String::from_utf8_lossy(&output.stderr)
}

/// The lines to paste that a command has printed, without what they do.
fn printed_lines(said: &str) -> Vec<String> {
    let is_title = |line: &str| {
        let line = line.to_lowercase();
        line.ends_with("next:") || line.ends_with("next steps:")
    };
    let after = said.lines().skip_while(|line| !is_title(line)).skip(1);
    let lines = after.skip_while(|line| line.is_empty()).take_while(|line| line.starts_with("  "));
    lines.map(|line| line.trim().split("   ").next().unwrap().to_owned()).collect()
}

/// Checks in a table, as JSON, that the author's bot is in it, once in each role, and made no fault.
fn assert_played_without_faults(table: &Json, game: &str, here: &str) {
    let sheets = table["sheets"].as_array().unwrap();
    let confidence = sheets.iter().filter(|sheet| sheet["id"].as_str().unwrap().starts_with("confidence"));
    let rows = confidence.flat_map(|sheet| sheet["rows"].as_array().unwrap());
    let own: Vec<&Json> = rows.filter(|row| row["name"].as_str().unwrap().starts_with(BOT)).collect();
    let roles = agon_games::game_info(game).unwrap().roles.len();
    assert_eq!(own.len(), roles, "{here}: {table:#}");
    assert!(own.iter().all(|row| row["faults"] == "none"), "{here}: {own:#?}");
}

/// An evening with one game and one language. Returns the table.
fn spend_evening(folder: &Path, game: &str, language: &str) -> String {
    let here = format!("{game} in {language}");
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0, "{here}: the folder is not empty");
    let made = run_line(folder, &format!("agon new {game} {BOT} --lang {language}"));
    let lines = printed_lines(&made);
    assert_eq!(lines[0], format!("cd {BOT}"), "{here}: {made}");
    for wanted in ["agon check ", "agon play ", "agon init "] {
        assert!(lines.iter().any(|line| line.starts_with(wanted)), "{here}: no {wanted}in {made}");
    }
    // All lines that `agon new` prints are pasted. The last one, `agon init`, prints the next one first, and so does that one.
    let home = folder.join(BOT);
    let mut said = String::new();
    for line in &lines[1..] {
        said = run_line(&home, line);
    }
    let mut line = String::new();
    for wanted in ["agon run ", "agon table "] {
        line = printed_lines(&said).first().cloned().unwrap_or_default();
        assert!(line.starts_with(wanted), "{here}: no {wanted}in {said}");
        said = run_line(&home, &line);
    }
    let is_own = |line: &str| line.split_whitespace().any(|word| word == BOT);
    assert!(said.lines().any(is_own), "{here}: {said}");
    let table = shell_output(&home, &[&format!("{line} --format json")]);
    assert_played_without_faults(&serde_json::from_str(&table).unwrap(), game, &here);
    said
}

#[test]
fn first_evening_leads_from_an_empty_folder_to_the_table_by_printed_lines() {
    let at = folder_with(&[]);
    let tables = in_every_game_and_language(|game, language| {
        let folder = at.path().join(language).join(game);
        fs::create_dir_all(&folder).unwrap();
        spend_evening(&folder, game, language)
    });
    assert!(tables.iter().all(|(_, _, table)| table.contains("Rank")), "{tables:?}");
}

/// What `agon init` with these arguments prints, and the file that it writes.
fn init(folder: &Path, file: &str, words: &[&str]) -> (String, String) {
    let told = good(&agon(folder, &[&["init"][..], words].concat()).output().unwrap());
    (told, fs::read_to_string(folder.join(file)).unwrap())
}

#[test]
fn init_enters_bots_by_their_paths_from_the_file_and_with_unique_names() {
    let folder = folder_with(&[("bots/random/Bot.py", ""), ("cups/README", "")]);
    let bots = ["--bot", "bots/random", "--bot", "bots/random/Bot.py", "--bot", "house:mcts"];
    let words = [&["connect-five", "cups/cup.toml"][..], &bots[..]].concat();
    let (told, file) = init(folder.path(), "cups/cup.toml", &words);
    assert!(told.contains(", with random 2, Bot, mcts and the house bots\n"), "{told}");
    let first = "[[entrant]]\nname = \"random 2\"\nbot = \"../bots/random\"\n\n\
                 [[entrant]]\nbot = \"../bots/random/Bot.py\"\n\n\
                 [[entrant]]\nbot = \"house:mcts\"\n\n\
                 [[entrant]]\nbot = \"house:random\"\n";
    assert!(file.contains(first), "{file}");
    // Beside the bots, and in the folder of a bot.
    let (_, file) =
        init(&folder.path().join("bots"), "cup.toml", &["connect-five", "cup.toml", "--bot", "random"]);
    assert!(file.contains("\nbot = \"./random\"\n"), "{file}");
    let (_, file) =
        init(&folder.path().join("bots/random"), "cup.toml", &["connect-five", "cup.toml", "--bot", "."]);
    assert!(file.contains("\nname = \"random 2\"\nbot = \".\"\n"), "{file}");
}

#[test]
fn init_enters_a_bot_in_each_role_or_in_that_of_its_class() {
    let folder = folder_with(&[("players.py", "")]);
    let bots = ["--bot", "players.py", "--bot", "players.py:FastSeeker"];
    let words = [&["hide-and-seek", "cup.toml", "--short"][..], &bots[..]].concat();
    let (_, file) = init(folder.path(), "cup.toml", &words);
    for entrant in [
        "[[entrant]]\nname = \"players seeker\"\nbot = \"./players.py\"\nrole = \"seeker\"\n",
        "[[entrant]]\nname = \"players hider\"\nbot = \"./players.py\"\nrole = \"hider\"\n",
        "[[entrant]]\nbot = \"./players.py:FastSeeker\"\nrole = \"seeker\"\n",
    ] {
        assert!(file.contains(entrant), "{entrant}{file}");
    }
}

#[test]
fn init_writes_nothing_for_a_bot_that_is_not_there() {
    let folder = folder_with(&[("bot.py", "")]);
    for (bot, words) in [
        ("python3 bot.py", "`python3 bot.py` is not a folder or a file"),
        ("human", "`human` is not a folder or a file"),
        ("none.py", "none.py: the file does not exist"),
        ("house:none", "no house bot `none`"),
    ] {
        let refused =
            agon(folder.path(), &["init", "connect-five", "cup.toml", "--bot", bot]).output().unwrap();
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{bot}: {said}");
        assert!(said.contains(words) && said.contains("hint: "), "{bot}: {said}");
        assert!(!folder.path().join("cup.toml").exists(), "{bot}");
    }
}

#[test]
fn short_competition_of_every_game_is_valid_without_own_bots() {
    let folder = folder_with(&[]);
    for info in agon_games::infos() {
        let file = format!("{}.toml", info.id);
        let (told, text) = init(folder.path(), &file, &[info.id, &file, "--short"]);
        assert!(
            told.starts_with(&format!("{file}: a short {}, with the house bots\n", info.title)),
            "{told}"
        );
        assert!(told.contains(&format!("\n  agon run {file} ")), "{told}");
        assert!(text.contains(&format!("agon run {file}")) && !text.contains("FILE"), "{text}");
    }
}
