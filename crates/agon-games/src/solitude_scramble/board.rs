//! The board: four home sides, five platforms, and the platform each move leads to.

use serde::{Deserialize, Serialize};

/// A home side. Players on it face the centre.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Side {
    /// Top side.
    North,
    /// Right side.
    East,
    /// Bottom side.
    South,
    /// Left side.
    West,
}

impl Side {
    /// All four, clockwise.
    pub const ALL: [Self; 4] = [Self::North, Self::East, Self::South, Self::West];

    /// `NORTH`, `EAST`, `SOUTH`, `WEST`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::North => "NORTH",
            Self::East => "EAST",
            Self::South => "SOUTH",
            Self::West => "WEST",
        }
    }

    /// Platform of a move from this side. Left and right are from the view of a player facing the centre.
    #[inline]
    pub const fn platform(self, chosen: Move) -> Platform {
        const TO: [[Platform; 3]; 4] = [
            [Platform::Ne, Platform::Nw, Platform::Center],
            [Platform::Se, Platform::Ne, Platform::Center],
            [Platform::Sw, Platform::Se, Platform::Center],
            [Platform::Nw, Platform::Sw, Platform::Center],
        ];
        TO[self as usize][chosen as usize]
    }
}

/// A platform with points.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Platform {
    /// The centre, which all four players can reach.
    Center,
    /// The corner between West and North.
    Nw,
    /// The corner between North and East.
    Ne,
    /// The corner between South and West.
    Sw,
    /// The corner between East and South.
    Se,
}

impl Platform {
    /// All five, in the order of the rule document.
    pub const ALL: [Self; 5] = [Self::Center, Self::Nw, Self::Ne, Self::Sw, Self::Se];

    /// `CENTER`, `NW`, `NE`, `SW`, `SE`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Center => "CENTER",
            Self::Nw => "NW",
            Self::Ne => "NE",
            Self::Sw => "SW",
            Self::Se => "SE",
        }
    }
}

/// An answer: the platform to go to, relative to the own side.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Move {
    /// To the left corner.
    Left,
    /// To the right corner.
    Right,
    /// To the centre.
    Center,
}

impl Move {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Left, Self::Right, Self::Center];

    /// `LEFT`, `RIGHT`, `CENTER`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Left => "LEFT",
            Self::Right => "RIGHT",
            Self::Center => "CENTER",
        }
    }

    /// Record form: `L`, `R`, `C`.
    pub const fn letter(self) -> u8 {
        match self {
            Self::Left => b'L',
            Self::Right => b'R',
            Self::Center => b'C',
        }
    }

    /// Reads the record form or the whole word, in any case.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let is = |chosen: &Self| {
            text.eq_ignore_ascii_case(chosen.name())
                || text.as_bytes().eq_ignore_ascii_case(&[chosen.letter()])
        };
        Self::ALL.into_iter().find(is)
    }
}

/// Name of a move in the history; `NONE` for a forfeit.
pub const fn move_name(chosen: Option<Move>) -> &'static str {
    match chosen {
        Some(chosen) => chosen.name(),
        None => "NONE",
    }
}
