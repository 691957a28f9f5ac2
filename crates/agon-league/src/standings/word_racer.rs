//! Word Racer: 3 / 1 / 0 points, then word points.

use std::cmp::Reverse;

use super::line::{Ranked, ranked};
use super::{Cell, Column, Group, Line, Row, Sheet};
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
    let mut sheet = Sheet::official("league", "Points");
    let with_contributors = group.ranked.iter().any(|r| r.line.contributor() != Cell::Empty);
    sheet.columns = vec![Column::number("rank", "Rank"), Column::text("name", "Name")];
    sheet.columns.extend(with_contributors.then(|| Column::text("contributor", "Contributor")));
    sheet.columns.extend([
        Column::number("points", "Points"),
        Column::number("word_points", "Word points"),
        Column::number("won", "Won"),
        Column::number("drawn", "Drawn"),
        Column::number("lost", "Lost"),
        Column::number("games", "Games"),
    ]);
    for Ranked { rank, line } in &group.ranked {
        let sums = line.sums;
        let mut cells = vec![Cell::Int(*rank as i64), line.name()];
        cells.extend(with_contributors.then(|| line.contributor()));
        cells.push(Cell::Real(sums.total_points(), 0, ""));
        cells.push(Cell::Real(sums.stat(WORD_POINTS), 0, ""));
        cells.extend([sums.won, sums.drawn, sums.lost, sums.games].map(|n| Cell::Int(n as i64)));
        sheet.rows.push(Row { entrant: line.entrant, cells });
    }
    sheet.notes.push("Points: win 3, draw 1, loss 0; then word points".to_owned());
    sheet
}
