//! Probability distribution over the cells of an invisible seeker.

use std::cmp::Ordering;

use super::super::cells::{CELLS, Cell, CellSet};
use super::map_tables::MapTables;

/// Weight of a step towards the goal relative to staying (and of staying relative to a step away), and share of
/// random steps.
const APPROACH_WEIGHT: f32 = 20.0;
const RANDOM_STEP_SHARE: f32 = 0.1;

/// Probability of each cell; 0 for walls.
#[derive(Clone)]
pub struct SeekerBelief {
    probability: [f32; CELLS],
}

impl SeekerBelief {
    /// The seeker is certainly on this cell.
    pub fn certain(cell: Cell) -> Self {
        let mut probability = [0.0; CELLS];
        probability[cell.index()] = 1.0;
        Self { probability }
    }

    /// All these cells have the same probability.
    pub fn uniform(cells: &CellSet) -> Self {
        let mut probability = [0.0; CELLS];
        let each = 1.0 / cells.len().max(1) as f32;
        for cell in cells.iter() {
            probability[cell.index()] = each;
        }
        Self { probability }
    }

    /// Cells with a positive probability.
    pub fn iter(&self) -> impl Iterator<Item = (Cell, f32)> + '_ {
        let all = self.probability.iter().enumerate().filter(|(_, probability)| **probability > 0.0);
        all.map(|(index, &probability)| (Cell::from_index(index), probability))
    }

    /// Sum of the probabilities, added in eight parallel lanes.
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

    /// Sets a cell's probability to 0 and returns the old value.
    #[inline]
    pub fn take(&mut self, cell: Cell) -> f32 {
        std::mem::take(&mut self.probability[cell.index()])
    }

    /// Sets the probability of these cells to 0 and returns the remaining sum.
    pub fn remove_cells(&mut self, cells: &CellSet) -> f32 {
        for cell in cells.iter() {
            self.take(cell);
        }
        self.total()
    }

    /// All probabilities multiplied by a factor.
    #[must_use]
    pub fn scaled(&self, factor: f32) -> Self {
        Self { probability: self.probability.map(|probability| probability * factor) }
    }

    /// Sum of two distributions.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let mut total = self.clone();
        for (a, b) in total.probability.iter_mut().zip(&other.probability) {
            *a += b;
        }
        total
    }
}

/// Transition probabilities of a seeker that approximately heads for one cell.
pub struct SeekerFlow {
    /// From cell, to cell, probability.
    transitions: Vec<(u16, u16, f32)>,
}

impl SeekerFlow {
    /// Transitions of a seeker that heads for this cell.
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

    /// Distribution after the two steps that a seeker makes between two moves of the hider.
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
    fn flow_towards_a_goal_keeps_the_total_probability() {
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
        assert!(belief.take(goal) > 0.3, "the probability does not concentrate at the goal");
    }
}
