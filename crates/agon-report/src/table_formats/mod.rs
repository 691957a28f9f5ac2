//! Standings as text, JSON, CSV, Markdown and HTML: what `agon table` prints and a report shows.

mod csv;
pub mod html;
mod markdown;
mod text;

#[cfg(test)]
mod tests;

pub use text::table_of_width;

use std::borrow::Cow;

use agon_league::standings::Standings;

/// Output format of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum TableFormat {
    /// Text for the terminal.
    Text,
    /// Versioned JSON with all figures.
    Json,
    /// CSV for spreadsheets: one table after the other, each with its title and a blank line between.
    Csv,
    /// Markdown for a forum or a README.
    Md,
    /// An HTML page without external resources.
    Html,
}

/// The tables as text, one below the other, without a heading.
pub fn tables_text(standings: &Standings, width: Option<u16>) -> String {
    text::tables(standings, width)
}

/// Renders the standings. Without `times` nothing that was measured is included, so the same competition gives the same bytes. `width` is
/// the maximum width of text tables; `None` is the width of the terminal.
pub fn render(standings: &Standings, format: TableFormat, times: bool, width: Option<u16>) -> String {
    let shown = if times { Cow::Borrowed(standings) } else { Cow::Owned(standings.without_times()) };
    match format {
        TableFormat::Text => text::render(&shown, width),
        TableFormat::Json => format!("{:#}\n", shown.json()),
        TableFormat::Csv => csv::render(&shown),
        TableFormat::Md => markdown::render(&shown),
        TableFormat::Html => html::page(&shown),
    }
}

/// A heading such as `Spring Cup, phase 2: 1200 games in 300 matches`.
fn heading(standings: &Standings) -> String {
    let counted = |n: u64, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    let games = counted(standings.games, "game", "games");
    let played = if standings.matches == standings.games {
        games
    } else {
        format!("{games} in {}", counted(standings.matches, "match", "matches"))
    };
    let parts: Vec<&str> = [&standings.competition, &standings.phase]
        .into_iter()
        .map(String::as_str)
        .filter(|s| !s.is_empty())
        .collect();
    if parts.is_empty() { played } else { format!("{}: {played}", parts.join(", ")) }
}
