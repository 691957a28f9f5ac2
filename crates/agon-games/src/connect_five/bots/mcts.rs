//! Monte Carlo tree search: plays thousands of games in its head, more of them where they go well. It takes every column
//! for an ordinary one.

use agon_core::{Bot, QuickRng};

use super::position::{Lines, MIDDLE_FIRST, Position, cells, column_of};
use crate::connect_five::board::COLUMNS;
use crate::connect_five::{Column, ConnectFive, Seen};

/// How much a rarely tried move is given the benefit of the doubt.
const DOUBT: f32 = 0.9;

/// A position in the tree, reached by a move.
#[derive(Clone, Copy)]
struct Node {
    visits: u32,
    /// Points for who moved into this node: 2 for a win, 1 for a draw.
    points: u32,
    /// Its children stand together in the tree: where, how many.
    children: (u32, u8),
    cell: u64,
}

/// Plays games in its head.
pub(super) struct Mcts {
    playouts: u32,
    rng: QuickRng,
    tree: Vec<Node>,
}

impl Mcts {
    pub(super) const fn new(playouts: u32) -> Self {
        Self { playouts, rng: QuickRng::new(0), tree: Vec::new() }
    }

    /// The child to look at next.
    fn choose(&self, node: Node) -> usize {
        let from = node.children.0 as usize;
        let doubt = DOUBT * (node.visits as f32).sqrt();
        let mut best = (f32::MIN, from);
        for (i, child) in self.tree[from..from + usize::from(node.children.1)].iter().enumerate() {
            let seen = child.visits as f32;
            let mean = if child.visits == 0 { 0.6 } else { child.points as f32 / (2.0 * seen) };
            let score = mean + doubt / (COLUMNS as f32 * (1.0 + seen));
            if score > best.0 {
                best = (score, from + i);
            }
        }
        best.1
    }

    /// Adds the moves of a position to the tree: just the winning one, or just the blocking ones, if there are any.
    fn expand(&mut self, at: usize, position: Position) {
        let open = position.open();
        let wins = Lines::of(position.own, position.other).fifth & open;
        let dangers = Lines::of(position.other, position.own).fifth & open;
        let moves = [wins, dangers, open].into_iter().find(|&set| set != 0).unwrap_or(0);
        self.tree[at].children = (self.tree.len() as u32, moves.count_ones() as u8);
        for column in MIDDLE_FIRST {
            let cell = moves & position.open_in(column);
            if cell != 0 {
                self.tree.push(Node { visits: 0, points: 0, children: (0, 0), cell });
            }
        }
    }

    /// Plays on at random; both win when they can and block when they must. 2 if who is to move wins, 1 for a draw.
    fn play_out(&mut self, mut position: Position) -> u32 {
        let mut mine = true;
        loop {
            let open = position.open();
            if open == 0 {
                return 1;
            }
            if Lines::of(position.own, position.other).fifth & open != 0 {
                return if mine { 2 } else { 0 };
            }
            let dangers = Lines::of(position.other, position.own).fifth & open;
            if dangers & dangers.wrapping_sub(1) != 0 {
                return if mine { 0 } else { 2 };
            }
            let cell = if dangers == 0 { self.any(position) } else { dangers };
            position = position.after(cell);
            mine = !mine;
        }
    }

    /// Any open cell of a position that has one.
    fn any(&mut self, position: Position) -> u64 {
        loop {
            let cell = position.open_in(self.rng.below(COLUMNS as u32) as usize);
            if cell != 0 {
                return cell;
            }
        }
    }

    /// One game in the head: down the tree, one step further, played out, and the result carried back up.
    fn run(&mut self, root: Position) {
        let (mut path, mut length) = ([0; 64], 1);
        let (mut position, mut at) = (root, 0);
        while self.tree[at].children.1 > 0 {
            at = self.choose(self.tree[at]);
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
            self.play_out(position)
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
        self.rng = QuickRng::new(seed);
    }

    fn answer(&mut self, seen: &Seen) -> Column {
        let root = Position::seen(seen);
        self.tree.clear();
        self.tree.push(Node { visits: 0, points: 0, children: (0, 0), cell: 0 });
        for _ in 0..self.playouts {
            self.run(root);
        }
        let (from, count) = self.tree[0].children;
        let children = &self.tree[from as usize..from as usize + usize::from(count)];
        let best = children.iter().max_by_key(|child| child.visits);
        let cell = best.map(|child| child.cell).or_else(|| cells(root.open()).next());
        Column(cell.map_or(0, column_of) as i64)
    }
}
