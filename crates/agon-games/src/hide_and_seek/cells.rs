//! Cells of the 20 x 20 map, steps, and sets of cells as bitboards.

use serde::ser::{Serialize, Serializer};

/// Width and height of the map.
pub const SIDE: usize = 20;
/// Number of cells.
pub const CELLS: usize = SIDE * SIDE;
/// Mask of all columns of a row.
const ROW: u32 = (1 << SIDE) - 1;

/// A cell `[x, y]` of the map: x grows to the right, y downwards. Always on the map.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Cell {
    x: u8,
    y: u8,
}

impl Cell {
    /// The cell, if it is on the map.
    #[inline]
    pub const fn new(x: i32, y: i32) -> Option<Self> {
        if 0 <= x && x < SIDE as i32 && 0 <= y && y < SIDE as i32 {
            Some(Self { x: x as u8, y: y as u8 })
        } else {
            None
        }
    }

    /// The column, 0 to 19.
    #[inline]
    pub const fn x(self) -> usize {
        self.x as usize
    }

    /// The row, 0 to 19.
    #[inline]
    pub const fn y(self) -> usize {
        self.y as usize
    }

    /// Index from 0 to 399, row by row.
    #[inline]
    pub const fn index(self) -> usize {
        self.y as usize * SIDE + self.x as usize
    }

    /// Cell of an index, modulo the number of cells.
    #[inline]
    pub const fn from_index(index: usize) -> Self {
        let index = index % CELLS;
        Self { x: (index % SIDE) as u8, y: (index / SIDE) as u8 }
    }

    /// All cells, row by row.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..CELLS).map(Self::from_index)
    }

    /// Number of steps between two cells without walls.
    #[inline]
    pub const fn manhattan(self, other: Self) -> usize {
        (self.x.abs_diff(other.x) + self.y.abs_diff(other.y)) as usize
    }

    /// The cell one step away in this direction, if it is on the map.
    #[inline]
    pub const fn step(self, direction: Direction) -> Option<Self> {
        let (dx, dy) = direction.offset();
        Self::new(self.x as i32 + dx, self.y as i32 + dy)
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        [self.x, self.y].serialize(serializer)
    }
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}, {}]", self.x, self.y)
    }
}

/// Step of a player.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// x - 1.
    Left,
    /// x + 1.
    Right,
    /// y - 1.
    Up,
    /// y + 1.
    Down,
    /// No step.
    Stay,
}

impl Direction {
    /// All five.
    pub const ALL: [Self; 5] = [Self::Left, Self::Right, Self::Up, Self::Down, Self::Stay];

    /// Change of x and y.
    #[inline]
    pub const fn offset(self) -> (i32, i32) {
        match self {
            Self::Left => (-1, 0),
            Self::Right => (1, 0),
            Self::Up => (0, -1),
            Self::Down => (0, 1),
            Self::Stay => (0, 0),
        }
    }

    /// `LEFT`, `RIGHT`, `UP`, `DOWN`, `STAY`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Left => "LEFT",
            Self::Right => "RIGHT",
            Self::Up => "UP",
            Self::Down => "DOWN",
            Self::Stay => "STAY",
        }
    }

    /// Direction from one cell to an adjacent one, if they are adjacent.
    pub fn between(from: Cell, to: Cell) -> Option<Self> {
        Self::ALL.into_iter().find(|&d| from.step(d) == Some(to))
    }
}

/// A set of cells, stored as one bit mask per row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CellSet {
    rows: [u32; SIDE],
}

impl CellSet {
    /// The empty set.
    pub const EMPTY: Self = Self { rows: [0; SIDE] };

    /// The set with only this cell.
    #[inline]
    pub const fn one(cell: Cell) -> Self {
        let mut set = Self::EMPTY;
        set.insert(cell);
        set
    }

    /// Masks of the rows: bit x of row y is the cell `[x, y]`.
    #[inline]
    pub const fn rows(&self) -> &[u32; SIDE] {
        &self.rows
    }

