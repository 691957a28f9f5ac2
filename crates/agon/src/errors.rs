//! Prints errors in the terminal.

use std::path::Path;

use agon_core::diagnostic::{Diagnostic, TextLine};
use agon_engine::ReplayError;
use tracing::Level;

use crate::logging;

/// Converts a clap error: the problem in one line, and clap's tip (or the usage) as the hint.
pub fn from_clap(error: &clap::Error) -> Diagnostic {
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut what = lines.next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let rest: Vec<&str> = lines.collect();
    // A list, such as the missing arguments, is appended to the line that announces it.
    if what.ends_with(':') {
        let list: Vec<&str> = rest.iter().copied().take_while(|line| !line.starts_with("Usage")).collect();
        what = format!("{what} {}", list.join(" "));
    }
    let tip = rest.iter().find_map(|line| line.strip_prefix("tip: "));
    let usage = rest.iter().find_map(|line| line.strip_prefix("Usage: "));
    let hint = tip.or(usage).unwrap_or("`agon --help` lists all commands");
    Diagnostic::wrong_use(what, hint)
}

/// A game of a record file that does not follow from the rules.
pub fn replay(path: &Path, game: usize, error: ReplayError) -> Diagnostic {
    Diagnostic::from(error).about(format!("{}: game {game}", path.display()))
}

/// Writes the error to stderr: `error: ...`, with each hint in a separate line. If the log is JSON, one line of JSON.
pub fn show(failure: &Diagnostic) {
    if failure.is_already_shown() {
        return;
    }
    if logging::is_json() {
        return logging::error_json(failure);
    }
    for line in failure.text_lines() {
        let text = match line {
            TextLine::Problem(line) => format!("error: {line}"),
            TextLine::Quote(_) | TextLine::Hint(_) => line.to_string(),
        };
        logging::message(Level::ERROR, &text);
    }
}
