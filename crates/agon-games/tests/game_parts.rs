//! Every game has every part: rules, bots, texts, starters, competition files, Python API, drawing. Each missing part is named.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};

use agon_core::GameInfo;
use agon_core::conformance::{PLACEHOLDER, missing_parts};
use agon_games::{GameVisitor, PlayableGame};

struct MissingParts;

impl GameVisitor for MissingParts {
    type Output = Vec<String>;

    fn visit<G: PlayableGame>(self) -> Vec<String> {
        missing_parts::<G>()
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Fails with all missing parts of all games.
fn assert_complete(missing_of: impl Fn(&GameInfo) -> Vec<String>) {
    let all: Vec<String> = agon_games::infos()
        .into_iter()
        .flat_map(|info| missing_of(info).into_iter().map(move |part| format!("{}: {part}", info.id)))
        .collect();
    assert!(all.is_empty(), "{} parts are missing:\n{}", all.len(), all.join("\n"));
}

#[test]
fn description_is_complete() {
    assert_complete(|info| agon_games::visit(info.id, MissingParts).unwrap());
}

/// Folders of a game and the files that must be there.
fn folders(info: &GameInfo) -> Vec<(String, &'static [&'static str])> {
    let module = info.id.replace('-', "_");
    let mut all: Vec<(String, &[&str])> = vec![
        (format!("crates/agon-games/src/{module}"), &["mod.rs", "description.rs"]),
        (
            format!("web/src/games/{}", info.id),
            &["view.ts", "Board.svelte", "Icon.svelte", "Picture.svelte", "accent.ts", "texts.ts"],
        ),
    ];
    if info.bots.python.is_some() {
        let files: &[&str] = &["__init__.py", "api.py", "source_check.py"];
        all.push((format!("python/agon_bot/games/{module}"), files));
    }
    if info.bots.measures_empty_answers {
        all.push((format!("python/agon_bot/games/{module}"), &["empty_bot.py"]));
    }
    all
}

#[test]
fn files_of_python_api_and_drawing_are_there() {
    assert_complete(|info| {
        let files = folders(info).into_iter().flat_map(|(folder, files)| {
            files.iter().map(move |file| format!("{folder}/{file}")).collect::<Vec<_>>()
        });
        let tests = format!("crates/agon-games/tests/{}", info.id.replace('-', "_"));
        let has_tests = [".rs", "/main.rs"].iter().any(|end| root().join(format!("{tests}{end}")).is_file());
        files
            .filter(|file| !root().join(file).is_file())
            .map(|file| format!("{file}: the file is missing"))
            .chain((!has_tests).then(|| format!("{tests}.rs: the tests of the rules are missing")))
            .collect()
    });
}

/// `path:line: text` of each place to fill in, in a folder and all folders in it.
fn places_in(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            places_in(&path, found);
        } else if let Ok(text) = fs::read_to_string(&path) {
            let shown = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
            let lines = text.lines().enumerate().filter(|(_, line)| line.contains(PLACEHOLDER));
            found.extend(lines.map(|(number, line)| format!("{shown}:{}: {}", number + 1, line.trim())));
        }
    }
}

#[test]
fn no_place_is_left_to_fill_in() {
    assert_complete(|info| {
        let mut found = Vec::new();
        for (folder, _) in folders(info) {
            places_in(&root().join(folder), &mut found);
        }
        found.sort();
        found
    });
}

#[test]
fn python_api_declares_the_lifetime_of_the_rules() {
    assert_complete(|info| {
        let path = format!("python/agon_bot/games/{}/__init__.py", info.id.replace('-', "_"));
        let Ok(text) = fs::read_to_string(root().join(&path)) else { return Vec::new() };
        let wanted = format!("LIFETIME = {}", serde_json::to_value(info.lifetime).unwrap());
        if text.contains(&wanted) { Vec::new() } else { vec![format!("{path}: write {wanted}")] }
    });
}

#[test]
fn at_most_one_game_has_a_players_yml() {
    let ids: Vec<&str> =
        agon_games::infos().iter().filter(|info| info.bots.players_yml).map(|info| info.id).collect();
    assert!(ids.len() <= 1, "`agon run players.yml` cannot tell which game is meant: {ids:?}");
}
