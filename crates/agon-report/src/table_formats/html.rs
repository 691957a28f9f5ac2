//! Standings as HTML: accessible (captions, scopes, labelled scrolling regions), and readable without colour, on a phone and on paper.

use agon_league::standings::{Standings, StandingsTable};

use super::heading;
use crate::html::html_escape;

const STYLE: &str = include_str!("style.css");

/// A complete page without external resources.
pub fn page(standings: &Standings) -> String {
    let title = html_escape(&heading(standings));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{}</main>\n</body>\n</html>\n",
        fragment(standings)
    )
}

/// The tables without a page around them.
pub fn fragment(standings: &Standings) -> String {
    standings.tables.iter().map(one).collect()
}

fn one(sheet: &StandingsTable) -> String {
    let title = html_escape(&sheet.title);
    let id = html_escape(&sheet.id);
    let mut text =
        format!("<section class=\"agon-sheet\" id=\"{id}\">\n<h2 id=\"{id}-title\">{title}</h2>\n");
    // A table wider than the screen scrolls separately, and must be reachable with the keyboard.
    text += &format!(
        "<div class=\"agon-scroll\" role=\"region\" aria-labelledby=\"{id}-title\" tabindex=\"0\">\n"
    );
    text += "<table>\n<thead>\n<tr>";
    for column in &sheet.columns {
        text +=
            &format!("<th scope=\"col\"{}>{}</th>", class(column.right_aligned), html_escape(&column.title));
    }
    text += "</tr>\n</thead>\n<tbody>\n";
    for row in &sheet.rows {
        text += "<tr>";
        for (column, cell) in sheet.columns.iter().zip(&row.cells) {
            let (tag, class, shown) =
                (&column.id, class(column.right_aligned), html_escape(&cell.describe()));
            text += &match tag.as_str() {
                "name" => format!("<th scope=\"row\"{class}>{shown}</th>"),
                _ => format!("<td{class}>{shown}</td>"),
            };
        }
        text += "</tr>\n";
    }
    text += "</tbody>\n</table>\n</div>\n";
    for note in &sheet.notes {
        text += &format!("<p class=\"agon-note\">{}</p>\n", html_escape(note));
    }
    text + "</section>\n"
}

const fn class(right: bool) -> &'static str {
    if right { " class=\"n\"" } else { "" }
}
