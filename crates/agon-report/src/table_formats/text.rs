//! Standings as text for the terminal.

use agon_league::standings::{Standings, StandingsTable, TableCell, TableColumn};
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

use super::heading;

/// Maximum number of columns. A wider head-to-head table is only available in other formats.
const MAX_COLUMNS: usize = 16;

/// All tables, one below the other.
pub fn render(standings: &Standings, width: Option<u16>) -> String {
    heading(standings) + "\n" + &tables(standings, width)
}

/// The same without the heading.
pub fn tables(standings: &Standings, width: Option<u16>) -> String {
    standings.tables.iter().fold(String::new(), |text, sheet| text + "\n" + &one(sheet, width))
}

fn one(sheet: &StandingsTable, width: Option<u16>) -> String {
    let title = format!("{}\n", sheet.title);
    if sheet.columns.len() > MAX_COLUMNS {
        return title + "too wide for a text table\nhint: use --format html or csv\n";
    }
    let align = |column: &TableColumn| {
        if column.right_aligned { format!(">{}", column.title) } else { column.title.clone() }
    };
    let titles: Vec<String> = sheet.columns.iter().map(align).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let rows = sheet.rows.iter().map(|row| row.cells.iter().map(TableCell::describe).collect()).collect();
    sheet.notes.iter().fold(title + &table_of_width(&titles, rows, width), |text, note| text + note + "\n")
}

/// A table with a maximum width. Titles that start with `>` are right-aligned.
pub fn table_of_width(titles: &[&str], rows: Vec<Vec<String>>, width: Option<u16>) -> String {
    let mut table = Table::new();
    let rule = LineStyle::none().fill('─').junction('─');
    table.load_style(TableStyle::new().header_separator(rule).bottom_border(rule));
    // Long cells are wrapped to the width of the terminal, or to a readable width in a file.
    table.set_content_arrangement(ContentArrangement::Dynamic);
    if let Some(width) = width {
        table.set_width(width);
    }
    let align = |title: &str| if title.starts_with('>') { CellAlignment::Right } else { CellAlignment::Left };
    table.set_header(
        titles.iter().map(|t| comfy_table::Cell::new(t.trim_start_matches('>')).set_alignment(align(t))),
    );
    for row in rows {
        table.add_row(
            row.into_iter().zip(titles).map(|(text, t)| comfy_table::Cell::new(text).set_alignment(align(t))),
        );
    }
    table.to_string().lines().fold(String::new(), |text, line| text + line.trim_end() + "\n")
}
