//! The three traits of a game: [`Game`] (rules), [`View`] (display) and [`HouseBots`] (built-in bots).

use serde::Serialize;
use serde_json::Value as Json;

use crate::assets::Assets;
use crate::clock::ClockRule;
use crate::drawing::Drawing;
use crate::fault::IllegalAnswer;
use crate::info::GameInfo;
use crate::outcome::Outcome;
use crate::picture::{Picture, Viewpoint};
use crate::player::Reply;
use crate::random::{FastRng, series_seed};
use crate::seat::{Seat, SeatSet};
use crate::settings::{Settings, SettingsError};

/// Writes the text that a program reads before it answers, for a game with its own text protocol.
pub type TextRequestWriter<G> = fn(&<G as Game>::Observation<'_>, &mut Vec<u8>);

/// Rules of a game. The value holds what does not change during a game: settings, number of seats, word list.
/// [`Game::State`] holds what changes.
///
/// A game runs in turns. [`Game::to_move`] returns the seats that must answer now. Each of them gets its observation
/// ([`Game::observe`]). [`Game::apply`] takes all replies at once. Simultaneous games return all seats, alternating games
/// one seat. A game with unequal tempo returns one seat more often than the other.
///
/// **No method panics, whatever its arguments are.**
pub trait Game: Sized + Send + Sync + 'static {
    /// Complete state of a running game, with hidden parts and future random draws.
    type State: Clone + Send;
    /// Information visible to one seat. It borrows from the state, so observing is free.
    type Observation<'s>: Serialize;
    /// A decoded answer. It may still be illegal: see [`Game::check`].
    type Answer: Copy + PartialEq + std::fmt::Debug + Send + 'static;

    /// Static description of the game.
    fn info() -> &'static GameInfo;

    /// Creates a game. The caller has checked each setting against [`GameInfo::settings`]; this function checks conditions
    /// between settings.
    fn new(settings: &Settings, seats: usize, assets: &Assets) -> Result<Self, SettingsError>;

    /// The number of seats.
    fn seats(&self) -> usize;

    /// Time limit under these settings.
    fn clock(&self) -> ClockRule;

    /// Whether the start time of a program counts as part of its first answer.
    fn start_counts() -> bool {
        false
    }

    /// The game's own text protocol, if it has one. Other programs use the JSON-lines protocol.
    fn text_protocol() -> Option<TextRequestWriter<Self>> {
        None
    }

    /// Settings and seed of game `index` of a series (or match) with these settings and seed. Game 0 equals a single game.
    /// Games override this if the first move alternates or something is drawn once per match.
    fn series_game(settings: &Settings, seed: u64, index: u32) -> (Settings, u64) {
        (settings.clone(), series_seed(seed, index))
    }

    /// Initial state for this seed.
    fn start(&self, seed: u64) -> Self::State;

    /// Seats that must answer now. Empty when the game is over.
    fn to_move(&self, state: &Self::State) -> SeatSet;

    /// Index into [`GameInfo::requests`] of the current request to this seat.
    fn request(&self, state: &Self::State, seat: Seat) -> usize {
        let _ = (state, seat);
        0
    }

    /// Same as [`Game::request`], derived from the observation.
    fn request_of(observation: &Self::Observation<'_>) -> usize {
        let _ = observation;
        0
    }

    /// Current observation of this seat.
    fn observe<'s>(&'s self, state: &'s Self::State, seat: Seat) -> Self::Observation<'s>;

    /// Checks whether an answer is allowed now. The error lists all reasons.
    fn check(&self, state: &Self::State, seat: Seat, answer: Self::Answer) -> Result<(), IllegalAnswer>;

    /// Plays one turn. `replies` holds one reply for each seat of [`Game::to_move`], in seat order. A missing reply
    /// counts as a crash. An answer that [`Game::check`] rejects counts as illegal.
    fn apply(&self, state: &mut Self::State, replies: &[Reply<Self::Answer>]);

    /// Ends the game because the shared clock ran out. `fastest` has the least weighted thinking time. Only for games with
    /// [`ClockRule::Shared`].
    fn expire(&self, state: &mut Self::State, fastest: Seat) {
        let _ = (state, fastest);
    }

    /// The result, once the game is over.
    fn outcome(&self, state: &Self::State) -> Option<Outcome>;

    /// A uniformly random legal answer; `None` if this seat is not to move.
    fn sample(&self, state: &Self::State, seat: Seat, rng: &mut FastRng) -> Option<Self::Answer>;

    /// Another state that this seat cannot distinguish from this one. Everything hidden from the seat, and all future
    /// draws, are drawn again. The seat's observation must stay bit-identical.
    fn resample(&self, state: &Self::State, seat: Seat, rng: &mut FastRng) -> Self::State;

    /// Writes the observation in a compact binary form that the Python host decodes. Returns false if the game has no such
    /// form; JSON is used then. `first` is true for the bot's first observation of a game.
    fn pack_observation(observation: &Self::Observation<'_>, first: bool, out: &mut Vec<u8>) -> bool {
        let _ = (observation, first, out);
        false
    }

    /// Writes an answer in its record form: short, printable ASCII, no white space, quote or backslash, not starting with `!`
    /// or `-`.
    fn write_answer(answer: Self::Answer, out: &mut Vec<u8>);

    /// Reads an answer in its record form, or as a person or a text protocol writes it (`LEFT`, `left`, `L`; `Q 17`).
    /// The error says what was expected.
    fn read_answer(text: &str) -> Result<Self::Answer, String>;
}

