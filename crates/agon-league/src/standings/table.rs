//! A table of typed cells: whoever shows it decides how a number looks.

use super::RankGroup;
use super::row::{EntrantRow, RankedRow};
use crate::result::Entrant;

/// What stands in a cell.
#[derive(Clone, PartialEq, Debug)]
pub enum Cell {
    /// Nothing is known, or nothing is to be said.
    Empty,
    /// Words.
    Text(String),
    /// A whole number.
    Int(i64),
    /// A number of which so many digits after the point are shown, perhaps with a unit.
    Real(f64, usize, &'static str),
    /// From where to where, with so many digits.
    Interval(f64, f64, usize),
    /// A measured time in nanoseconds.
    Time(f64),
}

impl Cell {
    /// As people read it.
    pub fn shown(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Text(text) => text.clone(),
            Self::Int(n) => n.to_string(),
            Self::Real(x, decimals, "") => rounded(*x, *decimals),
            Self::Real(x, decimals, unit) => format!("{} {unit}", rounded(*x, *decimals)),
            Self::Interval(low, high, decimals) => {
                format!("{} to {}", rounded(*low, *decimals), rounded(*high, *decimals))
            }
            Self::Time(ns) => shown_time(*ns),
        }
    }
}

/// With so many digits, and no minus before nothing.
fn rounded(x: f64, decimals: usize) -> String {
    let text = format!("{x:.decimals$}");
    match text.strip_prefix('-') {
        Some(positive) if positive.bytes().all(|b| matches!(b, b'0' | b'.')) => positive.to_owned(),
        _ => text,
    }
}

/// A time in nanoseconds, in the unit that suits it: `250 ns`, `12.3 us`, `4.56 ms`, `1.20 s`.
pub fn shown_time(ns: f64) -> String {
    match ns.max(0.0).round() {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.1} us", ns / 1e3),
        ns if ns < 1e9 => format!("{:.2} ms", ns / 1e6),
        ns => format!("{:.2} s", ns / 1e9),
    }
}

/// What stands in a column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Column {
    /// For programs: never changes its meaning.
    pub id: String,
    /// For people, as the documents have it.
    pub title: String,
    /// Whether its cells are numbers, to be put to the right.
    pub right: bool,
    /// Whether it holds measured times, which are not the same in another run.
    pub time: bool,
}

impl Column {
    /// Of words.
    pub fn text(id: &str, title: &str) -> Self {
        Self { id: id.to_owned(), title: title.to_owned(), right: false, time: false }
    }

    /// Of numbers.
    pub fn number(id: &str, title: &str) -> Self {
        Self { right: true, ..Self::text(id, title) }
    }

    /// Of numbers that depend on measured times.
    pub fn time(id: &str, title: &str) -> Self {
        Self { time: true, ..Self::number(id, title) }
    }
}

/// An entrant's row.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// Whose; `None` in the list of rulings, where one is about a match.
    pub entrant: Option<Entrant>,
    /// One for each column.
    pub cells: Vec<Cell>,
}

/// One table.
#[derive(Clone, PartialEq, Debug)]
pub struct StandingsTable {
    /// For programs: `score`, `efficiency`, `confidence`.
    pub id: String,
    /// For people.
    pub title: String,
    /// Whether this is what the competition's document calls its table.
    pub official: bool,
    /// Whether its order depends on measured times.
    pub time: bool,
    /// From left to right.
    pub columns: Vec<Column>,
    /// From top to bottom.
    pub rows: Vec<Row>,
    /// What is to be said below it.
    pub notes: Vec<String>,
}

impl StandingsTable {
    /// An official table, still empty.
    pub fn official(id: &str, title: &str) -> Self {
        let (id, title) = (id.to_owned(), title.to_owned());
        Self {
            id,
            title,
            official: true,
            time: false,
            columns: Vec::new(),
            rows: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// An official table of a group: rank, name, contributors if there are any, then these columns.
    pub(super) fn ranked<C: IntoIterator<Item = Cell>>(
        id: &str,
        title: &str,
        group: &RankGroup<'_>,
        columns: impl IntoIterator<Item = Column>,
        cells: impl Fn(&EntrantRow<'_>) -> C,
    ) -> Self {
        let mut sheet = Self::official(id, title);
        let with_contributors = group.ranked.iter().any(|r| r.line.contributor() != Cell::Empty);
        sheet.columns = vec![Column::number("rank", "Rank"), Column::text("name", "Name")];
        sheet.columns.extend(with_contributors.then(|| Column::text("contributor", "Contributor")));
        sheet.columns.extend(columns);
        for ranked @ RankedRow { line, .. } in &group.ranked {
            let mut row = vec![ranked.place(), line.name()];
            row.extend(with_contributors.then(|| line.contributor()));
            row.extend(cells(line));
            sheet.rows.push(Row { entrant: Some(line.entrant), cells: row });
        }
        sheet
    }

    /// Without the columns that hold times.
    #[must_use]
    pub fn without_times(&self) -> Self {
        let kept = |cells: &[Cell]| -> Vec<Cell> {
            let columns = self.columns.iter().zip(cells).filter(|(column, _)| !column.time);
            columns.map(|(_, cell)| cell.clone()).collect()
        };
        Self {
            columns: self.columns.iter().filter(|column| !column.time).cloned().collect(),
            rows: self.rows.iter().map(|r| Row { entrant: r.entrant, cells: kept(&r.cells) }).collect(),
            ..self.clone()
        }
    }
}

/// Says below the official tables what the marks of those in it mean.
pub(super) fn add_notes(sheets: &mut [StandingsTable], lines: &[EntrantRow<'_>]) {
    for sheet in sheets.iter_mut().filter(|sheet| sheet.official && !sheet.time) {
        for row in &sheet.rows {
            let line = row.entrant.and_then(|own| lines.binary_search_by_key(&own, |line| line.entrant).ok());
            let Some(spec) = line.and_then(|at| lines[at].spec) else { continue };
            for mark in &spec.marks {
                if let Some(note) = &mark.note {
                    sheet.notes.push(format!("{} ({}): {note}", spec.name, mark.mark));
                }
            }
        }
    }
}
