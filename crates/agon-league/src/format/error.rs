//! Errors: a format does not fit its entrants.

use agon_core::Diagnostic;
use thiserror::Error;

use crate::result::Entrant;

/// Why a format cannot be scheduled; [`FormatError::hint`] says how to fix it.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum FormatError {
    /// Fewer entrants than a match or a bracket needs.
    #[error("the format needs at least {needs} entrants, there {}", describe_count(*has))]
    TooFewEntrants {
        /// Required number of entrants.
        needs: u32,
        /// Actual number of entrants.
        has: u32,
    },
    /// More players per group than entrants.
    #[error("groups of {size} cannot be made of {has} entrants")]
    GroupTooLarge {
        /// Players per group.
        size: u32,
        /// Number of entrants.
        has: u32,
    },
    /// A group with one player.
    #[error("a group of {size} has no opponents")]
    GroupTooSmall {
        /// Players per group.
        size: u32,
    },
    /// A count of the format is 0.
    #[error("`{field}` is 0: no match would be played")]
    ZeroCount {
        /// Key in the competition file.
        field: &'static str,
    },
    /// More matches than can be stored or balanced.
    #[error("more than {most} matches")]
    TooManyMatches {
        /// Maximum number of matches.
        most: u64,
    },
    /// An entrant is listed twice.
    #[error("entrant {} is listed twice", entrant.0 + 1)]
    DuplicateEntrant {
        /// The entrant.
        entrant: Entrant,
    },
    /// A cross with entrants that have no role.
    #[error("{given} of {has} entrants have a role")]
    MissingRoles {
        /// Number of entrants with a role.
        given: u32,
        /// Number of entrants.
        has: u32,
    },
    /// A role of a cross without entrants.
    #[error("no entrant plays the {} role", ["first", "second"][usize::from(*role != 0)])]
    EmptyRole {
        /// 0 or 1.
        role: u8,
    },
    /// A role other than the two of a cross.
    #[error("entrant {} has role {role}; a cross has only roles 0 and 1", entrant.0 + 1)]
    UnknownRole {
        /// The entrant.
        entrant: Entrant,
        /// Its role.
        role: u8,
    },
    /// A challenger that is not an entrant of the phase.
    #[error("challenger {} is not an entrant of this phase", entrant.0 + 1)]
    UnknownChallenger {
        /// The challenger.
        entrant: Entrant,
    },
    /// A gauntlet without challengers or without opponents.
    #[error("{challengers} of {has} entrants are challengers")]
    InvalidGauntlet {
        /// Number of challengers.
        challengers: u32,
        /// Number of entrants.
        has: u32,
    },
    /// `stop = "settled"` for a format that cannot be extended.
    #[error("`stop = \"settled\"` is not possible with {format}")]
    CannotExtend {
        /// Name of the format.
        format: &'static str,
    },
}

impl FormatError {
    /// How to fix it.
    pub fn hint(&self) -> String {
        match self {
            Self::TooFewEntrants { .. } => "add entrants, or house bots to fill the field".into(),
            Self::GroupTooLarge { has, .. } => format!("set `size` to at most {has}, or add entrants"),
            Self::GroupTooSmall { .. } => "set `size` to the number of seats of a match, at least 2".into(),
            Self::ZeroCount { field } => format!("set `{field}` to at least 1"),
            Self::TooManyMatches { .. } => {
                "reduce the number of matches; intervals shrink only with its square root".into()
            }
            Self::DuplicateEntrant { .. } => "list each entrant once".into(),
            Self::MissingRoles { .. } => "set the `role` of each entrant".into(),
            Self::EmptyRole { .. } => "add an entrant with that `role`, or a house bot".into(),
            Self::UnknownRole { .. } => "use a cross only for games with two roles".into(),
            Self::UnknownChallenger { .. } => "name challengers that are entrants of this phase".into(),
            Self::InvalidGauntlet { challengers: 0, .. } => "name at least one challenger".into(),
            Self::InvalidGauntlet { .. } => "keep at least one entrant that is not a challenger".into(),
            Self::CannotExtend { .. } => {
                "use it with groups, an arena, a cross, a gauntlet, or a round robin with rounds in any order"
                    .into()
            }
        }
    }
}

impl From<FormatError> for Diagnostic {
    fn from(error: FormatError) -> Self {
        let hint = error.hint();
        Self::wrong_use(error, hint)
    }
}

fn describe_count(n: u32) -> String {
    match n {
        0 => "are none".into(),
        1 => "is 1".into(),
        n => format!("are {n}"),
    }
}
