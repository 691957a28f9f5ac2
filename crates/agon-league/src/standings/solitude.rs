//! Solitude Scramble: average points per match.

use std::cmp::Reverse;

use super::row::ranked;
use super::{Cell, Column, RankGroup, EntrantRow, StandingsTable};
use crate::statistics::RankingMean;

pub(super) fn group<'a>(lines: &[EntrantRow<'a>]) -> RankGroup<'a> {
    RankGroup {
        role: "player",
        metric: "APPM".to_owned(),
        decimals: 3,
        counted: RankingMean::Points,
        ranked: ranked(lines, |line| Reverse(line.points_a_match())),
    }
}

pub(super) fn sheet(group: &RankGroup<'_>) -> StandingsTable {
    let columns = [
        Column::number("appm", "APPM"),
        Column::number("points", "Total points"),
        Column::number("matches", "Matches"),
    ];
    let mut sheet = StandingsTable::ranked("leaderboard", "Leaderboard", group, columns, |line| {
        [
            Cell::Real(line.points_a_match().real(), 3, ""),
            Cell::Real(line.sums.total_points(), 0, ""),
            Cell::Int(line.sums.matches as i64),
        ]
    });
    sheet.notes.push("APPM: average points per match".to_owned());
    sheet
}
