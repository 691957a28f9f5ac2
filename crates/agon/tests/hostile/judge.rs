//! Whether it came as it must.

use serde_json::Value as Json;

use crate::harness::Outcome;
use crate::{Bot, Expect, Game};

/// A record of two short games is small, whatever a bot says in them.
const LARGEST_RECORD: usize = 256 << 10;

/// All that is wrong with what came of a bot's games.
pub fn wrong(bot: &Bot, outcome: &Outcome) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut must = |holds: bool, what: &str| {
        if !holds {
            wrong.push(what.to_owned());
        }
    };
    if let Expect::Refused(words) = bot.expect {
        must(outcome.code == Some(2), "agon play ended with another exit code than 2");
        must(outcome.text.contains(words), "the refusal does not say what it should");
        must(!outcome.text.contains("REACHED"), "the attack reached something");
        must(!outcome.text.contains(['\u{1b}', '\u{7}', '\u{0}']), "raw control characters came out");
        return wrong;
    }
    must(outcome.code == Some(0), "agon play ended with another exit code than 0");
    must(outcome.replay["verified"] == true, "the record does not verify");
    must(outcome.play["games"] == 2, "two games were to be played");
    must(!outcome.text.contains("REACHED"), "the attack reached something");
    must(outcome.record < LARGEST_RECORD, "the record is large");
    must(!outcome.text.contains(['\u{1b}', '\u{7}', '\u{0}']), "raw control characters came out");
    let games = outcome.replay["games"].as_array().cloned().unwrap_or_default();
    must(games.len() == 2, "two games were to be recorded");
    let honest = &outcome.play["seats"][1];
    let faultless = honest["faults"].as_object().is_some_and(|faults| faults.values().all(|n| n == 0));
    must(faultless, "the honest bot has faults");
    let asked: usize = games.iter().map(|game| answers(bot.game, game, 1).len()).sum();
    must(honest["answers"] == asked && asked >= 2, "the honest bot was not asked as often as it should");
    for game in &games {
        wrong.extend(wrong_in(bot, game));
    }
    wrong
}

/// What is wrong in one game.
fn wrong_in(bot: &Bot, game: &Json) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut must = |holds: bool, what: &str| {
        if !holds {
            wrong.push(format!("game {}: {what}", game["number"]));
        }
    };
    let (refused, honest) = bot.game.answers();
    let (mine, others) = (answers(bot.game, game, 0), answers(bot.game, game, 1));
    must(others.iter().all(|answer| answer == honest), "the honest bot's answers are not its own");
    let turns = game["turns"].as_array().map_or(0, Vec::len);
    let whole = matches!(bot.game, Game::Solitude | Game::Colour);
    must(!whole || turns == 4, "the game did not go on to its end");
    must(
        mine.iter().all(|answer| answer == refused || answer.starts_with('!')),
        "the answers say that something was reached",
    );
    let faults: Vec<&Json> =
        game["faults"].as_array().into_iter().flatten().filter(|fault| fault["seat"] == 0).collect();
    match bot.expect {
        Expect::Nothing => {
            must(faults.is_empty(), "it has faults");
            must(mine.len() >= 4, "it did not play to the end");
        }
        Expect::Fault(kind, words) => {
            let first = faults.first().copied().unwrap_or(&Json::Null);
            must(first["fault"] == kind, "its first fault is of another kind");
            let report = format!(
                "{}\n{}",
                first["says"].as_str().unwrap_or(""),
                first["stderr"].as_str().unwrap_or("")
            );
            must(report.contains(words), "the report does not say what it should");
        }
        Expect::Harmless => must(!mine.is_empty(), "it was not asked"),
        Expect::Refused(_) => must(false, "it played"),
    }
    wrong
}

/// A seat's answers in a game, as the record spells them; faults as `!crash`.
fn answers(kind: Game, game: &Json, seat: usize) -> Vec<String> {
    let turns = game["turns"].as_array().into_iter().flatten().filter_map(Json::as_str);
    match kind {
        Game::Solitude | Game::Colour => {
            turns.filter_map(|turn| turn.split(' ').nth(seat).map(str::to_owned)).collect()
        }
        // Connect Five, where seat 1 moves first.
        _ => turns
            .enumerate()
            .filter(|(turn, _)| (turn + 1) % 2 == seat)
            .map(|(_, text)| text.to_owned())
            .collect(),
    }
}

/// What a person wants to see of a game that went wrong.
pub fn excerpt(outcome: &Outcome) -> String {
    let games = outcome.replay["games"].as_array().into_iter().flatten();
    let games: Vec<String> =
        games.map(|game| format!("turns {}\nfaults {:#}\n", game["turns"], game["faults"])).collect();
    let text = if games.is_empty() { outcome.text.clone() } else { games.concat() };
    text.chars().take(6000).collect()
}
