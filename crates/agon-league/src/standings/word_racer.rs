//! Word Racer: 3 / 1 / 0 points, then word points.

use std::cmp::Reverse;

use super::line::ranked;
use super::{Cell, Column, Group, Line, Sheet};
use crate::statistics::Counted;

/// Where the game puts its word points among the extra figures.
const WORD_POINTS: usize = 0;

pub(super) fn group<'a>(lines: &[Line<'a>]) -> Group<'a> {
    Group {
        role: "player",
        metric: "Points a game".to_owned(),
        decimals: 3,
        counted: Counted::Points,
        ranked: ranked(lines, |line| Reverse((line.sums.points, line.sums.stats[WORD_POINTS]))),
    }
}

pub(super) fn sheet(group: &Group<'_>) -> Sheet {
    let columns = [
        Column::number("points", "Points"),
        Column::number("word_points", "Word points"),
        Column::number("won", "Won"),
        Column::number("drawn", "Drawn"),
        Column::number("lost", "Lost"),
        Column::number("games", "Games"),
    ];
    let mut sheet = Sheet::ranked("league", "Points", group, columns, |line| {
        let sums = line.sums;
        let [won, drawn, lost, games] =
            [sums.won, sums.drawn, sums.lost, sums.games].map(|n| Cell::Int(n as i64));
        let points = Cell::Real(sums.total_points(), 0, "");
        [points, Cell::Real(sums.stat(WORD_POINTS), 0, ""), won, drawn, lost, games]
    });
    sheet.notes.push("Points: win 3, draw 1, loss 0; then word points".to_owned());
    sheet
}
