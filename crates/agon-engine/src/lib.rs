//! Plays games: seats x bots x clocks -> record. Replays records through the rules.
//!
//! [`referee`] plays one game of a known type. [`table`] puts a game of any kind behind one object-safe
//! face, [`series`] plays many games on several threads, [`film`] looks at a finished one, [`again`]
//! asks one of its bots again, [`event`] is what reporters read, [`log`] what authors read,
//! [`chronicle`] what bots may read.
//! Nothing here knows about competitions.

pub mod again;
pub mod built_in;
pub mod chronicle;
pub mod event;
pub mod film;
pub mod log;
pub mod referee;
mod seating;
pub mod series;
pub mod stats;
pub mod table;

pub use again::{Request, Retold, Seen};
pub use built_in::BuiltIn;
pub use event::{Deeds, Event, Reporter, Scene};
pub use film::live::{LiveFilm, LivePart, LiveTurn, Reel};
pub use film::{Film, ReplayError};
pub use referee::{Console, Played, SeatTally};
pub use series::{Series, SeriesError};
pub use stats::{Estimate, Summary};
pub use table::{BotInfo, NotLoaded, Plan, ProgramSeat, Programme, Seating, Shown, Table, table};
