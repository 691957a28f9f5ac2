//! Letters, and the 7 x 7 board.

use std::fmt;

use serde::{Serialize, Serializer};

/// Number of rows and of columns.
pub const SIDE: usize = 7;

/// Number of positions, counted row by row from 0 to 48.
pub const CELLS: usize = SIDE * SIDE;

/// Position of the first letter.
pub const CENTRE: usize = 24;

/// Number of lines: rows are lines 0 to 6, columns lines 7 to 13.
pub const LINES: usize = 2 * SIDE;

/// Code of an empty cell: one past `Z`, so that it is in no word.
pub const EMPTY: u8 = 26;

/// A row or column as letter codes, [`EMPTY`] for empty cells.
pub type Line = [u8; SIDE];

/// One of the letters A to Z.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Letter(u8);

impl Letter {
    /// The letter A.
    pub const A: Self = Self(0);

    /// All 26 letters.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
        (0..26).map(Self)
    }

    /// Reads a letter, upper or lower case.
    pub const fn read(character: char) -> Option<Self> {
        let upper = character.to_ascii_uppercase();
        if upper.is_ascii_uppercase() { Some(Self(upper as u8 - b'A')) } else { None }
    }

    /// Letter of a code from 0 (A) to 25 (Z).
    #[inline]
    pub const fn from_code(code: u8) -> Option<Self> {
        if code < 26 { Some(Self(code)) } else { None }
    }

    /// Code from 0 (A) to 25 (Z).
    #[inline]
    pub const fn code(self) -> u8 {
        self.0
    }

    /// Index into lists of 26.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The letter in upper case.
    pub const fn to_char(self) -> char {
        (b'A' + self.0) as char
    }
}

impl fmt::Display for Letter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_char())
    }
}

impl fmt::Debug for Letter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_char())
    }
}

impl Serialize for Letter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_char(self.to_char())
    }
}

/// One player's board.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Board([u8; CELLS]);

impl Board {
    /// An empty board.
    pub const EMPTY: Self = Self([EMPTY; CELLS]);

    /// A board with the first letter in the centre.
    pub const fn with_first(letter: Letter) -> Self {
        let mut board = Self::EMPTY;
        board.0[CENTRE] = letter.code();
        board
    }

    /// Reads the 49 cells row by row: letters, `.` for an empty cell, white space ignored.
    pub fn read(text: &str) -> Option<Self> {
        let mut board = Self::EMPTY;
        let mut cells = board.0.iter_mut();
        for character in text.chars().filter(|c| !c.is_whitespace()) {
            let cell = cells.next()?;
            if character != '.' {
                *cell = Letter::read(character)?.code();
            }
        }
        cells.next().is_none().then_some(board)
    }

    /// Letter at a position; `None` for an empty cell or off the board.
    #[inline]
    pub fn get(&self, position: usize) -> Option<Letter> {
        self.0.get(position).copied().and_then(Letter::from_code)
    }

    /// Writes a letter. Does nothing off the board.
    #[inline]
    pub fn put(&mut self, position: usize, letter: Letter) {
        if let Some(cell) = self.0.get_mut(position) {
            *cell = letter.code();
        }
    }

    /// The board without the letter at a position.
    #[must_use]
    pub fn without(mut self, position: usize) -> Self {
        if let Some(cell) = self.0.get_mut(position) {
            *cell = EMPTY;
        }
        self
    }

    /// Whether the position is on the board and empty.
    #[inline]
    pub fn is_free(&self, position: usize) -> bool {
        self.0.get(position) == Some(&EMPTY)
    }

    /// Empty positions.
    pub fn free(&self) -> impl Iterator<Item = usize> + '_ {
        (0..CELLS).filter(|&position| self.is_free(position))
    }

    /// Number of cells with a letter.
    pub fn filled(&self) -> usize {
        CELLS - self.free().count()
    }

    /// Row `line`, or column `line - 7`. Lines above 13 are empty.
    #[inline]
    pub fn line(&self, line: usize) -> Line {
        let mut codes = [EMPTY; SIDE];
        if line < LINES {
            for (i, code) in codes.iter_mut().enumerate() {
                *code = self.0[cell_of(line, i)];
            }
        }
        codes
    }

    /// Letter codes of all cells.
    #[inline]
    pub const fn codes(&self) -> &[u8; CELLS] {
        &self.0
    }
}

/// Position of place `index` (0 to 6) of line `line` (0 to 13).
#[inline]
pub const fn cell_of(line: usize, index: usize) -> usize {
    if line < SIDE { line * SIDE + index } else { index * SIDE + line - SIDE }
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for position in 0..CELLS {
            match self.get(position) {
                Some(letter) => write!(f, "{letter}")?,
                None => f.write_str(".")?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Serialize for Board {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_row_by_row_and_lines_cross() {
        let mut board = Board::with_first(Letter::read('e').unwrap());
        board.put(17, Letter::read('Q').unwrap());
        assert_eq!(board.line(2)[3], 16);
        assert_eq!(board.line(7 + 3)[2], 16);
        assert_eq!(board.line(3)[3], 4);
        assert_eq!(board.to_string().len(), CELLS);
        assert_eq!(Board::read(&board.to_string()), Some(board));
        assert_eq!(board.filled(), 2);
        assert!(!board.is_free(17) && !board.is_free(49) && board.is_free(48));
    }

    #[test]
    fn board_of_the_wrong_size_is_not_read() {
        assert_eq!(Board::read("ABC"), None);
        assert_eq!(Board::read(&"A".repeat(50)), None);
        assert_eq!(Board::read(&"1".repeat(49)), None);
    }
}
