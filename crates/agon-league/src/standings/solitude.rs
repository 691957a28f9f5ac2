//! Solitude Scramble: average points per match.

use std::cmp::Reverse;

use super::line::ranked;
use super::{Cell, Column, Group, Line, Row, Sheet};
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
    let mut sheet = Sheet::official("leaderboard", "Leaderboard");
    let with_contributors = group.ranked.iter().any(|r| r.line.contributor() != Cell::Empty);
    sheet.columns = vec![Column::number("rank", "Rank"), Column::text("name", "Name")];
    sheet.columns.extend(with_contributors.then(|| Column::text("contributor", "Contributor")));
    sheet.columns.extend([
        Column::number("appm", "APPM"),
        Column::number("points", "Total points"),
        Column::number("matches", "Matches"),
    ]);
    for ranked in &group.ranked {
        let line = &ranked.line;
        let mut cells = vec![Cell::Int(ranked.rank as i64), line.name()];
        cells.extend(with_contributors.then(|| line.contributor()));
        cells.extend([
            Cell::Real(line.points_a_match().real(), 3, ""),
            Cell::Real(line.sums.total_points(), 0, ""),
            Cell::Int(line.sums.matches as i64),
        ]);
        sheet.rows.push(Row { entrant: line.entrant, cells });
    }
    sheet.notes.push("APPM: average points per match".to_owned());
    sheet
}
