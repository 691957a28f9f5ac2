//! Takes down what the programs of a match print, for their authors.

use std::io;

use agon_core::record::Header;
use agon_core::{Outcome, Seat};
use agon_engine::Seating;
use agon_engine::log::{Entry, GameLog};
use agon_store::{OutputWriter, PackedOutput};

/// The logs of a match in the making.
pub struct OutputCapture {
    /// Who is listened to: house bots print nothing.
    programs: Vec<bool>,
    game: u32,
    /// The last turn somebody was asked in.
    turn: u32,
    /// Of the game that is being played, by seat.
    writers: Vec<OutputWriter>,
    /// Of the games that are over.
    pub logs: Vec<PackedOutput>,
}

impl OutputCapture {
    /// Of a match between these; `None` if there is nobody to listen to.
    pub fn of(seats: &[Seating]) -> Option<Self> {
        let programs: Vec<bool> = seats.iter().map(|seat| matches!(seat, Seating::Program(_))).collect();
        programs.contains(&true).then(|| Self {
            writers: vec![OutputWriter::default(); programs.len()],
            programs,
            game: 0,
            turn: 0,
            logs: Vec::new(),
        })
    }

    fn add(&mut self, seat: Seat, turn: u32, text: &str) {
        if text.is_empty() || self.programs.get(seat.index()) != Some(&true) {
            return;
        }
        if let Some(writer) = self.writers.get_mut(seat.index()) {
            writer.add(turn, text);
        }
    }
}

impl GameLog for OutputCapture {
    fn begins(&mut self, game: u32, _: &Header) -> io::Result<()> {
        (self.game, self.turn) = (game, 0);
        self.writers.fill(OutputWriter::default());
        Ok(())
    }

    fn printed(&mut self, seat: Seat, printed: &str) -> io::Result<()> {
        // Before the first turn, or after the last.
        let turn = if self.turn == 0 { 0 } else { self.turn + 1 };
        self.add(seat, turn, printed);
        Ok(())
    }

    fn answered(&mut self, entry: &Entry<'_>) -> io::Result<()> {
        self.turn = entry.turn;
        self.add(entry.seat, entry.turn, entry.printed);
        if let (true, Some(fault)) = (entry.printed.is_empty(), entry.fault) {
            // What a process printed before it was ended is only there.
            self.add(entry.seat, entry.turn, &fault.stderr);
        }
        Ok(())
    }

    fn over(&mut self, _: &Outcome) -> io::Result<()> {
        for (seat, writer) in self.writers.iter_mut().enumerate() {
            let log = std::mem::take(writer).finish();
            self.logs.extend(PackedOutput::new(self.game, seat as u8, &log));
        }
        Ok(())
    }
}
