//! Formats numbers, times, dates and phase formats as text.

use agon_league::format::{Format, TieRule};

use crate::data::Timestamp;

/// Maximum length of a slug.
const MAX_SLUG_LENGTH: usize = 40;

/// Turns a name into a part of a file name: lower-case letters, digits and dashes. May be empty.
pub fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars().map(|c| c.to_ascii_lowercase()) {
        if slug.len() >= MAX_SLUG_LENGTH {
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

/// Formats a timestamp: `2026-11-15 10:32 UTC`.
pub fn format_time(at: Timestamp) -> String {
    agon_league::standings::format_timestamp(at)
}

/// Formats a duration in nanoseconds for HTML, with the micro sign.
pub fn html_duration(ns: f64) -> String {
    agon_league::standings::format_duration(ns).replace(" us", " µs")
}

/// Formats an integer with narrow no-break spaces between thousands: `12 345`.
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

/// A number with its noun: `1 game`, `12 games`.
pub fn grouped_plural(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// Capitalizes the first letter.
pub fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Formats a number without trailing zeros: `12`, `12.5`. At most `decimals` decimals.
pub fn trim_number(x: f64, decimals: usize) -> String {
    let text = format!("{x:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Describes the format of a phase.
pub fn describe_format(format: &Format) -> String {
    let swapped = |swap: bool| if swap { ", each game twice with seats swapped" } else { "" };
    match format {
        Format::Groups { size, matches } => {
            format!(
                "balanced groups of {size}, at least {} each",
                grouped_plural(*matches, "match", "matches")
            )
        }
        Format::Arena { games } => {
            format!("arena: all entrants at once, {}", grouped_plural(*games, "game", "games"))
        }
        Format::RoundRobin { legs: 1, swap } => format!("round robin{}", swapped(*swap)),
        Format::RoundRobin { legs: 2, swap } => format!("round robin, home and away{}", swapped(*swap)),
        Format::RoundRobin { legs, swap } => format!("round robin, {legs} legs{}", swapped(*swap)),
        Format::Cross { boards } => {
            format!(
                "each role against the other, the same {} for all",
                grouped_plural(*boards, "seed", "seeds")
            )
        }
        Format::Swiss { rounds, swap } => {
            format!("Swiss, {}{}", grouped_plural((*rounds).into(), "round", "rounds"), swapped(*swap))
        }
        Format::Knockout(rule) => format!("knockout{}", ties(rule)),
        Format::DoubleElimination(rule) => format!("double elimination{}", ties(rule)),
        Format::Gauntlet { games, swap, .. } => {
            format!(
                "gauntlet: some entrants against the field, {} each{}",
                grouped_plural(*games, "game", "games"),
                swapped(*swap)
            )
        }
    }
}

fn ties(rule: &TieRule) -> String {
    let top = rule.top.map_or_else(String::new, |top| format!(" of the best {top}"));
    format!("{top}, {} a tie", grouped_plural(rule.pairs.into(), "pair of games", "pairs of games"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slug_contains_only_letters_digits_and_dashes() {
        assert_eq!(slug("The Swift Sweeper"), "the-swift-sweeper");
        assert_eq!(slug("../../etc/<passwd>"), "etc-passwd");
        assert_eq!(slug("Ünïcödé\u{202e}"), "n-c-d");
        assert_eq!(slug("日本"), "");
        assert!(slug(&"x y".repeat(100)).len() <= MAX_SLUG_LENGTH);
    }

    #[test]
    fn format_time_handles_leap_years_and_times_before_1970() {
        assert_eq!(format_time(0), "1970-01-01 00:00 UTC");
        assert_eq!(format_time(951_782_400_000), "2000-02-29 00:00 UTC");
        assert_eq!(format_time(951_868_800_000 - 1), "2000-02-29 23:59 UTC");
        assert_eq!(format_time(951_868_800_000), "2000-03-01 00:00 UTC");
        assert_eq!(format_time(1_794_738_720_000), "2026-11-15 10:32 UTC");
        assert_eq!(format_time(-60_000), "1969-12-31 23:59 UTC");
    }

    #[test]
    fn numbers_are_trimmed_and_grouped() {
        assert_eq!(
            [trim_number(2.5, 3), trim_number(3.0, 2), trim_number(-0.001, 1), trim_number(100.0, 0)],
            ["2.5", "3", "0", "100"]
        );
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(grouped_plural(1, "game", "games"), "1 game");
    }
}
