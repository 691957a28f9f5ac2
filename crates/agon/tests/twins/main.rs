//! The same strategy as a built-in bot, as a Python bot and as a JSON-lines program. With the same seed all give the same answers, states
//! and result at every seat. Bots with random moves are reproducible.
//!
//! The programs are in `test-bots/twins`; they run in real processes in the real sandbox.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod built_in;
#[path = "../common/mod.rs"]
mod common;

use std::fs;
use std::path::{Path, PathBuf};

use agon_games::colour_battle::ColourBattle;
use agon_games::connect_five::ConnectFive;
use agon_games::hide_and_seek::HideAndSeek;
use agon_games::solitude_scramble::SolitudeScramble;
use agon_games::word_racer::WordRacer;
use built_in::{Chaser, Gatherer, Make, Taker, Wary, house};
use serde_json::Value as Json;
use tempfile::TempDir;

/// Parts that must be equal. Times, names and hashes differ.
const COMPARED: [&str; 5] = ["turns", "faults", "expired", "outcome", "frames"];

/// A folder with the bots, Word Racer's words, and space for records.
struct Twins {
    folder: TempDir,
    python: Option<PathBuf>,
    game: &'static str,
    settings: Vec<String>,
    games: u32,
}

impl Twins {
    fn new(game: &'static str, games: u32, settings: &[&str]) -> Self {
        let folder = common::copy_of("twins");
        let words = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agon-games/data/words.dat");
        fs::copy(words, folder.path().join("words.dat")).unwrap();
        let settings = settings.iter().map(|&setting| setting.to_owned()).collect();
        Self { folder, python: None, game, settings, games }
    }

    /// Requires a Python with `NumPy`, for games whose Python API passes arrays.
    fn with_numpy(mut self) -> Option<Self> {
        self.python = Some(common::python()?);
        Some(self)
    }

    fn agon(&self, words: &[&str]) -> Json {
        let mut command = common::agon(self.folder.path(), words);
        command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
        if let Some(python) = &self.python {
            command.env("AGON_PYTHON", python);
        }
        serde_json::from_str(&common::good(&command.output().unwrap())).unwrap()
    }

    /// Plays through the command line. Returns the `--json` output.
    fn play(&self, bots: &[&str], seed: u64, more: &[&str]) -> Json {
        let (seed, games) = (seed.to_string(), self.games.to_string());
        let mut words = vec!["play", self.game];
        words.extend(bots);
        words.extend(["--seed", &seed, "--games", &games, "--json"]);
        words.extend(self.settings.iter().flat_map(|setting| ["--set", setting.as_str()]));
        words.extend(more);
        self.agon(&words)
    }

    /// The games of these bots, with every state.
    fn replayed(&self, bots: &[&str], seed: u64) -> Vec<Json> {
        self.play(bots, seed, &["--force", "--record", "a.agon"]);
        let replay = self.agon(&["replay", "a.agon", "--json", "--frames"]);
        replay["games"].as_array().unwrap().clone()
    }

    /// Checks that every lineup gives the games of the built-in bots.
    fn are_alike<G: agon_games::PlayableGame>(
        &self,
        seeds: &[u64],
        built_in: &[Make<G>],
        tables: &[&[&str]],
    ) {
        let settings: Vec<&str> = self.settings.iter().map(String::as_str).collect();
        for &seed in seeds {
            let expected = built_in::play::<G>(&settings, seed, self.games, built_in);
            assert!(expected.iter().all(|game| game["faults"] == Json::Array(Vec::new())), "a fault");
            for table in tables {
                let found = self.replayed(table, seed);
                assert_eq!(found.len(), expected.len(), "{table:?} seed {seed}: games");
                for (i, (expected, found)) in expected.iter().zip(&found).enumerate() {
                    compare(expected, found, &format!("{table:?} seed {seed} game {i}"));
                }
            }
        }
    }

    /// Checks that a seed gives the same digest on one thread and on two, and that another seed gives another.
    fn repeat(&self, bots: &[&str]) {
        let digest = |seed, jobs| self.play(bots, seed, &["--jobs", jobs])["digest"].clone();
        let first = digest(1, "1");
        assert!(first.is_string());
        assert_eq!(first, digest(1, "1"), "{bots:?}: again");
        assert_eq!(first, digest(1, "2"), "{bots:?}: on two threads");
        assert_ne!(first, digest(2, "2"), "{bots:?}: another seed");
    }
}

/// Compares two games, the answers first, because they say most about a difference.
fn compare(expected: &Json, found: &Json, which: &str) {
    assert_eq!(expected["header"]["seed"], found["header"]["seed"], "{which}: seed");
    assert_eq!(expected["header"]["settings"], found["header"]["settings"], "{which}: settings");
    for (turn, (expected, found)) in answers(expected).iter().zip(&answers(found)).enumerate() {
        assert_eq!(expected, found, "{which}: the answers of turn {}", turn + 1);
    }
    for part in COMPARED.into_iter().filter(|&part| part != "turns") {
        assert_eq!(expected[part], found[part], "{which}: {part}");
    }
    assert_eq!(answers(expected).len(), answers(found).len(), "{which}: turns");
}

