//! The pages of a report, one file per kind of page.

mod bot;
mod game;
mod phase;
mod summary;

pub use bot::bot;
pub use game::{AdjacentGames, game};
pub use phase::phase;
pub use summary::summary;

use agon_league::standings::StandingsTable;
use agon_store::PhaseState;

use crate::bracket;
use crate::data::{PhaseReport, Report};
use crate::html::section;
use crate::tables::{self, PageLinks};

/// Progress of a phase: `12 of 40 matches, 120 games`.
fn progress(phase: &PhaseReport) -> String {
    use crate::text_format::{count, grouped_plural};
    let matches = match phase.expected {
        Some((least, most)) if phase.state < PhaseState::Published => {
            let of =
                if least == most { count(least) } else { format!("{} to {}", count(least), count(most)) };
            format!("{} of {of} matches", count(phase.matches))
        }
        _ => grouped_plural(phase.matches, "match", "matches"),
    };
    if phase.games_played == phase.matches {
        matches
    } else {
        format!("{matches}, {}", grouped_plural(phase.games_played, "game", "games"))
    }
}

/// Sections with the tables of a phase for which `wanted` returns true.
fn standings_sections(
    phase: &PhaseReport,
    links: PageLinks<'_>,
    wanted: &dyn Fn(&StandingsTable) -> bool,
) -> String {
    let tables = phase.standings.iter().flat_map(|standings| &standings.tables);
    tables
        .filter(|table| wanted(table))
        .map(|table| section(&table.id, &table.title, &tables::standings_table(table, links)))
        .collect()
}

/// Section with the bracket. Empty if there is none.
fn bracket_of(report: &Report, phase: &PhaseReport, root: &str) -> String {
    let drawn = phase
        .bracket
        .as_ref()
        .map_or_else(String::new, |one| bracket::bracket(report, one, &phase.games, root));
    section("bracket", "Bracket", &drawn)
}
