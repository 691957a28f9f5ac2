//! Display of a game: frames for viewers, pictures for terminals.

use agon_core::drawing::{Drawing, Shape, ThemeColor};
use agon_core::{Game, Picture, Seat, View, Viewpoint};
use serde_json::{Value as Json, json};

use super::State;

impl View for super::__TYPE__ {
    /// The frame that `web/src/games/__ID__/view.ts` reads.
    fn frame(&self, state: &State) -> Json {
        // FILL IN: everything that a viewer draws.
        json!({
            "turn": state.turn,
            "last": state.last.map(|last| last.0),
            "to_move": self.to_move(state).next(),
            "ended": self.outcome(state).map(|outcome| outcome.ended),
        })
    }

    fn seat_frame(&self, state: &State, _seat: Seat) -> Json {
        // FILL IN: the same frame without what is hidden from the seat (`null` or empty in its place).
        self.frame(state)
    }

    fn legal_answers(&self, state: &State, seat: Seat) -> Vec<Self::Answer> {
        // FILL IN: all legal answers of the seat; none if it is not to move.
        if self.to_move(state).contains(seat) { Self::legal(state) } else { Vec::new() }
    }

    fn drawing(&self, state: &State, _viewpoint: Viewpoint, _names: &[String]) -> Drawing {
        // FILL IN: the board as shapes. A seat sees only what it may know.
        let mut drawing = Drawing::new(100.0, 100.0).titled("__TITLE__");
        let turn = Shape::text(50.0, 55.0, 20.0, (state.turn + 1).to_string());
        drawing.add(turn.bold().fill(ThemeColor::Ink));
        drawing
    }

    fn picture(&self, state: &State, _viewpoint: Viewpoint, names: &[String]) -> Picture {
        let mut picture = Picture::new();
        // FILL IN: the board as text, readable without colour. A seat sees only what it may know.
        let mover = self.to_move(state).next().and_then(|seat| names.get(seat.index()));
        picture.line().text(format!("turn {}", state.turn + 1));
        if let Some(name) = mover {
            picture.text(format!(": {name} moves"));
        }
        picture
    }
}
