//! The README of the hostile bots, and hostile names and output on terminals and pages.

use std::fs;

use crate::harness::{Harness, Who, collection};
use crate::manifest::BOTS;
use crate::{Bot, Expect};

const BEGIN: &str = "<!-- the collection, written by `AGON_BLESS=1 cargo test -p agon --test hostile` -->\n";
const END: &str = "<!-- end -->\n";

/// Description in a bot's file: its attack, and the required result.
fn words(bot: &Bot) -> (String, String) {
    let source = bot.source();
    let file = if source.is_dir() { source.join("Submission.py") } else { source };
    let text = fs::read_to_string(file).expect("the bot's file");
    let text =
        text.strip_prefix("\"\"\"").or_else(|| text.strip_prefix("/* ")).expect("begins with a description");
    let end = text.find("\"\"\"").or_else(|| text.find(" */")).expect("the description's end");
    let (tries, must) = text[..end].split_once("\n\nMust happen: ").expect("says what must happen");
    (tries.replace('\n', " "), must.replace('\n', " "))
}

fn row(bot: &Bot) -> String {
    let (tries, must) = words(bot);
    let comes = match (bot.hole, bot.expect) {
        (Some(why), _) => format!("**open**: {why}"),
        (None, Expect::Nothing) => "no fault, nothing reached".to_owned(),
        (None, Expect::Fault(kind, _)) => format!("{kind}, nothing reached"),
        (None, Expect::Harmless) => "nothing reached".to_owned(),
        (None, Expect::Charged) => "all it uses is charged".to_owned(),
        (None, Expect::Refused(_)) => "refused before any game".to_owned(),
    };
    let real = match bot.defences {
        Some(defences) => format!("; without {} it succeeds", defences.replace(',', " and ")),
        None if bot.real => "; without the sandbox it succeeds".to_owned(),
        None => String::new(),
    };
    let file = bot.source();
    let file = file.file_name().expect("name").to_string_lossy();
    let cell = |text: &str| text.replace('|', "\\|").replace('<', "&lt;");
    format!("| [`{}`]({file}) | {} | {} | {comes}{real} |\n", bot.name, cell(&tries), cell(&must))
}

#[test]
fn readme_lists_every_hostile_bot() {
    let page = collection().join("README.md");
    let text = fs::read_to_string(&page).expect("README.md");
    let (head, rest) = text.split_once(BEGIN).expect("where the table begins");
    let (_, tail) = rest.split_once(END).expect("where the table ends");
    let rows: String = BOTS.iter().map(row).collect();
    let table = "| bot | what it tries | what must happen | what comes of it |\n|---|---|---|---|\n"
        .to_owned()
        + &rows;
    let expected = [head, BEGIN, &table, END, tail].concat();
    if std::env::var_os("AGON_BLESS").is_some() {
        fs::write(&page, &expected).expect("write");
    } else {
        assert_eq!(text, expected, "test-bots/hostile/README.md is out of date: AGON_BLESS=1 writes it");
    }
}

#[test]
fn every_file_is_in_the_manifest() {
    let files = fs::read_dir(collection()).expect("list").flatten().map(|entry| entry.path());
    let bots = files.filter(|path| path.is_dir() || path.extension().is_some_and(|ending| ending != "md"));
    let mut bots: Vec<String> =
        bots.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    bots.retain(|name| !["attack", "around", "__pycache__"].contains(&name.as_str()));
    let missing: Vec<&String> =
        bots.iter().filter(|name| !BOTS.iter().any(|bot| bot.name == *name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(bots.len(), BOTS.len());
}

/// A hostile bot in its harness.
fn harness(name: &str) -> Harness {
    let bot = BOTS.iter().find(|bot| bot.name == name).expect("in the manifest");
    Harness::new(bot, Who::User).expect("a Python")
}

/// Whether a text is safe on a terminal: no control characters except line ends, and no change of direction.
fn safe(text: &str) -> bool {
    !text.chars().any(|c| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c))
}

#[test]
fn hostile_output_is_escaped() {
    let harness = harness("name_with_commands");
    let record = harness.path("tmp/record");
    let record = record.to_str().expect("path");
    let honest = harness.path("honest");
    let honest = honest.to_str().expect("path");
    let play = ["play", "connect-five", "name_with_commands.py", honest, "--seed", "7", "--record", record];
    let (code, stdout, stderr) = harness.agon(&play);
    assert!(code == Some(0) && stdout.contains("alert(1)"), "{stdout}{stderr}");
    assert!(!stdout.contains('\u{1b}') && !stderr.contains('\u{1b}'), "{stdout:?}");
    for words in [&["replay", record][..], &["replay", record, "--watch"], &["replay", record, "--json"]] {
        let (code, stdout, stderr) = harness.agon(words);
        assert_eq!(code, Some(0), "{stderr}");
        assert!(!stdout.contains(['\u{1b}', '\u{7}', '\u{9b}', '\0']), "{words:?}: {stdout:?}");
    }
    let page = harness.path("tmp/page.html");
    let (code, _, stderr) = harness.agon(&["replay", record, "--html", page.to_str().expect("path")]);
    assert_eq!(code, Some(0), "{stderr}");
    let page = fs::read_to_string(page).expect("page");
    assert!(!page.contains("<script>alert") && !page.contains("<img src=x"), "the bot's output is markup");
    assert_eq!(page.matches("</script").count(), page.matches("<script").count());
}

#[test]
fn bot_output_cannot_change_the_text_direction() {
    let harness = harness("name_with_commands");
    let honest = harness.path("honest");
    let play =
        ["play", "connect-five", "name_with_commands.py", honest.to_str().expect("path"), "--seed", "7"];
    let (_, stdout, _) = harness.agon(&play);
    assert!(safe(&stdout), "{stdout:?}");
}

/// Plays a bot whose name is the name of its file.
fn play_named(file: &str, class: &str) -> String {
    let harness = harness("name_of_10000");
    let code = format!("class {class}:\n    def get_move(self, board, player, T, N): return 0\n");
    fs::write(harness.path("bot").join(file), code).expect("write");
    let honest = harness.path("honest");
    let bot = if class == "Bot" { file.to_owned() } else { format!("{file}:{class}") };
    let play =
        ["play", "connect-five", &bot, honest.to_str().expect("path"), "--seed", "7", "--set", "first=1"];
    let (code, stdout, stderr) = harness.agon(&play);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(!stdout.contains("fault"), "{stdout}");
    stdout + &stderr
}

#[test]
fn name_with_terminal_commands_is_escaped() {
    let shown = play_named("a\u{1b}[2J\u{1b}]0;owned\u{7}\rb.py", "Bot");
    assert!(safe(&shown), "{shown:?}");
}

#[test]
fn name_of_10000_characters_is_shortened() {
    let shown = play_named("long.py", &"C".repeat(10_000));
    let widest = shown.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    assert!(widest < 1000, "a line of {widest} characters");
}

/// The engine reads a bot's files to hash them. A huge sparse file must not fill its memory.
#[test]
fn bot_with_a_file_of_terabytes_is_not_read() {
    let harness = harness("state_globals");
    let file = fs::File::create(harness.path("bot/data.json")).expect("create");
    file.set_len(4 << 40).expect("a sparse file");
    let honest = harness.path("honest");
    let honest = honest.to_str().expect("path");
    let (code, _, stderr) =
        harness.agon(&["play", "solitude-scramble", "../bot", honest, "house:left", "house:left"]);
    // A file above the size limit is not read: only its name is part of the bot's hash.
    assert!(code == Some(0), "{code:?} {stderr}");
}
