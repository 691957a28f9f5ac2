//! Competition logic without I/O: which matches are played and what the results mean. No files, no clock; all randomness comes from a seed.
//!
//! A [`config::CompetitionConfig`] has phases. The [`format::Format`] of a phase yields stages of fixtures, one stage at a time. The
//! fixtures of a stage can be played in parallel and in any order. A played fixture is a [`result::MatchResult`].

pub mod bracket;
pub mod config;
pub mod format;
pub mod presets;
pub mod rating;
pub mod result;
#[cfg(any(test, feature = "simulated"))]
pub mod simulated;
pub mod sprt;
pub mod standings;
pub mod statistics;
pub mod tally;
mod verdict;

pub use config::CompetitionConfig;
pub use format::{Fixture, Format, FormatError};
pub use result::{
    Entrant, FixedPoint, FullMatchKey, GameResult, MatchKey, MatchResult, SeatResult, competition_id,
};
pub use tally::Tally;
