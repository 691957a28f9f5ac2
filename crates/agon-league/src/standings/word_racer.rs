//! Word Racer: 3 / 1 / 0 points, then word points.

use std::cmp::Reverse;

use super::row::rank_rows;
use super::{EntrantRow, RankGroup, StandingsTable, TableCell, TableColumn};
use crate::statistics::RankingMean;

/// Index of the word points in the extra statistics.
const WORD_POINTS: usize = 0;

pub(super) fn group<'a>(rows: &[EntrantRow<'a>]) -> RankGroup<'a> {
    RankGroup {
        role: "player",
        mean_title: "Points a game".to_owned(),
        decimals: 3,
        ranking_mean: RankingMean::Points,
        ranked: rank_rows(rows, |row| Reverse((row.totals.points, row.totals.stats[WORD_POINTS]))),
    }
}

pub(super) fn table(group: &RankGroup<'_>) -> StandingsTable {
    let columns = [
        TableColumn::number("points", "Points"),
        TableColumn::number("word_points", "Word points"),
        TableColumn::number("won", "Won"),
        TableColumn::number("drawn", "Drawn"),
        TableColumn::number("lost", "Lost"),
        TableColumn::number("games", "Games"),
    ];
    let mut table = StandingsTable::ranked("league", "Points", group, columns, |row| {
        let totals = row.totals;
        let [won, drawn, lost, games] =
            [totals.won, totals.drawn, totals.lost, totals.games].map(|n| TableCell::Int(n as i64));
        let points = TableCell::Real(totals.total_points(), 0, "");
        [points, TableCell::Real(totals.stat(WORD_POINTS), 0, ""), won, drawn, lost, games]
    });
    table.notes.push("Points: win 3, draw 1, loss 0; then word points".to_owned());
    table
}
