//! The user at the terminal as a player.

use std::io::{self, BufRead as _, Write as _};

use agon_core::{Picture, RequestInfo, Seat};
use agon_engine::HumanConsole;

use crate::watch::paint;

/// Asks on stderr, because stdout is for data, and reads lines from stdin.
pub struct Terminal {
    /// Whether to draw in colour.
    pub colour: bool,
}

impl HumanConsole for Terminal {
    fn ask(
        &mut self,
        seat: Seat,
        picture: &Picture,
        request: &RequestInfo,
        trouble: Option<&str>,
    ) -> io::Result<Option<String>> {
        let mut out = io::stderr().lock();
        match trouble {
            Some(trouble) => writeln!(out, "Invalid input: {trouble}")?,
            None => write!(out, "\n{}\n", paint::ansi(picture, self.colour))?,
        }
        write!(out, "seat {seat}, {} (for example {}): ", request.asks, request.example)?;
        out.flush()?;
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line)?;
        let quits = matches!(line.trim(), "quit" | "exit");
        Ok((read > 0 && !quits).then_some(line))
    }
}
