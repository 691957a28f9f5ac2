//! Exact solution of the pursuit with full visibility: the number of steps to the catch if both players always see each other
//! and play optimally. Computed backwards from the catch, with bitboards for all hider cells of a seeker cell.

use super::super::cells::{CELLS, Cell, CellSet};
use super::map_tables::MapTables;

/// Number of steps to the catch for every pair of cells, by who moves next: the seeker in an odd step, the seeker in an even
/// step, or the hider.
pub struct Pursuit {
    odd: Vec<u8>,
    even: Vec<u8>,
    hider: Vec<u8>,
}

/// For each seeker cell, the hider cells that are caught within the steps counted so far.
struct WonCells {
    odd: Vec<CellSet>,
    even: Vec<CellSet>,
    hider: Vec<CellSet>,
}

impl Pursuit {
    /// Solves the pursuit on a map.
    pub fn solve(tables: &MapTables) -> Self {
        let none = || vec![CellSet::EMPTY; CELLS];
        let mut won = WonCells { odd: none(), even: none(), hider: none() };
        let far = || vec![u8::MAX; CELLS * CELLS];
        let mut pursuit = Self { odd: far(), even: far(), hider: far() };
        for steps in 1..u8::MAX {
            let odd = seeker_moves(tables, &won.even);
            let even = seeker_moves(tables, &won.hider);
            let hider = hider_moves(tables, &odd);
            let news = record_new_wins(&mut pursuit.odd, &won.odd, &odd, steps)
                | record_new_wins(&mut pursuit.even, &won.even, &even, steps)
                | record_new_wins(&mut pursuit.hider, &won.hider, &hider, steps);
            // If two consecutive steps (odd and even) add no new cells, the solution is complete.
            if !news && steps > 2 {
                break;
            }
            won = WonCells { odd, even, hider };
        }
        pursuit
    }

    /// Number of steps to the catch after the seeker's move. After an odd step the seeker moves again, else the hider.
    #[inline]
    pub fn seeker_moved(&self, odd_step: bool, seeker: Cell, hider: Cell) -> u8 {
        at(if odd_step { &self.even } else { &self.hider }, seeker, hider)
    }

    /// Number of steps to the catch after the hider's move.
    #[inline]
    pub fn hider_moved(&self, seeker: Cell, hider: Cell) -> u8 {
        at(&self.odd, seeker, hider)
    }
}

#[inline]
fn at(table: &[u8], seeker: Cell, hider: Cell) -> u8 {
    if seeker == hider { 0 } else { table[seeker.index() * CELLS + hider.index()] }
}

/// Cells that are won one step earlier with the seeker to move: some move leads to a won cell, or onto the hider.
fn seeker_moves(tables: &MapTables, then: &[CellSet]) -> Vec<CellSet> {
    let mut won = vec![CellSet::EMPTY; CELLS];
    for &seeker in &tables.cells {
        let mut set = CellSet::EMPTY;
        for &to in tables.near(seeker) {
            set = set.union(&then[to.index()]);
            set.insert(to);
        }
        set.remove(seeker);
        won[seeker.index()] = set;
    }
    won
}

/// Cells that are won with the hider to move: every move leads to a won cell.
fn hider_moves(tables: &MapTables, then: &[CellSet]) -> Vec<CellSet> {
    let empty = tables.map.empty();
    let mut won = vec![CellSet::EMPTY; CELLS];
    for &seeker in &tables.cells {
        let mut safe = empty.minus(&then[seeker.index()]);
        safe.remove(seeker);
        let mut set = empty.minus(&safe.grown(empty));
        set.remove(seeker);
        won[seeker.index()] = set;
    }
    won
}

fn record_new_wins(table: &mut [u8], before: &[CellSet], now: &[CellSet], steps: u8) -> bool {
    let mut news = false;
    for (seeker, (before, now)) in before.iter().zip(now).enumerate() {
        for hider in now.minus(before).iter() {
            table[seeker * CELLS + hider.index()] = steps;
            news = true;
        }
    }
    news
}

#[cfg(test)]
mod tests {
    use super::super::super::map::Map;
    use super::*;

    #[test]
    fn solved_step_counts_are_consistent_for_every_pair_of_cells() {
        let tables = MapTables::new(&Map::generate(42));
        let pursuit = Pursuit::solve(&tables);
        for &s in &tables.cells {
            for &h in tables.cells.iter().filter(|&&h| h != s) {
                let best =
                    |odd| tables.near(s).iter().map(|&to| pursuit.seeker_moved(odd, to, h)).min().unwrap();
                assert_eq!(pursuit.hider_moved(s, h), best(true) + 1, "{s} {h}");
                assert_eq!(pursuit.seeker_moved(true, s, h), best(false) + 1, "{s} {h}");
                let longest = tables.near(h).iter().map(|&to| pursuit.hider_moved(s, to)).max().unwrap();
                assert_eq!(pursuit.seeker_moved(false, s, h), longest, "{s} {h}");
                assert!(
                    pursuit.hider_moved(s, h) < 2 * tables.distance(s, h).max(1),
                    "the seeker gains a cell every two steps"
                );
            }
        }
    }
}
