//! Data on stdout: tables for people, JSON for programs.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use agon_engine::Estimate;
use agon_venue::Failure;
use agon_venue::document::document;
use agon_venue::table_formats::table_of_width;
use serde_json::Value as Json;
use tracing::Level;

use crate::logging;

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

/// A message beside the data, on stderr.
pub fn note(text: &str) {
    logging::message(Level::INFO, text);
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
    agon_league::standings::format_duration(time.as_nanos() as f64)
}

/// In whole and fractional microseconds, for JSON.
pub fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}
