//! Word Racer: 3 / 1 / 0 points, then word points.

use std::cmp::Reverse;

use super::row::ranked;
use super::{Cell, Column, RankGroup, EntrantRow, StandingsTable};
use crate::statistics::RankingMean;

/// Where the game puts its word points among the extra figures.
const WORD_POINTS: usize = 0;

pub(super) fn group<'a>(lines: &[EntrantRow<'a>]) -> RankGroup<'a> {
    RankGroup {
        role: "player",
        metric: "Points a game".to_owned(),
        decimals: 3,
        counted: RankingMean::Points,
        ranked: ranked(lines, |line| Reverse((line.sums.points, line.sums.stats[WORD_POINTS]))),
    }
}

pub(super) fn sheet(group: &RankGroup<'_>) -> StandingsTable {
    let columns = [
        Column::number("points", "Points"),
        Column::number("word_points", "Word points"),
        Column::number("won", "Won"),
        Column::number("drawn", "Drawn"),
        Column::number("lost", "Lost"),
        Column::number("games", "Games"),
    ];
    let mut sheet = StandingsTable::ranked("league", "Points", group, columns, |line| {
        let sums = line.sums;
        let [won, drawn, lost, games] =
            [sums.won, sums.drawn, sums.lost, sums.games].map(|n| Cell::Int(n as i64));
        let points = Cell::Real(sums.total_points(), 0, "");
        [points, Cell::Real(sums.stat(WORD_POINTS), 0, ""), won, drawn, lost, games]
    });
    sheet.notes.push("Points: win 3, draw 1, loss 0; then word points".to_owned());
    sheet
}
