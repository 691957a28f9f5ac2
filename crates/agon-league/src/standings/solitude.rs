//! Solitude Scramble: average points per match.

use std::cmp::Reverse;

use super::line::ranked;
use super::{Cell, Column, Group, Line, Sheet};
use crate::statistics::Counted;

pub(super) fn group<'a>(lines: &[Line<'a>]) -> Group<'a> {
    Group {
        role: "player",
        metric: "APPM".to_owned(),
        decimals: 3,
        counted: Counted::Points,
        ranked: ranked(lines, |line| Reverse(line.points_a_match())),
    }
}

pub(super) fn sheet(group: &Group<'_>) -> Sheet {
    let columns = [
        Column::number("appm", "APPM"),
        Column::number("points", "Total points"),
        Column::number("matches", "Matches"),
    ];
    let mut sheet = Sheet::ranked("leaderboard", "Leaderboard", group, columns, |line| {
        [
            Cell::Real(line.points_a_match().real(), 3, ""),
            Cell::Real(line.sums.total_points(), 0, ""),
            Cell::Int(line.sums.matches as i64),
        ]
    });
    sheet.notes.push("APPM: average points per match".to_owned());
    sheet
}
