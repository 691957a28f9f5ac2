//! Head-to-head table of all pairs. The shade of a cell shows the share of wins; the numbers are in the cells.

use std::collections::HashMap;

use agon_league::Entrant;
use agon_league::standings::{PairStanding, Standings, StandingsTable, TableCell};

use crate::charts::Names;
use crate::html::{html_escape, note, scroll_region};
use crate::scale;

/// Maximum number of entrants. Wider tables are not readable.
const MAX_ENTRANTS: usize = 40;

/// The table. Empty if no entrants met; a note if there are too many entrants.
pub fn matrix(standings: &Standings, names: Names<'_>, plain: &dyn Fn(Entrant) -> String) -> String {
    let shares = Shares::of(&standings.head_to_head);
    match standings.table("head-to-head") {
        Some(table) => from_table(table, &shares, names, plain),
        None => from_pairs(standings, &shares, names, plain),
    }
}

/// Share of wins of each entrant against each other one. A draw counts half.
struct Shares(HashMap<(Entrant, Entrant), f64>);

impl Shares {
    fn of(pairs: &[PairStanding]) -> Self {
        let mut shares = HashMap::new();
        for pair in pairs.iter().filter(|pair| pair.games > 0) {
            let share = (f64::from(pair.won) + f64::from(pair.drawn) / 2.0) / f64::from(pair.games);
            shares.insert((pair.one, pair.other), share);
            shares.insert((pair.other, pair.one), 1.0 - share);
        }
        Self(shares)
    }

    fn get(&self, one: Entrant, other: Entrant) -> Option<f64> {
        self.0.get(&(one, other)).copied()
    }
}

struct Row {
    name: String,
    /// Text of each cell, and its shade from 0 to 1.
    cells: Vec<(String, Option<f64>)>,
}

struct Column {
    /// Short title of the column.
    title: String,
    /// Full name, for screen readers.
    name: String,
}

/// Table for a game of two players, from the head-to-head table of the standings.
fn from_table(
    table: &StandingsTable,
    shares: &Shares,
    names: Names<'_>,
    plain: &dyn Fn(Entrant) -> String,
) -> String {
    let across: Vec<(usize, Entrant)> = table
        .columns
        .iter()
        .enumerate()
        .filter_map(|(at, column)| Some((at, Entrant(column.id.strip_prefix("against_")?.parse().ok()?))))
        .collect();
    let scale = scale::table(table);
    let measured = scale.is_some();
    let shade = |row: Option<Entrant>, column: Entrant, cell: &TableCell| match (cell, &scale) {
        (TableCell::Real(x, ..), Some(scale)) => Some(scale.position(*x) / 100.0),
        (TableCell::Empty, _) => None,
        _ => row.and_then(|row| shares.get(row, column)),
    };
    let row = |row: &agon_league::standings::TableRow| Row {
        name: row.entrant.map_or_else(String::new, names),
        cells: across
            .iter()
            .map(|&(at, column)| {
                let cell = row.cells.get(at).unwrap_or(&TableCell::Empty);
                (cell.describe(), shade(row.entrant, column, cell))
            })
            .collect(),
    };
    let columns: Vec<Column> = across
        .iter()
        .map(|&(at, entrant)| Column { title: table.columns[at].title.clone(), name: plain(entrant) })
        .collect();
    let rows: Vec<Row> = table.rows.iter().map(row).collect();
    let shade_note =
        if measured { "Stronger shade: higher value." } else { "Stronger shade: larger share of wins." };
    let notes: String = table.notes.iter().map(|text| note(text)).collect();
    draw(&rows, &columns, !measured) + &notes + &note(shade_note)
}

/// Table for a game of many players: how often each entrant placed ahead of each other one.
fn from_pairs(
    standings: &Standings,
    shares: &Shares,
    names: Names<'_>,
    plain: &dyn Fn(Entrant) -> String,
) -> String {
    let order: Vec<Entrant> = standings
        .tables
        .iter()
        .find(|table| table.official)
        .map(|table| table.rows.iter().filter_map(|row| row.entrant).collect())
        .unwrap_or_default();
    if order.len() > MAX_ENTRANTS {
        return note(&format!("{} entrants are too many for a table of all pairs.", order.len()));
    }
    if standings.head_to_head.is_empty() {
        return String::new();
    }
    let cell = |one: Entrant, other: Entrant| {
        let share = shares.get(one, other);
        (share.map_or_else(String::new, |share| format!("{:.0}", 100.0 * share)), share)
    };
    let rows: Vec<Row> = order
        .iter()
        .map(|&one| Row { name: names(one), cells: order.iter().map(|&other| cell(one, other)).collect() })
        .collect();
    let columns: Vec<Column> = order
        .iter()
        .enumerate()
        .map(|(at, &one)| Column { title: (at + 1).to_string(), name: plain(one) })
        .collect();
    draw(&rows, &columns, true)
        + &note(
            "Each cell: percentage of games in which the row placed ahead of the column; a shared place counts half. Stronger shade: higher percentage.",
        )
}

fn draw(rows: &[Row], columns: &[Column], numbered: bool) -> String {
    let caption = "Head to head, all pairs";
    let mut text = format!("<table class=\"matrix\">\n<caption>{caption}</caption>\n<thead>\n<tr>");
    if numbered {
        text += "<th scope=\"col\" class=\"n\">#</th>";
    }
    text += "<th scope=\"col\">Name</th>";
    for column in columns {
        let (title, name) = (html_escape(&column.title), html_escape(&column.name));
        text += &if numbered {
            format!("<th scope=\"col\" class=\"n\"><abbr title=\"{name}\">{title}</abbr></th>")
        } else {
            format!("<th scope=\"col\" class=\"n\"><bdi>{name}</bdi></th>")
        };
    }
    text += "</tr>\n</thead>\n<tbody>\n";
    for (at, row) in rows.iter().enumerate() {
        text += "<tr>";
        if numbered {
            text += &format!("<td class=\"n\">{}</td>", at + 1);
        }
        text += &format!("<th scope=\"row\">{}</th>", row.name);
        for (label, shade) in &row.cells {
            text += &match shade {
                Some(shade) => format!(
                    "<td class=\"n shade\" style=\"--dark:{:.2}\">{}</td>",
                    shade.clamp(0.0, 1.0),
                    html_escape(label)
                ),
                None => format!("<td class=\"n\">{}</td>", html_escape(label)),
            };
        }
        text += "</tr>\n";
    }
    scroll_region(caption, &(text + "</tbody>\n</table>\n"))
}
