//! Output on stdout: text tables and JSON.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use agon_bots::Diagnostic;
use agon_core::document::document;
use agon_engine::Estimate;
use agon_report::table_formats::table_of_width;
use serde_json::Value as Json;
use tracing::Level;

use crate::logging;

/// Width of a table that is not printed to a terminal.
const FILE_WIDTH: u16 = 160;

/// Writes text to stdout. A closed pipe (`agon ... | head`) is not an error.
pub fn print(text: &str) -> Result<(), Diagnostic> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Writes a JSON document to stdout. `kind` is the type of the document.
pub fn print_json(kind: &str, content: Json) -> Result<(), Diagnostic> {
    print(&format!("{:#}\n", document(kind, content)))
}

/// Writes a JSON document in one line, as one of a sequence.
pub fn print_json_line(kind: &str, content: Json) -> Result<(), Diagnostic> {
    print(&format!("{}\n", document(kind, content)))
}

/// Writes a message to stderr.
pub fn note(text: &str) {
    logging::message(Level::INFO, text);
}

/// Commands to paste, one a line, each with what it does. The lines are indented, and the last one has no line end.
pub fn next_steps<T: AsRef<str>>(steps: &[(String, T)]) -> String {
    let width = steps.iter().map(|(command, _)| command.len()).max().unwrap_or_default();
    let line = |(command, does): &(String, T)| format!("  {command:width$}   {}", does.as_ref());
    steps.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Whether stdout may contain colours.
pub fn colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// A table that fits the output. Titles that start with `>` are right-aligned.
pub fn table(titles: &[&str], rows: Vec<Vec<String>>) -> String {
    table_of_width(titles, rows, table_width())
}

/// Maximum width of a table: fixed for a file, `None` for a terminal, which has its own width.
pub fn table_width() -> Option<u16> {
    (!io::stdout().is_terminal()).then_some(FILE_WIDTH)
}

/// `4.51 ± 0.12`, or only the mean if the error is unknown.
pub fn estimate(estimate: Estimate, decimals: usize) -> String {
    let half = (estimate.high - estimate.low) / 2.0;
    if half > 0.0 && half.is_finite() {
        format!("{:.decimals$} ± {half:.decimals$}", estimate.mean)
    } else {
        format!("{:.decimals$}", estimate.mean)
    }
}

/// A share as a percentage with its interval: `62.5 % (48-75)`.
pub fn per_cent(share: Estimate) -> String {
    format!("{:.1} % ({:.0}-{:.0})", 100.0 * share.mean, 100.0 * share.low, 100.0 * share.high)
}

/// A time with a suitable unit: `250 ns`, `12.3 us`, `4.56 ms`, `1.20 s`.
pub fn time(time: Duration) -> String {
    agon_league::standings::format_duration(time.as_nanos() as f64)
}

/// Microseconds with fractions, for JSON.
pub fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}
