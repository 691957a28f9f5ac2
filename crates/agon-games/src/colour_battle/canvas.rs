//! The words of the canvas: where a bot stands, where it can go, what its paint does to a floor.

use agon_core::MAX_SEATS;
use serde::ser::{Serialize, SerializeSeq, Serializer};

/// The tiles an arena has for each bot in it.
pub const TILES_PER_BOT: usize = 8 * 8;

/// The side of the largest canvas: that of an arena with [`MAX_SEATS`] bots.
pub const MAX_SIDE: usize = side_for(MAX_SEATS);

/// The number of tiles of the largest canvas.
pub const MAX_TILES: usize = MAX_SIDE * MAX_SIDE;

/// The side of the canvas for so many bots: the square root of 64 tiles a bot, rounded up.
pub const fn side_for(bots: usize) -> usize {
    let tiles = TILES_PER_BOT * bots;
    let mut side = 0;
    while side * side < tiles {
        side += 1;
    }
    side
}

/// What becomes of a floor when one bot stands on it. White is 0.
///
/// White takes the colour. Otherwise `(own - floor) % 3` decides: 0 leaves the floor as it is, 1 turns it
/// white, 2 takes it.
#[inline]
pub const fn paint(floor: u8, own: u8) -> u8 {
    if floor == 0 {
        return own;
    }
    // 255 is a multiple of 3: adding it keeps the difference from going below 0.
    match (own as u16 + 255 - floor as u16) % 3 {
        0 => floor,
        1 => 0,
        _ => own,
    }
}

/// A tile: column and row, counted from the lower left corner. Written `[x, y]`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Position {
    /// The column.
    pub x: u8,
    /// The row, upwards.
    pub y: u8,
}

impl Position {
    /// The tile where `[x, y]` says.
    pub const fn new(x: u8, y: u8) -> Self {
        Self { x, y }
    }

    /// The index of this tile in a canvas of this side, row by row from `y = 0`.
    #[inline]
    pub const fn cell(self, side: u8) -> usize {
        self.y as usize * side as usize + self.x as usize
    }

    /// Where one move leads. Off the edge of the canvas: it stays.
    #[inline]
    #[must_use]
    pub const fn after(self, step: Move, side: u8) -> Self {
        // One below 0 wraps to 255, which is past every edge too: one comparison serves both edges.
        let x = self.x.wrapping_add(step.dx() as u8);
        let y = self.y.wrapping_add(step.dy() as u8);
        Self { x: if x < side { x } else { self.x }, y: if y < side { y } else { self.y } }
    }

    /// The number of moves between two tiles.
    #[inline]
    pub const fn distance(self, other: Self) -> u32 {
        self.x.abs_diff(other.x) as u32 + self.y.abs_diff(other.y) as u32
    }
}

impl Serialize for Position {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        [self.x, self.y].serialize(serializer)
    }
}

/// A bot's answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Move {
    /// One row up: `y + 1`.
    Up,
    /// One row down: `y - 1`.
    Down,
    /// One column to the left: `x - 1`.
    Left,
    /// One column to the right: `x + 1`.
    Right,
    /// Stays, and paints where it is.
    Stay,
}

impl Move {
    /// All five.
    pub const ALL: [Self; 5] = [Self::Up, Self::Down, Self::Left, Self::Right, Self::Stay];

    /// The four that go somewhere.
    pub const STEPS: [Self; 4] = [Self::Up, Self::Down, Self::Left, Self::Right];

    /// The name of the rule book.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "UP",
            Self::Down => "DOWN",
            Self::Left => "LEFT",
            Self::Right => "RIGHT",
            Self::Stay => "STAY",
        }
    }

    /// Its letter in the record: the first of its name.
    pub const fn letter(self) -> u8 {
        b"UDLRS"[self as usize]
    }

    /// The move with this name or letter, in any case.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|m| {
            word.eq_ignore_ascii_case(m.name())
                || (word.len() == 1 && word.eq_ignore_ascii_case(&m.name()[..1]))
        })
    }

    /// The change of `x`.
    #[inline]
    pub const fn dx(self) -> i8 {
        [0, 0, -1, 1, 0][self as usize]
    }

    /// The change of `y`.
    #[inline]
    pub const fn dy(self) -> i8 {
        [1, -1, 0, 0, 0][self as usize]
    }
}

/// A canvas to look at: `grid[y][x]`, 0 for white, else the id of the bot whose colour it is.
#[derive(Clone, Copy, Debug)]
pub struct Grid<'s> {
    tiles: &'s [u8],
    side: u8,
}

impl<'s> Grid<'s> {
    /// The first `side * side` of these tiles, row by row from `y = 0`.
    pub(super) fn new(tiles: &'s [u8], side: u8) -> Self {
        let count = usize::from(side) * usize::from(side);
        Self { tiles: tiles.get(..count).unwrap_or_default(), side }
    }

    /// All tiles, row by row from `y = 0`.
    #[inline]
    pub const fn tiles(self) -> &'s [u8] {
        self.tiles
    }

    /// Width and height.
    #[inline]
    pub const fn side(self) -> u8 {
        self.side
    }

    /// The colour of a tile; white for one that is not on the canvas.
    #[inline]
    pub fn at(self, position: Position) -> u8 {
        if position.x >= self.side {
            return 0;
        }
        self.tiles.get(position.cell(self.side)).copied().unwrap_or(0)
    }

    /// The rows, from `y = 0` upwards.
    pub fn rows(self) -> impl DoubleEndedIterator<Item = &'s [u8]> + ExactSizeIterator {
        self.tiles.chunks_exact(usize::from(self.side).max(1))
    }

    /// How many tiles each id has, by id; white is number 0.
    pub fn tally(self) -> [u32; MAX_SEATS + 1] {
        let mut count = [0; MAX_SEATS + 1];
        for &tile in self.tiles {
            if let Some(n) = count.get_mut(usize::from(tile)) {
                *n += 1;
            }
        }
        count
    }
}

impl Serialize for Grid<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(usize::from(self.side)))?;
        for row in self.rows() {
            list.serialize_element(row)?;
        }
        list.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paint_formula_is_the_one_of_the_rule_book() {
        for own in 1..=64i32 {
            for floor in 1..=64i32 {
                let wanted = [floor, 0, own][(own - floor).rem_euclid(3) as usize];
                assert_eq!(i32::from(paint(floor as u8, own as u8)), wanted, "{own} on {floor}");
            }
            assert_eq!(i32::from(paint(0, own as u8)), own, "white takes every colour");
        }
    }

    #[test]
    fn the_side_is_the_root_of_64_tiles_a_bot_rounded_up() {
        for bots in 2..=MAX_SEATS {
            assert_eq!(side_for(bots), ((64 * bots) as f64).sqrt().ceil() as usize);
        }
        assert_eq!((side_for(2), side_for(20), MAX_SIDE), (12, 36, 64));
    }

    #[test]
    fn a_move_is_read_by_name_and_by_letter() {
        for step in Move::ALL {
            assert_eq!(Move::from_word(step.name()), Some(step));
            assert_eq!(Move::from_word(&step.name().to_lowercase()), Some(step));
            assert_eq!(Move::from_word(char::from(step.letter()).encode_utf8(&mut [0; 4])), Some(step));
        }
        assert_eq!(Move::from_word("UPP"), None);
        assert_eq!(Move::from_word(""), None);
    }
}
