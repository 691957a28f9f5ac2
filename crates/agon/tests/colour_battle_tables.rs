//! Colour Battle's tables as its document prints them, from bots with `get_name` and `get_contributor`.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::path::{Path, PathBuf};
use std::process::Output;

use agon_core::record::read_all;
use common::{agon, folder_with, good, python};
use serde_json::Value as Json;
use tempfile::TempDir;

/// A bot with a name and a contributor. It walks in a fixed pattern, so its score is always the same.
fn bot(name: &str, contributor: &str, steps: &str) -> String {
    format!(
        "from bot_control import Move\n\n\
         class Painter:\n\
         \x20   def get_name(self):\n        return {name:?}\n\
         \x20   def get_contributor(self):\n        return {contributor:?}\n\
         \x20   def determine_next_move(self, grid, enemies, game_info):\n\
         \x20       steps = [{steps}]\n\
         \x20       return steps[game_info.current_round % len(steps)]\n"
    )
}

const SWEEPS: &str = "Move.UP, Move.RIGHT, Move.UP, Move.RIGHT, Move.DOWN";
const STAYS: &str = "Move.STAY";
const TURNS: &str = "Move.UP, Move.LEFT, Move.DOWN, Move.LEFT";

const CUP: &str = "name = \"Cup\"\ngame = \"colour-battle\"\nseed = \"7\"\nbots_per_contributor = 2\n\
    [settings]\nrounds = 60\n[[phase]]\nname = \"Tournament\"\nformat = \"arena\"\ngames = 4\n";

struct TestCup {
    folder: TempDir,
    python: PathBuf,
}

impl TestCup {
    /// A folder with four bots, and a competition of them with these lines about entrants. `None` without `NumPy`.
    fn new(entrants: &str) -> Option<Self> {
        let python = python()?;
        let cup = format!("{CUP}{entrants}");
        let files = [
            ("hein.py", bot("Hein Won't Let Me Cheat", "Lewie", SWEEPS)),
            ("kadabra.py", bot("Kadabra", "Rayman", TURNS)),
            ("abra.py", bot("Abra", "Rayman", SWEEPS)),
            ("rick.py", bot("RickbrandtVanRijn", "Rick Voogt", STAYS)),
            ("cup.toml", cup),
        ];
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        Some(Self { folder: folder_with(&files), python })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        agon(self.path(), arguments).env("AGON_PYTHON", &self.python).output().unwrap()
    }

    fn good(&self, arguments: &[&str]) -> String {
        good(&self.run(arguments))
    }

    fn errors(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.run(arguments);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }

    fn json(&self, arguments: &[&str]) -> Json {
        serde_json::from_str(&self.good(arguments)).unwrap()
    }
}

const FOUR: &str = "[[entrant]]\nbot = \"hein.py\"\n[[entrant]]\nbot = \"kadabra.py\"\n\
    [[entrant]]\nbot = \"abra.py\"\n[[entrant]]\nbot = \"rick.py\"\n";

/// Replaces measured figures, whose widths and units differ, and shortens runs of blanks and lines. The rows of the ranking by time are
/// sorted by name and have no rank.
fn without_times(text: &str) -> String {
    // Machines differ in how they measure.
    let lines = text.lines().filter(|line| !line.starts_with("CPU time was measured by "));
    let mut lines: Vec<String> = lines.map(line_without_times).collect();
    let Some(title) = lines.iter().position(|line| line == "Efficiency") else { return lines.join("\n") };
    let first = title + 3;
    let count = lines[first..].iter().position(|line| line == "---").unwrap();
    let rows = &mut lines[first..first + count];
    for row in &mut *rows {
        *row = row.split_once(' ').unwrap().1.to_owned();
    }
    rows.sort();
    lines.join("\n")
}

