//! The games, one folder each with rules, scoring, frames, house bots, texts, starters and competition files. This file lists
//! them; no other code names a game.
//!
//! Pure code: no I/O, no clock, no threads, no ambient randomness, and no panic on any input.

pub mod colour_battle;
pub mod connect_five;
pub mod hide_and_seek;
pub mod solitude_scramble;
pub mod word_racer;

pub mod registry;

pub use registry::{GameVisitor, PlayableGame, UnknownGame};

// In the order of the rule book.
registry::games! {
    solitude_scramble::SolitudeScramble,
    colour_battle::ColourBattle,
    connect_five::ConnectFive,
    hide_and_seek::HideAndSeek,
    word_racer::WordRacer,
}
