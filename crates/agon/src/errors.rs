//! Prints errors in the terminal.

use agon_bots::Diagnostic;
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

/// Writes the error to stderr: `error: ...`, with each hint in a separate line.
pub fn show(failure: &Diagnostic) {
    // An empty message means that the command has printed its result to stdout.
    if failure.message.is_empty() {
        return;
    }
    if logging::is_json() {
        return logging::message(Level::ERROR, &failure.message);
    }
    let mut lines = failure.message.lines();
    logging::message(Level::ERROR, &format!("error: {}", lines.next().unwrap_or_default()));
    for line in lines {
        let plain = line.starts_with("hint: ") || is_quote(line);
        logging::message(Level::ERROR, &format!("{}{line}", if plain { "" } else { "error: " }));
    }
}

/// Whether this is a numbered line of a file, or the caret below it: `  3 | name = 5`.
fn is_quote(line: &str) -> bool {
    let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("  ") && (rest.starts_with(" |") || rest.starts_with('|'))
}
