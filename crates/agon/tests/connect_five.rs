//! Connect Five as its document has it: errors in `adjust` and `train`, names, large archives, and loading once for many matches.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;

use agon_league::{FixedPoint, MatchKey};
use agon_store::{FaultFilter, Ledger as _, SqliteLedger};
use common::place::Place;
use futures_util::StreamExt as _;

const COMPETITION: &str = r#"name = "Cup"
game = "connect-five"
seed = "only for tests"

[[phase]]
format = "round-robin"
swap = false
parts = [{ games = 3, first_to = 2, seconds = 1 }, { games = 1, first_to = 1, seconds = 1 }]

[[entrant]]
bot = "Failing.py"

[[entrant]]
bot = "house:random"
"#;

fn failing(method: &str) -> String {
    format!(
        "class Failing:\n    def get_move(self, board, player, T, N):\n        return board[0].index(0)\n    def {method}(self):\n        return 1 / 0\n"
    )
}

/// Plays [`COMPETITION`]. Returns the points of both entrants, the number of games, and the texts of all faults.
fn play_cup(place: &Place) -> (Vec<FixedPoint>, usize, Vec<String>) {
    place.write("cup.toml", COMPETITION);
    place.good(&["run", "cup.toml"]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let ledger = SqliteLedger::open_to_read(place.path("cup.ledger")).await.unwrap();
        let key = MatchKey { phase: 0, stage: 0, number: 0 };
        let found = ledger.find(key).await.unwrap().unwrap();
        let mut rows = ledger.faults(FaultFilter::default());
        let mut faults = Vec::new();
        while let Some(row) = rows.next().await {
            faults.push(row.unwrap().fault.report.message);
        }
        drop(rows);
        (found.result.points.clone(), found.result.games.len(), faults)
    })
}

#[test]
fn exception_in_adjust_loses_the_match() {
    let place = Place::new(&[("Failing.py", &failing("adjust"))]);
    let text = place.good(&[
        "play",
        "connect-five",
        "Failing.py",
        "house:random",
        "--games",
        "3",
        "--record",
        "r.agon",
    ]);
    assert!(text.contains("fault: game 1, after its end, Failing: crash: adjust(): "), "{text}");
    assert!(text.contains("ZeroDivisionError") && text.contains("1 game,"), "{text}");
    // The record is replayed with the same result.
    place.good(&["replay", "r.agon", "--verify"]);
    let (points, games, faults) = play_cup(&place);
    assert_eq!((points, games), ([-2, 2].map(FixedPoint::from_int).to_vec(), 1));
    assert_eq!(faults.len(), 1);
    assert!(faults[0].starts_with("adjust(): "), "{faults:?}");
    let checked = place.run(&["check", "connect-five", "Failing.py"]);
    let text = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert_eq!(checked.status.code(), Some(1), "{text}");
    assert!(text.contains("Failing.py, line 5") && text.contains("after game 1"), "{text}");
}

#[test]
fn exception_in_train_costs_nothing_and_is_shown_to_its_author() {
    let place = Place::new(&[("Failing.py", &failing("train"))]);
    let text =
        place.good(&["play", "connect-five", "Failing.py", "house:random", "--games", "2", "--logs", "logs"]);
    assert!(!text.contains("fault: "), "{text}");
    assert!(text.contains("note: after the match that ended with game 2, Failing: train(): "), "{text}");
    let log = fs::read_to_string(place.path("logs/game-0002-seat-0-Failing.log")).unwrap();
    assert!(log.contains("fault after the match\n") && log.contains("ZeroDivisionError"), "{log}");
    let (points, games, faults) = play_cup(&place);
    assert!(points != [-2, 2].map(FixedPoint::from_int) && games > 1, "{points:?} {games}");
    assert_eq!(faults.len(), 1);
    assert!(faults[0].starts_with("train(): "), "{faults:?}");
    let checked = place.good(&["check", "connect-five", "Failing.py"]);
    assert!(
        checked.contains("Failing.py, line 5: train() fails after the match: ZeroDivisionError"),
        "{checked}"
    );
}

