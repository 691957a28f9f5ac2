//! `--watch`: shows games in the terminal, while they are played or later, or prints them as text without a terminal.

mod controls;
pub mod live;
pub mod paint;
mod screen;

use std::io::{self, IsTerminal as _};

use agon_bots::Diagnostic;
use agon_core::{GameInfo, Viewpoint};
use agon_engine::Film;

use crate::output;

/// Default number of pictures when a game is printed as text.
const DEFAULT_PICTURES: usize = 24;

/// Shows films.
pub fn watch(info: &GameInfo, films: &[Box<dyn Film>], every: Option<usize>) -> Result<(), Diagnostic> {
    if every.is_none() && io::stdout().is_terminal() && io::stdin().is_terminal() {
        return screen::run(info, films).map_err(Diagnostic::from);
    }
    for (number, film) in films.iter().enumerate() {
        output::print(&dump(info, film.as_ref(), number + 1, every))?;
    }
    Ok(())
}

/// Prints a film: the start, every Nth turn, every turn with a fault, and the end.
fn dump(info: &GameInfo, film: &dyn Film, number: usize, every: Option<usize>) -> String {
    let last = film.len() - 1;
    let step = every.unwrap_or(last / DEFAULT_PICTURES + 1).max(1);
    let colour = output::colour();
    let mut text = format!("=== {}, game {number}, {}\n", info.title, title(film));
    for turn in 0..=last {
        let faults = film.faults(turn);
        if !turn.is_multiple_of(step) && turn != last && faults.is_empty() {
            continue;
        }
        text += &format!("\n--- {}\n", caption(turn, last));
        text += &paint::ansi(&film.picture(turn, Viewpoint::All), colour);
        for fault in faults {
            text +=
                &format!("fault: seat {}: {}: {}\n", fault.seat, fault.report.fault, fault.report.message);
        }
    }
    text + &format!("\nended: {}\n\n", film.record().outcome.ended)
}

fn title(film: &dyn Film) -> String {
    let names: Vec<&str> = film.record().header.seats.iter().map(|seat| seat.name.as_str()).collect();
    format!("{}, seed {}", names.join(" - "), film.record().header.seed)
}

fn caption(turn: usize, last: usize) -> String {
    if turn == 0 { "start".to_owned() } else { format!("turn {turn} of {last}") }
}
