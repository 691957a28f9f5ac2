//! Formats: they turn the entrants of a phase into stages of fixtures.
//!
//! A [`Format`] and a [`PhaseField`] give a [`PhaseSchedule`]. A schedule yields [`Stage`]s one after the other. A stage computes each
//! [`Fixture`] from its number, so a league of two million matches needs no memory and starts at once. All randomness comes from the
//! seed. A stage depends only on the seed and the results of earlier stages, so the same request always gives the same fixtures.
//!
//! | file | plays | balanced by |
//! |---|---|---|
//! | `groups.rs`, `design.rs` | balanced random groups | block designs over an abelian group |
//! | `free_for_all.rs` | all in one arena | rotation of a shuffled order |
//! | `round_robin.rs` | each against each | the circle method |
//! | `cross.rs` | role against role, gauntlets | every pair on the same seeds |
//! | `swiss.rs`, `pairing.rs` | entrants with equal points | a maximum matching without rematches |
//! | `knockout.rs`, `double_elimination.rs`, `ties.rs` | eliminations | seeding, seats swapped in pairs |
//! | `until_settled.rs` | extra stages of the first four | repeating the format for entrants whose place is open |
//! | `balance.rs` | the balance report | |

pub mod balance;
mod cross;
mod design;
mod double_elimination;
mod elimination;
mod error;
mod free_for_all;
mod groups;
mod knockout;
mod pairing;
mod round_robin;
mod swiss;
mod ties;
mod until_settled;

use agon_core::random::{Rng, RngStream};
use serde::{Deserialize, Serialize};

pub use balance::BalanceReport;
use elimination::Elimination;
pub use error::FormatError;

use crate::result::{Entrant, FixedPoint};

/// How the fixtures of a phase are made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Format {
    /// Balanced random groups: every entrant plays the same number of matches, at least `matches`; opponents and seats are balanced.
    /// For Solitude, and for Colour Battle with more bots than one arena should hold.
    Groups {
        /// Players per match.
        size: u32,
        /// Minimum number of matches per entrant.
        matches: u64,
    },
    /// All entrants in one arena, with balanced seats.
    Arena {
        /// Number of games.
        games: u64,
    },
    /// Each against each. `legs` 1 is single, 2 is home and away. A leg has one game (or match) per variant; `swap` adds a second one with
    /// the seats swapped.
    RoundRobin {
        /// Meetings per pair.
        legs: u32,
        /// Whether each game is repeated with the seats swapped.
        swap: bool,
    },
    /// Each of the first role against each of the second, on the same seeds.
    Cross {
        /// Number of seeds.
        boards: u64,
    },
    /// Entrants with equal points meet; rematches are avoided.
    Swiss {
        /// Number of rounds.
        rounds: u32,
        /// Whether each game is repeated with the seats swapped.
        swap: bool,
    },
    /// The loser of a tie is out.
    Knockout(TieRule),
    /// An entrant that loses two ties is out.
    DoubleElimination(TieRule),
    /// Challengers against all other entrants.
    Gauntlet {
        /// The challengers.
        challengers: Vec<Entrant>,
        /// Games against each opponent.
        games: u64,
        /// Whether each game is repeated with the seats swapped.
        swap: bool,
    },
}

/// How the ties of an elimination are played.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TieRule {
    /// Number of entrants taken from the top of the phase before; all if `None`.
    pub top: Option<u32>,
    /// Pairs of games (or matches) per tie and variant; the second game of a pair swaps the seats.
    pub pairs: u32,
    /// Maximum number of extra pairs for a tie that is equal on points and tie-break. After that the better seed advances.
    pub extra: u32,
    /// Whether the losers of the semi-finals play for the third place.
    pub third: bool,
}

/// A match to be played.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Fixture {
    /// Entrants in seat order.
    pub seats: Vec<Entrant>,
    /// Fixtures of a phase with the same index have the same seed.
    #[serde(rename = "board")]
    pub seed_index: u64,
    /// Index of the phase's variant (settings such as a first letter).
    pub variant: u32,
}

