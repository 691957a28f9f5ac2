//! Competitions, pure: what is to be played and what the results say. No files, no clock, no chance but a seed's.
//!
//! A [`competition::CompetitionConfig`] has phases. A phase's [`format::Format`] yields stages of fixtures, a stage at a time: all
//! fixtures of a stage may be played at once and in any order. A fixture played is a [`result::MatchResult`].

pub mod sprt;
pub mod config;
pub mod format;
pub mod rating;
pub mod result;
#[cfg(any(test, feature = "simulated"))]
pub mod simulated;
pub mod standings;
pub mod statistics;
pub mod tally;
mod verdict;

pub use config::CompetitionConfig;
pub use format::{Fixture, Format, FormatError};
pub use result::{Entrant, FixedPoint, GameResult, MatchKey, MatchResult, SeatResult};
pub use tally::Tally;
