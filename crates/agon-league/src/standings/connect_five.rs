//! Connect Five: +1 / -1 for each phase of a match, then games won minus lost, then head to head.

use std::cmp::Reverse;

use super::row::{RankedRow, ranked};
use super::{Cell, Column, RankGroup, EntrantRow, StandingsTable};
use crate::statistics::RankingMean;
use crate::tally::Tally;

fn difference(line: &EntrantRow<'_>) -> i64 {
    line.sums.won as i64 - line.sums.lost as i64
}

pub(super) fn group<'a>(tally: &Tally, lines: &[EntrantRow<'a>]) -> RankGroup<'a> {
    let first = ranked(lines, |line| Reverse((line.sums.points, difference(line))));
    let mut settled = Vec::with_capacity(first.len());
    for tied in first.chunk_by(|a, b| a.rank == b.rank) {
        settled.extend(head_to_head(tally, tied));
    }
    RankGroup {
        role: "player",
        metric: "Points a match".to_owned(),
        decimals: 3,
        counted: RankingMean::Points,
        ranked: settled,
    }
}

/// Orders those who share a rank by what they did against each other: points of these matches, then games won minus lost in them. Those
/// who are still equal, but fewer than before, are compared once more among themselves.
fn head_to_head<'a>(tally: &Tally, tied: &[RankedRow<'a>]) -> Vec<RankedRow<'a>> {
    let Some(base) = tied.first().filter(|_| tied.len() > 1).and_then(|ranked| ranked.rank) else {
        return tied.to_vec();
    };
    let lines: Vec<EntrantRow<'a>> = tied.iter().map(|ranked| ranked.line).collect();
    let among = |line: &EntrantRow<'_>| {
        let others = lines.iter().filter(|other| other.entrant != line.entrant);
        others.fold((0_i128, 0_i64), |(points, games), other| {
            let met = tally.pairs().get(line.entrant, other.entrant);
            let given = tally.pairs().points(line.entrant, other.entrant).map_or(0, |(mine, _)| mine.0);
            (
                points + i128::from(given),
                games + met.map_or(0, |met| i64::from(met.won) - i64::from(met.lost)),
            )
        })
    };
    let again = ranked(&lines, |line| Reverse(among(line)));
    let mut settled = Vec::with_capacity(tied.len());
    for still in again.chunk_by(|a, b| a.rank == b.rank) {
        let shifted: Vec<RankedRow<'a>> =
            still.iter().map(|r| RankedRow { rank: r.rank.map(|rank| base + rank - 1), ..*r }).collect();
        settled.extend(if still.len() < tied.len() { head_to_head(tally, &shifted) } else { shifted });
    }
    settled
}

pub(super) fn sheet(group: &RankGroup<'_>) -> StandingsTable {
    let columns = [
        Column::number("points", "Points"),
        Column::number("difference", "Won - lost"),
        Column::number("won", "Won"),
        Column::number("drawn", "Drawn"),
        Column::number("lost", "Lost"),
        Column::number("matches", "Matches"),
    ];
    let mut sheet = StandingsTable::ranked("league", "League", group, columns, |line| {
        let sums = line.sums;
        let [won, drawn, lost, matches] =
            [sums.won, sums.drawn, sums.lost, sums.matches].map(|n| Cell::Int(n as i64));
        let points = Cell::Real(sums.total_points(), 0, "");
        [points, Cell::Int(difference(line)), won, drawn, lost, matches]
    });
    sheet.notes.push("Points: +1 for a phase of a match won, -1 for one lost; then games won minus lost, then head to head".to_owned());
    sheet
}
