//! Counts what bots print, to tell the user that it is not shown.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use agon_core::record::RecordHeader;
use agon_core::text_format::plural;
use agon_core::{Outcome, Seat};
use agon_engine::turn_log::{TurnLog, TurnLogEntry};

use crate::output;

/// Number of lines that bots printed, in all games.
#[derive(Default)]
pub struct PrintCount {
    lines: AtomicU64,
}

impl PrintCount {
    /// A log that counts.
    pub fn log(&self) -> Box<dyn TurnLog + '_> {
        Box::new(CountingLog(self))
    }

    /// Tells the user how to read what the bots printed.
    pub fn note(&self) {
        let lines = self.lines.load(Ordering::Relaxed);
        if lines > 0 {
            let lines = plural(lines, "line", "lines");
            output::note(&format!(
                "note: what bots print is not shown ({lines}); --logs DIR writes it to files"
            ));
        }
    }

    fn add(&self, text: &str) {
        if !text.is_empty() {
            self.lines.fetch_add(text.lines().count() as u64, Ordering::Relaxed);
        }
    }
}

struct CountingLog<'c>(&'c PrintCount);

impl TurnLog for CountingLog<'_> {
    fn begin_game(&mut self, _: u32, _: &RecordHeader) -> io::Result<()> {
        Ok(())
    }

    fn output(&mut self, _: Seat, printed: &str) -> io::Result<()> {
        self.0.add(printed);
        Ok(())
    }

    fn answer(&mut self, entry: &TurnLogEntry<'_>) -> io::Result<()> {
        self.0.add(entry.output);
        Ok(())
    }

    fn end_game(&mut self, _: &Outcome) -> io::Result<()> {
        Ok(())
    }
}
