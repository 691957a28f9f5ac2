//! The pages of a report, one file for each kind.

mod bot;
mod game;
mod phase;
mod summary;

pub use bot::bot;
pub use game::{Beside, game};
pub use phase::phase;
pub use summary::summary;

use agon_league::standings::StandingsTable;

use crate::bracket;
use crate::data::{PhaseReport, Report};
use crate::html::section;
use crate::tables::{self, PageLinks};

/// `12 of 40 matches, 120 games`.
fn progress(phase: &PhaseReport) -> String {
    use crate::text_format::{count, plural};
    let matches = match phase.expected {
        Some((least, most)) if phase.state != "published" && phase.state != "closed" => {
            let of =
                if least == most { count(least) } else { format!("{} to {}", count(least), count(most)) };
            format!("{} of {of} matches", count(phase.matches))
        }
        _ => plural(phase.matches, "match", "matches"),
    };
    if phase.games_played == phase.matches {
        matches
    } else {
        format!("{matches}, {}", plural(phase.games_played, "game", "games"))
    }
}

/// The sheets of a phase for which `wanted` holds, each as a part of the page.
fn sheets(phase: &PhaseReport, ways: PageLinks<'_>, wanted: &dyn Fn(&StandingsTable) -> bool) -> String {
    let sheets = phase.standings.iter().flat_map(|standings| &standings.sheets);
    sheets
        .filter(|sheet| wanted(sheet))
        .map(|sheet| section(&sheet.id, &sheet.title, &tables::sheet(sheet, ways)))
        .collect()
}

/// The bracket as a part of the page; nothing where there is none.
fn bracket_of(report: &Report, phase: &PhaseReport, up: &str) -> String {
    let drawn = phase.bracket.as_ref().map_or_else(String::new, |one| bracket::bracket(report, one, up));
    section("bracket", "Bracket", &drawn)
}
