//! The game with open eyes, solved: how many steps a catch takes when both always see each other and both
//! play perfectly. Found backwards from the catch, all hider cells of a seeker cell at once on bitboards.

use super::super::cells::{CELLS, Cell, CellSet};
use super::map_tables::MapTables;

/// Steps to the catch from every pair of cells.
pub struct Pursuit {
    odd: Vec<u8>,
    even: Vec<u8>,
    hider: Vec<u8>,
}

/// Hider cells from which the catch comes within the steps counted so far, for each seeker cell.
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
            // Without news twice in a row (a catch at odd and at even steps) there are none to come.
            if !news && steps > 2 {
                break;
            }
            won = WonCells { odd, even, hider };
        }
        pursuit
    }

    /// Steps to the catch after the seeker's move: then it moves again or the hider does.
    #[inline]
    pub fn seeker_moved(&self, odd_step: bool, seeker: Cell, hider: Cell) -> u8 {
        at(if odd_step { &self.even } else { &self.hider }, seeker, hider)
    }

    /// Steps to the catch after the hider's move.
    #[inline]
    pub fn hider_moved(&self, seeker: Cell, hider: Cell) -> u8 {
        at(&self.odd, seeker, hider)
    }
}

#[inline]
fn at(table: &[u8], seeker: Cell, hider: Cell) -> u8 {
    if seeker == hider { 0 } else { table[seeker.index() * CELLS + hider.index()] }
}

/// One step earlier with the seeker to move: some move leads to a hider cell already won, or onto the hider.
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

/// With the hider to move: no move leads to a cell that is not yet won.
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
    fn the_times_fit_each_other_on_every_pair_of_cells() {
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
                    "gains a cell every two steps"
                );
            }
        }
    }
}