    /// Whether the set contains this cell.
    #[inline]
    pub const fn contains(&self, cell: Cell) -> bool {
        self.rows[cell.y()] >> cell.x & 1 == 1
    }

    /// Adds a cell.
    #[inline]
    pub const fn insert(&mut self, cell: Cell) {
        self.rows[cell.y()] |= 1 << cell.x;
    }

    /// Removes a cell.
    #[inline]
    pub const fn remove(&mut self, cell: Cell) {
        self.rows[cell.y()] &= !(1 << cell.x);
    }

    /// Number of cells in the set.
    #[inline]
    pub fn len(&self) -> usize {
        self.rows.iter().map(|row| row.count_ones() as usize).sum()
    }

    /// Whether the set is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(|&row| row == 0)
    }

    /// Cells of either set.
    #[inline]
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a | b)
    }

    /// Cells of both sets.
    #[inline]
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a & b)
    }

    /// Cells of this set that are not in the other.
    #[inline]
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a & !b)
    }

    /// Cells that are not in the set.
    #[inline]
    #[must_use]
    pub fn complement(&self) -> Self {
        Self { rows: self.rows.map(|row| !row & ROW) }
    }

    /// The set and all cells one step away, restricted to `open`.
    #[inline]
    #[must_use]
    pub fn grown(&self, open: &Self) -> Self {
        let mut grown = self.rows.map(|row| row | row << 1 | row >> 1);
        for y in 1..SIDE {
            grown[y] |= self.rows[y - 1];
            grown[y - 1] |= self.rows[y];
        }
        Self { rows: grown }.intersection(open)
    }

    /// Cells of `open` that can be reached from this set.
    #[must_use]
    pub fn flooded(&self, open: &Self) -> Self {
        let mut flood = self.intersection(open);
        loop {
            let next = flood.grown(open);
            if next == flood {
                return flood;
            }
            flood = next;
        }
    }

    /// Cells of the set, row by row.
    pub fn iter(&self) -> impl Iterator<Item = Cell> + use<> {
        self.rows.into_iter().enumerate().flat_map(|(y, row)| Bits(row).map(move |x| Cell { x, y: y as u8 }))
    }

    #[inline]
    fn combine(&self, other: &Self, f: impl Fn(u32, u32) -> u32) -> Self {
        let mut rows = self.rows;
        for (a, &b) in rows.iter_mut().zip(&other.rows) {
            *a = f(*a, b);
        }
        Self { rows }
    }
}

impl FromIterator<Cell> for CellSet {
    fn from_iter<I: IntoIterator<Item = Cell>>(cells: I) -> Self {
        let mut set = Self::EMPTY;
        for cell in cells {
            set.insert(cell);
        }
        set
    }
}

/// Set bits of a row, lowest first.
struct Bits(u32);

impl Iterator for Bits {
    type Item = u8;

    #[inline]
    fn next(&mut self) -> Option<u8> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as u8;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn up_decreases_y_and_left_decreases_x() {
        let cell = Cell::new(5, 5).unwrap();
        assert_eq!(cell.step(Direction::Up), Cell::new(5, 4));
        assert_eq!(cell.step(Direction::Left), Cell::new(4, 5));
        assert_eq!(Cell::new(0, 0).unwrap().step(Direction::Up), None);
        assert_eq!(Cell::new(19, 19).unwrap().step(Direction::Right), None);
    }

    #[test]
    fn grown_adds_neighbours_and_does_not_wrap_around_edges() {
        let open = CellSet::EMPTY.complement();
        for cell in Cell::all() {
            let near: CellSet = Direction::ALL.into_iter().filter_map(|d| cell.step(d)).collect();
            assert_eq!(CellSet::one(cell).grown(&open), near, "{cell}");
        }
        assert_eq!(open.len(), CELLS);
        assert_eq!(open.iter().count(), CELLS);
    }
}
