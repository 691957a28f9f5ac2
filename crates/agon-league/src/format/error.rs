//! Why a format cannot be played by a field.

use thiserror::Error;

use crate::result::Entrant;

/// Why, as a sentence without an end; [`FormatError::hint`] says what to do.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum FormatError {
    /// Fewer entrants than a match or a bracket needs.
    #[error("the format needs at least {needs} entrants, there {}", are(*has))]
    TooFew {
        /// At least so many.
        needs: u32,
        /// There are so many.
        has: u32,
    },
    /// A group that the field cannot fill.
    #[error("groups of {size} cannot be made of {has} entrants")]
    GroupTooLarge {
        /// The group's size.
        size: u32,
        /// There are so many.
        has: u32,
    },
    /// A group of one.
    #[error("a group of {size} plays nobody")]
    GroupTooSmall {
        /// The group's size.
        size: u32,
    },
    /// A count of the format is 0.
    #[error("`{field}` is 0: nothing would be played")]
    Nothing {
        /// The field's name in the file.
        field: &'static str,
    },
    /// More matches than can be kept or balanced.
    #[error("more than {most} matches")]
    TooMany {
        /// At most so many.
        most: u64,
    },
    /// The same entrant twice in a field.
    #[error("entrant {} is in the field twice", entrant.0 + 1)]
    Twice {
        /// Who.
        entrant: Entrant,
    },
    /// A cross without roles.
    #[error("{given} of {has} entrants have a role")]
    Roles {
        /// So many have one.
        given: u32,
        /// There are so many.
        has: u32,
    },
    /// Nobody plays a role of a cross.
    #[error("nobody plays the {} role", ["first", "second"][usize::from(*role != 0)])]
    NobodyInRole {
        /// 0 or 1.
        role: u8,
    },
    /// A cross has two roles only.
    #[error("entrant {} has role {role}, and a cross knows 0 and 1", entrant.0 + 1)]
    UnknownRole {
        /// Who.
        entrant: Entrant,
        /// Which.
        role: u8,
    },
    /// A challenger who does not take part.
    #[error("challenger {} is not in the field", entrant.0 + 1)]
    UnknownChallenger {
        /// Who.
        entrant: Entrant,
    },
    /// A gauntlet without challengers, or without anybody else.
    #[error("{challengers} of {has} entrants run the gauntlet")]
    Gauntlet {
        /// So many.
        challengers: u32,
        /// There are so many.
        has: u32,
    },
    /// `stop = "settled"` for a format that cannot be played further.
    #[error("`stop = \"settled\"` does not go with {format}")]
    CannotGoOn {
        /// Which format.
        format: &'static str,
    },
}

impl FormatError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::TooFew { .. } => "add entrants, or house bots to fill the field".into(),
            Self::GroupTooLarge { has, .. } => format!("set `size` to at most {has}, or add entrants"),
            Self::GroupTooSmall { .. } => "set `size` to the number of seats of a match, at least 2".into(),
            Self::Nothing { field } => format!("set `{field}` to at least 1"),
            Self::TooMany { .. } => {
                "ask for fewer matches: intervals shrink only with their square root".into()
            }
            Self::Twice { .. } => "name each entrant once".into(),
            Self::Roles { .. } => "give each entrant the `role` it plays".into(),
            Self::NobodyInRole { .. } => "add an entrant with that `role`, or a house bot".into(),
            Self::UnknownRole { .. } => "use a cross only for games with two roles".into(),
            Self::UnknownChallenger { .. } => "name challengers that are entrants of this phase".into(),
            Self::Gauntlet { challengers: 0, .. } => "name at least one challenger".into(),
            Self::Gauntlet { .. } => "leave somebody in the field for the challengers to meet".into(),
            Self::CannotGoOn { .. } => {
                "use it with groups, an arena, a cross, a gauntlet, or a round robin whose rounds may mix"
                    .into()
            }
        }
    }
}

fn are(n: u32) -> String {
    match n {
        0 => "are none".into(),
        1 => "is 1".into(),
        n => format!("are {n}"),
    }
}
