//! What a game is, as data: seats, roles, settings, requests, faults, score.

use serde::Serialize;

use crate::fault::{Cost, Fault};
use crate::settings::Spec;

/// How many seats a game takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct SeatCount {
    /// At least so many.
    pub min: usize,
    /// At most so many.
    pub max: usize,
}

impl SeatCount {
    /// Whether a game can be played with so many.
    pub const fn allows(self, seats: usize) -> bool {
        self.min <= seats && seats <= self.max
    }

    /// In words: `2`, `2 to 64`.
    pub fn words(self) -> String {
        if self.min == self.max { self.min.to_string() } else { format!("{} to {}", self.min, self.max) }
    }
}

/// Whether more or less of a score is good.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

/// A role. A game has one for all its seats, or one for each seat in seat order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct RoleInfo {
    /// One word: `player`, `seeker`, `hider`.
    pub name: &'static str,
    /// Which way the score counts for it.
    pub better: Better,
}

/// A kind of request a bot can get.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct RequestInfo {
    /// One word: `move`, `call`, `place`.
    pub name: &'static str,
    /// What is asked for, in one line.
    pub asks: &'static str,
    /// What a person types, by example: `Q 17`.
    pub example: &'static str,
}

/// What the official score of a game means.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct ScoreInfo {
    /// Column title: `points`, `share`, `steps`.
    pub name: &'static str,
    /// `%` or nothing.
    pub unit: &'static str,
    /// Digits after the point that make sense for a mean.
    pub decimals: usize,
}

/// An extra figure for each seat of a finished game.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct StatInfo {
    /// Column title.
    pub name: &'static str,
    /// Digits after the point that make sense for a mean.
    pub decimals: usize,
}

/// For how long one bot object lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Lifetime {
    /// Nothing survives from one call to the next.
    Call,
    /// Made anew for each game.
    Game,
    /// Lives for all games of a match.
    Match,
}

/// Everything about a game that can be said without playing it.
#[derive(Debug, Serialize)]
pub struct GameInfo {
    /// `connect-five`.
    pub id: &'static str,
    /// `Connect Five with special columns`.
    pub title: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// Raised when the same answers could give another result.
    pub rules_version: u32,
    /// How many can play.
    pub seats: SeatCount,
    /// One for all seats, or one for each.
    pub roles: &'static [RoleInfo],
    /// What can be configured.
    pub settings: &'static [Spec],
    /// What bots are asked.
    pub requests: &'static [RequestInfo],
    /// What each fault costs, in the order of [`Fault::ALL`].
    pub faults: [Cost; 4],
    /// The clock, in one line.
    pub clock: &'static str,
    /// For how long a bot lives.
    pub lifetime: Lifetime,
    /// Whether a bot is told its opponents' names.
    pub names_shown: bool,
    /// The official score.
    pub score: ScoreInfo,
    /// Extra figures (at most [`crate::outcome::MAX_STATS`]).
    pub stats: &'static [StatInfo],
}

impl GameInfo {
    /// The role of a seat.
    pub fn role(&self, seat: crate::Seat) -> RoleInfo {
        const PLAYER: RoleInfo = RoleInfo { name: "player", better: Better::Higher };
        self.roles.get(seat.index()).or(self.roles.last()).copied().unwrap_or(PLAYER)
    }

    /// What a fault costs.
    pub const fn cost(&self, fault: Fault) -> Cost {
        self.faults[fault.index()]
    }
}
