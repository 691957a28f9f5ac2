//! Colour Battle: the tables of its document, column by column, and the spread of scores.

use std::cmp::Reverse;

use super::row::{RankedRow, rank_rows};
use super::{EntrantRow, RankGroup, StandingsTable, TableCell, TableColumn, TableRow};
use crate::result::FixedPoint;
use crate::statistics::RankingMean;

pub(super) fn group<'a>(rows: &[EntrantRow<'a>]) -> RankGroup<'a> {
    RankGroup {
        role: "painter",
        mean_title: "Score [%]".to_owned(),
        decimals: 3,
        ranking_mean: RankingMean::Score,
        ranked: rank_rows(rows, |row| Reverse(row.mean_score())),
    }
}

pub(super) fn tables(group: &RankGroup<'_>) -> [StandingsTable; 3] {
    [score_table(group), efficiency_table(group), spread_table(group)]
}

fn first_columns() -> Vec<TableColumn> {
    vec![
        TableColumn::number("rank", "Rank"),
        TableColumn::text("name", "Name"),
        TableColumn::text("contributor", "Contributor"),
        TableColumn::time("time_us", "Avg [us]"),
    ]
}

fn first_cells(ranked: &RankedRow<'_>) -> Vec<TableCell> {
    let row = &ranked.row;
    vec![
        ranked.rank_cell(),
        row.name_cell(),
        row.contributor_cell(),
        TableCell::Real(row.totals.mean_us(), 3, ""),
    ]
}

fn score_table(group: &RankGroup<'_>) -> StandingsTable {
    let mut table = StandingsTable::official("score", "Score");
    table.columns = first_columns();
    table.columns.push(TableColumn::number("score", "Score"));
    for ranked @ RankedRow { row, .. } in &group.ranked {
        let mut cells = first_cells(ranked);
        cells.push(TableCell::Real(row.mean_score().to_f64(), 3, "%"));
        table.rows.push(TableRow { entrant: Some(row.entrant), cells });
    }
    table
}

/// Percent per microsecond; `None` for a bot without answers or measurable time.
fn per_microsecond(row: &EntrantRow<'_>) -> Option<f64> {
    let time = row.totals.mean_us();
    (time > 0.0).then(|| row.mean_score().to_f64() / time)
}

fn efficiency_table(group: &RankGroup<'_>) -> StandingsTable {
    let mut table = StandingsTable::official("efficiency", "Efficiency");
    table.ranked_by_time = true;
    table.columns = first_columns();
    table.columns.push(TableColumn::number("score", "Score [%]"));
    table.columns.push(TableColumn::time("efficiency", "Efficiency [%/us]"));
    let rows: Vec<EntrantRow<'_>> = group.ranked.iter().map(|ranked| ranked.row).collect();
    // Nonnegative floats compare like their bits.
    let key = |row: &EntrantRow<'_>| Reverse(per_microsecond(row).map(|x| x.max(0.0).to_bits()));
    for ranked in rank_rows(&rows, key) {
        let row = ranked.row;
        let mut cells = first_cells(&ranked);
        cells.push(TableCell::Real(row.mean_score().to_f64(), 3, ""));
        cells.push(per_microsecond(&row).map_or(TableCell::Empty, |x| TableCell::Real(x, 3, "")));
        table.rows.push(TableRow { entrant: Some(row.entrant), cells });
    }
    table
}

fn spread_table(group: &RankGroup<'_>) -> StandingsTable {
    let mut table = StandingsTable::official("spread", "Spread");
    table.columns = vec![
        TableColumn::number("rank", "Rank"),
        TableColumn::text("name", "Name"),
        TableColumn::number("score", "Score [%]"),
        TableColumn::number("deviation", "Standard deviation"),
        TableColumn::number("best", "Best game"),
        TableColumn::number("worst", "Worst game"),
        TableColumn::number("games", "Games"),
    ];
    for ranked @ RankedRow { row, .. } in &group.ranked {
        let score = &row.totals.score;
        let cells = vec![
            ranked.rank_cell(),
            row.name_cell(),
            TableCell::Real(score.mean(), 3, ""),
            TableCell::Real(score.variance().sqrt(), 3, ""),
            TableCell::Real(FixedPoint(score.max).to_f64(), 3, ""),
            TableCell::Real(FixedPoint(score.min).to_f64(), 3, ""),
            TableCell::Int(row.totals.games as i64),
        ];
        table.rows.push(TableRow { entrant: Some(row.entrant), cells });
    }
    table
}
