//! `agon check`: accepted, or all problems at once; and the hash of a bot.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use common::place::{Place, player, reader};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

#[test]
fn hash_covers_the_files_of_a_bot() {
    let place = Place::new(&[("Bot/Bot.py", &player("Bot")), ("Bot/deep/helper.py", "x = 1\n")]);
    let hash = |bot: &str| {
        let output = place.good(&["check", "connect-five", bot, "--json"]);
        serde_json::from_str::<serde_json::Value>(&output).unwrap()["hash"].as_str().unwrap().to_owned()
    };
    let (folder, file) = (hash("Bot"), hash("Bot/Bot.py"));
    place.write("Bot/data/learnt", "x");
    assert_eq!(hash("Bot"), folder, "the hash covers the bot's data");
    place.write("Bot/deep/helper.py", "x = 2\n");
    assert_ne!(hash("Bot"), folder);
    assert_eq!(hash("Bot/Bot.py"), file, "the hash covers a helper that the bot does not mention");
}

/// Started by root, bots run as another user.
#[test]
fn folder_that_only_root_can_read_is_explained() {
    if !rustix::process::getuid().is_root() {
        agon_test_servers::cannot_run(agon_test_servers::Lacks::Machine, "this is another user than root");
        return;
    }
    let place = Place::new(&[("private/Bot.py", &player("Bot"))]);
    let folder = place.path("private");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    let text = place.refused(&["play", "connect-five", "private", "house:random"]);
    let hint = format!("hint: started by root, bots run as another user: chmod o+rx {}", folder.display());
    assert!(text.contains(&hint), "{text}");
    // A check looks at a copy.
    place.good(&["check", "connect-five", "private"]);
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    place.good(&["play", "connect-five", "private", "house:random"]);
}

