//! The search for a plan: the best ways to spend the next moves, a few of each length at a time.

use std::ops::Range;

use agon_core::QuickRng;

use super::super::super::{Move, Position, Seen};
use super::maps::{Maps, NEVER, SUPPLY_DECAY, WIPE_SHARE};
use super::{rivals, rounds_left};

/// How many moves a plan has, and how many plans are kept at each length.
const DEPTH: usize = 8;
const WIDTH: usize = 12;

/// What a gain keeps of its value with each move that it is away.
const PATIENCE: f32 = 0.97;

/// How much the tiles around the end of a plan count.
const PULL: f32 = 0.05;

/// How much chance has a say in the first move.
const CHANCE: f32 = 0.1;

/// The same when another bot stands on the same tile: it may be thinking the very same.
const CHANCE_IN_A_CROWD: f32 = 1.0;

/// How much of the clashes expected after this round still counts after the next.
const LATER_CLASH: f32 = 0.3;

/// A move in the middle of a plan.
#[derive(Clone, Copy)]
struct Node {
    /// Where it leads.
    at: Position,
    cell: u16,
    /// The node before it; itself for the start.
    before: u16,
    /// The move the plan begins with.
    first: Move,
    /// What the plan has gained so far.
    gained: f32,
    /// Names the set of tiles it has changed: the same tiles in another order are the same plan.
    changed: u64,
}

/// The plans under consideration. Kept between searches for its memory alone.
#[derive(Default)]
pub(super) struct Beam {
    nodes: Vec<Node>,
    candidates: Vec<(f32, Node)>,
}

/// What a search goes by.
struct Outlook<'a> {
    seen: &'a Seen<'a>,
    maps: &'a Maps,
    /// A little chance for each first move.
    chance: [f32; 5],
}

impl Beam {
    /// The first move of the best plan.
    pub(super) fn search(&mut self, seen: &Seen<'_>, maps: &Maps, rng: &mut QuickRng) -> Move {
        let crowded = rivals(seen).any(|(_, position)| position == seen.position);
        let say = if crowded { CHANCE_IN_A_CROWD } else { CHANCE };
        let outlook = Outlook { seen, maps, chance: Move::ALL.map(|_| say * rng.unit() as f32) };
        self.nodes.clear();
        self.nodes.push(Node {
            at: seen.position,
            cell: seen.position.cell(seen.grid.side()) as u16,
            before: 0,
            first: Move::Stay,
            gained: 0.0,
            changed: 0,
        });
        let mut ends = 0..1;
        let mut discount = 1.0;
        for depth in 0..DEPTH.min(rounds_left(seen) as usize) {
            self.candidates.clear();
            for end in ends {
                for step in Move::ALL {
                    self.extend(end, step, depth, discount, &outlook);
                }
            }
            ends = self.keep_best();
            discount *= PATIENCE;
        }
        ends.map(|end| (self.worth(end, discount, maps), self.nodes[end].first))
            .max_by(|(a, _), (b, _)| a.total_cmp(b))
            .map_or(Move::Stay, |(_, first)| first)
    }

    /// Adds a plan that is one move longer to the candidates.
    fn extend(&mut self, end: usize, step: Move, depth: usize, discount: f32, outlook: &Outlook<'_>) {
        let Outlook { seen, maps, chance } = outlook;
        let node = self.nodes[end];
        let at = node.at.after(step, seen.grid.side());
        if at == node.at && step != Move::Stay {
            return;
        }
        let cell = at.cell(seen.grid.side());
        let visit = 1 + self.path(end).filter(|n| usize::from(n.cell) == cell).count() as u8;
        let (value, needed) = (maps.value[cell], maps.visits[cell]);
        let mut next = Node { at, cell: cell as u16, before: end as u16, ..node };
        if visit <= needed && needed != NEVER {
            next.changed ^= mix(cell as u64 * 2 + u64::from(visit - 1));
        }
        let mut gain = if visit == needed { value * discount } else { 0.0 };
        if depth == 0 {
            let clash = maps.clash[cell].min(1.0);
            let lost = if seen.grid.at(at) == seen.id { clash * value } else { 0.0 };
            gain = gain * (1.0 - clash) - lost + chance[step as usize];
            next.first = step;
        } else if depth == 1 {
            gain *= 1.0 - (maps.clash[cell] * LATER_CLASH).min(1.0);
        }
        next.gained += gain;
        self.candidates.push((next.gained + PULL * maps.supply[cell] * discount, next));
    }

    /// Moves the best candidates, each of them once, to the nodes.
    fn keep_best(&mut self) -> Range<usize> {
        self.candidates.sort_unstable_by(|(a, _), (b, _)| b.total_cmp(a));
        let from = self.nodes.len();
        for (_, node) in &self.candidates {
            let same = |other: &Node| other.cell == node.cell && other.changed == node.changed;
            if !self.nodes[from..].iter().any(same) {
                self.nodes.push(*node);
            }
            if self.nodes.len() == from + WIDTH {
                break;
            }
        }
        from..self.nodes.len()
    }

    /// The moves of a plan, last first, without the start.
    fn path(&self, end: usize) -> impl Iterator<Item = &Node> {
        let mut index = end;
        std::iter::from_fn(move || {
            let node = &self.nodes[index];
            index = (index != 0).then(|| usize::from(node.before))?;
            Some(node)
        })
    }

    /// What a whole plan is worth: its gains, and what it leaves to paint around its end.
    fn worth(&self, end: usize, discount: f32, maps: &Maps) -> f32 {
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
        last.gained + PULL * supply.max(0.0) * discount
    }
}

/// Scatters small numbers over all bits.
const fn mix(n: u64) -> u64 {
    let z = (n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (z ^ (z >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}
