//! The canvas: positions, moves, and the paint rule.

use agon_core::MAX_SEATS;
use serde::ser::{Serialize, SerializeSeq, Serializer};

/// Number of tiles of an arena for each bot.
pub const TILES_PER_BOT: usize = 8 * 8;

/// Side of the largest canvas, for [`MAX_SEATS`] bots.
pub const MAX_SIDE: usize = side_for(MAX_SEATS);

/// Number of tiles of the largest canvas.
pub const MAX_TILES: usize = MAX_SIDE * MAX_SIDE;

/// Side of the canvas for this number of bots: the square root of 64 tiles per bot, rounded up.
pub const fn side_for(bots: usize) -> usize {
    let tiles = TILES_PER_BOT * bots;
    let mut side = 0;
    while side * side < tiles {
        side += 1;
    }
    side
}

/// New colour of a floor tile on which one bot stands. White is 0.
///
/// White takes the bot's colour. Otherwise `(own - floor) % 3` decides: 0 keeps the floor, 1 turns it white, 2 takes the bot's
/// colour.
#[inline]
pub const fn paint(floor: u8, own: u8) -> u8 {
    if floor == 0 {
        return own;
    }
    // 255 is a multiple of 3; adding it keeps the difference positive.
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
    /// The tile `[x, y]`.
    pub const fn new(x: u8, y: u8) -> Self {
        Self { x, y }
    }

    /// Index of this tile in a canvas of this side, row by row from `y = 0`.
    #[inline]
    pub const fn cell(self, side: u8) -> usize {
        self.y as usize * side as usize + self.x as usize
    }

    /// Position after a move. A move off the canvas has no effect.
    #[inline]
    #[must_use]
    pub const fn after(self, step: Move, side: u8) -> Self {
        // One below 0 wraps to 255, which is beyond every edge, so one comparison handles both edges.
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
    /// Stays, and paints its tile.
    Stay,
}

impl Move {
    /// All five.
    pub const ALL: [Self; 5] = [Self::Up, Self::Down, Self::Left, Self::Right, Self::Stay];

    /// The four moves that change the position.
    pub const STEPS: [Self; 4] = [Self::Up, Self::Down, Self::Left, Self::Right];

    /// Name in the rule book.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "UP",
            Self::Down => "DOWN",
            Self::Left => "LEFT",
            Self::Right => "RIGHT",
            Self::Stay => "STAY",
        }
    }

    /// Letter in the record: the first letter of the name.
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

/// Read access to a canvas: `grid[y][x]`, 0 for white, else the id of the bot that has this colour.
#[derive(Clone, Copy, Debug)]
pub struct CanvasTiles<'s> {
    tiles: &'s [u8],
    side: u8,
}

impl<'s> CanvasTiles<'s> {
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

    /// Colour of a tile; white for a position off the canvas.
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

    /// Number of tiles of each id; index 0 is white.
    pub fn counts_by_id(self) -> [u32; MAX_SEATS + 1] {
        let mut count = [0; MAX_SEATS + 1];
        for &tile in self.tiles {
            if let Some(n) = count.get_mut(usize::from(tile)) {
                *n += 1;
            }
        }
        count
    }
}

impl Serialize for CanvasTiles<'_> {
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
    fn paint_follows_the_formula_of_the_rule_book() {
        for own in 1..=64i32 {
            for floor in 1..=64i32 {
                let wanted = [floor, 0, own][(own - floor).rem_euclid(3) as usize];
                assert_eq!(i32::from(paint(floor as u8, own as u8)), wanted, "{own} on {floor}");
            }
            assert_eq!(i32::from(paint(0, own as u8)), own, "white takes every colour");
        }
    }

    #[test]
    fn side_is_the_root_of_64_tiles_per_bot_rounded_up() {
        for bots in 2..=MAX_SEATS {
            assert_eq!(side_for(bots), ((64 * bots) as f64).sqrt().ceil() as usize);
        }
        assert_eq!((side_for(2), side_for(20), MAX_SIDE), (12, 36, 64));
    }

    #[test]
    fn moves_are_read_by_name_and_by_letter() {
        for step in Move::ALL {
            assert_eq!(Move::from_word(step.name()), Some(step));
            assert_eq!(Move::from_word(&step.name().to_lowercase()), Some(step));
            assert_eq!(Move::from_word(char::from(step.letter()).encode_utf8(&mut [0; 4])), Some(step));
        }
        assert_eq!(Move::from_word("UPP"), None);
        assert_eq!(Move::from_word(""), None);
    }
}
