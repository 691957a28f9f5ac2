//! Standings as text, JSON, CSV, Markdown and HTML: what `agon table` prints and a report shows.

mod csv;
pub mod html;
mod markdown;
mod text;

#[cfg(test)]
mod tests;

pub use csv::quoted;
pub use text::table_of_width;

use std::borrow::Cow;

use agon_league::standings::Standings;

/// How a table is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Format {
    /// For the terminal.
    Text,
    /// For programs: everything there is, versioned.
    Json,
    /// For spreadsheets: one table after the other, each with its title and a blank line between.
    Csv,
    /// For a forum or a README.
    Md,
    /// A page that needs nothing but itself.
    Html,
}

/// The standings, written. Without `times` nothing that was measured shows: the same competition gives the same bytes again. `width`
/// is how wide tables of text may be; `None` is as wide as the terminal.
pub fn render(standings: &Standings, format: Format, times: bool, width: Option<u16>) -> String {
    let shown = if times { Cow::Borrowed(standings) } else { Cow::Owned(standings.without_times()) };
    match format {
        Format::Text => text::render(&shown, width),
        Format::Json => format!("{:#}\n", shown.json()),
        Format::Csv => csv::render(&shown),
        Format::Md => markdown::render(&shown),
        Format::Html => html::page(&shown),
    }
}

/// `Spring Cup, phase 2: 1200 games in 300 matches`.
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
