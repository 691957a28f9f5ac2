//! The three traits a game implements: [`Game`] (its rules), [`View`] (how to look at it) and [`House`]
//! (its built-in bots).

use serde::Serialize;
use serde_json::Value as Json;

use crate::assets::Assets;
use crate::clock::ClockRule;
use crate::fault::Refusal;
use crate::info::GameInfo;
use crate::outcome::Outcome;
use crate::picture::{Eye, Picture};
use crate::player::Reply;
use crate::random::{QuickRng, series_seed};
use crate::seat::{Seat, SeatSet};
use crate::settings::{Settings, SettingsError};

/// Writes what a program has to read before it answers what a seat sees.
pub type WriteLines<G> = fn(&<G as Game>::Observation<'_>, &mut Vec<u8>);

/// The rules of a game. The value itself is what stays the same during a game: settings, number of seats,
/// word list. All that changes is in [`Game::State`].
///
/// A game runs in turns: [`Game::to_move`] names the seats that must answer now, each is shown what it may see
/// ([`Game::observe`]), and [`Game::apply`] takes all their replies at once. Simultaneous games name
/// all seats, alternating games one; unequal tempo is naming one seat more often than the other.
///
/// **Nothing here panics, whatever it is given.**
pub trait Game: Sized + Send + Sync + 'static {
    /// All of a game in progress, hidden parts and remaining chance included.
    type State: Clone + Send;
    /// What one seat may see. Borrows from the state: observing costs nothing.
    type Observation<'s>: Serialize;
    /// A decoded answer. Decoded is not yet legal: see [`Game::check`].
    type Answer: Copy + PartialEq + std::fmt::Debug + Send + 'static;

    /// What the game is, as data.
    fn info() -> &'static GameInfo;

    /// A game with these settings. They have been checked one by one against [`GameInfo::settings`]; what
    /// must hold between them is checked here.
    fn new(settings: &Settings, seats: usize, assets: &Assets) -> Result<Self, SettingsError>;

    /// The number of seats.
    fn seats(&self) -> usize;

    /// The clock under these settings.
    fn clock(&self) -> ClockRule;

    /// Whether the time a program takes to start counts as part of its first answer.
    fn start_counts() -> bool {
        false
    }

    /// The game's own lines of text for programs, where it has some: writes what a program has to read before it
    /// answers what the seat sees. Without them programs are spoken to by the JSON-lines protocol.
    fn own_lines() -> Option<WriteLines<Self>> {
        None
    }

    /// Settings and seed of game `index` of a series (or match) that was started with these. Game 0 is the
    /// game one gets alone. Overridden where the first move alternates or something is drawn once for a match.
    fn in_series(settings: &Settings, seed: u64, index: u32) -> (Settings, u64) {
        (settings.clone(), series_seed(seed, index))
    }

    /// The start of the game this seed gives.
    fn start(&self, seed: u64) -> Self::State;

    /// The seats that must answer now. Empty when the game is over.
    fn to_move(&self, state: &Self::State) -> SeatSet;

    /// Which of [`GameInfo::requests`] this seat is asked now.
    fn request(&self, state: &Self::State, seat: Seat) -> usize {
        let _ = (state, seat);
        0
    }

    /// The same as [`Game::request`], told by what the seat sees.
    fn asked(seen: &Self::Observation<'_>) -> usize {
        let _ = seen;
        0
    }

    /// What this seat may see now.
    fn observe<'s>(&'s self, state: &'s Self::State, seat: Seat) -> Self::Observation<'s>;

    /// Whether an answer is allowed now, else every reason why not.
    fn check(&self, state: &Self::State, seat: Seat, answer: Self::Answer) -> Result<(), Refusal>;

    /// Plays one turn. `replies` holds one reply for each seat of [`Game::to_move`], in seat order (a missing one
    /// counts as a crash). An answer that [`Game::check`] refuses counts as illegal.
    fn apply(&self, state: &mut Self::State, replies: &[Reply<Self::Answer>]);

    /// The shared clock ran out; `least` thought least. Only for games with [`ClockRule::Shared`].
    fn expire(&self, state: &mut Self::State, least: Seat) {
        let _ = (state, least);
    }

    /// The result, once nobody is to move.
    fn outcome(&self, state: &Self::State) -> Option<Outcome>;

    /// A uniformly random legal answer, `None` when this seat is not to move.
    fn sample(&self, state: &Self::State, seat: Seat, rng: &mut QuickRng) -> Option<Self::Answer>;

    /// Another state that this seat cannot tell from this one: all that is hidden from it (and all chance to
    /// come) drawn anew. Its observation must stay the same to the last bit.
    fn resample(&self, state: &Self::State, seat: Seat, rng: &mut QuickRng) -> Self::State;

    /// Writes what a seat sees in a short form for our own Python host, which has the other half of it; false where there
    /// is none, and JSON is used. `first`: the bot has seen nothing of this game yet.
    fn pack(seen: &Self::Observation<'_>, first: bool, out: &mut Vec<u8>) -> bool {
        let _ = (seen, first, out);
        false
    }

    /// Writes an answer as it stands in the record: short, printable ASCII, no white space, quote or
    /// backslash, not starting with `!` or `-`.
    fn write_answer(answer: Self::Answer, out: &mut Vec<u8>);

    /// Reads an answer: the record's form, and what a person or a line protocol would write
    /// (`LEFT`, `left`, `L`; `Q 17`). The error says what was expected.
    fn read_answer(text: &str) -> Result<Self::Answer, String>;
}

