//! The board: 9 columns, 7 rows, one bit for each cell and player.
//!
//! Cells are numbered column by column from the bottom left (`column * 7 + height`). Counting ones gives the next free cell of
//! a column, and neighbours in a line have a fixed distance between their bits.

use serde::{Serialize, Serializer};

/// Number of columns.
pub const COLUMNS: usize = 9;
/// Number of rows.
pub const ROWS: usize = 7;
/// Number of cells.
pub const CELLS: usize = COLUMNS * ROWS;

/// Mask of all cells.
pub(super) const ALL_CELLS: u64 = (1 << CELLS) - 1;
/// Mask of the lowest row.
pub(super) const BOTTOM_ROW: u64 = row_mask(0);
/// Mask of the highest row.
const TOP_ROW: u64 = row_mask(ROWS as u32 - 1);

/// Mask of the row at this height.
const fn row_mask(height: u32) -> u64 {
    let mut mask = 0;
    let mut column = 0;
    while column < COLUMNS as u32 {
        mask |= 1 << (column * ROWS as u32 + height);
        column += 1;
    }
    mask
}

const LOW_STARTS: u64 = row_mask(0) | row_mask(1) | row_mask(2);
const HIGH_STARTS: u64 = row_mask(4) | row_mask(5) | row_mask(6);

/// For each direction (column, row, rising, falling diagonal): the distance between the bits of neighbours in a line, and the
/// cells where a line of five can start. A line that leaves the board to the right ends beyond the last bit, so only top and
/// bottom need a mask.
pub(super) const DIRECTIONS: [(u32, u64); 4] =
    [(1, LOW_STARTS), (7, ALL_CELLS), (8, LOW_STARTS), (6, HIGH_STARTS)];

/// Mark of a player.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// Player 1, who moves first.
    X,
    /// Player 2.
    O,
}

impl Mark {
    /// Player number on the board: 1 or 2.
    #[inline]
    pub const fn number(self) -> u8 {
        self as u8 + 1
    }

    /// The other player's mark.
    #[inline]
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::X => Self::O,
            Self::O => Self::X,
        }
    }

    /// Letter of the mark.
    pub const fn letter(self) -> &'static str {
        match self {
            Self::X => "X",
            Self::O => "O",
        }
    }
}

/// The board with its pieces.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Board {
    pieces: [u64; 2],
}

impl Board {
    /// Creates a board from rows as bots see them: the top row first, 0 empty, 1 and 2 the players. Pieces may float; other
    /// numbers count as empty.
    pub fn from_rows(rows: &[[u8; COLUMNS]; ROWS]) -> Self {
        let mut board = Self::default();
        for (row, cells) in rows.iter().enumerate() {
            for (column, &cell) in cells.iter().enumerate() {
                if let 1 | 2 = cell {
                    board.pieces[cell as usize - 1] |= 1 << (column * ROWS + ROWS - 1 - row);
                }
            }
        }
        board
    }

    /// The rows as bots see them: the top row first, 0 empty, 1 and 2 the players.
    pub fn rows(&self) -> [[u8; COLUMNS]; ROWS] {
        let mut rows = [[0; COLUMNS]; ROWS];
        for (row, cells) in rows.iter_mut().enumerate() {
            for (column, cell) in cells.iter_mut().enumerate() {
                let bit = column * ROWS + ROWS - 1 - row;
                *cell = (self.pieces[0] >> bit & 1) as u8 + 2 * (self.pieces[1] >> bit & 1) as u8;
            }
        }
        rows
    }

    /// Mask of a player's pieces.
    #[inline]
    pub const fn pieces(&self, mark: Mark) -> u64 {
        self.pieces[mark as usize]
    }

    /// Mask of the occupied cells.
    #[inline]
    pub const fn taken(&self) -> u64 {
        self.pieces[0] | self.pieces[1]
    }

    /// Number of pieces in a column.
    #[inline]
    pub const fn height(&self, column: usize) -> usize {
        height(self.taken(), column)
    }

    /// Whether the column exists and has room for a piece.
    #[inline]
    pub const fn has_room(&self, column: usize) -> bool {
        column < COLUMNS && self.height(column) < ROWS
    }

    /// Whether no column has room.
    #[inline]
    pub const fn is_full(&self) -> bool {
        self.taken() & TOP_ROW == TOP_ROW
    }

    /// Drops a piece into a column. Does nothing if there is no room.
    #[inline]
    pub const fn drop_into(&mut self, column: usize, mark: Mark) {
        if self.has_room(column) {
            self.pieces[mark as usize] |= 1 << (column * ROWS + self.height(column));
        }
    }

    /// Whether a player has five in a line.
    #[inline]
    pub fn has_five(&self, mark: Mark) -> bool {
        has_five(self.pieces(mark))
    }

    /// Mask of all cells in a player's lines of five or more.
    pub fn winning_cells(&self, mark: Mark) -> u64 {
        let pieces = self.pieces(mark);
        let mut cells = 0;
        for (step, starts) in DIRECTIONS {
            let lines = five_starts(pieces, step) & starts;
            cells |= lines | lines << step | lines << (2 * step) | lines << (3 * step) | lines << (4 * step);
        }
        cells
    }

    /// Largest number of a player's pieces in five cells in a line without a piece of the opponent.
    pub fn best_line(&self, mark: Mark) -> u32 {
        let (own, other) = (self.pieces(mark), self.pieces(mark.other()));
        let lines = DIRECTIONS.iter().flat_map(|&(step, starts)| {
            let line = 1 | 1 << step | 1 << (2 * step) | 1 << (3 * step) | 1u64 << (4 * step);
            let last = CELLS as u32 - 4 * step;
            (0..last).filter(move |start| starts >> start & 1 == 1).map(move |start| line << start)
        });
        lines.filter(|line| other & line == 0).map(|line| (own & line).count_ones()).max().unwrap_or(0)
    }
}

impl Serialize for Board {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.rows().serialize(serializer)
    }
}

/// Number of pieces in a column, given the occupied cells.
#[inline]
pub(super) const fn height(taken: u64, column: usize) -> usize {
    let free = !(taken >> (column * ROWS)) & ((1 << ROWS) - 1) | 1 << ROWS;
    free.trailing_zeros() as usize
}

/// Mask of the cells that start five pieces with this distance. Some lines may wrap around an edge.
#[inline]
const fn five_starts(pieces: u64, step: u32) -> u64 {
    let two = pieces & pieces >> step;
    two & two >> (2 * step) & pieces >> (4 * step)
}

/// Whether these pieces contain five in a line.
#[inline]
pub(super) const fn has_five(pieces: u64) -> bool {
    let column = five_starts(pieces, 1) & LOW_STARTS;
    let row = five_starts(pieces, 7);
    let rising = five_starts(pieces, 8) & LOW_STARTS;
    let falling = five_starts(pieces, 6) & HIGH_STARTS;
    column | row | rising | falling != 0
}