/// Display of a game.
pub trait View: Game {
    /// Everything that a viewer draws; the viewer needs no rules. [`crate::frame`] computes the delta of two frames.
    fn frame(&self, state: &Self::State) -> Json;

    /// The frame as this seat may see it while the game runs, in the shape of [`View::frame`], so that the same viewer draws
    /// it. What is hidden from the seat is `null` or empty. Like the observation, it is the same for all states that the seat
    /// cannot distinguish. When the game is over, it may show everything.
    fn seat_frame(&self, state: &Self::State, seat: Seat) -> Json;

    /// All answers that this seat may give now, at most a few thousand, for a person to choose from. If an answer can be
    /// written in several ways, it is listed once, in the form that [`Game::sample`] gives. Empty if the seat is not to move.
    fn legal_answers(&self, state: &Self::State, seat: Seat) -> Vec<Self::Answer>;

    /// Axis label for [`View::chart_values`]: `points`, `share in %`.
    const CHART_LABEL: &'static str = "";

    /// Values for a chart over time: one for each seat, or one for the whole game. Empty if there is nothing to plot.
    fn chart_values(&self, state: &Self::State) -> Vec<f64> {
        let _ = state;
        Vec::new()
    }

    /// The game as lines of text, readable without colour. For [`Viewpoint::Seat`], only what that seat may know.
    /// `names` are the bots' names in seat order.
    fn picture(&self, state: &Self::State, viewpoint: Viewpoint, names: &[String]) -> Picture;

    /// The board as shapes, for pictures and for viewers that do not know the game. For [`Viewpoint::Seat`], only what that
    /// seat may know. `names` are the bots' names in seat order.
    fn drawing(&self, state: &Self::State, viewpoint: Viewpoint, names: &[String]) -> Drawing;

    /// The same with numbers in place of letters, in a game where bots compute with them. `None` if the game has no such
    /// picture.
    fn picture_with_numbers(
        &self,
        state: &Self::State,
        viewpoint: Viewpoint,
        names: &[String],
    ) -> Option<Picture> {
        let _ = (state, viewpoint, names);
        None
    }

    /// Appends the position as a bot may read it later from its logs folder, as a JSON object. It contains nothing hidden
    /// from the reader's seat; `None` is a reader that did not play. Returns false for games without logs.
    fn write_log_entry(&self, state: &Self::State, reader: Option<Seat>, out: &mut String) -> bool {
        let _ = (state, reader, out);
        false
    }

    /// Appends the result of a finished game for the same reader, as a JSON object. Only for games with logs.
    fn write_log_result(&self, outcome: &Outcome, reader: Option<Seat>, out: &mut String) {
        let _ = (outcome, reader, out);
    }

    /// The finished game as a competition publishes it: JSON text in the shape of the game's rule document. `None` if the
    /// document defines no such history.
    fn published_json(&self, state: &Self::State, names: &[String]) -> Option<String> {
        let _ = (state, names);
        None
    }

    /// Text that `agon show` prints for a starting position.
    fn show(&self, state: &Self::State) -> String {
        let names: Vec<String> = Seat::all(self.seats()).map(|s| format!("seat {s}")).collect();
        self.picture(state, Viewpoint::All, &names).plain()
    }
}

/// A built-in bot at a seat.
pub trait Bot<G: Game>: Send {
    /// Starts a game. `seed` is the bot's seed for this game. In a match, the bot keeps what it has learnt.
    fn begin(&mut self, seed: u64) {
        let _ = seed;
    }

    /// Answers an observation.
    fn answer(&mut self, observation: &G::Observation<'_>) -> G::Answer;

    /// Called when the game is over (Connect Five's `adjust`).
    fn game_over(&mut self) {}

    /// Called when the match is over (Connect Five's `train`).
    fn match_over(&mut self) {}
}

/// Description of a built-in bot.
pub struct HouseBot<G: Game> {
    /// Name in lower case with dashes.
    pub name: &'static str,
    /// One line about how it plays.
    pub strategy: &'static str,
    /// Names of the roles it plays; empty for all.
    pub roles: &'static [&'static str],
    /// Creates the bot.
    pub make: fn() -> Box<dyn Bot<G>>,
}

impl<G: Game> HouseBot<G> {
    /// Whether the bot can play at this seat.
    pub fn plays(&self, seat: Seat) -> bool {
        self.roles.is_empty() || self.roles.contains(&G::info().role(seat).name)
    }
}

/// A game's built-in bots.
pub trait HouseBots: Game {
    /// All built-in bots, weakest first (role by role if roles differ).
    fn bots() -> &'static [HouseBot<Self>];
}
