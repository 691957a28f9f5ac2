//! Colour Battle: the tables of its document, column for column, and the spread of scores.

use std::cmp::Reverse;

use super::row::{RankedRow, ranked};
use super::{Cell, Column, RankGroup, EntrantRow, Row, StandingsTable};
use crate::result::FixedPoint;
use crate::statistics::RankingMean;

pub(super) fn group<'a>(lines: &[EntrantRow<'a>]) -> RankGroup<'a> {
    RankGroup {
        role: "painter",
        metric: "Score [%]".to_owned(),
        decimals: 3,
        counted: RankingMean::Score,
        ranked: ranked(lines, |line| Reverse(line.mean_score())),
    }
}

pub(super) fn sheets(group: &RankGroup<'_>) -> [StandingsTable; 3] {
    [score(group), efficiency(group), spread(group)]
}

fn first_columns() -> Vec<Column> {
    vec![
        Column::number("rank", "Rank"),
        Column::text("name", "Name"),
        Column::text("contributor", "Contributor"),
        Column::time("time_us", "Avg [us]"),
    ]
}

fn first_cells(ranked: &RankedRow<'_>) -> Vec<Cell> {
    let line = &ranked.line;
    vec![ranked.place(), line.name(), line.contributor(), Cell::Real(line.sums.mean_us(), 3, "")]
}

fn score(group: &RankGroup<'_>) -> StandingsTable {
    let mut sheet = StandingsTable::official("score", "Score");
    sheet.columns = first_columns();
    sheet.columns.push(Column::number("score", "Score"));
    for ranked @ RankedRow { line, .. } in &group.ranked {
        let mut cells = first_cells(ranked);
        cells.push(Cell::Real(line.mean_score().real(), 3, "%"));
        sheet.rows.push(Row { entrant: Some(line.entrant), cells });
    }
    sheet
}

/// Per cent a microsecond; `None` for a bot that was never asked or took no time that could be measured.
fn per_microsecond(line: &EntrantRow<'_>) -> Option<f64> {
    let time = line.sums.mean_us();
    (time > 0.0).then(|| line.mean_score().real() / time)
}

fn efficiency(group: &RankGroup<'_>) -> StandingsTable {
    let mut sheet = StandingsTable::official("efficiency", "Efficiency");
    sheet.time = true;
    sheet.columns = first_columns();
    sheet.columns.push(Column::number("score", "Score [%]"));
    sheet.columns.push(Column::time("efficiency", "Efficiency [%/us]"));
    let lines: Vec<EntrantRow<'_>> = group.ranked.iter().map(|ranked| ranked.line).collect();
    // No scores are below 0, and floats that are not have the order of their bits.
    let key = |line: &EntrantRow<'_>| Reverse(per_microsecond(line).map(|x| x.max(0.0).to_bits()));
    for ranked in ranked(&lines, key) {
        let line = ranked.line;
        let mut cells = first_cells(&ranked);
        cells.push(Cell::Real(line.mean_score().real(), 3, ""));
        cells.push(per_microsecond(&line).map_or(Cell::Empty, |x| Cell::Real(x, 3, "")));
        sheet.rows.push(Row { entrant: Some(line.entrant), cells });
    }
    sheet
}

fn spread(group: &RankGroup<'_>) -> StandingsTable {
    let mut sheet = StandingsTable::official("spread", "Spread");
    sheet.columns = vec![
        Column::number("rank", "Rank"),
        Column::text("name", "Name"),
        Column::number("score", "Score [%]"),
        Column::number("deviation", "Standard deviation"),
        Column::number("best", "Best game"),
        Column::number("worst", "Worst game"),
        Column::number("games", "Games"),
    ];
    for ranked @ RankedRow { line, .. } in &group.ranked {
        let score = &line.sums.score;
        let cells = vec![
            ranked.place(),
            line.name(),
            Cell::Real(score.mean(), 3, ""),
            Cell::Real(score.variance().sqrt(), 3, ""),
            Cell::Real(FixedPoint(score.max).real(), 3, ""),
            Cell::Real(FixedPoint(score.min).real(), 3, ""),
            Cell::Int(line.sums.games as i64),
        ];
        sheet.rows.push(Row { entrant: Some(line.entrant), cells });
    }
    sheet
}
