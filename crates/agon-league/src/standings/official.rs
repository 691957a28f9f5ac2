//! The official tables, as the game describes them.

use std::cmp::Reverse;

use agon_core::GameInfo;
use agon_core::standings_rules::{ColumnInfo, ColumnValue, TableInfo, TableOrder};

use super::row::{RankedRow, rank_rows};
use super::{EntrantRow, RankGroup, StandingsTable, TableCell, TableColumn, TableRow};
use crate::result::FixedPoint;

/// Minimum time per answer in the ranking by time, in microseconds. Shorter times cannot be told apart.
const MIN_RANKED_US: f64 = 1.0;

/// All official tables of a game. A table of a role without entrants is left out, and so is a ranking by time without bots.
pub(super) fn tables(game: &GameInfo, groups: &[RankGroup<'_>]) -> Vec<StandingsTable> {
    let of_group = |info: &TableInfo| {
        let group = groups.iter().find(|group| info.role.is_none_or(|role| role == group.role))?;
        let table = table(info, group);
        // Nothing to rank: only house bots played.
        (!table.ranked_by_time || !table.rows.is_empty()).then_some(table)
    };
    game.standings.tables.iter().filter_map(of_group).collect()
}

fn table(info: &TableInfo, group: &RankGroup<'_>) -> StandingsTable {
    let mut table = StandingsTable::official(info.id, info.title);
    table.ranked_by_time = info.order == TableOrder::ScorePerTime;
    let with_contributors = group.ranked.iter().any(|r| r.row.contributor_cell() != TableCell::Empty);
    let columns: Vec<&ColumnInfo> = info
        .columns
        .iter()
        .filter(|column| column.value != ColumnValue::ContributorIfAny || with_contributors)
        .collect();
    table.columns = columns.iter().map(|column| heading(column)).collect();
    let by_time;
    let ranked = match info.order {
        TableOrder::Official => &group.ranked,
        TableOrder::ScorePerTime => {
            by_time = ranked_by_score_per_time(group);
            &by_time
        }
    };
    for one in ranked {
        let cells = columns.iter().map(|column| cell(column, one)).collect();
        table.rows.push(TableRow { entrant: Some(one.row.entrant), cells });
    }
    table.notes = info.notes.iter().map(|&note| note.to_owned()).collect();
    table
}

fn heading(column: &ColumnInfo) -> TableColumn {
    let make = match column.value {
        ColumnValue::Name | ColumnValue::Contributor | ColumnValue::ContributorIfAny | ColumnValue::Medal => {
            TableColumn::text
        }
        ColumnValue::MeanTime | ColumnValue::ScorePerTime => TableColumn::time,
        _ => TableColumn::number,
    };
    make(column.id, column.title)
}

fn ranked_by_score_per_time<'a>(group: &RankGroup<'a>) -> Vec<RankedRow<'a>> {
    // A house bot runs inside the engine, so its time cannot be compared with that of a process.
    let rows: Vec<EntrantRow<'a>> =
        group.ranked.iter().map(|ranked| ranked.row).filter(|row| !row.is_house_bot()).collect();
    // Nonnegative floats compare like their bits.
    rank_rows(&rows, |row| Reverse(score_per_time(row).map(|x| x.max(0.0).to_bits())))
}

/// Mean score per microsecond; `None` for a bot without answers.
fn score_per_time(row: &EntrantRow<'_>) -> Option<f64> {
    let time = row.totals.mean_us().max(MIN_RANKED_US);
    (row.totals.answers > 0).then(|| row.mean_score().to_f64() / time)
}

fn cell(column: &ColumnInfo, ranked: &RankedRow<'_>) -> TableCell {
    let RankedRow { row, rank } = ranked;
    let totals = row.totals;
    let real = |x: f64| TableCell::Real(x, column.decimals, column.unit);
    let whole = |n: u64| TableCell::Int(n as i64);
    match column.value {
        ColumnValue::Rank => ranked.rank_cell(),
        ColumnValue::Medal => medal(*rank),
        ColumnValue::Name => row.name_cell(),
        ColumnValue::Contributor | ColumnValue::ContributorIfAny => row.contributor_cell(),
        ColumnValue::MeanTime => real(totals.mean_us()),
        ColumnValue::MeanScore => real(row.mean_score().to_f64()),
        ColumnValue::ScorePerTime => score_per_time(row).map_or(TableCell::Empty, real),
        ColumnValue::ScoreDeviation => real(totals.score.variance().sqrt()),
        ColumnValue::HighestScore => real(FixedPoint(totals.score.max).to_f64()),
        ColumnValue::LowestScore => real(FixedPoint(totals.score.min).to_f64()),
        ColumnValue::PointsPerMatch => real(row.points_per_match().to_f64()),
        ColumnValue::TotalPoints => real(totals.total_points()),
        ColumnValue::TotalStat(index) => real(totals.stat(index)),
        ColumnValue::Won => whole(totals.won),
        ColumnValue::Drawn => whole(totals.drawn),
        ColumnValue::Lost => whole(totals.lost),
        ColumnValue::WonMinusLost => TableCell::Int(row.won_minus_lost()),
        ColumnValue::WonPercent => real(100.0 * totals.won as f64 / totals.games.max(1) as f64),
        ColumnValue::Games => whole(totals.games),
        ColumnValue::Matches => whole(totals.matches),
    }
}

fn medal(rank: Option<u64>) -> TableCell {
    match rank {
        Some(1) => TableCell::Text("gold".to_owned()),
        Some(2) => TableCell::Text("silver".to_owned()),
        Some(3) => TableCell::Text("bronze".to_owned()),
        _ => TableCell::Empty,
    }
}