/// How to look at a game.
pub trait View: Game {
    /// All there is to draw, for a viewer that knows no rules. [`crate::frame`] turns two of them into a delta.
    fn frame(&self, state: &Self::State) -> Json;

    /// What [`View::standing`] measures, for the axis of a chart: `points`, `share in %`.
    const STANDING: &'static str = "";

    /// How it stands, for a chart over time: a figure for each seat, or one for the whole game. Nothing where there is nothing
    /// to measure.
    fn standing(&self, state: &Self::State) -> Vec<f64> {
        let _ = state;
        Vec::new()
    }

    /// The game as lines of text, legible without colour. For [`Eye::Seat`], only what that seat may know.
    /// `names` are the bots' names in seat order.
    fn picture(&self, state: &Self::State, eye: Eye, names: &[String]) -> Picture;

    /// What a bot may read of this position later, in a game whose bots are given logs of the games played. `None` for all
    /// others. It holds nothing that is hidden from the seat.
    fn log(&self, state: &Self::State, seat: Seat) -> Option<Json> {
        let _ = (state, seat);
        None
    }

    /// What a competition publishes of a finished game, as JSON text in the shape of the game's own document. `None` where the
    /// document has no such thing.
    fn published(&self, state: &Self::State, names: &[String]) -> Option<String> {
        let _ = (state, names);
        None
    }

    /// What `agon show` prints for a starting position.
    fn show(&self, state: &Self::State) -> String {
        let names: Vec<String> = Seat::all(self.seats()).map(|s| format!("seat {s}")).collect();
        self.picture(state, Eye::All, &names).plain()
    }
}

/// A built-in bot at a seat.
pub trait Bot<G: Game>: Send {
    /// A game begins. `seed` is this bot's own for this game. A bot of a match keeps what it has learnt.
    fn begin(&mut self, seed: u64) {
        let _ = seed;
    }

    /// Answers what it sees.
    fn answer(&mut self, seen: &G::Observation<'_>) -> G::Answer;

    /// The game is over (Connect Five's `adjust`).
    fn game_over(&mut self) {}

    /// The match is over (Connect Five's `train`).
    fn match_over(&mut self) {}
}

/// A built-in bot on offer.
pub struct HouseBot<G: Game> {
    /// Lower case, dashes.
    pub name: &'static str,
    /// One line on how it thinks.
    pub thinks: &'static str,
    /// The roles it plays, by name; empty for all.
    pub roles: &'static [&'static str],
    /// Makes one.
    pub make: fn() -> Box<dyn Bot<G>>,
}

impl<G: Game> HouseBot<G> {
    /// Whether it can sit at this seat.
    pub fn plays(&self, seat: Seat) -> bool {
        self.roles.is_empty() || self.roles.contains(&G::info().role(seat).name)
    }
}

/// A game's built-in bots.
pub trait House: Game {
    /// All of them, weakest first (role by role where roles differ).
    fn bots() -> &'static [HouseBot<Self>];
}
