//! Distances and fields of view of a map, computed once.

use std::collections::VecDeque;

use super::super::cells::{CELLS, Cell, CellSet};
use super::super::map::Map;
use super::super::vision::field_of_view;

/// A map with its distances and fields of view.
pub struct MapTables {
    /// The map.
    pub map: Map,
    /// Empty cells, row by row.
    pub cells: Vec<Cell>,
    distances: Vec<u8>,
    views: Vec<CellSet>,
    near: Vec<Vec<Cell>>,
}

impl MapTables {
    /// Computes the tables of a map.
    pub fn new(map: &Map) -> Self {
        let cells: Vec<Cell> = map.empty().iter().collect();
        let mut distances = vec![u8::MAX; CELLS * CELLS];
        let mut views = vec![CellSet::EMPTY; CELLS];
        for &from in &cells {
            views[from.index()] = field_of_view(map, from);
            let row = &mut distances[from.index() * CELLS..][..CELLS];
            let mut reached = CellSet::EMPTY;
            let mut ring = CellSet::one(from);
            let mut distance = 0;
            while !ring.is_empty() {
                for cell in ring.iter() {
                    row[cell.index()] = distance;
                }
                reached = reached.union(&ring);
                ring = ring.grown(map.empty()).minus(&reached);
                distance = distance.saturating_add(1);
            }
        }
        let near = Cell::all().map(|cell| map.steps(cell).collect()).collect();
        Self { map: *map, cells, distances, views, near }
    }

    /// Number of steps from one cell to another around the walls.
    #[inline]
    pub fn distance(&self, from: Cell, to: Cell) -> u8 {
        self.distances[from.index() * CELLS + to.index()]
    }

    /// Cells that are visible from this one.
    #[inline]
    pub fn view(&self, from: Cell) -> &CellSet {
        &self.views[from.index()]
    }

    /// Cells that can be reached with one move, including staying.
    #[inline]
    pub fn near(&self, from: Cell) -> &[Cell] {
        &self.near[from.index()]
    }

    /// Tree of shortest paths from a cell: for each cell, the cells first reached through it.
    pub fn ways_from(&self, from: Cell) -> Vec<Vec<Cell>> {
        let mut ways = vec![Vec::new(); CELLS];
        let mut reached = CellSet::one(from);
        let mut queue = VecDeque::from([from]);
        while let Some(cell) = queue.pop_front() {
            for &to in self.near(cell) {
                if !reached.contains(to) {
                    reached.insert(to);
                    ways[cell.index()].push(to);
                    queue.push_back(to);
                }
            }
        }
        ways
    }
}

/// A value that is computed at the first use of a map.
pub struct PerMap<T>(Option<(Map, T)>);

impl<T> Default for PerMap<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> PerMap<T> {
    /// The value for this map, computed if necessary.
    pub fn get(&mut self, map: &Map, make: impl FnOnce(&Map) -> T) -> &T {
        if self.0.as_ref().is_none_or(|(known, _)| known != map) {
            self.0 = None;
        }
        &self.0.get_or_insert_with(|| (*map, make(map))).1
    }
}
