//! Connect Five: +1 / -1 for each part of a match, then games won minus lost, then head to head.

use std::cmp::Reverse;

use super::row::{RankedRow, rank_rows};
use super::{EntrantRow, RankGroup, StandingsTable, TableCell, TableColumn};
use crate::statistics::RankingMean;
use crate::tally::Tally;

fn won_minus_lost(row: &EntrantRow<'_>) -> i64 {
    row.totals.won as i64 - row.totals.lost as i64
}

pub(super) fn group<'a>(tally: &Tally, rows: &[EntrantRow<'a>]) -> RankGroup<'a> {
    let first = rank_rows(rows, |row| Reverse((row.totals.points, won_minus_lost(row))));
    let mut settled = Vec::with_capacity(first.len());
    for tied in first.chunk_by(|a, b| a.rank == b.rank) {
        settled.extend(break_ties_head_to_head(tally, tied));
    }
    RankGroup {
        role: "player",
        mean_title: "Points a match".to_owned(),
        decimals: 3,
        ranking_mean: RankingMean::Points,
        ranked: settled,
    }
}

/// Orders entrants that share a rank by their matches against each other: points, then games won minus lost. If a smaller group is still
/// equal, repeats this among them.
fn break_ties_head_to_head<'a>(tally: &Tally, tied: &[RankedRow<'a>]) -> Vec<RankedRow<'a>> {
    let Some(base) = tied.first().filter(|_| tied.len() > 1).and_then(|ranked| ranked.rank) else {
        return tied.to_vec();
    };
    let rows: Vec<EntrantRow<'a>> = tied.iter().map(|ranked| ranked.row).collect();
    let among = |row: &EntrantRow<'_>| {
        let others = rows.iter().filter(|other| other.entrant != row.entrant);
        others.fold((0_i128, 0_i64), |(points, games), other| {
            let met = tally.pairs().get(row.entrant, other.entrant);
            let given = tally.pairs().points(row.entrant, other.entrant).map_or(0, |(mine, _)| mine.0);
            (
                points + i128::from(given),
                games + met.map_or(0, |met| i64::from(met.won) - i64::from(met.lost)),
            )
        })
    };
    let again = rank_rows(&rows, |row| Reverse(among(row)));
    let mut settled = Vec::with_capacity(tied.len());
    for still in again.chunk_by(|a, b| a.rank == b.rank) {
        let shifted: Vec<RankedRow<'a>> =
            still.iter().map(|r| RankedRow { rank: r.rank.map(|rank| base + rank - 1), ..*r }).collect();
        settled.extend(if still.len() < tied.len() {
            break_ties_head_to_head(tally, &shifted)
        } else {
            shifted
        });
    }
    settled
}

pub(super) fn table(group: &RankGroup<'_>) -> StandingsTable {
    let columns = [
        TableColumn::number("points", "Points"),
        TableColumn::number("difference", "Won - lost"),
        TableColumn::number("won", "Won"),
        TableColumn::number("drawn", "Drawn"),
        TableColumn::number("lost", "Lost"),
        TableColumn::number("matches", "Matches"),
    ];
    let mut table = StandingsTable::ranked("league", "League", group, columns, |row| {
        let totals = row.totals;
        let [won, drawn, lost, matches] =
            [totals.won, totals.drawn, totals.lost, totals.matches].map(|n| TableCell::Int(n as i64));
        let points = TableCell::Real(totals.total_points(), 0, "");
        [points, TableCell::Int(won_minus_lost(row)), won, drawn, lost, matches]
    });
    table.notes.push("Points: +1 for a phase of a match won, -1 for one lost; then games won minus lost, then head to head".to_owned());
    table
}
