//! Events of running games. Reporters (progress bar, terminal view, log, web) only read them.

use std::time::Duration;

use agon_core::game::View;
use agon_core::record::{ClockExpiry, FaultRecord, RecordHeader, Recorder, SITS_OUT_TOKEN};
use agon_core::{Outcome, Picture, Seat, SeatSet, Viewpoint};
use serde_json::Value as Json;

/// Read-only view of a position.
pub trait PositionView {
    /// Frame for graphical viewers.
    fn frame(&self) -> Json;

    /// Frame as this seat may see it.
    fn seat_frame(&self, seat: Seat) -> Json;

    /// Picture for terminals.
    fn picture(&self, viewpoint: Viewpoint) -> Picture;

    /// The same with numbers in place of letters, if the game has such a picture.
    fn picture_with_numbers(&self, viewpoint: Viewpoint) -> Option<Picture>;

    /// Appends the position as the bot at this seat may read it later from its logs folder. Returns false for games without logs.
    fn write_log_entry(&self, seat: Seat, out: &mut String) -> bool;

    /// Appends the result of the game for the same reader.
    fn write_log_result(&self, outcome: &Outcome, seat: Seat, out: &mut String);
}

/// View of a position of a known game type.
pub struct TypedPositionView<'s, G: View> {
    /// The rules.
    pub game: &'s G,
    /// State of the game.
    pub state: &'s G::State,
    /// The bots' names in seat order.
    pub names: &'s [String],
}

impl<G: View> PositionView for TypedPositionView<'_, G> {
    fn frame(&self) -> Json {
        self.game.frame(self.state)
    }

    fn seat_frame(&self, seat: Seat) -> Json {
        self.game.seat_frame(self.state, seat)
    }

    fn picture(&self, viewpoint: Viewpoint) -> Picture {
        self.game.picture(self.state, viewpoint, self.names)
    }

    fn picture_with_numbers(&self, viewpoint: Viewpoint) -> Option<Picture> {
        self.game.picture_with_numbers(self.state, viewpoint, self.names)
    }

    fn write_log_entry(&self, seat: Seat, out: &mut String) -> bool {
        self.game.write_log_entry(self.state, Some(seat), out)
    }

    fn write_log_result(&self, outcome: &Outcome, seat: Seat, out: &mut String) {
        self.game.write_log_result(outcome, Some(seat), out);
    }
}

/// Answers of a turn from the recorder, sufficient to replay the turn.
#[derive(Clone, Copy)]
pub struct TurnAnswers<'e> {
    pub(crate) recorder: &'e Recorder,
    pub(crate) movers: SeatSet,
    /// Set if the shared clock ran out in this turn.
    pub expired: Option<ClockExpiry>,
}

impl<'e> TurnAnswers<'e> {
    /// Answers of the seats to move in record form, separated by blanks.
    pub fn answers(&self) -> &'e [u8] {
        self.recorder.turn_answers()
    }

    /// Seats that were to move.
    pub const fn movers(&self) -> SeatSet {
        self.movers
    }

    /// Charged time of each answer, in the order of the answers. Seats that are no longer asked are skipped.
    pub fn charged(&self) -> impl Iterator<Item = Duration> {
        let answers = self.answers();
        // Rarely true. One search over all bytes is faster than comparing each token.
        let any_sits_out = answers.contains(&SITS_OUT_TOKEN.as_bytes()[0]);
        let mut tokens = answers.split(|byte| *byte == b' ');
        let asked = self.movers.filter(move |_| {
            !any_sits_out || tokens.next().is_none_or(|token| token != SITS_OUT_TOKEN.as_bytes())
        });
        asked.map(|seat| self.recorder.last_times(seat).unwrap_or_default().charged())
    }
}

/// Event of a running game.
pub enum GameEvent<'e> {
    /// A game starts.
    Started {
        /// Number of the game in the series.
        game: u32,
        /// Bots, settings and seed.
        header: &'e RecordHeader,
        /// Initial position.
        view: &'e dyn PositionView,
    },
    /// A turn was played.
    Turn {
        /// Number of the game in the series.
        game: u32,
        /// Turn, counted from 1.
        turn: u32,
        /// Position after the turn.
        view: &'e dyn PositionView,
        /// Answers of the turn, if the game is recorded.
        answers: Option<TurnAnswers<'e>>,
    },
    /// A bot committed a fault.
    Fault {
        /// Number of the game in the series.
        game: u32,
        /// Seat, turn and details.
        fault: &'e FaultRecord,
    },
    /// A game is over.
    Over {
        /// Number of the game in the series.
        game: u32,
        /// Result of the game.
        outcome: &'e Outcome,
        /// Final position.
        view: &'e dyn PositionView,
    },
}

/// Receives events. Cannot change a game.
pub trait Reporter {
    /// Called for each event.
    fn event(&mut self, event: &GameEvent<'_>);
}

/// Creates a reporter for each thread of a series. The argument is added to the numbers of its games.
pub type MakeReporter<'m> = dyn Fn(u32) -> Box<dyn Reporter + 'm> + Sync + 'm;