/// Fixtures that can be played in parallel and in any order. They are computed on demand.
pub trait Stage: Send + Sync {
    /// Display name: `round 3`, `quarter-finals`.
    fn name(&self) -> String;

    /// Number of fixtures.
    fn len(&self) -> u64;

    /// Whether the stage has no fixtures.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fixture by number, from 0; `None` past the end. The same number always gives the same fixture.
    fn fixture(&self, number: u64) -> Option<Fixture>;
}

/// What a finished match means for later stages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchVerdict {
    /// Entrants in seat order.
    pub seats: Vec<Entrant>,
    /// Table points per seat: 3/1/0, +1/-1, the score.
    pub points: Vec<FixedPoint>,
    /// Tie-break per seat: word points, games won minus lost.
    pub tie_break: Vec<FixedPoint>,
}

/// What has happened in a phase so far. When a stage is requested again (a run is resumed), the history must be the one from before
/// that stage: `open` and `order` after the stages before it.
#[derive(Clone, Copy, Default, Debug)]
pub struct PhaseHistory<'p> {
    /// Verdicts of every finished stage in fixture order. Empty lists if the format does not depend on results.
    pub stages: &'p [Vec<MatchVerdict>],
    /// Entrants whose place is still open, for `stop = "settled"`.
    pub open: &'p [Entrant],
    /// Table order, best first; fills up matches if too few entrants are open. Empty means the seeding order.
    pub order: &'p [Entrant],
}

/// The entrants of a phase and its variants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PhaseField {
    /// Entrants in seeding order, best first.
    pub entrants: Vec<Entrant>,
    /// Role index of each entrant; empty if all seats are alike.
    pub roles: Vec<u8>,
    /// Number of variants; 0 counts as 1.
    pub variants: u32,
    /// Whether a round must finish before the next starts, because bots learn from earlier games. Each round is then a stage.
    pub rounds_in_order: bool,
}

impl PhaseField {
    /// These entrants without roles, with one variant and rounds in any order.
    pub const fn of(entrants: Vec<Entrant>) -> Self {
        Self { entrants, roles: Vec::new(), variants: 1, rounds_in_order: false }
    }

    fn len(&self) -> usize {
        self.entrants.len()
    }

    fn variants(&self) -> u32 {
        self.variants.max(1)
    }

    /// Requires at least `needs` entrants and no duplicates.
    fn validate(&self, needs: u32) -> Result<(), FormatError> {
        if self.entrants.len() < needs as usize {
            return Err(FormatError::TooFewEntrants { needs, has: self.entrants.len() as u32 });
        }
        let mut sorted = self.entrants.clone();
        sorted.sort_unstable();
        match sorted.windows(2).find(|two| two[0] == two[1]) {
            Some(two) => Err(FormatError::DuplicateEntrant { entrant: two[0] }),
            None => Ok(()),
        }
    }
}