fn line_without_times(line: &str) -> String {
    if line.contains('─') {
        return "---".to_owned();
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_unit = |word: Option<&&str>| word.is_some_and(|word| ["ns", "us", "ms", "s"].contains(word));
    let mut shown: Vec<&str> = Vec::new();
    for (number, word) in words.iter().enumerate() {
        let is_number = word.parse::<f64>().is_ok();
        match shown.last() {
            Some(&"#") if is_unit(Some(word)) => {}
            _ if is_number && (word.contains('.') || is_unit(words.get(number + 1))) => shown.push("#"),
            _ => shown.push(word),
        }
    }
    shown.join(" ")
}

/// The official tables: everything before the confidence table.
fn official(text: &str) -> String {
    let end = text.find("\nSpread\n").unwrap();
    without_times(&text[..end])
}

#[test]
fn tables_have_the_columns_of_the_document_with_what_the_bots_say() {
    let Some(arena) = TestCup::new(FOUR) else { return };
    arena.good(&["run", "cup.toml"]);
    insta::assert_snapshot!("document_tables", official(&arena.good(&["table", "cup.toml"])));
    // The table is computed from the ledger: the bots are not needed any more.
    for name in ["hein.py", "kadabra.py", "abra.py", "rick.py"] {
        std::fs::remove_file(arena.path().join(name)).unwrap();
    }
    insta::assert_snapshot!("document_tables", official(&arena.good(&["table", "cup.toml"])));
}

#[test]
fn series_of_play_prints_the_tables_of_the_tournament() {
    let Some(arena) = TestCup::new(FOUR) else { return };
    let words =
        ["play", "colour-battle", "hein.py", "kadabra.py", "house:sweeper", "rick.py", "--set", "rounds=60"];
    let series = [&words[..], &["--games", "4", "--seed", "7"]].concat();
    insta::assert_snapshot!("play_tables", official(&arena.good(&series)));
    let json = arena.json(&[&series[..], &["--json"]].concat());
    let ids: Vec<&str> =
        json["tables"].as_array().unwrap().iter().map(|t| t["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["score", "efficiency", "spread"]);
    let one = arena.good(&[&words[..], &["--seed", "7"]].concat());
    assert!(!one.contains("Contributor"), "one game is no tournament: {one}");
}

#[test]
fn names_of_the_file_win_and_a_contradiction_is_reported() {
    let entrants = "[[entrant]]\nbot = \"hein.py\"\nname = \"Mine\"\ncontributor = \"Hein\"\n[[entrant]]\nbot = \"kadabra.py\"\n";
    let Some(arena) = TestCup::new(entrants) else { return };
    let (code, said) = arena.errors(&["run", "cup.toml"]);
    assert_eq!(code, Some(0), "{said}");
    let name = "entrant Mine: its name is \"Mine\" in the file, but the bot says \"Hein Won't Let Me Cheat\"; tables show that of the file";
    let contributor = "entrant Mine: its contributor is \"Hein\" in the file, but the bot says \"Lewie\"; tables show that of the file";
    assert!(said.contains(name) && said.contains(contributor), "{said}");
    let table = arena.good(&["table", "cup.toml"]);
    let row = |name: &str| table.lines().find(|line| line.contains(name)).unwrap().to_owned();
    assert!(row("Mine").contains("Hein"), "{table}");
    assert!(row("Kadabra").contains("Rayman"), "{table}");
    assert!(!table.contains("Lewie"), "{table}");
}

#[test]
fn bots_per_contributor_counts_what_the_bots_say() {
    let entrants =
        format!("{FOUR}[[entrant]]\nbot = \"rick.py\"\nname = \"Third\"\ncontributor = \"Rayman\"\n");
    let Some(arena) = TestCup::new(&entrants) else { return };
    let (code, said) = arena.errors(&["run", "cup.toml"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("Rayman has 3 bots (Kadabra, Abra, Third); bots_per_contributor is 2"), "{said}");
    assert!(said.contains("hint:"), "{said}");
}

#[test]
fn what_a_bot_says_is_safe_to_show() {
    let entrants = "[[entrant]]\nbot = \"evil.py\"\n[[entrant]]\nbot = \"kadabra.py\"\n";
    let Some(arena) = TestCup::new(entrants) else { return };
    let evil =
        bot("x", "y", STAYS).replace("\"x\"", "'A\\x1b[2J\\u202e' + 'N' * 10_000").replace("\"y\"", "7");
    std::fs::write(arena.path().join("evil.py"), evil).unwrap();
    arena.good(&["run", "cup.toml"]);
    let table = arena.good(&["table", "cup.toml", "--format", "json"]);
    let json: Json = serde_json::from_str(&table).unwrap();
    let name = json["entrants"][0]["name"].as_str().unwrap();
    assert!(name.starts_with('A') && name.chars().count() <= 60, "{name}");
    assert!(!name.chars().any(|c| c.is_control() || c == '\u{202e}'), "{name:?}");
    assert_eq!(json["entrants"][0]["contributor"], Json::Null);
}

#[test]
fn cost_of_an_empty_answer_is_recorded_beside_the_times() {
    let Some(arena) = TestCup::new(FOUR) else { return };
    let words =
        ["play", "colour-battle", "hein.py", "rick.py", "house:sweeper", "--set", "rounds=60", "--seed", "7"];
    let json = arena.json(&[&words[..], &["--json", "--record", "game.agon"]].concat());
    let times = |seat: usize| json["seats"][seat]["time_us"].clone();
    for seat in [0, 1] {
        let own = times(seat)["own"].as_f64().unwrap();
        assert!(times(seat)["empty"].as_f64().unwrap() > 0.0, "{json}");
        assert!(own < times(seat)["mean"].as_f64().unwrap(), "{json}");
    }
    assert_eq!(times(2)["empty"], Json::Null, "a house bot");
    let record = read_all(&std::fs::read(arena.path().join("game.agon")).unwrap()).unwrap().remove(0);
    assert!(record.empty_answers[0].is_some() && record.empty_answers[2].is_none());
    assert_eq!(record.times[0].len(), 60, "all times are kept as they were measured");
    assert!(arena.good(&["replay", "game.agon", "--verify"]).contains("game"));
}

#[test]
fn forbidden_library_is_refused_with_its_line() {
    let Some(arena) = TestCup::new("[[entrant]]\nbot = \"lib.py\"\n[[entrant]]\nbot = \"abra.py\"\n") else {
        return;
    };
    let lib = format!(
        "import heapq\ntry:\n    from scipy import ndimage\nexcept ImportError:\n    pass\n{}",
        bot("L", "M", STAYS)
    );
    std::fs::write(arena.path().join("lib.py"), lib).unwrap();
    let cup = std::fs::read_to_string(arena.path().join("cup.toml")).unwrap();
    std::fs::write(arena.path().join("free.toml"), &cup).unwrap();
    std::fs::write(arena.path().join("cup.toml"), format!("forbidden_libraries = [\"scipy\"]\n{cup}"))
        .unwrap();
    let (code, said) = arena.errors(&["run", "cup.toml"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("imports scipy; this competition forbids scipy"), "{said}");
    assert!(said.contains("lib.py") && said.contains('3') && said.contains("hint: do without it"), "{said}");
    arena.good(&["run", "free.toml"]);
    let output = arena.run(&["check", "colour-battle", "lib.py", "--forbid", "heapq"]);
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("imports heapq; this competition forbids heapq"), "{told}");
}

#[test]
fn ids_are_printed_as_numbers_with_the_option() {
    let words = "play colour-battle house:sweeper house:seeker house:random --set rounds=30 --seed 7 --watch --every 30";
    let numbers = common::stdout(&format!("{words} --numbers"));
    let letters = common::stdout(words);
    let board = |text: &str| text.lines().filter(|line| line.starts_with('│')).collect::<String>();
    assert!(board(&numbers).contains(" 1") && board(&numbers).contains(" 3"), "{numbers}");
    assert!(!board(&letters).split('│').nth(1).unwrap().contains('3'), "{letters}");
    let refused = common::run("play connect-five house:random house:random --watch --numbers");
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        said.contains("--numbers: Connect Five with special columns has no ids to show as numbers"),
        "{said}"
    );
}
