//! Display of a game: frames for viewers, pictures for terminals.

use agon_core::{Game, Picture, View, Viewpoint};
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
