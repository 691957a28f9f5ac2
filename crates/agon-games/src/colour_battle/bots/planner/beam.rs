//! Beam search for the best plan of the next moves.

use std::ops::Range;

use agon_core::FastRng;

use super::super::super::{Move, Observation, Position};
use super::maps::{NEVER, SUPPLY_DECAY, TileMaps, WIPE_SHARE};
use super::{rivals, rounds_left};

/// Number of moves of a plan, and number of plans kept for each length.
const PLAN_MOVES: usize = 8;
const BEAM_WIDTH: usize = 12;

/// Discount factor of a gain for each move until it is made.
const DISCOUNT: f32 = 0.97;

/// Weight of the paintable tiles around the end of a plan.
const SUPPLY_WEIGHT: f32 = 0.05;

/// Size of the random bonus of each first move.
const NOISE: f32 = 0.1;

/// The same if another bot stands on the same tile, because it may have the same plan.
const NOISE_ON_SHARED_TILE: f32 = 1.0;

/// Share of the clashes expected in the next round that is assumed for the round after it.
const SECOND_ROUND_CLASH_WEIGHT: f32 = 0.3;

/// A move of a plan.
#[derive(Clone, Copy)]
struct PlanNode {
    /// Position after the move.
    at: Position,
    cell: u16,
    /// Index of the previous node; the start refers to itself.
    before: u16,
    /// First move of the plan.
    first: Move,
    /// Gain of the plan so far.
    gained: f32,
    /// Hash of the set of changed tiles: the same tiles in another order are the same plan.
    changed: u64,
}

/// Plans of a search. Kept between searches to reuse the memory.
#[derive(Default)]
pub(super) struct Beam {
    nodes: Vec<PlanNode>,
    candidates: Vec<(f32, PlanNode)>,
}

/// Inputs of the beam search.
struct BeamContext<'a> {
    seen: &'a Observation<'a>,
    maps: &'a TileMaps,
    /// Random bonus of each first move.
    noise: [f32; 5],
}

impl Beam {
    /// Returns the first move of the best plan.
    pub(super) fn search(&mut self, seen: &Observation<'_>, maps: &TileMaps, rng: &mut FastRng) -> Move {
        let crowded = rivals(seen).any(|(_, position)| position == seen.position);
        let noise_size = if crowded { NOISE_ON_SHARED_TILE } else { NOISE };
        let context = BeamContext { seen, maps, noise: Move::ALL.map(|_| noise_size * rng.unit() as f32) };
        self.nodes.clear();
        self.nodes.push(PlanNode {
            at: seen.position,
            cell: seen.position.cell(seen.grid.side()) as u16,
            before: 0,
            first: Move::Stay,
            gained: 0.0,
            changed: 0,
        });
        let mut ends = 0..1;
        let mut discount = 1.0;
        for depth in 0..PLAN_MOVES.min(rounds_left(seen) as usize) {
            self.candidates.clear();
            for end in ends {
                for step in Move::ALL {
                    self.extend(end, step, depth, discount, &context);
                }
            }
            ends = self.keep_best();
            discount *= DISCOUNT;
        }
        ends.map(|end| (self.plan_value(end, discount, maps), self.nodes[end].first))
            .max_by(|(a, _), (b, _)| a.total_cmp(b))
            .map_or(Move::Stay, |(_, first)| first)
    }

    /// Adds a plan that is one move longer to the candidates.
    fn extend(&mut self, end: usize, step: Move, depth: usize, discount: f32, context: &BeamContext<'_>) {
        let BeamContext { seen, maps, noise } = context;
        let node = self.nodes[end];
        let at = node.at.after(step, seen.grid.side());
        if at == node.at && step != Move::Stay {
            return;
        }
        let cell = at.cell(seen.grid.side());
        let visit = 1 + self.path(end).filter(|n| usize::from(n.cell) == cell).count() as u8;
        let (value, needed) = (maps.value[cell], maps.visits[cell]);
        let mut next = PlanNode { at, cell: cell as u16, before: end as u16, ..node };
        if visit <= needed && needed != NEVER {
            next.changed ^= mix(cell as u64 * 2 + u64::from(visit - 1));
        }
        let mut gain = if visit == needed { value * discount } else { 0.0 };
        if depth == 0 {
            let clash = maps.clash[cell].min(1.0);
            let lost = if seen.grid.at(at) == seen.id { clash * value } else { 0.0 };
            gain = gain * (1.0 - clash) - lost + noise[step as usize];
            next.first = step;
        } else if depth == 1 {
            gain *= 1.0 - (maps.clash[cell] * SECOND_ROUND_CLASH_WEIGHT).min(1.0);
        }
        next.gained += gain;
        self.candidates.push((next.gained + SUPPLY_WEIGHT * maps.supply[cell] * discount, next));
    }

    /// Moves the best candidates to the nodes, without duplicates.
    fn keep_best(&mut self) -> Range<usize> {
        self.candidates.sort_unstable_by(|(a, _), (b, _)| b.total_cmp(a));
        let from = self.nodes.len();
        for (_, node) in &self.candidates {
            let same = |other: &PlanNode| other.cell == node.cell && other.changed == node.changed;
            if !self.nodes[from..].iter().any(same) {
                self.nodes.push(*node);
            }
            if self.nodes.len() == from + BEAM_WIDTH {
                break;
            }
        }
        from..self.nodes.len()
    }

    /// Moves of a plan from last to first, without the start.
    fn path(&self, end: usize) -> impl Iterator<Item = &PlanNode> {
        let mut index = end;
        std::iter::from_fn(move || {
            let node = &self.nodes[index];
            index = (index != 0).then(|| usize::from(node.before))?;
            Some(node)
        })
    }

    /// Value of a whole plan: its gains, and what is left to paint around its end.
    fn plan_value(&self, end: usize, discount: f32, maps: &TileMaps) -> f32 {
        let last = self.nodes[end];
        let mut supply = maps.supply[usize::from(last.cell)];
        for node in self.path(end) {
            let cell = usize::from(node.cell);
            let share = match maps.visits[cell] {
                NEVER => continue,
                1 => 1.0,
                _ => WIPE_SHARE,
            };
            let decay = (0..last.at.distance(node.at)).fold(1.0, |d, _| d * SUPPLY_DECAY);
            supply -= share * maps.value[cell] * decay;
        }
        last.gained + SUPPLY_WEIGHT * supply.max(0.0) * discount
    }
}

/// Hash of a small number.
const fn mix(n: u64) -> u64 {
    let z = (n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (z ^ (z >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}
