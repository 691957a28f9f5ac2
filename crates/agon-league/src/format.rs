//! What a phase plays: formats that yield stages of fixtures.

use serde::{Deserialize, Serialize};

use crate::result::{Entrant, Fixed};

/// How the fixtures of a phase are made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Format {
    /// Balanced random groups: every entrant plays the same number of matches, at least `matches`; opponents and seats are spread evenly.
    /// Solitude's way, and Colour Battle's arenas when there are more bots than one arena should hold.
    Groups {
        /// How many play a match.
        size: u32,
        /// At least so many for each entrant.
        matches: u64,
    },
    /// All in one arena, so many games. Seats are spread evenly.
    Arena {
        /// How many.
        games: u64,
    },
    /// Each against each. `legs` 1 is single, 2 is home and away; a leg has a game (or match) for each variant, and for `swap` a second
    /// one with the seats swapped.
    RoundRobin {
        /// How often each pair meets.
        legs: u32,
        /// Whether each game is played twice, the seats swapped the second time.
        swap: bool,
    },
    /// Each of the first role against each of the second, on the same boards.
    Cross {
        /// How many boards.
        boards: u64,
    },
    /// Those with equally many points meet, nobody twice where it can be avoided.
    Swiss {
        /// How many.
        rounds: u32,
        /// Whether each game is played twice, the seats swapped the second time.
        swap: bool,
    },
    /// Who loses a tie is out.
    Knockout(Ties),
    /// Who loses two is out.
    DoubleElimination(Ties),
    /// Some against the field, everybody of the field so often against each.
    Gauntlet {
        /// Who runs it.
        challengers: Vec<Entrant>,
        /// Games against each of the field.
        games: u64,
        /// Whether each game is played twice, the seats swapped the second time.
        swap: bool,
    },
}

/// How ties of an elimination are played.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ties {
    /// Only the best so many of the phase before take part; all if not given.
    pub top: Option<u32>,
    /// Pairs of games (or matches) in a tie, the seats swapped in the second of each pair; each on every variant.
    pub pairs: u32,
    /// A tie that is drawn on points and on score gets up to so many more pairs; then the better seeded goes on.
    pub extra: u32,
    /// Whether those who lose the semi-finals play for the third place.
    pub third: bool,
}

/// One match to be played.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Fixture {
    /// Who sits where.
    pub seats: Vec<Entrant>,
    /// Fixtures of a phase with the same board have the same seed.
    pub board: u64,
    /// Which of the phase's variants (settings such as a first letter) is played.
    pub variant: u32,
}

/// Fixtures that may be played in any order, all at once. Made one by one when they are asked for.
pub trait Stage: Send + Sync {
    /// For people: `round 3`, `quarter-finals`.
    fn name(&self) -> String;

    /// How many fixtures.
    fn len(&self) -> u64;

    /// Whether there is nothing to play.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The fixture of this number, from 0; `None` past the end. The same number is always the same fixture.
    fn fixture(&self, number: u64) -> Option<Fixture>;
}

/// What a finished match means for who goes on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// In seat order.
    pub seats: Vec<Entrant>,
    /// What the table gives for it: 3/1/0, +1/-1, the score.
    pub points: Vec<Fixed>,
    /// What breaks a tie: word points, games won minus lost.
    pub second: Vec<Fixed>,
}

/// What has happened in a phase so far.
pub struct Past<'p> {
    /// The verdicts of every finished stage, in order of the fixtures. Empty lists where the format does not look back.
    pub stages: &'p [Vec<Verdict>],
    /// The entrants whose place is still open: for `stop = "settled"`.
    pub open: &'p [Entrant],
}
