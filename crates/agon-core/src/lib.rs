//! The contract that five unlike games, every kind of bot and the engine agree on.
//!
//! A game is pure: [`Game::start`], [`Game::to_move`], [`Game::observe`], [`Game::apply`] and
//! [`Game::outcome`] over plain data, with all chance drawn from one seed. This crate does no I/O,
//! reads no clock and knows no game.
//!
//! Read [`game`] first; everything else is a noun it uses.

pub mod assets;
pub mod clock;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod fault;
pub mod frame;
pub mod game;
pub mod info;
pub mod outcome;
pub mod picture;
pub mod player;
pub mod random;
pub mod record;
pub mod seat;
pub mod settings;

pub use assets::Assets;
pub use clock::{Clock, ClockRule, Verdict, WhenSpent};
pub use fault::{Cost, Fault, FaultReport, Refusal};
pub use game::{Bot, Game, House, HouseBot, View};
pub use info::{Better, GameInfo, Lifetime, RequestInfo, RoleInfo, ScoreInfo, SeatCount, StatInfo};
pub use outcome::{Outcome, SeatOutcome};
pub use picture::{Eye, Ink, Picture, Style};
pub use player::{Player, Reply, Response, Times};
pub use random::{QuickRng, Rng, Stream};
pub use seat::{MAX_SEATS, Seat, SeatSet};
pub use settings::{Default, Kind, Settings, SettingsError, Spec, Value};
