//! Tables of typed cells. Renderers decide how numbers look.

use agon_core::Fault;

use super::row::EntrantRow;
use crate::result::Entrant;

/// Content of a cell.
#[derive(Clone, PartialEq, Debug)]
pub enum TableCell {
    /// Unknown or not applicable.
    Empty,
    /// Text.
    Text(String),
    /// An integer.
    Int(i64),
    /// A number, its displayed decimals, and a unit (may be empty).
    Real(f64, usize, &'static str),
    /// Lower and upper end, and displayed decimals.
    Interval(f64, f64, usize),
    /// A measured time in nanoseconds.
    Time(f64),
    /// Numbers of faults, in the order of [`Fault::ALL`].
    Faults([u64; 4]),
}

impl TableCell {
    /// Display text.
    pub fn describe(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Text(text) => text.clone(),
            Self::Int(n) => n.to_string(),
            Self::Real(x, decimals, "") => rounded(*x, *decimals),
            Self::Real(x, decimals, unit) => format!("{} {unit}", rounded(*x, *decimals)),
            Self::Interval(low, high, decimals) => {
                format!("{} to {}", rounded(*low, *decimals), rounded(*high, *decimals))
            }
            Self::Time(ns) => format_duration(*ns),
            Self::Faults(counts) => list_faults(*counts, Fault::count_text),
        }
    }
}

/// `none` or `3 illegal, 1 crash`, with the given text for each kind of fault.
fn list_faults(counts: [u64; 4], text: impl Fn(Fault, u64) -> String) -> String {
    let counted = Fault::ALL.into_iter().zip(counts).filter(|&(_, count)| count > 0);
    let texts: Vec<String> = counted.map(|(fault, count)| text(fault, count)).collect();
    if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }
}

/// Numbers of faults for programs: `3 illegal, 9 crash`. Published hashes cover this text, so it never changes.
pub fn machine_faults(counts: [u64; 4]) -> String {
    list_faults(counts, |fault, count| format!("{count} {fault}"))
}

/// Rounds to this many decimals and avoids -0.
fn rounded(x: f64, decimals: usize) -> String {
    let text = format!("{x:.decimals$}");
    match text.strip_prefix('-') {
        Some(positive) if positive.bytes().all(|b| matches!(b, b'0' | b'.')) => positive.to_owned(),
        _ => text,
    }
}

/// A time in nanoseconds in a suitable unit: `250 ns`, `12.3 us`, `4.56 ms`, `1.20 s`.
pub fn format_duration(ns: f64) -> String {
    match ns.max(0.0).round() {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.1} us", ns / 1e3),
        ns if ns < 1e9 => format!("{:.2} ms", ns / 1e6),
        ns => format!("{:.2} s", ns / 1e9),
    }
}

/// A column of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableColumn {
    /// Stable id for programs.
    pub id: String,
    /// Title, as in the game's document.
    pub title: String,
    /// Whether cells are right-aligned numbers.
    pub right_aligned: bool,
    /// Whether it holds measured times, which differ between runs.
    pub has_times: bool,
}

impl TableColumn {
    /// A column of text.
    pub fn text(id: &str, title: &str) -> Self {
        Self { id: id.to_owned(), title: title.to_owned(), right_aligned: false, has_times: false }
    }

    /// A column of numbers.
    pub fn number(id: &str, title: &str) -> Self {
        Self { right_aligned: true, ..Self::text(id, title) }
    }

    /// A column of numbers that depend on measured times.
    pub fn time(id: &str, title: &str) -> Self {
        Self { has_times: true, ..Self::number(id, title) }
    }
}

/// A row of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct TableRow {
    /// The entrant; `None` for rulings about a match.
    pub entrant: Option<Entrant>,
    /// One cell per column.
    pub cells: Vec<TableCell>,
}

/// A table.
#[derive(Clone, PartialEq, Debug)]
pub struct StandingsTable {
    /// Stable id for programs: `score`, `efficiency`, `confidence`.
    pub id: String,
    /// Display title.
    pub title: String,
    /// Whether the game's document defines this table.
    pub official: bool,
    /// Whether its order depends on measured times.
    pub ranked_by_time: bool,
    /// Columns from left to right.
    pub columns: Vec<TableColumn>,
    /// Rows from top to bottom.
    pub rows: Vec<TableRow>,
    /// Notes shown below the table.
    pub notes: Vec<String>,
}

impl StandingsTable {
    /// An empty official table.
    pub fn official(id: &str, title: &str) -> Self {
        let (id, title) = (id.to_owned(), title.to_owned());
        Self {
            id,
            title,
            official: true,
            ranked_by_time: false,
            columns: Vec::new(),
            rows: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The same without columns of measured times.
    #[must_use]
    pub fn without_times(&self) -> Self {
        let kept = |cells: &[TableCell]| -> Vec<TableCell> {
            let columns = self.columns.iter().zip(cells).filter(|(column, _)| !column.has_times);
            columns.map(|(_, cell)| cell.clone()).collect()
        };
        Self {
            columns: self.columns.iter().filter(|column| !column.has_times).cloned().collect(),
            rows: self.rows.iter().map(|r| TableRow { entrant: r.entrant, cells: kept(&r.cells) }).collect(),
            ..self.clone()
        }
    }
}

/// Adds the notes of marks below the official tables.
pub(super) fn add_notes(tables: &mut [StandingsTable], rows: &[EntrantRow<'_>]) {
    for table in tables.iter_mut().filter(|table| table.official && !table.ranked_by_time) {
        for row in &table.rows {
            let index = row.entrant.and_then(|own| rows.binary_search_by_key(&own, |row| row.entrant).ok());
            let Some(spec) = index.and_then(|at| rows[at].spec) else { continue };
            for mark in &spec.marks {
                if let Some(note) = &mark.note {
                    table.notes.push(format!("{} ({}): {note}", spec.name, mark.mark));
                }
            }
        }
    }
}
