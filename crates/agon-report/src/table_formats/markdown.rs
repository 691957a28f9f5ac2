//! Standings as Markdown.

use agon_league::standings::{Standings, StandingsTable};

use super::heading;

/// All tables, one below the other.
pub fn render(standings: &Standings) -> String {
    let start = format!("## {}\n", markdown_escape(&heading(standings)));
    standings.tables.iter().fold(start, |text, sheet| text + "\n" + &one(sheet))
}

fn one(sheet: &StandingsTable) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = format!("### {}\n\n", markdown_escape(&sheet.title));
    text += &line(sheet.columns.iter().map(|column| markdown_escape(&column.title)).collect());
    text += &line(
        sheet.columns.iter().map(|c| if c.right_aligned { "---:" } else { "---" }.to_owned()).collect(),
    );
    for row in &sheet.rows {
        text += &line(row.cells.iter().map(|cell| markdown_escape(&cell.describe())).collect());
    }
    sheet.notes.iter().fold(text, |text, note| text + "\n" + &markdown_escape(note) + "\n")
}

/// Escapes text, so that names are never markup.
fn markdown_escape(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match c {
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '~' | '#' => out.extend(['\\', c]),
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '\n' | '\r' => out.push(' '),
            _ => out.push(c),
        }
        out
    })
}
