//! Standings as CSV: plain numbers, intervals in two columns, times in microseconds.

use agon_core::text_format::csv_quote;
use agon_league::standings::{Standings, StandingsTable, TableCell, TableColumn};

/// All tables: a title line, the columns, the rows; with a blank line between two tables.
pub fn render(standings: &Standings) -> String {
    standings.tables.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn one(sheet: &StandingsTable) -> String {
    let kinds: Vec<Kind> = (0..sheet.columns.len()).map(|at| Kind::of(sheet, at)).collect();
    let titles = sheet.columns.iter().zip(&kinds).flat_map(|(column, kind)| kind.titles(column));
    let mut text = line([sheet.title.clone()]) + &line(titles);
    for row in &sheet.rows {
        text += &line(row.cells.iter().zip(&kinds).flat_map(|(cell, kind)| kind.values(cell)));
    }
    text
}

/// Kind of the cells in a column. An empty cell does not decide it.
enum Kind {
    Plain,
    Interval,
    Time,
}

impl Kind {
    fn of(sheet: &StandingsTable, at: usize) -> Self {
        let cells = || sheet.rows.iter().filter_map(|row| row.cells.get(at));
        if cells().any(|cell| matches!(cell, TableCell::Interval(..))) {
            Self::Interval
        } else if cells().any(|cell| matches!(cell, TableCell::Time(_))) {
            Self::Time
        } else {
            Self::Plain
        }
    }

    fn titles(&self, column: &TableColumn) -> Vec<String> {
        match self {
            Self::Plain => vec![column.title.clone()],
            Self::Interval => vec![format!("{} low", column.title), format!("{} high", column.title)],
            Self::Time => vec![format!("{} [us]", column.title)],
        }
    }

    fn values(&self, cell: &TableCell) -> Vec<String> {
        match (self, cell) {
            (Self::Interval, TableCell::Interval(low, high, _)) => vec![number(*low), number(*high)],
            (Self::Interval, _) => vec![String::new(); 2],
            (_, TableCell::Time(ns)) => vec![number(ns / 1000.0)],
            (_, TableCell::Real(x, ..)) => vec![number(*x)],
            (_, other) => vec![other.describe()],
        }
    }
}

/// Six decimals, without trailing zeros.
fn number(x: f64) -> String {
    let rounded = (x * 1e6).round() / 1e6;
    if rounded == 0.0 { "0".to_owned() } else { rounded.to_string() }
}

fn line(fields: impl IntoIterator<Item = String>) -> String {
    let fields: Vec<String> = fields.into_iter().map(|field| csv_quote(&field)).collect();
    fields.join(",") + "\n"
}
