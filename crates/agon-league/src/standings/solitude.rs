//! Solitude Scramble: average points per match.

use std::cmp::Reverse;

use super::row::rank_rows;
use super::{EntrantRow, RankGroup, StandingsTable, TableCell, TableColumn};
use crate::statistics::RankingMean;

pub(super) fn group<'a>(rows: &[EntrantRow<'a>]) -> RankGroup<'a> {
    RankGroup {
        role: "player",
        mean_title: "APPM".to_owned(),
        decimals: 3,
        ranking_mean: RankingMean::Points,
        ranked: rank_rows(rows, |row| Reverse(row.points_per_match())),
    }
}

pub(super) fn table(group: &RankGroup<'_>) -> StandingsTable {
    let columns = [
        TableColumn::number("appm", "APPM"),
        TableColumn::number("points", "Total points"),
        TableColumn::number("matches", "Matches"),
    ];
    let mut table = StandingsTable::ranked("leaderboard", "Leaderboard", group, columns, |row| {
        [
            TableCell::Real(row.points_per_match().to_f64(), 3, ""),
            TableCell::Real(row.totals.total_points(), 0, ""),
            TableCell::Int(row.totals.matches as i64),
        ]
    });
    table.notes.push("APPM: average points per match".to_owned());
    table
}
