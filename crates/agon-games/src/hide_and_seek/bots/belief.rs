//! What a player believes about an enemy it does not see: how likely it is on each cell.

use std::cmp::Ordering;

use super::super::cells::{CELLS, Cell, CellSet};
use super::map_tables::MapTables;

/// How much rather than stay a seeker is thought to come a step nearer (rather than go away, the same again),
/// and how often it just walks about.
const APPROACH_WEIGHT: f32 = 20.0;
const RANDOM_STEP_SHARE: f32 = 0.1;

/// Probabilities by cell. Walls have none.
#[derive(Clone)]
pub struct SeekerBelief {
    probability: [f32; CELLS],
}

impl SeekerBelief {
    /// Certain.
    pub fn certain(cell: Cell) -> Self {
        let mut probability = [0.0; CELLS];
        probability[cell.index()] = 1.0;
        Self { probability }
    }

    /// Equally likely on all these cells.
    pub fn uniform(cells: &CellSet) -> Self {
        let mut probability = [0.0; CELLS];
        let each = 1.0 / cells.len().max(1) as f32;
        for cell in cells.iter() {
            probability[cell.index()] = each;
        }
        Self { probability }
    }

    /// The cells that are possible at all, each with its chance.
    pub fn iter(&self) -> impl Iterator<Item = (Cell, f32)> + '_ {
        let all = self.probability.iter().enumerate().filter(|(_, probability)| **probability > 0.0);
        all.map(|(index, &probability)| (Cell::from_index(index), probability))
    }

    /// All chances together, added in eight lanes at once.
    #[inline]
    pub fn total(&self) -> f32 {
        let mut lanes = [0.0; 8];
        for chunk in self.probability.chunks_exact(8) {
            for (lane, probability) in lanes.iter_mut().zip(chunk) {
                *lane += probability;
            }
        }
        lanes.iter().sum()
    }

    /// Takes all chance from this cell.
    #[inline]
    pub fn take(&mut self, cell: Cell) -> f32 {
        std::mem::take(&mut self.probability[cell.index()])
    }

    /// Takes all chance from these cells and gives back what is left.
    pub fn remove_cells(&mut self, cells: &CellSet) -> f32 {
        for cell in cells.iter() {
            self.take(cell);
        }
        self.total()
    }

    /// Everything so many times as likely.
    #[must_use]
    pub fn scaled(&self, factor: f32) -> Self {
        Self { probability: self.probability.map(|probability| probability * factor) }
    }

    /// The chances of both.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let mut total = self.clone();
        for (a, b) in total.probability.iter_mut().zip(&other.probability) {
            *a += b;
        }
        total
    }
}

/// A seeker's step, from each cell to its neighbours, when it more or less comes for one cell.
pub struct SeekerFlow {
    /// From, to, share.
    transitions: Vec<(u16, u16, f32)>,
}

impl SeekerFlow {
    /// Of seekers that come for this cell.
    pub fn towards(tables: &MapTables, goal: Cell) -> Self {
        let mut transitions = Vec::with_capacity(CELLS * 4);
        for &from in &tables.cells {
            let near = tables.near(from);
            let weight = |to: Cell| match tables.distance(to, goal).cmp(&tables.distance(from, goal)) {
                Ordering::Less => APPROACH_WEIGHT,
                Ordering::Equal => 1.0,
                Ordering::Greater => 1.0 / APPROACH_WEIGHT,
            };
            let total: f32 = near.iter().map(|&to| weight(to)).sum();
            for &to in near {
                let share =
                    (1.0 - RANDOM_STEP_SHARE) * weight(to) / total + RANDOM_STEP_SHARE / near.len() as f32;
                transitions.push((from.index() as u16, to.index() as u16, share));
            }
        }
        Self { transitions }
    }

    /// The seeker's two steps between two moves of the hider.
    pub fn two_steps(&self, belief: &SeekerBelief) -> SeekerBelief {
        self.step(&self.step(belief))
    }

    fn step(&self, belief: &SeekerBelief) -> SeekerBelief {
        let mut probability = [0.0; CELLS];
        for &(from, to, share) in &self.transitions {
            probability[usize::from(to)] += belief.probability[usize::from(from)] * share;
        }
        SeekerBelief { probability }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::map::Map;
    use super::*;

    #[test]
    fn a_belief_flows_and_loses_nothing() {
        let map = Map::generate(42);
        let tables = MapTables::new(&map);
        let goal = tables.cells[0];
        let flow = SeekerFlow::towards(&tables, goal);
        let mut belief = SeekerBelief::uniform(map.empty());
        for _ in 0..40 {
            belief = flow.two_steps(&belief);
        }
        assert!((belief.total() - 1.0).abs() < 1e-3);
        assert!(belief.iter().all(|(cell, _)| map.is_empty(cell)));
        assert!(belief.take(goal) > 0.3, "most have come to the goal");
    }
}