/// The stages of a phase.
pub trait PhaseSchedule: Send + Sync {
    /// Stage by number, from 0; `None` if the phase is finished. All earlier stages must be finished. `past` has their verdicts if the
    /// schedule depends on results.
    fn stage(&self, number: u32, past: &PhaseHistory<'_>) -> Option<Box<dyn Stage>>;

    /// Whether the schedule needs `past.stages`. If not, verdicts need not be kept.
    fn depends_on_results(&self) -> bool {
        false
    }

    /// Number of stages, if known from the start.
    fn stages(&self) -> Option<u32> {
        None
    }

    /// Minimum and maximum number of matches.
    fn expected_matches(&self) -> (u64, u64);

    /// Matches per entrant, if equal for all and known from the start.
    fn matches_each(&self) -> Option<u64> {
        None
    }

    /// Balance of the whole phase, or of the matches played so far if the schedule depends on results.
    fn balance(&self, past: &PhaseHistory<'_>) -> BalanceReport;

    /// Places of a bracket, best first, equal places grouped; entrants still in come first. `None` if the table ranks.
    fn placing(&self, _past: &PhaseHistory<'_>) -> Option<Vec<Vec<Entrant>>> {
        None
    }

    /// Entrants without an opponent, by stage, for tables that give points for a bye.
    fn byes(&self, _past: &PhaseHistory<'_>) -> Vec<(u32, Entrant)> {
        Vec::new()
    }
}

/// Stage `number`, given the verdicts of finished stages; `None` if the phase is finished or an earlier stage is not.
pub fn stage_after(
    schedule: &dyn PhaseSchedule,
    stages: &[Vec<MatchVerdict>],
    number: u32,
) -> Option<Box<dyn Stage>> {
    let known = stages.len().min(number as usize);
    schedule.stage(number, &PhaseHistory { stages: &stages[..known], ..PhaseHistory::default() })
}

/// Names of the first `started` stages. Empty if the phase has only one stage.
pub fn stage_names(schedule: &dyn PhaseSchedule, stages: &[Vec<MatchVerdict>], started: u32) -> Vec<String> {
    if started <= 1 && !schedule.depends_on_results() {
        return Vec::new();
    }
    (0..started)
        .map(|number| stage_after(schedule, stages, number).map_or_else(String::new, |stage| stage.name()))
        .collect()
}

impl Format {
    /// Whether a bracket decides the places instead of a table.
    pub const fn is_bracket(&self) -> bool {
        matches!(self, Self::Knockout(_) | Self::DoubleElimination(_))
    }

    /// The entrants of the field that take part.
    pub fn participants<'f>(&self, field: &'f PhaseField) -> &'f [Entrant] {
        let top = match self {
            Self::Knockout(rule) | Self::DoubleElimination(rule) => rule.top,
            _ => None,
        };
        let count = top.map_or(usize::MAX, |top| top as usize).min(field.entrants.len());
        &field.entrants[..count]
    }

    /// Schedule for this field. The same seed gives the same schedule.
    pub fn schedule(&self, field: &PhaseField, seed: u64) -> Result<Box<dyn PhaseSchedule>, FormatError> {
        Ok(match self {
            Self::Groups { size, matches } => groups::schedule(field, *size, *matches, seed)?,
            Self::Arena { games } => Box::new(free_for_all::FreeForAll::new(field, *games, seed)?),
            Self::RoundRobin { legs, swap } => {
                Box::new(round_robin::RoundRobin::new(field, *legs, *swap, seed)?)
            }
            Self::Cross { boards } => Box::new(cross::Cross::new(field, *boards)?),
            Self::Swiss { rounds, swap } => Box::new(swiss::Swiss::new(field, *rounds, *swap)?),
            Self::Knockout(ties) => Box::new(Elimination::<knockout::Knockout>::new(field, *ties)?),
            Self::DoubleElimination(ties) => {
                Box::new(Elimination::<double_elimination::DoubleElimination>::new(field, *ties)?)
            }
            Self::Gauntlet { challengers, games, swap } => {
                Box::new(cross::Gauntlet::new(field, challengers, *games, *swap)?)
            }
        })
    }
}

/// Random numbers of a schedule, from a stream separate from those of its games.
fn schedule_rng(seed: u64, what: u64) -> Rng {
    Rng::new(seed ^ what.wrapping_mul(0x9E37_79B9_7F4A_7C15), RngStream::Matches)
}

/// Product of counts; an error if it exceeds what a ledger can hold.
fn checked_product(factors: &[u64]) -> Result<u64, FormatError> {
    const MAX_MATCHES: u64 = 1 << 40;
    let all = factors.iter().try_fold(1u64, |all, &factor| all.checked_mul(factor));
    all.filter(|&all| all <= MAX_MATCHES).ok_or(FormatError::TooManyMatches { most: MAX_MATCHES })
}
