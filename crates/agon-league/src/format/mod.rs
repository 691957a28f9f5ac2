//! What a phase plays: formats that yield stages of fixtures.
//!
//! A [`Format`] and a [`PhaseField`] make a [`PhaseSchedule`]; a plan yields [`Stage`]s, one after the other; a stage computes each [`Fixture`] from its
//! number, so that a league of two million matches takes no memory and starts at once. Nothing here draws chance but from the seed, and
//! a stage depends on nothing but that seed and the results of the stages before it: whoever asks again, gets the same fixtures.
//!
//! | file | plays | balanced by |
//! |---|---|---|
//! | `groups.rs`, `design.rs` | balanced random groups | blocks developed over a group |
//! | `arena.rs` | all in one | rotation of a shuffled order |
//! | `round_robin.rs` | each against each | the circle method |
//! | `cross.rs` | role against role, gauntlets | every pair on the same boards |
//! | `swiss.rs`, `pairing.rs` | equals meet | a maximum matching without rematches |
//! | `knockout.rs`, `double.rs`, `ties.rs` | eliminations | seeding, seats swapped in pairs |
//! | `settled.rs` | any of the first four, further | the same again for those whose place is open |
//! | `balance.rs` | the report on all of this | |

mod free_for_all;
pub mod balance;
mod cross;
mod design;
mod double;
mod elimination;
mod error;
mod groups;
mod knockout;
mod pairing;
mod round_robin;
mod settled;
mod swiss;
mod ties;

use agon_core::random::{Rng, Stream};
use serde::{Deserialize, Serialize};

pub use balance::BalanceReport;
use elimination::Elimination;
pub use error::FormatError;

use crate::result::{Entrant, FixedPoint};

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
    Knockout(TieRule),
    /// Who loses two is out.
    DoubleElimination(TieRule),
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
pub struct TieRule {
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
    #[serde(rename = "board")]
    pub seed_index: u64,
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
pub struct MatchVerdict {
    /// In seat order.
    pub seats: Vec<Entrant>,
    /// What the table gives for it: 3/1/0, +1/-1, the score.
    pub points: Vec<FixedPoint>,
    /// What breaks a tie: word points, games won minus lost.
    pub second: Vec<FixedPoint>,
}

/// What has happened in a phase so far. For a stage that is asked for again (a run goes on after a break) it must be what it was when that
/// stage began: `open` and `order` are those after the stages before it.
#[derive(Clone, Copy, Default, Debug)]
pub struct PhaseHistory<'p> {
    /// The verdicts of every finished stage, in order of the fixtures. Empty lists where the format does not look back.
    pub stages: &'p [Vec<MatchVerdict>],
    /// The entrants whose place is still open: for `stop = "settled"`.
    pub open: &'p [Entrant],
    /// The table's order, best first: who is next to whom when too few are open for a match. The seeding's if empty.
    pub order: &'p [Entrant],
}

/// Who plays, and on what.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PhaseField {
    /// In seeding order, best first.
    pub entrants: Vec<Entrant>,
    /// The role of each, by its number in the game; empty where all seats are alike.
    pub roles: Vec<u8>,
    /// How many variants the phase has; 0 is read as 1.
    pub variants: u32,
    /// Whether a round must be over before the next begins, because bots learn from what was played: each round is a stage then.
    pub rounds_in_order: bool,
}

impl PhaseField {
    /// These, with seats alike, one variant, rounds in any order.
    pub const fn of(entrants: Vec<Entrant>) -> Self {
        Self { entrants, roles: Vec::new(), variants: 1, rounds_in_order: false }
    }

    fn len(&self) -> usize {
        self.entrants.len()
    }

    fn variants(&self) -> u32 {
        self.variants.max(1)
    }

    /// At least `needs` entrants, nobody twice.
    fn check(&self, needs: u32) -> Result<(), FormatError> {
        if self.entrants.len() < needs as usize {
            return Err(FormatError::TooFew { needs, has: self.entrants.len() as u32 });
        }
        let mut sorted = self.entrants.clone();
        sorted.sort_unstable();
        match sorted.windows(2).find(|two| two[0] == two[1]) {
            Some(two) => Err(FormatError::Twice { entrant: two[0] }),
            None => Ok(()),
        }
    }
}

/// The stages of a phase.
pub trait PhaseSchedule: Send + Sync {
    /// The stage of this number, from 0; `None`: the phase is over. All stages before it are finished, and `past` has their verdicts if the
    /// plan looks back.
    fn stage(&self, number: u32, past: &PhaseHistory<'_>) -> Option<Box<dyn Stage>>;

    /// Whether it needs `past.stages`. If not, nobody needs to keep them.
    fn depends_on_results(&self) -> bool {
        false
    }

    /// How many stages, where that is known from the start.
    fn stages(&self) -> Option<u32> {
        None
    }

    /// How many matches at least, and at most.
    fn expected(&self) -> (u64, u64);

    /// How many matches each entrant plays, where it is the same for all and known from the start.
    fn matches_each(&self) -> Option<u64> {
        None
    }

    /// How evenly it is spread: the whole phase, or, for a plan that looks back, what it has played so far.
    fn balance(&self, past: &PhaseHistory<'_>) -> BalanceReport;

    /// The places a bracket gives, best first, those with equal places together; who is still in comes first. `None`: the table ranks.
    fn placing(&self, _past: &PhaseHistory<'_>) -> Option<Vec<Vec<Entrant>>> {
        None
    }

    /// Who had nobody to play against, by stage: for a table that gives points for that.
    fn byes(&self, _past: &PhaseHistory<'_>) -> Vec<(u32, Entrant)> {
        Vec::new()
    }
}

impl Format {
    /// Whether it gives places by who beat whom, not by a table.
    pub const fn is_bracket(&self) -> bool {
        matches!(self, Self::Knockout(_) | Self::DoubleElimination(_))
    }

    /// The plan for this field. The same seed is the same plan.
    pub fn plan(&self, field: &PhaseField, seed: u64) -> Result<Box<dyn PhaseSchedule>, FormatError> {
        Ok(match self {
            Self::Groups { size, matches } => groups::plan(field, *size, *matches, seed)?,
            Self::Arena { games } => Box::new(free_for_all::FreeForAll::new(field, *games, seed)?),
            Self::RoundRobin { legs, swap } => {
                Box::new(round_robin::RoundRobin::new(field, *legs, *swap, seed)?)
            }
            Self::Cross { boards } => Box::new(cross::Cross::new(field, *boards)?),
            Self::Swiss { rounds, swap } => Box::new(swiss::Swiss::new(field, *rounds, *swap)?),
            Self::Knockout(ties) => Box::new(Elimination::<knockout::Knockout>::new(field, *ties)?),
            Self::DoubleElimination(ties) => {
                Box::new(Elimination::<double::DoubleElimination>::new(field, *ties)?)
            }
            Self::Gauntlet { challengers, games, swap } => {
                Box::new(cross::Gauntlet::new(field, challengers, *games, *swap)?)
            }
        })
    }
}

/// The draws of a schedule: apart from those of its games, which come from other streams.
fn chance(seed: u64, what: u64) -> Rng {
    Rng::new(seed ^ what.wrapping_mul(0x9E37_79B9_7F4A_7C15), Stream::Matches)
}

/// A product of counts, refused when it is more than any ledger holds.
fn product(factors: &[u64]) -> Result<u64, FormatError> {
    const MOST: u64 = 1 << 40;
    let all = factors.iter().try_fold(1u64, |all, &factor| all.checked_mul(factor));
    all.filter(|&all| all <= MOST).ok_or(FormatError::TooMany { most: MOST })
}
