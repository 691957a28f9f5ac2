//! Whoever plays.

pub mod live;
