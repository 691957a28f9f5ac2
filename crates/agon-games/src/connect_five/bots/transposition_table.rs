//! Transposition table of the search.

use super::position::Position;

/// Number of entries.
const TABLE_SIZE: usize = 1 << 16;

/// Kind of a stored value.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Bound {
    #[default]
    Nothing,
    Exact,
    AtLeast,
    AtMost,
}

/// Stored result of a position.
#[derive(Clone, Copy, Default)]
pub(super) struct TableEntry {
    key: u64,
    value: i16,
    depth: i8,
    /// Best column.
    pub(super) best: u8,
    bound: Bound,
}

impl TableEntry {
    pub(super) const fn new(value: i32, depth: i32, best: usize, bound: Bound) -> Self {
        Self { key: 0, value: value as i16, depth: depth as i8, best: best as u8, bound }
    }

    /// The value, if it is deep enough and decides a search with these bounds.
    #[inline]
    pub(super) fn decides(&self, depth: i32, alpha: i32, beta: i32) -> Option<i32> {
        let value = i32::from(self.value);
        let settles = match self.bound {
            Bound::Nothing => false,
            Bound::Exact => true,
            Bound::AtLeast => value >= beta,
            Bound::AtMost => value <= alpha,
        };
        (settles && i32::from(self.depth) >= depth).then_some(value)
    }
}

/// A table in which newer entries replace older ones.
pub(super) struct TranspositionTable(Vec<TableEntry>);

impl TranspositionTable {
    pub(super) fn new() -> Self {
        Self(vec![TableEntry::default(); TABLE_SIZE])
    }

    pub(super) fn clear(&mut self) {
        self.0.fill(TableEntry::default());
    }

    #[inline]
    pub(super) fn get(&self, position: Position) -> Option<TableEntry> {
        let key = key(position);
        let entry = self.0[slot(key)];
        (entry.key == key && entry.bound != Bound::Nothing).then_some(entry)
    }

    #[inline]
    pub(super) fn put(&mut self, position: Position, entry: TableEntry) {
        let key = key(position);
        self.0[slot(key)] = TableEntry { key, ..entry };
    }
}

#[inline]
const fn slot(key: u64) -> usize {
    (key >> 40) as usize & (TABLE_SIZE - 1)
}

/// Hash of a position.
#[inline]
const fn key(position: Position) -> u64 {
    let mixed = position.own.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ position.other.rotate_left(31);
    let mixed = (mixed ^ mixed >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    mixed ^ mixed >> 29
}
