//! Who did what against whom, as a table of all: the stronger a cell is shaded, the larger the share that was won. The numbers are in the cells.

use std::collections::HashMap;

use agon_league::Entrant;
use agon_league::standings::{Cell, PairStanding, StandingsTable, Standings};

use crate::charts::Names;
use crate::html::{escaped, note, scrolling};

/// Wider tables fit nowhere.
const MOST: usize = 40;

/// The table; nothing where nobody met, a note where too many did.
pub fn matrix(standings: &Standings, names: Names<'_>, plain: &dyn Fn(Entrant) -> String) -> String {
    let shares = Shares::of(&standings.head_to_head);
    match standings.sheet("head-to-head") {
        Some(sheet) => of_sheet(sheet, &shares, names, plain),
        None => of_meetings(standings, &shares, names, plain),
    }
}

/// What share each has won against each, draws counting half.
struct Shares(HashMap<(Entrant, Entrant), f64>);

impl Shares {
    fn of(meetings: &[PairStanding]) -> Self {
        let mut shares = HashMap::new();
        for met in meetings.iter().filter(|met| met.games > 0) {
            let share = (f64::from(met.won) + f64::from(met.drawn) / 2.0) / f64::from(met.games);
            shares.insert((met.one, met.other), share);
            shares.insert((met.other, met.one), 1.0 - share);
        }
        Self(shares)
    }

    fn get(&self, one: Entrant, other: Entrant) -> Option<f64> {
        self.0.get(&(one, other)).copied()
    }
}

struct Row {
    name: String,
    /// What stands in each cell, and how dark it is, from 0 to 1.
    cells: Vec<(String, Option<f64>)>,
}

struct Column {
    /// Short, as a title.
    title: String,
    /// Whole, for whoever hears it.
    name: String,
}

/// A game of two has a table of its own, with the cells its document has.
fn of_sheet(sheet: &StandingsTable, shares: &Shares, names: Names<'_>, plain: &dyn Fn(Entrant) -> String) -> String {
    let across: Vec<(usize, Entrant)> = sheet
        .columns
        .iter()
        .enumerate()
        .filter_map(|(at, column)| Some((at, Entrant(column.id.strip_prefix("against_")?.parse().ok()?))))
        .collect();
    let measured = sheet.rows.iter().flat_map(|row| &row.cells).any(|cell| matches!(cell, Cell::Real(..)));
    let range = measured.then(|| range(sheet));
    let dark = |row: Option<Entrant>, column: Entrant, cell: &Cell| match (cell, range) {
        (Cell::Real(x, ..), Some((low, high))) => Some((x.max(1.0).ln() - low) / (high - low).max(1e-9)),
        (Cell::Empty, _) => None,
        _ => row.and_then(|row| shares.get(row, column)),
    };
    let row = |row: &agon_league::standings::Row| Row {
        name: row.entrant.map_or_else(String::new, names),
        cells: across
            .iter()
            .map(|&(at, column)| {
                let cell = row.cells.get(at).unwrap_or(&Cell::Empty);
                (cell.shown(), dark(row.entrant, column, cell))
            })
            .collect(),
    };
    let columns: Vec<Column> = across
        .iter()
        .map(|&(at, entrant)| Column { title: sheet.columns[at].title.clone(), name: plain(entrant) })
        .collect();
    let rows: Vec<Row> = sheet.rows.iter().map(row).collect();
    let shade = if measured {
        "The stronger the shade, the more."
    } else {
        "The stronger the shade, the larger the share won."
    };
    let notes: String = sheet.notes.iter().map(|text| note(text)).collect();
    draw(&rows, &columns, !measured) + &notes + &note(shade)
}

/// The least and the most of what was measured, as logarithms: twice as long is as far anywhere.
fn range(sheet: &StandingsTable) -> (f64, f64) {
    let values = sheet.rows.iter().flat_map(|row| &row.cells).filter_map(|cell| match cell {
        Cell::Real(x, ..) => Some(x.max(1.0).ln()),
        _ => None,
    });
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
}

/// In a game of many, how often each was better than each.
fn of_meetings(
    standings: &Standings,
    shares: &Shares,
    names: Names<'_>,
    plain: &dyn Fn(Entrant) -> String,
) -> String {
    let order: Vec<Entrant> = standings
        .sheets
        .iter()
        .find(|sheet| sheet.official)
        .map(|sheet| sheet.rows.iter().filter_map(|row| row.entrant).collect())
        .unwrap_or_default();
    if order.len() > MOST {
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
            "A row reads: in how many of 100 games it came out before the entrant of that number; a shared place counts half. The stronger the shade, the more.",
        )
}

fn draw(rows: &[Row], columns: &[Column], numbered: bool) -> String {
    let caption = "Everybody against everybody";
    let mut text = format!("<table class=\"matrix\">\n<caption>{caption}</caption>\n<thead>\n<tr>");
    if numbered {
        text += "<th scope=\"col\" class=\"n\">#</th>";
    }
    text += "<th scope=\"col\">Name</th>";
    for column in columns {
        let (title, name) = (escaped(&column.title), escaped(&column.name));
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
        for (says, dark) in &row.cells {
            text += &match dark {
                Some(dark) => format!(
                    "<td class=\"n shade\" style=\"--dark:{:.2}\">{}</td>",
                    dark.clamp(0.0, 1.0),
                    escaped(says)
                ),
                None => format!("<td class=\"n\">{}</td>", escaped(says)),
            };
        }
        text += "</tr>\n";
    }
    scrolling(caption, &(text + "</tbody>\n</table>\n"))
}
