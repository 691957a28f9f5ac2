//! Monte Carlo tree search that ignores drift.

use agon_core::{Bot, FastRng};

use super::position::{MIDDLE_FIRST, OpenLines, Position, cells, column_of};
use crate::connect_five::board::COLUMNS;
use crate::connect_five::{Column, ConnectFive, Observation};

/// Exploration constant: weight of rarely tried moves.
const EXPLORATION: f32 = 0.9;

/// A position in the tree, reached by a move.
#[derive(Clone, Copy)]
struct Node {
    visits: u32,
    /// Points of the player that moved into this node: 2 for a win, 1 for a draw.
    points: u32,
    /// Index of the first child and number of children; they are stored consecutively.
    children: (u32, u8),
    cell: u64,
}

/// Monte Carlo tree search.
pub(super) struct Mcts {
    playouts: u32,
    rng: FastRng,
    tree: Vec<Node>,
}

impl Mcts {
    pub(super) const fn new(playouts: u32) -> Self {
        Self { playouts, rng: FastRng::new(0), tree: Vec::new() }
    }

    /// Selects the child to explore next.
    fn select_child(&self, node: Node) -> usize {
        let from = node.children.0 as usize;
        let exploration = EXPLORATION * (node.visits as f32).sqrt();
        let mut best = (f32::MIN, from);
        for (i, child) in self.tree[from..from + usize::from(node.children.1)].iter().enumerate() {
            let seen = child.visits as f32;
            let mean = if child.visits == 0 { 0.6 } else { child.points as f32 / (2.0 * seen) };
            let score = mean + exploration / (COLUMNS as f32 * (1.0 + seen));
            if score > best.0 {
                best = (score, from + i);
            }
        }
        best.1
    }

    /// Adds the moves of a position to the tree: only the winning ones, or only the blocking ones, if there are any.
    fn expand(&mut self, at: usize, position: Position) {
        let open = position.open();
        let wins = OpenLines::of(position.own, position.other).fifth & open;
        let dangers = OpenLines::of(position.other, position.own).fifth & open;
        let moves = [wins, dangers, open].into_iter().find(|&set| set != 0).unwrap_or(0);
        self.tree[at].children = (self.tree.len() as u32, moves.count_ones() as u8);
        for column in MIDDLE_FIRST {
            let cell = moves & position.open_in(column);
            if cell != 0 {
                self.tree.push(Node { visits: 0, points: 0, children: (0, 0), cell });
            }
        }
    }

    /// Plays randomly to the end; both sides win if they can and block if they must. Returns 2 if the player to move wins, 1 for
    /// a draw.
    fn random_playout(&mut self, mut position: Position) -> u32 {
        let mut mine = true;
        loop {
            let open = position.open();
            if open == 0 {
                return 1;
            }
            if OpenLines::of(position.own, position.other).fifth & open != 0 {
                return if mine { 2 } else { 0 };
            }
            let dangers = OpenLines::of(position.other, position.own).fifth & open;
            if dangers & dangers.wrapping_sub(1) != 0 {
                return if mine { 0 } else { 2 };
            }
            let cell = if dangers == 0 { self.random_open_cell(position) } else { dangers };
            position = position.after(cell);
            mine = !mine;
        }
    }

    /// A random open cell. The position must have one.
    fn random_open_cell(&mut self, position: Position) -> u64 {
        loop {
            let cell = position.open_in(self.rng.below(COLUMNS as u32) as usize);
            if cell != 0 {
                return cell;
            }
        }
    }

    /// Runs one iteration: selection, expansion, random playout, and backpropagation of the result.
    fn run_playout(&mut self, root: Position) {
        let (mut path, mut length) = ([0; 64], 1);
        let (mut position, mut at) = (root, 0);
        while self.tree[at].children.1 > 0 {
            at = self.select_child(self.tree[at]);
            position = position.after(self.tree[at].cell);
            path[length & 63] = at;
            length += 1;
        }
        let mut for_mover = if position.is_lost() {
            0
        } else {
            if self.tree[at].visits > 0 || at == 0 {
                self.expand(at, position);
            }
            self.random_playout(position)
        };
        for &at in path[..length.min(64)].iter().rev() {
            let node = &mut self.tree[at];
            node.visits += 1;
            node.points += 2 - for_mover;
            for_mover = 2 - for_mover;
        }
    }
}

impl Bot<ConnectFive> for Mcts {
    fn begin(&mut self, seed: u64) {
        self.rng = FastRng::new(seed);
    }

    fn answer(&mut self, seen: &Observation) -> Column {
        let root = Position::from_observation(seen);
        self.tree.clear();
        self.tree.push(Node { visits: 0, points: 0, children: (0, 0), cell: 0 });
        for _ in 0..self.playouts {
            self.run_playout(root);
        }
        let (from, count) = self.tree[0].children;
        let children = &self.tree[from as usize..from as usize + usize::from(count)];
        let best = children.iter().max_by_key(|child| child.visits);
        let cell = best.map(|child| child.cell).or_else(|| cells(root.open()).next());
        Column(cell.map_or(0, column_of) as i64)
    }
}
