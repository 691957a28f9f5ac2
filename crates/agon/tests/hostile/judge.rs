//! Checks the result of an attack.

use serde_json::Value as Json;

use crate::harness::AttackResult;
use crate::{Bot, Expect, Game};

/// Maximum size of a record of two short games, whatever a bot prints.
const MAX_RECORD_BYTES: usize = 256 << 10;

/// The most that a bot may hold, in per cent of its limit.
const MAX_PERCENT: u64 = 110;

/// Reports of a bot (`HELD 90 of 64 MiB: ...`) that it holds more than it may.
pub fn exceeded(outcome: &AttackResult) -> Vec<String> {
    let reports = outcome.text.split("HELD ").skip(1).filter_map(|rest| rest.split_once(" MiB"));
    let numbers = reports.filter_map(|(report, _)| {
        let (held, limit) = report.split_once(" of ")?;
        Some((held.parse::<u64>().ok()?, limit.parse::<u64>().ok()?))
    });
    let too_much = numbers.filter(|(held, limit)| held * 100 > limit * MAX_PERCENT);
    too_much.map(|(held, limit)| format!("it held {held} MiB of {limit}")).collect()
}

/// All problems with the result of a bot's games.
pub fn wrong(bot: &Bot, outcome: &AttackResult) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut must = |holds: bool, what: &str| {
        if !holds {
            wrong.push(what.to_owned());
        }
    };
    if let Expect::Refused(words) = bot.expect {
        must(outcome.code == Some(2), "the exit code of agon play is not 2");
        must(outcome.text.contains(words), "the rejection lacks the expected text");
        must(!outcome.text.contains("REACHED"), "the attack reached something");
        must(!outcome.text.contains(['\u{1b}', '\u{7}', '\u{0}']), "the output contains control characters");
        return wrong;
    }
    must(outcome.code == Some(0), "the exit code of agon play is not 0");
    must(outcome.replay["verified"] == true, "the record does not verify");
    must(outcome.play["games"] == 2, "not two games were played");
    must(!outcome.text.contains("REACHED"), "the attack reached something");
    must(outcome.record < MAX_RECORD_BYTES, "the record is too large");
    must(!outcome.text.contains(['\u{1b}', '\u{7}', '\u{0}']), "the output contains control characters");
    let games = outcome.replay["games"].as_array().cloned().unwrap_or_default();
    must(games.len() == 2, "not two games were recorded");
    let honest = &outcome.play["seats"][1];
    let faultless = honest["faults"].as_object().is_some_and(|faults| faults.values().all(|n| n == 0));
    must(faultless, "the honest bot has faults");
    let asked: usize = games.iter().map(|game| answers(bot.game, game, 1).len()).sum();
    must(honest["answers"] == asked && asked >= 2, "the honest bot was not asked as often as expected");
    wrong.extend(exceeded(outcome));
    for game in &games {
        wrong.extend(wrong_in(bot, game));
    }
    wrong
}

/// Problems in one game.
fn wrong_in(bot: &Bot, game: &Json) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut must = |holds: bool, what: &str| {
        if !holds {
            wrong.push(format!("game {}: {what}", game["number"]));
        }
    };
    let (refused, honest) = bot.game.answers();
    let (mine, others) = (answers(bot.game, game, 0), answers(bot.game, game, 1));
    must(others.iter().all(|answer| answer == honest), "the honest bot's answers were changed");
    let turns = game["turns"].as_array().map_or(0, Vec::len);
    let whole = matches!(bot.game, Game::Solitude | Game::Colour);
    must(!whole || turns == 4, "the game was not played to its end");
    must(
        mine.iter().all(|answer| answer == refused || answer.starts_with('!')),
        "the answers show that something was reached",
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
            must(first["fault"] == kind, "its first fault has another kind");
            let report = format!(
                "{}\n{}",
                first["says"].as_str().unwrap_or(""),
                first["stderr"].as_str().unwrap_or("")
            );
            must(report.contains(words), "the report lacks the expected text");
        }
        Expect::Charged => {
            let free = free_in(game);
            must(free.is_some(), "it did not report what it has used");
            let most = MAX_UNBILLED_MICROSECONDS * mine.len() as i64;
            must(free.is_none_or(|free| free <= most), "it has used more CPU time than it was charged");
        }
        Expect::Harmless => must(!mine.is_empty(), "it was not asked"),
        Expect::Refused(_) => must(false, "it played"),
    }
    wrong
}

/// Maximum CPU time that a bot gets for each move without being charged: 2 % of a second.
const MAX_UNBILLED_MICROSECONDS: i64 = 20_000;
/// Minimum that an attack gets for free in a game when its defence is off.
pub const MIN_FREE_MICROSECONDS: i64 = 120_000;

/// CPU time that the bot has used and that was not charged or not even counted, in each game in which it reported it.
pub fn free_microseconds(outcome: &AttackResult) -> Vec<i64> {
    let games = outcome.replay["games"].as_array().into_iter().flatten();
    games.filter_map(|game| Some(free_in(game)?.max(uncounted_in(game)?))).collect()
}

/// CPU time that the bot has used in a game and was not charged.
fn free_in(game: &Json) -> Option<i64> {
    Some(used_in(game)? - (sum_of(game, "wall_us") - sum_of(game, "wait_us")) as i64)
}

/// CPU time that the bot has used in a game and that was not counted. On a busy machine such a bot may be charged for other reasons.
fn uncounted_in(game: &Json) -> Option<i64> {
    Some(used_in(game)? - sum_of(game, "cpu_us") as i64)
}

/// The sum of a kind of time of the bot's answers.
fn sum_of(game: &Json, name: &str) -> f64 {
    game["times"][0][name].as_array().into_iter().flatten().filter_map(Json::as_f64).sum()
}

/// CPU time that the bot says it has used.
fn used_in(game: &Json) -> Option<i64> {
    let faults = game["faults"].as_array()?.iter().filter(|fault| fault["seat"] == 0);
    let mut used = faults.filter_map(|fault| {
        let (_, rest) = fault["says"].as_str()?.rsplit_once("USED ")?;
        rest.split(' ').next()?.parse::<i64>().ok()
    });
    used.next_back()
}

/// Answers of a seat in a game as in the record; faults as `!crash`.
fn answers(kind: Game, game: &Json, seat: usize) -> Vec<String> {
    let turns = game["turns"].as_array().into_iter().flatten().filter_map(Json::as_str);
    match kind {
        Game::Solitude | Game::Colour => {
            turns.filter_map(|turn| turn.split(' ').nth(seat).map(str::to_owned)).collect()
        }
        // Connect Five, with seat 1 moving first.
        _ => turns
            .enumerate()
            .filter(|(turn, _)| (turn + 1) % 2 == seat)
            .map(|(_, text)| text.to_owned())
            .collect(),
    }
}

/// Relevant part of a failed result.
pub fn excerpt(outcome: &AttackResult) -> String {
    let games = outcome.replay["games"].as_array().into_iter().flatten();
    let games: Vec<String> =
        games.map(|game| format!("turns {}\nfaults {:#}\n", game["turns"], game["faults"])).collect();
    let text = if games.is_empty() { outcome.text.clone() } else { games.concat() };
    text.chars().take(6000).collect()
}
