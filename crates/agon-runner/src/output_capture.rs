//! Records what the programs of a match print, for their authors.

use std::io;

use agon_core::record::RecordHeader;
use agon_core::{FaultReport, Outcome, Seat};
use agon_engine::PlayerSpec;
use agon_engine::turn_log::{TurnLog, TurnLogEntry};
use agon_store::{OutputWriter, PackedOutput};

/// Records the output of the programs of a match.
pub struct OutputCapture {
    /// Whether each seat is a program. House bots print nothing.
    programs: Vec<bool>,
    game: u32,
    /// The last turn in which a bot was asked.
    turn: u32,
    /// Output of the current game, by seat.
    writers: Vec<OutputWriter>,
    /// Output of the earlier games.
    outputs: Vec<PackedOutput>,
}

impl OutputCapture {
    /// Creates a capture for these seats. `None` if no seat is a program.
    pub fn for_seats(seats: &[PlayerSpec]) -> Option<Self> {
        let programs: Vec<bool> = seats.iter().map(|seat| matches!(seat, PlayerSpec::Program(_))).collect();
        programs.contains(&true).then(|| Self {
            writers: vec![OutputWriter::default(); programs.len()],
            programs,
            game: 0,
            turn: 0,
            outputs: Vec::new(),
        })
    }

    /// The output of all games.
    pub fn finish(mut self) -> Vec<PackedOutput> {
        self.pack_game();
        self.outputs
    }

    /// Packs the output of the current game.
    fn pack_game(&mut self) {
        for (seat, writer) in self.writers.iter_mut().enumerate() {
            let log = std::mem::take(writer).finish();
            self.outputs.extend(PackedOutput::new(self.game, seat as u8, &log));
        }
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

impl TurnLog for OutputCapture {
    fn begin_game(&mut self, game: u32, _: &RecordHeader) -> io::Result<()> {
        // What a bot prints after the match belongs to its last game, so a game is packed when the next one starts.
        self.pack_game();
        (self.game, self.turn) = (game, 0);
        Ok(())
    }

    fn output(&mut self, seat: Seat, printed: &str) -> io::Result<()> {
        // The output comes before the first turn or after the last one.
        let turn = if self.turn == 0 { 0 } else { self.turn + 1 };
        self.add(seat, turn, printed);
        Ok(())
    }

    fn answer(&mut self, entry: &TurnLogEntry<'_>) -> io::Result<()> {
        self.turn = entry.turn;
        self.add(entry.seat, entry.turn, entry.output);
        if let (true, Some(fault)) = (entry.output.is_empty(), entry.fault) {
            // Output that a process printed before it was killed is only in the fault.
            self.add(entry.seat, entry.turn, &fault.stderr);
        }
        Ok(())
    }

    fn end_game(&mut self, _: &Outcome) -> io::Result<()> {
        Ok(())
    }

    fn match_over(&mut self, seat: Seat, printed: &str, _: Option<&FaultReport>) -> io::Result<()> {
        self.add(seat, self.turn + 1, printed);
        Ok(())
    }
}
