//! Numbers, times, dates and formats as people read them.

use agon_league::format::{Format, TieRule};

use crate::data::Timestamp;

/// Names of files are cut here.
const SLUG: usize = 40;

/// What is left of a name in a file's: small letters, digits, dashes. May be empty.
pub fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars().map(|c| c.to_ascii_lowercase()) {
        if slug.len() >= SLUG {
            break;
        }
        match c {
            'a'..='z' | '0'..='9' => slug.push(c),
            _ if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            _ => {}
        }
    }
    slug.trim_end_matches('-').to_owned()
}

/// `2026-11-15 10:32 UTC`.
pub fn moment(at: Timestamp) -> String {
    agon_league::standings::shown_moment(at)
}

/// With a space between thousands that never breaks: `12 345`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// `1 game`, `12 games`.
pub fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// With a capital letter.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// As short as it can be said: `12`, `12.5`, at most `decimals` digits.
pub fn trim_number(x: f64, decimals: usize) -> String {
    let text = format!("{x:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// What a phase plays.
pub fn format(format: &Format) -> String {
    let swapped = |swap: bool| if swap { ", each game twice with seats swapped" } else { "" };
    match format {
        Format::Groups { size, matches } => {
            format!("balanced groups of {size}, at least {} each", plural(*matches, "match", "matches"))
        }
        Format::Arena { games } => format!("all in one arena, {}", plural(*games, "game", "games")),
        Format::RoundRobin { legs: 1, swap } => format!("each against each{}", swapped(*swap)),
        Format::RoundRobin { legs: 2, swap } => format!("each against each, home and away{}", swapped(*swap)),
        Format::RoundRobin { legs, swap } => format!("each against each, {legs} times{}", swapped(*swap)),
        Format::Cross { boards } => {
            format!("each role against the other, all on the same {}", plural(*boards, "board", "boards"))
        }
        Format::Swiss { rounds, swap } => {
            format!("Swiss, {}{}", plural((*rounds).into(), "round", "rounds"), swapped(*swap))
        }
        Format::Knockout(rule) => format!("knockout{}", ties(rule)),
        Format::DoubleElimination(rule) => format!("double elimination{}", ties(rule)),
        Format::Gauntlet { games, swap, .. } => {
            format!("some against the field, {} each{}", plural(*games, "game", "games"), swapped(*swap))
        }
    }
}

fn ties(rule: &TieRule) -> String {
    let top = rule.top.map_or_else(String::new, |top| format!(" of the best {top}"));
    format!("{top}, {} a tie", plural(rule.pairs.into(), "pair of games", "pairs of games"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_harmless_names_of_files() {
        assert_eq!(slug("The Swift Sweeper"), "the-swift-sweeper");
        assert_eq!(slug("../../etc/<passwd>"), "etc-passwd");
        assert_eq!(slug("Ünïcödé\u{202e}"), "n-c-d");
        assert_eq!(slug("日本"), "");
        assert!(slug(&"x y".repeat(100)).len() <= SLUG);
    }

    #[test]
    fn dates_follow_the_calendar() {
        assert_eq!(moment(0), "1970-01-01 00:00 UTC");
        assert_eq!(moment(951_782_400_000), "2000-02-29 00:00 UTC");
        assert_eq!(moment(951_868_800_000 - 1), "2000-02-29 23:59 UTC");
        assert_eq!(moment(951_868_800_000), "2000-03-01 00:00 UTC");
        assert_eq!(moment(1_794_738_720_000), "2026-11-15 10:32 UTC");
        assert_eq!(moment(-60_000), "1969-12-31 23:59 UTC");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [trim_number(2.5, 3), trim_number(3.0, 2), trim_number(-0.001, 1), trim_number(100.0, 0)],
            ["2.5", "3", "0", "100"]
        );
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(plural(1, "game", "games"), "1 game");
    }
}
