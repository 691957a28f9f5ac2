//! What happens while games are played. Reporters (progress bar, terminal view, log, web) only read it.

use std::time::Duration;

use agon_core::game::View;
use agon_core::record::{Expiry, FaultRecord, Header, Recorder, SITS_OUT};
use agon_core::{Eye, Outcome, Picture, Seat, SeatSet};
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

/// What was answered in a turn, as it is being recorded: enough to compute the turn again.
#[derive(Clone, Copy)]
pub struct Deeds<'e> {
    pub(crate) recorder: &'e Recorder,
    pub(crate) movers: SeatSet,
    /// The shared clock ran out with this turn.
    pub expired: Option<Expiry>,
}

impl<'e> Deeds<'e> {
    /// The answers of those to move, separated by blanks, as they stand in the record.
    pub fn answers(&self) -> &'e [u8] {
        self.recorder.answers()
    }

    /// What each answer was charged, in the order of the answers; nothing for a seat that is no longer asked.
    pub fn charged(&self) -> impl Iterator<Item = Duration> {
        let answers = self.answers();
        // Hardly ever: looking at every answer takes longer than looking for one of them.
        let somebody_sits_out = answers.contains(&SITS_OUT.as_bytes()[0]);
        let mut tokens = answers.split(|byte| *byte == b' ');
        let asked = self.movers.filter(move |_| {
            !somebody_sits_out || tokens.next().is_none_or(|token| token != SITS_OUT.as_bytes())
        });
        asked.map(|seat| self.recorder.last_times(seat).unwrap_or_default().charged())
    }
}

/// Something happened.
pub enum Event<'e> {
    /// A game begins.
    Started {
        /// Its number in the series.
        game: u32,
        /// Who plays it, under which settings and seed.
        header: &'e Header,
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
        /// What was answered, where the game is recorded.
        deeds: Option<Deeds<'e>>,
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
