//! Static description of a game: seats, roles, settings, requests, faults, score, and everything that other crates need to know
//! about the game. No crate compares the id of a game.

use serde::Serialize;

use crate::bot_rules::BotRules;
use crate::fault::{Fault, FaultPenalty};
use crate::game_texts::{CompetitionRules, GameTexts, Starters};
use crate::settings::SettingSpec;
use crate::standings_rules::StandingsRules;

/// Number of seats that a game allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct SeatCount {
    /// Minimum.
    pub min: usize,
    /// Maximum.
    pub max: usize,
}

impl SeatCount {
    /// Whether the game can be played with this number of seats.
    pub const fn allows(self, seats: usize) -> bool {
        self.min <= seats && seats <= self.max
    }

    /// Text such as `2` or `2 to 64`.
    pub fn describe(self) -> String {
        if self.min == self.max { self.min.to_string() } else { format!("{} to {}", self.min, self.max) }
    }
}

/// Whether a higher or a lower score is better.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ScoreDirection {
    /// A higher score is better.
    Higher,
    /// A lower score is better.
    Lower,
}

/// A role. A game has one role for all seats, or one for each seat in seat order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct RoleInfo {
    /// One word: `player`, `seeker`, `hider`.
    pub name: &'static str,
    /// Direction of the score for this role.
    pub better: ScoreDirection,
}

/// A kind of request to a bot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct RequestInfo {
    /// One word: `move`, `call`, `place`.
    pub name: &'static str,
    /// Description of the expected answer in one line.
    pub asks: &'static str,
    /// Example of what a person types: `Q 17`.
    pub example: &'static str,
    /// Keys that give an answer at once to a person at a terminal. Empty if answers are typed.
    #[serde(skip)]
    pub keys: &'static [AnswerKey],
}

/// A key of a terminal and the answer that it gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AnswerKey {
    /// The key.
    pub key: TerminalKey,
    /// The answer, as a person would type it.
    pub answer: &'static str,
}

/// A key that can stand for an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TerminalKey {
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// A character, such as a digit or the space.
    Character(char),
}

impl AnswerKey {
    /// A key and its answer.
    pub const fn new(key: TerminalKey, answer: &'static str) -> Self {
        Self { key, answer }
    }

    /// The arrow keys for steps as a picture shows them, and the space for staying.
    pub const STEPS: &'static [Self] = &[
        Self::new(TerminalKey::Up, "UP"),
        Self::new(TerminalKey::Down, "DOWN"),
        Self::new(TerminalKey::Left, "LEFT"),
        Self::new(TerminalKey::Right, "RIGHT"),
        Self::new(TerminalKey::Character(' '), "STAY"),
    ];
}

impl std::fmt::Display for TerminalKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Up => f.write_str("\u{2191}"),
            Self::Down => f.write_str("\u{2193}"),
            Self::Left => f.write_str("\u{2190}"),
            Self::Right => f.write_str("\u{2192}"),
            Self::Character(' ') => f.write_str("space"),
            Self::Character(character) => write!(f, "{character}"),
        }
    }
}

/// Meaning of a game's official score.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct ScoreInfo {
    /// Column title: `points`, `share`, `steps`.
    pub name: &'static str,
    /// `%` or empty.
    pub unit: &'static str,
    /// Useful number of decimals for a mean.
    pub decimals: usize,
}

/// An additional statistic for each seat of a finished game.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct StatInfo {
    /// Column title.
    pub name: &'static str,
    /// Useful number of decimals for a mean.
    pub decimals: usize,
}

/// Lifetime of a bot object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BotLifetime {
    /// Nothing is kept from one call to the next.
    Call,
    /// The bot is created for each game.
    Game,
    /// The bot lives for all games of a match.
    Match,
}

/// Static description of a game.
#[derive(Clone, Debug, Serialize)]
pub struct GameInfo {
    /// Id: lower-case words with dashes.
    pub id: &'static str,
    /// Title for people.
    pub title: &'static str,
    /// One-line summary for lists.
    pub summary: &'static str,
    /// Version of the rules. Raise it when the same answers could give another result.
    pub rules_version: u32,
    /// Allowed number of seats.
    pub seats: SeatCount,
    /// One role for all seats, or one for each.
    pub roles: &'static [RoleInfo],
    /// Available settings.
    pub settings: &'static [SettingSpec],
    /// Kinds of requests that bots get.
    pub requests: &'static [RequestInfo],
    /// Penalties, in the order of [`Fault::ALL`].
    pub faults: [FaultPenalty; 4],
    /// Time limits in one line.
    pub clock: &'static str,
    /// Lifetime of a bot object.
    pub lifetime: BotLifetime,
    /// Whether bots get their opponents' names.
    pub names_shown: bool,
    /// The official score.
    pub score: ScoreInfo,
    /// Additional statistics (at most [`crate::outcome::MAX_STATS`]).
    pub stats: &'static [StatInfo],
    /// How bots are written, run, checked and submitted.
    #[serde(skip)]
    pub bots: BotRules,
    /// Ranking and tables.
    #[serde(skip)]
    pub standings: StandingsRules,
    /// Competition files, and what competitions hide and publish.
    #[serde(skip)]
    pub competition: CompetitionRules,
    /// Texts for authors.
    #[serde(skip)]
    pub texts: GameTexts,
    /// Bots for authors to start from.
    #[serde(skip)]
    pub starters: Starters,
}

impl GameInfo {
    /// Role of a seat.
    pub fn role(&self, seat: crate::Seat) -> RoleInfo {
        const PLAYER: RoleInfo = RoleInfo { name: "player", better: ScoreDirection::Higher };
        self.roles.get(seat.index()).or(self.roles.last()).copied().unwrap_or(PLAYER)
    }

    /// The statistic that results show beside the score, with its index: the one that decides the ranking after the score.
    pub fn stat_beside_score(&self) -> Option<(usize, StatInfo)> {
        let index = self.standings.stat_beside_score()?;
        Some((index, *self.stats.get(index)?))
    }

    /// Penalty for a fault.
    pub const fn penalty(&self, fault: Fault) -> FaultPenalty {
        self.faults[fault.index()]
    }
}
