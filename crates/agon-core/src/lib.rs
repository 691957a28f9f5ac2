//! Interfaces between games, bots and the engine.
//!
//! A game consists of pure functions over plain data: [`Game::start`], [`Game::to_move`], [`Game::observe`], [`Game::apply`]
//! and [`Game::outcome`]. All random draws come from one seed. This crate does no I/O, reads no clock and contains no game.
//!
//! Start with [`game`]. The other modules define the types it uses.

pub mod assets;
pub mod bot_rules;
pub mod clock;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod diagnostic;
pub mod document;
pub mod drawing;
pub mod error_kind;
pub mod fault;
pub mod frame;
pub mod game;
pub mod game_texts;
pub mod ignore_poison;
pub mod info;
pub mod meter;
pub mod outcome;
pub mod picture;
pub mod player;
pub mod random;
pub mod record;
pub mod sanitize;
pub mod seat;
pub mod self_description;
pub mod settings;
pub mod standings_rules;
pub mod text_format;

pub use assets::Assets;
pub use bot_rules::{BotFile, BotRules, PythonApi};
pub use clock::{BankEmptyAction, Clock, ClockRule, ClockVerdict};
pub use diagnostic::{Diagnostic, Place};
pub use drawing::Drawing;
pub use error_kind::ErrorKind;
pub use fault::{Fault, FaultPenalty, FaultReport, IllegalAnswer};
pub use game::{Bot, Game, HouseBot, HouseBots, View};
pub use game_texts::{CompetitionRules, GameTexts, PUBLISHED_HISTORY, StarterBot, StarterFile, Starters};
pub use ignore_poison::{LockIgnoringPoison, RwLockIgnoringPoison};
pub use info::{
    AnswerKey, BotLifetime, GameInfo, RequestInfo, RoleInfo, ScoreDirection, ScoreInfo, SeatCount, StatInfo,
    TerminalKey,
};
pub use meter::MeterKind;
pub use outcome::{Outcome, SeatOutcome};
pub use picture::{PaletteColor, Picture, Style, Viewpoint};
pub use player::{AnswerTimes, Player, Reply, Response};
pub use random::{FastRng, Rng, RngStream};
pub use seat::{MAX_SEATS, Seat, SeatSet};
pub use self_description::SelfDescription;
pub use settings::{SettingDefault, SettingKind, SettingSpec, SettingValue, Settings, SettingsError};