#[test]
fn check_accepts_a_bot_or_lists_all_problems() {
    let bad = "import os.path as p\nfrom random import choice\nimport no_such_module\n\ndef get_action(state):\n    return eval('choice')(['LEFT'])\n";
    let place = Place::new(&[
        (
            "good/Submission.py",
            "import random\ndef get_action(state, match_history):\n    return random.choice(['LEFT', 'RIGHT'])\n",
        ),
        ("bad/Submission.py", bad),
        ("bad/helper.py", "import sys\ndef (\n"),
        (
            "Late.py",
            "class Late:\n    def get_move(self, board, player, T, N):\n        return 9\n    def train(self): pass\n",
        ),
        ("racer.py", &reader("len(words) > 50000")),
        ("players.yml", "players:\n  - {name: A, directory: ., command: python3 racer.py}\n"),
    ]);
    let text = place.good(&["check", "solitude-scramble", "good"]);
    assert!(text.starts_with("found   pass  good, sha256:") && text.ends_with("yes: accepted\n"), "{text}");
    for bot in ["python3 racer.py", "players.yml#A", "players.yml"] {
        assert!(place.good(&["check", "word-racer", bot]).ends_with("yes: accepted\n"), "{bot}");
    }
    let output = place.run(&["check", "solitude-scramble", "bad"]);
    assert_eq!((output.status.code(), output.stderr.len()), (Some(1), 0), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().skip(1).collect();
    let word = "hint: leave it out: a bot is asked for a move and uses no files, processes or network";
    assert_eq!(
        lines,
        [
            "source  fail  2 Python files",
            "    Submission.py, line 1, column 1: imports os, which is not allowed",
            &format!("    {word}"),
            "    Submission.py, line 3, column 1: imports no_such_module, and there is no such module",
            "    hint: only Python's own library, NumPy and files beside the bot can be imported",
            "    Submission.py, line 5, column 1: get_action takes 1 parameters, not 2",
            "    hint: write def get_action(state, match_history)",
            "    Submission.py, line 6, column 12: uses eval, which is not allowed",
            &format!("    {word}"),
            "    helper.py, line 2, column 5: does not parse: invalid syntax",
            "    hint: fix the syntax",
            "loads   fail  skipped: fix the source problems first",
            "plays   -     it does not load",
            "not accepted: 5 problems to fix",
        ]
    );
    let output = place.run(&["check", "connect-five", "Late.py", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&told["agon"], &told["version"], &told["accepted"]),
        (&"check".into(), &1.into(), &false.into())
    );
    assert_eq!(told["steps"][3]["step"], "plays");
    let fault = told["steps"][3]["wrong"][0]["what"].as_str().unwrap();
    assert!(
        fault.starts_with("illegal: ") && fault.ends_with(" (game 1, turn 1, and 1 time more)"),
        "{fault}"
    );
    assert_eq!(told["trials"][0]["faults"], 2);
    let output = place.run(&["check", "connect-five", "house:random"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&output.stderr).starts_with("error: house:random needs no check\nhint: ")
    );
    assert_eq!(place.run(&["check", "chess", "Late.py"]).status.code(), Some(2));
}

#[test]
fn bot_that_does_not_exist_is_a_usage_error() {
    let place = Place::new(&[("program", "x"), ("notes.ipynb", "{}")]);
    let relative = "hint: write the path relative to the current folder\n";
    for (game, bot, error, hint) in [
        ("connect-five", "Gone.py", "error: Gone.py: the file does not exist\n", relative),
        ("connect-five", "Gone.zip", "error: Gone.zip: the file does not exist\n", relative),
        ("connect-five", "./gone", "error: ./gone: there is no such file or folder\n", relative),
        ("connect-five", "gone", "error: `gone` is not a bot\n", "hint: write house:gone "),
        ("connect-five", "program", "error: `program` is not a bot\n", "hint: write ./program "),
        ("word-racer", "gone.yml#A", "error: gone.yml#A: the file does not exist\n", relative),
    ] {
        for more in [&[] as &[&str], &["--json"]] {
            let said = place.refused(&[&["check", game, bot], more].concat());
            assert!(said.starts_with(error) && said.contains(hint), "{bot}: {said}");
        }
    }
    // A file that is there, but is no bot, is checked and not accepted.
    let output = place.run(&["check", "connect-five", "notes.ipynb"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("a notebook is not a Python file"),
        "{output:?}"
    );
}

#[test]
fn zip_may_be_as_large_as_the_organiser_allows() {
    let place = Place::new(&[]);
    let mut writer = ZipWriter::new(File::create(place.path("Big.zip")).unwrap());
    // Stored as they are, so that the file is as large as its content.
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    writer.start_file("Big.py", stored).unwrap();
    writer.write_all(player("Big").as_bytes()).unwrap();
    writer.start_file("weights.bin", stored).unwrap();
    writer.write_all(&vec![0; 65 << 20]).unwrap();
    writer.finish().unwrap();
    let check = ["check", "connect-five", "Big.zip"];
    let output = place.run(&check);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text.contains("the archive is larger than 64 MiB"), "{text}");
    let text = place.good(&[&check[..], &["--max-zip-mib", "66"]].concat());
    assert!(text.ends_with("yes: accepted\n"), "{text}");
    let said = place.refused(&[&check[..], &["--max-zip-mib", "1025"]].concat());
    assert!(said.contains("--max-zip-mib") && said.contains("\nhint: "), "{said}");
}

#[test]
fn source_is_checked_without_being_run() {
    // Importing it would stop the process, and it replaces modules that the check itself uses.
    let stop = "raise SystemExit('was run')\n";
    let place = Place::new(&[
        ("bot/Submission.py", "def get_action(state, match_history):\n    return 'LEFT'\n"),
        ("bot/ast.py", stop),
        ("bot/agon_bot/check.py", stop),
        ("bot/unused.py", "import os\nopen('/etc/passwd')\n"),
    ]);
    let output = place.run(&["check", "solitude-scramble", "bot", "--json"]);
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let wrong: Vec<String> = told["steps"][1]["wrong"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            format!("{}:{} {}", one["file"].as_str().unwrap(), one["line"], one["what"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        wrong,
        ["unused.py:1 imports os, which is not allowed", "unused.py:2 uses open, which is not allowed"]
    );
}