#[test]
fn bot_is_named_after_its_class_and_its_entrant_after_the_zip() {
    let bot =
        "class Learner:\n    def get_move(self, board, player, T, N):\n        return board[0].index(0)\n";
    let place = Place::new(&[("my_bot/bot.py", bot)]);
    let text = place.good(&["play", "connect-five", "my_bot", "house:random"]);
    assert!(text.contains("Learner") && !text.contains("my_bot"), "{text}");
    place.zip("Ana Perez.zip", &[("Learner.py", bot)]);
    let text = place.good(&["play", "connect-five", "Ana Perez.zip", "house:random"]);
    assert!(text.contains("Learner") && !text.contains("Perez"), "{text}");
    place.write("cup.toml", &COMPETITION.replace("Failing.py", "Ana Perez.zip"));
    place.good(&["run", "cup.toml"]);
    let text = place.good(&["table", "cup.toml"]);
    assert!(text.contains("Ana Perez"), "{text}");
    let missing = place.run(&["play", "connect-five", "Ana Gomez.zip", "house:random"]);
    let text = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(text.contains("Ana Gomez.zip: the file does not exist"), "{text}");
}

/// Writes a token of its module and a count of its class to `data/` after each match.
const COUNTER: &str = "import os
TOKEN = os.urandom(8).hex()

class Counter:
    matches = 0

    def __init__(self):
        Counter.matches += 1
        self.seen = open('data/tokens').read().split() if os.path.exists('data/tokens') else []

    def get_move(self, board, player, T, N):
        return board[0].index(0)

    def train(self):
        with open('data/tokens', 'w') as file:
            file.write(' '.join([*self.seen, f'{TOKEN}-{Counter.matches}']))
";

fn tokens(place: &Place, bot: &str) -> Vec<String> {
    place.good(&["play", "connect-five", bot, "house:random", "--games", "3", "--match-games", "1"]);
    let folder = place.path(bot).parent().unwrap().to_owned();
    fs::read_to_string(folder.join("data/tokens")).unwrap().split(' ').map(str::to_owned).collect()
}

#[test]
fn bot_is_loaded_once_for_many_matches_and_only_its_data_survives() {
    let reads = COUNTER.replace(
        "TOKEN = ",
        "BEFORE = os.path.exists('data/tokens') and open('data/tokens').read()\nTOKEN = ",
    );
    let files = [("once/Counter.py", COUNTER), ("reads/Counter.py", &reads), ("trained/Counter.py", COUNTER)];
    let place = Place::new(&[&files[..], &[("trained/data/tokens", "before")]].concat());
    let all = tokens(&place, "once/Counter.py");
    assert_eq!(all.len(), 3, "each match finds the data of the one before: {all:?}");
    assert!(all.iter().all(|token| token.ends_with("-1")), "the class is as it was loaded: {all:?}");
    if has_cgroup(&place) {
        assert!(all.iter().all(|token| *token == all[0]), "it was loaded again: {all:?}");
    }
    // Files in data/ that it does not read while it is loaded make no difference.
    let trained = tokens(&place, "trained/Counter.py");
    assert_eq!((trained.len(), &*trained[0]), (4, "before"));
    assert!(!has_cgroup(&place) || trained[1..].iter().all(|token| *token == trained[1]), "{trained:?}");
    // What the module has read in data/, or not found there, would be old in the next match.
    let all = tokens(&place, "reads/Counter.py");
    assert_eq!(all.len(), 3);
    let distinct: std::collections::HashSet<&String> = all.iter().collect();
    assert!(distinct.len() == 3 && all.iter().all(|token| token.ends_with("-1")), "{all:?}");
}

/// Without a cgroup a bot cannot fork, and is loaded for each match.
fn has_cgroup(place: &Place) -> bool {
    String::from_utf8_lossy(&place.run(&["doctor"]).stdout).contains("cgroup: all CPU time")
}
