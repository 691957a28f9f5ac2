//! The five games, one folder each with rules, scoring, frames and house bots, and their registry.
//!
//! Pure code: no I/O, no clock, no threads, no ambient randomness, and no panic on any input.

pub mod colour_battle;
pub mod connect_five;
pub mod hide_and_seek;
pub mod solitude_scramble;
pub mod word_racer;

pub mod registry;

pub use registry::{GameVisitor, PlayableGame, UnknownGame, infos, visit};
