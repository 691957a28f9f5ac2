//! Plays games, records them, and replays records through the rules.
//!
//! - [`referee`]: plays one game of a known type.
//! - [`any_game`]: object-safe interface to games of all types.
//! - [`series`]: plays many games on several threads.
//! - [`film`]: replays a finished game; [`film::live`]: shows a running game.
//! - [`debug_replay`]: sends recorded requests to a bot again.
//! - [`event`]: events for reporters; [`turn_log`]: log for bot authors; [`logs_dir`]: logs for bots.
//!
//! This crate knows nothing about competitions.

pub mod any_game;
pub mod debug_replay;
mod empty_answers;
pub mod event;
mod fault_text_budget;
pub mod film;
pub mod house_player;
pub mod logs_dir;
mod player_spec;
pub mod referee;
pub mod series;
pub mod stats;
pub mod turn_log;

pub use any_game::{
    AnyGame, BotLoadError, GameSequence, HouseBotInfo, MatchSetup, PlayerSpec, ProgramSpec, StartPosition,
    any_game,
};
pub use debug_replay::{ObservationText, ReaskedRequest, RecordedRequest};
pub use event::{GameEvent, MakeReporter, PositionView, Reporter, TurnAnswers};
pub use film::live::{FilmPart, LiveFilm, LiveTurn, TurnReplayer};
pub use film::{Film, ReplayError};
pub use house_player::HousePlayer;
pub use referee::{HumanConsole, PersonAction, PersonClock, PersonRequest, Persons, PlayedGame, SeatStats};
pub use series::{Series, SeriesError, SeriesResult};
pub use stats::{Estimate, Summary};
