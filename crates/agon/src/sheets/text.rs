//! Standings for the terminal.

use agon_league::standings::{Cell, Column, Sheet, Standings};

use super::heading;
use crate::output;

/// Wider tables of everybody against everybody are left to formats without lines.
const MOST_COLUMNS: usize = 16;

/// All sheets, one below the other.
pub fn render(standings: &Standings, width: Option<u16>) -> String {
    standings.sheets.iter().fold(heading(standings) + "\n", |text, sheet| text + "\n" + &one(sheet, width))
}

fn one(sheet: &Sheet, width: Option<u16>) -> String {
    let title = format!("{}\n", sheet.title);
    if sheet.columns.len() > MOST_COLUMNS {
        return title + "too wide for lines of text\nhint: --format html or csv shows it\n";
    }
    let align =
        |column: &Column| if column.right { format!(">{}", column.title) } else { column.title.clone() };
    let titles: Vec<String> = sheet.columns.iter().map(align).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let rows = sheet.rows.iter().map(|row| row.cells.iter().map(Cell::shown).collect()).collect();
    sheet
        .notes
        .iter()
        .fold(title + &output::table_of_width(&titles, rows, width), |text, note| text + note + "\n")
}
