//! What happens while games are played. Reporters (progress bar, terminal view, log, web) only read it.

use agon_core::game::View;
use agon_core::record::FaultRecord;
use agon_core::{Eye, Outcome, Picture, Seat};
use serde_json::Value as Json;

/// A game in progress, for looking at.
pub trait Scene {
    /// What a graphical viewer draws.
    fn frame(&self) -> Json;

    /// What a terminal shows.
    fn picture(&self, eye: Eye) -> Picture;

    /// What the bot at this seat may read of it later.
    fn log(&self, seat: Seat) -> Option<Json>;
}

/// A scene of a game whose type is known.
pub struct SceneOf<'s, G: View> {
    /// The rules.
    pub game: &'s G,
    /// Where the game stands.
    pub state: &'s G::State,
    /// The bots' names in seat order.
    pub names: &'s [String],
}

impl<G: View> Scene for SceneOf<'_, G> {
    fn frame(&self) -> Json {
        self.game.frame(self.state)
    }

    fn picture(&self, eye: Eye) -> Picture {
        self.game.picture(self.state, eye, self.names)
    }

    fn log(&self, seat: Seat) -> Option<Json> {
        self.game.log(self.state, seat)
    }
}

/// Something happened.
pub enum Event<'e> {
    /// A game begins.
    Started {
        /// Its number in the series.
        game: u32,
        /// Its start.
        scene: &'e dyn Scene,
    },
    /// A turn was played.
    Turn {
        /// The game's number in the series.
        game: u32,
        /// The turn, from 1.
        turn: u32,
        /// After the turn.
        scene: &'e dyn Scene,
    },
    /// A bot failed to answer well.
    Fault {
        /// The game's number in the series.
        game: u32,
        /// Who, when and what.
        fault: &'e FaultRecord,
    },
    /// A game is over.
    Over {
        /// The game's number in the series.
        game: u32,
        /// Its result.
        outcome: &'e Outcome,
        /// Its end.
        scene: &'e dyn Scene,
    },
}

/// Reads events. Cannot change a game.
pub trait Reporter {
    /// Takes note.
    fn event(&mut self, event: &Event<'_>);
}
