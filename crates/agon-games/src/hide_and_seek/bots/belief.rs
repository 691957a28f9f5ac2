//! What a player believes about an enemy it does not see: how likely it is on each cell.

use std::cmp::Ordering;

use super::super::cells::{CELLS, Cell, CellSet};
use super::chart::Chart;

/// How much rather than stay a seeker is thought to come a step nearer (rather than go away, the same again),
/// and how often it just walks about.
const HOMING: f32 = 20.0;
const ASTRAY: f32 = 0.1;

/// Probabilities by cell. Walls have none.
#[derive(Clone)]
pub struct Belief {
    chance: [f32; CELLS],
}

impl Belief {
    /// Certain.
    pub fn at(cell: Cell) -> Self {
        let mut chance = [0.0; CELLS];
        chance[cell.index()] = 1.0;
        Self { chance }
    }

    /// Equally likely on all these cells.
    pub fn over(cells: &CellSet) -> Self {
        let mut chance = [0.0; CELLS];
        let each = 1.0 / cells.len().max(1) as f32;
        for cell in cells.iter() {
            chance[cell.index()] = each;
        }
        Self { chance }
    }

    /// The cells that are possible at all, each with its chance.
    pub fn iter(&self) -> impl Iterator<Item = (Cell, f32)> + '_ {
        let all = self.chance.iter().enumerate().filter(|(_, chance)| **chance > 0.0);
        all.map(|(index, &chance)| (Cell::from_index(index), chance))
    }

    /// All chances together, added in eight lanes at once.
    #[inline]
    pub fn total(&self) -> f32 {
        let mut lanes = [0.0; 8];
        for chunk in self.chance.chunks_exact(8) {
            for (lane, chance) in lanes.iter_mut().zip(chunk) {
                *lane += chance;
            }
        }
        lanes.iter().sum()
    }

    /// Takes all chance from this cell.
    #[inline]
    pub fn take(&mut self, cell: Cell) -> f32 {
        std::mem::take(&mut self.chance[cell.index()])
    }

    /// Takes all chance from these cells and gives back what is left.
    pub fn cut(&mut self, cells: &CellSet) -> f32 {
        for cell in cells.iter() {
            self.take(cell);
        }
        self.total()
    }

    /// Everything so many times as likely.
    #[must_use]
    pub fn scaled(&self, factor: f32) -> Self {
        Self { chance: self.chance.map(|chance| chance * factor) }
    }

    /// The chances of both.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let mut total = self.clone();
        for (a, b) in total.chance.iter_mut().zip(&other.chance) {
            *a += b;
        }
        total
    }
}

/// A seeker's step, from each cell to its neighbours, when it more or less comes for one cell.
pub struct Flow {
    /// From, to, share.
    ways: Vec<(u16, u16, f32)>,
}

impl Flow {
    /// Of seekers that come for this cell.
    pub fn towards(chart: &Chart, goal: Cell) -> Self {
        let mut ways = Vec::with_capacity(CELLS * 4);
        for &from in &chart.cells {
            let near = chart.near(from);
            let weight = |to: Cell| match chart.distance(to, goal).cmp(&chart.distance(from, goal)) {
                Ordering::Less => HOMING,
                Ordering::Equal => 1.0,
                Ordering::Greater => 1.0 / HOMING,
            };
            let total: f32 = near.iter().map(|&to| weight(to)).sum();
            for &to in near {
                let share = (1.0 - ASTRAY) * weight(to) / total + ASTRAY / near.len() as f32;
                ways.push((from.index() as u16, to.index() as u16, share));
            }
        }
        Self { ways }
    }

    /// The seeker's two steps between two moves of the hider.
    pub fn two_steps(&self, belief: &Belief) -> Belief {
        self.step(&self.step(belief))
    }

    fn step(&self, belief: &Belief) -> Belief {
        let mut chance = [0.0; CELLS];
        for &(from, to, share) in &self.ways {
            chance[usize::from(to)] += belief.chance[usize::from(from)] * share;
        }
        Belief { chance }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::map::Map;
    use super::*;

    #[test]
    fn a_belief_flows_and_loses_nothing() {
        let map = Map::generate(42);
        let chart = Chart::new(&map);
        let goal = chart.cells[0];
        let flow = Flow::towards(&chart, goal);
        let mut belief = Belief::over(map.empty());
        for _ in 0..40 {
            belief = flow.two_steps(&belief);
        }
        assert!((belief.total() - 1.0).abs() < 1e-3);
        assert!(belief.iter().all(|(cell, _)| map.is_empty(cell)));
        assert!(belief.take(goal) > 0.3, "most have come to the goal");
    }
}