/// Answers of a game. In Hide and Seek a step and its target cell are two forms of one answer, so the frames are compared instead.
fn answers(game: &Json) -> Vec<Json> {
    if game["header"]["game"] == "hide-and-seek" {
        return game["frames"]["deltas"]
            .as_array()
            .unwrap()
            .iter()
            .map(|delta| delta["last"].clone())
            .collect();
    }
    game["turns"].as_array().unwrap().clone()
}

#[test]
fn same_strategy_plays_the_same_solitude_scramble_games() {
    let (house, python, json) = ("house:second-best", "second_best.py", "python3 json_lines.py second_best");
    let twins = Twins::new("solitude-scramble", 2, &["turns=4"]);
    let tables: [&[&str]; 4] = [&[house; 4], &[python; 4], &[json; 4], &[python, house, json, python]];
    twins.are_alike::<SolitudeScramble>(&[1, 2], &[self::house("second-best"); 4], &tables);
    // A strategy that uses the history.
    let (python, json) = ("wary.py", "python3 json_lines.py wary");
    let built_in: Make<SolitudeScramble> = || Box::new(Wary);
    let tables: [&[&str]; 2] = [&[python; 4], &[json, python, python, json]];
    twins.are_alike::<SolitudeScramble>(&[3, 4], &[built_in; 4], &tables);
}

#[test]
fn same_strategy_plays_the_same_colour_battle_games() {
    let Some(twins) = Twins::new("colour-battle", 2, &["rounds=120"]).with_numpy() else { return };
    let (python, json) = ("colour.py:Taker", "python3 json_lines.py taker");
    let built_in: Make<ColourBattle> = || Box::new(Taker);
    let tables: [&[&str]; 3] = [&[python; 3], &[json; 3], &[json, python, json]];
    twins.are_alike::<ColourBattle>(&[1, 2], &[built_in; 3], &tables);
    // A strategy that draws from its seed: every kind of bot gets the same seed.
    let (house, python, json) = ("house:sweeper", "colour.py:Sweeper", "python3 json_lines.py sweep");
    let tables: [&[&str]; 4] = [&[house; 3], &[python; 3], &[json; 3], &[python, json, house]];
    twins.are_alike::<ColourBattle>(&[4, 5], &[self::house("sweeper"); 3], &tables);
}

#[test]
fn same_strategy_plays_the_same_connect_five_games() {
    let twins = Twins::new("connect-five", 4, &[]);
    let (python, json) = ("connect.py:Gatherer", "python3 json_lines.py gatherer");
    let built_in: Make<ConnectFive> = || Box::new(Gatherer);
    let tables: [&[&str]; 4] = [&[python, python], &[json, json], &[python, json], &[json, python]];
    twins.are_alike::<ConnectFive>(&[1, 2, 3], &[built_in; 2], &tables);
    let (house, python, json) = ("house:stacker", "connect.py:Stacker", "python3 json_lines.py stacker");
    let tables: [&[&str]; 4] = [&[house, house], &[python, house], &[house, json], &[json, python]];
    twins.are_alike::<ConnectFive>(&[4, 5], &[self::house("stacker"); 2], &tables);
}

#[test]
fn same_strategy_plays_the_same_hide_and_seek_games() {
    let Some(twins) = Twins::new("hide-and-seek", 2, &["steps=300"]).with_numpy() else { return };
    let (house, python, json) = ("house:running-hider", "hide.py", "python3 json_lines.py hide");
    let seeker: Make<HideAndSeek> = || Box::<Chaser>::default();
    let tables: [&[&str]; 6] = [
        &[python, house],
        &[json, house],
        &[python, python],
        &[json, json],
        &[python, json],
        &[json, python],
    ];
    twins.are_alike::<HideAndSeek>(&[1, 2, 3], &[seeker, self::house("running-hider")], &tables);
}

#[test]
fn same_strategy_plays_the_same_word_racer_games() {
    let twins = Twins::new("word-racer", 2, &[]);
    let (house, lines, json) =
        ("house:z-racer", "python3 word_racer.py", "json:python3 json_lines.py z_racer");
    let tables: [&[&str]; 6] =
        [&[house, house], &[lines, lines], &[json, json], &[lines, json], &[json, house], &[house, lines]];
    twins.are_alike::<WordRacer>(&[1, 2], &[self::house("z-racer"); 2], &tables);
    // Against a bot that calls letters other than Z.
    let tables: [&[&str]; 2] = [&[lines, "house:filler"], &[json, "house:filler"]];
    twins.are_alike::<WordRacer>(&[4, 5], &[self::house("z-racer"), self::house("filler")], &tables);
}

#[test]
fn bots_with_random_moves_repeat_with_the_same_seed() {
    Twins::new("solitude-scramble", 4, &["turns=5"]).repeat(&[
        "chance.py",
        "chance.py",
        "house:random",
        "chance.py",
    ]);
    Twins::new("connect-five", 4, &[]).repeat(&["chance.py:Column", "chance.py:Column"]);
    Twins::new("word-racer", 4, &[])
        .repeat(&["python3 chance_word_racer.py", "python3 chance_word_racer.py"]);
    if let Some(twins) = Twins::new("colour-battle", 4, &["rounds=50"]).with_numpy() {
        twins.repeat(&["chance_numpy.py", "house:random", "chance_numpy.py"]);
    }
    if let Some(twins) = Twins::new("hide-and-seek", 4, &["steps=60"]).with_numpy() {
        twins.repeat(&["chance_hide.py", "chance_hide.py"]);
    }
}
