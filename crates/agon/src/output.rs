//! Data on stdout: tables for people, JSON for programs.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use agon_engine::Estimate;
use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use serde_json::{Value as Json, json};

use crate::failure::Failure;

/// The version of all `--json` output. Raised when a field changes its meaning or goes away.
const JSON_VERSION: u32 = 1;

/// How wide a table in a file may be.
const FILE_WIDTH: u16 = 160;

/// Writes text to stdout. A reader that has gone away (`agon ... | head`) is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Writes a JSON document to stdout. `kind` names what it is.
pub fn print_json(kind: &str, content: Json) -> Result<(), Failure> {
    print(&format!("{:#}\n", document(kind, content)))
}

/// Writes a JSON document in one line: one of several that follow each other.
pub fn print_json_line(kind: &str, content: Json) -> Result<(), Failure> {
    print(&format!("{}\n", document(kind, content)))
}

fn document(kind: &str, content: Json) -> Json {
    let mut document = json!({"agon": kind, "version": JSON_VERSION});
    if let (Some(document), Json::Object(content)) = (document.as_object_mut(), content) {
        document.extend(content);
    }
    document
}

/// A message beside the data, on stderr.
#[allow(clippy::print_stderr, reason = "messages go to stderr")]
pub fn note(text: &str) {
    eprintln!("{text}");
}

/// Whether colour may be used on stdout.
pub fn colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// A table as wide as fits where it is shown: titles that start with `>` are right-aligned.
pub fn table(titles: &[&str], rows: Vec<Vec<String>>) -> String {
    table_of_width(titles, rows, table_width())
}

/// How wide a table may be: what reads well in a file, or `None` on a terminal, which knows its own width.
pub fn table_width() -> Option<u16> {
    (!io::stdout().is_terminal()).then_some(FILE_WIDTH)
}

/// A table at most so wide.
pub fn table_of_width(titles: &[&str], rows: Vec<Vec<String>>, width: Option<u16>) -> String {
    let mut table = Table::new();
    let rule = LineStyle::none().fill('─').junction('─');
    table.load_style(TableStyle::new().header_separator(rule).bottom_border(rule));
    // Long cells are wrapped: to the terminal, or to a width that reads well in a file.
    table.set_content_arrangement(ContentArrangement::Dynamic);
    if let Some(width) = width {
        table.set_width(width);
    }
    let align = |title: &str| if title.starts_with('>') { CellAlignment::Right } else { CellAlignment::Left };
    table.set_header(titles.iter().map(|t| Cell::new(t.trim_start_matches('>')).set_alignment(align(t))));
    for row in rows {
        table.add_row(row.into_iter().zip(titles).map(|(text, t)| Cell::new(text).set_alignment(align(t))));
    }
    table.to_string().lines().fold(String::new(), |text, line| text + line.trim_end() + "\n")
}

/// `4.51 ± 0.12`; without the second part when nothing is known about it.
pub fn estimate(estimate: Estimate, decimals: usize) -> String {
    let half = (estimate.high - estimate.low) / 2.0;
    if half > 0.0 && half.is_finite() {
        format!("{:.decimals$} ± {half:.decimals$}", estimate.mean)
    } else {
        format!("{:.decimals$}", estimate.mean)
    }
}

/// A share in per cent with its interval: `62.5 % (48-75)`.
pub fn per_cent(share: Estimate) -> String {
    format!("{:.1} % ({:.0}-{:.0})", 100.0 * share.mean, 100.0 * share.low, 100.0 * share.high)
}

/// A time in the unit that suits it: `250 ns`, `12.3 us`, `4.56 ms`, `1.20 s`.
pub fn time(time: Duration) -> String {
    agon_league::standings::shown_time(time.as_nanos() as f64)
}

/// In whole and fractional microseconds, for JSON.
pub fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}
